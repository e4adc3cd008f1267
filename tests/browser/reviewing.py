"""What a reviewer does on the Review page, by name, and small data to review."""

import re
from contextlib import contextmanager

from playwright.sync_api import Locator, Page, expect

from core.ingest.read_files import read
from core.library import keep
from core.review.store import ReviewStore
from tests.browser.server import Dashboard
from tests.browser.steps import SOON, settled, until

FRUIT = ("apple", "pear", "plum", "quince")


@contextmanager
def data_in(dashboard: Dashboard, monkeypatch):
    """Keeps small datasets in the dashboard's home; a function that gives one, its address and the store of reviews."""
    monkeypatch.setenv("PLURALITY_HOME", str(dashboard.home))
    stores = []

    def opening(name: str, rows: list[str], header: str = "case,rater,class"):
        dataset = read("\n".join([header, *rows]).encode(), name=name).dataset
        keep(dataset)
        stores.append(ReviewStore())
        stores[-1].forget(dataset.digest)  # what a first try of the same test has left
        return dataset, f"{dashboard.url}/review?data={dataset.digest}", stores[-1]

    yield opening
    for store in stores:
        store.close()


def fruit_rows(prefix: str, n_cases: int = 3) -> list[str]:
    """Nine raters; the panel says apple on the first case, pear on the second, and so on, one rater dissenting."""
    return [
        f"{prefix}{case},{rater},{FRUIT[(case + (rater == 'Rhea')) % 4]}"
        for case in range(n_cases)
        for rater in ("Rhea", "Rolf", "Runa", "Rita", "Remy", "Rosa", "Ravi", "Ruth", "Rafe")
    ]


def _button(page: Page, name: str | re.Pattern) -> Locator:
    """A button by the beginning of its name; an icon stands before it."""
    pattern = name if isinstance(name, re.Pattern) else re.compile(f"^(\\w+ )?{re.escape(name)}")
    return page.get_by_role("button", name=pattern).first


def click(page: Page, name: str | re.Pattern) -> None:
    """Click a button by the beginning of its name."""
    _button(page, name).click()
    settled(page)


def step(page: Page, name: str, seen: str | Locator) -> None:
    """Click a button until what follows from it is seen."""
    until(
        page,
        lambda: _button(page, name).click(timeout=SOON),
        page.get_by_text(seen).first if isinstance(seen, str) else seen,
    )


def choose(page: Page, name: str) -> None:
    """Choose a class, and see it chosen."""
    words = "cannot be determined" if name == "Cannot be determined" else name
    step(page, name, page.get_by_text(f"Your opinion: {words}", exact=True))


def drawn(page: Page, case_id: str) -> Locator:
    """The bar of a case, which is drawn last."""
    return page.locator(f"[class*='st-key-Next-'][class*='-{case_id}']")


def arrive(page: Page, case_id: str | None = None, *, other_than: str = "") -> str:
    """Wait until a case is on screen, a certain one or any other than one; gives it."""
    expected = re.escape(case_id) if case_id else f"(?!{re.escape(other_than)}$).+"
    settled(page)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(re.compile(f"^Case {expected}$"))
    case_id = heading.inner_text().removeprefix("Case ")
    expect(drawn(page, case_id)).to_be_visible()
    return case_id


def sign(page: Page, name: str) -> None:
    """Give a name and wait for the start page."""
    settled(page)
    field = page.get_by_label("Your name", exact=True)

    def sign_in() -> None:
        field.fill(name)
        field.press("Enter")

    until(page, sign_in, page.get_by_text("You review as"))


def start(page: Page, name: str) -> None:
    """Sign and begin a session with all cases."""
    sign(page, name)
    step(page, "Start with", f"{name} · 0 of")


def panel_of(case_id: str) -> str:
    """What most raters said in `fruit_rows`."""
    return FRUIT[int(case_id[-1]) % 4]


def kinds(store: ReviewStore, dataset, case_id: str) -> list[str]:
    """Kinds of the events of a case, with who made them."""
    return [f"{event.reviewer}: {event.kind}" for event in store.trail(dataset.digest, case_id)]
