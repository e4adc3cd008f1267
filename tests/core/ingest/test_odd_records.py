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
    assert dropped.reason == "case 1, rater 2: class -1 is below 0, but class numbers start at 0"
    said = "1 ranking names a class twice (case 2, rater 1). Only its first position is used."
    assert said in reading.report.notes
    ranking = reading.dataset.blocks_of(1)
    assert [[reading.dataset.classes[code] for code in block] for block in ranking] == [["2"], ["5"]]


def test_a_name_twice_in_one_record_and_halves_of_letters_are_said():
    content = b"""[{"case": 1, "rater": "a", "label": "x\\ud800"}, {"case": 1, "case": 2, "rater": "b", "label": "y"},
    {"case": 1, "rater": "b", "label": "\\ud83d\\ude00"}, {"case": 3, "rater": "b", "label": "\\udc00 z"}]"""
    notes = read(content).report.notes
    assert any("In record 2, the name 'case' appears twice. The last value is used." in note for note in notes)
    assert any("2 incomplete characters (lone surrogates) were replaced" in note for note in notes)
    sound = read(b'[{"case": 1, "rater": "a", "label": "\\ud83d\\ude00"}, {"case": 2, "rater": "b", "label": "y"}]')
    assert not any("twice" in note or "surrogate" in note for note in sound.report.notes)


def test_numbers_that_only_one_of_two_parsers_knows_are_read_alike():
    """Whole numbers beyond 64 bits keep their digits; NaN is no annotation, and 1e400 and halves of letters stay."""
    rows = [
        f'{{"case": {case}, "rater": "{rater}", "class": {answer}}}'
        for case, rater, answer in (
            ("123456789012345678901", "a", '"x"'),
            ("-9223372036854775809", "a", '"y"'),
            ("18446744073709551615", "b", "NaN"),
            ("-0", "b", '"x\\ud800"'),
        )
    ]
    reading = read("\n".join(rows).encode())
    assert set(reading.dataset.cases) == {"-9223372036854775809", "0", "123456789012345678901"}
    assert reading.dataset.classes == ("x", "x?", "y")
    assert [one.reason for one in reading.report.dropped] == ["record 3: no annotation"]
    short = read(
        "\n".join(row for row in rows if "901" not in row and "809" not in row).encode() + b'\n{"case": 1e400}'
    )
    assert short.report.n_rows == 3


@pytest.mark.parametrize("odd", ['{"case": 1, "rater": "b"}', '{"rater": "b", "more": 5, "case": "1"}', "{}", "[]"])
def test_records_behind_one_that_lacks_a_name_keep_their_places(odd):
    row = '{"case": 1, "rater": "%s", "class": "%s"}'
    reading = read("\n".join([row % ("a", "x"), odd, row % ("c", "z"), row % ("d", "x")]).encode())
    dataset = reading.dataset
    assert [dataset.raters[code] for code in dataset.rater] == ["a", "c", "d"]
    assert [dataset.classes[code] for code in dataset.answer] == ["x", "z", "x"]
    assert len(reading.report.dropped) == 1


def test_colons_in_texts_hide_no_name_that_stands_twice():
    row = '{"case": "%s", "rater": "a", "class": "x:y"}'
    twice = '{"case": "1:2", "rater": "a", "class": "x:y", "case": "3"}'
    notes = read("\n".join([row % 1, row % 2, twice]).encode()).report.notes
    assert any("In record 3, the name 'case' appears twice" in note for note in notes)


@pytest.mark.parametrize("broken", [b'{"id": 9, "label": [', b'{"id": 9, "label": cat}', b"# a remark"])
def test_a_broken_line_of_json_lines_is_left_out_with_its_number_and_the_others_are_read(broken):
    lines = [json.dumps(one).encode() for one in DOCCANO]
    reading = read(b"\n".join([*lines[:20], broken, *lines[20:]]))
    assert (reading.dataset.n_annotations, reading.report.n_rows) == (50, 51)
    assert [one.line for one in reading.report.dropped] == [21]
    assert any("1 line was left out, because it is not valid JSON (line 21)." in note for note in reading.report.notes)


def test_a_file_of_which_much_is_broken_is_refused():
    lines = [json.dumps(one).encode() for one in DOCCANO]
    with pytest.raises(InputError):
        read(b"\n".join([*lines[:4], b'{"id": 9,', b'{"id": 10,']))


@pytest.mark.parametrize(
    ("n", "n_lists", "kind"), [(20, 1, "class"), (200, 7, "class"), (20, 2, "ranking"), (4, 1, "ranking")]
)
def test_a_few_lists_among_single_classes_are_left_out_and_many_make_rankings(n, n_lists, kind):
    given = {rater: {f"case {k}": "ab"[k % 2] for k in range(n)} for rater in ("anna", "ben")}
    for k in range(n_lists):
        given["ben"][f"case {k}"] = ["a", "b"]
    given["anna"]["case 0"] = ["b"]  # a list of one is that one
    reading = read(json.dumps(given).encode(), name="d")
    odd = [one.reason for one in reading.report.dropped]
    assert reading.dataset.kind == kind
    if kind == "class":
        assert reading.dataset.n_annotations == 2 * n - n_lists and len(odd) == n_lists
        assert odd[0] == "rater 2, annotation 1: more than one class"
    else:
        assert odd == []
