"""Figures of the parts of the Agreement page: what is drawn is what was given."""

import numpy as np
import pytest

from core.agreement.bands import bands
from core.agreement.intervals import Coefficient, undefined
from core.agreement.over_time import OverTime, Window
from core.agreement.precision import precision_curve
from core.figures.agreement_parts import (
    MOST_LINES,
    MOST_WINDOWS_NAMED,
    agreement_over_time,
    band_bar,
    named_forest,
    precision_figure,
)
from core.figures.theme import DARK, LIGHT
from core.ingest.read_files import read

BAD = "<b>x</b>%{y}"


def one(value, name="spa", n_cases=20):
    if value is None:
        return undefined(name, "identity", "no case has two answers")
    return Coefficient(name, "identity", value, 0.05, value - 0.1, value + 0.05, n_cases, 3 * n_cases)


def window(label, value):
    return Window(label, 0, 1, 20, (one(value), one(value, "krippendorff_alpha")))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_lowest_stands_on_top_and_the_undefined_are_left_out(theme):
    figure = named_forest(["a", "b", "c"], [one(0.8), one(None), one(0.3)], theme, "title", "axis")
    points = figure.data[0]
    assert list(points.x) == [0.3, 0.8] and list(figure.layout.yaxis.ticktext) == ["c", "a"]
    assert list(points.error_x.arrayminus) == pytest.approx([0.1, 0.1])
    assert points.customdata[0][2:] == [20, 60]


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
    assert list(spa.error_y.arrayminus) == pytest.approx([0.1, 0.1])
    assert list(figure.layout.xaxis.ticktext) == ["2026-01<br>n 20", "2026-02<br>n 0", "2026-03<br>n 20"]


def test_not_every_one_of_many_windows_is_named():
    figure = agreement_over_time(OverTime("week", tuple(window(f"w{i}", 0.5) for i in range(60)), 0), LIGHT, "")
    assert len(figure.layout.xaxis.ticktext) <= MOST_WINDOWS_NAMED
    assert len(figure.data[0].x) == 60


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
    found = bands(one(0.62, "fleiss_kappa"))
    figure = band_bar(found, theme, "title")
    assert sum(trace.x[0] for trace in figure.data) == pytest.approx(1)
    assert [trace.x[0] for trace in figure.data] == [band.probability for band in found]
