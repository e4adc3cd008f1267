"""Percent agreement, Fleiss, Gwet, Brennan-Prediger and nominal alpha against published values and slow references."""

import tracemalloc
from dataclasses import replace
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from core.agreement.coefficients import (
    agreement_table,
    brennan_prediger,
    fleiss_kappa,
    gwet_ac,
    percent_agreement,
    scott_pi,
)
from core.agreement.krippendorff import METRICS, krippendorff_alpha
from core.agreement.probability import SPA_WEIGHTINGS, spa, spa_corrected
from core.agreement.tables import from_contingency
from core.agreement.weights import WEIGHT_FAMILIES, weight_matrix
from core.annotations.counts import class_counts
from core.errors import InputError, LimitError, NotApplicableError
from tests.core.agreement.examples import (
    FLEISS,
    GWET,
    KRIPPENDORFF,
    answers_of,
    counts_of,
    dataset_of,
    jackknife,
    random_cases,
    random_panel,
)

COEFFICIENTS = (percent_agreement, fleiss_kappa, gwet_ac, brennan_prediger, krippendorff_alpha)
WITH_SPA = (*COEFFICIENTS, spa, spa_corrected)


def slow_percent(cases, w=None):
    per_case = []
    for answers in cases:
        if len(answers) >= 2:
            pairs = list(permutations(answers, 2))
            per_case.append(sum((a == b) if w is None else w[a][b] for a, b in pairs) / len(pairs))
    return sum(per_case) / len(per_case)


def slow_chance(name, cases, w):
    """Agreement by chance and what each case says of it (None where it says nothing), literally as printed."""
    q = len(w)
    rated = [answers for answers in cases if answers]
    shares = [[answers.count(k) / len(answers) for k in range(q)] for answers in rated]
    pi = [sum(share[k] for share in shares) / len(rated) for k in range(q)]
    total = sum(sum(row) for row in w)
    if name == "percent":
        return 0.0, None
    if name == "brennan_prediger":
        return total / q**2, None
    if name == "gwet_ac":
        scale = total / (q * (q - 1))
        chance = scale * sum(p * (1 - p) for p in pi)
        return chance, [scale * sum(share[k] * (1 - pi[k]) for k in range(q)) for share in shares]
    drawn = [sum((w[k][other] + w[other][k]) / 2 * pi[other] for other in range(q)) for k in range(q)]
    chance = sum(pi[k] * w[k][other] * pi[other] for k in range(q) for other in range(q))
    return chance, [sum(share[k] * drawn[k] for k in range(q)) for share in shares]


def slow_gwet(name, cases, w):
    """Gwet's coefficient, its variance and the cases with an annotation, case by case."""
    rated = [answers for answers in cases if answers]
    n, n_paired = len(rated), sum(len(answers) >= 2 for answers in rated)
    p_e, p_ei = slow_chance(name, cases, w)
    kappa = (slow_percent(cases, w) - p_e) / (1 - p_e)
    total = 0.0
    for i, answers in enumerate(rated):
        own = n / n_paired * (slow_percent([answers], w) - p_e) / (1 - p_e) if len(answers) >= 2 else 0.0
        if p_ei is not None:
            own -= 2 * (1 - kappa) * (p_ei[i] - p_e) / (1 - p_e)
        total += (own - kappa) ** 2
    return kappa, total / (n * (n - 1)), n


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
    """irrCAC: 0.81818, SE 0.12561, 95% interval 0.542 to 1."""
    found = percent_agreement(counts_of(GWET, 5))
    assert found.value == pytest.approx(0.818182, abs=5e-7)
    assert found.se == pytest.approx(0.12561, abs=5e-6)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.542, abs=5e-4), 1)
    assert (found.name, found.n_cases, found.n_annotations) == ("percent", 11, 40)


def test_fleiss_kappa_of_gwets_twelve_units_is_as_published():
    """irrCAC: 0.76117, SE 0.15302, 95% interval 0.424 to 1."""
    found = fleiss_kappa(counts_of(GWET, 5))
    assert found.value == pytest.approx(0.76117, abs=5e-6)
    assert found.se == pytest.approx(0.15302, abs=5e-6)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.424, abs=5e-4), 1)
    assert (found.name, found.n_cases) == ("fleiss_kappa", 11)


