"""Figures of raters and cases: what is drawn is what was given."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures.rater_models import (
    INTERVAL_RATERS,
    MOST_CASES,
    NAMED_RATERS,
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
    for bars in (raters.error_x, raters.error_y):
        assert bars.array == pytest.approx([0.03] * 4) and bars.arrayminus == pytest.approx([0.05] * 4)
    for rater, row in enumerate(raters.customdata):
        specificity, sensitivity = model.confusion[rater, 0, 0], model.confusion[rater, 1, 1]
        assert list(row) == [
            f"rater {rater}",
            f"{sensitivity:.0%} ({sensitivity - 0.05:.0%} to {sensitivity + 0.03:.0%})",
            f"{specificity:.0%} ({specificity - 0.05:.0%} to {specificity + 0.03:.0%})",
            str(10 + rater),
        ]
    figure = sensitivity_specificity(model, theme, "")
    assert figure.layout.xaxis.title.text == "specificity: correct on class 0"
    assert figure.layout.yaxis.title.text == "sensitivity: correct on class 1"
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert axis.range[0] < 0 and axis.range[1] > 1


def test_each_rater_has_the_ends_of_their_own_interval():
    model = fit()
    rng = np.random.default_rng(1)
    known = model.uncertainty.confusion
    known.low[:] = model.confusion - rng.uniform(0.01, 0.1, known.low.shape)
    known.high[:] = model.confusion + rng.uniform(0.01, 0.1, known.high.shape)
    model.confusion[3] = [[0.3, 0.7], [0.6, 0.4]]
    for trace in sensitivity_specificity(model, LIGHT, "").data[1:]:
        for point, row in enumerate(trace.customdata):
            rater = int(row[0].split()[1])
            for value, bars, k in ((trace.x, trace.error_x, 0), (trace.y, trace.error_y, 1)):
                assert value[point] + bars.array[point] == pytest.approx(known.high[rater, k, k])
                assert value[point] - bars.arrayminus[point] == pytest.approx(known.low[rater, k, k])


def test_raters_below_the_diagonal_and_those_not_estimable_are_told_apart():
    model = fit()
    model.confusion[1] = [[0.3, 0.7], [0.6, 0.4]]
    model.evidence[2, 0] = 0
    traces = {trace.name: trace for trace in sensitivity_specificity(model, LIGHT, "").data}
    assert [point[0] for point in traces["worse than guessing"].customdata] == ["rater 1"]
    assert [point[0] for point in traces["not estimable"].customdata] == ["rater 2"]
    assert len(traces["raters"].x) == 2
    looks = {
        name: (traces[name].marker.symbol, traces[name].marker.color) for name in traces if traces[name].marker.color
    }
    assert looks == {
        "raters": ("circle", LIGHT.accent),
        "worse than guessing": ("x", LIGHT.mean),
        "not estimable": ("circle-open", LIGHT.rest),
    }
    assert list(traces["worse than guessing"].x) == [0.3] and list(traces["worse than guessing"].y) == [0.4]


def test_on_the_diagonal_a_rater_is_not_worse_than_guessing():
    model = fit()
    model.confusion[1] = [[0.25, 0.75], [0.25, 0.75]]
    assert [trace.name for trace in sensitivity_specificity(model, LIGHT, "").data] == [
        "independent of the truth",
        "raters",
    ]


def test_many_raters_have_their_intervals_in_the_hover_only():
    drawn = sensitivity_specificity(fit(INTERVAL_RATERS), LIGHT, "").data[1]
    assert drawn.error_x.array is not None and drawn.error_y.array is not None
    raters = sensitivity_specificity(fit(INTERVAL_RATERS + 1), LIGHT, "").data[1]
    assert raters.error_x.array is None and "to" in raters.customdata[0][1]


def test_without_intervals_none_are_drawn():
    model = fit(interval=False)
    raters = sensitivity_specificity(model, LIGHT, "").data[1]
    assert raters.error_x.array is None and raters.customdata[0][1] == f"{model.confusion[0, 1, 1]:.0%}"
    assert [trace.name for trace in accuracy_by_rater(model, LIGHT, "").data] == [
        "correct according to the model",
        "always choosing the most frequent class",
    ]


@pytest.mark.parametrize("n_raters", [5, 400])
def test_accuracies_are_sorted_with_their_intervals(n_raters):
    model = fit(n_raters, n_classes=3)
    interval, accuracy, commonest = accuracy_by_rater(model, LIGHT, "").data
    assert np.array_equal(accuracy.y, np.sort(model.accuracy()))
    assert interval.name == "95% interval"
    assert np.array(interval.y[0::3]) == pytest.approx(accuracy.y - 0.05)
    assert np.array(interval.y[1::3]) == pytest.approx(accuracy.y + 0.03)
    assert list(accuracy.x) == list(interval.x[0::3]) == list(interval.x[1::3]) == list(range(n_raters))
    assert np.isnan(np.array(interval.y[2::3], float)).all()
    assert list(commonest.y) == [model.prevalence.max()] * 2
    assert commonest.x[0] < 0 and commonest.x[1] > n_raters - 1
    for rater, value, row in zip(np.argsort(model.accuracy()), accuracy.y, accuracy.customdata, strict=True):
        assert list(row) == [
            f"rater {rater}",
            f"{value:.0%} ({value - 0.05:.0%} to {value + 0.03:.0%})",
            str(rater + 10),
        ]


def test_few_raters_are_named_and_many_are_counted():
    model = fit(NAMED_RATERS)
    figure = accuracy_by_rater(model, LIGHT, "")
    assert list(figure.layout.xaxis.ticktext) == [f"rater {j}" for j in np.argsort(model.accuracy())]
    assert list(figure.layout.xaxis.tickvals) == list(range(NAMED_RATERS))
    many = accuracy_by_rater(fit(NAMED_RATERS + 1), LIGHT, "").layout.xaxis
    assert many.showticklabels is False and many.title.text == f"{NAMED_RATERS + 1} raters, sorted"


def test_the_level_of_the_intervals_is_in_their_name():
    model = fit()
    model = replace(model, uncertainty=replace(model.uncertainty, level=0.8))
    assert accuracy_by_rater(model, LIGHT, "").data[0].name == "80% interval"


def test_an_interval_that_is_not_known_is_said_to_be_missing():
    model = fit()
    worst = int(model.accuracy().argmin())
    model.uncertainty.accuracy.low[worst] = np.nan
    said = accuracy_by_rater(model, LIGHT, "").data[1].customdata
    assert said[0][1] == f"{model.accuracy()[worst]:.0%}, no interval" and "to" in said[1][1]


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
        f"{value:.3f} ({value - 0.5:.3f} to {value + 0.3:.3f})".replace("-", "−"),
        "5",
    ]


def test_a_case_has_its_own_number_of_annotations_and_the_probability_of_the_class_asked_for():
    model = fit(n_classes=3)
    figure = effect_against_probability(model, model.effects[0], np.arange(30) + 100, LIGHT, "", 2)
    points = figure.data[0]
    for x, y, row in zip(points.x, points.y, points.customdata, strict=True):
        case = int(row[0].split()[1])
        assert row[2] == str(100 + case)
        assert (x, y) == (model.class_probability[case, 2], model.effects[0].mean[case])
    assert figure.layout.xaxis.title.text == "probability of class 2" and "P(class 2)" in points.hovertemplate
    assert figure.layout.yaxis.title.text == "difficulty"
    assert figure.layout.xaxis.range[0] < 0 and figure.layout.xaxis.range[1] > 1


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
