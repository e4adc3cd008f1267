"""Figures of models side by side: what is drawn is what was given."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures.models import (
    MOST_CLASSES,
    MOST_WITH_INTERVALS,
    calibration_curve,
    confusion_heatmap,
    objective_path,
    prevalence_by_model,
)
from core.figures.theme import DARK, LIGHT
from core.text import number, percent
from tests.core.figures.fits import fit, spread


def test_prevalence_of_one_class_is_a_row_per_model():
    fits = {"ABC": fit(), "vote": fit(interval=False)}
    figure = prevalence_by_model(fits, np.array([0.7, 0.3]), LIGHT, "", [1])
    raw, first, second = figure.data
    assert list(raw.x) == [0.3, 0.3] and "46 annotations" in raw.hovertemplate
    assert list(first.x) == [fits["ABC"].prevalence[1]] and list(first.y) == [0] and list(second.y) == [1]
    assert first.error_x.array == pytest.approx([0.03]) and first.error_x.arrayminus == pytest.approx([0.05])
    assert np.isnan(second.error_x.array).all() and np.isnan(second.error_x.arrayminus).all()
    assert list(raw.y) == [-0.5, 1.5] and list(figure.layout.yaxis.tickvals) == [0, 1]
    assert figure.layout.yaxis.range[0] > 1 and figure.layout.yaxis.range[1] < 0  # the first on top
    assert figure.layout.xaxis.title.text == "share of cases in class class 1"
    assert (first.marker.symbol[0], second.marker.symbol[0]) == ("circle", "x-thin")
    assert list(figure.layout.yaxis.ticktext) == ["ABC", "vote"]
    assert first.customdata[0][1] == f"{first.x[0] - 0.05:.1%} to {first.x[0] + 0.03:.1%}"
    assert second.customdata[0][1] == "no interval" and "30 cases" in second.hovertemplate


def test_prevalence_of_more_classes_is_a_group_per_class():
    fits = {"a": fit(n_classes=4), "b": fit(n_classes=4, seed=1)}
    figure = prevalence_by_model(fits, np.array([0.4, 0.3, 0.2, 0.1]), LIGHT, "", [2, 0])
    assert [list(trace.x) for trace in figure.data[:2]] == [[0.2, 0.2], [0.4, 0.4]]
    assert list(figure.data[2].y) == [0, 3] and list(figure.data[3].y) == [1, 4]
    assert list(figure.data[2].x) == list(fits["a"].prevalence[[2, 0]])
    assert list(figure.layout.yaxis.ticktext) == ["class 2", "class 0"]
    assert figure.data[2].marker.symbol[0] != figure.data[3].marker.symbol[0]
    assert [list(trace.y) for trace in figure.data[:2]] == [[-0.5, 1.5], [2.5, 4.5]]
    assert [trace.showlegend for trace in figure.data] == [True, False, True, True]
    assert list(figure.layout.yaxis.tickvals) == [0.5, 3.5] and figure.layout.xaxis.title.text == "share of cases"
    assert [figure.data[2].name, figure.data[3].name] == ["a", "b"]
    assert [trace.marker.color for trace in figure.data[2:]] == list(LIGHT.classes[:2])
    assert [row[0] for row in figure.data[3].customdata] == ["class 2", "class 0"]
    low, high = fits["b"].prevalence[[2, 0]] - 0.05, fits["b"].prevalence[[2, 0]] + 0.03
    assert [row[1] for row in figure.data[3].customdata] == [
        f"{a:.1%} to {b:.1%}" for a, b in zip(low, high, strict=True)
    ]


def test_calibration_shows_shares_with_intervals_and_counts_and_no_empty_bin():
    predicted, observed = np.array([0.1, 0.5, 0.9]), np.array([0.2, np.nan, 0.8])
    count = np.array([40, 0, 1])
    figure = calibration_curve(predicted, observed, observed - 0.15, observed + 0.1, count, LIGHT, "")
    line, curve, bars = figure.data
    assert list(line.x) == list(line.y) == [0, 1]
    assert list(curve.x) == [0.1, 0.9] and list(curve.y) == [0.2, 0.8]
    assert curve.error_y.array == pytest.approx([0.1, 0.1]) and curve.error_y.arrayminus == pytest.approx([0.15, 0.15])
    assert list(bars.x) == [0.1, 0.9] and list(bars.y) == [40, 1] and bars.yaxis == "y2"
    assert list(bars.hovertext) == ["40 cases", "1 case"]
    assert [list(row[:2]) for row in curve.customdata] == [pytest.approx([0.05, 0.3]), pytest.approx([0.65, 0.9])]
    assert [row[2] for row in curve.customdata] == ["40 cases", "1 case"]
    above, below = figure.layout.yaxis, figure.layout.yaxis2
    assert above.domain[0] > below.domain[1] and below.title.text == "cases" and above.title.text == "share true"
    assert above.range[0] < 0 and above.range[1] > 1 and below.range is None
    assert figure.layout.xaxis.range[0] < 0 and figure.layout.xaxis.range[1] > 1


def test_names_are_shown_letter_for_letter():
    model = replace(fit(), classes=("<b>n</b>", "<b>p</b>"))
    text = str(prevalence_by_model({"<i>m</i>": model}, np.array([0.5, 0.5]), LIGHT, "", [0, 1]).to_dict())
    assert "<b>" not in text and "<i>" not in text and "&lt;b&gt;p" in text and "&lt;i&gt;m" in text


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_confusion_matrix_shows_numbers_intervals_and_how_many_they_rest_on(theme):
    model = fit(n_classes=3)
    heat = confusion_heatmap(model, 1, theme, "").data[0]
    assert np.array_equal(heat.z, model.confusion[1])
    assert heat.text[0][0].split("<br>")[0] == percent(model.confusion[1, 0, 0])
    assert " to " in heat.text[0][0] and heat.textfont.color == theme.ink
    figure = confusion_heatmap(model, 1, theme, "")
    assert list(figure.layout.yaxis.ticktext) == [f"class {k}<br>n ≈ {n:.0f}" for k, n in enumerate(model.evidence[1])]


def test_a_confusion_matrix_without_intervals_shows_numbers_alone():
    text = confusion_heatmap(fit(interval=False), 0, LIGHT, "").data[0].text
    assert not any("to" in cell for row in text for cell in row)


def test_a_model_that_has_not_converged_is_marked_on_the_axis():
    figure = prevalence_by_model({"AB, not converged": fit()}, np.array([0.7, 0.3]), LIGHT, "", [1])
    assert list(figure.layout.yaxis.ticktext) == ["AB<br>not converged"]


def measured(n_classes, interval=True):
    """A fit each of whose numbers is met once: confusion 0.01 to 0.99 in steps, evidence of its own in each row."""
    model = fit(n_classes=n_classes, interval=interval)
    confusion = (1 + np.arange(4 * n_classes**2).reshape(4, n_classes, n_classes)) / (4 * n_classes**2 + 2)
    evidence = np.random.default_rng(5).permutation(4 * n_classes).reshape(4, n_classes) + 0.4
    if interval:
        known = replace(model.uncertainty, confusion=spread(confusion, 0.005))
        model = replace(model, uncertainty=known)
    return replace(model, confusion=confusion, evidence=evidence)


@pytest.mark.parametrize("n_classes", [3, MOST_WITH_INTERVALS, MOST_WITH_INTERVALS + 1])
def test_rows_of_a_confusion_matrix_are_true_classes_and_columns_answers(n_classes):
    model = measured(n_classes)
    figure = confusion_heatmap(model, 2, LIGHT, "")
    heat, names = figure.data[0], [f"class {k}" for k in range(n_classes)]
    matrix, evidence = model.confusion[2], model.evidence[2]
    assert np.array_equal(heat.z, matrix) and (heat.zmin, heat.zmax) == (0, 1)
    assert list(heat.x) == list(heat.y) == list(range(n_classes))
    assert list(figure.layout.xaxis.ticktext) == names and figure.layout.xaxis.title.text == "annotated class"
    assert list(figure.layout.yaxis.ticktext) == [
        f"{name}<br>n ≈ {n:,.0f}" for name, n in zip(names, evidence, strict=True)
    ]
    assert figure.layout.yaxis.title.text == "true class" and figure.layout.yaxis.autorange == "reversed"
    for k in range(n_classes):
        for m in range(n_classes):
            value = percent(matrix[k, m])
            ends = f"({percent(matrix[k, m] - 0.005)} to {percent(matrix[k, m] + 0.003)})"
            assert heat.text[k][m] == (f"{value}<br>{ends}" if n_classes <= MOST_WITH_INTERVALS else value)
            assert heat.hovertext[k][m] == (
                f"true {names[k]}, annotated {names[m]}: {value} {ends}<br>about {number(evidence[k], 1)} annotations"
            )


def test_of_many_classes_those_that_the_rater_met_most_are_shown_in_their_own_order():
    model = measured(MOST_CLASSES + 3, interval=False)
    figure = confusion_heatmap(model, 1, LIGHT, "")
    kept = np.sort(np.argsort(-model.evidence[1])[:MOST_CLASSES])
    assert np.array_equal(figure.data[0].z, model.confusion[1][np.ix_(kept, kept)])
    assert figure.data[0].text[3][11] == percent(model.confusion[1, kept[3], kept[11]])
    assert figure.data[0].texttemplate == "%{text}"
    assert list(figure.layout.xaxis.ticktext) == [f"class {k}" for k in kept]
    assert list(figure.layout.yaxis.ticktext) == [f"class {k}<br>n ≈ {model.evidence[1, k]:,.0f}" for k in kept]
    assert figure.data[0].hovertext[11][3].endswith(f"<br>about {number(model.evidence[1, kept[11]], 1)} annotations")


def test_a_cell_whose_interval_is_not_known_has_none():
    model = measured(2)
    model.uncertainty.confusion.low[0, 0, 1] = np.nan
    text = confusion_heatmap(model, 0, LIGHT, "").data[0].text
    assert text[0][1] == percent(model.confusion[0, 0, 1]) and "to" in text[0][0] and "to" in text[1][0]


def test_the_path_of_the_objective_counts_iterations_from_1():
    (line,) = objective_path(replace(fit(), objective=(-30.5, -20.25, -20.0)), LIGHT, "").data
    assert list(line.x) == [1, 2, 3] and list(line.y) == [-30.5, -20.25, -20]
