"""Classifiers against draws: every possible truth and every possible order of tied scores, spelled out one by one."""

from collections import Counter
from dataclasses import dataclass
from itertools import permutations, product
from math import comb

import numpy as np
import pytest

from core.errors import InputError
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.protocol import CaseDraws
from core.reducers import protocol
from core.reducers.metrics import Metrics, risk_bin, score_case
from core.reducers.protocol import reduce_draws
from core.reducers.risk import level_masses


@dataclass
class Lists:
    """A classifier from one list of blocks of tied classes per case; None where it predicts nothing."""

    blocks: list

    def __post_init__(self):
        cases = [[] if one is None else one for one in self.blocks]
        sizes = [sum(map(len, one)) for one in cases]
        self.ptr = np.cumsum([0, *sizes])
        self.class_code = np.array([k for one in cases for block in one for k in block], np.int32)
        self.group = np.array([place for one in cases for place, block in enumerate(one) for _ in block], np.int32)


def plain(truth, predicted, k):
    """The five metrics of one order of classes against another, as anyone would write them."""
    truth, predicted = truth[:k], predicted[:k]
    overlap = [len(set(truth[:j]) & set(predicted[:j])) / j for j in range(1, k + 1)]
    same = len(truth) == len(predicted) == k and set(truth) == set(predicted)
    return np.array([truth[0] == predicted[0], truth[0] in predicted, same, overlap[-1], sum(overlap) / k], float)


def truths(order, named, n_classes):
    """Every order of real classes that one row of places may stand for, all as likely as each other."""
    rest = [k for k in range(n_classes) if k not in named]
    places = [place for place in order if place >= 0]
    for identity in permutations(rest, places.count(len(named))):
        left = iter(identity)
        yield tuple(named[place] if place < len(named) else next(left) for place in places)


def resolved(blocks, k):
    """How often each list of the first ``k`` classes comes out of all orders of tied scores."""
    return Counter(sum(parts, ())[:k] for parts in product(*map(permutations, blocks)))


def slow_scores(draws, n_classes, blocks, k):
    """Means of the plain metrics over all truths and all lists that a draw and a classifier leave open."""
    lists, columns = resolved(blocks, k), []
    for order in draws.top[:, :k].tolist():
        possible = list(truths(order, draws.classes.tolist(), n_classes))
        total = sum(times * plain(truth, one, k) for truth in possible for one, times in lists.items())
        columns.append(total / len(possible) / lists.total())
    return np.array(columns).T


def random_draws(rng, n_classes, named, n_draws=4, depth=3):
    """Draws of all classes, those that are not ``named`` told only by their sum."""
    full = rng.dirichlet(np.full(n_classes, 0.8), n_draws)
    place = np.array([named.index(k) if k in named else len(named) for k in range(n_classes)], np.int32)
    order = place[np.argsort(-full, axis=1)[:, :depth]]
    top = np.pad(order, ((0, 0), (0, depth - order.shape[1])), constant_values=-1)
    rest = np.delete(full, named, axis=1).sum(1)
    return CaseDraws(
        np.array(named, np.int32), full[:, named], rest, top, n_classes - len(named), 1.0, float(n_draws), 0
    )


def random_blocks(rng, n_classes):
    """One to all classes in a random order, about half of the neighbours tied."""
    order = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
    cuts = np.flatnonzero(rng.random(len(order) - 1) < 0.5) + 1
    return [part.tolist() for part in np.split(order, cuts)]


def random_named(rng, n_classes):
    """Some classes, none and all of them included."""
    return sorted(rng.choice(n_classes, rng.integers(0, n_classes + 1), replace=False).tolist())


def fast_scores(draws, blocks, k):
    lists = Lists([blocks])
    return score_case(draws, lists.class_code, lists.group, k)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [1, 2, 3, 4, 5, 6])
def test_scores_are_means_over_every_truth_and_every_order_of_ties(n_classes, k):
    rng = np.random.default_rng([n_classes, k])
    for _ in range(25):
        draws = random_draws(rng, n_classes, random_named(rng, n_classes))
        blocks = random_blocks(rng, n_classes)
        expected = slow_scores(draws, n_classes, blocks, k)
        assert fast_scores(draws, blocks, k) == pytest.approx(expected, abs=1e-12), (draws, blocks)


@pytest.mark.parametrize(
    ("named", "blocks"),
    [
        ([], [[6, 0, 3, 5], [1]]),  # no annotation at all, a tie across place 3
        ([2, 4], [[0, 1, 2, 3, 4, 5, 6]]),  # a classifier that says nothing
        ([2, 4], [[5], [0, 2, 6]]),  # a never-named class first
        ([0, 1, 2, 3, 4, 5, 6], [[3], [1, 2], [0, 5]]),  # nothing is left unnamed
        ([1, 2, 3], [[0]]),  # fewer classes than places, one that nobody named
        ([1, 2, 3, 6], [[0, 5], [1, 4, 3]]),
    ],
)
def test_scores_of_seven_classes_are_means_over_every_truth_and_every_order_of_ties(named, blocks):
    draws = random_draws(np.random.default_rng(7), 7, named)
    for k in (1, 2, 3):
        assert fast_scores(draws, blocks, k) == pytest.approx(slow_scores(draws, 7, blocks, k), abs=1e-12)


