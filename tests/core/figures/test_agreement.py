"""Figures of coefficients and of pairs of raters: what is drawn is what was given."""

import numpy as np
import pytest

from core.agreement.intervals import Coefficient, undefined
from core.agreement.pairs import pair_matrix
from core.figures.agreement import (
    FEW_PAIRS,
    MOST_WITH_TEXT,
    annotations_per_case,
    case_agreement_histogram,
    forest,
    pair_heatmap,
    title_of,
)
from core.figures.theme import DARK, LIGHT
from core.ingest.read_files import read
from core.text import number

BAD = "<b>x</b>%{y}"


def coefficient(name, value, low=None, high=None, weights="identity", n_cases=40):
    return Coefficient(name, weights, value, None, low, high, n_cases, 3 * n_cases)


TABLE = [
    coefficient("percent", 0.8, 0.7, 0.9),
    undefined("fleiss_kappa", "identity", "only one class was used"),
    coefficient("gwet_ac", 0.6),
    coefficient("krippendorff_alpha", -0.3, -0.5, 0.1, "nominal"),
]


def dataset(n_cases, raters):
    rows = [
        f"{case},{rater},{(case * (place + 1)) % 2}" for case in range(n_cases) for place, rater in enumerate(raters)
    ]
    return read(("case,rater,class\n" + "\n".join(rows)).encode(), name="made").dataset


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_forest_draws_values_and_ends_and_leaves_the_undefined_out(theme):
    figure = forest(TABLE, theme, "title")
    points = figure.data[0]
    assert list(points.x) == [0.8, 0.6, -0.3] and list(points.y) == [0, 1, 2]
    assert np.array(points.x) - points.error_x.arrayminus == pytest.approx([0.7, 0.6, -0.5])
    assert np.array(points.x) + points.error_x.array == pytest.approx([0.9, 0.6, 0.1])
    assert list(figure.layout.yaxis.ticktext) == ["Percent agreement", "Gwet AC1", "Krippendorff α, nominal"]
    assert points.customdata[1][1] == "interval undetermined" and points.customdata[0][2:] == [
        "40 cases",
        "120 annotations",
    ]
    assert figure.layout.xaxis.range[0] < -0.5


def test_a_point_of_a_forest_has_the_numbers_of_its_own_line():
    """Ends at unequal distances, and no two numbers alike."""
    table = [
        Coefficient("percent", "identity", 0.71, 0.1, 0.52, 0.75, 11, 31),
        undefined("fleiss_kappa", "identity", "only one class was used"),
        Coefficient("conger_kappa", "identity", 0.43, 0.1, 0.4, 0.61, 1200, 34567),
    ]
    figure = forest(table, DARK, "")
    points, axis = figure.data[0], figure.layout.yaxis
    assert points.error_x.array == pytest.approx([0.04, 0.18])
    assert points.error_x.arrayminus == pytest.approx([0.19, 0.03])
    assert [list(row) for row in points.customdata] == [
        ["Percent agreement", "interval 0.520 to 0.750", "11 cases", "31 annotations"],
        ["Conger κ", "interval 0.400 to 0.610", "1,200 cases", "34,567 annotations"],
    ]
    assert list(axis.tickvals) == [0, 1] and axis.range[0] > 1 and axis.range[1] < 0  # the first on top
    assert points.marker.color == points.error_x.color == DARK.accent


@pytest.mark.parametrize(("low", "start"), [(0.2, 0.0), (-0.5, -0.5), (-3.0, -1.0)])
def test_the_axis_of_a_forest_holds_0_to_1_and_what_is_below_down_to_minus_1(low, start):
    axis = forest([coefficient("percent", 0.5, low, 0.9)], LIGHT, "").layout.xaxis
    assert start - 0.1 < axis.range[0] < start and 1 < axis.range[1] < 1.1
    alone = forest([coefficient("icc_1", low)], LIGHT, "").layout.xaxis
    assert alone.range[0] == pytest.approx(axis.range[0])


def test_headings_stand_before_their_coefficients_and_an_empty_group_has_none():
    figure = forest(TABLE[1:], LIGHT, "", labels=["a", "b", "c"], headings={0: "empty", 1: "one", 2: "two"})
    assert list(figure.layout.yaxis.ticktext) == ["<b>one</b>", "b", "<b>two</b>", "c"]
    assert list(figure.data[0].y) == [1, 3] and figure.data[0].customdata[1][0] == "c"


def test_two_lines_of_one_name_stay_two():
    """The same coefficient by two methods under two headings."""
    figure = forest([TABLE[0], TABLE[0]], LIGHT, "", labels=["same", "same"], headings={0: "a", 1: "b"})
    assert list(figure.data[0].y) == [1, 3]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_cell_of_the_pair_matrix_has_its_value_its_n_and_a_point_to_click(theme):
    matrix = pair_matrix(dataset(12, ["a", "b", "c"]))
    order = np.array([2, 0, 1])
    figure = pair_heatmap(matrix, order, theme, "title")
    heat, points = figure.data
    assert heat.z[0][1] == matrix.value[2, 0] and np.isnan(heat.z[0][0])
    assert heat.text[0][1].endswith("n 12") and heat.text[1][1] == ""
    assert heat.textfont.color == theme.ink
    where = dict(zip(zip(points.x, points.y, strict=True), points.customdata, strict=True))
    assert len(where) == 6 and list(where[1, 0]) == [2, 0]
    assert all(matrix.raters[order[y]] in text for y, text in zip(points.y, points.hovertext, strict=True))
    assert points.selected.marker.opacity == points.unselected.marker.opacity == 0


