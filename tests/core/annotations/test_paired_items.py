"""Pairs of items travel with a dataset: digest, selections, saving and names."""

from dataclasses import replace

import numpy as np
import pytest

from core import library, read
from core.annotations.dataset import Dataset
from core.annotations.paired_items import FIRST, SECOND, PairedItems
from core.errors import InputError
from core.runtime.encoding import to_bytes
from core.runtime.workers import NO_DATA, _fields, read_dataset

TEXT = b"model_a,model_b,winner,judge\nb,a,model_a,j1\na,b,tie,j2\na,c,model_b,j1\nc,b,tie,j2\na,c,model_a,j3\n"


@pytest.fixture
def dataset():
    return read(TEXT, name="arena").dataset


def test_the_digest_knows_items_pairs_and_sides(dataset):
    pairs = dataset.pairs
    others = (
        None,
        PairedItems(("a", "b", "d"), pairs.of_case, pairs.swapped),
        PairedItems(pairs.items, pairs.of_case[:, ::-1], pairs.swapped),
        PairedItems(pairs.items, pairs.of_case, 1 - pairs.swapped),
        PairedItems(pairs.items, pairs.of_case),
    )
    digests = {replace(dataset, pairs=other).digest for other in others} | {dataset.digest}
    assert len(digests) == 6
    assert replace(dataset, pairs=PairedItems(pairs.items, pairs.of_case, pairs.swapped)).digest == dataset.digest


def test_data_without_pairs_keep_the_digest_that_they_had():
    plain = Dataset.from_classes("made", ["a", "b"], ["r"], ["x", "y"], [0, 1], [0, 0], [0, 1])
    assert plain.digest == "1f83985ced179ceb94f5e30913cd0ec6"


def test_a_saved_dataset_comes_back_with_its_pairs(dataset, tmp_path, monkeypatch):
    monkeypatch.setenv("PLURALITY_HOME", str(tmp_path))
    library.keep(dataset)
    found = library.reopen(dataset.digest)
    assert found.digest == dataset.digest
    np.testing.assert_array_equal(found.pairs.swapped, dataset.pairs.swapped)
    without = replace(dataset, pairs=PairedItems(dataset.pairs.items, dataset.pairs.of_case))
    library.keep(without)
    assert library.reopen(without.digest).pairs.swapped is None


def test_a_worker_gets_the_pairs(dataset):
    assert read_dataset(to_bytes(_fields(dataset), NO_DATA)).digest == dataset.digest


def test_a_selection_keeps_the_pairs_of_its_cases_and_the_sides_of_its_annotations(dataset):
    part = dataset.select(raters=["j1", "j3"])
    assert part.cases == ("a | b", "a | c") and part.pairs.items == ("a", "b", "c")
    assert part.pairs.swapped.tolist() == [1, 0, 0]
    alone = dataset.select(cases=["a | c"])
    assert alone.pairs.items == ("a", "c") and alone.pairs.of_case.tolist() == [[0, 1]]


def test_hidden_names_keep_the_pairs(dataset):
    assert dataset.coded.pairs is dataset.pairs


@pytest.mark.parametrize(
    ("items", "pairs", "swapped"),
    [
        (("a", "b"), [[0, 0]], None),
        (("a", "b"), [[0, 2]], None),
        (("a", "b"), [0, 1], None),
        (("a", "b"), [[0, 1]], [2]),
        (("a", "a"), [[0, 1]], None),
    ],
)
def test_pairs_that_cannot_be_are_refused(items, pairs, swapped):
    with pytest.raises(InputError):
        PairedItems(items, np.array(pairs), None if swapped is None else np.array(swapped))


def test_pairs_belong_to_the_cases_and_annotations_of_the_dataset(dataset):
    pairs = dataset.pairs
    for other in (PairedItems(pairs.items, pairs.of_case[:2], pairs.swapped),
                  PairedItems(pairs.items, pairs.of_case, pairs.swapped[:2])):  # fmt: skip
        with pytest.raises(InputError):
            replace(dataset, pairs=other)


def test_sides_follow_their_annotations_when_these_are_put_in_order():
    pairs = PairedItems(("p", "q", "s"), np.array([[0, 1], [0, 2]]), np.array([1, 0, -1]))
    found = Dataset.from_classes("m", ["p | q", "p | s"], ["r", "t", "u"], [FIRST, SECOND], [1, 0, 1], [0, 1, 2],
                                 [0, 1, 0], pairs=pairs)  # fmt: skip
    assert found.rater.tolist() == [1, 0, 2] and found.pairs.swapped.tolist() == [0, 1, -1]
