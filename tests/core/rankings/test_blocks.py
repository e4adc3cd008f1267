"""Blocks as arrays against the dataset's own lists."""

import numpy as np
import pytest

from core.errors import InputError, NotApplicableError
from core.rankings.blocks import entries_of, ranked_entries


def as_blocks(entries, annotation):
    """Lists of tied classes again, by the places alone."""
    blocks = {}
    for e in range(entries.ptr[annotation], entries.ptr[annotation + 1]):
        blocks.setdefault((int(entries.before[e]), int(entries.size[e])), []).append(int(entries.class_code[e]))
    return [blocks[place] for place in sorted(blocks)]


@pytest.mark.parametrize("seed", range(5))
def test_places_and_sizes_tell_the_blocks_of_every_annotation(seed, ranked, some_cases):
    dataset = ranked(some_cases(seed, 7), 7)
    entries = ranked_entries(dataset)
    assert len(entries.ptr) == dataset.n_annotations + 1
    for annotation in range(dataset.n_annotations):
        blocks = dataset.blocks_of(annotation)
        assert as_blocks(entries, annotation) == blocks
        start = 0
        for place, block in enumerate(blocks):
            these = entries.ptr[annotation] + start + np.arange(len(block))
            assert (entries.block[these] == place).all()
            assert (entries.before[these] == start).all()
            assert (entries.size[these] == len(block)).all()
            start += len(block)


def test_a_run_of_annotations_has_their_entries_counted_from_its_first(ranked, some_cases):
    dataset = ranked(some_cases(1, 6), 6)
    part = ranked_entries(dataset, range(4, 9))
    assert part.ptr[0] == 0 and len(part.ptr) == 6
    assert [as_blocks(part, a) for a in range(5)] == [dataset.blocks_of(a) for a in range(4, 9)]
    assert len(ranked_entries(dataset, range(3, 3)).class_code) == 0


def test_a_single_class_is_one_block_of_one_class(single):
    dataset = single([(0, 0, 2), (0, 1, 1), (1, 0, 0)], 3)
    entries = ranked_entries(dataset)
    assert [as_blocks(entries, a) for a in range(3)] == [[[2]], [[1]], [[0]]]
    assert [as_blocks(ranked_entries(dataset, range(1, 3)), a) for a in range(2)] == [[[1]], [[0]]]


def test_lists_of_blocks_become_the_same_entries_as_a_dataset_of_them(ranked, some_cases):
    cases = some_cases(3, 5, n_cases=1)
    lists = [blocks for _, blocks in cases[0]]
    ours, theirs = entries_of(lists, 5), ranked_entries(ranked(cases, 5))
    for name in ("ptr", "class_code", "block", "before", "size"):
        assert getattr(ours, name).tolist() == getattr(theirs, name).tolist()
        assert getattr(ours, name).dtype == getattr(theirs, name).dtype


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([[0], []], "ranking 1: block 2 is empty"),
        ([[0], [3]], "Ranking 1, block 2: classes are 0 to 2; got 3"),
        ([[-1]], "got -1"),
        ([[0, 1], [0]], "ranking 1: it contains class 0 twice"),
    ],
)
def test_lists_that_are_no_ranking_are_refused_with_their_place(blocks, message):
    with pytest.raises(InputError, match=message):
        entries_of([blocks], 3)


def test_scores_have_no_blocks(scores):
    with pytest.raises(NotApplicableError, match="scores"):
        ranked_entries(scores)
