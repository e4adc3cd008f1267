"""Figures of one case: every corner, end and draw stands where its number says."""

import numpy as np
import pytest

from core.certainty.regions import Region
from core.figures.cases import MOST_TRIANGLE_DRAWS, SHOWN_DRAWS, class_scale, interval, plausibility_bars, triangle
from core.figures.theme import DARK, LIGHT, with_opacity

HEIGHT = np.sqrt(3) / 2
CORNERS = np.array([[0, 0], [1, 0], [0.5, HEIGHT]])  # left, right, top of an upright triangle with sides of 1
SHARES = np.array([[0.7, 0.2, 0.1], [0.5, 0.15, 0.35], [0.1, 0.3, 0.6], [0.9, 0.04, 0.06]])
REGION = Region((np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]]),), 0.95)
NAMES = ["left one", "right one", "top one"]


def points_of(trace):
    """Coordinates of a trace, shape (n_points, 2)."""
    return np.column_stack([trace.x, trace.y]).astype(float)


def named(figure, *ends):
    """Traces by the end of their hover."""
    return [trace for trace in figure.data if trace.hovertemplate is not None and trace.hovertemplate.endswith(ends)]


def test_names_of_a_triangle_stand_at_their_corners():
    notes = {note.text: note for note in triangle(NAMES, SHARES, REGION, LIGHT, "").layout.annotations}
    assert set(notes) == set(NAMES)
    for name, corner in zip(NAMES, CORNERS, strict=True):
        assert [notes[name].x, notes[name].y] == pytest.approx(corner, abs=0.05)
    assert notes["left one"].y < 0 and notes["right one"].y < 0 and notes["top one"].y > HEIGHT
    assert [notes[name].yanchor for name in NAMES] == ["top", "top", "bottom"]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_draw_lies_at_the_weighted_mean_of_the_corners_and_its_hover_names_each_share(theme):
    figure = triangle(NAMES, SHARES, REGION, theme, "")
    draws, mean = named(figure, "draw</extra>", "mean</extra>")
    assert points_of(draws) == pytest.approx(SHARES @ CORNERS)
    assert points_of(mean) == pytest.approx(np.array([[0.55, 0.1725, 0.2775]]) @ CORNERS)
    assert np.array(draws.customdata) == pytest.approx(SHARES)
    assert np.array(mean.customdata) == pytest.approx(np.array([[0.55, 0.1725, 0.2775]]))
    for trace in (draws, mean):
        assert trace.hovertemplate.startswith(
            "left one %{customdata[0]:0.0%}<br>right one %{customdata[1]:0.0%}<br>top one %{customdata[2]:0.0%}<extra>"
        )
    assert mean.marker.color == theme.ink and draws.marker.color == theme.accent


def test_the_outline_and_the_region_of_a_triangle_are_those_given():
    figure = triangle(NAMES, SHARES, REGION, LIGHT, "", colour="#123456")
    lines = [trace for trace in figure.data if trace.mode == "lines"]
    assert points_of(lines[1]) == pytest.approx(CORNERS[[0, 1, 2, 0]])
    (region,) = [trace for trace in lines if trace.fill == "toself"]
    assert points_of(region) == pytest.approx(REGION.outlines[0] @ CORNERS)
    assert region.line.color == "#123456" and region.fillcolor == with_opacity("#123456", 0.14)
    assert named(figure, "draw</extra>")[0].marker.color == "#123456"


def test_every_outline_of_a_region_in_parts_is_drawn():
    parts = (REGION.outlines[0], REGION.outlines[0][:, [2, 0, 1]])
    filled = [t for t in triangle(NAMES, SHARES, Region(parts, 0.95), LIGHT, "").data if t.fill == "toself"]
    for trace, part in zip(filled, parts, strict=True):
        assert points_of(trace) == pytest.approx(part @ CORNERS)


def test_grid_lines_of_a_triangle_are_where_one_share_is_a_quarter_a_half_and_three_quarters():
    grid = next(trace for trace in triangle(NAMES, SHARES, REGION, LIGHT, "").data if trace.mode == "lines")
    lines = points_of(grid).reshape(9, 3, 2)  # two ends and a gap each
    assert np.isnan(lines[:, 2]).all()
    to_shares = np.linalg.inv(np.column_stack([CORNERS, np.ones(3)]))  # plane coordinates and 1 to shares
    found = set()
    for line in lines[:, :2]:
        ends = np.column_stack([line, np.ones(2)]) @ to_shares
        assert ends.sum(axis=1) == pytest.approx(1) and (ends > -1e-9).all()
        (same,) = np.flatnonzero(np.isclose(ends[0], ends[1]))
        others = np.delete(ends, same, axis=1)
        assert others[0] == pytest.approx(others[1][::-1]) and others.min() == pytest.approx(0)
        found.add((int(same), round(float(ends[0, same]), 6)))
    assert found == {(corner, share) for corner in range(3) for share in (0.25, 0.5, 0.75)}


