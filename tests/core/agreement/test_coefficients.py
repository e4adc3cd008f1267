"""Percent agreement, Fleiss' kappa and nominal alpha against published values and slow references."""

import tracemalloc
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from core.agreement.coefficients import agreement_table, fleiss_kappa, percent_agreement
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.probability import SPA_WEIGHTINGS, spa
from core.annotations.counts import ClassCounts, class_counts

COEFFICIENTS = (percent_agreement, fleiss_kappa, krippendorff_alpha)


def counts_of(cases, n_classes):
    """ClassCounts from one list of answers per case."""
    ptr, codes, counts = [0], [], []
    for answers in cases:
        for code, count in sorted(Counter(answers).items()):
            codes.append(code)
            counts.append(count)
        ptr.append(len(codes))
    return ClassCounts(np.array(ptr, np.int64), np.array(codes, np.int32), np.array(counts, np.int64), n_classes)


def by_raters(table, first=1):
    """Answers per case from one string per rater, a dot where the rater gave none."""
    rows = [row.split() for row in table]
    return [[int(row[i]) - first for row in rows if row[i] != "."] for i in range(len(rows[0]))]


GWET = by_raters(
    (
        "1 2 3 3 2 1 4 1 2 . . .",
        "1 2 3 3 2 2 4 1 2 5 . .",
        ". 3 3 3 2 3 4 2 2 5 1 3",
        "1 2 3 3 2 4 4 1 2 5 1 .",
    )
)
KRIPPENDORFF = by_raters(
    (
        ". . . . . 3 4 1 2 1 1 3 3 . 3",
        "1 . 2 1 3 3 4 3 . . . . . . .",
        ". . 2 1 3 4 4 . 2 1 1 3 3 . 4",
    )
)
COUNTS_OF_FLEISS = (
    "00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031 00501 30012 51000 "
    "02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"
)
FLEISS = [[code for code, times in enumerate(row) for _ in range(int(times))] for row in COUNTS_OF_FLEISS.split()]


def random_cases(seed, n_cases=40, n_classes=4, most=6):
    """Ragged answers, some cases with none or one, raters who often agree."""
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(n_cases):
        truth = rng.integers(n_classes)
        size = rng.integers(0, most + 1)
        cases.append([int(truth) if rng.random() < 0.6 else int(rng.integers(n_classes)) for _ in range(size)])
    return cases


def slow_percent(cases):
    per_case = []
    for answers in cases:
        if len(answers) >= 2:
            pairs = list(permutations(answers, 2))
            per_case.append(sum(a == b for a, b in pairs) / len(pairs))
    return sum(per_case) / len(per_case)


def slow_fleiss(cases, n_classes):
    rated = [answers for answers in cases if answers]
    shares = [sum(answers.count(k) / len(answers) for answers in rated) / len(rated) for k in range(n_classes)]
    chance = sum(share * share for share in shares)
    return (slow_percent(cases) - chance) / (1 - chance)


def slow_alpha(cases, n_classes):
    """Krippendorff's coincidence matrix, pair by pair."""
    coincidence = np.zeros((n_classes, n_classes))
    for answers in cases:
        if len(answers) >= 2:
            for a, b in permutations(answers, 2):
                coincidence[a, b] += 1 / (len(answers) - 1)
    margin = coincidence.sum(axis=1)
    total = margin.sum()
    observed = expected = 0.0
    for a in range(n_classes):
        for b in range(n_classes):
            if a != b:
                observed += coincidence[a, b] / total
                expected += margin[a] * margin[b] / (total * (total - 1))
    return 1 - observed / expected


def slow_gwet_variance(cases, n_classes, chance_corrected):
    """Gwet's variance of percent agreement or Fleiss' kappa, case by case; and its cases."""
    rated = [answers for answers in cases if answers]
    n, n_paired = len(rated), sum(len(answers) >= 2 for answers in rated)
    pi = [sum(answers.count(k) / len(answers) for answers in rated) / n for k in range(n_classes)]
    p_e = sum(p * p for p in pi) if chance_corrected else 0.0
    kappa = (slow_percent(cases) - p_e) / (1 - p_e)
    total = 0.0
    for answers in rated:
        own = 0.0
        if len(answers) >= 2:
            own = n / n_paired * (slow_percent([answers]) - p_e) / (1 - p_e)
        if chance_corrected:
            p_ei = sum(answers.count(k) / len(answers) * pi[k] for k in range(n_classes))
            own -= 2 * (1 - kappa) * (p_ei - p_e) / (1 - p_e)
        total += (own - kappa) ** 2
    return total / (n * (n - 1)), n


