"""Figures of certainty and risk: curves, errors and counts stand where their numbers say."""

from dataclasses import replace

import numpy as np
import pytest

from core.certainty.calibration import ReliabilityBin
from core.certainty.held_out_readers import held_out_curve
from core.certainty.risk import RiskResult
from core.certainty.top_sets import CertaintyResult
from core.certainty.truth_curve import truth_curve
from core.evaluation.sweep_table import SweepTable
from core.figures.anchors import certainty_loss, held_out_readers, reliability_diagram
from core.figures.reliability import (
    by_risk,
    certainty_and_agreement,
    mean_certainty,
    model_against_model,
    sorted_certainty,
)
from core.figures.theme import DARK, LIGHT
from core.ingest.read_files import read
from core.plausibility.dirichlet import DirichletCounts

CASES = ("a", "b", "c", "d")
FIRST = np.array([[0.9, 0.8, 1.0], [0.3, 0.5, 0.9], [0.6, 0.7, 0.8], [0.5, 0.4, 0.7]])
ERRORS = np.array([[0.01, 0.02, 0.03], [0.04, 0.01, 0.02], [0.02, 0.02, 0.01], [0.03, 0.05, 0.04]])


def result(shift, n_top=3):
    certainty = FIRST[:, :n_top] + shift
    shape = (4, n_top)
    return CertaintyResult(
        CASES, ("x", "y", "z", "w"), certainty, ERRORS[:, :n_top] * (1 + 10 * shift),
        np.zeros((*shape, n_top), np.int32), np.zeros(shape),
    )  # fmt: skip


SWEEP = SweepTable((0.5, 4.0, 25.0), (result(-0.1), result(0), result(0.05)))


def test_the_axis_of_mean_certainty_has_room_for_every_trust_that_is_still_computed():
    first = mean_certainty(SweepTable((0.5,), SWEEP.certainty[:1]), LIGHT, "", SWEEP.reliabilities)
    assert [list(trace.x) for trace in first.data] == [[0.5]] * 3
    assert first.layout == mean_certainty(SWEEP, LIGHT, "").layout
    low, high = 10 ** np.array(first.layout.xaxis.range)
    assert low == pytest.approx(0.5 / 1.15) and high == pytest.approx(25 * 1.15)


def test_sets_of_all_classes_have_no_line():
    for classes, names in (("xyz", ["top-1", "top-2"]), ("xy", ["top-1"]), ("x", ["top-1"])):
        few = replace(result(0), classes=tuple(classes))
        assert [trace.name for trace in mean_certainty(SweepTable((1.0,), (few,)), LIGHT, "").data] == names
    assert len(mean_certainty(SweepTable((1.0,), (result(0, 1),)), LIGHT, "").data) == 1


def test_one_trust_alone_is_one_curve():
    (curve,) = sorted_certainty(SweepTable((2.0,), (result(0),)), LIGHT, "").data
    assert curve.opacity == 1 and curve.line.width == 1.5


def risk(n=4):
    of_top1, summed = np.array([0.9, 0.4, 0.7, 0.6])[:n], np.array([0.8, 0.99, 0.55, 0.75])[:n]
    expected = np.array([0.06, 1.44, 1.56, 0.31])[:n]
    return RiskResult(of_top1, of_top1 / 50, summed, summed / 40, np.zeros(n, int), expected, np.zeros((n, 3)))


def test_counts_by_risk_are_shares_of_their_level_and_a_level_without_cases_has_no_line():
    values = [np.array([3, 3, 5, 3]), np.array([], int), np.array([2, 7])]
    low, high = by_risk(values, DARK, "", "annotations").data
    assert list(low.x) == [3, 5] and list(low.y) == [0.75, 0.25] and low.name == "low (4 cases)"
    assert list(high.x) == [2, 7] and list(high.y) == [0.5, 0.5] and high.name == "high (2 cases)"
    assert (low.line.color, high.line.color) == (DARK.risk[0], DARK.risk[2])
    assert low.line.dash != high.line.dash and low.marker.symbol != high.marker.symbol


def test_of_many_cases_an_even_part_is_drawn_each_with_its_own_name_and_numbers():
    first = np.arange(5000) / 5000
    names = tuple(map(str, range(5000)))
    points = model_against_model(first, 1 - first, ("one", "other"), names, LIGHT, "").data[1]
    code = np.array([int(name) for name in points.customdata])
    assert len(code) == 1200 and (code[0], code[-1]) == (0, 4999)
    assert np.array_equal(points.x, first[code]) and np.array_equal(points.y, 1 - first[code])


