"""Intervals that hold at every look."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, studentized_range

from core.correlation import fisher_interval
from core.extremes import clearly_apart, clearly_least, clearly_most, clearly_most_cases
from core.order import highest_first, lowest_first
from core.sequential import betting_interval, level_of_look
from tests.benchmarks import equal_estimates


def by_loops(values, level):
    """The hedged capital process of Waudby-Smith & Ramdas, candidate by candidate and value by value."""
    alpha, kept = 1 - level, []
    for m in np.linspace(0, 1, 1_001):
        up = down = 1.0
        total, squares, before, alive = 0.5, 0.25, 0.25, True
        for t, x in enumerate(values, 1):
            bet = math.sqrt(2 * math.log(2 / alpha) / (before * t * math.log(t + 1)))
            up *= 1 + min(bet, 0.5 / m if m else math.inf) * (x - m)
            down *= 1 - min(bet, 0.5 / (1 - m) if m < 1 else math.inf) * (x - m)
            total += x
            squares += (x - total / (t + 1)) ** 2
            before = squares / (t + 1)
            alive &= max(up, down) / 2 < 1 / alpha
        if alive:
            kept.append(m)
    return max(kept[0] - 0.001, 0), min(kept[-1] + 0.001, 1)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 1.0])
def test_betting_interval_is_that_of_loops(share):
    values = (np.random.default_rng(1).random(60) < share).astype(float)
    assert betting_interval(values, 0.9) == pytest.approx(by_loops(values, 0.9))


def test_betting_interval_holds_at_all_lengths_together():
    """Of sequences at most 5% ever exclude their mean, looked at after every value."""
    rng, missed = np.random.default_rng(2), 0
    for _ in range(200):
        low, high = betting_interval((rng.random(300) < 0.3).astype(float), 0.95)
        missed += not low <= 0.3 <= high
    assert missed / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200)


def test_betting_interval_narrows_with_the_values():
    values = np.random.default_rng(3).random(4_000)
    widths = [np.diff(betting_interval(values[:n]))[0] for n in (50, 500, 4_000)]
    assert widths[0] > 2 * widths[1] > 4 * widths[2] and widths[2] < 0.06


def test_betting_interval_at_one_length_is_narrower():
    rng, missed, narrower = np.random.default_rng(4), 0, 0
    for _ in range(200):
        values = (rng.random(200) < 0.3).astype(float)
        low, high = betting_interval(values, at_all_lengths=False)
        missed += not low <= 0.3 <= high
        narrower += high - low < np.diff(betting_interval(values))[0]
    assert missed / 200 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 200) and narrower > 190


def test_levels_of_all_looks_together_have_the_error_of_one():
    assert sum(1 - level_of_look(0.95, look) for look in range(1, 200_000)) == pytest.approx(0.05, abs=1e-6)


# Order: Orders that do not turn on rounding.


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


# Extremes: A least or a most is named only where it differs clearly from every other estimate.


@pytest.mark.parametrize(
    ("value", "low", "high", "least", "most"),
    [
        ([0.2, 0.5, 0.8], [0.1, 0.4, 0.7], [0.3, 0.6, 0.9], 0, 2),
        ([0.2, 0.5, 0.6], [0.1, 0.4, 0.5], [0.3, 0.6, 0.7], 0, None),
        ([0.2, 0.2, 0.8], [0.1, 0.1, 0.7], [0.3, 0.3, 0.9], None, 2),
        ([1.0, 1.0, 1.0], [0.7, 0.8, 0.9], [1.0, 1.0, 1.0], None, None),
        ([0.2, None, 0.8], [0.1, None, 0.7], [0.3, None, 0.9], 0, 2),
        ([0.2, 0.9, 0.8], [0.1, None, 0.7], [0.3, None, 0.9], None, None),
        ([0.2, 0.9], [0.2, 0.9], [0.2, 0.9], None, None),
        ([0.2], [0.1], [0.3], None, None),
        ([], [], [], None, None),
    ],
    ids=["clear", "one end", "other end", "unanimous", "undefined one", "no interval", "no width", "one", "none"],
)
def test_clearly_least_differs_from_every_other_estimate(value, low, high, least, most):
    assert clearly_least(value, low, high) == least
    assert clearly_most(value, low, high) == most


def test_differences_are_judged_by_the_arms_that_face():
    """√(0.1² + 0.1²) = 0.141: intervals overlap by 0.04, and the difference of 0.15 leaves out 0."""
    assert clearly_least([0.40, 0.55], [0.1, 0.45], [0.5, 0.95]) == 0
    assert clearly_least([0.40, 0.54], [0.1, 0.44], [0.5, 0.95]) is None


@pytest.mark.parametrize("ask", [clearly_least, clearly_most])
@pytest.mark.parametrize(("k", "n", "p"), [(2, 20, 0.5), (2, 200, 0.9), (3, 30, 0.8), (10, 50, 0.5)])
def test_equal_shares_have_a_least_in_at_most_five_percent(ask, k, n, p):
    rng, n_sets = np.random.default_rng(1), 1000
    named = sum(ask(*equal_estimates.shares(rng, k, n, p)) is not None for _ in range(n_sets))
    assert named <= binom.ppf(0.999, n_sets, 0.05)


def test_equal_raters_agree_least_in_at_most_five_percent():
    rng, n_sets = np.random.default_rng(2), 150
    makes = (equal_estimates.agreement_of_raters, equal_estimates.agreement_by_class)
    for make in makes:
        named = sum(clearly_least(*make(rng, 4, 60, 3)) is not None for _ in range(n_sets))
        assert named <= binom.ppf(0.999, n_sets, 0.05)


@pytest.mark.parametrize(("k", "n"), [(2, 100), (3, 60), (8, 200)])
def test_equal_classes_lead_in_at_most_five_percent(k, n):
    n_sets = 1000
    assert equal_estimates.commonest(np.random.default_rng(3), k, n, n_sets) <= binom.ppf(0.999, n_sets, 0.05) / n_sets


def test_most_cases_is_a_binomial_test_of_two_classes():
    for a, b in ((9, 1), (10, 2), (8, 2), (60, 40), (61, 39)):
        share = np.array([b, a, 1]) / (a + b + 5)
        expected = 1 if binomtest(a, a + b).pvalue <= 0.05 else None
        assert clearly_most_cases(share, a + b + 5) == expected
    assert clearly_most_cases([1.0], 4) == 0
    assert clearly_most_cases([0.5, 0.5], 1000) is None


def test_largest_and_smallest_of_many_differ_by_more_than_two():
    value = np.linspace(0.4, 0.6, 20)
    assert not clearly_apart(value, value - 0.1, value + 0.1)  # two of them alone would
    assert clearly_apart(value[[0, -1]], value[[0, -1]] - 0.1, value[[0, -1]] + 0.1)
    assert clearly_apart([0.2, 0.9, 0.5], [0.1, 0.8, 0.4], [0.3, 1.0, 0.6])
    assert not clearly_apart([0.2], [0.1], [0.3])


@pytest.mark.parametrize("n", [2, 3, 12, 100])
def test_arms_are_widened_as_for_the_range_of_so_many_estimates(n):
    """By scipy's studentised range; three equal estimates differ in 5% of draws."""
    expected = studentized_range.ppf(0.95, n, np.inf) / np.sqrt(2) / 1.959963985
    value = np.zeros(n)
    for more, apart in ((0.99, False), (1.01, True)):
        value[-1] = more * expected * np.sqrt(2)
        assert clearly_apart(value, value - 1, value + 1) == apart
