"""A rater's report names nobody else and shows what was found."""

import pytest

from core import load_sample
from core.raters.monitoring import monitor
from core.raters.report_card import report_card
from core.report.rater_card import rater_report


@pytest.fixture(scope="module")
def table():
    return monitor(load_sample("skin").as_classes()[0])


def test_no_other_rater_is_named(table):
    report = rater_report(report_card(table, "R04"), "Skin").decode()
    body = report[: report.index("<script>")]
    assert "R04" in body and "Got worse over time" in body
    assert not [name for name in table.raters if name != "R04" and name in body]


def test_a_rater_without_a_sign_is_told_so(table):
    flagged = {table.raters[flag.rater] for flag in table.flags}
    assert flagged == {"R04", "R07"}
    assert "Nothing stands out." in rater_report(report_card(table, "R01"), "Skin").decode()
