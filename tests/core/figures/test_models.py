"""Figures of models side by side: what is drawn is what was given."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures.models import calibration_curve, confusion_heatmap, prevalence_by_model
from core.figures.theme import DARK, LIGHT
from tests.core.figures.fits import fit


def test_prevalence_of_one_class_is_a_row_per_model():
    fits = {"ABC": fit(), "vote": fit(interval=False)}
    figure = prevalence_by_model(fits, np.array([0.7, 0.3]), LIGHT, "", [1])
    raw, first, second = figure.data
    assert list(raw.x) == [0.3, 0.3] and "46 annotations" in raw.hovertemplate
    assert list(first.x) == [fits["ABC"].prevalence[1]] and list(first.y) == [0] and list(second.y) == [1]
    assert first.error_x.array == pytest.approx([0.05]) and np.isnan(second.error_x.array).all()
    assert (first.marker.symbol[0], second.marker.symbol[0]) == ("circle", "x-thin")
    assert list(figure.layout.yaxis.ticktext) == ["ABC", "vote"]
    assert first.customdata[0][1] == f"{first.x[0] - 0.05:.3f} to {first.x[0] + 0.05:.3f}"
    assert second.customdata[0][1] == "no interval" and "30 cases" in second.hovertemplate


def test_prevalence_of_more_classes_is_a_group_per_class():
    fits = {"a": fit(n_classes=4), "b": fit(n_classes=4, seed=1)}
    figure = prevalence_by_model(fits, np.array([0.4, 0.3, 0.2, 0.1]), LIGHT, "", [2, 0])
    assert [list(trace.x) for trace in figure.data[:2]] == [[0.2, 0.2], [0.4, 0.4]]
    assert list(figure.data[2].y) == [0, 3] and list(figure.data[3].y) == [1, 4]
    assert list(figure.data[2].x) == list(fits["a"].prevalence[[2, 0]])
    assert list(figure.layout.yaxis.ticktext) == ["class 2", "class 0"]
    assert figure.data[2].marker.symbol[0] != figure.data[3].marker.symbol[0]


def test_calibration_shows_shares_with_intervals_and_counts_and_no_empty_bin():
    predicted, observed = np.array([0.1, 0.5, 0.9]), np.array([0.2, np.nan, 0.8])
    count = np.array([40, 0, 60])
    figure = calibration_curve(predicted, observed, observed - 0.1, observed + 0.1, count, LIGHT, "")
    line, curve, bars = figure.data
    assert list(line.x) == list(line.y) == [0, 1]
    assert list(curve.x) == [0.1, 0.9] and list(curve.y) == [0.2, 0.8]
    assert curve.error_y.array == pytest.approx(0.1) and curve.error_y.arrayminus == pytest.approx(0.1)
    assert list(bars.y) == [40, 60] and bars.yaxis == "y2"
    assert curve.customdata[1] == pytest.approx([0.7, 0.9, 60])


def test_names_are_shown_letter_for_letter():
    model = replace(fit(), classes=("<b>n</b>", "<b>p</b>"))
    text = str(prevalence_by_model({"<i>m</i>": model}, np.array([0.5, 0.5]), LIGHT, "", [0, 1]).to_dict())
    assert "<b>" not in text and "<i>" not in text and "&lt;b&gt;p" in text and "&lt;i&gt;m" in text


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_confusion_matrix_shows_numbers_intervals_and_how_many_they_rest_on(theme):
    model = fit(n_classes=3)
    heat = confusion_heatmap(model, 1, theme, "").data[0]
    assert np.array_equal(heat.z, model.confusion[1])
    assert heat.text[0][0].split("<br>")[0] == f"{model.confusion[1, 0, 0]:.2f}".replace("0.", ".")
    assert " to " in heat.text[0][0] and heat.textfont.color == theme.ink
    figure = confusion_heatmap(model, 1, theme, "")
    assert list(figure.layout.yaxis.ticktext) == [f"class {k}<br>n ≈ 9" for k in range(3)]


def test_a_confusion_matrix_without_intervals_shows_numbers_alone():
    text = confusion_heatmap(fit(interval=False), 0, LIGHT, "").data[0].text
    assert not any("to" in cell for row in text for cell in row)


def test_a_model_that_has_not_converged_is_marked_on_the_axis():
    figure = prevalence_by_model({"AB, not converged": fit()}, np.array([0.7, 0.3]), LIGHT, "", [1])
    assert list(figure.layout.yaxis.ticktext) == ["AB<br>not converged"]
