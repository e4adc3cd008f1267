"""Zooniverse, REDCap, Encord and nested columns of the Hugging Face hub; made by hand from what each program writes."""

import io
import json

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import InputError
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from tests.core.ingest.as_read import answers, opened, reasons
from tests.core.ingest.shapes import delimited

HEAD = ["classification_id", "user_name", "user_id", "created_at", "annotations", "subject_data", "subject_ids"]
SHAPE = "Is it smooth?"


def volunteer(number, name, subject, *tasks):
    facts = json.dumps({subject: {"retired": None, "Filename": f"{subject}.png"}})
    return [number, name, "", "2018-02-20 10:44:42 UTC", json.dumps(tasks), facts, subject]


def task(value, name=SHAPE, key="T0"):
    return {"task": key, "task_label": name, "value": value}


def test_zooniverse_classifications_are_a_question_for_each_task():
    rows = [
        HEAD,
        volunteer(
            "1", "ann", "s1", task("![a.png](https://x/a.png =60x) Smooth"), task(["Ring", "Lens"], "Rare?", "T1")
        ),
        volunteer("2", "not-logged-in-9f", "s1", task("Disk"), task([], "Rare?", "T1")),
        volunteer("2", "not-logged-in-9f", "s1", task("Disk")),
        volunteer("3", "ann", "s2", task(None)),
    ]
    content = delimited(rows)
    source = open_source([("c.csv", content)])
    assert source.format == "zooniverse"
    assert [question.name for question in source.questions] == [SHAPE, "Rare?"]
    reading = opened(("c.csv", content), question=SHAPE)
    assert answers(reading.dataset) == [("s1", "ann", "Smooth"), ("s1", "not-logged-in-9f", "Disk")]
    assert reasons(reading) == [
        (4, "row 3: classification ID 2 is repeated in the file"),
        (5, "row 4: no answer to this question"),
    ]
    rare = opened(("c.csv", content), question="Rare?").dataset
    assert answers(rare) == [("s1", "ann", [["Lens", "Ring"]])]


def test_zooniverse_combined_tasks_stand_beside_each_other_and_marks_are_no_classes():
    combined = task([task("Yes", "Any?", "T1"), task("Two", "How many?", "T2")], "", "T0")
    marks = task([{"x": 1.5, "y": 2.5, "tool": 0}], "Mark them", "T3")
    content = delimited([HEAD, volunteer("1", "ann", "s1", combined, marks)])
    names = [question.name for question in open_source([("c.csv", content)]).questions]
    assert names == ["Any?", "How many?"]
    assert "1 mark on the image for Mark them was left out." in opened(("c.csv", content), question="Any?").report.notes


def test_zooniverse_surveys_have_choices_and_what_is_asked_about_them_is_told():
    def animal(name, **about):
        return {"choice": name, "answers": about, "filters": {}}

    rows = [
        volunteer("1", "ann", "s1", {"task": "T0", "value": [animal("LION", HOWMANY="1")]}),
        volunteer("2", "bob", "s1", {"task": "T0", "value": [animal("LION"), animal("ZEBRA", HOWMANY="2")]}),
        volunteer("3", "ann", "s2", {"task": "T0", "value": [{"x": 1, "y": 2}]}),
    ]
    reading = opened(("c.csv", delimited([HEAD, *rows])))
    assert answers(reading.dataset) == [("s1", "ann", [["LION"]]), ("s1", "bob", [["LION", "ZEBRA"]])]
    assert "2 answers to HOWMANY about choices in T0 were left out." in reading.report.notes
    assert reasons(reading) == [(4, "row 3: no task was answered with a class")]


def test_zooniverse_lists_are_a_question_each_and_what_is_typed_is_told():
    def listed(country, typed):
        option = {"select_label": "Country", "option": True, "value": "1a2b", "label": country}
        return task([option, {"select_label": "Town", "option": typed == "Lima", "value": typed}], "Where?")

    rows = [volunteer("1", "ann", "s1", listed("Chile", "Arica")), volunteer("2", "bob", "s1", listed("Peru", "Lima"))]
    content = delimited([HEAD, *rows])
    reading = opened(("c.csv", content), question="Country")
    assert answers(reading.dataset) == [("s1", "ann", "Chile"), ("s1", "bob", "Peru")]
    assert "1 text typed into Town was left out." in reading.report.notes
    assert answers(opened(("c.csv", content), question="Town").dataset) == [("s1", "bob", "Lima")]


def test_zooniverse_marks_alone_are_refused_with_the_reason():
    content = delimited([HEAD, volunteer("1", "ann", "s1", task([{"x": 1.5, "tool": 0}], "Mark them"))])
    with pytest.raises(InputError, match="no task was answered with a class"):
        open_source([("c.csv", content)])


REDCAP = [
    ["record_id", "redcap_event_name", "grade", "note", "reading_complete"],
    ["7--1", "first", "low", "", "2"],
    ["7--2", "first", "high", "seen", "2"],
    ["7", "first", "high", "", "2"],
    ["8--1", "first", "low", "", "2"],
    ["8--2", "first", "", "", "0"],
]


