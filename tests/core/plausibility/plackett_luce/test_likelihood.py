"""The likelihood of partial rankings against closed forms, all orders written out, and exact fractions."""

from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest

from core.errors import InputError
from core.plausibility.plackett_luce.likelihood import log_likelihood


def by_subsets(block, lam, later):
    """Π λ R(block) in exact fractions, R(A) = Σ R(A minus a) / (later + Σ λ of A)."""
    table = {0: Fraction(1)}
    for mask in range(1, 1 << len(block)):
        members = [i for i in range(len(block)) if mask >> i & 1]
        rate = later + sum(lam[block[i]] for i in members)
        table[mask] = sum(table[mask ^ (1 << i)] for i in members) / rate
    value = table[(1 << len(block)) - 1]
    for k in block:
        value *= lam[k]
    return value


def random_ranking(rng, n_classes):
    """Blocks of random sizes over some or all of the classes."""
    classes = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
    cuts = np.flatnonzero(rng.random(len(classes) - 1) < 0.5) + 1
    return [part.tolist() for part in np.split(classes, cuts)]


@pytest.mark.parametrize(
    ("blocks", "lam", "exact"),
    [
        ([[3, 0], [1, 2]], [0.3, 0.15, 0.4, 0.1, 0.05], 0.0550265),
        ([[2], [1], [4]], [0.3, 0.15, 0.4, 0.1, 0.05], 0.0111111),
        ([[1, 4], [3]], [0.1, 0.3, 0.1, 0.15, 0.35], 0.1335165),
    ],
)
def test_closed_forms(blocks, lam, exact):
    assert np.exp(log_likelihood(blocks, np.array(lam))) == pytest.approx(exact, abs=5e-8)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 6])
def test_the_likelihood_is_the_sum_over_all_orders_that_agree(n_classes, slow):
    rng = np.random.default_rng(n_classes)
    for _ in range(40 if n_classes < 6 else 15):
        lam = rng.gamma(0.5, size=n_classes) + 1e-6
        blocks = random_ranking(rng, n_classes)
        assert np.exp(log_likelihood(blocks, lam)) == pytest.approx(slow.likelihood(blocks, lam), rel=1e-11)


def test_a_last_block_after_which_nothing_is_left_says_nothing(slow):
    """{0} before {1, 2} is all that {0}, {1, 2} says of three classes; a tie of all classes says nothing."""
    lam = np.array([0.2, 0.5, 1.3])
    assert log_likelihood([[0], [1, 2]], lam) == log_likelihood([[0]], lam)
    assert log_likelihood([[2, 0, 1]], lam) == 0.0
    assert log_likelihood([], lam) == 0.0
    assert log_likelihood([[1], [2], [0]], lam) == pytest.approx(np.log(slow.likelihood([[1], [2]], lam)), abs=1e-14)


@pytest.mark.parametrize(("n_classes", "sizes"), [(5, (1, 1, 1, 1, 1)), (6, (2, 1)), (6, (3,)), (6, (1, 3, 1))])
def test_probabilities_of_all_rankings_of_one_form_sum_to_1(n_classes, sizes):
    lam = np.random.default_rng(0).gamma(1, size=n_classes)
    rankings = {
        tuple(tuple(sorted(order[sum(sizes[:b]) : sum(sizes[: b + 1])])) for b in range(len(sizes)))
        for order in permutations(range(n_classes), sum(sizes))
    }
    assert sum(np.exp(log_likelihood(blocks, lam)) for blocks in rankings) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("n_classes", "size"), [(10, 9), (12, 10), (14, 12)])
def test_probabilities_of_all_large_blocks_sum_to_1(n_classes, size):
    lam = np.random.default_rng(size).gamma(0.7, size=n_classes)
    total = sum(np.exp(log_likelihood([block], lam)) for block in combinations(range(n_classes), size))
    assert total == pytest.approx(1, abs=1e-11)


