"""The stakeholder's way: the story in seven steps, left and resumed, and a presentation that shows no names."""

import re

import pytest
from playwright.sync_api import Page, expect

from core.story import STEPS
from tests.browser.steps import at_rest, go_to, settled

pytestmark = pytest.mark.browser

SAID = (
    r"the same diagnosis first 56% of the time \(52% to 59%\)",
    r"\d+ of these labels have certainty below 90%",
    r"R01 is correct on 8\d% .* R07 is correct on 5\d%",
    r"is the leading class in \d\d% of draws",
    r"Judged against one label per case, classifier A",
    r"B leads. If they count for a lot \(γ = 10\), A leads",
    r"steady is not worse than 6 of 6 raters; brash is not worse than \d of 6",
)
RATERS = re.compile(r"\bR(0[1-9]|1[0-2])\b")
ON = re.compile("Next: |Finish and")
OBSERVERS = re.compile("observer [1-5]")


def told(page: Page, number: int, *, presented: bool = False) -> None:
    """Wait for a step and its sentence, or its slide; what to try is said to those alone who have the controls."""
    settled(page)
    expect(page).to_have_url(re.compile(rf"/{STEPS[number - 1].page}\?.*story={number}\b"))
    if presented:
        slide = page.locator(".st-key-slide")
        expect(slide).to_contain_text(f"{number} of 7 · {STEPS[number - 1].title}")
        expect(slide.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollHeight") <= page.evaluate("innerHeight") + 1
        return
    bar = page.locator(".st-key-story_bar")
    expect(bar).to_contain_text(f"Step {number} of 7 · {STEPS[number - 1].title}")
    expect(bar).to_contain_text(re.compile(SAID[number - 1], re.IGNORECASE))
    expect(bar.get_by_text(STEPS[number - 1].attempt)).to_have_count(1)


def on(page: Page) -> None:
    """The one primary button of the story."""
    page.get_by_role("button", name=ON).click()
    settled(page)


def test_a_newcomer_reaches_the_seventh_step(dashboard, open_page):
    """One click on Home, six more; at the end Upload without a step. What is told stands on the page itself.

    Every step is seen on a telephone and on a desk; the button on to the next is pressed on each in turn.
    """
    page = open_page(dashboard.url, width=390)
    settled(page)
    page.get_by_role("button", name="Start the guided tour").click()
    for number in range(1, 8):
        told(page, number)
        for width in (1440, 390) if number % 2 else (390, 1440):
            page.set_viewport_size({"width": width, "height": 1000})
            at_rest(page)
            expect(page.get_by_role("button", name=ON)).to_be_visible()
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        if number == 4:
            case_id = re.search(r"case=([\w-]+)", page.url)[1]
            expect(page.get_by_role("heading", name=re.compile(f"^Case {case_id} · certainty"))).to_be_visible()
        if number == 6:
            expect(page.get_by_text(re.compile(r"The best classifier depends on γ: “B” leads"))).to_be_visible()
            page.get_by_role("radio", name="top-1 accuracy").or_(
                page.get_by_role("button", name="top-1 accuracy")
            ).click()
            settled(page)
            expect(page.get_by_text(re.compile("“A” leads at every γ"))).to_be_visible()
        on(page)
    expect(page).to_have_url(re.compile("/upload"))
    expect(page.locator("input[type=file]").first).to_be_attached()
    expect(page.locator(".st-key-story_bar")).to_have_count(0)
    assert "story=" not in page.url


def test_the_story_is_left_and_resumed_anywhere(dashboard, open_page):
    """Other pages show the way back; an address opens its step; leaving gives back what was open before."""
    page = open_page(f"{dashboard.url}?data=anaesthesia")
    settled(page)
    page.get_by_role("button", name="Tour", exact=True).click()
    told(page, 1)
    on(page)
    told(page, 2)
    go_to(page, "Raters")
    expect(page.locator(".st-key-story_bar")).to_contain_text("Guided tour, step 2 of 7")
    page.get_by_role("button", name="Continue").click()
    told(page, 2)
    page.get_by_role("button", name="Leave the tour").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Anaesthesia")
    page.get_by_role("button", name="Resume tour (step 2 of 7)").click()
    told(page, 2)
    other = open_page(f"{dashboard.url}/cases?data=skin&story=4")
    told(other, 4)
    other.get_by_role("button", name="Back").click()
    told(other, 3)


def test_a_presentation_shows_no_names_and_no_controls(dashboard, open_page):
    """Pages one after another without a rater's name in what is drawn; larger letters; then everything is back."""
    page = open_page(f"{dashboard.url}?data=anaesthesia")
    settled(page)
    page.get_by_role("button", name="Present").click()
    settled(page)
    expect(page.get_by_role("button", name="End presentation")).to_be_visible()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    for title in ("Agreement", "Models", "Raters", "Cases", "Reliability"):
        page.get_by_role("button", name=title, exact=True).click()
        settled(page)
        expect(page).to_have_url(re.compile(f"/{title.lower()}\\?"))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        for control in ("stSlider", "stSelectbox", "stMultiSelect", "stPopover", "stTextInput", "stDownloadButton"):
            for found in page.get_by_test_id(control).all():
                assert not found.is_visible(), (title, control)
        assert not OBSERVERS.search(page.locator("[data-testid=stMain]").inner_text()), title
    assert page.evaluate("getComputedStyle(document.documentElement).fontSize") == "20px"
    page.goto(f"{dashboard.url}/settings?data=anaesthesia&presenting=1")
    settled(page)
    expect(page.get_by_text("This page is not part of the presentation.")).to_be_visible()
    page.get_by_role("button", name="End presentation").click()
    settled(page)
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    go_to(page, "Raters")
    expect(page.locator("[data-testid=stMain]")).to_contain_text("observer 1")


def test_a_presented_page_opens_at_its_top_after_one_that_was_scrolled(dashboard, open_page):
    page = open_page(f"{dashboard.url}/cases?data=skin&presenting=1")
    main = page.get_by_test_id("stMain")
    for key, title in (("Space", "reliability"), ("ArrowLeft", "cases")) * 2:
        settled(page)
        main.evaluate("main => main.scrollTo(0, main.scrollHeight)")
        assert main.evaluate("main => main.scrollTop") > 100
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"/{title}\\?"))
        settled(page)
        assert main.evaluate("main => main.scrollTop") == 0, title


def test_the_story_can_be_presented(dashboard, open_page):
    """Within the story the presenter has its steps at the bottom edge, and nothing else."""
    page = open_page(f"{dashboard.url}/agreement?data=skin&story=1&presenting=1")
    told(page, 1, presented=True)
    edge = page.locator(".st-key-presentation_bar")
    expect(edge.get_by_role("button")).to_have_count(2)
    on(page)
    told(page, 2, presented=True)
    page.locator(".st-key-slide").get_by_text("The majority vote gives").wait_for()
    assert not RATERS.search(page.locator("[data-testid=stMain]").inner_text())
    for key, step in (("ArrowLeft", 1), ("Space", 2)):  # as a presenter's remote sends them
        page.keyboard.press(key)
        told(page, step, presented=True)
    edge.get_by_role("button", name="End presentation").click()
    settled(page)
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    told(page, 2)
