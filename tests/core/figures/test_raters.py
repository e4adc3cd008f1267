"""Figures of raters: accuracies, charts and forecasts stand where their numbers say."""

from dataclasses import dataclass

import numpy as np
import pytest

from core.figures.raters import MOST_LINES, accuracy_against_pool, plan_forecast, rater_over_time, trust_of_raters
from core.figures.theme import DARK, LIGHT, with_opacity
from core.plausibility.plackett_luce.rater_trust import rater_trust
from core.raters.accuracy_windows import Windows
from core.raters.drift import Drift
from core.raters.planning import Forecast, Goal
from core.raters.rates import Rates


@dataclass
class Judged:
    """What the figure reads of an `JudgedAccuracy`, or a `Following`."""

    rates: Rates
    n_annotations: np.ndarray
    mean: float | None = 0.65
    acceptable: float | None = 0.55
    measure: str = "accuracy"


@dataclass
class Raters:
    """What the figure reads of a `FlaggedRaters`."""

    raters: tuple[str, ...]
    judged: Judged
    flags: tuple[int, ...] = ()

    def flagged(self):
        return self.flags


def raters(value, n, flagged=()):
    value = np.array(value, float)
    place = np.arange(len(value))
    rates = Rates(value, value - 0.05 - 0.001 * place, value + 0.02 + 0.001 * place, np.array(n))
    names = tuple(f"rater {code}" for code in place)
    return Raters(names, Judged(rates, np.array(n)), tuple(flagged))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_raters_stand_least_accurate_on_top_with_both_ends_and_flagged_ones_are_crosses(theme):
    table = raters([0.8, 0.6, np.nan, 0.9, 0.7], [10, 2000, 30, 5, 100], flagged=[0, 1])
    figure = accuracy_against_pool(table, theme, "title")
    plain, flagged = figure.data
    assert list(plain.x) == [0.7, 0.9] and list(plain.y) == [1, 3]
    assert list(flagged.x) == [0.6, 0.8] and list(flagged.y) == [0, 2]
    assert list(figure.layout.yaxis.ticktext) == ["rater 1", "rater 4", "rater 0", "rater 3"]
    assert list(figure.layout.yaxis.tickvals) == [0, 1, 2, 3] and figure.layout.yaxis.autorange == "reversed"
    assert np.array(plain.x) + plain.error_x.array == pytest.approx([0.724, 0.923])
    assert np.array(plain.x) - plain.error_x.arrayminus == pytest.approx([0.646, 0.847])
    assert np.array(flagged.x) + flagged.error_x.array == pytest.approx([0.621, 0.82])
    assert np.array(flagged.x) - flagged.error_x.arrayminus == pytest.approx([0.549, 0.75])
    assert [list(row) for row in flagged.customdata] == [
        ["rater 1", "0.55 to 0.62", "2,000"],
        ["rater 0", "0.75 to 0.82", "10"],
    ]
    assert (plain.name, plain.marker.symbol, plain.marker.color) == ("raters", "circle", theme.accent)
    assert (flagged.name, flagged.marker.symbol, flagged.marker.color) == ("flagged", "x", theme.mean)


def test_lines_stand_at_the_mean_and_at_what_is_acceptable_where_there_is_any():
    table = raters([0.8, 0.6, np.nan], [10, 30, 1000])
    mean, acceptable = accuracy_against_pool(table, LIGHT, "").layout.shapes
    assert (mean.x0, mean.x1, mean.line.dash) == (0.65, 0.65, "dot")
    assert (acceptable.x0, acceptable.x1, acceptable.line.dash) == (0.55, 0.55, "dash")
    table.judged.acceptable = None
    assert len(accuracy_against_pool(table, LIGHT, "").layout.shapes) == 1


def test_of_many_raters_the_flagged_and_then_the_least_accurate_are_shown():
    value = np.linspace(0.3, 0.95, MOST_LINES + 20)
    last = len(value) - 1
    figure = accuracy_against_pool(raters(value, np.full(len(value), 50), flagged=[last, 2]), LIGHT, "")
    plain, flagged = figure.data
    assert list(flagged.x) == [value[2], value[last]] and list(flagged.y) == [2, MOST_LINES - 1]
    assert sorted([*plain.x, *flagged.x]) == [*value[: MOST_LINES - 1], value[last]]


def test_names_of_raters_are_shown_letter_for_letter():
    table = raters([0.8, 0.7], [5, 5])
    table.raters = ("<b>x</b>%{y}", "b")
    text = str(accuracy_against_pool(table, LIGHT, "").to_dict())
    assert "<b>" not in text and "%{y}" not in text and "&lt;b&gt;x" in text


DAY = 86_400


def drift(alarm=6, change=4, low=3, high=7, kind="cusum"):
    time = DAY * np.array([10, 11, 13, 16, 20, 25, 31, 38, 46])
    windows = Windows(
        DAY * np.array([10, 20]),
        DAY * np.array([16, 46]),
        np.array([4, 1205]),
        np.array([0.8, 0.5]),
        np.array([0.65, 0.42]),
        np.array([0.83, 0.7]),
    )
    chart = np.array([0, 0.2, 0.1, 0.5, 1.2, 2.1, 3.3, 4.0, 5.2])
    return Drift(
        rater="r", kind=kind, annotation=np.arange(9), time=time, chart=chart, limit=2.6, false_alarm=0.05, alarm=alarm,
        p=0.01, accuracy=0.6, change=change, change_low=low, change_high=high, before=0.8, after=0.5, windows=windows,
        level=0.95, n_undated=0,
    )  # fmt: skip


