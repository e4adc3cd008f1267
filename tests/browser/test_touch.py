"""On a touch screen every control is large enough for a finger, and no key is named."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LATEST
from tests.browser.reviewing import click, data_in, fruit_rows, start, step
from tests.browser.steps import settled

pytestmark = pytest.mark.browser

LOW = 44
# Sliders are dragged, switches and the fields of multiselects are pressed on the 44 px around them, and the link to the
# content is for keyboards.
TOO_LOW = """low => [...document.querySelectorAll(
  "button, a[href], summary, [role=tab], [role=radio], [role=combobox], input, textarea, .modebar-btn")]
  .filter(e => !e.matches("[data-testid=stSkipToContent] *, [data-testid=stSkipToContent], [type=range], [type=file],"
    + "[role=switch], [data-testid=stMultiSelect] input, [data-testid=stTextInput] input"))
  .filter(e => e.checkVisibility({opacityProperty: true, visibilityProperty: true}))
  .map(e => [e.getBoundingClientRect(), e])
  .filter(([box]) => box.width && box.height && box.height < low - 0.5)
  .map(([box, e]) => `${e.tagName} ${e.getAttribute("aria-label") || e.innerText}: ${box.width}x${box.height}`)"""


@pytest.fixture
def touch_page(browser):
    """A page on a telephone."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce"
    )
    context.set_default_timeout(LATEST)
    context.add_init_script(path=Path(__file__).parent / "runs.js")
    yield context.new_page()
    context.close()


def test_every_control_is_44_pixels_high_on_a_touch_screen(touch_page, dashboard, monkeypatch):
    """Home without and with data, the navigation, Cases, and the stages of a review."""
    page, found = touch_page, {}

    def measure(stage: str) -> None:
        settled(page)
        expect(page.get_by_role("heading", level=1).first).to_be_visible()
        found[stage] = page.evaluate(TOO_LOW, LOW)

    with data_in(dashboard, monkeypatch) as opening:
        dataset, review, _ = opening("touched", fruit_rows("t"))
        for stage, address in (
            ("first visit", ""),
            ("Home", f"?data={dataset.digest}"),
            ("Cases", f"cases?data={dataset.digest}"),
        ):
            page.goto(f"{dashboard.url}/{address}")
            measure(stage)
        page.goto(review)
        start(page, "Tia")
        measure("blind")
        page.keyboard.press("x")
        measure("chosen")
        click(page, "Record my opinion")
        measure("revealed")
        page.keyboard.press("e")
        expect(page.get_by_text("How confident are you?").first).to_be_visible()
        measure("changing")
        page.get_by_test_id("stExpandSidebarButton").tap()
        expect(page.get_by_test_id("stSidebarNav").get_by_role("link", name="Home")).to_be_in_viewport()
        measure("navigation")
    assert not any(found.values()), {stage: low for stage, low in found.items() if low}


# What a reader sees, with what the stylesheet adds to labels.
SEEN = """() => document.body.innerText + [...document.querySelectorAll("label p")]
  .map(p => getComputedStyle(p, "::after").content).join() + [...document.querySelectorAll("kbd")]
  .filter(key => key.checkVisibility()).map(key => ` Ctrl+${key.innerText}`).join("")"""
KEYS = re.compile(r"\bkeys? [\dW/]|Ctrl|\([A-Z]\)|\bKeys\b")


@pytest.mark.parametrize("touch", [True, False])
def test_keys_are_named_except_on_a_touch_screen(touch_page, open_page, dashboard, monkeypatch, touch):
    """How a review goes, the search for a class, and the note of a person who decides alone; on a tablet."""
    rows = ["n0,R,k0", "n0,S,k1", *(f"n{place},{rater},k{place}" for place in range(2, 12) for rater in "RSTUV")]
    with data_in(dashboard, monkeypatch) as opening:
        _, review, _ = opening("named keys", rows)
        page = touch_page if touch else open_page("about:blank")
        page.set_viewport_size({"width": 1100, "height": 800})
        page.goto(review)
        settled(page)
        expect(page.get_by_text("You first read each case blind.")).to_be_visible()
        seen = {"how": page.evaluate(SEEN)}
        start(page, "Tia")
        step(page, "k9", "Your opinion: k9")
        seen["blind"] = page.evaluate(SEEN)
        step(page, "Record my opinion", "Ask a second reviewer")
        step(page, "Decide alone", "Write a note first")
        seen["alone"] = page.evaluate(SEEN)
    named = {stage: KEYS.findall(words) for stage, words in seen.items()}
    if touch:
        assert not any(named.values()), named
        assert "Choose a class, and record your opinion.\n" in seen["how"]
    else:
        assert "Choose a class (keys 1 to 9), and record your opinion (Ctrl+Enter)." in seen["how"]
        assert "(key /)" in seen["blind"] and "Write a note first (key W)." in seen["alone"]
