"""Modes and maxima of the likelihood against a general optimiser, and when the maximum lies inside."""

import numpy as np
import pytest
from scipy.optimize import minimize

from core.annotations.dataset import Dataset
from core.errors import InputError, NotApplicableError
from core.plausibility.plackett_luce import point as module
from core.plausibility.plackett_luce.blocks import case_blocks, ranking_entries
from core.plausibility.plackett_luce.point import plackett_luce_ml, plackett_luce_mode, strongly_connected


def random_rankings(rng, n_classes, n_raters):
    rankings = []
    for _ in range(n_raters):
        classes = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
        cuts = np.flatnonzero(rng.random(len(classes) - 1) < 0.5) + 1
        rankings.append([part.tolist() for part in np.split(classes, cuts)])
    return rankings


def best(objective, n_places):
    """Maximum of an objective of shares over the simplex, by softmax coordinates, the last of them 0."""

    def shares(x):
        grown = np.exp(np.append(x, 0) - max(x.max(initial=0), 0))
        return grown / grown.sum()

    found = minimize(lambda x: -objective(shares(x)), np.zeros(n_places - 1), method="BFGS", options={"gtol": 1e-7})
    return shares(found.x)


def over_places(rankings, n_classes, *, with_rest):
    """Named classes and rankings of their places, and how many places there are, the last for all others."""
    named = sorted({k for blocks in rankings for block in blocks for k in block})
    place = {k: i for i, k in enumerate(named)}
    n_places = len(named) + (with_rest and len(named) < n_classes)
    return named, [[[place[k] for k in block] for block in blocks] for blocks in rankings], n_places


def connected(rankings, n_classes, slow):
    dataset = slow.dataset_of([rankings], n_classes)
    return bool(strongly_connected([case_blocks(dataset, 0, ranking_entries(dataset))])[0])


@pytest.mark.parametrize("reliability", [0.5, 1.0, 3.0])
def test_the_mode_is_that_of_a_general_optimiser(reliability, slow):
    """Of Σ γ ln p + 0.1 Σ ln λ, all never-named classes as one coordinate."""
    rng = np.random.default_rng(int(10 * reliability))
    for n_classes, n_raters in [(2, 1), (3, 1), (3, 4), (4, 2), (5, 3), (9, 2)]:
        rankings = random_rankings(rng, min(n_classes, 5), n_raters)
        named, local, n_places = over_places(rankings, n_classes, with_rest=True)
        point = plackett_luce_mode(slow.dataset_of([rankings], n_classes), reliability=reliability)

        def objective(share, local=local):
            likelihood = [slow.likelihood(blocks, share[None])[0] for blocks in local]
            return reliability * np.log(likelihood).sum() + 0.1 * np.log(share).sum()

        exact = best(objective, n_places)
        assert point.class_code.tolist() == named
        assert point.converged.all()
        assert point.share == pytest.approx(exact[: len(named)], abs=2e-5)
        assert point.rest[0] == pytest.approx(exact[len(named)] if n_places > len(named) else 0, abs=2e-5)
        assert point.share.sum() + point.rest[0] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("size", [9, 10])
@pytest.mark.parametrize("reliability", [1.0, 2.5])
def test_the_mode_of_large_blocks_is_that_of_a_general_optimiser(size, reliability, slow):
    rankings = [[[size], list(range(size))], [[0, 1], [2]], [[2]]]
    point = plackett_luce_mode(slow.dataset_of([rankings], size + 5), reliability=reliability)

    def objective(share):
        likelihood = [slow.blocks_likelihood(blocks, share[None])[0] for blocks in rankings]
        return reliability * np.log(likelihood).sum() + 0.1 * np.log(share).sum()

    exact = best(objective, size + 2)
    assert point.converged.all()
    assert np.append(point.share, point.rest) == pytest.approx(exact, abs=5e-5)
    assert point.share[3:size] == pytest.approx(np.full(size - 3, point.share[3]), rel=1e-9)


def test_maximum_likelihood_of_strongly_connected_classes_is_that_of_a_general_optimiser(slow):
    rng = np.random.default_rng(2)
    n_done = 0
    while n_done < 12:
        n_classes = int(rng.integers(2, 6))
        rankings = random_rankings(rng, n_classes, int(rng.integers(2, 6)))
        _, local, n_places = over_places(rankings, n_classes + 2, with_rest=False)
        if n_places < 2 or not connected(rankings, n_classes + 2, slow):
            continue
        n_done += 1
        point = plackett_luce_ml(slow.dataset_of([rankings], n_classes + 2))

        def objective(share, local=local):
            return np.log([slow.likelihood(blocks, share[None])[0] for blocks in local]).sum()

        assert point.converged.all()
        assert point.interior.all()
        assert point.share == pytest.approx(best(objective, n_places), abs=2e-5)
        assert point.rest[0] == 0


def test_maximum_likelihood_of_three_in_a_circle_and_one_more_is_found_by_hand(slow):
    """A pair seen a times against b has odds a : b; a circle seen evenly leaves all three equal."""
    circle = [[[0], [1], [2]], [[1], [2], [0]], [[2], [0], [1]]]
    assert plackett_luce_ml(slow.dataset_of([circle], 3)).share == pytest.approx(np.full(3, 1 / 3), abs=1e-7)
    pair = [[[0], [1]]] * 5 + [[[1], [0]]] * 2
    assert plackett_luce_ml(slow.dataset_of([pair], 2)).share == pytest.approx([5 / 7, 2 / 7], abs=1e-7)