def test_redcap_double_entries_are_two_raters_of_one_record():
    content = delimited(REDCAP)
    source = open_source([("data.csv", content)])
    assert source.format == "redcap" and [question.name for question in source.questions] == ["grade", "note"]
    reading = opened(("data.csv", content), question="grade")
    assert answers(reading.dataset) == [
        ("7 first", "person 1", "low"),
        ("7 first", "person 2", "high"),
        ("8 first", "person 1", "low"),
    ]
    assert reasons(reading) == [
        (4, "row 3: a merged record, not an entry by one person"),
        (6, "row 5: no answer to this question"),
    ]


@pytest.mark.parametrize("records", [["a--1", "b--1", "c--1"], ["1", "2", "3--1", "3--2", "4"]])
def test_names_that_end_so_by_chance_are_no_double_entries(records):
    rows = [["case", "ann", "bob"], *([record, "x", "y"] for record in records)]
    assert open_source([("a.csv", delimited(rows))]).format == "table"


@pytest.mark.parametrize(
    ("records", "found"),
    [
        (["7--1", " 7--2 ", "8--1"], "redcap"),
        (["7--1", "8--1", "9--2"], "table"),  # nothing was entered twice
        (["7--1", "7--2", "8", "9"], "table"),  # half
        (["7--1", "7--2", "7--2", "8", "9"], "redcap"),  # rows count, not distinct names
        (["7--3", "7--4", "--1", "--2"], "table"),
    ],
)
def test_redcap_is_found_by_most_records_and_one_that_was_entered_twice(records, found):
    rows = [["record_id", "grade"], *([record, "low"] for record in records)]
    assert open_source([("a.csv", delimited(rows))]).format == found


def test_redcap_asked_for_where_there_is_none_is_refused():
    with pytest.raises(InputError, match="not in the format REDCap"):
        open_source([("a.csv", delimited([["case", "ann", "bob"], ["1", "x", "y"]]))], format="redcap")


def label_row(title, *made, units=None):
    answered = {
        key: {
            "classificationHash": key,
            "classifications": [{"name": name, "value": name.lower(), "answers": given, "manualAnnotation": True}],
            **({"createdBy": who, "createdAt": "Tue, 05 Nov 2024 09:41:37 UTC"} if who else {}),
        }
        for key, who, name, given in made
    }
    return {
        "label_hash": f"l-{title}",
        "data_hash": f"d-{title}",
        "data_title": title,
        "data_type": "image",
        "data_units": units or {f"d-{title}": {"labels": {"objects": [], "classifications": []}}},
        "object_answers": {},
        "classification_answers": answered,
    }


def option(name):
    return {"name": name, "value": name.lower(), "featureHash": "f"}


def test_encord_classifications_are_answers_of_who_made_them():
    # A label as older exports have it: who made it stands on the data unit alone.
    older = {"d-b.png": {"labels": {"classifications": [{"classificationHash": "k3", "createdBy": "bob@x"}]}}}
    rows = [
        label_row("a.png", ("k1", "ann@x", "Grade", [option("Low")]), ("k2", "bob@x", "Grade", [option("High")])),
        label_row("b.png", ("k3", "", "Grade", [option("Low")]), ("k4", "bob@x", "Note", "as before"), units=older),
        label_row("c.png") | {"object_answers": {"o1": {}, "o2": {}}},
        label_row("a.png", ("k5", "ann@x", "Signs", [option("Edge"), option("Colour")])),
    ]
    content = json.dumps(rows)
    assert open_source([("labels.json", content.encode())]).format == "encord"
    reading = opened(("labels.json", content), question="Grade")
    assert answers(reading.dataset) == [
        ("a.png", "ann@x", "Low"),
        ("a.png", "bob@x", "High"),
        ("b.png", "bob@x", "Low"),
    ]
    assert reasons(reading) == [(1, "label row 3, classification 0: it has no classification")]
    assert reading.report.notes == ("2 drawn objects were left out.", "1 text written as Note was left out.")
    signs = opened(("labels.json", content), question="Signs").dataset
    assert answers(signs) == [("a.png", "ann@x", [["Colour", "Edge"]])]


def hub(column) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"case_id": ["1", "2", "3"], "annotations": column}), sink)
    return sink.getvalue()


PAIRS = [[{"annotator": "a", "label": "x"}, {"annotator": "b", "label": "y"}], [{"annotator": "a", "label": "y"}], []]
SEQUENCES = [{key: [pair[key] for pair in pairs] for key in ("annotator", "label")} for pairs in PAIRS]


@pytest.mark.parametrize("column", [PAIRS, SEQUENCES], ids=["lists of structs", "structs of lists"])
def test_annotations_nested_in_columns_of_the_hub_are_taken_apart(column):
    reading = read(hub(column))
    assert answers(reading.dataset) == [("1", "a", "x"), ("1", "b", "y"), ("2", "a", "y")]
    assert reasons(reading) == [(3, "no annotation")]
