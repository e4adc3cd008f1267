"""Line and correlation against scipy."""

import numpy as np
import pytest
from scipy import stats

from core.evaluation.relations import relation


@pytest.mark.parametrize("seed", range(5))
def test_line_correlation_and_interval_are_those_of_scipy(seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=40)
    y = 0.5 * x + rng.normal(size=40)
    found, line, exact = relation(x, y), stats.linregress(x, y), stats.pearsonr(x, y)
    assert (found.intercept, found.slope) == pytest.approx((line.intercept, line.slope), rel=1e-12)
    assert found.correlation == pytest.approx(exact.statistic, rel=1e-12)
    interval = exact.confidence_interval(0.95)
    assert (found.ci_low, found.ci_high) == pytest.approx((interval.low, interval.high), rel=1e-9)


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [2, 2, 2]), ([], [])])
def test_without_spread_or_with_fewer_than_three_pairs_there_is_none(x, y):
    found = relation(np.array(x, float), np.array(y, float))
    assert found.correlation is None and found.slope is None and found.n == len(x)


def test_three_pairs_have_a_correlation_and_no_interval():
    found = relation(np.array([1.0, 2, 3]), np.array([1.0, 3, 2]))
    assert found.correlation == pytest.approx(0.5)
    assert found.ci_low is None


@pytest.mark.parametrize(("slope", "correlation"), [(2.0, 1), (-0.5, -1)])
def test_a_perfect_line_has_a_correlation_without_an_interval(slope, correlation):
    x = np.array([0.0, 1.0, 2.0, 3.0])  # whose correlation has no rounding
    found = relation(x, 3 + slope * x)
    assert (found.intercept, found.slope, found.correlation) == pytest.approx((3, slope, correlation))
    assert found.correlation == correlation and found.ci_low is None and found.ci_high is None
