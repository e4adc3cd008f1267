"""What a reviewer broke: each was once wrong on screen."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.server import Dashboard
from tests.browser.steps import SOON, answered, at_rest, go_to, settled, until, upload

pytestmark = pytest.mark.browser

HEADING = re.compile(r"^Case \S+ · certainty")
HEAD, ROW = 35, 65  # pixels, of a worklist whose classes have long names


def _click_row(page: Page, row: int) -> None:
    at_rest(page)
    box = page.get_by_test_id("stDataFrame").first.bounding_box()
    page.mouse.click(box["x"] + 30, box["y"] + (HEAD / 2 if row == 0 else HEAD + ROW * (row - 0.5)))


def _cell(page: Page, row: int) -> Locator:
    """Id of the case in a row of the worklist, the header being row 0, as screen readers are told."""
    table = page.get_by_test_id("stDataFrame").first
    return table.locator(f"[role=row][aria-rowindex='{row + 1}'] [role=gridcell]").first


def test_a_class_named_like_a_column_of_a_table_breaks_no_page(open_page, dashboard):
    """A class may be called "case"."""
    answers = ("case", "other")
    rows = [f"c{case},r{rater},{answers[(case + case * rater) % 2]}" for case in range(9) for rater in range(3)]
    page = open_page(f"{dashboard.url}/upload")
    upload(page, "named.csv", ("\n".join(["case,rater,class", *rows]) + "\n").encode())
    page.get_by_role("button", name="Use 27 annotations").click()
    settled(page)
    expect(page.get_by_text("named is open.")).to_be_visible()
    go_to(page, "Models")
    page.get_by_role("tab", name="Soft labels").click()
    settled(page)
    expect(page.get_by_role("button", name="Class probabilities of all cases")).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


def test_a_row_of_the_worklist_opens_again_after_next(open_page, dashboard):
    """The highlight follows Next, so that the row clicked before can be clicked again."""
    page = open_page(f"{dashboard.url}/cases?data=skin&reliability=3")
    settled(page)
    heading = page.get_by_role("heading", name=HEADING)
    first = heading.inner_text()
    with answered(page):
        _click_row(page, 3)
    expect(heading).not_to_have_text(first)
    clicked = heading.inner_text()
    page.get_by_role("button", name="Next").click()
    settled(page)
    expect(heading).not_to_have_text(clicked)
    with answered(page):
        _click_row(page, 3)
    expect(heading).to_have_text(clicked)


def test_a_click_in_a_sorted_worklist_opens_the_case_of_that_row(open_page, dashboard):
    """Sorted by id, the fourth row is the fourth case, though it is far down in the worklist's own order."""
    page = open_page(f"{dashboard.url}/cases?data=skin&reliability=3")
    settled(page)
    until(page, lambda: _click_row(page, 0), _cell(page, 4).filter(has_text="skin-004"), on_canvas=True)
    with answered(page):
        _click_row(page, 4)
    expect(page.get_by_role("heading", name=re.compile("^Case skin-004 · "))).to_be_visible()


def test_two_searches_with_as_many_hits_have_a_list_each(open_page, dashboard):
    """The second list answers a click on the row that was chosen in the first."""
    page = open_page(f"{dashboard.url}/cases?data=skin&reliability=3")
    settled(page)
    find = page.get_by_placeholder("Case ID, class or rater")
    for words in ("skin-01", "skin-02"):
        find.fill(words)
        with answered(page):
            find.press("Enter")
        expect(page.get_by_text("10 of 10 cases, least certain first")).to_be_visible()
        expect(_cell(page, 2)).to_contain_text(words)
        with answered(page):
            _click_row(page, 2)
        expect(page.get_by_role("heading", name=re.compile(f"^Case {words}"))).to_be_visible()


def test_a_corrected_file_of_predictions_replaces_the_first(open_page, dashboard):
    """Same name, same length, other guesses: the metric changes; and they can be removed again."""
    page = open_page(f"{dashboard.url}/reliability?data=anaesthesia")
    settled(page)
    page.get_by_text("Add classifier predictions").click()
    verdicts = []
    for shift in (0, 1):
        rows = [f"{case},{1 + (case + shift) % 4},0.9" for case in range(1, 46)]
        upload(page, "guesser.csv", ("case,class,score\n" + "\n".join(rows) + "\n").encode())
        expect(page.get_by_text("guesser: 45 of 45 cases")).to_be_visible()
        chart, tab = page.locator(".st-key-metric_draws .js-plotly-plot"), page.get_by_role("tab", name="Classifiers")
        until(page, lambda tab=tab: tab.click(timeout=SOON), chart)
        at_rest(page)
        verdicts.append(chart.inner_text())
        page.get_by_role("button", name=re.compile("^Remove guesser")).first.click()
        settled(page)
    assert verdicts[0] != verdicts[1]
    page.get_by_role("button", name="Remove them").click()
    settled(page)
    expect(page.get_by_role("tab", name="Classifiers")).to_have_count(0)


def test_a_home_folder_that_cannot_be_written_is_told_and_the_rest_goes_on(open_page, tmp_path):
    """PLURALITY_HOME below a file: pages work, Keep says what to do."""
    (tmp_path / "file").write_text("")
    running = Dashboard(tmp_path / "server", PLURALITY_HOME=str(tmp_path / "file" / "home")).start()
    try:
        page = open_page(f"{running.url}/upload")
        upload(page, "few.csv", b"case,rater,class\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n")
        page.get_by_role("button", name="Use 4 annotations").click()
        settled(page)
        page.get_by_test_id("stMain").get_by_role("button", name="Save on this computer").click()
        settled(page)
        expect(page.get_by_text(re.compile("Could not write"))).to_be_visible()
        go_to(page, "Agreement")
    finally:
        running.stop()
    assert "Traceback" not in running.log_text()
