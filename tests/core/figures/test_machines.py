"""Figures of machines among the raters, read against the numbers that they draw."""

from dataclasses import replace

import numpy as np
import pytest

from core.figures import machines as figures
from core.figures.machines import (
    against_raters,
    beside_people,
    leads_by_part,
    over_epsilon,
    shared_errors_matrix,
    versions_in_order,
    worth_in_readers,
)
from core.figures.theme import DARK, LIGHT, with_opacity
from core.machines.alternative_test import CURVE, PASSES, AgainstRater, MachineStanding
from core.machines.equivalent_readers import EquivalentReaders
from core.machines.subgroup_differences import SubgroupDifference
from core.machines.versions import VersionDrift, VersionStanding
from core.raters.shared_errors import SharedErrors
from core.text import plural

BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK])


def against(rater, rho, rejected, n=40):
    """Against one person; the interval reaches further down than up."""
    return AgainstRater(rater, n, rho, rho - 0.1, rho + 0.05, 20, 5, 15, 0.0123, rejected)


def standing(name, rho, *raters, low=None, passes=True, start=0.2):
    low = rho - 0.1 if low is None else low
    curve = (start <= CURVE).astype(float)
    return MachineStanding(name, 60, raters, (), 0.5, passes, rho, low, rho + 0.05, 0.7, curve)


@BOTH
def test_each_person_has_a_line_and_is_filled_where_the_machine_holds_its_own(theme):
    one = standing("<b>one", 0.7, against("ann", 0.8, False), against("bob", 0.4, True, 1234))
    two = standing("two", 0.6, against("bob", 0.3, False), against("cem", 0.6, True))
    figure = against_raters([one, two], 0.2, theme, "title")
    first, first_entry, second, second_entry = figure.data
    assert [trace.name for trace in (first, second)] == ["&lt;b&gt;one", "two"]
    assert [trace.marker.color for trace in (first, second)] == list(theme.classes[:2])
    for points, entry, symbol in ((first, first_entry, "circle"), (second, second_entry, "square")):
        assert (points.showlegend, entry.showlegend, entry.marker.symbol) == (False, None, symbol)
        assert (entry.name, entry.legendgroup) == (points.name, points.legendgroup)
    assert list(figure.layout.yaxis.ticktext) == ["ann", "bob", "cem"]
    assert list(first.x) == [0.8, 0.4] and list(second.x) == [0.3, 0.6]
    assert list(first.marker.symbol) == ["circle-open", "circle"]
    assert list(second.marker.symbol) == ["square-open", "square"]
    np.testing.assert_allclose(first.y, [-0.125, 0.875])
    np.testing.assert_allclose(second.y, [1.125, 2.125])
    np.testing.assert_allclose(first.x + first.error_x.array, [0.85, 0.45])
    np.testing.assert_allclose(first.x - first.error_x.arrayminus, [0.7, 0.3])
    assert [list(row) for row in first.customdata] == [
        ["ann", "40 cases", "0.0123"],
        ["bob", "1,234 cases", "0.0123"],
    ]
    assert figure.layout.shapes[0].x0 == 0.5


@BOTH
def test_the_winning_rate_is_drawn_over_epsilon_with_what_passes_and_the_one_in_use(theme):
    untested = MachineStanding("none", 3, (), ("ann",), None, None, None, None, None, None)
    figure = over_epsilon([untested, standing("two", 0.6, start=0.31)], 0.15, theme, "title")
    (line,) = figure.data
    assert line.name == "two" and line.line.color == theme.classes[1] and line.line.shape == "hv"
    assert list(line.x) == list(CURVE) and list(line.y) == [float(e >= 0.31) for e in CURVE]
    passes, used = figure.layout.shapes
    assert passes.y0 == passes.y1 == PASSES and used.x0 == used.x1 == 0.15


