"""Figures of classifiers: metrics, ends and draws stand where their numbers say."""

import numpy as np
import pytest

from core.evaluation.metrics import Evaluation, MetricValue
from core.figures.classifiers import draws_histogram, metric_against_reliability, metric_per_case, metric_title
from core.figures.theme import DARK, LIGHT, with_opacity

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


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_metric_is_a_line_of_means_in_a_band_of_both_ends_with_a_cross_at_the_point_estimate(theme):
    steps = tuple(evaluation(step) for step in range(3))
    figure = metric_against_reliability((1.0, 4.0, 10.0), steps, "top3_accuracy", theme, "title")
    assert len(figure.data) == 6
    for number, name in enumerate(NAMES):
        band, line, cross = figure.data[3 * number : 3 * number + 3]
        found = [step.values[name]["top3_accuracy"] for step in steps]
        mean = np.array([0.6, 0.611, 0.622]) + 0.1 * number
        assert list(line.x) == [1, 4, 10] and line.y == pytest.approx(mean)
        assert list(band.x) == [1, 4, 10, 10, 4, 1]
        assert band.y == pytest.approx([*(mean + 0.03), *(mean - 0.05 - 0.01 * number)[::-1]])
        assert list(cross.x) == [pytest.approx(12.2)] and list(cross.y) == [0.33] and cross.marker.symbol == "x"
        assert [list(row) for row in line.customdata] == [[v.ci_low, v.ci_high, f"{70 - number} cases"] for v in found]
        assert line.line.color == cross.marker.color == theme.classes[number]
        assert band.fill == "toself" and band.fillcolor == with_opacity(theme.classes[number], 0.14)
    assert [figure.data[1].name, figure.data[4].name] == ["net", "&lt;b&gt;tree&lt;/b&gt;"]
    assert figure.data[1].line.dash != figure.data[4].line.dash
    assert figure.data[1].marker.symbol != figure.data[4].marker.symbol
    assert figure.layout.yaxis.title.text == "top-3 accuracy"


def test_the_axis_of_trust_is_logarithmic_with_a_tick_at_each_value_and_room_for_the_crosses():
    steps = tuple(evaluation(step) for step in range(3))
    axis = metric_against_reliability((0.5, 4.0, 10.0), steps, "top1_accuracy", LIGHT, "").layout.xaxis
    assert axis.type == "log" and list(axis.tickvals) == [0.5, 4, 10] and list(axis.ticktext) == ["0.5", "4", "10"]
    low, high = 10 ** np.array(axis.range)
    assert low == pytest.approx(0.45) and high == pytest.approx(13.5) and high > 12.2


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


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_histogram_holds_the_share_of_draws_of_its_classifier_and_metric(theme):
    by_draw = np.empty((2, 2, 8))
    by_draw[:, 0] = 0.99  # the other metric
    by_draw[0, 1] = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.3, 0.5]
    by_draw[1, 1] = [0.5, 0.5, 0.5, 0.5, 0.3, 0.3, 0.5, 0.5]
    first, second = draws_histogram(evaluation(0, by_draw), "top3_accuracy", theme, "").data
    for number, (bars, shares) in enumerate(((first, {0.1: 6, 0.3: 1, 0.5: 1}), (second, {0.3: 2, 0.5: 6}))):
        assert sum(bars.y) == pytest.approx(1) and len(bars.x) == 40
        drawn = {x: y for x, y in zip(bars.x, bars.y, strict=True) if y}
        for (x, y), (at, n) in zip(drawn.items(), shares.items(), strict=True):
            assert abs(x - at) <= bars.width / 2 + 1e-9 and y == pytest.approx(n / 8)
        assert bars.width == pytest.approx(0.4 / 40)
        assert bars.marker.line.color == theme.classes[number]
    assert first.name == "net: worst .40, best .75"  # extremes of the metric, not of the other one
    assert second.name == "&lt;b&gt;tree&lt;/b&gt;: worst .50, best .85"


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


@pytest.mark.parametrize(
    ("metric", "title"),
    [
        ("top1_accuracy", "top-1 accuracy"),
        ("top3_accuracy", "top-3 accuracy"),
        ("set_accuracy_3", "set accuracy at 3"),
        ("average_overlap_5", "average overlap at 5"),
    ],
)
def test_metrics_have_names_for_people(metric, title):
    assert metric_title(metric) == title
