"""Specific agreement against pairs of annotations, literal deletion of cases and the percent that it averages to."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import t as student

from core.agreement.intervals import wilson
from core.agreement.probability import spa
from core.agreement.specific import specific_agreement
from tests.core.agreement.examples import counts_of, random_cases


def pairs_of(answers, k):
    """Ordered pairs that begin with class k, and how many of them end with it."""
    mine = [b == k for a, b in permutations(answers, 2) if a == k]
    return len(mine), sum(mine)


def slow_specific(cases, k):
    counted = [pairs_of(answers, k) for answers in cases]
    return sum(same for _, same in counted) / sum(n for n, _ in counted)


def slow_error(cases, k):
    """Deleting each case that has the class, deviations from the full estimate; and how many cases those are."""
    having = [answers for answers in cases if pairs_of(answers, k)[0]]
    whole, m = slow_specific(having, k), len(having)
    squares = sum((slow_specific(having[:i] + having[i + 1 :], k) - whole) ** 2 for i in range(m))
    return np.sqrt((m - 1) / m * squares), m


@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_share_of_pairs_that_begin_and_end_with_the_class(seed):
    cases = random_cases(seed)
    found = specific_agreement(counts_of(cases, 4))
    for k in range(4):
        error, m = slow_error(cases, k)
        assert found[k].value == pytest.approx(slow_specific(cases, k), abs=1e-12)
        assert found[k].se == pytest.approx(error, abs=1e-9)
        assert found[k].n_cases == m
        assert found[k].n_annotations == sum(case.count(k) for case in cases if len(case) >= 2)


def test_the_interval_is_wilsons_on_the_effective_number_of_cases():
    for found in specific_agreement(counts_of(random_cases(1), 4), 0.9):
        t = student.ppf(0.95, found.n_cases - 1)
        n_eff = found.value * (1 - found.value) / found.se**2
        assert (found.ci_low, found.ci_high) == pytest.approx(wilson(found.value, n_eff, t), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_weighted_by_their_pairs_classes_average_to_the_agreement_of_all_pairs(seed):
    cases = random_cases(seed)
    counts = counts_of(cases, 4)
    weight = [sum(pairs_of(answers, k)[0] for answers in cases) for k in range(4)]
    mean = sum(w * one.value for w, one in zip(weight, specific_agreement(counts), strict=True)) / sum(weight)
    assert mean == pytest.approx(spa(counts, "edges").value, abs=1e-12)


def test_two_raters_give_the_positive_and_negative_agreement_of_a_fourfold_table():
    """2a / (2a + b + c) and 2d / (2d + b + c) with a, b, c, d = 20, 5, 10, 15."""
    cases = [[1, 1]] * 20 + [[1, 0]] * 5 + [[0, 1]] * 10 + [[0, 0]] * 15
    negative, positive = specific_agreement(counts_of(cases, 2))
    assert (negative.value, positive.value) == pytest.approx((30 / 45, 40 / 55), abs=1e-12)


def test_a_class_nobody_could_agree_on_is_undefined_with_the_reason():
    found = specific_agreement(counts_of([[0, 0], [0, 1], [2]], 4))
    for k in (2, 3):
        assert found[k].value is None and found[k].n_cases == 0
        assert "no case with two annotations has this class" in found[k].note


def test_one_case_gives_a_value_without_an_interval():
    found = specific_agreement(counts_of([[0, 0], [0, 0], [0, 1, 1]], 2))[1]
    assert found.value == 0.5 and found.ci_low is None and "only one case" in found.note


@pytest.mark.parametrize("case", [[0, 0, 0], [0, 0, 0, 1]])
def test_cases_that_agree_alike_have_no_error_and_an_interval_with_width(case):
    for m in (2, 7, 49, 100):
        found = specific_agreement(counts_of([case] * m, 2))[0]
        assert found.se == 0
        assert found.ci_high - found.ci_low > 1e-3
