"""Strengths of items from paired comparisons: closed forms, choix, brute force, and awkward data."""

import json
from functools import partial
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.annotations.paired_items import COMPARED, FIRST, SECOND, PairedItems
from core.errors import NotApplicableError
from core.models import comparisons
from core.models.circular_triads import circular_triads
from core.models.comparisons import Comparisons, _Posterior, comparisons_of, fit_comparisons

BY_R = json.loads((Path(__file__).parent / "r_strengths.json").read_text())
CHOIX = json.loads((Path(__file__).parent / "choix_strengths.json").read_text())["sets"]
FLAT = 1e4  # a prior so wide that it does not matter


def compared(rows, n_items, n_raters=1):
    """Counts from rows of (first, second, rater, side, wins, ties, losses)."""
    first, second, rater, side, *count = (np.array(part) for part in zip(*rows, strict=True))
    names = tuple(f"i{item}" for item in range(n_items)), tuple(f"r{place}" for place in range(n_raters))
    return Comparisons(*names, first, second, rater, side.astype(float), np.stack(count, 1).astype(float))


def of_wins(wins):
    """Counts of one rater from a table of wins."""
    pairs = combinations(range(len(wins)), 2)
    return compared([(i, j, 0, 0, wins[i][j], 0, wins[j][i]) for i, j in pairs], len(wins))


