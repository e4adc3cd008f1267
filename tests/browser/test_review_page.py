"""Reviewing cases alone in the browser: by mouse, by keyboard, and blind."""

import re
import signal
import struct
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, expect

from core.certainty.top_sets import annotation_certainty
from core.plausibility.dirichlet import DirichletCounts
from tests.browser.reviewing import (
    FRUIT,
    arrive,
    choose,
    click,
    data_in,
    drawn,
    fruit_rows,
    kinds,
    panel_of,
    start,
    step,
)
from tests.browser.steps import settled, until

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(dashboard, monkeypatch):
    """Opens small data in the dashboard."""
    with data_in(dashboard, monkeypatch) as opening:
        yield opening


def test_a_whole_session_by_mouse(open_page, opened):
    """Agree, disagree, cannot tell and a changed mind; the list at the end, and back to a case."""
    dataset, url, store = opened("by mouse", fruit_rows("m"))
    page = open_page(url)
    start(page, "Ada")
    first = arrive(page)
    step(page, "Record my opinion", "Could not record the opinion: none was given. Choose")
    choose(page, panel_of(first))
    page.get_by_label("Note").fill("typed and not left")
    step(page, "Record my opinion", "You agree.")
    expect(page.get_by_text("You agree with the panel: the case is closed.")).to_be_visible()
    expect(page.get_by_text("“typed and not left”")).to_be_visible()
    step(page, "Keep my opinion", f"{first}: opinion kept · the case is closed")
    second = arrive(page, other_than=first)
    choose(page, "Cannot be determined")
    page.get_by_text("75%", exact=True).click()  # which then has the focus
    until(page, lambda: page.keyboard.press("Control+Enter"), page.get_by_text("You disagree."))
    step(page, "Change it", "How confident are you?")
    choose(page, panel_of(second))
    step(
        page,
        "Change my opinion",
        "Could not record this step: the reason for the change is missing. Choose a reason, or write a note.",
    )
    page.get_by_label("Note").fill("seen the light")
    click(page, "Change my opinion")
    third = arrive(page, other_than=second)
    assert len({first, second, third}) == 3
    choose(page, next(name for name in FRUIT if name != panel_of(third)))
    step(page, "Record my opinion", "If you keep your opinion: The case goes to arbitration.")
    step(page, "Keep my opinion", page.get_by_role("heading", name="Session complete"))
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
    rows += [f"k{case},Runa,1,{classes[(3 * case + step) % 12]}" for case in range(3) for step in range(5)]
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

    def find(word: str, chosen: str) -> None:
        def typed() -> None:
            if not page.evaluate("document.activeElement.matches('[class*=st-key-find-] input')"):
                page.keyboard.press("/")
            page.keyboard.press("Control+a")
            page.keyboard.type(word)
            expect(page.get_by_role("option")).to_have_count(1)
            page.keyboard.press("Enter")

        until(page, typed, page.get_by_text(f"Your opinion: {chosen}", exact=True))

    def key(name: str, seen: Locator) -> None:
        until(page, lambda: page.keyboard.press(name), seen)

    def cannot_tell(then: Locator) -> None:
        key("x", page.get_by_text("Your opinion: cannot be determined"))
        key("Control+Enter", page.get_by_role("button", name=re.compile("Keep my opinion")))
        key("k", then)

    tab_to("Your name")
    page.keyboard.type("Bo")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=re.compile("Start with 3 cases"))).to_be_focused()
    page.keyboard.press("Enter")
    skipped = arrive(page)
    key("s", page.get_by_text(f"{skipped}: skipped"))
    first = arrive(page, other_than=skipped)
    key("u", drawn(page, skipped))
    arrive(page, skipped)
    key("s", drawn(page, first))
    arrive(page, first)
    page.keyboard.press("n")
    second = arrive(page, other_than=first)
    key("p", drawn(page, first))
    arrive(page, first)
    chosen: list[str] = []
    for name in ("class c", "class a", "class f"):
        chosen.append(name)
        find(name, " › ".join(chosen))
    page.keyboard.press("Escape")
    key("t", page.get_by_text("class c › class a = class f"))
    key("Backspace", page.get_by_text("class c › class a", exact=True))
    tab_to("Note")
    page.keyboard.type("skunk 1 2 0 not lost")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("Raters' annotations")).to_be_visible()
    arrive(page, first)
    (event,) = [event for event in store.trail(dataset.digest, first) if event.kind == "opinion"]
    assert event.note == "skunk 1 2 0 not lost"
    assert event.opinion.words() == "class c › class a"
    key("k", drawn(page, second))
    arrive(page, second)
    cannot_tell(drawn(page, skipped))
    arrive(page, skipped)
    key("u", drawn(page, second))
    arrive(page, second)
    assert store.trail(dataset.digest)[-1].kind == "undo"
    key("k", drawn(page, skipped))
    arrive(page, skipped)
    cannot_tell(page.get_by_role("heading", name="Session complete"))
    assert {len(review.reads) for review in store.cases(dataset.digest).values()} == {1}