@BOTH
def test_machines_and_raters_stand_by_their_advantage_and_not_by_an_end_of_its_interval(theme):
    machines = [standing("m", 0.7, against("ann", 0.8, True), against("bob", 0.4, False), low=0.2, passes=False)]
    people = [standing("ann", 0.6, low=0.5), standing("bob", 0.9, low=0.1), standing("nobody", 0.1)]
    people[2] = MachineStanding("nobody", 3, (), ("ann",), None, None, None, None, None, None)
    figure = beside_people(machines, people, theme, "title")
    raters, of_machines = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["bob", "m", "ann"]
    assert (raters.name, of_machines.name) == ("raters", "machines")
    assert (raters.marker.color, of_machines.marker.color) == (theme.accent, theme.mean)
    assert list(raters.x) == [0.9, 0.6] and list(raters.y) == [0, 2]
    assert list(of_machines.x) == [0.7] and list(of_machines.y) == [1]
    assert list(raters.marker.symbol) == ["circle", "circle"] and list(of_machines.marker.symbol) == ["diamond-open"]
    np.testing.assert_allclose(raters.x - raters.error_x.arrayminus, [0.1, 0.5])
    np.testing.assert_allclose(raters.x + raters.error_x.array, [0.95, 0.65])
    assert list(of_machines.customdata[0]) == ["m", "1 of 2"]


def test_of_many_machines_and_raters_those_of_the_largest_advantage_are_shown(monkeypatch):
    monkeypatch.setattr(figures, "MOST_ROWS", 2)
    people = [standing("ann", 0.6), standing("bob", 0.9)]
    figure = beside_people([standing("m", 0.7)], people, LIGHT, "title")
    assert list(figure.layout.yaxis.ticktext) == ["bob", "m"]


@BOTH
def test_panels_stand_at_their_number_of_people_and_machines_at_their_own_score(theme):
    panel = np.array([0.4, 0.5, 0.55])
    found = [
        EquivalentReaders(name, "log", 30, 2, panel, panel - 0.1, panel + 0.05, value, 0.4, 0.6, k, 0.5, np.inf, 0.95)
        for name, value, k in (("m", 0.52, 1.4), ("<i>n", 0.45, 0.5))
    ]
    figure = worth_in_readers(found, theme, "title")
    band, line, first_band, first, second_band, second = figure.data
    assert list(line.x) == [0, 1, 2] and list(line.y) == panel.tolist()
    assert list(line.hovertext) == ["0 people", "1 person", "2 people"]
    assert list(band.x) == [0, 1, 2, 2, 1, 0]
    assert list(band.y) == [*(panel + 0.05), *(panel - 0.1)[::-1]]
    assert list(first.x) == [0, 2] and list(first.y) == [0.52, 0.52] and list(second.y) == [0.45, 0.45]
    assert (first.line.color, second.line.color) == theme.classes[:2]
    assert list(first_band.y) == list(second_band.y) == [0.6, 0.6, 0.4, 0.4] and list(first_band.x) == [0, 2, 2, 0]
    assert first_band.fillcolor == with_opacity(theme.classes[0], 0.1)
    alone = worth_in_readers(found[1:], theme, "title", ["m", "<i>n"]).data[-1]
    assert (alone.line.color, alone.line.dash) == (second.line.color, second.line.dash)
    assert "worth 1.4 (0.5 to more than 2)" in first.hovertemplate and second.name == "&lt;i&gt;n"
    assert figure.layout.yaxis.title.text == "log score"
    few = worth_in_readers([replace(one, n_cases=9) for one in found], theme, "title")
    assert [list(line.y) for line in few.data] == [panel.tolist(), [0.52, 0.52], [0.45, 0.45]]  # no bands