def simulated(seed, n, strength, discrimination, tie=0.5, side=0.0):
    """A dataset of comparisons of random pairs by random raters."""
    rng, m = np.random.default_rng(seed), len(strength)
    left = rng.integers(m, size=n)
    right = (left + rng.integers(1, m, size=n)) % m
    one, other = np.minimum(left, right), np.maximum(left, right)
    swapped = (left > right).astype(np.int8)
    rater = rng.integers(len(discrimination), size=n)
    odds = np.asarray(discrimination)[rater] * (strength[one] - strength[other]) + side * (1 - 2 * swapped)
    chance = np.stack([np.exp(odds / 2), np.full(n, tie), np.exp(-odds / 2)], 1)
    answer = (rng.random(n)[:, None] > (chance / chance.sum(1, keepdims=True)).cumsum(1)).sum(1)
    kinds, case = np.unique(one * m + other, return_inverse=True)
    items = tuple(f"item {item}" for item in range(m))
    pairs = PairedItems(items, np.stack([kinds // m, kinds % m], 1), swapped)
    cases = [f"{items[kind // m]} | {items[kind % m]}" for kind in kinds]
    raters = [f"rater {place}" for place in range(len(discrimination))]
    return Dataset.from_classes("made", cases, raters, COMPARED, case, rater, answer, pairs=pairs, ordinal=True)


@pytest.mark.parametrize("one", CHOIX, ids=range(len(CHOIX)))
def test_without_ties_and_prior_strengths_are_those_of_choix(one):
    found = fit_comparisons(of_wins(one["wins"]), spread=FLAT)
    np.testing.assert_allclose(found.strength, one["strength"], atol=1e-6)


@pytest.mark.parametrize("one", BY_R["sets"], ids=range(20))
def test_strengths_errors_and_ties_are_those_of_r_packages(one, monkeypatch):
    """BradleyTerry2, and psychotools with Davidson's ties; `tests.benchmarks.comparisons_r` made the file."""
    monkeypatch.setattr(comparisons, "TIE_SPREAD", FLAT)
    m = len(one["strength"])
    rows = [(first, second, 0, 0, *count) for first, second, *count in one["rows"]]
    found = fit_comparisons(compared(rows, m), spread=FLAT)
    strength = np.array(one["strength"])
    np.testing.assert_allclose(found.strength, strength - strength.mean(), atol=1e-6)
    if one["nu"] is None:
        assert found.tie is None
        build = partial(_Posterior, compared(rows, m), raters=False, ties=False, sides=False, rater_spread=1.0)
        contrast = np.eye(m)[1] - np.eye(m)[0]
        error = comparisons._mixture(lambda spread: build(spread=spread), FLAT).sd(contrast[None])[0]
        assert error == pytest.approx(one["se"], rel=1e-4)  # glm stops a little early
    else:
        assert found.tie == pytest.approx(one["nu"] / (2 + one["nu"]), abs=1e-6)


def test_two_items_differ_by_the_log_odds_of_their_wins_with_its_standard_error():
    found = fit_comparisons(of_wins([[0, 30], [12, 0]]), spread=FLAT)
    assert found.strength[0] - found.strength[1] == pytest.approx(np.log(30 / 12), abs=1e-6)
    half = 1.959964 * np.sqrt(1 / 30 + 1 / 12) / 2  # of the difference from the mean, which is half the difference
    assert found.high[0] - found.strength[0] == pytest.approx(half, abs=1e-6)


def test_two_items_with_ties_are_estimated_as_davidson_has_them():
    found = fit_comparisons(compared([(0, 1, 0, 0, 20, 15, 5)], 2), spread=FLAT)
    assert found.strength[0] - found.strength[1] == pytest.approx(np.log(20 / 5), abs=0.02)
    nu = 15 / np.sqrt(20 * 5)  # a weak prior on log ν shrinks it a little
    assert found.tie == pytest.approx(nu / (2 + nu), abs=0.005)


def test_derivatives_are_those_of_finite_differences():
    data = comparisons_of(simulated(1, 300, np.array([1.0, 0.2, -0.4, -0.8]), [1.4, 0.3, -0.5], side=0.4))
    posterior = _Posterior(data, raters=True, ties=True, sides=True, spread=3, rater_spread=0.5)
    x = np.random.default_rng(2).normal(size=posterior.n)
    gradient, information = posterior.derivatives(x, observed=True)
    step = 1e-5 * np.eye(posterior.n)
    slope = [(posterior.value(x + one) - posterior.value(x - one)) / 2e-5 for one in step]
    np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-3)
    moved = [posterior.derivatives(x + one, observed=True)[0] - posterior.derivatives(x - one, observed=True)[0]
             for one in step]  # fmt: skip
    np.testing.assert_allclose(information, -np.array(moved) / 2e-5, rtol=1e-4, atol=1e-3)


def test_strengths_discriminations_and_the_side_are_recovered():
    strength, a = np.linspace(1, -1, 10), np.array([1.8, 1.4, 1.0, 0.8, 0.0, -0.5, 1.5, 2.0, 1.0, 1.0])
    dataset = simulated(4, 40_000, strength, a, side=0.3)
    found = fit_comparisons(dataset)
    error = 3.5 / 1.96 * (found.high - found.strength)
    assert (np.abs(found.strength - strength * a.mean()) < error).all() and error.max() < 0.1
    np.testing.assert_allclose(found.discrimination, a / a.mean(), atol=0.15)
    assert found.side == pytest.approx(0.3, abs=0.05)
    assert found.side_low < 0.3 < found.side_high
    assert found.discrimination_high[5] < 0 and found.accuracy[5] < 0.5 < found.accuracy[0]
    assert list(found.order) == list(range(10)) and found.p_order > 0.9


def test_a_rater_at_random_moves_strengths_less_than_if_all_raters_count_alike():
    strength = np.linspace(1, -1, 8)
    dataset = simulated(5, 4_000, strength, [1.6, 1.6, 0.0, 0.0])
    alone = simulated(5, 4_000, strength, [1.6, 1.6, 0.0, 0.0]).select(raters=["rater 0", "rater 1"])
    best = fit_comparisons(alone).strength
    apart, alike = (fit_comparisons(dataset, raters=raters).strength for raters in (True, False))
    angle = [np.corrcoef(one, best)[0, 1] for one in (apart, alike)]
    assert angle[0] > angle[1]


def test_the_probability_of_an_order_is_that_of_its_draws_counted_one_by_one():
    found = fit_comparisons(of_wins([[0, 6, 7], [4, 0, 5], [3, 5, 0]]), n_draws=20_000, seed=3)
    assert found.above[0, 1] + found.above[1, 0] == pytest.approx(1)
    assert found.best.sum() == pytest.approx(1)
    assert found.p_order == pytest.approx(_order_by_grid(of_wins([[0, 6, 7], [4, 0, 5], [3, 5, 0]])), abs=0.06)
    assert 1 < found.n_orders <= len(list(permutations(range(3))))


@pytest.mark.parametrize("spread", [0.6, 1.5])
def test_probabilities_of_orders_come_true_on_few_comparisons(spread):
    """Stated and true over 80 sets of 60 comparisons, within three standard errors of sets."""
    gap = []
    for seed in range(80):
        rng = np.random.default_rng([seed, 7])
        strength = rng.normal(0, spread, 8)
        found = fit_comparisons(simulated(seed, 60, strength, rng.normal(1, 0.5, 10)), n_draws=100)
        kept = strength[[int(item.split()[1]) for item in found.items]]
        one, other = np.triu_indices(len(kept), 1)
        known = np.isfinite(above := found.above[one, other])
        right = (kept[one] > kept[other]) == (above > 0.5)
        gap.append((np.maximum(above, 1 - above) - right)[known].mean())
    assert abs(np.mean(gap)) < 3 * np.std(gap) / len(gap) ** 0.5 + 0.02


def _order_by_grid(data):
    """P(0 above 1 above 2) of the exact posterior, on a grid."""
    axis = np.linspace(-4, 4, 81)
    posterior = _Posterior(data, raters=False, ties=False, sides=False, spread=3, rater_spread=1)
    mass = {True: 0.0, False: 0.0}
    for b, c in product(axis, axis):  # the strength of the first is 0; the prior is almost flat here
        mass[bool(b < 0 and c < b)] += np.exp(posterior.value(np.array([0, b, c]) - (b + c) / 3))
    return mass[True] / (mass[True] + mass[False])


@pytest.mark.parametrize("seed", range(5))
def test_circular_triads_are_those_found_one_by_one(seed):
    rng, n = np.random.default_rng(seed), 7
    wins = rng.integers(0, 3, size=(n, n))
    np.fill_diagonal(wins, 0)
    beats = wins > wins.T
    linked, circular = 0, 0
    for a, b, c in combinations(range(n), 3):
        links = [beats[i, j] or beats[j, i] for i, j in ((a, b), (b, c), (a, c))]
        linked += all(links)
        circular += (beats[a, b] and beats[b, c] and beats[c, a]) or (beats[b, a] and beats[c, b] and beats[a, c])
    found = circular_triads(of_wins(wins))
    assert (found.n_triads, found.n_circular) == (linked, circular)


@pytest.mark.parametrize(("n", "most"), [(3, 1), (4, 2), (5, 5), (6, 8), (7, 14)])
def test_consistence_is_zero_with_the_largest_number_of_circular_triads(n, most):
    wins = np.zeros((n, n), int)
    for i in range(n):  # each item beats the next ones of the circle
        for shift in range(1, (n + 1) // 2 + (n % 2 == 0 and i < n // 2)):
            wins[i, (i + shift) % n] = 1
    found = circular_triads(of_wins(wins))
    assert (found.n_circular, found.zeta) == (most, 0)
    ordered = circular_triads(of_wins(np.triu(np.ones((n, n), int), 1)))
    assert (ordered.n_circular, ordered.zeta) == (0, 1)


def test_the_chance_of_few_circular_triads_is_that_of_all_tournaments():
    pairs = list(combinations(range(5), 2))
    counts = []
    for coins in product((0, 1), repeat=len(pairs)):
        beats = np.zeros((5, 5))
        for (i, j), coin in zip(pairs, coins, strict=True):
            beats[(i, j) if coin else (j, i)] = 1
        counts.append(round(np.trace(beats @ beats @ beats) / 3))
    counts = np.array(counts)
    assert counts.mean() == pytest.approx(10 / 4) and counts.var() == pytest.approx(3 * 10 / 16)
    one = np.triu(np.ones((5, 5), int), 1)
    one[0, 2], one[2, 0] = 0, 1  # one circle: 0 beats 1, 1 beats 2, 2 beats 0
    found = circular_triads(of_wins(one))
    exact = (counts <= found.n_circular).mean()
    assert found.p == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 2000))


def test_with_many_items_the_chance_comes_from_the_normal_distribution():
    rng = np.random.default_rng(1)
    found = [circular_triads(of_wins(_coins(rng, 20))).p for _ in range(200)]
    assert 0.01 <= np.mean(np.array(found) < 0.05) <= 0.1


def _coins(rng, n):
    upper = np.triu(rng.random((n, n)) < 0.5, 1)
    return (upper | np.tril(~upper.T, -1)).astype(int)


def test_comparisons_of_each_item_are_counted_as_won_tied_and_lost():
    found = fit_comparisons(compared([(0, 1, 0, 0, 5, 2, 1), (1, 2, 0, 0, 4, 0, 3)], 3))
    assert found.won.tolist() == [[5, 2, 1], [1 + 4, 2, 5 + 3], [3, 0, 4]]


def test_separated_data_stay_finite():
    found = fit_comparisons(of_wins(np.triu(np.full((5, 5), 20), 1)))
    assert np.isfinite([found.strength, found.low, found.high]).all()
    assert list(found.order) == list(range(5))
    assert (np.abs(found.strength) < 12).all() and found.best[0] > 0.8


def test_items_that_no_comparison_connects_have_no_order_between_them():
    wins = np.zeros((5, 5), int)
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 4], wins[4, 2] = 5, 1, 4, 4, 1
    found = fit_comparisons(of_wins(wins))
    assert found.n_groups == 2 and list(found.group) == [1, 1, 0, 0, 0]  # the largest group comes first
    assert np.isnan(found.above[0, 2]) and np.isfinite(found.above[0, 1])
    for number in range(2):
        own = found.group == number
        assert found.strength[own].mean() == pytest.approx(0) and found.best[own].sum() == pytest.approx(1)
    assert list(found.order) == [2, 3, 4, 0, 1]


