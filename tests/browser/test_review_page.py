"""Reviewing cases in the browser: by mouse, by keyboard alone, blind, two at once, and with the thumb."""

import re
import struct

import pytest
from playwright.sync_api import Page, expect

from core.annotations.reading import read
from core.certainty.top_sets import annotation_certainty
from core.library import keep
from core.plausibility.dirichlet import DirichletCounts
from core.review.store import ReviewStore
from tests.browser.steps import settled

pytestmark = pytest.mark.browser

FRUIT = ("apple", "pear", "plum", "quince")


@pytest.fixture
def opened(dashboard, monkeypatch):
    """Keeps a small dataset in the dashboard's home; gives it, its address, and the store of its reviews."""
    monkeypatch.setenv("PLURALITY_HOME", str(dashboard.home))
    stores = []

    def opening(name: str, rows: list[str], header: str = "case,rater,class"):
        dataset = read("\n".join([header, *rows]).encode(), name=name).dataset
        keep(dataset)
        stores.append(ReviewStore())
        return dataset, f"{dashboard.url}/review?data={dataset.digest}", stores[-1]

    yield opening
    for store in stores:
        store.close()


def fruit_rows(prefix: str, n_cases: int = 3) -> list[str]:
    """Three raters; the panel says apple on the first case, pear on the second, and so on, one rater dissenting."""
    return [
        f"{prefix}{case},{rater},{FRUIT[(case + (rater == 'Rhea')) % 4]}"
        for case in range(n_cases)
        for rater in ("Rhea", "Rolf", "Runa")
    ]


def click(page: Page, name: str | re.Pattern) -> None:
    """Click a button by the beginning of its name; an icon stands before it."""
    pattern = name if isinstance(name, re.Pattern) else re.compile(f"^(\\w+ )?{re.escape(name)}")
    page.get_by_role("button", name=pattern).first.click()
    settled(page)


def arrive(page: Page, case_id: str | None = None, *, other_than: str = "") -> str:
    """Wait until a case is on screen, a certain one or any other than one; gives it."""
    expected = re.escape(case_id) if case_id else f"(?!{re.escape(other_than)}$).+"
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(f"^Case {expected}$"))
    settled(page)
    return page.get_by_role("heading", level=1).inner_text().removeprefix("Case ")


def sign(page: Page, name: str) -> None:
    """Give a name and wait for the start page."""
    settled(page)
    page.get_by_label("Your name, as it will stand in the record").fill(name)
    page.keyboard.press("Enter")
    expect(page.get_by_text("You review as")).to_be_visible()
    settled(page)


def start(page: Page, name: str) -> None:
    """Sign and begin a session with all cases."""
    sign(page, name)
    click(page, "Start with")
    expect(page.get_by_text(f"{name} · 0 of")).to_be_visible()


def panel_of(case_id: str) -> str:
    """What most raters said in `fruit_rows`."""
    return FRUIT[int(case_id[-1]) % 4]


def kinds(store: ReviewStore, dataset, case_id: str) -> list[str]:
    """Kinds of the events of a case, with who made them."""
    return [f"{event.reviewer}: {event.kind}" for event in store.trail(dataset.digest, case_id)]