def date(day):
    """Midnight of a day after 1970-01-01 as plotly reads it."""
    return str(np.datetime64("1970-01-01") + day) + "T00:00:00"


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_windows_stand_in_their_middle_with_both_ends_above_the_chart_with_its_limit(theme):
    figure = rater_over_time(drift(), theme, "title")
    windows, chart = figure.data
    assert list(windows.x) == [date(13), date(33)] and list(windows.y) == [0.8, 0.5]
    assert np.array(windows.y) + windows.error_y.array == pytest.approx([0.83, 0.7])
    assert np.array(windows.y) - windows.error_y.arrayminus == pytest.approx([0.65, 0.42])
    assert np.array(windows.customdata) == pytest.approx(np.array([[0.65, 0.83, 4], [0.42, 0.7, 1205]]))
    assert list(chart.x) == [date(day) for day in (10, 11, 13, 16, 20, 25, 31, 38, 46)]
    assert list(chart.y) == list(drift().chart) and chart.yaxis == "y2" and windows.yaxis is None
    limit = figure.layout.shapes[0]
    assert limit.y0 == limit.y1 == 2.6 and limit.yref == "y2" and limit.line.dash == "dash"
    assert (limit.xref, limit.x0, limit.x1) == ("paper", 0, 1)
    top, bottom = figure.layout.yaxis, figure.layout.yaxis2
    assert top.domain[0] > bottom.domain[1] and top.title.text == "accuracy" and bottom.title.text == "chart"
    assert list(top.range) == [0, 1.02] and bottom.range is None  # a chart has no end


def test_the_alarm_is_a_line_at_its_answer_and_the_change_a_band_over_its_interval():
    _, alarm, change = rater_over_time(drift(), LIGHT, "").layout.shapes
    assert alarm.type == "line" and alarm.x0 == alarm.x1 == date(31)
    assert change.type == "rect" and (change.x0, change.x1) == (date(16), date(38))
    assert change.fillcolor == with_opacity(LIGHT.mean, 0.12)


def test_a_stable_rater_has_the_limit_and_neither_alarm_nor_change():
    figure = rater_over_time(drift(None, None, None, None), LIGHT, "")
    assert len(figure.layout.shapes) == 1 and figure.layout.shapes[0].y0 == 2.6


@pytest.mark.parametrize(("kind", "name"), [("cusum", "CUSUM chart"), ("ewma", "EWMA chart")])
def test_the_chart_bears_the_name_of_its_kind(kind, name):
    assert [trace.name for trace in rater_over_time(drift(kind=kind), LIGHT, "").data] == ["accuracy in windows", name]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_forecast_is_the_median_in_its_band_with_the_target(theme):
    value, low, high = np.array([0.9, 0.7, 0.4]), np.array([0.8, 0.55, 0.1]), np.array([0.92, 0.8, 0.6])
    found = Forecast(
        goal=Goal("agreement", 0.35), policy="fewest", extra=np.array([0, 100, 1000]), value=value, low=low, high=high,
        now=0.9, needed=None, needed_low=None, needed_high=None, share_met=0.2, first_cases=(), by_rater=np.zeros(2),
        level=0.8, n_worlds=20, seed=0, notes=(),
    )  # fmt: skip
    figure = plan_forecast(found, theme, "title")
    band, line = figure.data
    assert list(band.x) == [0, 100, 1000, 1000, 100, 0] and list(band.y) == [0.92, 0.8, 0.6, 0.1, 0.55, 0.8]
    assert band.fill == "toself" and band.name == "80% of simulated plans"
    assert list(line.x) == [0, 100, 1000] and list(line.y) == [0.9, 0.7, 0.4] and line.name == "median"
    assert np.array_equal(line.customdata, np.column_stack([low, high]))
    (target,) = figure.layout.shapes
    assert target.y0 == target.y1 == 0.35 and target.line.color == theme.mean


def test_trust_stands_least_on_top_with_both_ends_of_its_interval():
    draws = np.array([[[0.9, 0.2, 0.6], [0.8, 0.4, 0.7], [0.7, 0.3, 0.5]]])
    found = rater_trust(("a", "<b>", "c"), np.array([5, 2000, 7]), draws, (3.0, 2.0), 1.0, held=True)
    (trace,) = trust_of_raters(found, LIGHT, "title").data
    assert list(trace.x) == pytest.approx([0.3, 0.6, 0.8]) and list(trace.y) == [0, 1, 2]
    low, high = np.quantile(draws[0], [0.025, 0.975], axis=0)
    assert np.array(trace.x) + trace.error_x.array == pytest.approx(high[[1, 2, 0]])
    assert np.array(trace.x) - trace.error_x.arrayminus == pytest.approx(low[[1, 2, 0]])
    assert list(trace.customdata[0]) == ["&lt;b&gt;", f"{low[1]:.2f} to {high[1]:.2f}", "2,000"]
    axis = trust_of_raters(found, LIGHT, "title").layout.yaxis
    assert list(axis.ticktext) == ["&lt;b&gt;", "c", "a"] and list(axis.tickvals) == [0, 1, 2]


def test_raters_are_ordered_by_their_accuracy_and_not_by_an_end_of_its_interval():
    table = raters([0.8, 0.6, 0.7], [10, 20, 30])
    rates = table.judged.rates
    table.judged.rates = Rates(rates.value, np.array([0.1, 0.5, 0.3]), np.array([0.85, 0.99, 0.9]), rates.n)
    figure = accuracy_against_pool(table, LIGHT, "")
    assert list(figure.layout.yaxis.ticktext) == ["rater 1", "rater 2", "rater 0"]
