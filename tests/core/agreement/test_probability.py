"""Sparse probability of agreement against enumeration, literal deletion of cases, and the paper."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from scipy.stats import t as student

from core.agreement.intervals import wilson
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.probability import SPA_WEIGHTINGS, agreement_variance, case_agreement, spa
from core.annotations.counts import ClassCounts


def counts_of(cases, n_classes):
    ptr, codes, counts = [0], [], []
    for answers in cases:
        for code, count in sorted(Counter(answers).items()):
            codes.append(code)
            counts.append(count)
        ptr.append(len(codes))
    return ClassCounts(np.array(ptr, np.int64), np.array(codes, np.int32), np.array(counts, np.int64), n_classes)


def random_cases(seed, n_classes, n_cases=25, most=6):
    rng = np.random.default_rng(seed)
    lean = rng.dirichlet(np.ones(n_classes))
    return [
        [int(answer) for answer in rng.choice(n_classes, size=rng.integers(0, most + 1), p=lean)]
        for _ in range(n_cases)
    ]


def agreement_of(answers):
    pairs = list(permutations(answers, 2))
    return sum(a == b for a, b in pairs) / len(pairs)


def enumerated_variance(n, p):
    """Variance of the agreement of n independent annotations with class probabilities p, over all len(p)^n outcomes."""
    mean = square = 0.0
    for answers in product(range(len(p)), repeat=n):
        chance = float(np.prod([p[a] for a in answers]))
        agreement = agreement_of(answers)
        mean += chance * agreement
        square += chance * agreement**2
    return square - mean**2


def pooled_distribution(cases, n_classes):
    paired = [answer for answers in cases if len(answers) >= 2 for answer in answers]
    return [paired.count(k) / len(paired) for k in range(n_classes)]


def slow_weights(cases, weighting, n_classes):
    """Weights of the cases with a pair; the two inverse variances by enumeration of every outcome."""
    sizes = [len(answers) for answers in cases if len(answers) >= 2]
    p = {"inv_var": [1 / n_classes] * n_classes, "inv_var_class": pooled_distribution(cases, n_classes)}
    if weighting in p:
        variance = {n: enumerated_variance(n, p[weighting]) for n in set(sizes)}
        return [1 / variance[n] for n in sizes]
    return [{"flat": 1, "annotations": n, "annotations_m1": n - 1, "edges": n * (n - 1) / 2}[weighting] for n in sizes]


def slow_spa(agreements, weights):
    return sum(w * a for w, a in zip(weights, agreements, strict=True)) / sum(weights)


def test_eleven_annotators_on_four_colours_agree_with_probability_14_of_55():
    """The first figure of the paper: colours named 5, 3, 2 and 1 times."""
    counts = counts_of([[0] * 5 + [1] * 3 + [2] * 2 + [3]], 4)
    agreement, answers = case_agreement(counts)
    assert agreement[0] == pytest.approx(float(Fraction(14, 55)), abs=1e-15)
    assert answers[0] == 11
    assert spa(counts).value == pytest.approx(14 / 55, abs=1e-15)


def test_agreement_of_a_case_is_the_share_of_equal_pairs_and_nan_without_a_pair():
    cases = random_cases(1, 4)
    agreement, answers = case_agreement(counts_of(cases, 4))
    for case, found, n in zip(cases, agreement, answers, strict=True):
        assert n == len(case)
        assert np.isnan(found) if len(case) < 2 else found == pytest.approx(agreement_of(case), abs=1e-15)


@pytest.mark.parametrize("case", [[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1], [0, 1, 2, 3], [0, 0, 0]])
def test_removing_annotations_leaves_the_expected_agreement_of_a_case_as_it_was(case):
    """Sections 4.1.1 and 4.2 of the paper, over all subsets of each size down to two annotations."""
    for size in range(2, len(case) + 1):
        left = list(combinations(case, size))
        agreement, _ = case_agreement(counts_of(left, 4))
        assert agreement.mean() == pytest.approx(agreement_of(case), abs=1e-12)


def test_annotations_less_one_vary_less_than_flat_weights_and_more_annotations_vary_less():
    """The direction of table 1 and of figures 6 to 9: cases lose annotations at random, as in the paper."""
    rng = np.random.default_rng(1)
    answers = (rng.random((150, 10)) < rng.beta(2, 1, (150, 1))).astype(int)
    variance = {}
    for keep in (0.3, 0.6):
        found = {"flat": [], "annotations_m1": []}
        for _ in range(300):
            seen = rng.random(answers.shape) < keep
            counts = counts_of([list(row[own]) for row, own in zip(answers, seen, strict=True)], 2)
            for name, values in found.items():
                values.append(spa(counts, name).value)
        variance[keep] = {name: np.var(values) for name, values in found.items()}
    for keep in (0.3, 0.6):
        assert variance[keep]["annotations_m1"] < variance[keep]["flat"]
    assert variance[0.6]["flat"] < variance[0.3]["flat"] / 2


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("weighting", SPA_WEIGHTINGS)
def test_every_weighting_is_the_weighted_mean_with_enumerated_variances(weighting, n_classes):
    cases = random_cases(n_classes, n_classes)
    agreements = [agreement_of(answers) for answers in cases if len(answers) >= 2]
    expected = slow_spa(agreements, slow_weights(cases, weighting, n_classes))
    assert spa(counts_of(cases, n_classes), weighting).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("p", [(0.5, 0.5), (0.9, 0.1), (0.2, 0.3, 0.5), (0.7, 0.1, 0.1, 0.1), (1 / 3,) * 3])
def test_the_closed_form_of_the_variance_is_that_of_all_outcomes(p):
    found = agreement_variance(np.arange(2, 7), np.array(p))
    assert found == pytest.approx([enumerated_variance(n, p) for n in range(2, 7)], abs=1e-12)


def equation_20(n, n_classes, times):
    """Equations 20 and 21 of the paper, with ``times`` for the power of 2 that belongs to n0 and n1."""
    total, c = 0.0, n_classes
    for n0 in range(n + 1):
        for n1 in range(min(n0, n - n0) + 1):
            ways = times(n0, n1) * comb(n, n0) * comb(n - n0, n1) * c * (c - 1) * (c - 2) ** (n - n0 - n1)
            total += ways * n0 * n1 * (n0 - 1) * (n1 - 1)
        total += comb(n, n0) * c * (c - 1) ** (n - n0) * n0**2 * (n0 - 1) ** 2
    return total / (4 * comb(n, 2) ** 2 * c**n) - 1 / c**2


def equation_50(n, p, n_pairs):
    """Equation 50 of the paper; equation 22 is the same with ``n_pairs`` of 1."""
    total = 0.0
    for c, p_c in enumerate(p):
        for n_c in range(n + 1):
            total += comb(n, n_c) * p_c**n_c * (1 - p_c) ** (n - n_c) * n_c**2 * (n_c - 1) ** 2
            for d, p_d in enumerate(p):
                for n_d in range(n - n_c + 1) if c != d else ():
                    rest = max(0.0, 1 - p_c - p_d) ** (n - n_c - n_d)
                    chance = comb(n, n_c) * comb(n - n_c, n_d) * p_c**n_c * p_d**n_d * rest
                    total += chance * n_c * n_d * (n_c - 1) * (n_d - 1)
    return total / (4 * n_pairs**2) - sum(x * x for x in p) ** 2


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_equation_21_as_printed_doubles_the_wrong_terms(n_classes):
    """With 2 to the power of [n0 = n1] the variance is wrong from 4 annotations on; with [n0 ≠ n1] it is right.

    For 5 and 6 annotations of 3 classes the terms that are doubled equal those that should be, by coincidence.
    """
    for n in range(2, 7):
        exact = enumerated_variance(n, [1 / n_classes] * n_classes)
        assert equation_20(n, n_classes, lambda a, b: 2 ** (a != b)) == pytest.approx(exact, abs=1e-12)
        printed = equation_20(n, n_classes, lambda a, b: 2 ** (a == b))
        assert (abs(printed - exact) > 1e-4) == (n >= 4 and (n, n_classes) not in ((5, 3), (6, 3)))


def test_equation_21_as_printed_gives_a_negative_variance_for_ten_annotations_of_three_classes():
    """−0.0047 where the exact variance is 0.00494."""
    assert equation_20(10, 3, lambda a, b: 2 ** (a == b)) == pytest.approx(-0.0047, abs=5e-5)
    assert equation_20(10, 3, lambda a, b: 2 ** (a != b)) == pytest.approx(0.00494, abs=5e-6)
    assert agreement_variance(10, np.full(3, 1 / 3)) == pytest.approx(0.00494, abs=5e-6)


@pytest.mark.parametrize("p", [(0.5, 0.5), (0.9, 0.1), (0.2, 0.3, 0.5), (0.7, 0.1, 0.1, 0.1)])
def test_equation_22_as_printed_lacks_the_squared_number_of_pairs(p):
    """It is right for 2 annotations alone, where there is one pair."""
    for n in range(2, 7):
        exact = enumerated_variance(n, p)
        assert equation_50(n, p, comb(n, 2)) == pytest.approx(exact, abs=1e-12)
        assert (abs(equation_50(n, p, 1) - exact) > 0.1) == (n > 2)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_inverse_variance_under_uniform_classes_is_the_number_of_pairs(n_classes):
    scale = [1 / enumerated_variance(n, [1 / n_classes] * n_classes) / (n * (n - 1)) for n in range(2, 7)]
    assert scale == pytest.approx([scale[0]] * 5, rel=1e-10)
    counts = counts_of(random_cases(5, n_classes), n_classes)
    assert spa(counts, "inv_var").value == spa(counts, "edges").value


@pytest.mark.parametrize("seed", range(8))
def test_weighted_by_annotations_it_is_one_minus_the_observed_disagreement_of_alpha(seed):
    """Observed disagreement from alpha itself: (1 − α) D_e with Krippendorff's D_e."""
    cases = random_cases(seed, 3)
    counts = counts_of(cases, 3)
    paired = [answer for answers in cases if len(answers) >= 2 for answer in answers]
    total = len(paired)
    same = sum(paired.count(k) * (paired.count(k) - 1) for k in range(3))
    expected = 1 - same / (total * (total - 1))
    observed = (1 - krippendorff_alpha(counts).value) * expected
    assert spa(counts, "annotations").value == pytest.approx(1 - observed, abs=1e-12)


