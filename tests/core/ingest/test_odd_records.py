"""One bad record does not change what a file is: it is left out with its place, and the others are read."""

import json

import pytest

from core import read
from core.errors import InputError
from core.ingest.formats.json_text import open_json

DOCCANO = [{"id": n, "text": f"text {n}", "label": ["cat" if n % 3 else "dog"]} for n in range(50)]
LABEL_STUDIO = [
    {
        "id": n,
        "data": {"text": "t"},
        "annotations": [
            {
                "id": 10 * n + who,
                "completed_by": who,
                "result": [{"from_name": "q", "type": "choices", "value": {"choices": ["ab"[n % 2]]}}],
            }
            for who in (1, 2)
        ],
    }
    for n in range(50)
]
ARGILLA = [
    {
        "id": str(n),
        "fields": {"text": "t"},
        "responses": {"q": [{"user_id": who, "value": "ab"[n % 2], "status": "submitted"} for who in ("u", "v")]},
    }
    for n in range(50)
]
LABELBOX = [
    {
        "data_row": {"id": f"r{n}"},
        "projects": {
            "p": {
                "labels": [
                    {
                        "id": f"{n}-{who}",
                        "label_details": {"created_by": who},
                        "annotations": {"classifications": [{"name": "q", "radio_answer": {"name": "ab"[n % 2]}}]},
                    }
                    for who in ("u", "v")
                ]
            }
        },
    }
    for n in range(50)
]
PRODIGY = [
    {"_input_hash": n, "_annotator_id": who, "answer": "accept", "accept": ["ab"[n % 2]], "options": []}
    for n in range(25)
    for who in ("u", "v")
]
NESTED = [[[["a"], ["b"]], [["b", "c"]]] for _ in range(50)]
RECORDS = {
    "doccano": DOCCANO,
    "label-studio": LABEL_STUDIO,
    "argilla": ARGILLA,
    "labelbox": LABELBOX,
    "prodigy": PRODIGY,
    "nested-rankings": NESTED,
}
ODD = {"null": None, "number": 7, "text": "x", "object": {"label": {"a": 1}}, "list": ["x"], "empty": {}}


def written(records, lines: bool) -> bytes:
    return ("\n".join(map(json.dumps, records)) if lines else json.dumps(records)).encode()


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize("place", [0, 3, 44])
def test_an_odd_record_is_left_out_with_its_place_and_the_rest_is_as_without_it(name, odd, place):
    whole = RECORDS[name]
    expected = read(written(whole[:place] + whole[place + 1 :], False), name=name)
    lines = name in ("doccano", "prodigy")
    reading = read(written([*whole[:place], ODD[odd], *whole[place + 1 :]], lines), name=name)
    assert reading.dataset.classes == expected.dataset.classes
    assert reading.dataset.n_annotations == expected.dataset.n_annotations
    (dropped,) = (one for one in reading.report.dropped if f" {place + 1}" in one.reason)
    assert dropped.line == (place + 1 if lines else 1)
    assert reading.report.n_rows == reading.report.n_kept + len(reading.report.dropped)


def test_records_that_are_mostly_something_else_are_no_export():
    with pytest.raises(InputError):
        read(written([None] * 30 + DOCCANO[:20], False), format="doccano", name="d")


def test_what_a_file_is_rests_on_records_from_all_of_it():
    """A few odd ones at the beginning do not outvote ten thousand."""
    records = [None] * 20 + [DOCCANO[3] | {"id": n} for n in range(10_000)]
    file = open_json("d", written(records, True))
    assert sum(isinstance(record, dict) for record in file.head) > len(file.head) / 2
    assert read(written(records, True), name="d").dataset.n_cases == 10_000


def test_negative_numbers_and_classes_named_twice_in_a_ranking_are_said_with_their_place():
    reading = read(json.dumps([[[[3], [4]], [[-1], [2]]], [[[2], [2, 5]], [[1]]]]).encode(), name="n")
    assert reading.dataset.classes == ("1", "2", "3", "4", "5")
    (dropped,) = reading.report.dropped
    assert dropped.reason == "case 1, rater 2: class -1 is below 0, and numbers of classes count from 0"
    assert "1 ranking names a class twice (first: case 2, rater 1): its first place counts." in reading.report.notes
    ranking = reading.dataset.blocks_of(1)
    assert [[reading.dataset.classes[code] for code in block] for block in ranking] == [["2"], ["5"]]


def test_a_name_twice_in_one_record_and_halves_of_letters_are_said():
    content = b"""[{"case": 1, "rater": "a", "label": "x\\ud800"}, {"case": 1, "case": 2, "rater": "b", "label": "y"},
    {"case": 1, "rater": "b", "label": "\\ud83d\\ude00"}, {"case": 3, "rater": "b", "label": "\\udc00 z"}]"""
    notes = read(content).report.notes
    assert any("Record 2 has the name 'case' twice: the last one counts." in note for note in notes)
    assert any("2 halves of letters (lone surrogates) cannot be shown" in note for note in notes)
    sound = read(b'[{"case": 1, "rater": "a", "label": "\\ud83d\\ude00"}, {"case": 2, "rater": "b", "label": "y"}]')
    assert not any("twice" in note or "surrogate" in note for note in sound.report.notes)
