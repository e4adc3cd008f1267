"""Conger's and Cohen's kappa against published values, literal references and the jackknife."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from core.agreement.coefficients import percent_agreement
from core.agreement.cohen_conger import cohen_kappa, cohen_kappa_classic, conger_kappa
from core.agreement.tables import from_contingency
from core.agreement.weights import WEIGHT_FAMILIES, weight_matrix
from core.errors import LimitError, NotApplicableError
from tests.core.agreement.examples import dataset_of, jackknife, random_panel
from tests.core.kinds import as_scores

TWELVE_UNITS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . .",
    ". 3 3 3 2 3 4 2 2 5 1 3",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
ABSTRACTORS = ((13, 0, 0), (0, 20, 7), (0, 4, 56))
COHEN = ((0, 4, 1), (0, 8, 0), (0, 1, 5))


def slow_conger(panel, w):
    """Conger's kappa, its variance and the cases with an annotation: sums over pairs of raters as printed."""
    q = len(w)
    rated = [case for case in panel if case]
    n = len(rated)
    given = {}
    for case in rated:
        for rater, answer in case:
            given.setdefault(rater, []).append(answer)
    shares = {g: [answers.count(k) / len(answers) for k in range(q)] for g, answers in given.items()}
    pairs = len(shares) * (len(shares) - 1)

    def product(u, v):
        return sum(u[k] * w[k][other] * v[other] for k in range(q) for other in range(q))

    p_e = sum(product(shares[g], shares[h]) for g in shares for h in shares if g != h) / pairs
    agreement = []
    for case in rated:
        own = [w[a][b] for i, (_, a) in enumerate(case) for j, (_, b) in enumerate(case) if i != j]
        agreement.append(sum(own) / len(own) if own else None)
    defined = [a for a in agreement if a is not None]
    kappa = (sum(defined) / len(defined) - p_e) / (1 - p_e)
    total = 0.0
    for case, own in zip(rated, agreement, strict=True):
        p_ei = p_e
        for g, answer in case:
            moved = [(k == answer) - shares[g][k] for k in range(q)]
            p_ei += n / len(given[g]) * sum(product(moved, shares[h]) for h in shares if h != g) / pairs
        kappa_i = n / len(defined) * (own - p_e) / (1 - p_e) if own is not None else 0.0
        total += (kappa_i - 2 * (1 - kappa) * (p_ei - p_e) / (1 - p_e) - kappa) ** 2
    return kappa, total / (n * (n - 1)), n


def test_congers_kappa_of_gwets_twelve_units_is_as_published():
    """irrCAC: 0.76282, SE 0.14917, 95% interval 0.435 to 1."""
    rows = [row.split() for row in TWELVE_UNITS]
    panel = [[(g, int(row[i]) - 1) for g, row in enumerate(rows) if row[i] != "."] for i in range(12)]
    found = conger_kappa(dataset_of(panel, 5))
    assert (found.value, found.se) == (pytest.approx(0.76282, abs=5e-6), pytest.approx(0.14917, abs=5e-6))
    assert (found.ci_low, found.ci_high) == (pytest.approx(0.435, abs=6e-4), 1)
    assert (found.name, found.n_cases, found.n_annotations) == ("conger_kappa", 11, 40)


