"""Figures of the parts of the Agreement page: what is drawn is what was given."""

import numpy as np
import pytest

from core.agreement.benchmark_labels import benchmark_labels
from core.agreement.intervals import Coefficient, undefined
from core.agreement.over_time import OverTime, Window
from core.agreement.precision import AgreementMoments, PrecisionCurve, PrecisionPoint, precision_curve
from core.figures.agreement_parts import (
    MOST_LINES,
    MOST_WINDOWS_NAMED,
    agreement_over_time,
    band_bar,
    named_forest,
    precision_figure,
)
from core.figures.comparisons import above_heatmap
from core.figures.theme import DARK, LIGHT, with_opacity
from core.ingest.read_files import read
from core.text import exact, plotly, probability

BAD = "<b>x</b>%{y}"


def one(value, name="spa", n_cases=20):
    if value is None:
        return undefined(name, "identity", "no case has two annotations")
    return Coefficient(name, "identity", value, 0.05, value - 0.1, value + 0.05, n_cases, 3 * n_cases)


def window(label, value):
    return Window(label, 0, 1, 20, (one(value), one(value, "krippendorff_alpha")))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_lowest_stands_on_top_and_the_undefined_are_left_out(theme):
    figure = named_forest(["a", "b", "c"], [one(0.8), one(None), one(0.3)], theme, "title", "axis")
    points = figure.data[0]
    assert list(points.x) == [0.3, 0.8] and list(figure.layout.yaxis.ticktext) == ["c", "a"]
    assert list(points.error_x.arrayminus) == pytest.approx([0.1, 0.1])
    assert list(points.error_x.array) == pytest.approx([0.05, 0.05])
    assert [list(row) for row in points.customdata] == [
        ["c", "0.200 to 0.350", "20 cases", "60 annotations"],
        ["a", "0.700 to 0.850", "20 cases", "60 annotations"],
    ]
    assert list(points.y) == list(figure.layout.yaxis.tickvals) == [0, 1]
    assert figure.layout.yaxis.autorange == "reversed" and figure.layout.xaxis.title.text == "axis"
    assert not figure.layout.shapes and points.marker.color == theme.accent


def test_a_line_stands_at_the_value_of_all_and_below_0_there_is_room():
    figure = named_forest(["a", "b"], [one(0.4), one(-0.3)], LIGHT, "", "", overall=0.27)
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 0.27
    assert figure.layout.xaxis.range[0] == pytest.approx(-0.32) and figure.layout.xaxis.range[1] == pytest.approx(1.02)
    assert named_forest(["a"], [one(0.4)], LIGHT, "", "").layout.xaxis.range[0] == pytest.approx(-0.02)


def test_a_value_without_an_interval_is_a_point_that_says_so():
    alone = Coefficient("spa", "identity", 0.5, None, None, None, 1, 2)
    points = named_forest(["a"], [alone], LIGHT, "", "").data[0]
    assert (
        list(points.error_x.array) == list(points.error_x.arrayminus) == [0]
        and points.customdata[0][1] == "no interval"
    )
    found = OverTime("week", (Window("w", 0, 1, 1, (alone,)),), 0)
    line = agreement_over_time(found, LIGHT, "").data[0]
    assert list(line.error_y.array) == list(line.error_y.arrayminus) == [0] and line.customdata[0][1] == "no interval"
    assert list(line.x) == [0]  # one coefficient stands in the middle of its window


def test_no_more_lines_than_can_be_read():
    figure = named_forest([f"r{i}" for i in range(100)], [one(i / 100) for i in range(100)], LIGHT, "", "")
    assert len(figure.data[0].x) == MOST_LINES and max(figure.data[0].x) < MOST_LINES / 100


def test_names_are_shown_letter_for_letter():
    windows = OverTime("week", (window(BAD, 0.5), window("b", 0.6)), 0)
    for figure in (
        named_forest([BAD], [one(0.5)], LIGHT, "", ""),
        agreement_over_time(windows, LIGHT, ""),
    ):
        text = str(figure.to_dict())
        assert "<b>x" not in text and "x</b>%{y}" not in text and "&lt;b&gt;x" in text


def test_windows_stand_in_order_with_their_intervals_and_n_and_gaps_stay_gaps():
    windows = OverTime("month", (window("2026-01", 0.5), window("2026-02", None), window("2026-03", 0.7)), 0)
    figure = agreement_over_time(windows, LIGHT, "")
    spa, alpha = figure.data
    assert list(spa.y) == [0.5, 0.7] and np.round(spa.x).tolist() == [0, 2]
    assert spa.x[0] < alpha.x[0]  # beside each other, so that no interval hides the other
    assert list(alpha.y) == [0.5, 0.7] and spa.x[0] + alpha.x[0] == pytest.approx(0)
    for line in (spa, alpha):
        assert list(line.error_y.arrayminus) == pytest.approx([0.1, 0.1])
        assert list(line.error_y.array) == pytest.approx([0.05, 0.05])
        assert [list(row) for row in line.customdata] == [
            ["2026-01", "0.400 to 0.550", "20 cases"],
            ["2026-03", "0.600 to 0.750", "20 cases"],
        ]
    assert (spa.name, alpha.name) == ("Sparse probability of agreement", "Krippendorff α")
    assert (spa.line.color, alpha.line.color) == LIGHT.classes[:2] and spa.line.dash != alpha.line.dash
    assert list(figure.layout.xaxis.tickvals) == [0, 1, 2]
    assert figure.layout.xaxis.range[0] < spa.x[0] and figure.layout.xaxis.range[1] > 2 + abs(alpha.x[0])
    assert list(figure.layout.xaxis.ticktext) == ["2026-01<br>n 20", "2026-02<br>n 0", "2026-03<br>n 20"]