def test_a_whole_session_by_mouse(open_page, opened):
    """Agree, disagree, cannot tell and a changed mind; the list at the end, and back to a case."""
    dataset, url, store = opened("by mouse", fruit_rows("m"))
    page = open_page(url)
    start(page, "Ada")
    first = arrive(page)
    expect(page.get_by_role("button", name=re.compile("Record my opinion"))).to_be_disabled()
    click(page, panel_of(first))
    page.get_by_label("Note").fill("typed and not left")
    click(page, "Record my opinion")
    expect(page.get_by_text("You agree.")).to_be_visible()
    expect(page.get_by_text("You agree with the panel: the case is closed.")).to_be_visible()
    expect(page.get_by_text("“typed and not left”")).to_be_visible()
    click(page, "Keep my opinion")
    expect(page.get_by_text(f"{first}: opinion kept · the case is closed")).to_be_visible()
    second = arrive(page, other_than=first)
    click(page, "Cannot be determined")
    click(page, "Record my opinion")
    expect(page.get_by_text("You disagree.")).to_be_visible()
    click(page, "Change it")
    click(page, panel_of(second))
    click(page, "Change my opinion")
    expect(page.get_by_text("There is no reason for a change. Choose a reason or write a note.")).to_be_visible()
    page.get_by_label("Note").fill("seen the light")
    click(page, "Change my opinion")
    third = arrive(page, other_than=second)
    assert len({first, second, third}) == 3
    click(page, next(name for name in FRUIT if name != panel_of(third)))
    click(page, "Record my opinion")
    expect(page.get_by_text("If you keep it: The case goes to arbitration.")).to_be_visible()
    click(page, "Keep my opinion")
    expect(page.get_by_role("heading", name="The session is through")).to_be_visible()
    expect(page.get_by_text(re.compile(f"{third} · done · you said .* · in arbitration"))).to_be_visible()
    click(page, f"Open {first}")
    expect(page.get_by_role("button", name=re.compile("Reopen the case"))).to_be_visible()
    reviews = store.cases(dataset.digest)
    assert [reviews[case].state for case in (first, second, third)] == ["closed", "closed", "arbitration"]
    assert kinds(store, dataset, second) == ["Ada: opinion", "Ada: reveal", "Ada: change"]
    assert [event.note for event in reviews[second].events] == ["", "", "seen the light"]
    assert all(read.visible == "blind" for review in reviews.values() for read in review.reads)


def test_a_whole_session_by_keyboard_alone(open_page, opened):
    """Name, start, search, ties, skip, undo, next, note, record, keep; letters in a note are letters."""
    classes = [f"class {letter}" for letter in "abcdefghijkl"]
    rows = [f"k{case},{rater},{rank},{classes[(case + rank) % 12]}"
            for case in range(3) for rater in ("Rhea", "Rolf") for rank in (1, 2)]  # fmt: skip
    rows += [f"k{case},Runa,1,{classes[(3 * case + step) % 12]}" for case in range(3) for step in range(4)]
    dataset, url, store = opened("by keyboard", rows, "case,rater,rank,class")
    page = open_page(url)
    settled(page)

    def tab_to(label: str) -> None:
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("(document.activeElement.ariaLabel || '') + document.activeElement.innerText").startswith(
                label
            ):
                return
        raise AssertionError(f"{label} cannot be reached")

    def find(word: str) -> None:
        page.keyboard.type(word)
        expect(page.get_by_role("option")).to_have_count(1)
        page.keyboard.press("Enter")

    def cannot_tell() -> None:
        page.keyboard.press("0")
        expect(page.get_by_text("Your opinion: it cannot be determined")).to_be_visible()
        page.keyboard.press("Control+Enter")
        expect(page.get_by_role("button", name=re.compile("Keep my opinion"))).to_be_visible()
        page.keyboard.press("k")

    tab_to("Your name")
    page.keyboard.type("Bo")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=re.compile("Start with 3 cases"))).to_be_visible()
    settled(page)
    tab_to("play_arrow")
    page.keyboard.press("Enter")
    skipped = arrive(page)
    page.keyboard.press("s")
    first = arrive(page, other_than=skipped)
    page.keyboard.press("u")
    arrive(page, skipped)
    page.keyboard.press("s")
    arrive(page, first)
    page.keyboard.press("n")
    second = arrive(page, other_than=first)
    page.keyboard.press("p")
    arrive(page, first)
    page.keyboard.press("/")
    for name in ("class c", "class a", "class f"):
        find(name)
        expect(page.get_by_text(re.compile(f"Your opinion: .*{name}"))).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    expect(page.get_by_text("class c › class a = class f")).to_be_visible()
    page.keyboard.press("Backspace")
    expect(page.get_by_text("class c › class a", exact=True)).to_be_visible()
    tab_to("Note")
    page.keyboard.type("skunk 1 2 0 not lost")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("What the raters said")).to_be_visible()
    arrive(page, first)
    (event,) = [event for event in store.trail(dataset.digest, first) if event.kind == "opinion"]
    assert event.note == "skunk 1 2 0 not lost"
    assert event.opinion.words() == "class c › class a"
    page.keyboard.press("k")
    arrive(page, second)
    cannot_tell()
    arrive(page, skipped)
    page.keyboard.press("u")
    arrive(page, second)
    assert store.trail(dataset.digest)[-1].kind == "undo"
    page.keyboard.press("k")
    arrive(page, skipped)
    cannot_tell()
    expect(page.get_by_role("heading", name="The session is through")).to_be_visible()
    assert {len(review.reads) for review in store.cases(dataset.digest).values()} == {1}