def test_cohens_kappa_of_two_abstractors_is_as_published_with_the_divisor_n_minus_one():
    """Gwet: 0.7964094, SE 0.05891072 with the divisor n²; linear, quadratic and ordinal 0.843, 0.892, 0.872."""
    dataset = from_contingency(ABSTRACTORS)
    found = cohen_kappa(dataset)
    assert found.value == pytest.approx(0.7964094, abs=5e-8)
    assert found.se == pytest.approx(0.05920750, abs=5.1e-9)
    assert found.se * np.sqrt(99 / 100) == pytest.approx(0.05891072, abs=5e-9)
    for weights, value in (("linear", 0.843), ("quadratic", 0.892), ("ordinal", 0.872)):
        assert cohen_kappa(dataset, weights=weights).value == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("weights", "value", "classic", "low", "high", "gwet"),
    [("identity", 0.4842, 0.1380, 0.2137, 0.7547, 0.1418), ("linear", 0.4701, 0.1457, 0.1845, 0.7558, 0.1497)],
)
def test_the_classic_error_is_the_published_one_and_not_gwets(weights, value, classic, low, high, gwet):
    """A 3 × 3 table of 19 cases: kappa with the error and the normal interval of Fleiss, Cohen and Everitt."""
    dataset = from_contingency(COHEN)
    found, linearised = cohen_kappa_classic(dataset, weights=weights), cohen_kappa(dataset, weights=weights)
    for got, expected in ((found.value, value), (found.se, classic), (found.ci_low, low), (found.ci_high, high)):
        assert got == pytest.approx(expected, abs=5e-5)
    assert (linearised.value, linearised.se) == (pytest.approx(found.value, abs=1e-12), pytest.approx(gwet, abs=5e-5))
    assert (found.n_cases, found.n_annotations) == (19, 38)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weights", WEIGHT_FAMILIES)
