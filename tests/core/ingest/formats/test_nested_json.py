"""Differential diagnoses as nested lists, with names and risks of classes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.ingest.formats.detect import open_source
from tests.core.ingest.as_read import answers, opened, reasons

LISTS = [[[[1]], [[2], [0, 1]]], [[[0]], []]]
NAMES, RISKS = ("names.txt", "Acne\nEczema, severe\nMole\n"), ("risks.txt", "0\n1\n2\n")


def test_blocks_are_ties_and_raters_have_no_name():
    reading = opened(("ddx.json", json.dumps(LISTS)), NAMES, RISKS)
    assert answers(reading.dataset) == [
        ("1", "answer 1", [["Eczema, severe"]]),
        ("1", "answer 2", [["Mole"], ["Acne", "Eczema, severe"]]),
        ("2", "answer 1", [["Acne"]]),
    ]
    assert not reading.dataset.raters_identified
    assert reading.dataset.class_risk.tolist() == [0, 1, 2]
    assert reasons(reading) == [(1, "case 2, rater 2: no answer to this question")]
    assert any("rater statistics are not available" in note for note in reading.report.notes)


def test_without_names_classes_are_their_numbers():
    reading = opened(("ddx.json", json.dumps(LISTS)))
    assert reading.dataset.classes == ("0", "1", "2")
    assert any(
        "Classes are numbers, starting at 0. Open the file of class names together with this file" in note
        for note in reading.report.notes
    )


def test_a_number_without_a_name_is_refused():
    with pytest.raises(InputError, match="Could not name class 7: the names file has only"):
        opened(("ddx.json", "[[[[7]]]]"), NAMES)
    with pytest.raises(InputError, match="3 names and 2 risks"):
        opened(("ddx.json", json.dumps(LISTS)), NAMES, ("r.txt", "0\n1\n"))


def test_names_may_stand_in_the_lists():
    assert answers(opened(("a", '[[[["x"], ["y"]]], [[["y"]]]]')).dataset)[0][2] == [["x"], ["y"]]


BLOCKS = st.lists(st.integers(0, 5), min_size=1, max_size=5, unique=True).flatmap(
    lambda classes: st.lists(st.booleans(), min_size=len(classes), max_size=len(classes)).map(
        lambda ties: _blocks(classes, ties)
    )
)


def _blocks(classes, ties):
    blocks = [[classes[0]]]
    for name, tied in zip(classes[1:], ties[1:], strict=True):
        blocks[-1].append(name) if tied else blocks.append([name])
    return [sorted(block) for block in blocks]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(BLOCKS, min_size=1, max_size=3), min_size=1, max_size=5))
def test_what_is_written_reads_back(cases):
    assert open_source([("a", json.dumps(cases).encode())]).format == "nested-rankings"
    found = answers(opened(("a", json.dumps(cases))).dataset)
    assert [[[int(name) for name in block] for block in ranking] for *_, ranking in found] == [
        ranking for case in cases for ranking in case
    ]
