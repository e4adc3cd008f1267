"""Kappa against accuracy, and tables of a fit beside the counted ones."""

import numpy as np
import pytest

from core.agreement.coefficients import fleiss_kappa
from core.errors import NotApplicableError
from core.models.dawid_skene import DawidSkene
from core.models.joint import kappa_check, pair_table
from core.models.tap import TAP
from tests.core.models.rows import random_rows, simulated


def unbiased(seed, n_classes, a, n_cases, build):
    """Five raters per case whose guesses are distributed like the truth."""
    rng = np.random.default_rng(seed)
    t = rng.dirichlet(np.full(n_classes, 3.0))
    truth = rng.choice(n_classes, n_cases, p=t)
    knows = rng.random((n_cases, 5)) < a
    answer = np.where(knows, truth[:, None], rng.choice(n_classes, (n_cases, 5), p=t))
    case, rater = np.indices(answer.shape)
    return build(list(zip(case.ravel(), rater.ravel(), answer.ravel(), strict=True)), n_classes)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("a", [0.3, 0.6, 0.9])
def test_kappa_of_unbiased_raters_is_the_square_of_their_accuracy(n_classes, a, build):
    """Eubanks, Kappa Zoo, chapter 9, section 2; four standard deviations of kappa at 20,000 cases."""
    dataset = unbiased(n_classes, n_classes, a, 20_000, build)
    assert fleiss_kappa(dataset).value == pytest.approx(a * a, abs=0.016)


@pytest.mark.parametrize("seed", range(3))
def test_the_expected_kappa_of_common_raters_is_the_closed_form(seed, build):
    fit = TAP("none", raters="common").fit(dataset := build(random_rows(seed), 3))
    a, p, t = fit.parameters["a"][0], fit.parameters["p"][0], fit.parameters["t"]
    c = a * t + (1 - a) * p
    check = kappa_check(dataset, fit)
    assert check.expected == pytest.approx(a * a * (1 - t @ t) / (1 - c @ c), abs=1e-9)
    assert check.a_squared == pytest.approx(a * a, abs=1e-9)
    assert check.observed == fleiss_kappa(dataset).value
    pairs = pair_table(dataset, fit)
    assert pairs.expected == pytest.approx(np.outer(c, c) + a * a * (np.diag(t) - np.outer(t, t)), abs=1e-12)


def test_a_fit_of_its_own_model_meets_kappa(build):
    """20,000 cases, biased raters: what is expected lies within the interval of what is observed."""
    t, p = np.array([0.6, 0.3, 0.1]), np.array([0.1, 0.2, 0.7])
    confusion = np.repeat((0.6 * np.eye(3) + 0.4 * p)[None], 5, axis=0)
    dataset = build(simulated(3, 8000, confusion, t, 5)[0], 3)
    check = kappa_check(dataset, TAP(raters="common").fit(dataset))
    assert check.low - 0.005 < check.expected < check.high + 0.005
    assert abs(check.a_squared - check.observed) > 0.03  # biased raters: kappa is not a²


def test_tables_against_counting_pair_by_pair(build):
    rows = random_rows(4, n_cases=12)
    dataset = build(rows, 3, 12, 4)
    fit = DawidSkene("none").fit(dataset)
    observed, expected, n_cases = np.zeros((3, 3)), np.zeros((3, 3)), 0
    for case in range(12):
        mine = [(rater, answer) for c, rater, answer in rows if c == case]
        pairs = [(one, two) for i, one in enumerate(mine) for j, two in enumerate(mine) if i != j]
        n_cases += bool(pairs)
        for (r, k), (s, m) in pairs:
            observed[k, m] += 1 / len(pairs)
            for true in range(3):
                expected += fit.prevalence[true] * np.outer(fit.confusion[r, true], fit.confusion[s, true]) / len(pairs)
    table = pair_table(dataset, fit)
    assert table.n_cases == n_cases
    assert table.observed == pytest.approx(observed / n_cases, abs=1e-12)
    assert table.expected == pytest.approx(expected / n_cases, abs=1e-12)


def test_without_pairs_or_accuracies_there_is_nothing_to_compare(build):
    dataset = build(random_rows(1), 3)
    fit = DawidSkene("none").fit(dataset)
    with pytest.raises(NotApplicableError, match="dawid-skene"):
        kappa_check(dataset, fit)
    with pytest.raises(NotApplicableError, match="pairs cannot be compared"):
        pair_table(build([(0, 0, 0), (1, 1, 0)], 3), fit)