def uneven():
    """Three raters of whom each two share another number of cases and agree on another share."""
    raters, rng = ["ann", "bob", "cem"], np.random.default_rng(2)
    rows = [(case, r) for case in range(40) for r in range(3) if r == 0 or case % (r + 1) == 0]
    text = "\n".join(f"{case},{raters[r]},{rng.integers(2)}" for case, r in rows)
    return pair_matrix(read(f"case,rater,class\n{text}".encode(), name="made").dataset, "cohen_kappa")


def test_cells_of_the_pair_matrix_follow_the_order_that_is_asked_for():
    matrix, order = uneven(), np.array([1, 2, 0])
    assert len({matrix.n[i, j] for i, j in ((0, 1), (0, 2), (1, 2))}) == 3
    figure = pair_heatmap(matrix, order, LIGHT, "")
    heat, points = figure.data
    names = [matrix.raters[code] for code in order]
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert list(axis.ticktext) == names and list(axis.tickvals) == [0, 1, 2]
    assert figure.layout.yaxis.range[0] > 2 > 0 > figure.layout.yaxis.range[1]  # the first on top
    assert figure.layout.xaxis.range[0] < 0 < 2 < figure.layout.xaxis.range[1]
    apart = [(y, x) for y in range(3) for x in range(3) if x != y]
    for y, x in apart:
        i, j = order[y], order[x]
        assert heat.z[y][x] == matrix.value[i, j]
        assert heat.text[y][x] == f"{number(matrix.value[i, j])}<br>n {matrix.n[i, j]}"
    values = [matrix.value[order[y], order[x]] for y, x in apart]
    assert (heat.zmin, heat.zmax) == (min(values), max(values))
    for x, y, codes, text in zip(points.x, points.y, points.customdata, points.hovertext, strict=True):
        i, j = order[y], order[x]
        low, high = matrix.interval(i, j)
        assert list(codes) == [i, j]
        assert text == (
            f"{names[y]} and {names[x]}<br>Cohen κ {number(matrix.value[i, j])} ({number(low)} to {number(high)})"
            f"<br>{matrix.n[i, j]} pairs of annotations"
        )


def test_two_raters_without_a_case_in_common_are_told_so():
    text = "case,rater,class\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n3,c,y\n3,a,y"
    matrix = pair_matrix(read(text.encode(), name="made").dataset)
    heat, points = pair_heatmap(matrix, np.arange(3), LIGHT, "").data
    assert heat.text[1][2] == "no case<br>shared" and heat.text[0][1].endswith("n 2")
    hover = dict(zip(zip(points.x, points.y, strict=True), points.hovertext, strict=True))
    assert hover[2, 1] == "b and c<br>undefined: the two raters have no cases in common"


def test_two_raters_who_hardly_met_have_no_colour():
    few = pair_matrix(dataset(FEW_PAIRS - 1, ["a", "b"]))
    enough = pair_matrix(dataset(FEW_PAIRS, ["a", "b"]))
    assert np.isnan(pair_heatmap(few, np.arange(2), LIGHT, "").data[0].z).all()
    assert np.isfinite(pair_heatmap(enough, np.arange(2), LIGHT, "").data[0].z).any()
    assert pair_heatmap(few, np.arange(2), LIGHT, "").data[0].text[0][1].endswith(f"n {FEW_PAIRS - 1}")


def test_where_cells_are_too_small_for_numbers_a_scale_says_what_a_colour_means():
    raters = [f"r{place}" for place in range(MOST_WITH_TEXT + 1)]
    many = pair_heatmap(pair_matrix(dataset(6, raters)), np.arange(len(raters)), LIGHT, "")
    few = pair_heatmap(pair_matrix(dataset(6, raters[:-1])), np.arange(len(raters) - 1), LIGHT, "")
    assert many.data[0].text is None and many.data[0].showscale
    assert few.data[0].text is not None and not few.data[0].showscale


def test_names_are_shown_letter_for_letter():
    figure = pair_heatmap(pair_matrix(dataset(6, [BAD, "b"])), np.arange(2), LIGHT, "")
    text = str(figure.to_dict())
    assert "<b>x" not in text and "x</b>%{y}" not in text and "&lt;b&gt;x" in text
    text = str(forest(TABLE, LIGHT, "", labels=[BAD] * 4, headings={0: BAD}).to_dict())
    assert "<b>x" not in text and "&lt;b&gt;x" in text


def test_histograms_count_every_case_once():
    agreement = np.array([1, 1, 0.5, 0, np.nan])
    shares = case_agreement_histogram(agreement, LIGHT, "").data[0]
    assert {round(x, 2): y for x, y in zip(shares.x, shares.y, strict=True) if y} == {0.05: 1, 0.55: 1, 0.95: 2}
    assert tuple(case_agreement_histogram(agreement, LIGHT, "").layout.xaxis.range) == (0, 1)
    assert (shares.customdata[0], shares.customdata[9]) == ("0.0 to 0.1", "0.9 to 1.0")
    assert (shares.hovertext[0], shares.hovertext[9]) == ("1 case", "2 cases")
    bars = annotations_per_case(np.array([2, 2, 5]), LIGHT, "").data[0]
    assert list(bars.x) == [2, 5] and list(bars.y) == [2, 1]
    assert list(bars.hovertext) == ["2 annotations: 2 cases", "5 annotations: 1 case"]
    assert annotations_per_case(np.array([2, 22]), LIGHT, "").layout.xaxis.dtick == 1
    assert annotations_per_case(np.array([2, 23]), LIGHT, "").layout.xaxis.dtick is None


def test_names_say_which_weights():
    assert title_of(coefficient("gwet_ac", 0.5)) == "Gwet AC1"
    assert title_of(coefficient("gwet_ac", 0.5, weights="quadratic")) == "Gwet AC2, quadratic"
    assert title_of(coefficient("fleiss_kappa", 0.5, weights="linear")) == "Fleiss κ, linear"
