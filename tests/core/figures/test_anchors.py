"""Figures of what anchors γ read against the curves that they draw."""

import numpy as np
import pytest

from core.certainty.calibration import ReliabilityBin
from core.certainty.held_out_readers import held_out_curve
from core.certainty.truth_curve import truth_curve
from core.figures.anchors import certainty_loss, held_out_readers, reliability_diagram
from core.figures.theme import DARK, LIGHT
from core.ingest.read_files import read
from core.plausibility.dirichlet import DirichletCounts

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
