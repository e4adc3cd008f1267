"""A rater's report names nobody else and shows what was found."""

import numpy as np
import pytest

from core import load_sample
from core.raters.monitoring import monitor
from core.raters.report_card import report_card
from core.raters.to_act_on import raters_to_act_on
from core.report.rater_card import _answers, rater_report


@pytest.fixture(scope="module")
def table():
    return monitor(load_sample("skin").as_classes()[0])


@pytest.fixture(scope="module")
def act(table):
    return raters_to_act_on(table)


def test_no_other_rater_is_named(table, act):
    report = rater_report(report_card(table, act, "R04"), "Skin").decode()
    body = report[: report.index("<script>")]
    assert "R04" in body and "Got worse over time" in body
    assert not [name for name in table.raters if name != "R04" and name in body]


def test_a_rater_without_a_sign_is_told_so(table, act):
    assert {table.raters[rater] for rater in act.flagged()} == {"R04", "R07"}
    assert "Nothing stands out." in rater_report(report_card(table, act, "R01"), "Skin").decode()


def test_answers_by_class_are_the_raters_own_beside_the_share_of_the_pool(table, act):
    card = report_card(table, act, "R04")
    (grid,) = _answers(card)
    found, own = grid.table, card.own
    assert found["class by the others"].tolist() == list(card.classes)
    numbers = {
        "answered the same": own.share.diagonal(),
        "ci_low": own.low.diagonal(),
        "ci_high": own.high.diagonal(),
        "expected answers": own.n,
        "pool answers the same": card.pool.share.diagonal(),
        "bias": card.bias,
    }
    for name, expected in numbers.items():
        np.testing.assert_array_equal(found[name], expected, err_msg=name)
