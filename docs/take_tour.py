"""The five screens of the README's tour, taken anew from the sample of skin diagnoses.

Run: python docs/take_tour.py
"""

import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.server import CHROMIUM_FLAGS, Dashboard, find_chromium
from tests.browser.steps import settled

FOLDER = Path(__file__).resolve().parent
SIZE = {"width": 1360, "height": 960}


def agreement(page: Page) -> None:
    """The forest of coefficients."""
    page.get_by_text("To quote:").wait_for()
    settled(page)


def raters(page: Page) -> None:
    """The flagged raters, and when the one began to drift."""
    page.get_by_text("raters are below what is acceptable").wait_for()
    settled(page)


def cases(page: Page) -> None:
    """The case of the story, without the story around it."""
    page.get_by_text("is the most plausible truth in").wait_for()
    page.get_by_role("button", name="Leave the tour").click()
    settled(page)


def review(page: Page) -> None:
    """A first look, before the panel's annotations."""
    page.get_by_label("Your name").fill("Reader 1")
    page.keyboard.press("Enter")
    settled(page)
    page.get_by_role("button", name=re.compile("Start with")).click()
    expect(page.get_by_role("button", name=re.compile("Record my opinion"))).to_be_visible()
    settled(page)
    page.get_by_label(re.compile("Find a class")).fill("Ring")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Your opinion: Ring mycerosis")).to_be_visible()
    settled(page)


def reliability(page: Page) -> None:
    """The lines that cross."""
    page.get_by_role("tab", name="Classifiers").click()
    page.get_by_text("The best classifier depends on γ").wait_for()
    settled(page)


SCREENS = {
    "agreement": ("agreement?data=skin", agreement),
    "raters": ("raters?data=skin", raters),
    "cases": ("cases?data=skin&story=4", cases),
    "review": ("review?data=skin", review),
    "reliability": ("reliability?data=skin", reliability),
}


def main() -> None:
    """Take every screen."""
    expect.set_options(timeout=60_000)
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        running = Dashboard(Path(home)).start()
        browser = playwright.chromium.launch(executable_path=find_chromium(playwright), args=CHROMIUM_FLAGS)
        for name, (address, act) in SCREENS.items():
            page = browser.new_context(viewport=SIZE, color_scheme="light").new_page()
            page.goto(f"{running.url}/{address}")
            settled(page)
            act(page)
            page.mouse.move(0, 0)
            page.wait_for_timeout(1500)  # for the figures to come to rest
            page.screenshot(path=FOLDER / f"tour_{name}.png")
        browser.close()
        running.stop()


if __name__ == "__main__":
    main()