def test_not_every_one_of_many_windows_is_named():
    figure = agreement_over_time(OverTime("week", tuple(window(f"w{i}", 0.5) for i in range(60)), 0), LIGHT, "")
    assert len(figure.layout.xaxis.ticktext) <= MOST_WINDOWS_NAMED
    assert len(figure.data[0].x) == 60
    axis = figure.layout.xaxis
    assert [text.split("<")[0] for text in axis.ticktext] == [f"w{place}" for place in axis.tickvals]
    assert np.ptp(np.diff(axis.tickvals)) == 0


def test_each_window_of_a_line_has_its_own_value_ends_and_n():
    windows = tuple(
        Window(f"w{i}", i, i + 1, 9, (one(0.2 + 0.1 * i, n_cases=30 + i), one(0.3 + 0.15 * i, "gwet_ac", 50 + i)))
        for i in range(4)
    )
    figure = agreement_over_time(OverTime("week", windows, 0), DARK, "")
    for line, (start, step, n) in zip(figure.data, ((0.2, 0.1, 30), (0.3, 0.15, 50)), strict=True):
        assert line.y == pytest.approx([start + step * i for i in range(4)])
        assert [row[2] for row in line.customdata] == [f"{n + i} cases" for i in range(4)]
    assert [text.split("n ")[1] for text in figure.layout.xaxis.ticktext] == ["30", "31", "32", "33"]  # of the first


def precise(how, widths, start):
    points = tuple(
        PrecisionPoint(
            100 * place, start + place, 3 * start + place, None if low != high else 0.1, None if low != high else high,
            (0.01, 0.02), (low, high),
        )
        for place, (low, high) in enumerate(widths)
    )  # fmt: skip
    return PrecisionCurve(how, points, AgreementMoments(0.5, 0.2, None, None, (9, 0, 0)), "")


def test_a_known_width_is_a_line_and_an_unknown_one_a_band_between_its_ends():
    known = precise("new_cases", [(0.3, 0.3), (0.2, 0.2)], 10)
    vague = precise("present_cases", [(0.31, 0.31), (0.15, 0.28), (0.1, 0.27)], 2000)
    figure = precision_figure([known, vague], LIGHT, "")
    line, band, upper = figure.data
    assert list(line.x) == [0, 100] and list(line.y) == [0.3, 0.2] and line.name == "on new cases"
    assert list(upper.x) == [0, 100, 200] and list(upper.y) == [0.31, 0.28, 0.27]
    assert upper.name == "on the present cases" and upper.line.dash != line.line.dash
    assert list(band.x) == [0, 100, 200, 200, 100, 0] and list(band.y) == [0.31, 0.28, 0.27, 0.1, 0.15, 0.31]
    assert [list(row) for row in upper.customdata] == [[f"2,00{i} cases", f"6,00{i} annotations"] for i in range(3)]
    assert (line.line.color, upper.line.color) == LIGHT.classes[:2]
    assert band.fillcolor == with_opacity(LIGHT.classes[1], 0.15)


def test_precision_is_a_line_of_widths_and_a_band_where_the_data_leave_a_range():
    two = "\n".join(f"{case},{rater},{(case * rater) % 3 % 2}" for case in range(20) for rater in (1, 2))
    data = read(f"case,rater,class\n{two}".encode(), name="two").dataset
    curve = precision_curve(data, how="present_cases")
    band, line = precision_figure([curve], LIGHT, "").data
    assert list(line.y) == [point.width_range[1] for point in curve.points]
    assert list(line.x) == [point.extra for point in curve.points]
    assert band.fill == "toself" and band.mode == "lines"
    assert min(band.y) == min(point.width_range[0] for point in curve.points)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_bar_of_benchmarks_holds_all_probability(theme):
    found = benchmark_labels(one(0.62, "fleiss_kappa"))
    figure = band_bar(found, theme, "title")
    assert sum(trace.x[0] for trace in figure.data) == pytest.approx(1)
    assert [trace.x[0] for trace in figure.data] == [band.probability for band in found]
    assert figure.layout.barmode == "stack" and list(figure.layout.xaxis.range) == [0, 1]
    for trace, band in zip(figure.data, found, strict=True):
        said = f"{band.name} {probability(band.probability)}" if band.probability >= 0.14 else ""
        assert trace.text[0] == said
        assert trace.hovertemplate.startswith(
            f"{band.name} ({exact(band.low)} to {exact(band.high)}): {probability(band.probability, 1)}<"
        )
    assert any(trace.text[0] for trace in figure.data) and not all(trace.text[0] for trace in figure.data)
    shades = [float(trace.marker.color.split(",")[-1][:-1]) for trace in figure.data]
    assert shades == sorted(shades) and len(set(shades)) == len(shades)


# Comparisons: The figure of P(A above B): cells, empty where unknown, and names that are shown letter for letter.


ABOVE = np.array([[np.nan, 0.999, 0.62], [0.001, np.nan, np.nan], [0.38, np.nan, np.nan]])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_cells_show_percentages_and_stay_empty_where_the_order_is_unknown(theme):
    (cells,) = above_heatmap(["<b>a</b>", "b", "c"], ABOVE, theme, "title").data
    assert [list(row) for row in cells.text] == [["", ">99", "62"], ["<1", "", ""], ["38", "", ""]]
    assert cells.customdata[0][1] == f"P({plotly('<b>a</b>')} above b): over 99%"
    np.testing.assert_array_equal(cells.z, ABOVE)


def test_many_items_have_a_scale_in_place_of_numbers():
    (cells,) = above_heatmap([f"item {place}" for place in range(20)], np.full((20, 20), 0.5), LIGHT, "title").data
    assert cells.text is None and cells.showscale
