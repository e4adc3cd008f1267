"""A least or a most is named only where it differs clearly from every other estimate."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, studentized_range

from core.extremes import clearly_apart, clearly_least, clearly_most, clearly_most_cases
from tests.benchmarks import equal_estimates


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
def test_clearly_least_and_most_name_what_differs_from_every_other_estimate(value, low, high, least, most):
    assert clearly_least(value, low, high) == least
    assert clearly_most(value, low, high) == most


def test_the_difference_is_judged_by_the_arms_that_face_each_other():
    """√(0.1² + 0.1²) = 0.141: intervals overlap by 0.04, and the difference of 0.15 leaves out 0."""
    assert clearly_least([0.40, 0.55], [0.1, 0.45], [0.5, 0.95]) == 0
    assert clearly_least([0.40, 0.54], [0.1, 0.44], [0.5, 0.95]) is None


@pytest.mark.parametrize("ask", [clearly_least, clearly_most])
@pytest.mark.parametrize(("k", "n", "p"), [(2, 20, 0.5), (2, 200, 0.9), (3, 30, 0.8), (10, 50, 0.5)])
def test_equal_shares_have_a_least_or_a_most_in_at_most_five_percent_of_data(ask, k, n, p):
    rng, n_sets = np.random.default_rng(1), 1000
    named = sum(ask(*equal_estimates.shares(rng, k, n, p)) is not None for _ in range(n_sets))
    assert named <= binom.ppf(0.999, n_sets, 0.05)


def test_equal_raters_agree_least_with_the_others_in_at_most_five_percent_of_panels():
    rng, n_sets = np.random.default_rng(2), 150
    makes = (equal_estimates.agreement_of_raters, equal_estimates.agreement_by_class)
    for make in makes:
        named = sum(clearly_least(*make(rng, 4, 60, 3)) is not None for _ in range(n_sets))
        assert named <= binom.ppf(0.999, n_sets, 0.05)


@pytest.mark.parametrize(("k", "n"), [(2, 100), (3, 60), (8, 200)])
def test_of_equally_common_classes_one_is_the_most_common_in_at_most_five_percent_of_data(k, n):
    n_sets = 1000
    assert equal_estimates.commonest(np.random.default_rng(3), k, n, n_sets) <= binom.ppf(0.999, n_sets, 0.05) / n_sets


def test_most_cases_is_the_binomial_test_of_the_two_commonest_classes():
    for a, b in ((9, 1), (10, 2), (8, 2), (60, 40), (61, 39)):
        share = np.array([b, a, 1]) / (a + b + 5)
        expected = 1 if binomtest(a, a + b).pvalue <= 0.05 else None
        assert clearly_most_cases(share, a + b + 5) == expected
    assert clearly_most_cases([1.0], 4) == 0
    assert clearly_most_cases([0.5, 0.5], 1000) is None


def test_the_largest_and_the_smallest_of_many_differ_only_beyond_what_any_two_do():
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
