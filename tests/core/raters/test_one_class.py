"""Raters who name one class only: the exact tail, and who is found."""

from itertools import product

import numpy as np
import pytest

from core.agreement.krippendorff import krippendorff_alpha
from core.annotations.dataset import Dataset
from core.errors import InputError
from core.multiplicity import benjamini_hochberg
from core.raters import one_class as module
from core.raters.one_class import one_class, poisson_binomial_tail
from tests.core.raters.raters_simulated import names, rebuilt, rows, simulated


def brute_force(chances, least):
    total = 0.0
    for tosses in product((0, 1), repeat=len(chances)):
        if sum(tosses) >= least:
            total += float(np.prod([p if toss else 1 - p for p, toss in zip(chances, tosses, strict=True)]))
    return total


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("way", ["from above", "from below", "transforms"])
def test_the_tail_is_that_of_all_outcomes(seed, way, monkeypatch):
    """2^n outcomes of up to 10 trials, with chances of 0 and 1 among them, by each of the three ways."""
    rng = np.random.default_rng(seed)
    chances = rng.random(int(rng.integers(2, 11)))
    chances[: seed % 3] = [0.0, 1.0][: seed % 3]
    for least in range(-1, chances.size + 2):
        if way != "from above":
            monkeypatch.setattr(module, "_MOST_STEPS", 0 if way == "transforms" else chances.size * max(least, 0))
        assert poisson_binomial_tail(chances, least) == pytest.approx(brute_force(chances, least), abs=1e-12)


def test_equal_chances_give_the_binomial_tail_far_out():
    from scipy.stats import binom

    assert poisson_binomial_tail(np.full(3000, 0.3), 2900) == pytest.approx(0.0, abs=1e-300)
    for n, p, least in ((3000, 0.3, 1000), (3000, 0.97, 2960), (800, 0.05, 100), (500, 0.5, 499)):
        assert poisson_binomial_tail(np.full(n, p), least) == pytest.approx(binom.sf(least - 1, n, p), rel=1e-9)


def test_many_trials_take_little_time_and_are_right(monkeypatch):
    from scipy.stats import binom

    monkeypatch.setattr(module, "_MOST_STEPS", 1)
    assert poisson_binomial_tail(np.full(20_000, 0.4), 8100) == pytest.approx(binom.sf(8099, 20_000, 0.4), abs=1e-11)


def test_what_is_no_chance_is_refused():
    with pytest.raises(InputError):
        poisson_binomial_tail(np.array([0.5, 1.2]), 1)


def test_expected_counts_are_by_the_others_annotations_on_the_same_cases():
    """By hand, two classes: r0 names class 1 on all; α of all annotations, shares of the others on each case."""
    data, _ = simulated(1, np.full(6, 0.8), n_cases=60, per_case=4, n_classes=2)
    answer = data.answer.copy()
    answer[data.rater == 0] = 1
    data = rebuilt(data, answer)
    found = one_class(data)
    alpha = krippendorff_alpha(data).value
    strength = (1 - alpha) / alpha
    own = data.rater == 0
    share = (data.answer[~own].sum() + 1) / ((~own).sum() + 2)
    chances = []
    for case in data.case_of_annotation[own]:
        others = data.answer[(data.case_of_annotation == case) & ~own]
        chances.append((others.sum() + strength * share) / (others.size + strength))
    assert found.expected[0] == pytest.approx(np.sum(chances), rel=1e-9)
    assert found.p[0] == pytest.approx(2 * poisson_binomial_tail(np.array(chances), int(own.sum())), rel=1e-6, abs=0)
    assert (found.favourite[0], found.n[0], found.n_named[0]) == (1, own.sum(), own.sum())


def test_exactly_who_names_one_class_is_found_and_honest_raters_are_not():
    """Over 6 crowds of 30 raters, 2 of whom name class 2, one of them with one slip in ten."""
    for seed in range(6):
        data, _ = simulated(seed, np.full(30, 0.75), n_cases=400, per_case=5, n_classes=4)
        _, rater, answer = rows(data)
        rng = np.random.default_rng(seed)
        answer[rater == 0] = 2
        answer[(rater == 1) & (rng.random(rater.size) < 0.97)] = 2
        found = one_class(rebuilt(data, answer))
        assert benjamini_hochberg(found.p, 0.05).tolist() == [0, 1]
        assert found.favourite[:2].tolist() == [2, 2]


def test_a_class_that_is_nearly_always_true_makes_nobody_suspicious():
    """Prevalence 0.99: honest raters name one class on 0.98 of their annotations, as the others do."""
    rng = np.random.default_rng(2)
    truth = (rng.random(1500) < 0.01).astype(int)
    case = np.repeat(np.arange(1500), 4)
    rater = rng.random((1500, 12)).argsort(axis=1)[:, :4].ravel()
    answer = np.where(rng.random(case.size) < 0.99, truth[case], 1 - truth[case])
    found = one_class(Dataset.from_classes("x", *names(1500, 12, 2), case, rater, answer))
    assert (found.n_named > 0.9 * found.n).all()
    assert benjamini_hochberg(found.p, 0.05).size == 0


def test_a_mere_leaning_towards_a_class_is_not_one_class_only():
    """Half of what a rater gives is class 0 whatever the case: significant, but not one class only."""
    data, _ = simulated(3, np.full(12, 0.8), n_cases=2000, per_case=4)
    _, rater, answer = rows(data)
    answer[(rater == 0) & (np.random.default_rng(0).random(rater.size) < 0.5)] = 0
    found = one_class(rebuilt(data, answer))
    assert found.p[0] == 1.0
    assert np.isnan(found.expected[0])


def test_few_annotations_and_those_that_nobody_judges_are_no_test():
    data, _ = simulated(4, np.full(6, 0.9), n_cases=100, per_case=3)
    case, rater, answer = rows(data)
    case, rater, answer = np.append(case, [0, 1, 100]), np.append(rater, [6, 6, 7]), np.append(answer, [0, 0, 0])
    found = one_class(Dataset.from_classes("x", *names(101, 8, 4), case, rater, answer))
    assert np.isnan(found.p[6:]).all()
    assert (found.favourite[7], found.n[7]) == (-1, 0)


def test_a_thousand_classes_are_looked_at():
    data, _ = simulated(5, np.full(8, 0.7), n_cases=200, per_case=4, n_classes=1000)
    answer = data.answer.copy()
    answer[data.rater == 3] = 17
    found = one_class(rebuilt(data, answer))
    assert benjamini_hochberg(found.p, 0.05).tolist() == [3]


@pytest.mark.parametrize(
    ("p", "rejected"),
    [
        ([0.01, 0.02, 0.03, 0.5], [0, 1, 2]),  # 0.03 <= 0.05 * 3/4
        ([0.04, 0.04, 0.04, 0.9], []),
        ([0.04, 0.045, 0.05, np.nan], [0, 1, 2]),  # the last passes and takes the others along
        ([np.nan], []),
    ],
)
def test_benjamini_hochberg_steps_up(p, rejected):
    assert benjamini_hochberg(np.array(p), 0.05).tolist() == rejected