def test_a_case_without_annotations_gives_every_list_the_scores_of_chance():
    """Seven classes, none named: top-1 1/7, in the first three 3/7, the set of three 1/35, overlap 3/7."""
    draws = random_draws(np.random.default_rng(0), 7, [])
    expected = [1 / 7, 3 / 7, 1 / comb(7, 3), 3 / 7, np.mean([1 / 7, 2 / 7, 3 / 7])]
    for blocks in ([[0], [1], [2]], [[6, 5], [4]], [list(range(7))]):
        assert fast_scores(draws, blocks, 3).T.tolist() == [pytest.approx(expected, abs=1e-12)] * 4


def test_a_short_list_of_classes_or_predictions_is_divided_by_k_and_never_the_whole_set():
    draws = random_draws(np.random.default_rng(0), 2, [0, 1])
    assert fast_scores(draws, [[0, 1]], 3)[2:4].tolist() == [[0] * 4, [pytest.approx(2 / 3)] * 4]
    draws = random_draws(np.random.default_rng(0), 5, [0, 1, 2, 3, 4])
    first = draws.classes[draws.top[0, 0]]
    found = fast_scores(draws, [[first]], 3)[:, 0]
    assert found == pytest.approx([1, 1, 0, 1 / 3, (1 + 1 / 2 + 1 / 3) / 3])


@pytest.mark.parametrize("seed", range(20))
def test_top_1_accuracy_is_every_metric_at_k_1(seed):
    rng = np.random.default_rng(seed)
    draws, blocks = random_draws(rng, 6, random_named(rng, 6), 50), random_blocks(rng, 6)
    one = fast_scores(draws, blocks, 1)
    assert one == pytest.approx(np.tile(one[0], (5, 1)), abs=1e-15)
    assert (fast_scores(draws, blocks, 3)[0] == one[0]).all()


