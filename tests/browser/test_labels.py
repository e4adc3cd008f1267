"""Labels in a browser: a file of them, and that nothing is cut on a narrow screen."""

import json
import re

from tests.browser.steps import at_rest, settled
from tests.browser.test_agreement import outside, overflow


def test_labels_are_downloaded_for_every_case(open_page, dashboard):
    page = open_page(f"{dashboard.url}/labels?data=anaesthesia", height=1600)
    settled(page)
    page.get_by_role("button", name="Download 45 labels").click()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON Lines (Hugging Face)").click()
    assert re.fullmatch(r"Anaesthesia_labels_\d{4}-\d\d-\d\d\.jsonl", download.value.suggested_filename)
    rows = [json.loads(line) for line in download.value.path().read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 45 and {row["label"] for row in rows} <= {"1", "2", "3", "4", None}


def test_on_a_narrow_dark_screen_nothing_is_cut(open_page, dashboard):
    page = open_page(f"{dashboard.url}/labels?data=anaesthesia", width=390, height=1600, theme="dark")
    settled(page)
    at_rest(page)
    assert overflow(page) <= 1
    assert outside(page) == []


def test_no_column_of_the_table_of_labels_is_out_of_sight(open_page, dashboard):
    page = open_page(f"{dashboard.url}/labels?data=skin", width=1280)
    settled(page)
    at_rest(page)
    scroller = page.locator(".st-key-labels_table .dvn-scroller")
    assert scroller.evaluate("table => table.scrollWidth - table.clientWidth") <= 0