def test_keys_in_a_burst_are_taken_one_after_the_other(open_page, opened):
    """Choice, record and keep at once, each before the page is drawn with the one before: none is lost."""
    dataset, url, store = opened("quick", fruit_rows("q"))
    page = open_page(url)
    start(page, "Ada")
    expected, case_id = {}, ""
    for keys, name in (("3", "plum"), ("1", "apple"), ("132", "pear")):
        case_id = arrive(page, other_than=case_id)
        expected[case_id] = name
        for key in (*keys, "Control+Enter", "k"):
            page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Session complete")).to_be_visible()
    for case_id, name in expected.items():
        said = [event for event in store.trail(dataset.digest, case_id) if event.kind != "reveal"]
        assert [(event.kind, event.opinion and event.opinion.words()) for event in said] == [
            ("opinion", name),
            ("keep", name),
        ]


def test_keys_in_a_burst_close_no_case_with_a_class_that_nobody_named(open_page, opened):
    """The key that keeps an opinion asks for a note there; with one, Ctrl+Enter closes the case and the next comes."""
    rows = [f"o{case},{rater},{name}" for case in range(2) for rater, name in zip("RS", FRUIT[:2], strict=True)]
    dataset, url, store = opened(
        "outside", [*rows, *(f"o9,{rater},{name}" for rater, name in zip("RS", FRUIT[2:], strict=True))]
    )
    page = open_page(url)
    start(page, "Ada")
    case_id = arrive(page)
    named = {FRUIT[answer] for answer in dataset.answer[list(dataset.annotations_of(dataset.case_index(case_id)))]}
    other = next(place for place, name in enumerate(FRUIT, 1) if name not in named)
    for key in (str(other), "Control+Enter", "k", "Control+Enter", str(other)):
        page.keyboard.press(key)
    expect(page.get_by_text("Ask a second reviewer, or explain why you decide alone")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="or write a note that explains your decision")).to_be_visible()
    assert kinds(store, dataset, case_id) == ["Ada: opinion", "Ada: reveal"]
    page.keyboard.press("w")  # leads to the note
    page.keyboard.type("weak on the scan")
    page.keyboard.press("Control+Enter")
    arrive(page, other_than=case_id)
    review = store.cases(dataset.digest)[case_id]
    assert (review.state, review.events[-1].note) == ("closed", "weak on the scan")


_AT_ONCE = """(keys) => keys.forEach((key) => {
  const event = { key, keyCode: key.toUpperCase().charCodeAt(0), bubbles: true, cancelable: true };
  document.body.dispatchEvent(new KeyboardEvent("keydown", event));
})"""


def _early(page, first: str, *keys: str) -> str:
    """Press a key that leaves the case, and a class before another is on screen; gives the next case."""
    page.evaluate(_AT_ONCE, [*keys, "2"])
    second = arrive(page, other_than=first)
    late = page.get_by_text(re.compile("Your key press was ignored, because the case had already changed"))
    expect(late).to_be_visible()
    expect(page.get_by_text("You have not chosen anything yet")).to_be_visible()
    return second


def test_a_key_that_falls_before_the_next_case_is_on_screen_is_not_for_it(open_page, opened):
    """Nobody has looked at that case: nothing is chosen on it, and it is said why."""
    dataset, url, store = opened("early", fruit_rows("e"))
    page = open_page(url)
    start(page, "Ada")
    first = arrive(page)
    for key in ("1", "Control+Enter"):
        page.keyboard.press(key)
    expect(page.get_by_role("button", name=re.compile("Keep my opinion"))).to_be_visible()
    settled(page)
    second = _early(page, first, "k")
    third = _early(page, second, "s")  # which comes at the end then
    page.keyboard.press("3")
    expect(page.get_by_text("Your opinion: plum")).to_be_visible()
    expect(
        page.get_by_text(
            re.compile(
                "Your key press was ignored, because the case had already changed. Check this case and press again"
            )
        )
    ).not_to_be_visible()
    assert [event.kind for event in store.trail(dataset.digest, second)] == ["skip"]
    assert not store.trail(dataset.digest, third)


