"""What a person does in the dashboard, by name."""

import re
from collections.abc import Callable
from contextlib import suppress

from playwright.sync_api import Locator, Page, TimeoutError, expect

PAGES = {
    "Home": r"Skin|Caries|Anaesthesia|Three dermatology cases|Ground truth",
    "Upload": r"Open a file",
    "Agreement": r"Raters agree on",
    "Models": r"Weighing raters|models agree on|Only a majority vote is possible",
    "Raters": r"acceptable|Nothing can be said|How are the raters doing",
    "Cases": r"stay uncertain at this trust level",
    "Review": r"Which cases need another opinion",
    "Reliability": r"Certainty rises from",
    "Report": r"A report to take away",
    "Settings": r"Settings",
}


def settled(page: Page) -> None:
    """Wait until the page's script has run and nothing is at work any more."""
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_attached()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0, timeout=150_000)
    expect(page.locator("[data-testid=stSkeleton]")).to_have_count(0)


def go_to(page: Page, title: str) -> None:
    """Walk to a page by the navigation, and see its sentence."""
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(re.compile(PAGES[title]), timeout=120_000)
    settled(page)


def upload(page: Page, name: str, content: bytes) -> None:
    """Drop a file on the Upload page."""
    page.get_by_test_id("stFileUploader").locator("input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": content}
    )


def until(page: Page, act: Callable[[], object], seen: Locator) -> None:
    """Do something until its effect is seen.

    On a busy machine a press between two drawings meets an element that is about to be replaced, and is lost.
    """
    for _ in range(3):
        with suppress(AssertionError, TimeoutError):  # late, or done already and gone
            act()
            expect(seen).to_be_visible(timeout=8_000)
        settled(page)
        if seen.is_visible():
            return
    expect(seen).to_be_visible()