def test_the_mode_of_single_classes_is_their_share_with_a_tenth_more(build):
    """(n_k + 0.1) / (n + 0.1 K): the likelihood is then Σ n_k ln λ_k."""
    point = plackett_luce_mode(build([(0, 0, 1), (0, 1, 1), (0, 2, 0)], 3), reliability=2.0)
    assert point.class_code.tolist() == [0, 1]
    assert np.append(point.share, point.rest) == pytest.approx(np.array([2.1, 4.1, 0.1]) / 6.3, abs=1e-8)


STRONGLY_CONNECTED = [
    ([[[0]]], True),
    ([[[0], [1]]], False),
    ([[[0], [1]], [[1], [0]]], True),
    ([[[0, 1]]], False),
    ([[[0]], [[1]]], True),
    ([[[0], [1], [2]], [[2], [0]]], True),
    ([[[0, 1], [2]], [[2]]], True),
    ([[[0], [1]], [[1], [0]], [[0], [2]]], True),
    ([[[0], [1]], [[1], [0]], [[0, 1], [2]]], False),
    ([[[0], [1]], [[2], [3]]], True),
    ([[[0], [1, 2]], [[1, 2], [0]]], True),
    ([[[0, 1], [2]], [[0, 1], [2]]], False),
]


@pytest.mark.parametrize(("rankings", "expected"), STRONGLY_CONNECTED, ids=str)
def test_classes_are_strongly_connected_where_each_is_ranked_above_each_other_in_steps(rankings, expected, slow):
    """An unranked class of the case is below all that the rater ranked."""
    assert connected(rankings, 6, slow) == expected
    assert plackett_luce_ml(slow.dataset_of([rankings], 6)).interior.tolist() == [expected]


@pytest.mark.parametrize("side_by_side", [1, 5, 1_000])
def test_cases_side_by_side_are_strongly_connected_as_each_is_alone(side_by_side, slow, monkeypatch):
    monkeypatch.setattr(module, "_SIDE_BY_SIDE", side_by_side)
    rankings, expected = zip(*STRONGLY_CONNECTED, strict=True)
    point = plackett_luce_ml(slow.dataset_of([*rankings, []], 6))
    assert point.interior.tolist() == [*expected, True]
    assert plackett_luce_ml(slow.dataset_of([*rankings], 6), cases=range(3, 6)).interior.tolist() == [*expected[3:6]]


def test_classes_of_a_dropped_last_block_are_below_the_others(slow):
    assert not connected([[[0], [1, 2]]], 3, slow)
    assert connected([[[0], [1, 2]], [[1], [0, 2]], [[2], [0, 1]]], 3, slow)
    assert not connected([[[0, 1, 2]]], 3, slow)


def test_maximum_likelihood_gives_nothing_to_the_rest_and_to_a_class_that_is_always_below(slow):
    point = plackett_luce_ml(slow.dataset_of([[[[0], [1], [2]], [[1], [0], [2]]]], 8))
    assert point.rest.tolist() == [0]
    assert point.interior.tolist() == [False]
    assert point.share == pytest.approx([0.5, 0.5, 0], abs=1e-3)


def test_maximum_likelihood_of_any_case_is_finite_and_sums_to_1(slow):
    """Boundaries, large blocks with nothing after them, and rankings that say nothing included."""
    rng = np.random.default_rng(4)
    cases = [random_rankings(rng, n_classes, 2) for n_classes in (1, 2, 3, 6, 10, 12) for _ in range(8)]
    cases += [
        [[list(range(9))]],
        [[list(range(9))], [[0], [1]]],
        [[list(range(9)), [9]]],
        [[list(range(9)), [9], [10, 11]]],
        [[[11], list(range(10)), [10]], [[0]]],
    ]
    dataset = slow.dataset_of(cases, 12)
    for point in (plackett_luce_ml(dataset), plackett_luce_mode(dataset)):
        assert np.isfinite(point.share).all()
        assert (point.share >= 0).all()
        assert np.add.reduceat(point.share, point.ptr[:-1]) + point.rest == pytest.approx(np.ones(len(cases)))
    assert plackett_luce_ml(slow.dataset_of([[[[0, 1]]]], 2)).share.tolist() == [0.5, 0.5]


def test_points_of_some_cases_are_those_of_all(slow):
    rng = np.random.default_rng(1)
    dataset = slow.dataset_of([random_rankings(rng, 5, 3) for _ in range(8)], 7)
    every, part = plackett_luce_mode(dataset), plackett_luce_mode(dataset, cases=range(3, 6))
    assert (part.share == every.share[every.ptr[3] : every.ptr[6]]).all()
    assert (part.rest == every.rest[3:6]).all()
    assert (part.class_code == every.class_code[every.ptr[3] : every.ptr[6]]).all()


def test_a_case_with_no_annotation_is_all_rest(build):
    point = plackett_luce_mode(build([(1, 0, 0)], 3, 2))
    assert point.ptr.tolist() == [0, 0, 1]
    assert point.rest[0] == 1
    assert plackett_luce_ml(build([(1, 0, 0)], 3, 2)).rest.tolist() == [1, 0]


def test_one_class_takes_all(slow):
    point = plackett_luce_mode(slow.dataset_of([[[[0]]]], 1))
    assert point.share.tolist() == [1]
    assert point.rest.tolist() == [0]


@pytest.mark.parametrize("reliability", [0.0, -1.0, np.nan, np.inf])
def test_a_reliability_outside_its_range_is_refused(reliability, slow):
    with pytest.raises(InputError, match="reliability γ"):
        plackett_luce_mode(slow.dataset_of([[[[0]]]], 2), reliability=reliability)


def test_scores_have_no_modes():
    scores = Dataset.from_scores("s", ["a"], ["r"], np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(NotApplicableError, match="Could not rank scores"):
        plackett_luce_mode(scores)
