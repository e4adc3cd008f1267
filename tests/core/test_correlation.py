import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.correlation import fisher_interval


def test_the_interval_is_fishers():
    low, high = fisher_interval(np.array([0.5, -0.5]), np.array([28, 28]), 0.025)
    # atanh(0.5) = 0.549306, 1.959964 / sqrt(25) = 0.391993
    assert low == pytest.approx([0.156028, -0.735818], abs=1e-6)
    assert high == pytest.approx([0.735818, -0.156028], abs=1e-6)


@pytest.mark.parametrize(("r", "n"), [(1.0, 50), (-1.0, 50), (1 - 1e-12, 50), (0.5, 3), (np.nan, 50)])
def test_what_bounds_nothing_has_no_ends(r, n):
    low, high = fisher_interval(np.array([r]), np.array([n]), 0.025)
    assert np.isnan(low[0]) and np.isnan(high[0])


@given(st.floats(-0.999, 0.999), st.integers(4, 10_000), st.floats(1e-6, 0.4))
def test_the_correlation_lies_between_its_ends(r, n, tail):
    low, high = fisher_interval(np.array(r), np.array(n), tail)
    assert -1 <= low <= r <= high <= 1