def test_certainty_and_agreement_have_one_dot_a_case_and_the_line_that_was_given():
    agreement, certainty = np.array([0.2, 0.5, 1.0, 0.0]), np.array([0.4, 0.9, 0.95, 0.3])
    dots, line = certainty_and_agreement(agreement, certainty, (0.25, 0.6), LIGHT, "").data
    assert dots.x == pytest.approx(agreement, abs=0.008) and list(dots.y) == list(certainty)
    assert list(line.x) == [0, 1] and line.y == pytest.approx([0.25, 0.85])
    many = np.arange(5000) / 4999
    dots, line = certainty_and_agreement(0.1 + many / 2, 1 - many, (0.25, 0.6), LIGHT, "").data
    assert len(dots.x) == 1200 and dots.x == pytest.approx(0.1 + (1 - np.array(dots.y)) / 2, abs=0.008)
    assert line.x == pytest.approx([0.1, 0.6]) and line.y == pytest.approx([0.31, 0.61])


def test_of_many_certainties_an_even_part_with_both_ends_is_drawn():
    certainty = np.random.default_rng(0).permutation(1801)[:, None] / 1800
    many = CertaintyResult(
        tuple(map(str, range(1801))), ("x",), certainty, certainty, np.zeros((1801, 1, 1), np.int32), certainty
    )
    (curve,) = sorted_certainty(SweepTable((2.0,), (many,)), LIGHT, "").data
    assert len(curve.x) == 600 and (curve.y[0], curve.y[-1]) == (0, 1)
    assert curve.x == pytest.approx((np.array(curve.y) * 1800 + 0.5) / 1801)


# Anchors: Figures of what anchors γ read against the curves that they draw.


BOTH = pytest.mark.parametrize("theme", [LIGHT, DARK])


@pytest.fixture(scope="module")
def dataset():
    rng = np.random.default_rng(4)
    rows = ["case,rater,class,gold"]
    for case in range(40):
        truth = int(rng.integers(3))
        for rater in "abcde":
            said = truth if rng.random() < 0.7 else int(rng.integers(3))
            rows.append(f"{case},{rater},{'xyz'[said]},{'xyz'[truth]}")
    return read("\n".join(rows).encode()).dataset


@BOTH
def test_held_out_readers_are_differences_to_the_best_in_a_band_of_two_errors(dataset, theme):
    curve = held_out_curve(dataset, DirichletCounts(), (0.1, 0.5, 1.0, 3.0))
    figure = held_out_readers(curve, theme, "title")
    band, line = figure.data
    n = len(curve.reliability)
    assert list(line.x) == list(curve.reliability) and list(line.y) == pytest.approx(list(curve.diff))
    assert list(line.customdata) == pytest.approx(list(curve.score))
    assert list(band.y[:n]) == pytest.approx(list(curve.diff + 2 * curve.diff_se))
    assert list(band.y[n:]) == pytest.approx(list((curve.diff - 2 * curve.diff_se)[::-1]))
    assert list(band.x[n:]) == list(curve.reliability[::-1])
    assert figure.layout.xaxis.type == "log"
    region, best = figure.layout.shapes
    assert (region.x0, region.x1) == (curve.low, curve.high) and best.x0 == best.x1 == curve.best


@BOTH
def test_the_loss_of_certainty_stands_in_its_own_interval(dataset, theme):
    curve = truth_curve(dataset, DirichletCounts(), (0.2, 1.0, 5.0))
    band, line = certainty_loss(curve, theme, "title").data
    n = len(curve.reliability)
    assert list(line.y) == pytest.approx(list(curve.log_loss)) and list(line.customdata) == pytest.approx(
        list(curve.ece)
    )
    assert list(band.y[:n]) == pytest.approx(list(curve.log_loss_high))
    assert list(band.y[n:]) == pytest.approx(list(curve.log_loss_low[::-1]))


@BOTH
def test_the_diagram_draws_both_ends_of_every_bin(theme):
    bins = (ReliabilityBin(0.5, 0.6, 12, 0.58, 0.40, 0.22, 0.71), ReliabilityBin(0.9, 1.0, 30, 0.93, 0.80, 0.62, 0.91))
    diagonal, points = reliability_diagram(bins, theme, "title").data
    assert (list(diagonal.x), list(diagonal.y)) == ([0, 1], [0, 1])
    assert list(points.x) == [0.58, 0.93] and list(points.y) == [0.40, 0.80]
    assert list(points.error_y.array) == pytest.approx([0.31, 0.11])
    assert list(points.error_y.arrayminus) == pytest.approx([0.18, 0.18])
    assert list(points.customdata) == ["12 cases", "30 cases"]