@pytest.mark.parametrize(
    ("coefficient", "value", "se", "low"),
    [(gwet_ac, 0.77544, 0.14295, 0.461), (brennan_prediger, 0.77273, 0.14472, 0.454)],
)
def test_ac1_and_brennan_prediger_of_gwets_twelve_units_are_as_published(coefficient, value, se, low):
    """irrCAC's documentation."""
    found = coefficient(counts_of(GWET, 5))
    assert (found.value, found.se) == (pytest.approx(value, abs=5e-6), pytest.approx(se, abs=5e-6))
    assert (found.ci_low, found.ci_high) == (pytest.approx(low, abs=5e-4), 1)
    assert (found.weights, found.n_cases, found.n_annotations) == ("identity", 11, 40)


@pytest.mark.parametrize(
    ("coefficient", "weights", "value", "se", "low"),
    [
        (gwet_ac, "quadratic", 0.914, 0.104, 0.685),
        (gwet_ac, "linear", 0.859, 0.117, 0.600),
        (gwet_ac, "ordinal", 0.899, 0.107, 0.664),
        (brennan_prediger, "quadratic", 0.902, 0.111, 0.657),
        (brennan_prediger, "linear", 0.848, 0.123, 0.577),
        (brennan_prediger, "ordinal", 0.886, 0.114, 0.636),
        (brennan_prediger, "radical", 0.813, 0.133, 0.520),
        (brennan_prediger, "ratio", 0.840, 0.132, 0.549),
        (brennan_prediger, "circular", 0.824, 0.137, 0.522),
        (brennan_prediger, "bipolar", 0.888, 0.112, 0.641),
    ],
)
def test_weighted_coefficients_of_gwets_twelve_units_are_as_published(coefficient, weights, value, se, low):
    """irrCAC's documentation, three digits; 0.6004535 is printed there as 0.600."""
    found = coefficient(counts_of(GWET, 5), weights=weights)
    assert (found.value, found.se, found.ci_low) == pytest.approx((value, se, low), abs=5.1e-4)
    assert found.ci_high == 1


def test_ac1_and_brennan_prediger_of_fleiss_thirty_patients_are_as_calculated_before():
    """0.44788 and 0.44444."""
    counts = counts_of(FLEISS, 5)
    assert gwet_ac(counts).value == pytest.approx(0.44788, abs=5e-6)
    assert brennan_prediger(counts).value == pytest.approx(0.44444, abs=5e-6)


@pytest.mark.parametrize(
    ("coefficient", "value", "se"),
    [
        (scott_pi, 0.7962397, 0.05935224),
        (fleiss_kappa, 0.7962397, 0.05935224),
        (gwet_ac, 0.8493305, 0.04343519),
        (brennan_prediger, 0.835, 0.04716991),
        (krippendorff_alpha, 0.7972585, 0.05935224),
    ],
)
def test_coefficients_of_two_abstractors_are_as_published(coefficient, value, se):
    """Gwet's 3 × 3 table; the published errors have the divisor n², ours n (n − 1)."""
    counts = class_counts(from_contingency(((13, 0, 0), (0, 20, 7), (0, 4, 56))))
    found = coefficient(counts)
    assert (found.value, found.se) == (pytest.approx(value, abs=5e-8), pytest.approx(se, abs=5.1e-9))
    assert found.name == coefficient.__name__


def test_alpha_of_gwets_twelve_units_is_as_published_with_the_linearised_error():
    """irrCAC prints 0.74342; by the linearisation SE 0.1455739 and the lower end 0.4191."""
    found = krippendorff_alpha(counts_of(GWET, 5))
    assert found.value == pytest.approx(0.74342, abs=5e-6)
    assert found.se == pytest.approx(0.1455739, abs=5e-8)
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.4191, abs=5e-5), 1)
    assert (found.name, found.weights, found.n_cases) == ("krippendorff_alpha", "nominal", 11)


def test_alpha_of_krippendorffs_fifteen_units_is_as_published():
    """The sample of fast-krippendorff: 0.691."""
    assert krippendorff_alpha(counts_of(KRIPPENDORFF, 4)).value == pytest.approx(0.691, abs=5e-4)


