"""Figures of raters and cases: what is drawn is what was given."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures.rater_models import (
    INTERVAL_RATERS,
    MOST_CASES,
    accuracy_by_rater,
    effect_against_probability,
    sensitivity_specificity,
)
from core.figures.theme import DARK, LIGHT
from tests.core.figures.fits import fit


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_raters_stand_at_specificity_and_sensitivity_with_their_intervals(theme):
    model = fit()
    line, raters = sensitivity_specificity(model, theme, "").data
    assert list(line.x) == [0, 1] and list(line.y) == [1, 0]
    assert np.array_equal(raters.x, model.confusion[:, 0, 0])
    assert np.array_equal(raters.y, model.confusion[:, 1, 1])
    assert raters.error_x.array == pytest.approx(0.05) and raters.error_y.arrayminus == pytest.approx(0.05)
    value = model.confusion[2, 1, 1]
    assert list(raters.customdata[2][:2]) == ["rater 2", f"{value:.3f} ({value - 0.05:.3f} to {value + 0.05:.3f})"]
    assert raters.customdata[2][3] == "12"


def test_raters_below_the_diagonal_and_those_not_estimable_are_told_apart():
    model = fit()
    model.confusion[1] = [[0.3, 0.7], [0.6, 0.4]]
    model.evidence[2, 0] = 0
    traces = {trace.name: trace for trace in sensitivity_specificity(model, LIGHT, "").data}
    assert [point[0] for point in traces["worse than guessing"].customdata] == ["rater 1"]
    assert [point[0] for point in traces["not estimable"].customdata] == ["rater 2"]
    assert len(traces["raters"].x) == 2
    symbols = {traces[name].marker.symbol for name in ("raters", "worse than guessing", "not estimable")}
    assert len(symbols) == 3


def test_many_raters_have_their_intervals_in_the_hover_only():
    raters = sensitivity_specificity(fit(INTERVAL_RATERS + 1), LIGHT, "").data[1]
    assert raters.error_x.array is None and "to" in raters.customdata[0][1]


def test_without_intervals_none_are_drawn():
    model = fit(interval=False)
    raters = sensitivity_specificity(model, LIGHT, "").data[1]
    assert raters.error_x.array is None and raters.customdata[0][1] == f"{model.confusion[0, 1, 1]:.3f}"
    assert [trace.name for trace in accuracy_by_rater(model, LIGHT, "").data] == [
        "accuracy",
        "always the commonest class",
    ]


@pytest.mark.parametrize("n_raters", [5, 400])
def test_accuracies_are_sorted_with_their_intervals(n_raters):
    model = fit(n_raters, n_classes=3)
    interval, accuracy, commonest = accuracy_by_rater(model, LIGHT, "").data
    assert np.array_equal(accuracy.y, np.sort(model.accuracy()))
    assert interval.name == "95 % interval"
    assert np.array(interval.y[0::3]) == pytest.approx(accuracy.y - 0.05)
    assert np.array(interval.y[1::3]) == pytest.approx(accuracy.y + 0.05)
    assert np.isnan(np.array(interval.y[2::3], float)).all()
    assert list(commonest.y) == [model.prevalence.max()] * 2
    worst = int(model.accuracy().argmin())
    assert accuracy.customdata[0][0] == f"rater {worst}" and accuracy.customdata[0][2] == str(worst + 10)


def test_of_two_thousand_raters_and_more_those_with_most_annotations_are_shown():
    model = fit(2_100, n_classes=3)
    accuracy = accuracy_by_rater(model, LIGHT, "").data[1]
    assert len(accuracy.y) == 2_000
    assert accuracy.y == pytest.approx(np.sort(model.accuracy()[100:]))


def test_cases_stand_at_their_probability_and_effect():
    model = fit()
    points = effect_against_probability(model, model.effects[0], np.full(30, 5), LIGHT, "").data[0]
    order = np.argsort(model.effects[0].mean)
    assert np.array_equal(points.y, model.effects[0].mean[order])
    assert np.array_equal(points.x, model.class_probability[order, 1])
    value = model.effects[0].mean[order[0]]
    assert list(points.customdata[0]) == [
        f"case {order[0]}",
        f"{value:.3f} ({value - 0.5:.3f} to {value + 0.5:.3f})",
        "5",
    ]


def test_of_many_cases_an_even_thousand_by_effect_is_shown():
    model = fit(n_cases=5_000)
    points = effect_against_probability(model, model.effects[0], np.ones(5_000, int), LIGHT, "").data[0]
    assert len(points.y) == MOST_CASES
    assert points.y[0] == model.effects[0].mean.min() and points.y[-1] == model.effects[0].mean.max()


def test_names_are_shown_letter_for_letter():
    model = replace(fit(names="<i>x</i>%{y}"), classes=("<b>n</b>", "<b>p</b>"), cases=("<u>c</u>",) * 30)
    for figure in (
        sensitivity_specificity(model, LIGHT, ""),
        accuracy_by_rater(model, LIGHT, ""),
        effect_against_probability(model, model.effects[0], np.ones(30, int), LIGHT, ""),
    ):
        text = str(figure.to_dict())
        assert not any(tag in text for tag in ("<i>", "<b>", "<u>", "x%{y}")) and "&lt;" in text
