"""Agreement in a real browser: what is clicked, compared and exported."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import answered, at_rest, go_to, in_theme, settled, upload

pytestmark = pytest.mark.browser

# Two long names that differ at their end only, and dates of which some are missing.
NAMES = ("Professor Doctor Somebody von Long 1", "Professor Doctor Somebody von Long 2", "<b>x</b>:red[a]")
ROWS = [
    f'{case},"{rater}",{"yes" if (case + (case % 4 == place)) % 2 else "no"},'
    + ("" if case % 7 == 0 else f"2026-0{1 + case // 8}-1{case % 8}")
    for case in range(40)
    for place, rater in enumerate(NAMES)
]


def click_cell(page: Page, across: int, down: int, n_raters: int) -> None:
    """Click a cell of the pair matrix, counted from 0."""
    box = page.locator(".heatmaplayer image").first.bounding_box()
    page.mouse.click(
        box["x"] + box["width"] * (across + 0.5) / n_raters, box["y"] + box["height"] * (down + 0.5) / n_raters
    )


def overflow(page: Page) -> float:
    """By how many pixels the page is wider than its window."""
    return page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")


def outside(page: Page) -> list[str]:
    """Texts of figures that reach beyond them."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.js-plotly-plot')].flatMap(figure => {
            const frame = figure.getBoundingClientRect();
            return [...figure.querySelectorAll('text')].filter(text => {
                const box = text.getBoundingClientRect();
                return frame.width && box.width && (box.right > frame.right + 3 || box.left < frame.left - 3);
            }).map(text => text.textContent);
        })"""
    )


def test_a_click_on_a_cell_lists_where_the_two_differ_and_the_boxes_can_be_changed_after(open_page, dashboard):
    page = open_page(f"{dashboard.url}/agreement?data=anaesthesia", height=1600)
    settled(page)
    page.get_by_role("tab", name="Pairwise agreement").click()
    at_rest(page)
    with answered(page):
        click_cell(page, 1, 0, 5)
    said = page.get_by_text(re.compile(r"disagree on \d+ of \d+ annotation pairs"))
    expect(said).to_be_visible()
    first = said.inner_text()
    coefficient = page.get_by_role("combobox", name=re.compile("Coefficient"))
    coefficient.click()
    page.get_by_role("option", name="Cohen κ").click()
    settled(page)
    expect(said).to_have_text(first)  # the same two raters
    page.get_by_role("combobox", name=re.compile("and rater")).click()
    now = set(re.findall(r"observer \d", first))
    other = next(name for name in (f"observer {place}" for place in range(1, 6)) if name not in now)
    page.get_by_role("option", name=other).click()
    settled(page)
    expect(said).to_contain_text(other)
    table = page.locator(".st-key-disagreements [data-testid=stDataFrame]")
    table.scroll_into_view_if_needed()
    at_rest(page)
    box = table.bounding_box()
    with answered(page):
        page.mouse.click(box["x"] + 20, box["y"] + 50)
    expect(page.get_by_role("heading", name=re.compile("^Case .* certainty"))).to_be_visible()


def test_a_file_with_dates_is_followed_over_time_compared_and_shown_letter_for_letter(open_page, dashboard):
    page = open_page(f"{dashboard.url}/upload", height=1600)
    upload(page, "dated.csv", "\n".join(["case,rater,class,date", *ROWS]).encode())
    page.get_by_role("button", name="Use 120 annotations").click()
    settled(page)
    expect(page.get_by_text("is open.")).to_be_visible()
    go_to(page, "Agreement")
    page.get_by_role("tab", name="Pairwise agreement").click()
    settled(page)
    names = page.locator(".js-plotly-plot:has(.heatmaplayer)").first
    expect(names.locator(".ytick text", has_text="<b>x</b>:red[a]")).to_be_visible()
    settled(page)
    ticks = names.locator(".ytick text").all_text_contents()
    assert len(set(ticks)) == 3, ticks  # the long names stay apart
    assert page.locator("main b, main i").count() == 0
    page.get_by_role("tab", name="Over time").click()
    settled(page)
    expect(page.get_by_text(re.compile(r"SPA was .* \(")).first).to_be_visible()
    expect(page.get_by_text(re.compile("n: number of cases with at least two annotations"))).to_be_visible()
    page.get_by_role("tab", name="Compare").click()
    settled(page)
    expect(page.get_by_text(re.compile(r"clearly differ: difference [-−]?0\.\d+ \(")).first).to_be_visible()
    first = page.get_by_role("combobox", name=re.compile("First selection"))
    expect(first).to_be_in_viewport()
    first.click()
    page.get_by_role("option", name="Second half of the period").click()
    settled(page)
    expect(page.get_by_text(re.compile(r"resamples of the cases \(seed 0\)"))).to_be_visible()
    assert "compare=" in page.url
    page.get_by_role("tab", name="Precision and sample size").click()
    expect(page.get_by_text(re.compile("With 500 more annotations")).first).to_be_visible()


def test_the_table_behind_the_figure_can_be_taken_away(open_page, dashboard):
    page = open_page(f"{dashboard.url}/agreement?data=anaesthesia", height=1600)
    settled(page)
    page.get_by_role("tab", name="Pairwise agreement").click()
    page.get_by_test_id("stMain").get_by_role("button", name="Pairs").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).click()
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0] == "rater,other_rater,n,agree,value,se,ci_low,ci_high,note" and len(lines) == 11


def test_on_a_narrow_dark_screen_nothing_is_cut_and_nothing_moves_sideways(open_page, dashboard):
    page = open_page(f"{dashboard.url}/agreement?data=skin", width=390, height=1600, theme="dark")
    settled(page)
    for name in ("Pairwise agreement", "By class", "Precision and sample size"):
        page.get_by_role("tab", name=name).click()
        at_rest(page)
        assert overflow(page) <= 1
        assert outside(page) == []


def test_figures_are_drawn_anew_where_the_computer_goes_dark_and_light_again(open_page, dashboard):
    page = open_page(f"{dashboard.url}/agreement?data=anaesthesia")
    settled(page)
    ink = page.locator(".js-plotly-plot .xtick text").first

    def lightness() -> float:
        return ink.evaluate(
            "tick => getComputedStyle(tick).fill.match(/\\d+/g).map(Number).reduce((a, b) => a + b) / 3"
        )

    before = lightness()
    in_theme(page, "dark")
    at_rest(page)
    assert before < 128 < lightness()
    in_theme(page, "light")
    at_rest(page)
    assert lightness() == before
