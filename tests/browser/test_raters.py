"""The annotation manager's way: Home, the raters, one who is flagged, the evidence, a report for them, and a plan."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import answered, go_to, settled

pytestmark = pytest.mark.browser


def test_the_manager_finds_the_flagged_rater_hands_out_a_report_and_plans(open_page, dashboard, tmp_path):
    """From Home to a plan, on the skin sample."""
    page = open_page(dashboard.url)
    settled(page)
    page.get_by_role("button", name="Open Skin").click()
    settled(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Skin: raters agree on")
    go_to(page, "Raters")
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "About 2 of 12 raters are probably below the acceptable accuracy"
    )
    page.get_by_text("got worse (1)").click()
    settled(page)
    expect(page.get_by_text("1 of 12 raters")).to_be_visible()
    table = page.locator(".st-key-raters_table").bounding_box()
    page.mouse.click(table["x"] + 15, table["y"] + 52)  # the box before the first row
    settled(page)
    expect(page.get_by_role("heading", name="R04")).to_be_visible()

    page.get_by_role("button", name="Details").click()
    settled(page)
    expect(page.get_by_text("Ask what has changed since then").last).to_be_visible()
    expect(page.get_by_text("Correct in 86% of annotations before").last).to_be_visible()
    expect(page.get_by_role("heading", name="Annotations by class")).to_be_visible()
    expect(
        page.get_by_role("heading", name="Cases where the other raters are confident in a different class")
    ).to_be_visible()
    expect(page.locator(".st-key-drift .js-plotly-plot").last).to_be_visible()  # the one before it may still stand
    with page.expect_download() as download:
        page.get_by_role("button", name="Download summary").click()
    assert re.fullmatch(r"Skin_rater-R04_\d{4}-\d\d-\d\d\.html", download.value.suggested_filename)
    printed = page.context.new_page()
    download.value.save_as(sheet := tmp_path / "rater.html")
    printed.goto(sheet.as_uri())
    assert len(re.findall(rb"/Type\s*/Page\b", printed.pdf(prefer_css_page_size=True))) == 1
    printed.close()
    report = sheet.read_text(encoding="utf-8")
    assert "R04" in report
    assert not re.search(r"\bR0[1-35-9]\b|\bR1[0-2]\b", report)

    page.get_by_role("tab", name="Planning").click()
    settled(page)
    page.locator(".st-key-plan_budget").get_by_role("slider").focus()
    with answered(page):
        for _ in range(2):
            page.keyboard.press("ArrowLeft")  # 250 annotations are simulated four times as fast as 1000
    page.get_by_role("button", name="Simulate this plan").click()
    settled(page)
    expect(page.get_by_text("simulated datasets (seed 0)")).to_be_visible()
    expect(page.locator(".st-key-plan .js-plotly-plot")).to_be_visible()


def test_no_column_of_the_table_of_raters_is_out_of_sight(open_page, dashboard):
    """The columns that it opens with, at 1,280 pixels; the menu of the table shows the others."""
    page = open_page(f"{dashboard.url}/raters?data=skin", width=1280)
    settled(page)
    heads = page.locator(".st-key-raters_table th")
    for name in ("flags", "accuracy", "95% interval", "expected wrong", "n"):
        expect(heads.filter(has_text=re.compile(rf"^{re.escape(name)}$"))).to_have_count(1)
    scroller = page.locator(".st-key-raters_table .dvn-scroller")
    assert scroller.evaluate("table => table.scrollWidth - table.clientWidth") <= 0