def slow_alpha_variance(cases, n_classes):
    paired = [answers for answers in cases if len(answers) >= 2]
    m, total = len(paired), sum(map(len, paired))
    mean_n, epsilon = total / m, 1 / total
    pi = [sum(answers.count(k) for answers in paired) / total for k in range(n_classes)]
    p_e = sum(p * p for p in pi)
    own = [
        sum(answers.count(k) * (answers.count(k) - 1) for k in range(n_classes)) / (mean_n * (len(answers) - 1))
        for answers in paired
    ]
    p_mean = sum(own) / m
    p_a = (1 - epsilon) * p_mean + epsilon
    centre = (p_mean - p_e) / (1 - p_e)
    variance = 0.0
    for answers, p_ai in zip(paired, own, strict=True):
        excess = (len(answers) - mean_n) / mean_n
        kappa_i = (p_ai - p_a * excess - p_e) / (1 - p_e)
        p_ei = sum(answers.count(k) * pi[k] for k in range(n_classes)) / mean_n - p_e * excess
        variance += (kappa_i - 2 * (1 - centre) * (p_ei - p_e) / (1 - p_e) - centre) ** 2
    return variance / (m * (m - 1)), m


def test_percent_agreement_of_gwets_twelve_units_is_as_published():
    """irrCAC: .81818, SE .12561, 95 % interval .542 to 1."""
    found = percent_agreement(counts_of(GWET, 5))
    assert found.value == pytest.approx(0.818182, abs=5e-7)
    assert found.se == pytest.approx(0.12561, abs=5e-6)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.542, abs=5e-4), 1)
    assert (found.name, found.n_cases, found.n_annotations) == ("percent", 11, 40)


def test_fleiss_kappa_of_gwets_twelve_units_is_as_published():
    """irrCAC: .76117, SE .15302, 95 % interval .424 to 1."""
    found = fleiss_kappa(counts_of(GWET, 5))
    assert found.value == pytest.approx(0.76117, abs=5e-6)
    assert found.se == pytest.approx(0.15302, abs=5e-6)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.424, abs=5e-4), 1)
    assert (found.name, found.n_cases) == ("fleiss_kappa", 11)


def test_alpha_of_gwets_twelve_units_is_as_published_with_the_linearised_error():
    """irrCAC prints .74342; by the linearisation SE .1455739 and the lower end .4191."""
    found = krippendorff_alpha(counts_of(GWET, 5))
    assert found.value == pytest.approx(0.74342, abs=5e-6)
    assert found.se == pytest.approx(0.1455739, abs=5e-8)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.4191, abs=5e-5), 1)
    assert (found.name, found.weights, found.n_cases) == ("krippendorff_alpha", "nominal", 11)


def test_alpha_of_krippendorffs_fifteen_units_is_as_published():
    """The sample of fast-krippendorff: .691."""
    assert krippendorff_alpha(counts_of(KRIPPENDORFF, 4)).value == pytest.approx(0.691, abs=5e-4)


def test_fleiss_thirty_patients_give_the_published_kappa():
    """Fleiss 1971: .4302445 (SE .0542, interval .319 to .541), and alpha .43341."""
    counts = counts_of(FLEISS, 5)
    kappa = fleiss_kappa(counts)
    assert [int(counts.count[counts.class_code == k].sum()) for k in range(5)] == [26, 26, 30, 55, 43]
    assert kappa.value == pytest.approx(0.4302445, abs=5e-8)
    assert kappa.se == pytest.approx(0.0542, abs=5e-5)
    assert kappa.ci_low == pytest.approx(0.319, abs=5e-4)
    assert kappa.ci_high == pytest.approx(0.541, abs=5e-4)
    assert krippendorff_alpha(counts).value == pytest.approx(0.43341, abs=5e-6)