def test_keys_behind_one_that_the_page_does_not_answer_are_not_taken(open_page, opened):
    """What was recorded otherwise would lack it; here the connection is said to be lost just after the first."""
    dataset, url, store = opened("unanswered", fruit_rows("u"))
    page = open_page(url)
    start(page, "Ada")
    case_id = arrive(page)
    page.evaluate(_AT_ONCE, ["1"])
    expect(page.get_by_text("Your opinion: apple")).to_be_visible()
    settled(page)
    page.evaluate("document.querySelector('[data-testid=stApp]').dataset.testConnectionState = 'CONNECTING'")
    page.evaluate(_AT_ONCE, ["2", "s"])
    expect(
        page.get_by_text("A key press failed, and later key presses were ignored. Check this case and press again.")
    ).to_be_visible()
    page.evaluate("document.querySelector('[data-testid=stApp]').dataset.testConnectionState = 'CONNECTED'")
    expect(page.get_by_text("Your opinion: pear")).to_be_visible()
    assert not store.trail(dataset.digest, case_id)


@contextmanager
def _held_up(dashboard):
    """The server hears nothing meanwhile, as on a busy computer."""
    dashboard.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        dashboard.process.send_signal(signal.SIGCONT)


def test_a_press_that_the_page_did_not_hear_is_said_and_nothing_is_taken_behind_it(open_page, opened):
    """As where Streamlit discards it for what was asked right behind: the page runs, and without it."""
    dataset, url, store = opened("unheard", fruit_rows("n"))
    page = open_page(url)
    start(page, "Ada")
    case_id = arrive(page)
    page.evaluate("""() => {
      const socket = Object.getPrototypeOf(WebSocket.prototype), send = socket.send;
      socket.send = () => { socket.send = send; };
    }""")
    page.evaluate(_AT_ONCE, ["1", "s"])
    page.get_by_text("75%", exact=True).click()
    settled(page)
    expect(page.get_by_text("You have not chosen anything yet")).to_be_visible()
    expect(
        page.get_by_text("A key press failed, and later key presses were ignored. Check this case and press again.")
    ).to_be_visible()
    assert arrive(page) == case_id
    assert not store.trail(dataset.digest, case_id)
    page.keyboard.press("1")
    expect(page.get_by_text("Your opinion: apple")).to_be_visible()


def test_a_key_means_what_it_does_after_a_change_before_it_and_a_note_waits_for_its_turn(open_page, opened, dashboard):
    """A toggle is in force for the key behind it; a note asks for nothing before the press before it is answered."""
    dataset, url, store = opened("changes", fruit_rows("c"))
    page = open_page(url)
    start(page, "Ada")
    case_id = arrive(page)
    page.keyboard.press("1")
    expect(page.get_by_text("Your opinion: apple", exact=True)).to_be_visible()
    settled(page)
    with _held_up(dashboard):
        page.get_by_text("Name more than one class, in order").click()
        page.evaluate(_AT_ONCE, ["3"])
        page.wait_for_timeout(2_500)
    expect(page.get_by_text("Your opinion: apple › plum")).to_be_visible()
    settled(page)
    before = page.evaluate("window.runs")
    with _held_up(dashboard):
        page.evaluate(_AT_ONCE, ["2"])
        page.get_by_label("Note").click()
        page.keyboard.type("all 3")
        for key in ("Control+Enter", "k", " ", "1"):  # none of which is of the note
            page.keyboard.press(key)
        page.wait_for_timeout(500)
        asked = page.evaluate("window.runs") - before
    assert asked == 1
    arrive(page, other_than=case_id)
    opinion, *_ = [event for event in store.trail(dataset.digest, case_id) if event.kind == "opinion"]
    assert (opinion.opinion.words(), opinion.note) == ("apple › plum › pear", "all 3")
    assert store.trail(dataset.digest, case_id)[-1].kind == "keep"


def test_what_is_typed_into_a_note_after_a_step_was_pressed_outside_is_of_the_note(open_page, opened, dashboard):
    """No letter of it is a key of a button, however late the page answers; nor where a note is gone back to."""
    dataset, url, store = opened("typed", fruit_rows("y"))
    page = open_page(url)
    start(page, "Ada")
    case_id = ""
    for gone_back in (False, True):
        case_id = arrive(page, other_than=case_id)
        with _held_up(dashboard):
            page.evaluate(_AT_ONCE, ["2"])
            if gone_back:
                page.get_by_label("Note").click()
            page.keyboard.press("Control+Enter")
            page.get_by_label("Note").click()
            page.keyboard.type("sunken 1")
        expect(page.get_by_role("button", name=re.compile("Keep my opinion"))).to_be_visible()
        settled(page)
        said = [(event.kind, event.note) for event in store.trail(dataset.digest, case_id) if event.kind != "reveal"]
        assert said == [("opinion", "sunken 1")]
        page.keyboard.press("k")


