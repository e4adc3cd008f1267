"""The whole path in a real browser: sample or file, every page, keep, restart, address."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.server import Dashboard
from tests.browser.steps import PAGES, answered, at_rest, go_to, settled, upload

pytestmark = pytest.mark.browser

OTHER_NAMES = b"Image No.;Reader;Finding;Read at\n" + b"".join(
    b"img%d;reader %s;%s;2026-0%d-01\n" % (case, reader, finding, 1 + case % 9)
    for case in range(1, 31)
    for reader, finding in (
        (b"A", b"lesion" if case % 3 else b"clear"),
        (b"B", b"lesion" if case % 4 else b"clear"),
        (b"C", b"lesion" if case % 5 else b"NA"),
    )
)


def test_a_sample_opens_by_one_click(open_page, dashboard):
    """From the card to a page and back; of all pages, see the walk below."""
    page = open_page(dashboard.url)
    settled(page)
    page.get_by_role("button", name="Open Anaesthesia").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Anaesthesia")
    for title in ("Raters", "Home"):
        go_to(page, title)


def test_a_file_with_other_column_names_is_understood_kept_and_reopened_after_a_restart(open_page, tmp_path):
    """Upload, use, keep, restart the server, reopen by the address of a case, walk all pages without an exception."""
    dashboard = Dashboard(tmp_path / "own home").start()
    try:
        page = open_page(f"{dashboard.url}/upload")
        upload(page, "readings.csv", OTHER_NAMES)
        expect(page.get_by_text("First twenty annotations, as read by Plurality")).to_be_visible()
        page.get_by_role("button", name="Use 84 annotations, leave out 6 rows").click()
        settled(page)
        expect(page.get_by_text("readings is open.")).to_be_visible()
        page.get_by_test_id("stMain").get_by_role("button", name="Save on this computer").click()
        settled(page)
        expect(page.get_by_text("Saved on this computer. The link to this dataset will keep working.")).to_be_visible()
        digest = re.search(r"data=([0-9a-f]{32})", page.url).group(1)

        dashboard.stop()
        dashboard.start()
        page = open_page(f"{dashboard.url}/cases?data={digest}&case=img7&reliability=3")  # the first visit
        settled(page)
        expect(page.get_by_role("heading", name=re.compile("^Case img7 · certainty"))).to_be_visible()
        expect(page.locator(".st-key-data_bar")).to_contain_text("30 cases · 3 raters · 84 annotations")
        for title in PAGES:
            if title != "Home":
                go_to(page, title)
                expect(page.locator("[data-testid=stException]")).to_have_count(0)

        page = open_page(dashboard.url)
        settled(page)
        expect(page.get_by_text("Saved on this computer")).to_be_visible()
        page.get_by_test_id("stPopover").get_by_role("button", name="Delete").click()
        settled(page)
        page.get_by_role("button", name="Delete dataset").click()
        settled(page)
        expect(page.get_by_text("Saved on this computer")).to_have_count(0)
        page = open_page(f"{dashboard.url}/cases?data={digest}")
        settled(page)
        expect(page.get_by_text("Open the file again")).to_be_visible()
        assert not list((dashboard.home / "datasets").iterdir())
    finally:
        dashboard.stop()
    assert "Traceback" not in dashboard.log_text()


def test_moving_the_slider_redraws_the_case_and_the_address_opens_it_in_another_browser(open_page, dashboard):
    """Slider, next case, and the same picture elsewhere."""
    page = open_page(f"{dashboard.url}/cases?data=skin&reliability=3")
    settled(page)
    heading = page.get_by_role("heading", name=re.compile(r"^Case skin-\d+ · certainty"))
    first = heading.inner_text()
    page.get_by_role("button", name="Next").click()
    settled(page)
    expect(heading).not_to_contain_text(first.split(" ")[1])
    second = heading.inner_text()
    summary = page.get_by_text("Certainty of the leading class")
    before = summary.inner_text()
    slider = page.get_by_role("slider").first
    slider.focus()
    with answered(page):
        for _ in range(5):
            page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"reliability=3\.[1-5]"))  # a key between two drawings may be lost
    expect(summary).not_to_have_text(before)
    assert heading.inner_text().split(" ")[1] == second.split(" ")[1]

    elsewhere = open_page(page.url)
    settled(elsewhere)
    there = elsewhere.get_by_role("heading", name=re.compile(r"^Case skin-\d+ · certainty"))
    expect(there).to_have_text(heading.inner_text())


def test_the_keyboard_moves_between_cases_and_a_click_in_the_worklist_opens_one(open_page, dashboard):
    """N and P move; a cell of the list opens its case."""
    page = open_page(f"{dashboard.url}/cases?data=anaesthesia")
    settled(page)
    heading = page.get_by_role("heading", name=re.compile(r"^Case \d+ · certainty"))
    first = heading.inner_text()
    with answered(page):
        page.keyboard.press("n")
    expect(heading).not_to_have_text(first)
    with answered(page):
        page.keyboard.press("p")
    expect(heading).to_have_text(first)
    at_rest(page)
    box = page.locator("[data-testid=stDataFrame]").first.bounding_box()
    with answered(page):
        page.mouse.click(box["x"] + 40, box["y"] + 32 * 5)
    expect(heading).not_to_have_text(first)


def test_the_corners_of_the_triangle_can_be_chosen(open_page, dashboard):
    """Removing a corner asks for three; the figure stays."""
    page = open_page(f"{dashboard.url}/cases?data=anaesthesia&case=12")
    settled(page)
    corners = page.get_by_test_id("stMultiSelect")
    expect(corners).to_be_visible()
    corners.get_by_role("button", name=re.compile("Remove|Clear")).first.click()
    settled(page)
    expect(page.get_by_text("Choose three classes as corners")).to_be_visible()
    expect(page.locator(".st-key-simplex .js-plotly-plot")).to_be_visible()


@pytest.mark.parametrize("path", ["upload", "models", "cases", "reliability", "reader_study", "settings"])
def test_nothing_is_wider_than_a_telephone(open_page, dashboard, path):
    """At 390 pixels no page scrolls sideways."""
    page = open_page(f"{dashboard.url}/{path}?data=skin", width=390, height=844)
    at_rest(page)
    widths = page.evaluate(
        "[document.querySelector('[data-testid=stMain]').scrollWidth, document.documentElement.scrollWidth]"
    )
    assert max(widths) <= 390
    if path == "cases":  # names of classes are its last column
        table = page.locator("[class*=st-key-worklist-] .dvn-scroller")
        assert table.evaluate("table => table.scrollWidth - table.clientWidth") <= 0