@pytest.mark.parametrize("weighting", SPA_WEIGHTINGS)
@pytest.mark.parametrize("seed", range(4))
def test_the_error_is_the_jackknife_of_deleting_every_case_in_turn(weighting, seed):
    """Deviations are taken from the full estimate; weights stay those of the whole data."""
    cases = random_cases(seed, 3)
    agreements = [agreement_of(answers) for answers in cases if len(answers) >= 2]
    weights = slow_weights(cases, weighting, 3)
    whole, m = slow_spa(agreements, weights), len(agreements)
    squares = 0.0
    for i in range(m):
        squares += (slow_spa(agreements[:i] + agreements[i + 1 :], weights[:i] + weights[i + 1 :]) - whole) ** 2
    found = spa(counts_of(cases, 3), weighting)
    assert found.se == pytest.approx(np.sqrt((m - 1) / m * squares), rel=1e-9)
    assert (found.n_cases, found.n_annotations) == (m, sum(len(case) for case in cases if len(case) >= 2))


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_the_interval_is_wilsons_on_the_effective_number_of_cases(level):
    """Its ends solve (p − x)² = t² x (1 − x) / n_eff, which is what Wilson inverts."""
    found = spa(counts_of(random_cases(2, 3), 3), "flat", level)
    t = student.ppf((1 + level) / 2, found.n_cases - 1)
    n_eff = found.value * (1 - found.value) / found.se**2
    for end in (found.ci_low, found.ci_high):
        assert (found.value - end) ** 2 == pytest.approx(t**2 * end * (1 - end) / n_eff, rel=1e-9)
    assert found.ci_low < found.value < found.ci_high


