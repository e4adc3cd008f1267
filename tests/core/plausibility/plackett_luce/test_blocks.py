"""Annotations of a case as distinct rankings over the classes named there."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.plausibility.plackett_luce.blocks import case_blocks, ranking_entries


def blocks_of(dataset, case=0):
    return case_blocks(dataset, case, ranking_entries(dataset))


def as_lists(blocks):
    """Each distinct ranking as blocks of class codes."""
    return [
        [
            blocks.classes[blocks.member[blocks.block_ptr[b] : blocks.block_ptr[b + 1]]].tolist()
            for b in range(blocks.rater_ptr[rater], blocks.rater_ptr[rater + 1])
        ]
        for rater in range(len(blocks.multiplicity))
    ]


def test_identical_rankings_are_counted_together_whatever_the_order_within_a_tie(slow):
    rankings = [[[7, 2], [4]], [[4]], [[2, 7], [4]], [[2], [7], [4]], [[4]], [[7, 2], [4]]]
    blocks = blocks_of(slow.dataset_of([rankings], 9))
    assert blocks.classes.tolist() == [2, 4, 7]
    assert as_lists(blocks) == [[[2, 7], [4]], [[4]], [[2], [7], [4]]]
    assert blocks.multiplicity.tolist() == [3, 2, 1]
    assert blocks.n_rest == 6
    assert blocks.weight(1.5).tolist() == [4.5, 3.0, 1.5]


def test_a_last_block_after_which_nothing_is_left_is_not_there(slow):
    """Its classes are still named; with a class left over the block stays."""
    rankings = [[[0], [2, 1]], [[0, 1, 2]], [[0], [2], [1]]]
    blocks = blocks_of(slow.dataset_of([rankings], 3))
    assert as_lists(blocks) == [[[0]], [], [[0], [2]]]
    assert blocks.classes.tolist() == [0, 1, 2]
    assert blocks.n_rest == 0
    assert as_lists(blocks_of(slow.dataset_of([rankings], 4))) == [[[0], [1, 2]], [[0, 1, 2]], [[0], [2], [1]]]


def test_each_case_has_its_own_classes(slow):
    dataset = slow.dataset_of([[[[5], [1]]], [[[3, 0]], [[3], [0]]]], 6)
    assert as_lists(blocks_of(dataset, 0)) == [[[5], [1]]]
    assert as_lists(blocks_of(dataset, 1)) == [[[0, 3]], [[3], [0]]]
    assert blocks_of(dataset, 0).n_rest == 4


def test_random_rankings_are_counted_as_by_hand(slow):
    rng = np.random.default_rng(0)
    for _ in range(30):
        n_classes = int(rng.integers(1, 5))
        rankings = []
        for _ in range(6):
            classes = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
            cuts = np.flatnonzero(rng.random(len(classes) - 1) < 0.5) + 1
            rankings.append([sorted(part.tolist()) for part in np.split(classes, cuts)])
        distinct = [blocks for i, blocks in enumerate(rankings) if blocks not in rankings[:i]]
        kept = [blocks if sum(map(len, blocks)) < n_classes else blocks[:-1] for blocks in distinct]
        found = blocks_of(slow.dataset_of([rankings], n_classes))
        assert as_lists(found) == kept
        assert found.multiplicity.tolist() == [rankings.count(blocks) for blocks in distinct]


def test_single_classes_are_rankings_of_one_block(build):
    dataset = build([(0, 0, 3), (0, 1, 1), (0, 2, 3)], 5)
    blocks = blocks_of(dataset)
    assert as_lists(blocks) == [[[3]], [[1]]]
    assert blocks.multiplicity.tolist() == [2, 1]


def test_a_case_with_no_annotation_has_no_blocks(build):
    blocks = blocks_of(build([(1, 0, 0)], 3, 2))
    assert len(blocks.classes) == len(blocks.multiplicity) == 0
    assert blocks.n_rest == 3


def test_scores_have_no_blocks():
    scores = Dataset.from_scores("s", ["a"], ["r"], np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(NotApplicableError, match="Could not rank scores"):
        ranking_entries(scores)