def test_fleiss_thirty_patients_give_the_published_kappa():
    """Fleiss 1971: 0.4302445 (SE 0.0542, interval 0.319 to 0.541), and alpha 0.43341."""
    counts = counts_of(FLEISS, 5)
    kappa = fleiss_kappa(counts)
    assert [int(counts.count[counts.class_code == k].sum()) for k in range(5)] == [26, 26, 30, 55, 43]
    assert kappa.value == pytest.approx(0.4302445, abs=5e-8)
    assert kappa.se == pytest.approx(0.0542, abs=5e-5)
    assert kappa.ci_low == pytest.approx(0.319, abs=5e-4)
    assert kappa.ci_high == pytest.approx(0.541, abs=5e-4)
    assert krippendorff_alpha(counts).value == pytest.approx(0.43341, abs=5e-6)


def test_percent_agreement_of_two_abstractors_is_as_published_with_the_divisor_n_minus_one():
    """The 3 × 3 table of two abstractors: 0.89, SE 0.0314466 (0.03128898 with the divisor n²)."""
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


@pytest.mark.parametrize("coefficient", [fleiss_kappa, krippendorff_alpha, spa_corrected])
def test_one_class_only_leaves_chance_correction_undefined_and_says_that_raw_agreement_is_1(coefficient):
    counts = counts_of([[1, 1], [1, 1, 1]], 3)
    found = coefficient(counts)
    assert found.value is None and found.se is None and found.ci_low is None
    assert "undefined" in found.note and "raw agreement is 1" in found.note
    assert percent_agreement(counts).value == 1


@pytest.mark.parametrize("coefficient", WITH_SPA)
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
def test_alpha_equals_the_coincidence_matrix_of_every_pair(seed):
    cases = random_cases(seed)
    assert krippendorff_alpha(counts_of(cases, 4)).value == pytest.approx(slow_alpha(cases, 4), abs=1e-12)


