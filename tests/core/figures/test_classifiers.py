"""Figures of classifiers: metrics, ends and draws stand where their numbers say."""

import numpy as np
import pytest

from core.evaluation.metrics import Evaluation, MetricValue
from core.figures.classifiers import draws_histogram, metric_against_reliability, metric_per_case
from core.figures.theme import DARK, LIGHT

METRICS = ("top1_accuracy", "top3_accuracy")
NAMES = ("net", "<b>tree</b>")


def value(mean, below, n_cases):
    return MetricValue(mean, 0.01, mean - below, mean + 0.03, mean - 0.2, mean + 0.15, 0.33, 0.02, 0.04, n_cases)


def evaluation(step, by_draw=None, by_case=None):
    """Two classifiers, two metrics; every number stands once."""
    values = {
        name: {
            metric: value(0.4 + 0.1 * number + 0.2 * place + 0.011 * step, 0.05 + 0.01 * number, 70 - number)
            for place, metric in enumerate(METRICS)
        }
        for number, name in enumerate(NAMES)
    }
    return Evaluation(NAMES, METRICS, values, by_draw, by_case, None, None, np.full((2, 2, 2), 0.5))


def test_while_it_is_computed_a_line_ends_at_the_last_trust_that_is_there_and_the_axis_has_room_for_all():
    steps = tuple(evaluation(step) for step in range(3))
    whole = metric_against_reliability((1.0, 4.0, 10.0), steps, "top3_accuracy", LIGHT, "")
    first = metric_against_reliability((1.0, 4.0, 10.0), steps[:2], "top3_accuracy", LIGHT, "")
    for place in (0, 3):
        band, line, cross = first.data[place : place + 3]
        assert list(line.x) == [1, 4] and list(line.y) == list(whole.data[place + 1].y)[:2]
        assert list(band.x) == [1, 4, 4, 1] and cross == whole.data[place + 2]
    assert first.layout == whole.layout


def test_at_one_trust_alone_the_interval_is_a_bar():
    figure = metric_against_reliability((4.0,), (evaluation(1),), "top3_accuracy", LIGHT, "")
    for number, line in enumerate((figure.data[1], figure.data[4])):
        assert list(line.error_y.array) == [pytest.approx(0.03)] and line.error_y.color == line.line.color
        assert list(line.error_y.arrayminus) == [pytest.approx(0.05 + 0.01 * number)]
    several = metric_against_reliability((1.0, 4.0), (evaluation(1),) * 2, "top3_accuracy", LIGHT, "")
    assert several.data[1].error_y.array is None


def test_before_the_first_trust_each_classifier_has_its_cross_and_its_name_alone():
    scores = {name: dict.fromkeys(METRICS, 0.5 + number) for number, name in enumerate(NAMES)}
    scores["net"]["top3_accuracy"] = 0.33
    figure = metric_against_reliability((1.0, 4.0, 10.0), (), "top3_accuracy", LIGHT, "", scores)
    whole = metric_against_reliability((1.0, 4.0, 10.0), (evaluation(0),) * 3, "top3_accuracy", LIGHT, "")
    line, cross, other_line, other_cross = figure.data
    assert list(line.x) == list(other_line.x) == [1, 4, 10] and {*line.y, *other_line.y} == {None}
    assert (line.name, line.line, line.marker) == tuple(
        getattr(whole.data[1], part) for part in ("name", "line", "marker")
    )
    assert cross == whole.data[2] and list(other_cross.y) == [1.5] and other_cross.x == whole.data[5].x
    assert figure.layout == whole.layout


def test_draws_that_are_all_alike_are_one_bar():
    (bars, _) = draws_histogram(evaluation(0, np.full((2, 2, 5), 0.25)), "top1_accuracy", LIGHT, "").data
    assert sorted(bars.y)[-2:] == [0, 1]


def test_the_metric_of_cases_is_sorted_from_the_worst_and_cases_without_a_prediction_are_left_out():
    by_case = np.zeros((5, 2, 2))
    by_case[:, 0, 1] = [0.9, np.nan, 0.2, 0.5, 0.4]
    by_case[:, 1, 1] = [0.1, 0.8, 0.3, 0.7, 0.6]
    first, second = metric_per_case(evaluation(0, None, by_case), "top3_accuracy", DARK, "").data
    assert list(first.y) == [0.2, 0.4, 0.5, 0.9] and first.x == pytest.approx([1 / 8, 3 / 8, 5 / 8, 7 / 8])
    assert list(second.y) == [0.1, 0.3, 0.6, 0.7, 0.8] and second.x == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    assert (first.line.color, second.line.color) == DARK.classes[:2] and first.line.dash != second.line.dash
    assert (first.name, second.name) == ("net", "&lt;b&gt;tree&lt;/b&gt;")


def test_of_many_cases_an_even_part_with_both_ends_is_drawn():
    by_case = np.zeros((2401, 2, 2))
    by_case[:, 0, 0] = np.random.default_rng(0).permutation(2401) / 2400
    figure = metric_per_case(evaluation(0, None, by_case), "top1_accuracy", LIGHT, "")
    assert tuple(figure.layout.xaxis.range) == (0, 1) and tuple(figure.layout.yaxis.range) == (-0.02, 1.02)
    curve = figure.data[0]
    assert len(curve.x) == 600 and curve.y[0] == 0 and curve.y[-1] == 1
    assert curve.x == pytest.approx((np.array(curve.y) * 2400 + 0.5) / 2401)  # each at its own rank
    assert np.diff(curve.x).max() < 2 * np.diff(curve.x).min()