def test_all_ties_make_equal_items():
    found = fit_comparisons(compared([(0, 1, 0, 0, 0, 9, 0), (1, 2, 0, 0, 0, 9, 0), (0, 2, 0, 0, 0, 9, 0)], 3))
    np.testing.assert_allclose(found.strength, 0, atol=1e-9)
    assert 0.8 < found.tie < 1
    assert circular_triads(compared([(0, 1, 0, 0, 0, 9, 0)], 2)).share is None


def test_one_comparison_of_one_pair_says_little():
    found = fit_comparisons(of_wins([[0, 1], [0, 0]]))
    assert 0.5 < found.above[0, 1] < 0.95 and found.low[0] < 0 < found.high[0]


def test_two_hundred_items_are_ordered():
    strength = np.linspace(2, -2, 200)
    found = fit_comparisons(simulated(6, 30_000, strength, np.ones(20)))
    assert np.corrcoef(found.strength, strength)[0, 1] > 0.98
    assert found.n_orders is None and found.n_groups == 1


def test_a_selection_of_raters_keeps_only_its_items_and_sides():
    dataset = simulated(7, 60, np.linspace(1, -1, 12), np.ones(10))
    part = dataset.select(raters=["rater 3"])
    data = comparisons_of(part)
    whole = comparisons_of(dataset).of_rater(3)
    used = sorted({*whole.first, *whole.second})
    assert data.items == tuple(whole.items[item] for item in used)
    np.testing.assert_array_equal(data.table(), whole.table()[np.ix_(used, used)])
    assert data.side.sum() == whole.side.sum()


def test_other_data_have_no_comparisons():
    dataset = Dataset.from_classes("made", ["a"], ["r"], ["x", "y"], [0], [0], [0])
    with pytest.raises(NotApplicableError):
        comparisons_of(dataset)
    pairs = PairedItems(("p", "q"), np.array([[0, 1]]))
    renamed = Dataset.from_classes("made", ["p | q"], ["r"], ["yes", "no"], [0], [0], [0], pairs=pairs)
    with pytest.raises(NotApplicableError):
        fit_comparisons(renamed)
    kept = Dataset.from_classes("made", ["p | q"], ["r"], [SECOND, FIRST], [0], [0], [0], pairs=pairs)
    assert fit_comparisons(kept).strength[1] > 0