@pytest.mark.parametrize(
    ("n", "step"), [(MOST_TRIANGLE_DRAWS, 1), (MOST_TRIANGLE_DRAWS + 1, 2), (3 * MOST_TRIANGLE_DRAWS, 3)]
)
def test_of_many_draws_an_even_part_is_drawn_and_all_of_them_make_the_mean(n, step):
    shares = np.random.default_rng(3).dirichlet([5, 2, 1], n)
    draws, mean = named(triangle(NAMES, shares, REGION, LIGHT, ""), "draw</extra>", "mean</extra>")
    assert np.array(draws.customdata) == pytest.approx(shares[::step])
    assert len(draws.x) <= MOST_TRIANGLE_DRAWS
    assert np.array(mean.customdata) == pytest.approx(shares.mean(axis=0, keepdims=True))


def test_a_long_name_at_a_corner_is_broken_at_the_space_nearest_its_middle():
    names = ["a longer name here", "unbrokenlongname", "short a"]
    texts = [note.text for note in triangle(names, SHARES, REGION, LIGHT, "").layout.annotations]
    assert texts == ["a longer<br>name here", "unbrokenlongname", "short a"]


def test_names_of_a_triangle_are_shown_letter_for_letter():
    text = str(triangle(["<b>x</b>", "%{y}", "c"], SHARES, REGION, LIGHT, "").to_dict())
    assert "<b>x" not in text and "%{y}" not in text and "&lt;b&gt;x" in text


SHARE = np.concatenate([np.linspace(0.1, 0.3, 900), np.linspace(0.31, 0.95, 100)])


def test_an_interval_of_two_classes_holds_the_central_95_percent_of_the_draws():
    box, draws, mean = interval(("yes", "no"), SHARE, LIGHT, "").data
    ordered = np.sort(SHARE)
    low, high = ordered[int(0.025 * 999)], ordered[int(np.ceil(0.975 * 999))]
    assert min(box.x) == pytest.approx(low, abs=0.01) and max(box.x) == pytest.approx(high, abs=0.01)
    assert max(box.x) > np.median(SHARE) + 0.4  # far above the median: draws lean to one side
    assert box.x[0] == box.x[3] == box.x[4] and box.x[1] == box.x[2] and box.y[0] == box.y[1] == -box.y[2]
    assert np.array_equal(draws.x, SHARE[::2])
    assert list(mean.x) == [pytest.approx(SHARE.sum() / 1000)] and list(mean.y) == [0]
    assert max(abs(np.array(draws.y))) <= max(box.y)


def test_the_axis_of_an_interval_shows_the_plausibility_of_the_first_class_in_percent():
    figure = interval(("yes", "no"), SHARE, LIGHT, "")
    assert figure.layout.xaxis.tickformat == "0.0%"
    assert figure.layout.xaxis.title.text == "plausibility of yes"
    assert figure.layout.xaxis.range[0] < 0 and figure.layout.xaxis.range[1] > 1


def test_of_many_draws_of_an_interval_an_even_part_is_drawn_and_all_make_its_ends():
    share = np.random.default_rng(1).beta(2, 5, 2 * MOST_TRIANGLE_DRAWS + 1)
    box, draws, mean = interval(("yes", "no"), share, LIGHT, "").data
    assert np.array_equal(draws.x, share[::3])
    assert [min(box.x), max(box.x)] == pytest.approx(np.quantile(share, [0.025, 0.975]))
    assert mean.x[0] == pytest.approx(share.mean())


POINT, MEAN = np.array([0.52, 0.3, 0.11]), np.array([0.49, 0.33, 0.14])
LOW, HIGH = np.array([0.31, 0.2, 0.02]), np.array([0.77, 0.4, 0.19])
COLOURS = ["#112233", "#445566", "#778899"]


