"""Figures of prediction sets read against the sets that they draw."""

from dataclasses import replace

import numpy as np
import pytest

from core.certainty.regions import Region
from core.evaluation.prediction_sets import CoveredShare, prediction_sets
from core.figures.cases import Cut, triangle
from core.figures.prediction_sets import conditional_coverage, coverage_against_reliability
from core.figures.theme import DARK, LIGHT
from core.plausibility.dirichlet import DirichletCounts
from tests.benchmarks.prediction_sets import data_of, simulate

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
