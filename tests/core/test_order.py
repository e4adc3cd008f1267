"""Orders that do not turn on rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.order import highest_first, lowest_first

BIT = np.finfo(float).eps


def test_values_that_differ_by_rounding_keep_their_order():
    values = [0.5 + BIT, 0.5, 0.5 + 2 * BIT, 0.1]
    assert lowest_first(values).tolist() == [3, 0, 1, 2]
    assert highest_first(values).tolist() == [0, 1, 2, 3]


def test_values_that_differ_are_told_apart_at_every_size():
    for size in (1e-12, 1.0, 1e12):
        assert lowest_first(np.array([0.3, 0.1, 0.10000001]) * size).tolist() == [1, 2, 0]


def test_what_is_tied_is_ordered_by_the_second():
    assert lowest_first([0.5, 0.5 + BIT, 0.1, 0.5], then=[3, 2, 9, 1]).tolist() == [2, 3, 1, 0]


def test_unknown_values_come_last_and_infinite_ones_at_their_end():
    values = [np.nan, np.inf, 1.0, -np.inf, np.nan, np.inf]
    assert lowest_first(values).tolist() == [3, 2, 1, 5, 0, 4]
    assert highest_first(values).tolist() == [1, 5, 2, 3, 0, 4]
    assert lowest_first([]).tolist() == [] and lowest_first([np.nan, np.inf]).tolist() == [1, 0]


@given(st.lists(st.integers(-50, 50)), st.integers(0, 2**32 - 1))
def test_rounding_never_changes_an_order(whole, seed):
    values = np.array(whole, float) / 7
    noise = 1 + BIT * np.random.default_rng(seed).integers(-4, 5, len(whole))
    assert lowest_first(values * noise).tolist() == np.argsort(whole, kind="stable").tolist()