def bars(n_draws=7, theme=LIGHT, names=("a", "b", "c"), point=POINT):
    draws = np.arange(3 * n_draws).reshape(n_draws, 3) / (3 * n_draws)
    return draws, plausibility_bars(list(names), point, MEAN, LOW, HIGH, draws, COLOURS, theme, "title")


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_a_bar_is_the_point_estimate_and_its_line_the_interval_with_a_tick_at_the_mean(theme):
    _, figure = bars(theme=theme)
    bar, _, line, tick = figure.data
    assert list(bar.x) == list(POINT) and list(bar.y) == [0, 1, 2] and bar.orientation == "h"
    assert list(line.x) == [0.31, 0.77, None, 0.2, 0.4, None, 0.02, 0.19, None]
    assert [y if y is None else round(y) for y in line.y] == [0, 0, None, 1, 1, None, 2, 2, None]
    assert list(tick.x) == list(MEAN) and list(np.array(tick.y)) == [line.y[0], line.y[3], line.y[6]]
    assert tick.marker.symbol == "line-ns"
    assert list(bar.marker.color) == [with_opacity(colour, 0.32) for colour in COLOURS]
    assert list(figure.layout.yaxis.ticktext) == ["a", "b", "c"] and list(figure.layout.yaxis.tickvals) == [0, 1, 2]
    assert figure.layout.yaxis.autorange == "reversed"  # the first on top
    assert [list(row) for row in bar.customdata] == [
        ["a", "49.0% (31.0% to 77.0%)"],
        ["b", "33.0% (20.0% to 40.0%)"],
        ["c", "14.0% (2.0% to 19.0%)"],
    ]


@pytest.mark.parametrize("n_draws", [7, SHOWN_DRAWS + 1, 3 * SHOWN_DRAWS + 2])
def test_dots_are_draws_of_the_class_of_their_line_and_colour(n_draws):
    draws, figure = bars(n_draws)
    dots = figure.data[1]
    n_shown = len(dots.x) // 3
    assert n_shown == min(n_draws, SHOWN_DRAWS)
    for line in range(3):
        part = slice(line * n_shown, (line + 1) * n_shown)
        assert np.array_equal(dots.x[part], draws[:: max(1, n_draws // SHOWN_DRAWS)][:SHOWN_DRAWS, line])
        assert (np.round(np.array(dots.y[part])) == line).all()
        assert set(dots.marker.color[part]) == {COLOURS[line]}


@pytest.mark.parametrize(("largest", "end"), [(0.1, 0.3), (0.6, 0.63), (0.99, 1.0)])
def test_the_axis_of_plausibilities_ends_a_little_beyond_the_largest_and_never_beyond_1(largest, end):
    draws = np.full((4, 3), 0.05)
    figure = plausibility_bars(["a", "b", "c"], np.array([largest, 0, 0]), MEAN, LOW, HIGH, draws, COLOURS, LIGHT, "")
    assert list(figure.layout.xaxis.range) == pytest.approx([0, end])
    draws[2, 1] = largest
    figure = plausibility_bars(["a", "b", "c"], np.zeros(3), MEAN, LOW, HIGH, draws, COLOURS, LIGHT, "")
    assert list(figure.layout.xaxis.range) == pytest.approx([0, end])


def test_names_of_bars_are_cut_and_shown_letter_for_letter():
    _, figure = bars(names=("<b>x</b>", "n" * 40, "%{y}"))
    assert figure.layout.yaxis.ticktext[0] == "&lt;b&gt;x&lt;/b&gt;" and len(figure.layout.yaxis.ticktext[1]) == 26
    assert "%{y}" not in str(figure.data[0].customdata)


def test_a_scale_has_each_class_in_its_order_with_its_probability_and_the_expected_one_beside():
    p, named = np.array([0.05, 0.55, 0.4]), np.array([0, 4, 1])
    figure = class_scale(("low", "mid", "high"), p, named, (2.35, 2, 3), ["#111111"] * 3, LIGHT, "t")
    bars, line, diamond = figure.data
    assert (bars.x == p).all() and list(bars.text) == ["", "4 of 5", "1 of 5"]
    assert figure.layout.xaxis.tickformat == "0.0%"
    assert figure.layout.yaxis.ticktext == ("low", "mid", "high")
    assert figure.layout.yaxis.range[0] > figure.layout.yaxis.range[1]  # the lowest on top
    assert list(line.y) == [1, 2] and list(diamond.y) == pytest.approx([1.35])
    low, mid, high = bars.marker.color
    opacity = [float(one.rstrip(")").rpartition(",")[2]) for one in (low, mid, high)]
    assert low != mid == high and opacity[0] < opacity[1] == opacity[2]  # those within the interval are darker
    assert "expected class mid to high" in diamond.hovertemplate
    graded = class_scale(("0", "1", "2"), p, named, (2.35, 2, 3), ["#111111"] * 3, LIGHT, "t").data[2]
    assert "(1 to 2)" in graded.hovertemplate and "between" not in graded.hovertemplate
