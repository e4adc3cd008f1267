"""Several reviewers on the same cases, disputes, and the Review page under the thumb."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.reviewing import arrive, choose, click, data_in, fruit_rows, kinds, sign, start, step
from tests.browser.steps import SOON, until

pytestmark = pytest.mark.browser


@pytest.fixture
def opened(dashboard, monkeypatch):
    """Opens small data in the dashboard."""
    with data_in(dashboard, monkeypatch) as opening:
        yield opening


def test_two_reviewers_on_the_same_cases_lose_and_double_nothing(open_page, opened):
    """Blind reads do not disturb each other; later steps on a changed case are said and sent again; a double click."""
    dataset, url, store = opened("two at once", fruit_rows("t"))
    ada, bo = open_page(url), open_page(url)
    start(ada, "Ada")
    start(bo, "Bo")
    first = arrive(ada)
    arrive(bo, other_than=first)
    click(bo, "All cases")
    click(bo, f"Open {first}")
    arrive(bo, first)
    for page in (ada, bo):
        choose(page, "quince")
    for page in (ada, bo):
        page.get_by_role("button", name=re.compile("Record my opinion")).dblclick()
        expect(page.get_by_text("You disagree.")).to_be_visible()
    step(ada, "Keep my opinion", f"Someone else has changed case '{first}' since you opened it.")
    expect(ada.get_by_text("Bo: quince (blind)")).to_be_visible()
    assert store.trail(dataset.digest)[-1].reviewer == "Bo"
    step(ada, "Keep my opinion", f"{first}: opinion kept")
    bo.reload()
    sign_again = bo.get_by_role("button", name="Bo", exact=True)
    sign_again.click()
    click(bo, "Continue")
    arrive(bo, other_than=first)
    click(bo, "All cases")
    click(bo, f"Open {first}")
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
    through = page.get_by_role("heading", name="Session complete")
    start(page, "Ada")
    choose(page, "quince")
    step(page, "Record my opinion", "You disagree.")
    step(page, "Ask for a second opinion", page.get_by_label("Whom to ask"))
    page.get_by_label("Whom to ask").fill("  Bo ")
    step(page, "Request a second opinion", through)
    for name in ("Bo", "Cleo"):
        click(page, re.compile("Another session|^Leave|^logout"))
        click(page, "Switch reviewer")
        sign(page, name)
        click(page, "Give opinion" if name == "Bo" else "Decide")
        if name == "Bo":
            expect(page.get_by_text("Raters' annotations")).to_have_count(0)
            choose(page, "pear")
            step(page, "Record my opinion", "Ada: quince (blind)")
            step(page, "Keep my opinion", through)
    expect(page.get_by_text("Outcome of the arbitration")).to_be_visible()
    until(page, lambda: page.get_by_text("a distribution").click(), page.get_by_label("Share of quince"))
    page.get_by_label("Share of quince").fill("1")
    page.keyboard.press("Tab")
    expect(page.get_by_text("The shares add up to 1.50")).to_be_visible()
    step(page, "End the arbitration", through)
    (review,) = store.cases(dataset.digest).values()
    assert review.adjudication.opinion.words() == "quince 66.7%, pear 33.3%"
    assert [read.visible for read in review.reads] == ["blind", "blind"]
    click(page, "Open d0")
    step(page, "Reopen the case", "The review will start again")
    page.get_by_label("Note").fill("a new picture came")
    afresh = page.get_by_text("You have seen the panel's annotations before")
    until(page, lambda: page.keyboard.press("Control+Enter"), afresh)
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
    for name in ("Next", "Previous"):
        page.get_by_test_id("stMain").evaluate("main => main.scrollTo(0, 150)")
        click(page, name)
        at_top = "document.querySelector('[data-testid=stMain]').scrollTop === 0"  # where the case is named
        page.wait_for_function(at_top, timeout=SOON)
    choose(page, "quince")
    step(page, "Record my opinion", "You disagree.")
    fits()
    in_reach("Keep my opinion", "Next")
    step(page, "Change it", "How confident are you?")
    fits()
    in_reach("Change my opinion")
    click(page, "All cases")
    fits()
