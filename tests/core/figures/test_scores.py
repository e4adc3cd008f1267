"""Figures of scores hold the numbers that went in."""

from dataclasses import replace

import numpy as np
import pytest

from core.analyses.raters.scores import over_time
from core.annotations.dataset import Dataset
from core.certainty.score_trust import plausible_score, score_trust
from core.figures import scores as figures
from core.figures.scores import (
    above_against_trust,
    score_against_trust,
    score_density,
    severities,
    severity_over_time,
    sides,
    spreads,
)
from core.figures.theme import LIGHT
from core.ingest.samples import load_sample
from core.plausibility.gaussian import GaussianScores
from core.raters.score_drift import score_drifts
from core.raters.score_raters import score_raters
from tests.core.certainty.test_score_trust import DATA, PRIOR


def test_the_density_has_its_interval_its_mean_and_a_tick_for_each_score():
    found = plausible_score(DATA, GaussianScores(3.2, *PRIOR), 0, 1.0)
    figure = score_density(found, LIGHT, "title", predictions=(("<b>net", 4.5),))
    band, curve, mean, ticks, predicted = figure.data
    assert np.array_equal(curve.x, found.x) and max(curve.y) == 1.0
    assert np.asarray(curve.y) * found.density.max() == pytest.approx(found.density)
    assert found.low <= min(band.x) and max(band.x) <= found.high
    step = np.diff(found.x).max()
    assert min(band.x) - found.low <= step and found.high - max(band.x) <= step
    inside = (found.x >= found.low) & (found.x <= found.high)
    top = np.array(band.y)[np.array(band.y) > 0] * found.density.max()
    assert np.sort(top) == pytest.approx(np.sort(found.density[inside]))  # the band ends where the curve runs
    assert max(ticks.y) < 0 and ticks.y[2] < ticks.y[1]  # equal scores stand below each other, under the curve
    assert list(mean.x) == [found.m]
    assert list(ticks.x) == [1.0, 2.5, 2.5, 6.0] and len(set(ticks.y)) == 2 and ticks.y[1] != ticks.y[2]
    assert list(ticks.customdata) == ["z", "w, x", "w, x", "y"]
    assert (list(predicted.x), list(predicted.customdata)) == ([4.5], ["&lt;b&gt;net"])
    assert 3.2 in [shape.x0 for shape in figure.layout.shapes]


def test_of_many_equal_scores_the_first_raters_are_named_and_the_others_counted():
    found = plausible_score(DATA, GaussianScores(3.2, *PRIOR), 0, 1.0)
    found = replace(found, score=np.array([2.0] + [3.0] * 8), rater=tuple("abcdefghi"))
    ticks = score_density(found, LIGHT, "title").data[3]
    assert list(ticks.customdata) == ["a"] + ["b, c, d, e, f, g and 2 more"] * 8
    steps = np.round((ticks.y[0] - np.asarray(ticks.y)) / (ticks.y[1] - ticks.y[2]), 9)
    assert list(steps) == [0, 0, 1, 2, 3, 4, 5, 5, 5]  # the last ones share the last place
    hidden = score_density(found, LIGHT, "title", hide_names=True).data[3]
    assert list(hidden.customdata) == ["1"] + ["8"] * 8


def test_hidden_names_and_no_threshold_leave_names_and_its_line_out():
    found = plausible_score(DATA, GaussianScores(None, *PRIOR), 0, 1.0)
    figure = score_density(found, LIGHT, "title", hide_names=True)
    assert list(figure.data[3].customdata) == ["1", "2", "2", "1"] and len(figure.data) == 4
    assert len(figure.layout.shapes) == 1


def test_the_trust_figures_have_interval_probability_and_the_trust_in_use():
    found = score_trust(DATA, GaussianScores(3.2, *PRIOR), [0.5, 1, 3], range(1))
    band, line = score_against_trust(found, 1.0, LIGHT, "t").data
    assert list(line.y) == found.m[:, 0].tolist()
    assert list(band.y) == [*found.high[:, 0], *found.low[::-1, 0]]
    figure = above_against_trust(found, 1.0, LIGHT, "t")
    assert list(figure.data[0].y) == found.above[:, 0].tolist()
    assert figure.layout.shapes[0].x0 == 1.0


def test_of_more_cases_than_are_drawn_each_point_stands_at_its_share_of_all(monkeypatch):
    monkeypatch.setattr(figures, "_MOST_POINTS", 2)
    found = score_trust(DATA, GaussianScores(3.2, *PRIOR), [1])
    n = len(DATA.cases)
    (curve,) = sides(found, LIGHT, "t").data
    assert n > 2 and list(curve.x) == pytest.approx([0.5 / n, (n - 0.5) / n])
    assert list(curve.y) == [found.above[0].min(), found.above[0].max()]


