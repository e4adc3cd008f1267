"""One selection for all pages, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.steps import go_to, settled

pytestmark = pytest.mark.browser


def test_a_selection_holds_on_every_page_stands_in_the_address_and_can_be_taken_back(open_page, dashboard):
    page = open_page(f"{dashboard.url}/agreement?data=anaesthesia")
    settled(page)
    whole = page.get_by_role("heading", level=1).inner_text()
    page.get_by_role("button", name="Filter", exact=True).click()
    dialog = page.get_by_role("dialog")
    box = dialog.get_by_role("combobox", name="Raters")
    for rater in ("observer 1", "observer 2", "observer 3"):
        box.fill(rater)
        page.get_by_role("option", name=rater, exact=True).click()
    dialog.get_by_label("Name of this selection, to compare it with others (optional)").fill("first three")
    dialog.get_by_role("button", name="Use this selection").click()
    settled(page)
    expect(page.get_by_text("first three · ")).to_be_visible()
    assert page.get_by_role("heading", level=1).inner_text() != whole
    expect(page).to_have_url(re.compile("select="))
    address = page.url
    go_to(page, "Models")
    expect(page.get_by_text("first three · ")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    settled(page)
    expect(page.get_by_text("first three · ")).to_have_count(0)
    expect(page).not_to_have_url(re.compile("select="))
    page.get_by_role("button", name="Filter", exact=True).click()
    page.locator(".st-key-saved_filter-0").get_by_role("button", name="Open").click()
    settled(page)
    expect(page.get_by_text("first three · ")).to_be_visible()

    other = open_page(address)
    settled(other)
    expect(other.get_by_text("first three · ")).to_be_visible()
    assert other.get_by_role("heading", level=1).inner_text() != whole

    other.get_by_role("button", name="Change filters").click()
    other.locator(".st-key-saved_filter-0").get_by_role("button", name="Delete").click()
    other.get_by_test_id("stPopoverBody").get_by_role("button", name="Delete").click()
    settled(other)
    expect(other.get_by_role("dialog")).to_have_count(0)
    expect(other.get_by_text("3 of 5 raters")).to_be_visible()
    other.get_by_role("button", name="Change data").click()
    expect(other.get_by_role("dialog").get_by_role("button", name="Close this dataset")).to_be_visible()
    expect(other).to_have_url(re.compile("data=anaesthesia.*select="))
    other.get_by_role("dialog").get_by_role("button", name="Open Caries").click()
    settled(other)
    expect(other.get_by_role("heading", level=1)).to_contain_text("Caries")
    expect(other).to_have_url(re.compile(r"/\?data=caries$"))
    other.get_by_role("button", name="Change data").click()
    other.get_by_role("dialog").get_by_role("button", name="Close this dataset").click()
    settled(other)
    expect(other.get_by_role("heading", level=1)).to_contain_text("See where your raters agree")
