"""A rater's report names nobody else and shows what was found."""

from dataclasses import replace

import numpy as np
import pytest

from core import load_sample
from core.figures.raters import rater_over_time
from core.figures.theme import LIGHT
from core.raters.flagged_raters import flag_raters
from core.raters.monitoring import monitor
from core.raters.report_card import Disagreement, report_card
from core.report.rater_card import _answers, _differences, _over_time, _summary, rater_report
from core.text import UNKNOWN, number, percent, percent_with_interval


@pytest.fixture(scope="module")
def table():
    return monitor(load_sample("skin").as_classes()[0])


@pytest.fixture(scope="module")
def act(table):
    return flag_raters(table)


def test_no_other_rater_is_named(table, act):
    report = rater_report(report_card(table, act, "R04"), "Skin").decode()
    body = report[: report.index("<script>")]
    assert "R04" in body and "Became less accurate over time" in body
    assert not [name for name in table.raters if name != "R04" and name in body]


def test_a_rater_without_a_sign_is_told_so(table, act):
    assert {table.raters[rater] for rater in act.flagged()} == {"R04", "R07"}
    assert "Nothing stands out." in rater_report(report_card(table, act, "R01"), "Skin").decode()


def test_answers_by_class_are_the_raters_own_beside_the_share_of_the_pool(table, act):
    card = report_card(table, act, "R04")
    # So that the pool does not name the class itself most, and a share of another class would be seen.
    card = replace(card, pool=replace(card.pool, share=card.pool.share[:, ::-1] + 0.01))
    (grid,) = _answers(card)
    found, own = grid.table, card.own
    assert sorted(found["class by the others"]) == sorted(card.classes)
    assert found["expected annotations"].is_monotonic_decreasing  # of many classes the page prints the first
    found = found.set_index("class by the others").loc[list(card.classes)]
    ends = zip(own.share.diagonal(), own.low.diagonal(), own.high.diagonal(), strict=True)
    assert found["share"].tolist() == [percent_with_interval(*one) for one in ends]
    assert len(set(found["share"])) > 20
    np.testing.assert_array_equal(found["expected annotations"], np.round(own.n))
    assert found["share of the pool"].tolist() == [percent(one) for one in card.pool.share.diagonal()]
    assert found["bias"].tolist() == [number(one) for one in card.bias]
    unknown = np.full_like(own.share, np.nan)
    (grid,) = _answers(replace(card, own=replace(own, share=unknown, low=unknown, high=unknown)))
    assert set(grid.table["share"]) == {UNKNOWN}


@pytest.fixture(scope="module")
def card(table, act):
    """That of the drifting rater, each of whose numbers is met once."""
    found = report_card(table, act, "R04")
    return replace(
        found,
        n_annotations=1234,
        n_cases=1100,
        n_judged=987,
        n_clear=654,
        accuracy=(0.71, 0.62, 0.79),
        pool_accuracy=(0.84, 0.81, 0.9),
        agreement=(0.55, 0.44, 0.66),
        seconds=37.4,
        pool_seconds=21.6,
        flags=(("Became less accurate over time", "since May."), ("Much faster", "2 seconds.")),
        differences=(
            Disagreement("c7", "acne", "mole", 0.99, 5, 4, None),
            Disagreement("c2", "wart", "acne", 0.93, 3, 2, None),
        ),
        n_differences=60,
    )


def test_every_number_of_the_summary_stands_in_its_own_line(card):
    lead, *signs, grid = _summary(card)
    assert (lead.text, lead.kind) == ("2 flags.", "lead")
    assert [one.text for one in signs] == ["Became less accurate over time: since May.", "Much faster: 2 seconds."]
    lines = {
        "annotations": "1,234 on 1,100 cases",
        "annotations judged by the other raters": "987, including 654 on cases about which the others are confident",
        "accuracy, judged by the model": "71% (62% to 79%)",
        "accuracy of the other raters, median (middle half)": "84% (81% to 90%)",
        "agreement with others": "55% (44% to 66%)",
        "median seconds between annotations": "37",
        "median seconds between annotations, other raters": "22",
    }
    assert dict(grid.table.to_numpy().tolist()) == lines
    unknown = replace(card, judged_by="gold", accuracy=None, pool_accuracy=None, agreement=None, seconds=None)
    told = dict(_summary(unknown)[-1].table.to_numpy().tolist())
    assert set(told) == {
        "annotations",
        "annotations judged by the other raters",
        "median seconds between annotations, other raters",
    }


def test_each_difference_has_its_own_class_and_those_of_the_others_who_agree(card):
    (grid,) = _differences(card)
    assert grid.table.to_numpy().tolist() == [
        ["c7", "acne", "mole", 0.99, "4 of 5"],
        ["c2", "wart", "acne", 0.93, "2 of 3"],
    ]
    assert list(grid.table.columns) == ["case", "annotation", "the others", "how sure", "of them agree"]
    assert grid.caption == "60 annotations in total. The cases about which the others are most confident come first."
    assert (
        "The other raters are not confident about any case on which this rater disagrees"
        in _differences(replace(card, differences=(), n_differences=0))[0].text
    )


def test_what_is_said_over_time_is_of_the_chart_that_is_drawn(card):
    drift = replace(card.over_time, false_alarm=0.1, before=0.88, after=0.43)
    picture, words = _over_time(replace(card, over_time=drift))
    assert words.text == (
        "The chart of a stable rater crosses the limit with 10% probability. "
        "This chart crosses the limit: accuracy is 88% before the change and 43% after it."
    )
    assert picture.draw(LIGHT).data == rater_over_time(drift, LIGHT, "").data
    assert "This chart crosses" not in _over_time(replace(card, over_time=replace(drift, alarm=None)))[1].text
    (why,) = _over_time(replace(card, over_time=None, why_not_over_time="There are no times."))
    assert why.text == "There are no times."
