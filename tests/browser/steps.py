"""What a person does in the dashboard, by name."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from playwright.sync_api import Locator, Page, TimeoutError, expect

from tests.speed import scaled

PAGES = {
    "Home": r"Skin|Caries|Anaesthesia|Three dermatology cases|Ground truth",
    "Upload": r"Open a file",
    "Agreement": r"Raters agree on",
    "Models": r"Weighting the|models agree on|Cannot determine the correct class|Only a majority vote is possible",
    "Raters": r"acceptable|Cannot determine|follow the cases|How are the raters doing",
    "Cases": r"uncertain at γ = |Certainty cannot reach",
    "Review": r"Which cases need another opinion",
    "Reliability": r"Mean certainty rises from",
    "Labels": r"are certain|is certain|Certainty cannot reach|standard error|Which label",
    "Report": r"Export a report",
    "Settings": r"Settings",
}


# Of a job that simulates on a busy machine; less than a test may take, or nobody would learn what it waited for.
PATIENCE = scaled(300_000)
SOON = scaled(10_000)  # what a press does is seen by then; a click finds its place sooner
REPEATED: list[str] = []


def settled(page: Page) -> None:
    """Wait until every run that was asked for is done and drawn, and nothing is at work any more."""
    try:
        page.wait_for_function("window.pending() === ''", polling=50, timeout=PATIENCE)
    except TimeoutError as error:
        raise AssertionError(f"{page.url} still waits for {page.evaluate('window.pending()')}.") from error


@contextmanager
def answered(page: Page) -> Iterator[None]:
    """What is done within makes the page ask for a run, if only after a moment; wait until that is done and drawn."""
    before = page.evaluate("window.runs")
    yield
    page.wait_for_function("before => window.runs > before", arg=before, polling=50)
    settled(page)


def at_rest(page: Page) -> None:
    """Wait until the page is settled and nothing on it has moved for half a second."""
    settled(page)
    page.wait_for_function("window.atRest()", polling=100)


def in_theme(page: Page, theme: str) -> None:
    """Let the computer ask for a theme, and wait until the page stands on a ground of it and is drawn for it."""
    page.emulate_media(color_scheme=theme)
    page.wait_for_function(
        """theme => {
            const app = document.querySelector("[data-testid=stApp]");
            if (!app) return false;
            const [red] = getComputedStyle(app).backgroundColor.match(/\\d+/g);
            if ((red < 128) !== (theme === "dark")) return false;
            return !window.watchedGround || window.watchedGround === getComputedStyle(app).backgroundColor;
        }""",
        arg=theme,
        polling=50,
    )
    settled(page)


def go_to(page: Page, title: str) -> None:
    """Walk to a page by the navigation, and see its sentence."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(PAGES[title]))


def upload(page: Page, name: str, content: bytes) -> None:
    """Drop a file on the Upload page."""
    settled(page)
    with answered(page):
        page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(
            {"name": name, "mimeType": "text/csv", "buffer": content}
        )


def until(page: Page, act: Callable[[], object], seen: Locator, *, on_canvas: bool = False) -> None:
    """Do something until its effect is seen, three times at most; the page is at rest before and after.

    A press that had no effect is one that a user would have made in vain: it is counted, and CI allows few of them.
    What is drawn on a canvas is there for screen readers alone, and not visible.
    """
    settled(page)
    for _ in range(3):
        with suppress(AssertionError, TimeoutError):  # done already and gone
            act()
            settled(page)
            expect(seen).to_be_attached(timeout=SOON) if on_canvas else expect(seen).to_be_visible(timeout=SOON)
            return
        REPEATED.append(f"{page.url.split('?')[0]}: {seen}")
        if seen.count() if on_canvas else seen.is_visible():
            return
    expect(seen).to_be_attached() if on_canvas else expect(seen).to_be_visible()