def test_what_the_search_has_found_is_kept_where_escape_follows_at_once(open_page, opened):
    """And "/" right behind a digit leads to the search, with what is typed after it."""
    rows = [f"f{case},{rater},class {case % 12:02d}" for case in range(24) for rater in ("Rhea", "Rolf")]
    _, url, _ = opened("found", rows)
    page = open_page(url)
    start(page, "Ada")
    arrive(page)
    page.get_by_text("Name more than one class, in order").click()
    settled(page)
    first = page.locator("[class*='st-key-classes-'] p").first.inner_text()
    page.keyboard.press(page.locator("[class*='st-key-classes-'] kbd").first.inner_text())
    for key in ("/", *"11", "Enter", "Escape"):
        page.keyboard.press(key)
        page.wait_for_timeout(0 if key == "Enter" else 250)
    expect(page.get_by_text(f"Your opinion: {first} › class 11")).to_be_visible()
    expect(page.get_by_role("listbox")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("class 0")
    expect(page.get_by_role("listbox")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)


def test_keys_go_through_the_cases_and_out_of_the_note(open_page, opened):
    """Next and previous in a burst; Ctrl+Enter in the note records it, in its turn; a toggle keeps no digit."""
    dataset, url, store = opened("ways", fruit_rows("w", 4))
    page = open_page(url)
    start(page, "Ada")
    arrive(page)
    order = [queued.case_id for queued in store.sessions(dataset.digest, "Ada")[0].cases]
    for keys, place in (("nnn", 3), ("pp", 1), ("n", 2)):
        page.evaluate(_AT_ONCE, list(keys))
        arrive(page, order[place])
    page.get_by_text("Name more than one class, in order").click()
    page.keyboard.press("3")
    page.keyboard.press("1")
    page.get_by_label("Note").click()
    page.keyboard.type("both 2")
    page.keyboard.press("Control+Enter")
    page.keyboard.press("k")
    arrive(page, order[3])
    (opinion,) = [event for event in store.trail(dataset.digest, order[2]) if event.kind == "opinion"]
    assert (opinion.opinion.words(), opinion.note) == ("plum › apple", "both 2")
    assert store.trail(dataset.digest, order[2])[-1].kind == "keep"


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
    choose(page, "quince")
    click(page, "All cases")
    click(page, f"Open {case_id}")
    arrive(page, case_id)
    click(page, "Leave")
    click(page, "Continue")
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
    assert len({everything.replace(b"appear", b"").count(name.encode()) for name in FRUIT[:3]}) == 1
    words = (
        b"lausib",
        b"ertainty of the leading class",
        b"Why this case was queued",
        b'"xaxis"',
        f"certainty {100 * certainty:.0f}%".encode(),
    )
    telling = (*words, struct.pack("<d", certainty), struct.pack(">d", certainty))
    for word in telling:
        assert word not in everything, word
    before = len(received)
    step(page, "Record my opinion", "The model cannot decide between")
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    settled(page)
    shown = b"".join(received[before:])
    assert b"Quillon" in shown and shown.count(b"Zenobia") == shown.count(b"Ottokar"), "both may be asked, no more"
    for word in words:
        assert word in shown, word
    page.close()  # nobody else's answers are listened to


def test_scores_are_given_by_keyboard_alone(open_page, opened):
    """A digit or "/" goes to the field, and Ctrl+Enter in it records what stands there."""
    rows = [f"s{case},{rater},{3 * case + len(rater)}.25" for case in range(3) for rater in ("Rhea", "Remus")]
    dataset, url, store = opened("scores by keys", rows, "case,rater,score")
    page = open_page(url)
    start(page, "Cleo")
    first = arrive(page)
    page.keyboard.type("4.5")
    until(page, lambda: page.keyboard.press("Control+Enter"), page.get_by_text("Your opinion: 4.5"))
    until(page, lambda: page.keyboard.press("k"), page.get_by_text(f"{first}: opinion kept"))
    second = arrive(page, other_than=first)
    page.keyboard.press("/")
    page.keyboard.type("n3")  # a letter in the field is no key of a button
    page.keyboard.press("Escape")
    until(page, lambda: page.keyboard.press("Control+Enter"), page.get_by_text("Your opinion: 3"))
    arrive(page, second)
    page.keyboard.press("k")
    third = arrive(page, other_than=second)
    for key in ("x", "x", "7", ".", "5", "Control+Enter", "k"):  # all at once: the digits wait for the field
        page.keyboard.press(key)
    expect(page.get_by_role("heading", name="Session complete")).to_be_visible()
    reads = [store.cases(dataset.digest)[case].reads[0].opinion.score for case in (first, second, third)]
    assert reads == [4.5, 3, 7.5]