def test_percent_agreement_of_two_abstractors_is_as_published_with_the_divisor_n_minus_one():
    """The 3 × 3 table of two abstractors: .89, SE .0314466 (.03128898 with the divisor n²)."""
    table = ((13, 0, 0), (0, 20, 7), (0, 4, 56))
    cases = [[a, b] for a in range(3) for b in range(3) for _ in range(table[a][b])]
    found = percent_agreement(counts_of(cases, 3))
    assert found.value == pytest.approx(0.89, abs=1e-12)
    assert found.se == pytest.approx(0.03144660, abs=5e-9)
    assert found.se * np.sqrt(99 / 100) == pytest.approx(0.03128898, abs=5e-9)


@pytest.mark.parametrize(
    ("cases", "n_classes", "alpha"),
    [
        ([[0, 1], [1, 0]], 2, -0.5),
        ([[0, 0], [1, 1], [0, 1]], 2, 4 / 9),
        ([[2] * 5] * 4 + [[2, 2, 2, 2, 0]], 3, 0.0),
    ],
    ids=["AB and BA", "three tasks by two workers", "twenty-four 3s and a 1"],
)
def test_alpha_of_tiny_tables_is_what_hand_calculation_gives(cases, n_classes, alpha):
    assert krippendorff_alpha(counts_of(cases, n_classes)).value == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha])
def test_one_class_only_leaves_chance_correction_undefined_and_says_that_raw_agreement_is_1(coefficient):
    counts = counts_of([[1, 1], [1, 1, 1]], 3)
    found = coefficient(counts)
    assert found.value is None and found.se is None and found.ci_low is None
    assert "undefined" in found.note and "raw agreement is 1" in found.note
    assert percent_agreement(counts).value == 1


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, spa])
def test_without_a_pair_of_annotations_nothing_is_defined_and_the_note_says_why(coefficient):
    for cases in ([[0], [1], [2]], [[], []], [[], [2]]):
        found = coefficient(counts_of(cases, 3))
        assert found.value is None and found.ci_high is None
        assert "no case has two annotations" in found.note
        assert found.n_cases == 0


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, spa])
def test_one_case_gives_a_value_without_an_interval(coefficient):
    found = coefficient(counts_of([[0, 1, 1]], 2))
    assert found.value is not None and np.isfinite(found.value)
    assert found.se is None and found.ci_low is None and found.ci_high is None
    assert "only one case" in found.note


@pytest.mark.parametrize("seed", range(12))
def test_values_equal_the_references_that_walk_through_every_pair(seed):
    cases = random_cases(seed)
    counts = counts_of(cases, 4)
    assert percent_agreement(counts).value == pytest.approx(slow_percent(cases), abs=1e-12)
    assert fleiss_kappa(counts).value == pytest.approx(slow_fleiss(cases, 4), abs=1e-12)
    assert krippendorff_alpha(counts).value == pytest.approx(slow_alpha(cases, 4), abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_errors_and_intervals_equal_the_references_that_walk_through_every_case(seed, level):
    cases = random_cases(seed)
    counts = counts_of(cases, 4)
    for coefficient, (variance, n) in (
        (percent_agreement, slow_gwet_variance(cases, 4, False)),
        (fleiss_kappa, slow_gwet_variance(cases, 4, True)),
        (krippendorff_alpha, slow_alpha_variance(cases, 4)),
    ):
        found = coefficient(counts, level)
        half = student.ppf((1 + level) / 2, n - 1) * np.sqrt(variance)
        assert found.se == pytest.approx(np.sqrt(variance), abs=1e-12)
        assert found.ci_low == pytest.approx(found.value - half, abs=1e-9)
        assert found.ci_high == pytest.approx(min(1, found.value + half), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_linearised_errors_approach_the_jackknife_of_the_value(seed, coefficient):
    """Both estimate the same variance; they differ in terms of order 1/n, here about 1/280.

    Cases with one annotation are left out: Gwet's formula takes their share as fixed, the jackknife does not.
    """
    rated = [case for case in random_cases(seed, n_cases=400) if len(case) >= 2]
    whole = coefficient(counts_of(rated, 4))
    without = [coefficient(counts_of(rated[:i] + rated[i + 1 :], 4)).value for i in range(len(rated))]
    n = len(rated)
    jackknife = np.sqrt((n - 1) / n * sum((value - np.mean(without)) ** 2 for value in without))
    assert whole.se == pytest.approx(jackknife, rel=10 / n)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=15))