def test_wilsons_interval_of_no_and_of_every_success_is_the_closed_form():
    """With p = 0 the ends are 0 and t² / (n + t²)."""
    assert wilson(0.0, 10, 2.0) == pytest.approx((0.0, 4 / 14))
    assert wilson(1.0, 10, 2.0) == pytest.approx((10 / 14, 1.0))


@pytest.mark.parametrize("weighting", SPA_WEIGHTINGS)
@pytest.mark.parametrize("case", [[0, 0, 0], [0, 0, 1]], ids=["all agree", "a third of the pairs"])
def test_cases_that_agree_alike_have_no_error_and_kishs_effective_cases_whatever_their_number(weighting, case):
    """Rounding must not pass for a tiny error: that would give an interval without width."""
    for m in (2, 3, 7, 49, 59, 100):
        found = spa(counts_of([case] * m, 2), weighting)
        p = agreement_of(case)
        t = student.ppf(0.975, m - 1)
        assert found.se == 0
        assert found.value == pytest.approx(p, abs=1e-15)
        low, high = wilson(p, m, t)  # of three annotations and two classes one pair agrees at least
        assert (found.ci_low, found.ci_high) == pytest.approx((max(low, 1 / 3), high), abs=1e-9)
        assert found.ci_low < p - 1e-3 or p == pytest.approx(1 / 3)
        assert found.ci_high > p + 1e-3 or p == 1


def test_every_pair_disagreeing_gives_zero_with_an_interval_above_it():
    found = spa(counts_of([[0, 1], [1, 2], [0, 2]], 3))
    assert (found.value, found.se) == (0, 0)
    assert found.ci_low == pytest.approx(0, abs=1e-12)
    assert 0 < found.ci_high < 1


def test_an_unknown_weighting_is_refused_by_name():
    with pytest.raises(ValueError, match="'heavy'"):
        spa(counts_of([[0, 0]], 2), "heavy")