def test_severities_and_spreads_are_in_order_with_their_intervals():
    found = score_raters(load_sample("essays"))
    for figure, value, low, high, clear in (
        (severities(found, LIGHT, "t"), found.severity, found.severity_low, found.severity_high, found.severe),
        (spreads(found, LIGHT, "t"), found.spread, found.spread_low, found.spread_high, found.erratic),
    ):
        names = list(figure.layout.yaxis.ticktext)
        assert names == [found.raters[r] for r in np.argsort(value)]
        for trace, mark in zip(figure.data, (False, True), strict=True):
            who = [found.raters.index(names[int(at)]) for at in trace.y]
            assert list(trace.x) == value[who].tolist() and (clear[who] == mark).all()
            assert np.asarray(trace.error_x.array) == pytest.approx(high[who] - value[who])
            assert np.asarray(trace.error_x.arrayminus) == pytest.approx(value[who] - low[who])
        assert sum(len(trace.x) for trace in figure.data) == 9
    assert figure.layout.shapes[0].x0 == found.median_spread


def test_of_too_many_raters_those_who_stand_apart_are_shown_and_then_those_farthest_from_the_line(monkeypatch):
    found = score_raters(load_sample("essays"))
    clear = np.zeros(len(found.raters), bool)
    clear[np.argsort(np.abs(found.severity))[0]] = True  # the one nearest to the line stands apart
    found = replace(found, severe=clear)
    monkeypatch.setattr(figures, "MOST_RATERS", 4)
    wanted = np.abs(found.severity) >= np.sort(np.abs(found.severity))[-3]
    names = severities(found, LIGHT, "t").layout.yaxis.ticktext
    assert set(names) == {name for name, is_shown in zip(found.raters, wanted | clear, strict=True) if is_shown}


def test_of_63_spreads_the_three_nearest_to_the_median_are_left_out_and_the_least_are_not():
    """Spreads 1 to 63, nobody erratic: the median is 32."""
    spread = np.random.default_rng(0).permutation(63) + 1.0
    found = replace(
        score_raters(load_sample("essays")), raters=tuple(f"r{value:.0f}" for value in spread), spread=spread,
        spread_low=spread - 0.5, spread_high=spread + 0.5, erratic=np.zeros(63, bool), n=np.full(63, 9),
    )  # fmt: skip
    names = list(spreads(found, LIGHT, "t").layout.yaxis.ticktext)
    assert names == [f"r{value}" for value in range(1, 64) if value not in (31, 32, 33)]


def test_before_a_change_whose_moment_is_uncertain_the_line_runs_to_that_moment():
    """Not to where its interval begins."""
    rng = np.random.default_rng(5)
    case, rater = np.divmod(np.arange(240), 3)
    names = ["s", [str(i) for i in range(80)], list("abc")]
    score = rng.normal(5, 1, 80)[case] + rng.normal(0, 0.4, 240) + 0.6 * ((rater == 0) & (case >= 50))
    data = Dataset.from_scores(*names, case, rater, score, time=1_700_000_000 + 86_400 * case)
    found = score_drifts(data, score_raters(data)).each[0]
    assert found.change_low < found.change < found.change_high
    before, after = severity_over_time(found, LIGHT, "t").data[2:]
    moments = np.array([*before.x, *after.x], "datetime64[s]").astype(int)
    assert moments.tolist() == found.time[[0, found.change, found.change, -1]].tolist()


def test_severity_over_time_has_the_stretches_the_scores_and_where_severity_changed():
    rng = np.random.default_rng(5)
    case, rater = np.divmod(np.arange(240), 3)
    score = rng.normal(5, 1, 80)[case] + rng.normal(0, 0.4, 240) + 2.0 * ((rater == 0) & (case >= 50))
    names = ["s", [str(i) for i in range(80)], list("abc")]
    data = Dataset.from_scores(*names, case, rater, score, time=1_700_000_000 + 86_400 * case)
    found = score_drifts(data, score_raters(data)).each
    figure = severity_over_time(found[0], LIGHT, "t")
    dots, stretches, before, after = figure.data
    assert list(dots.y) == found[0].above.tolist() and dots.x[0] == "2023-11-14T22:13:20"
    mean, low, high = found[0].windows.T[:3]
    assert list(stretches.y) == mean.tolist()
    assert np.asarray(stretches.error_y.array) == pytest.approx(high - mean)
    assert np.asarray(stretches.error_y.arrayminus) == pytest.approx(mean - low)
    moments = np.array([*before.x, *after.x], "datetime64[s]").astype(int)
    assert moments.tolist() == found[0].time[[0, found[0].change, found[0].change, -1]].tolist()
    assert [*before.y, *after.y] == [found[0].before[0]] * 2 + [found[0].after[0]] * 2
    band = figure.layout.shapes[1]
    ends = np.array([band.x0, band.x1], "datetime64[s]").astype(int)
    assert ends.tolist() == found[0].time[[found[0].change_low, found[0].change_high]].tolist()
    assert figure.layout.yaxis.title.text == "score relative to the others" and dots.name == "a score"
    classes = severity_over_time(found[0], LIGHT, "t", "class")
    assert classes.layout.yaxis.title.text == "classes above the others" and classes.data[0].name == "an annotation"
    assert "scores" not in classes.data[1].hovertemplate
    drifts = score_drifts(data, score_raters(data))
    figures, said = over_time(drifts, 0, 1, "class")
    assert "classes (" in said.plain and "a has rated " in figures.draw(LIGHT).layout.title.text
    assert " classes higher since about " in figures.draw(LIGHT).layout.title.text.replace("<br>", " ")
    steady = severity_over_time(replace(found[0], before=None, after=None), LIGHT, "t")
    assert len(steady.data) == 2 and len(steady.layout.shapes) == 1