def test_no_data_give_nan_or_a_value_without_its_reason(cases):
    counts = counts_of(cases, 4)
    found = [
        *agreement_table(counts, spa_weightings=SPA_WEIGHTINGS),
    ]
    for coefficient in found:
        numbers = [coefficient.value, coefficient.se, coefficient.ci_low, coefficient.ci_high]
        assert all(number is None or np.isfinite(number) for number in numbers)
        assert coefficient.value is None or coefficient.value <= 1
        assert coefficient.note or None not in numbers
        if coefficient.ci_low is not None:
            assert coefficient.ci_low <= coefficient.value + 1e-12
            assert coefficient.value <= coefficient.ci_high + 1e-12


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=2, max_size=15),
    st.permutations(range(4)),
    st.randoms(use_true_random=False),
)
def test_order_of_cases_and_names_of_classes_change_nothing(cases, names, random):
    shuffled = [[names[answer] for answer in case] for case in cases]
    random.shuffle(shuffled)
    for plain, other in zip(
        agreement_table(counts_of(cases, 4), spa_weightings=SPA_WEIGHTINGS),
        agreement_table(counts_of(shuffled, 4), spa_weightings=SPA_WEIGHTINGS),
        strict=True,
    ):
        for field in ("value", "ci_low", "ci_high"):
            assert getattr(plain, field) == pytest.approx(getattr(other, field), abs=1e-9)
        assert (plain.n_cases, plain.note) == (other.n_cases, other.note)


def test_names_and_order_of_raters_change_nothing(build):
    rng = np.random.default_rng(7)
    rows = [(case, rater, int(rng.integers(3))) for case in range(20) for rater in range(5) if rng.random() < 0.6]
    name = rng.permutation(5)
    renamed = [(case, int(name[rater]), answer) for case, rater, answer in rows]
    shuffled = [renamed[i] for i in rng.permutation(len(renamed))]
    plain = agreement_table(class_counts(build(rows, 3, 20)), spa_weightings=SPA_WEIGHTINGS)
    assert plain == agreement_table(class_counts(build(shuffled, 3, 20)), spa_weightings=SPA_WEIGHTINGS)


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, spa])
def test_errors_fall_with_the_square_root_of_the_number_of_cases(coefficient):
    """Nine copies of the data: a third of the error, but for the divisors n − 1 and the correction of alpha."""
    cases = random_cases(3, n_cases=300)
    once, nine = coefficient(counts_of(cases, 4)), coefficient(counts_of(cases * 9, 4))
    assert nine.se == pytest.approx(once.se / 3, rel=0.01)
    assert nine.value == pytest.approx(once.value, abs=1 / sum(map(len, cases)))


@pytest.mark.parametrize("coefficient", [*COEFFICIENTS, spa])
def test_unused_classes_change_nothing(coefficient):
    assert coefficient(counts_of(GWET, 5)) == coefficient(counts_of(GWET, 50))


def test_fifty_thousand_classes_need_no_table_of_classes_by_classes():
    counts = counts_of([[2 * i, 2 * i, 2 * i + 1] for i in range(1000)], 50_000)
    tracemalloc.start()
    found = agreement_table(counts, spa_weightings=SPA_WEIGHTINGS)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[0].value == pytest.approx(1 / 3)
    assert peak < 50_000 * 8 * 20


def test_fewer_than_twenty_cases_are_remarked_on():
    assert "few cases" in krippendorff_alpha(counts_of(GWET, 5)).note
    assert krippendorff_alpha(counts_of(FLEISS, 5)).note == ""


def test_the_table_lists_percent_the_asked_for_weightings_fleiss_and_alpha():
    found = agreement_table(counts_of(GWET, 5), spa_weightings=("flat", "edges"))
    assert [(one.name, one.weights) for one in found] == [
        ("percent", "identity"),
        ("spa", "flat"),
        ("spa", "edges"),
        ("fleiss_kappa", "identity"),
        ("krippendorff_alpha", "nominal"),
    ]
