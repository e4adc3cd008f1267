from dataclasses import replace

import numpy as np
import pytest

from core.agreement.intervals import Coefficient, undefined
from core.evaluation.metrics import Evaluation, MetricValue
from core.figures import home as figures
from core.figures.theme import DARK, LIGHT


def coefficient(name, value):
    return Coefficient(name, "identity", value, 0.1, value - 0.1, value + 0.1, 10, 30)


def test_a_few_coefficients_stand_once_each_in_a_set_order_and_undefined_ones_do_not():
    names = ("gwet_ac", "percent", "fleiss_kappa", "percent", "brennan_prediger", "krippendorff_alpha")
    table = [coefficient(name, 0.1 * place + 0.2) for place, name in enumerate(names)]
    figure = figures.agreement([*table, undefined("icc_2", "identity", "no")], LIGHT)
    assert figure.data[0].x == pytest.approx((0.3, 0.7, 0.2, 0.4))
    assert figures.agreement([undefined("percent", "identity", "no")], LIGHT) is None


def test_intraclass_correlations_are_named_without_their_estimation_so_that_intervals_have_room():
    table = [
        replace(coefficient("icc_2", 0.5), weights="REML, profile interval, 9 raters"),
        coefficient("percent", 0.4),
    ]
    names = figures.agreement(table, LIGHT).layout.yaxis.ticktext
    assert "ICC(2,1)" in names and not any("REML" in name for name in names)


def test_long_names_of_coefficients_are_broken_so_that_intervals_have_room():
    table = [replace(coefficient("krippendorff_alpha", 0.5), weights="interval metric"), coefficient("percent", 0.4)]
    names = figures.agreement(table, LIGHT).layout.yaxis.ticktext
    assert (
        "Krippendorff α,<br>interval metric" in names
        and max(len(part) for name in names for part in name.split("<br>")) < 20
    )


def test_where_near_classes_count_in_part_the_coefficients_that_do_so_come_first():
    kinds = ("identity", "quadratic", "ordinal weights", "ordinal metric")
    table = [
        replace(coefficient(name, 0.2 + 0.1 * place), weights=weights)
        for name in ("percent", "krippendorff_alpha")
        for place, weights in enumerate(kinds)
        if (name, weights) != ("percent", "ordinal metric")
    ]
    for quoted, values in ((table[-1], (0.4, 0.5)), (table[0], (0.2, 0.2))):
        assert figures.agreement(table, LIGHT, quoted).data[0].x == pytest.approx(values)


def test_bars_of_certainty_count_every_case_on_its_side_of_the_bound():
    certainty = np.array([0.2, 0.88, 0.89, 0.91, 1.0])
    figure = figures.certainties(certainty, 0.89, DARK)
    uncertain, certain = figure.data
    assert (uncertain.name, certain.name) == ("uncertain", "certain")
    assert (uncertain.marker.line.color, certain.marker.line.color) == (DARK.mean, DARK.accent)
    bars = [{round(x, 2): y for x, y in zip(one.x, one.y, strict=True) if y} for one in (uncertain, certain)]
    assert bars == [{0.25: 1, 0.85: 1}, {0.85: 1, 0.95: 2}]
    (note,) = figure.layout.annotations
    assert "<b>2</b> uncertain" in note.text and "<b>3</b> certain" in note.text
    (bound,) = figure.layout.shapes
    assert bound.x0 == bound.x1 == 0.89 and figure.layout.height == figures.WIDE_HEIGHT
    assert list(figure.layout.xaxis.range) == [0, 1.02]


def test_every_bar_of_certainty_has_its_number_on_a_linear_axis():
    figure = figures.certainties(np.array([0.42, *[0.97] * 1234]), 0.9, LIGHT)
    uncertain, certain = figure.data
    assert list(uncertain.text) == ["1"] and list(certain.text) == ["1,234"]
    assert figure.layout.yaxis.type is None and figure.layout.yaxis.range[1] > 1234


def test_shares_have_their_intervals_and_markup_in_names_stays_text():
    names = ["<b>x</b>", *"abcdefghij"]
    value = np.linspace(0.1, 0.9, 11)
    figure = figures.with_intervals(names, value, value - 0.05, value + 0.02, LIGHT, "share", [True] + [False] * 10)
    plain, marked = figure.data
    assert len(plain.x) + len(marked.x) == figures.MOST_LINES
    assert list(marked.x) == [value[0]] and list(marked.y) == [0]
    assert list(plain.x) == list(value[1 : figures.MOST_LINES]) and list(plain.y) == list(range(1, figures.MOST_LINES))
    assert plain.error_x.array == pytest.approx([0.02] * 7) and plain.error_x.arrayminus == pytest.approx([0.05] * 7)
    assert (plain.marker.symbol, plain.marker.color) == ("circle", LIGHT.accent)
    assert (marked.marker.symbol, marked.marker.color) == ("x", LIGHT.mean)
    assert list(figure.layout.yaxis.ticktext[1:]) == list("abcdefg")
    assert list(figure.layout.yaxis.tickvals) == list(range(figures.MOST_LINES))
    assert figure.layout.yaxis.range[0] > figures.MOST_LINES - 1 and figure.layout.yaxis.range[1] < 0  # first on top
    assert figure.layout.xaxis.title.text == "share" and figure.layout.xaxis.tickformat == "0.0%"
    plain = figures.with_intervals(names, value, value, value, LIGHT, "correlation", in_percent=False)
    assert plain.layout.xaxis.tickformat is None
    assert marked.error_x.array == pytest.approx([0.02]) and marked.error_x.arrayminus == pytest.approx([0.05])
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;"
    assert figure.layout.height == figures.HEIGHT


def test_shares_have_their_own_ends_and_none_is_marked_unless_asked():
    value, low, high = [0.5, 0.2, 0.9], [0.1, 0.15, 0.6], [0.55, 0.8, 0.97]
    plain, marked = figures.with_intervals(["a", "b", "c"], value, low, high, DARK, "").data
    assert np.array(plain.x) + plain.error_x.array == pytest.approx(high)
    assert np.array(plain.x) - plain.error_x.arrayminus == pytest.approx(low)
    assert list(plain.x) == value and len(marked.x) == 0


def test_classifiers_stand_still_with_the_same_numbers_as_on_their_page():
    value = MetricValue(0.6, 0.1, 0.5, 0.65, 0.4, 0.7, 0.62, 0.02, 0.1, 40)
    steps = tuple(
        Evaluation(("net",), ("top1_accuracy",), {"net": {"top1_accuracy": value}}, None, None, None, None, None)
        for _ in range(2)
    )
    figure = figures.classifiers((1.0, 3.0), steps, "top1_accuracy", LIGHT)
    band, line, cross, _ = figure.data
    assert list(line.y) == [0.6, 0.6] and list(band.y) == [0.65, 0.65, 0.5, 0.5] and list(cross.y) == [0.62]
    assert figure.layout.height == figures.HEIGHT and figure.layout.hovermode is False
