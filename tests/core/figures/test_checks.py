"""Figures of checks: what is drawn is what was given."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures.checks import MOST_MODELS, MOST_RATERS, NAMED_RATERS, loo_forest, rater_bands, vote_bands
from core.figures.theme import DARK, LIGHT
from core.models.checks import PredictiveCheck
from core.models.loo import LooRow


def check(kind, observed, low, high, total, labels=None, class_code=None):
    observed, low, high = (np.asarray(values) for values in (observed, low, high))
    n = len(observed)
    return PredictiveCheck(
        kind=kind,
        title="",
        labels=tuple(labels or map(str, range(n))),
        class_code=np.ones(n, int) if class_code is None else np.asarray(class_code),
        place=np.arange(n),
        total=np.asarray(total),
        observed=observed,
        low=low.astype(float),
        median=(low + high) / 2,
        high=high.astype(float),
        p=np.linspace(0.1, 0.9, n),
        headline=0.1,
        n_statistics=n,
        threshold=0.025 / n,
        fails=False,
        n_replicates=500,
    )


VOTES = check("votes", [50, 30, 20], [45, 10, 25], [55, 20, 35], [100, 100, 100])


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_votes_stand_above_in_cases_and_below_as_differences(theme):
    figure = vote_bands({"ABC": VOTES, "AB": VOTES}, theme, "title")
    outline, above, below = figure.data[:3]
    assert list(outline.y) == [50, 30, 20] and outline.marker.line.color == theme.ink
    assert list(above.y) == [50, 15, 30] and list(below.y) == [0, -15, 10]
    for trace in (above, below):
        assert list(trace.y + trace.error_y.array - (trace.y - trace.error_y.arrayminus)) == [10, 10, 10]
    assert below.yaxis == "y2" and not below.showlegend
    assert list(above.customdata[0]) == [0, 50, 45, 50, 55, 0.1, 100]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_each_model_has_its_own_band_in_its_own_place_colour_and_hover(theme):
    """Medians that do not stand in the middle of their bands."""
    first = replace(VOTES, median=np.array([46.0, 19.0, 26.0]))
    second = check("votes", [50, 30, 20], [20, 21, 1], [60, 34, 9], [100, 100, 100])
    figure = vote_bands({"one": first, "<b>two</b>": second}, theme, "")
    outline, *bands = figure.data
    assert list(outline.x) == [0, 1, 2] and list(outline.customdata) == [100, 100, 100]
    for number, model in enumerate((first, second)):
        for trace, shift in zip(bands[2 * number : 2 * number + 2], (0, model.observed), strict=True):
            assert trace.y == pytest.approx(model.median - shift)
            assert trace.y + trace.error_y.array == pytest.approx(model.high - shift)
            assert trace.y - trace.error_y.arrayminus == pytest.approx(model.low - shift)
            assert trace.x == pytest.approx(np.arange(3) + (-0.2, 0.2)[number])
            assert trace.marker.color == trace.error_y.color == theme.classes[number]
            assert trace.name == ("one", "&lt;b&gt;two&lt;/b&gt;")[number]
            assert np.array(trace.customdata) == pytest.approx(
                np.column_stack(
                    [np.arange(3), model.observed, model.low, model.median, model.high, model.p, model.total]
                )
            )
    (line,) = figure.layout.shapes
    assert line.y0 == line.y1 == 0 and line.yref == "y2"
    above, below = figure.layout.yaxis, figure.layout.yaxis2
    assert above.domain[0] > below.domain[1]
    assert (above.title.text, below.title.text) == ("cases", "replicated − observed")


def test_models_are_drawn_beside_each_other_and_no_more_than_five():
    figure = vote_bands({f"model {m}": VOTES for m in range(7)}, LIGHT, "")
    bands = [trace for trace in figure.data if trace.type == "scatter" and trace.yaxis == "y"]
    assert len(bands) == MOST_MODELS
    assert len({trace.x[0] for trace in bands}) == MOST_MODELS and len({t.marker.symbol for t in bands}) == MOST_MODELS
    assert all(abs(trace.x[1] - 1) < 0.5 for trace in bands)


def test_a_class_can_be_chosen():
    both = check("votes", [5, 6, 7, 8], [1, 2, 3, 4], [9, 9, 9, 9], [12] * 4, class_code=[0, 0, 1, 1])
    assert list(vote_bands({"m": both}, LIGHT, "", 1).data[0].y) == [7, 8]
    drawn = [y for trace in rater_bands(both, LIGHT, "", 0).data[1:] for y in trace.y]
    assert drawn == [5 / 12, 6 / 12]


def test_raters_are_sorted_and_those_outside_their_band_are_crosses():
    raters = check("raters", [30, 10, 20], [25, 8, 30], [35, 12, 40], [100, 50, 50], ["a", "b", "c"])
    band, inside, outside = rater_bands(raters, LIGHT, "").data
    assert list(band.y) == [0.16, 0.24, None, 0.25, 0.35, None, 0.6, 0.8, None]
    assert list(band.x) == [0, 0, None, 1, 1, None, 2, 2, None]
    assert list(inside.y) == [0.2, 0.3] and list(outside.y) == [0.4] and list(outside.x) == [2]
    assert list(inside.x) == [0, 1]
    assert [list(row) for row in inside.customdata] == [["b", "10", "50", 8, 12, 0.5], ["a", "30", "100", 25, 35, 0.1]]
    assert (inside.marker.color, outside.marker.color) == (LIGHT.ink, LIGHT.mean)
    axis = rater_bands(raters, LIGHT, "").layout.xaxis
    assert list(axis.ticktext) == ["b", "a", "c"] and list(axis.tickvals) == [0, 1, 2]
    assert outside.marker.symbol == "x"
    assert list(outside.customdata[0]) == ["c", "20", "50", 30, 40, 0.9]


def test_an_observed_number_on_either_end_of_its_band_is_inside():
    ends = check("raters", [25, 35, 24, 36], [25] * 4, [35] * 4, [100] * 4, ["low", "high", "under", "over"])
    _, inside, outside = rater_bands(ends, LIGHT, "").data
    assert [row[0] for row in inside.customdata] == ["low", "high"]
    assert [row[0] for row in outside.customdata] == ["under", "over"]


@pytest.mark.parametrize("low, high", [([0, 20], [60, 100]), ([40, 40], [40, 40])])
def test_no_band_ends_at_the_edge_of_its_axis(low, high):
    ends = check("raters", [40, 40], low, high, [100, 100], ["a", "b"])
    least, most = rater_bands(ends, LIGHT, "").layout.yaxis.range
    assert least < min(low) / 100 and most > max(high) / 100
    assert most - least == pytest.approx(1.1 if low[0] == 0 else 0.04)


@pytest.mark.parametrize("observed", [[0, 2], [98, 100]])
def test_shares_near_an_end_leave_little_of_the_axis_beyond_it(observed):
    least, most = rater_bands(
        check("raters", observed, observed, observed, [100, 100], ["a", "b"]), LIGHT, ""
    ).layout.yaxis.range
    assert -0.01 < least < observed[0] / 100 < observed[1] / 100 < most < 1.01
    assert most - least == pytest.approx(0.042)


@pytest.mark.parametrize("n", [NAMED_RATERS, NAMED_RATERS + 1])
def test_few_raters_are_named_and_many_counted(n):
    few = check("raters", np.arange(n), np.arange(n), np.arange(n), np.full(n, 100))
    axis = rater_bands(few, LIGHT, "").layout.xaxis
    assert (axis.ticktext is not None) == (n == NAMED_RATERS)
    assert (axis.title.text == f"{n} raters by observed value") == (n > NAMED_RATERS)


def test_of_many_raters_those_that_fit_worst_are_kept():
    n = 350
    many = check("raters", np.arange(n), np.arange(n), np.arange(n) + 2, np.full(n, 400))
    drawn = sum(len(trace.y) for trace in rater_bands(many, LIGHT, "").data[1:])
    assert drawn == MOST_RATERS
    shown = [point[5] for trace in rater_bands(many, LIGHT, "").data[1:] for point in trace.customdata]
    left_out = np.setdiff1d(np.round(many.p, 9), np.round(shown, 9))
    assert np.minimum(left_out, 1 - left_out).min() >= max(min(p, 1 - p) for p in shown) - 1e-9


def test_of_many_raters_and_classes_the_worst_of_the_chosen_class_are_shown():
    """Raters of class 1 come first; of class 2 the first do worst."""
    n = MOST_RATERS + 20
    names = [f"{kind}{rater}" for kind in "xy" for rater in range(n)]
    codes = np.repeat([1, 2], n)
    both = check("raters", np.arange(2 * n), np.arange(2 * n), np.arange(2 * n) + 2, np.full(2 * n, 999), names, codes)
    p = np.concatenate([np.full(n, 0.001), np.linspace(0.01, 0.5, n)])
    shown = [point[0] for trace in rater_bands(replace(both, p=p), LIGHT, "", 2).data[1:] for point in trace.customdata]
    assert set(shown) == {f"y{rater}" for rater in range(MOST_RATERS)}


def row(name, difference, se=2.0, n_high_k=0):
    return LooRow(name, -100.0 + difference, 9.0, difference, se, 3.0, n_high_k, 50)


def test_differences_stand_with_their_errors_and_what_cannot_be_trusted_is_open():
    figure = loo_forest((row("A", 0.0, 0.0), row("AB", -4.5), row("C", -6.0, None, 7)), LIGHT, "")
    points = figure.data[0]
    assert list(points.x) == [0, -4.5, -6]
    assert list(points.error_x.array[:2]) == [0, 2] and np.isnan(points.error_x.array[2])
    assert list(points.marker.symbol) == ["circle", "circle", "circle-open"]
    assert "k too high for 7" in points.customdata[2][5] and "50" in points.customdata[0][3]
    assert list(points.y) == list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert list(figure.layout.yaxis.ticktext) == ["A", "AB", "C"] and figure.layout.yaxis.range[0] > 2
    assert [(note.y, note.text) for note in figure.layout.annotations] == [(0, "best"), (1, "−4.5 ± 2.0"), (2, "−6.0")]
    assert [list(row)[:5] for row in points.customdata] == [
        ["A", "best", "−100.0 ± 9.0", "50", "3.0"],
        ["AB", "−4.5 ± 2.0", "−104.5 ± 9.0", "50", "3.0"],
        ["C", "−6.0", "−106.0 ± 9.0", "50", "3.0"],
    ]
    (line,) = figure.layout.shapes
    assert line.x0 == line.x1 == 0


def test_models_far_behind_are_arrows_at_the_edge_with_their_number():
    rows = (row("best", 0.0), row("near", -10.0), row("next", -12.0), row("far", -9_000.0))
    figure = loo_forest(rows, LIGHT, "")
    assert list(figure.data[0].x) == [0, -10, -12, -36]
    assert figure.data[0].marker.symbol[3] == "triangle-left" and np.isnan(figure.data[0].error_x.array[3])
    assert figure.layout.annotations[3].text == "−9,000.0 ± 2.0"
    assert list(loo_forest((row("only", 0.0),), LIGHT, "").data[0].x) == [0]


@pytest.mark.parametrize(("far", "drawn"), [(-60.0, -60.0), (-61.0, -30.0)])
def test_a_model_more_than_twice_as_far_as_three_medians_stands_at_them(far, drawn):
    """The median difference of those behind the best is -10, so the edge is at -30."""
    rows = (row("best", 0.0), row("a", -9.0), row("b", -10.0), row("far", far))
    points = loo_forest(rows, LIGHT, "").data[0]
    assert points.x[3] == drawn and (points.marker.symbol[3] == "triangle-left") == (far != drawn)


def test_one_case_that_cannot_be_trusted_opens_the_symbol():
    points = loo_forest((row("A", 0.0), row("B", -4.5, n_high_k=1)), LIGHT, "").data[0]
    assert list(points.marker.symbol) == ["circle", "circle-open"]
    assert points.customdata[1][5] == "<br>k too high for 1 case"


def test_a_far_model_that_is_not_to_be_trusted_is_an_open_arrow_and_a_sum_without_error_has_none():
    rows = (row("best", 0.0), row("a", -9.0), row("b", -10.0), replace(row("far", -900.0, n_high_k=1234), se=None))
    points = loo_forest(rows, DARK, "").data[0]
    assert points.marker.symbol[3] == "triangle-left-open" and points.customdata[3][2] == "−1,000.0"
    assert points.customdata[3][5] == "<br>k too high for 1,234 cases" and points.customdata[0][5] == ""


def test_names_of_models_and_raters_are_shown_letter_for_letter():
    bad = "<b>x</b>%{y}"
    raters = check("raters", [1], [0], [2], [3], [bad])
    for figure in (
        rater_bands(raters, LIGHT, ""),
        vote_bands({bad: VOTES}, LIGHT, ""),
        loo_forest((row(bad, 0.0),), LIGHT, ""),
    ):
        text = str(figure.to_dict())
        assert "<b>x" not in text and "x</b>%{y}" not in text and "&lt;b&gt;x" in text