@pytest.mark.parametrize("seed", range(20))
def test_average_overlap_is_the_mean_of_overlaps_at_1_to_k(seed):
    rng = np.random.default_rng(seed)
    draws, blocks = random_draws(rng, 6, random_named(rng, 6), 50), random_blocks(rng, 6)
    by_depth = [fast_scores(draws, blocks, k)[3] for k in (1, 2, 3)]
    assert fast_scores(draws, blocks, 3)[4] == pytest.approx(np.mean(by_depth, axis=0), abs=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_between_0_and_1_and_the_whole_set_is_rarer_than_its_overlap(seed):
    rng = np.random.default_rng(seed)
    draws, blocks = random_draws(rng, 9, random_named(rng, 9), 50), random_blocks(rng, 9)
    top1, topk, whole, overlap, average = fast_scores(draws, blocks, 3)
    for scores in (top1, topk, whole, overlap, average):
        assert ((scores >= 0) & (scores <= 1 + 1e-12)).all()
    assert (top1 <= topk + 1e-12).all()
    assert (whole <= overlap + 1e-12).all()
    assert (top1 / 3 <= average + 1e-12).all()


@pytest.mark.parametrize(("rank", "earned"), [(1, 0.611), (2, 0.278), (3, 0.111)])
def test_a_class_at_the_same_rank_of_both_lists_earns_the_tail_of_the_harmonic_series(rank, earned):
    """(1/3) Σ_{k=r..3} 1/k; the other classes of the lists have nothing in common."""
    top = np.array([[0, 1, 2]], np.int32)
    draws = CaseDraws(np.arange(6, dtype=np.int32), np.full((1, 6), 1 / 6), np.zeros(1), top, 0, 1.0, 1.0, 0)
    blocks = [[3], [4], [5]]
    blocks[rank - 1] = [rank - 1]
    assert fast_scores(draws, blocks, 3)[4] == pytest.approx(sum(1 / k for k in range(rank, 4)) / 3, abs=1e-15)
    assert fast_scores(draws, blocks, 3)[4] == pytest.approx(earned, abs=5e-4)


def test_classes_may_be_renamed_at_will():
    rng = np.random.default_rng(3)
    for _ in range(20):
        draws, blocks = random_draws(rng, 6, named := random_named(rng, 6)), random_blocks(rng, 6)
        new = rng.permutation(6)
        order = np.argsort(new[named])
        place = np.append(np.argsort(order), [len(named), -1]).astype(np.int32)
        renamed = CaseDraws(
            np.sort(new[named]).astype(np.int32),
            draws.share[:, order],
            draws.rest,
            place[draws.top],
            draws.n_rest,
            1.0,
            4.0,
            0,
        )
        moved = [new[block].tolist() for block in blocks]
        assert fast_scores(renamed, moved, 3) == pytest.approx(fast_scores(draws, blocks, 3), abs=1e-15)


@pytest.mark.parametrize("k", [0, 4])
def test_a_depth_that_the_draws_do_not_have_is_refused(k):
    draws = random_draws(np.random.default_rng(0), 5, [0, 2])
    with pytest.raises(InputError, match=f"must be between 1 and 3; got {k}"):
        fast_scores(draws, [[0], [2]], k)


N_CASES, N_CLASSES = 30, 6
RISK = np.array([0, 0, 1, 1, 2, 2], np.int8)


@pytest.fixture
def dataset(build):
    """Low, medium and high risk; some cases have no annotation."""
    rng = np.random.default_rng(5)
    rows = [(case, rater, case % 3 * 2 + int(rng.integers(2))) for case in range(N_CASES) for rater in range(4)]
    return build([row for row in rows if rng.random() < 0.5 and row[0] % 7], N_CLASSES, N_CASES, 4)


@pytest.fixture
def classifiers():
    """One that predicts all cases, two that miss some, and one that predicts only cases that the last one misses."""
    rng = np.random.default_rng(6)
    blocks = [[random_blocks(rng, N_CLASSES) for _ in range(N_CASES)] for _ in range(4)]
    for case in range(N_CASES):
        if case % 3 == 0:
            blocks[1][case] = None
        if case % 2 == 0:
            blocks[2][case] = None
        if case % 2 == 1:
            blocks[3][case] = None
    return tuple(Lists(one) for one in blocks)


def reduced(dataset, reducer, **more):
    return reduce_draws(DirichletCounts(), dataset, [reducer], reliability=20.0, n_draws=40, seed=2, **more)[0]


def stream(dataset):
    return list(DirichletCounts().draws(dataset, reliability=20.0, n_draws=40, seed=2))


@pytest.mark.parametrize("risk", [None, RISK])
def test_the_reducer_keeps_sums_of_the_scores_of_single_cases(dataset, classifiers, risk):
    state = reduced(dataset, Metrics(classifiers, 3, risk))
    total, n = np.zeros_like(state.total), np.zeros_like(state.n)
    gap = {pair: np.zeros((5, 40)) for pair in Metrics(classifiers).pairs}
    for case, draws in stream(dataset):
        mass = 0 if risk is None else (level_masses(draws, risk)[0] * [0, 1, 2]).sum(1).mean()
        where = int(mass >= 0.5) + int(mass >= 1.5)
        scores = {
            number: fast_scores(draws, one.blocks[case], 3)
            for number, one in enumerate(classifiers)
            if one.blocks[case] is not None
        }
        for number in range(4):
            if number not in scores:
                assert np.isnan(state.per_case[case, number]).all()
                continue
            total[number, where] += scores[number]
            n[number, where] += 1
            assert state.per_case[case, number] == pytest.approx(scores[number].mean(axis=1), abs=1e-14)
        for a, b in gap:
            if a in scores and b in scores:
                gap[a, b] += scores[a] - scores[b]
    assert state.total == pytest.approx(total, abs=1e-12)
    assert (state.n == n).all()
    assert state.n.sum(axis=1).tolist() == [30, 20, 15, 15]
    assert risk is None or (state.n[0] > 0).all()
    assert list(gap) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert state.gap == pytest.approx(np.array(list(gap.values())), abs=1e-12)
    assert (state.gap[5] == 0).all() and (state.gap[:5] != 0).any(axis=(1, 2)).all()


@pytest.mark.parametrize("size", [1, 4, 29, 1000])
def test_the_size_of_chunks_changes_nothing(size, dataset, classifiers, monkeypatch):
    whole = reduced(dataset, Metrics(classifiers, 3, RISK))
    monkeypatch.setattr(protocol, "CHUNK_CASES", size)
    parts = reduced(dataset, Metrics(classifiers, 3, RISK))
    assert parts.total == pytest.approx(whole.total, abs=1e-12)
    assert parts.gap == pytest.approx(whole.gap, abs=1e-12)
    assert (parts.n == whole.n).all()
    assert np.array_equal(parts.per_case, whole.per_case, equal_nan=True)


def test_a_run_of_cases_takes_the_predictions_of_those_cases(dataset, classifiers):
    whole = reduced(dataset, Metrics(classifiers, 3))
    part = reduced(dataset, Metrics(classifiers, 3), cases=range(11, 20))
    assert np.array_equal(part.per_case, whole.per_case[11:20], equal_nan=True)


def test_a_classifier_scores_the_same_alone_and_among_others(dataset, classifiers):
    whole = reduced(dataset, Metrics(classifiers, 2, RISK))
    for number, one in enumerate(classifiers):
        alone = reduced(dataset, Metrics((one,), 2, RISK))
        assert (alone.total[0] == whole.total[number]).all()
        assert alone.gap.shape == (0, 5, 40)


@pytest.mark.parametrize(
    ("shares", "expected"), [((0.76, 0.24), 0), ((0.75, 0.25), 1), ((0.26, 0.74), 1), ((0.25, 0.75), 2), ((0, 1), 2)]
)
def test_bins_of_risk_begin_at_one_half_and_at_one_and_a_half(shares, expected):
    share = np.tile(np.array(shares, float), (3, 1))
    top = np.zeros((3, 1), np.int32)
    draws = CaseDraws(np.arange(2, dtype=np.int32), share, np.zeros(3), top, 0, 1.0, 3.0, 0)
    assert risk_bin(draws, np.array([0, 2], np.int8)) == expected