@BOTH
def test_pairs_that_share_errors_are_crossed_and_families_framed(theme):
    value = np.array([[1, 0.1, 0.6, np.nan], [0.1, 1, -0.2, 0.3], [0.6, -0.2, 1, 0.4], [np.nan, 0.3, 0.4, 1]])
    shares = np.zeros((4, 4), bool)
    shares[0, 2] = shares[2, 0] = True
    n_common = np.arange(16).reshape(4, 4)
    nothing = np.zeros((4, 4))
    found = SharedErrors(
        ("ann", "bob", "cem", "dan"), np.zeros(4, bool), n_common, nothing, value, nothing, shares, 0.05, 3.0, 4, 1
    )
    order = [1, 2, 0, 3]
    figure = shared_errors_matrix(found, order, ["F", "", "F", ""], theme, "title")
    cells, crosses = figure.data
    expected = value[np.ix_(order, order)]
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_array_equal(np.array(cells.z, float), expected)
    common = n_common[np.ix_(order, order)].tolist()
    assert [list(row) for row in cells.customdata] == [[plural(n, "case") for n in row] for row in common]
    assert "1 case" in {n for row in cells.customdata for n in row}, "not 1 cases"
    assert (cells.zmin, cells.zmax) == (-1, 1)
    assert [colour for _, colour in cells.colorscale] == [theme.risk[0], theme.paper, theme.mean]
    assert cells.text[0][1] == "bob and cem"
    assert list(figure.layout.xaxis.ticktext) == list(figure.layout.yaxis.ticktext) == ["bob", "cem", "ann", "dan"]
    assert figure.layout.yaxis.autorange == "reversed"
    assert set(zip(crosses.x, crosses.y, strict=True)) == {(1, 2), (2, 1)}
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.y0, frame.x1, frame.y1) == (0.5, 0.5, 2.5, 2.5)
    assert not shared_errors_matrix(found, [0, 1, 2, 3], ["F", "", "F", ""], theme, "title").layout.shapes


@BOTH
def test_leads_stand_by_part_filled_only_where_they_are_surely_below_epsilon(theme):
    found = [
        SubgroupDifference("m", "class", "x", 30, 0.9, 0.05, 0.0, 0.12),
        SubgroupDifference("m", "group", "x", 9, 0.7, 0.15, 0.1, 0.31),
        SubgroupDifference("n", "group", "x", 9, 0.4, 0.5, 0.4, 0.6),
    ]
    figure = leads_by_part(found, 0.2, theme, "title")
    one, entry, two, _ = figure.data
    assert entry.marker.symbol == "circle" and not one.showlegend
    assert (list(one.x), list(two.x)) == ([0.05, 0.15], [0.5])
    assert [round(y) for y in one.y] == [0, 1] and round(two.y[0]) == 1 and one.y[1] < two.y[0]
    assert list(one.marker.symbol) == ["circle", "circle-open"] and list(two.marker.symbol) == ["square-open"]
    np.testing.assert_allclose(one.x - one.error_x.arrayminus, [0.0, 0.1], atol=1e-12)
    np.testing.assert_allclose(one.x + one.error_x.array, [0.12, 0.31])
    assert list(figure.layout.yaxis.ticktext) == ["x", "x"]
    assert figure.layout.shapes[0].x0 == 0.2 and figure.layout.shapes[1].y0 == 0.5
    assert (one.marker.color, two.marker.color) == theme.classes[:2]


@BOTH
def test_versions_stand_in_their_order_with_their_own_ends_and_people_among_themselves(theme):
    """Each interval reaches further down than up, and neither as far as that of the other."""
    versions = (
        VersionStanding("m-9", "9", 0.5, 0.3, 0.55),
        VersionStanding("<b>m-10", "10", 0.7, 0.61, 0.73),
    )
    figure = versions_in_order(VersionDrift("m", "rmse", 40, versions, (), 0.64, 0.95), theme, "title")
    (line,) = figure.data
    assert (list(line.x), list(line.y)) == ([0, 1], [0.5, 0.7])
    np.testing.assert_allclose(line.y + line.error_y.array, [0.55, 0.73])
    np.testing.assert_allclose(line.y - line.error_y.arrayminus, [0.3, 0.61])
    assert list(figure.layout.xaxis.ticktext) == list(line.text) == ["m-9", "&lt;b&gt;m-10"]
    assert figure.layout.shapes[0].y0 == 0.64 and figure.layout.yaxis.title.text == "− distance to people"
    assert not versions_in_order(VersionDrift("m", "rmse", 40, versions, (), None, 0.95), theme, "").layout.shapes
