"""Figures of classifiers: metrics, ends and draws stand where their numbers say."""

from dataclasses import replace

import numpy as np
import pytest

from core.certainty.regions import Region
from core.evaluation.metrics import Evaluation, MetricValue
from core.evaluation.prediction_sets import CoveredShare, prediction_sets
from core.figures.cases import Cut, triangle
from core.figures.classifiers import draws_histogram, metric_against_reliability, metric_per_case
from core.figures.labels import (
    NOT_CONVERGED,
    model_name,
    raters_side_by_side,
    row_height,
    short_names,
    slant,
    wrapped_names,
)
from core.figures.prediction_sets import conditional_coverage, coverage_against_reliability
from core.figures.theme import DARK, LIGHT
from core.plausibility.dirichlet import DirichletCounts
from core.text import plotly
from tests.benchmarks.prediction_sets import data_of, simulate

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
    line, cross, other_line, other_cross, crosses = figure.data
    assert (crosses.name, crosses.marker.symbol) == ("point estimate", cross.marker.symbol)
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


# Prediction sets: Figures of prediction sets read against the sets that they draw.


BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK])


@pytest.fixture(scope="module")
def found():
    _, plausible, score = simulate(200, np.random.default_rng(0))
    dataset, predictions, kept = data_of(plausible, score)
    return tuple(
        prediction_sets(predictions, dataset, kept, alpha=0.2, seed=seed, model=DirichletCounts()) for seed in (0, 1)
    )


def test_a_group_without_a_majority_vote_has_none_and_the_others_keep_their_lines(found):
    groups = found[0].groups
    figure = conditional_coverage((replace(groups[0], voted=None), *groups[1:]), 0.8, LIGHT, "title")
    truth, vote = figure.data
    assert list(truth.y) == list(range(len(groups))) and list(vote.y) == list(range(1, len(groups)))
    assert list(vote.x) == [one.voted.value for one in groups[1:]]
    assert [row[2] for row in vote.customdata] == [one.mean_size for one in groups[1:]]


def test_the_axis_of_coverage_begins_below_every_interval(found):
    wide = replace(found[0].groups[0], aggregated=CoveredShare(0.75, 0.42, 0.93, 12))
    figure = conditional_coverage((wide, *found[0].groups[1:]), 0.8, LIGHT, "title")
    assert figure.layout.xaxis.range[0] < 0.42 and figure.layout.xaxis.range[1] > 1


def test_the_axis_of_coverage_reaches_the_promise_where_all_of_it_lies_above(found):
    high = CoveredShare(0.99, 0.97, 1.0, 400)
    groups = tuple(replace(one, aggregated=high, voted=high) for one in found[0].groups)
    by_group = conditional_coverage(groups, 0.8, LIGHT, "title")
    sets = tuple(replace(one, aggregated=high, voted=high, true=None) for one in found)
    by_trust = coverage_against_reliability((1.0, 3.0), sets, LIGHT, "title")
    for axis in (by_group.layout.xaxis, by_trust.layout.yaxis):
        assert axis.range[0] < 0.8 < 0.97 < axis.range[1]


@BOTH
def test_the_cut_runs_where_the_mean_score_is_the_threshold(theme):
    cut = Cut(np.array([0.9, 0.1, 0.3]), 0.5)
    region = cut.region
    assert cut.inside.tolist() == [True, False, False] and len(region) == 3
    np.testing.assert_allclose(np.sort(region @ cut.score), [0.5, 0.5, 0.9])
    np.testing.assert_allclose(region.sum(axis=1), 1)
    assert len(Cut(np.array([0.9, 0.7, 0.3]), 0.5).region) == 4
    assert len(Cut(np.full(3, 0.2), 0.5).region) == 0 and len(Cut(np.full(3, 0.5), 0.5).region) == 3
    corners = np.random.default_rng(0).dirichlet(np.ones(3), 50)
    figure = triangle(list("abc"), corners, Region((), 0.95), theme, "t", cut=cut)
    drawn = next(trace for trace in figure.data if trace.name == "cut")
    closed = np.concatenate([region, region[:1]])
    np.testing.assert_allclose(drawn.x, closed[:, 1] + closed[:, 2] / 2)
    assert drawn.line.dash == "dash"
    assert all(trace.name != "cut" for trace in triangle(list("abc"), corners, Region((), 0.95), theme, "t").data)


# Labels: Names that fit their figure.


@pytest.mark.parametrize(
    "names",
    [
        [f"Professor Doctor Somebody von Long {place}" for place in range(4)],
        [f"A rather long name with number {place} of the list" for place in range(25)],
        [f"{place} is where these long names begin to differ" for place in range(12)],
        ["R01", "R02"],
    ],
)
def test_names_that_differ_still_differ_when_they_are_cut(names):
    short = short_names(names, 18)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 18


def test_short_names_are_left_alone_and_equal_ones_stay_equal():
    assert short_names(["a", "b", "a"], 18) == ["a", "b", "a"]
    assert short_names(["x" * 30] * 2, 10) == [short_names(["x" * 30] * 2, 10)[0]] * 2


def test_a_model_that_has_not_converged_says_so_in_a_line_of_its_own():
    assert model_name("Difficulty AB") == "Difficulty AB"
    assert model_name(f"Difficulty AB{NOT_CONVERGED}") == "Difficulty AB<br>not converged"
    assert model_name("<b>" + NOT_CONVERGED) == "&lt;b&gt;<br>not converged"


def test_tick_labels_slant_where_they_would_overlap():
    assert slant(["1", "2", "3"]) == 0
    assert slant(["a long name"] * 5) == -45
    assert slant([plotly("<<<<")] * 5) == 0  # as shown, not as written


def test_rows_of_models_have_room_for_a_second_line_where_one_has_it():
    assert row_height(["A", f"B{NOT_CONVERGED}"]) > row_height(["A", "B"])


def test_raters_side_by_side_are_named_in_order_or_counted():
    named = raters_side_by_side(["b", "a"], 2, ", sorted")
    assert (named["tickvals"], named["ticktext"], named["range"]) == ([0, 1], ["b", "a"], [-0.7, 1.7])
    assert "title" not in named
    counted = raters_side_by_side(None, 1200, ", sorted")
    assert (counted["title"], counted["showticklabels"], counted["range"]) == (
        "1,200 raters, sorted",
        False,
        [-0.7, 1199.7],
    )
    assert "ticktext" not in counted


def test_long_names_take_two_lines_and_are_escaped():
    names = ["Tomosynthesis minus Mammography", "a < b", "x" * 60]
    assert wrapped_names(names, 26)[:2] == ["Tomosynthesis minus<br>Mammography", "a &lt; b"]
    assert wrapped_names(names, 26)[2] == short_names(names, 26)[2]