@pytest.mark.parametrize("size", [8, 9, 10, 11, 12])
@pytest.mark.parametrize("later", [Fraction(1, 10**6), Fraction(1), Fraction(1000)], ids=float)
def test_a_block_of_any_size_equals_the_recursion_over_subsets_in_exact_fractions(size, later, slow):
    rng = np.random.default_rng(size)
    exact = [Fraction(int(a), 64) for a in rng.integers(1, 200, size)]
    lam = np.array([float(a) for a in exact] + [float(later)])
    value = float(by_subsets(list(range(size)), exact, later))
    assert np.exp(log_likelihood([list(range(size))], lam)) == pytest.approx(value, rel=1e-10)
    assert slow.tied_first(lam[None, :size], lam[size:])[0] == pytest.approx(value, rel=1e-8)


def test_a_large_block_in_the_middle_waits_for_all_that_comes_after():
    rng = np.random.default_rng(3)
    exact = [Fraction(int(a), 64) for a in rng.integers(1, 200, 14)]
    blocks = [[13, 0], list(range(1, 10)), [10]]
    value = (
        by_subsets(blocks[0], exact, sum(exact[1:13]))
        * by_subsets(blocks[1], exact, sum(exact[10:13]))
        * by_subsets(blocks[2], exact, sum(exact[11:13]))
    )
    lam = np.array([float(a) for a in exact])
    assert log_likelihood(blocks, lam) == pytest.approx(np.log(float(value)), abs=1e-10)


@pytest.mark.parametrize("scale", [1e-250, 1e-30, 7.0, 1e30, 1e250])
@pytest.mark.parametrize("size", [1, 3, 8, 11])
def test_the_scale_of_the_plausibilities_is_free(size, scale):
    lam = np.random.default_rng(size).gamma(1, size=size + 3)
    blocks = [[size], list(range(size)), [size + 1]]
    assert log_likelihood(blocks, lam * scale) == pytest.approx(log_likelihood(blocks, lam), abs=1e-11)


@pytest.mark.parametrize("tiny", [1e-17, 1e-40, 1e-200])
def test_mass_after_a_block_is_not_lost_beside_the_mass_before_it(tiny):
    """1 minus the mass of the first class would be 0; the second is ahead of the third with probability 3/4."""
    lam = np.array([1.0, 3 * tiny, tiny])
    assert log_likelihood([[0], [1]], lam) == pytest.approx(np.log(0.75), abs=1e-12)
    block = np.concatenate([[1.0], np.full(8, tiny), [tiny]])
    assert log_likelihood([[0], list(range(1, 9))], block) == pytest.approx(np.log(1 / 9), abs=1e-12)
    large = np.concatenate([[1.0], np.full(10, tiny), [tiny]])
    assert log_likelihood([[0], list(range(1, 11))], large) == pytest.approx(np.log(1 / 11), abs=1e-11)


def test_renamed_classes_have_the_same_likelihood():
    rng = np.random.default_rng(5)
    for n_classes in (4, 7, 13):
        lam = rng.gamma(1, size=n_classes)
        blocks = random_ranking(rng, n_classes)
        new = rng.permutation(n_classes)
        renamed = [[int(new[k]) for k in block] for block in blocks]
        assert log_likelihood(renamed, lam[np.argsort(new)]) == pytest.approx(log_likelihood(blocks, lam), abs=1e-11)


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([[0], [0, 1]], "occurs twice"),
        ([[0, 0]], "occurs twice"),
        ([[0], [3]], "unknown"),
        ([[-1]], "unknown"),
        ([[0], []], "empty"),
    ],
)
def test_a_class_twice_an_unknown_class_and_an_empty_block_are_refused(blocks, message):
    with pytest.raises(InputError, match=message):
        log_likelihood(blocks, np.ones(3))


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_plausibilities_that_are_no_positive_numbers_are_refused(value):
    with pytest.raises(InputError, match="positive number"):
        log_likelihood([[0]], np.array([1.0, value]))