def test_the_classic_error_is_the_printed_sum_over_the_table(seed, weights):
    panel = random_panel(seed, n_raters=2, gaps=0)
    w, n, q = weight_matrix(weights, 4), len(panel), 4
    table = Counter((a, b) for (_, a), (_, b) in panel)
    p = [[table[a, b] / n for b in range(q)] for a in range(q)]
    r, c = [sum(row) for row in p], [sum(p[a][b] for a in range(q)) for b in range(q)]
    cells = [(a, b) for a in range(q) for b in range(q)]
    p_e = sum(r[a] * c[b] * w[a, b] for a, b in cells)
    kappa = (sum(p[a][b] * w[a, b] for a, b in cells) - p_e) / (1 - p_e)
    row = [sum(c[b] * w[a, b] for b in range(q)) for a in range(q)]
    column = [sum(r[a] * w[a, b] for a in range(q)) for b in range(q)]
    squares = sum(p[a][b] * (w[a, b] - (row[a] + column[b]) * (1 - kappa)) ** 2 for a, b in cells)
    error = np.sqrt((squares - (kappa - p_e * (1 - kappa)) ** 2) / (n * (1 - p_e) ** 2))
    found = cohen_kappa_classic(dataset_of(panel, q), 0.9, weights)
    assert (found.value, found.se) == (pytest.approx(kappa, abs=1e-12), pytest.approx(error, abs=1e-9))
    assert found.ci_high - found.ci_low == pytest.approx(2 * norm.ppf(0.95) * error, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_raters", [2, 3, 6])
@pytest.mark.parametrize("weights", ["identity", "quadratic", "ratio"])
def test_values_and_intervals_equal_the_sums_over_pairs_of_raters(seed, n_raters, weights):
    panel = random_panel(seed, n_raters=n_raters)
    kappa, variance, n = slow_conger(panel, weight_matrix(weights, 4).tolist())
    dataset = dataset_of(panel, 4)
    half = student.ppf(0.95, n - 1) * np.sqrt(variance)
    for found in (
        conger_kappa(dataset, 0.9, weights),
        *([cohen_kappa(dataset, 0.9, weights)] if n_raters == 2 else []),
    ):
        assert (found.value, found.se) == pytest.approx((kappa, np.sqrt(variance)), abs=1e-12)
        assert (found.ci_low, found.ci_high) == pytest.approx((kappa - half, min(1, kappa + half)), abs=1e-9)


@pytest.mark.parametrize("n_raters", [2, 5])
def test_the_linearised_error_approaches_the_jackknife_of_the_value(n_raters):
    """Both estimate the same variance; they differ in terms of order 1/n. Every rater annotates every case."""
    panel = random_panel(1, 300, n_raters, gaps=0)
    found = conger_kappa(dataset_of(panel, 4))
    assert found.se == pytest.approx(jackknife(lambda p: conger_kappa(dataset_of(p, 4)).value, panel), rel=10 / 300)


def test_names_of_raters_change_nothing():
    panel = random_panel(3)
    renamed = [[(4 - rater, answer) for rater, answer in reversed(case)] for case in panel]
    found, other = conger_kappa(dataset_of(panel, 4)), conger_kappa(dataset_of(renamed, 4))
    assert (found.value, found.se) == pytest.approx((other.value, other.se), rel=1e-12)


def test_raters_without_an_answer_do_not_count():
    panel = random_panel(3)
    assert conger_kappa(dataset_of(panel, 4)) == conger_kappa(dataset_of(panel, 4, n_raters=9))


def test_raters_who_lean_apart_have_more_congers_than_fleiss_agreement_beyond_chance():
    """One always says 0, the other always 1: chance of two different raters is 0, and so is kappa."""
    dataset = dataset_of([[(0, 0), (1, 1)]] * 10, 2)
    found = cohen_kappa(dataset)
    assert (found.value, found.se) == (0, None)
    assert cohen_kappa_classic(dataset).value == 0


def test_one_class_only_is_undefined_with_raw_agreement_beside_it():
    dataset = dataset_of([[(0, 1), (1, 1)]] * 3, 3)
    for coefficient in (conger_kappa, cohen_kappa, cohen_kappa_classic):
        found = coefficient(dataset)
        assert found.value is None and "raw agreement is 1" in found.note
    assert percent_agreement(dataset).value == 1


def test_raters_who_never_meet_leave_it_undefined():
    found = cohen_kappa(dataset_of([[(0, 1)], [(1, 0)]], 2))
    assert found.value is None and "no case has two annotations" in found.note


def test_a_single_rater_leaves_congers_kappa_undefined():
    found = conger_kappa(dataset_of([[(0, 1), (0, 0)], [(0, 1)]], 2))
    assert found.value is None and "only one rater" in found.note


def test_one_case_gives_a_value_without_an_interval():
    for found in (cohen_kappa(dataset_of([[(0, 0), (1, 1)]], 2)), conger_kappa(dataset_of([[(0, 0), (1, 1)]], 2))):
        assert found.value == 0 and found.ci_low is None and "only one case" in found.note


def test_repeated_answers_are_remarked_on_by_conger_and_refused_by_cohen():
    panel = [[(0, 0), (1, 0), (0, 1)], [(0, 1), (1, 1)], [(0, 0), (1, 1)]]
    assert (
        "1 repeat annotation (same rater, same case) counts as another rater's"
        in conger_kappa(dataset_of(panel, 2)).note
    )
    for coefficient in (cohen_kappa, cohen_kappa_classic):
        found = coefficient(dataset_of(panel, 2))
        assert found.value is None and "same case more than once" in found.note


def test_gaps_leave_the_classic_error_undefined_but_not_cohens_kappa():
    dataset = dataset_of([[(0, 0), (1, 0)], [(0, 1), (1, 1)], [(0, 1)]], 2)
    assert cohen_kappa(dataset).value == 1
    found = cohen_kappa_classic(dataset)
    assert found.value is None and "only one of the two" in found.note


def test_anonymous_answers_scores_and_the_wrong_number_of_raters_are_refused():
    dataset = dataset_of(random_panel(0), 4)
    for coefficient in (conger_kappa, cohen_kappa, cohen_kappa_classic):
        with pytest.raises(NotApplicableError, match="anonymous"):
            coefficient(replace(dataset, raters_identified=False))
        with pytest.raises(NotApplicableError, match="not single classes"):
            coefficient(as_scores(dataset))
    for coefficient in (cohen_kappa, cohen_kappa_classic):
        with pytest.raises(NotApplicableError, match="these data have 5"):
            coefficient(dataset)


def test_more_raters_by_classes_than_a_table_can_hold_are_refused_with_what_to_do(monkeypatch):
    dataset = dataset_of(random_panel(0), 4)
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "19")
    with pytest.raises(LimitError, match="Select fewer raters"):
        conger_kappa(dataset)
    monkeypatch.setenv("PLURALITY_MAX_MODEL_CELLS", "20")
    assert conger_kappa(dataset).value is not None