def test_nothing_that_the_browser_receives_tells_the_panels_opinion_before_ones_own(open_page, opened):
    """Each class and each rater occurs as often as any other in all that was received; no number, no reason."""
    raters = ("Quillon", "Vespera", "Zenobia", "Ottokar")
    rows = [f"b{case},{rater},{name}" for case in range(2) for rater, name in zip(raters[:2], FRUIT[:2], strict=True)]
    rows += ["b9,Zenobia,plum", "b9,Ottokar,quince", "b9,Quillon,plum", "b9,Vespera,plum"]
    dataset, url, _ = opened("blind", rows)
    page = open_page("about:blank")
    received: list[bytes] = []

    def take(payload: str | bytes) -> None:
        received.append(payload.encode() if isinstance(payload, str) else payload)

    page.on("websocket", lambda socket: socket.on("framereceived", take))
    page.on("response", lambda answer: take(answer.body()) if "/_stcore/" in answer.url else None)
    page.goto(url)
    start(page, "Cleo")
    case_id = arrive(page)
    case = dataset.case_index(case_id)
    assert len(dataset.annotations_of(case)) == 2
    click(page, "quince")
    click(page, "All cases")
    click(page, f"Open {case_id}")
    arrive(page, case_id)
    click(page, "Leave")
    click(page, "Go on")
    arrive(page, case_id)
    click(page, "Next")
    arrive(page, other_than=case_id)
    click(page, "Previous")
    arrive(page, case_id)
    expect(page.get_by_text("Your opinion: quince")).to_be_visible()
    found = annotation_certainty(DirichletCounts(), dataset, reliability=DirichletCounts.default_reliability,
                                 n_draws=1000, max_top=1, seed=0)  # fmt: skip
    certainty = float(found.certainty[case, 0])
    everything = b"".join(received)
    assert len({everything.count(name.encode()) for name in raters}) == 1
    own = everything.count(b"Your opinion: **quince**")
    assert own >= 1
    assert len({everything.count(name.encode()) for name in FRUIT[:3]}) == 1
    words = (
        b"lausib",
        b"ertainty of the first",
        b"Why it is here",
        b'"xaxis"',
        f"certainty {100 * certainty:.0f} %".encode(),
    )
    telling = (*words, struct.pack("<d", certainty), struct.pack(">d", certainty))
    for word in telling:
        assert word not in everything, word
    before = len(received)
    click(page, "Record my opinion")
    expect(page.get_by_text("You disagree.")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    settled(page)
    shown = b"".join(received[before:])
    assert b"Quillon" in shown and b"Zenobia" not in shown
    for word in words:
        assert word in shown, word


def test_two_reviewers_on_the_same_cases_lose_and_double_nothing(open_page, opened):
    """Blind reads do not disturb each other; later steps on a changed case are said and sent again; a double click."""
    dataset, url, store = opened("two at once", fruit_rows("t"))
    ada, bo = open_page(url), open_page(url)
    start(ada, "Ada")
    start(bo, "Bo")
    first = arrive(ada)
    arrive(bo, first)
    for page in (ada, bo):
        click(page, "quince")
    for page in (ada, bo):
        click(page, "Record my opinion")
        expect(page.get_by_text("You disagree.")).to_be_visible()
    click(ada, "Keep my opinion")
    expect(ada.get_by_text(f"Somebody else has worked on case '{first}' since it was shown to you.")).to_be_visible()
    expect(ada.get_by_text("Bo: quince (blind)")).to_be_visible()
    assert store.trail(dataset.digest)[-1].reviewer == "Bo"
    click(ada, "Keep my opinion")
    expect(ada.get_by_text(f"{first}: opinion kept")).to_be_visible()
    bo.reload()
    sign_again = bo.get_by_role("button", name="Bo", exact=True)
    sign_again.click()
    click(bo, "Go on")
    arrive(bo, first)
    bo.get_by_role("button", name=re.compile("Keep my opinion")).dblclick()
    expect(bo.get_by_text(f"{first}: opinion kept")).to_be_visible()
    expect(bo.get_by_role("alert")).to_have_count(0)
    steps = [f"{who}: {what}" for what in ("opinion", "reveal") for who in ("Ada", "Bo")]
    assert sorted(kinds(store, dataset, first)) == sorted([*steps, "Ada: keep", "Bo: keep"])


def test_a_second_opinion_arbitration_and_reopening(open_page, opened):
    """Asked blind, it is read blind; a third person ends the dispute with a distribution; a reason reopens it."""
    dataset, url, store = opened("dispute", [*fruit_rows("d", 1), "d0,Rita,quince"])
    page = open_page(url)
    start(page, "Ada")
    click(page, "quince")
    click(page, "Record my opinion")
    click(page, "Ask a second opinion")
    click(page, "Ask for the second opinion")
    expect(page.get_by_text("It is not said whom to ask.")).to_be_visible()
    page.get_by_label("Whom to ask").fill("  Bo ")
    click(page, "Ask for the second opinion")
    expect(page.get_by_role("heading", name="The session is through")).to_be_visible()
    for name in ("Bo", "Cleo"):
        click(page, re.compile("Another session|^Leave|^logout"))
        click(page, "Somebody else")
        sign(page, name)
        click(page, "Give it" if name == "Bo" else "Decide")
        expect(page.get_by_text("What the raters said")).to_have_count(0)
        if name == "Bo":
            click(page, "pear")
            click(page, "Record my opinion")
            expect(page.get_by_text("Ada: quince (blind)")).to_be_visible()
            click(page, "Keep my opinion")
    click(page, "Show the others' opinions first")
    page.get_by_text("a distribution").click()
    expect(page.get_by_label("Share of quince")).to_be_visible()
    page.get_by_label("Share of quince").fill("1")
    click(page, "End the arbitration")
    (review,) = store.cases(dataset.digest).values()
    assert review.adjudication.opinion.words() == "quince 66.7 %, pear 33.3 %"
    assert [read.visible for read in review.reads] == ["blind", "blind"]
    click(page, "Open d0")
    click(page, "Reopen the case")
    page.get_by_label("Note").fill("a new picture came")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("You have seen the panel's answers before")).to_be_visible()
    assert store.trail(dataset.digest)[-1].note == "a new picture came"


def test_on_a_narrow_screen_the_steps_stay_at_the_bottom_edge(open_page, opened):
    """390 pixels: no part runs out of the screen, and every step is in reach of the thumb, also far up the page."""
    _, url, _ = opened("narrow", fruit_rows("n"))
    page = open_page(url, width=390, height=844)

    def fits() -> None:
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 390
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def in_reach(*names: str) -> None:
        for name in names:
            box = page.get_by_role("button", name=re.compile(f"^(\\w+ )?{name}")).first.bounding_box()
            assert box["y"] > 844 * 0.6 and box["y"] + box["height"] <= 844, (name, box)
            assert box["height"] >= 36 and box["x"] >= 0 and box["x"] + box["width"] <= 390, (name, box)

    start(page, "Ada")
    fits()
    in_reach("Record my opinion", "Next", "Skip")
    click(page, "quince")
    click(page, "Record my opinion")
    fits()
    in_reach("Keep my opinion", "Next")
    click(page, "Change it")
    fits()
    in_reach("Change my opinion")
    click(page, "All cases")
    fits()