def check_interval(found, value, variance, n, level):
    half = student.ppf((1 + level) / 2, n - 1) * np.sqrt(variance)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.se == pytest.approx(np.sqrt(variance), abs=1e-12)
    assert found.ci_low == pytest.approx(found.value - half, abs=1e-9)
    assert found.ci_high == pytest.approx(min(1, found.value + half), abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_values_and_intervals_equal_the_references_that_walk_through_every_case(seed, level):
    cases = random_cases(seed)
    counts = counts_of(cases, 4)
    for coefficient in (percent_agreement, fleiss_kappa, gwet_ac, brennan_prediger):
        found = coefficient(counts, level)
        check_interval(found, *slow_gwet(found.name, cases, np.eye(4).tolist()), level)
    variance, m = slow_alpha_variance(cases, 4)
    check_interval(krippendorff_alpha(counts, level), slow_alpha(cases, 4), variance, m, level)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", [*WEIGHT_FAMILIES, "custom"])
@pytest.mark.parametrize("coefficient", [percent_agreement, fleiss_kappa, gwet_ac, brennan_prediger])
def test_with_weights_values_and_intervals_equal_the_references_too(seed, weights, coefficient):
    labels = (1, 2.5, 3, 7)
    cases = random_cases(seed)
    if weights == "custom":
        half = np.random.default_rng(seed).random((4, 4))
        w = weights = np.where(np.eye(4) == 1, 1, (half + half.T) / 2)
    else:
        w = weight_matrix(weights, 4, labels)
    found = coefficient(counts_of(cases, 4), weights=weights, labels=labels)
    assert found.weights == (weights if isinstance(weights, str) else "custom")
    check_interval(found, *slow_gwet(found.name, cases, w.tolist()), 0.95)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_linearised_errors_approach_the_jackknife_of_the_value(seed, coefficient):
    """Both estimate the same variance; they differ in terms of order 1/n, here about 1/280.

    Cases with one annotation are left out: Gwet's formula takes their share as fixed, the jackknife does not.
    """
    rated = [case for case in random_cases(seed, n_cases=400) if len(case) >= 2]
    whole = coefficient(counts_of(rated, 4))
    assert whole.se == pytest.approx(
        jackknife(lambda cases: coefficient(counts_of(cases, 4)).value, rated), rel=10 / len(rated)
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=1, max_size=15))
def test_no_data_give_nan_or_a_value_without_its_reason(cases):
    counts = counts_of(cases, 4)
    found = [
        *agreement_table(counts, spa_weightings=SPA_WEIGHTINGS),
        *agreement_table(counts, spa_weightings=(), weights="ordinal"),
        *(krippendorff_alpha(counts, metric=metric) for metric in METRICS),
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
@example([[0], [0, 1], [0, 2, 2, 3], [0, 1, 1, 2, 3, 3]], [0, 2, 1, 3], Random(0))  # three classes are the rarest
@example([[0, 1], [0, 0, 0, 1], [0, 0, 2], [0, 0, 2]], [0, 2, 1, 3], Random(0))  # two, next to as much on average
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
    plain, other = build(rows, 3, 20), build(shuffled, 3, 20)
    before = agreement_table(class_counts(plain), spa_weightings=SPA_WEIGHTINGS, dataset=plain)
    after = agreement_table(class_counts(other), spa_weightings=SPA_WEIGHTINGS, dataset=other)
    assert [one for one in before if one.name != "conger_kappa"] == [one for one in after if one.name != "conger_kappa"]
    (before,), (after,) = ([one for one in table if one.name == "conger_kappa"] for table in (before, after))
    assert (after.value, after.se) == pytest.approx((before.value, before.se), rel=1e-12)


@pytest.mark.parametrize("coefficient", WITH_SPA)
def test_errors_fall_with_the_square_root_of_the_number_of_cases(coefficient):
    """Nine copies of the data: a third of the error, but for the divisors n − 1 and corrections for small samples.

    That of alpha is of order 1 in all annotations, that of chance between cases of order n_i, at most 6, in them.
    """
    cases = random_cases(3, n_cases=300)
    most = 6 if coefficient is spa_corrected else 1
    once, nine = coefficient(counts_of(cases, 4)), coefficient(counts_of(cases * 9, 4))
    assert nine.se == pytest.approx(once.se / 3, rel=0.01)
    assert nine.value == pytest.approx(once.value, abs=most / sum(map(len, cases)))


@pytest.mark.parametrize("coefficient", [percent_agreement, fleiss_kappa, krippendorff_alpha, spa, spa_corrected])
def test_unused_classes_change_nothing(coefficient):
    assert coefficient(counts_of(GWET, 5)) == coefficient(counts_of(GWET, 50))


def test_fifty_thousand_classes_need_no_table_of_classes_by_classes():
    counts = counts_of([[2 * i, 2 * i, 2 * i + 1] for i in range(1000)], 50_000)
    tracemalloc.start()
    found = agreement_table(counts, spa_weightings=SPA_WEIGHTINGS)
    ordinal = krippendorff_alpha(counts, metric="ordinal")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found[0].value == pytest.approx(1 / 3)
    assert ordinal.value < 1
    assert peak < 50_000 * 8 * 20
    with pytest.raises(LimitError, match="identity"):
        gwet_ac(counts, weights="linear")


def test_fewer_than_twenty_cases_are_remarked_on():
    assert "few cases" in krippendorff_alpha(counts_of(GWET, 5)).note
    assert krippendorff_alpha(counts_of(FLEISS, 5)).note == ""


def test_one_declared_class_leaves_gwet_and_brennan_prediger_undefined_but_one_used_class_does_not():
    for coefficient in (gwet_ac, brennan_prediger):
        assert "only one class is declared" in coefficient(counts_of([[0, 0], [0, 0]], 1)).note
        found = coefficient(counts_of([[0, 0], [0, 0]], 2))
        assert (found.value, found.se) == (1, None)


@pytest.mark.parametrize("coefficient", [fleiss_kappa, gwet_ac, brennan_prediger])
def test_weights_that_make_all_classes_agree_leave_nothing_beyond_chance(coefficient):
    """With two classes used alike often chance is 1 for Gwet's AC too."""
    found = coefficient(counts_of([[0, 1], [1, 0]], 2), weights=np.ones((2, 2)))
    assert found.value is None
    assert "the weights treat all classes used as equal" in found.note


def test_longer_lists_of_classes_lower_chance_for_brennan_prediger():
    """Percent agreement 0.81818: the coefficient is (0.81818 − 1/q)/(1 − 1/q)."""
    for q in (5, 50):
        assert brennan_prediger(counts_of(GWET, q)).value == pytest.approx((9 / 11 - 1 / q) / (1 - 1 / q), abs=1e-12)


def test_scotts_pi_is_fleiss_kappa_of_two_raters_and_refuses_more(build):
    panel = random_panel(1, n_raters=2)
    dataset = dataset_of(panel, 4)
    kappa, pi = fleiss_kappa(dataset), scott_pi(dataset)
    assert (pi.value, pi.se, pi.name) == (kappa.value, kappa.se, "scott_pi")
    assert pi == scott_pi(counts_of(answers_of(panel), 4))
    with pytest.raises(NotApplicableError, match="3 annotations"):
        scott_pi(counts_of([[0, 1, 1]], 2))
    with pytest.raises(NotApplicableError, match="these data have 3"):
        scott_pi(build([(0, 0, 1), (0, 1, 1), (1, 2, 0)], 2))
    assert "more than once" in scott_pi(build([(0, 0, 1), (0, 0, 1), (0, 1, 0)], 2)).note


@pytest.mark.parametrize("coefficient", WITH_SPA)
def test_a_dataset_gives_what_its_counts_give(coefficient):
    dataset = dataset_of(random_panel(4), 4)
    assert coefficient(dataset) == coefficient(class_counts(dataset))


def test_labels_that_are_no_scale_are_refused():
    with pytest.raises(InputError, match="3 labels for 5 classes"):
        fleiss_kappa(counts_of(GWET, 5), weights="linear", labels=(1, 2, 3))


def test_the_table_lists_percent_the_asked_for_weightings_and_alpha_last():
    found = agreement_table(counts_of(GWET, 5), spa_weightings=("flat", "edges"))
    assert [(one.name, one.weights) for one in found] == [
        ("percent", "identity"),
        ("spa", "flat"),
        ("spa", "edges"),
        ("spa_corrected", "annotations_m1"),
        ("fleiss_kappa", "identity"),
        ("gwet_ac", "identity"),
        ("brennan_prediger", "identity"),
        ("krippendorff_alpha", "nominal"),
    ]


def names(table):
    return [one.name for one in table]


def test_every_coefficient_is_listed_and_those_of_raters_with_their_dataset():
    always = ["percent", "spa", "spa_corrected", "fleiss_kappa", "gwet_ac", "brennan_prediger", "krippendorff_alpha"]
    two, more = dataset_of(random_panel(0, n_raters=2), 4), dataset_of(random_panel(0), 4)
    assert names(agreement_table(class_counts(more))) == always
    for dataset, of_raters in ((two, ["cohen_kappa", "scott_pi"]), (more, ["conger_kappa"])):
        table = agreement_table(class_counts(dataset), dataset=dataset)
        assert names(table) == always[:3] + of_raters + always[3:]
        anonymous = replace(dataset, raters_identified=False)
        assert names(agreement_table(class_counts(dataset), dataset=anonymous)) == always
    alone = dataset_of([[(0, 1), (0, 1)], [(0, 0)]], 2)
    assert names(agreement_table(class_counts(alone), dataset=alone)) == always


def test_weights_go_to_every_coefficient_but_spa_and_a_metric_to_alpha_alone():
    dataset = dataset_of(random_panel(0), 4)
    table = agreement_table(class_counts(dataset), dataset=dataset, weights="ordinal")
    weights = ["ordinal", "annotations_m1", "annotations_m1", *["ordinal"] * 4, "ordinal weights"]
    assert [one.weights for one in table] == weights
    table = agreement_table(class_counts(dataset), metric="ordinal", weights="linear")
    weights = ["linear", "annotations_m1", "annotations_m1", *["linear"] * 3, "ordinal metric"]
    assert [one.weights for one in table] == weights


def test_a_table_of_raters_by_classes_that_does_not_fit_is_a_row_with_its_reason(monkeypatch):
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "10")
    dataset = dataset_of(random_panel(0), 4)
    table = agreement_table(class_counts(dataset), dataset=dataset)
    assert table[3].name == "conger_kappa" and table[3].value is None
    assert "Select fewer raters" in table[3].note


def test_an_interval_ends_at_0_for_percent_agreement_and_below_it_beyond_chance():
    """One of three cases agrees: 1/3 ± 4.30 · 1/3."""
    counts = counts_of([[0, 0], [0, 1], [0, 1]], 2)
    assert percent_agreement(counts).ci_low == 0.0
    assert fleiss_kappa(counts).ci_low < 0
