"""Take the pictures of README and documentation from the running app, light and dark, and note the words in them.

Run: python docs/take_tour.py [NAME ...]

`docs/pages/img/texts.json` has the titles, captions and labels of each picture that its golden screen has, too. A test fails
if the golden screen no longer has them: then take the pictures again.
"""

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, Dashboard, find_chromium
from tests.browser.steps import at_rest, in_theme, settled
from tests.golden.screens import file_of, words_of

FOLDER = ROOT / "docs" / "pages" / "img"
TEXTS = FOLDER / "texts.json"
THEMES = {"light": "", "dark": "_dark"}
SIZE = {"width": 1360, "height": 960}
_SPOKEN = "h1, h2, h3, [data-testid=stCaptionContainer], [data-testid=stMetricLabel], label p, button p, strong"


def cases(page: Page) -> None:
    """Show the case of the story, without the story around it."""
    page.get_by_role("button", name="Leave the tour").click()


def review(page: Page) -> None:
    """Choose a class at the first look, before the panel's annotations."""
    page.get_by_label("Your name").fill("Reviewer 1")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("button", name=re.compile("Start with")).first.click()
    expect(page.get_by_role("button", name=re.compile("Record my opinion|Submit opinion"))).to_be_visible()
    settled(page)
    page.get_by_label(re.compile("Find a class")).fill("Ring")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your opinion: Ring mycerosis")).to_be_visible()


def reliability(page: Page) -> None:
    """Show the lines that cross."""
    page.get_by_role("tab", name="Classifiers").click()


# Address of each picture, and what is done on it.
PICTURES = {
    "agreement": ("agreement?data=skin", None),
    "raters": ("raters?data=skin", None),
    "cases": ("cases?data=skin&story=4", cases),
    "review": ("review?data=skin", review),
    "reliability": ("reliability?data=skin", reliability),
}


def known_words(name: str) -> str:
    """Words of the golden screen of a picture; of Review, whose golden screen is an earlier step, those of its code."""
    if name == "review":
        return "".join(path.read_text(encoding="utf-8") for path in (ROOT / "pages" / "shared" / "review").glob("*.py"))
    return words_of(file_of("skin", name))


def texts_in(page: Page) -> Iterator[str]:
    """Titles, captions and labels that the picture shows."""
    for one in page.locator(_SPOKEN).all():
        box = one.bounding_box()
        if one.is_visible() and box and box["y"] + box["height"] <= SIZE["height"]:
            yield " ".join(one.inner_text().split())


def noted(page: Page, name: str) -> list[str]:
    """Texts of the picture that are known, of at least three words."""
    words = known_words(name)
    found = [text for text in dict.fromkeys(texts_in(page)) if text.count(" ") >= 2 and text in words]
    if not found:
        raise SystemExit(f"None of the texts in the picture of {name} is known.")
    return found


def main(names: list[str]) -> None:
    """Take the pictures of these names, all if there are none."""
    expect.set_options(timeout=120_000)
    texts = json.loads(TEXTS.read_text(encoding="utf-8")) if TEXTS.exists() else {}
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        running = Dashboard(Path(home)).start()
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        for name in names or PICTURES:
            address, act = PICTURES[name]
            page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
            page.set_default_timeout(120_000)
            page.add_init_script(path=ROOT / "tests" / "browser" / "runs.js")
            page.goto(f"{running.url}/{address}")
            page.get_by_role("heading", level=1).wait_for()
            settled(page)
            if act is not None:
                act(page)
                settled(page)
            texts[name] = noted(page, name)
            for theme, ending in THEMES.items():
                in_theme(page, theme)
                page.mouse.move(0, 0)
                at_rest(page)
                page.screenshot(path=FOLDER / f"{name}{ending}.png")
            page.context.close()
            TEXTS.write_text(json.dumps(texts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="\n")
        browser.close()
        running.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
