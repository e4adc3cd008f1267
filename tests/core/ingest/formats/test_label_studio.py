"""Label Studio: JSON with its versions, CSV and JSON-MIN."""

import csv
import io
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import InputError
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from tests.core.ingest.as_read import answers, opened, reasons


def result(value, kind="choices", name="mood", **more):
    return {"from_name": name, "to_name": "text", "type": kind, "value": value, **more}


def annotation(number, who, *results, **more):
    return {"id": number, "completed_by": who, "was_cancelled": False, "result": list(results), **more}


def task(number, *annotations, **data):
    return {"id": number, "data": data or {"text": f"text {number}"}, "annotations": list(annotations)}


def happy(number, who, *names, **more):
    return annotation(number, who, result({"choices": list(names) or ["happy"]}), **more)


TWO = [
    task(7, happy(1, 11), happy(2, 12, "sad")),
    task(9, happy(3, {"id": 11, "email": "ann@here"}), happy(4, 12)),
]


def test_choices_are_classes_of_the_task_by_whoever_completed_it():
    source = open_source([("export.json", json.dumps(TWO).encode())])
    assert (source.format, [question.name for question in source.questions]) == ("label-studio", ["mood"])
    reading = opened(("export.json", json.dumps(TWO)))
    assert answers(reading.dataset) == [
        ("7", "11", "happy"),
        ("7", "12", "sad"),
        ("9", "ann@here", "happy"),
        ("9", "12", "happy"),
    ]
    assert source.side.cases.ids == ("7", "9")
    assert source.side.cases.text == ("text 7", "text 9")


def test_older_exports_say_completions():
    old = json.dumps([{"id": 1, "data": {"image": "/data/a.png"}, "completions": [happy(1, 5), happy(2, 6)]}])
    assert opened(("a", old)).dataset.raters == ("5", "6")
    assert open_source([("a", old.encode())]).side.cases.address == ("/data/a.png",)


def test_one_file_for_each_task():
    files = [(f"{one['id']}.json", json.dumps(one)) for one in TWO]
    assert opened(*files).dataset.digest == opened(("all.json", json.dumps(TWO))).dataset.digest


def test_skipped_doubled_and_empty_annotations_are_dropped_with_their_place():
    tasks = [task(1, happy(1, 11), happy(1, 11), happy(2, 12, was_cancelled=True), annotation(3, 13), 44)]
    reading = opened(("a", json.dumps(tasks)))
    assert reading.report.n_kept == 1
    assert sorted(reason for _, reason in reasons(reading)) == [
        "task 1, annotation 2: annotation ID 1 is repeated in the file",
        "task 1, annotation 3: the rater skipped the task",
        "task 1, annotation 4: no answer to this question",
        "task 1, annotation 5: the export contains only the number of the annotation, not the annotation itself",
    ]


def test_a_line_is_that_of_the_task():
    reading = opened(("a", json.dumps([task(1, happy(1, 1)), task(2, annotation(2, 1), happy(3, 2))], indent=0)))
    (line, _), *_ = reasons(reading)
    assert line > 10


def test_several_choices_are_a_set_of_labels_and_told():
    reading = opened(("a", json.dumps([task(1, happy(1, 1, "a", "b"), happy(2, 2, "b"))])))
    assert answers(reading.dataset) == [("1", "1", [["a", "b"]]), ("1", "2", [["b"]])]
    assert reading.dataset.kind == "set"
    assert any("1 of 2 annotations has more than one label" in note for note in reading.report.notes)


def kinds():
    yield "rating", {"rating": 4}, "class", "4"
    yield "number", {"number": 2.5}, "score", 2.5
    yield "taxonomy", {"taxonomy": [["skin", "eczema"]]}, "class", "skin / eczema"
    yield "ranker", {"ranker": {"rank": ["b", "a"]}}, "ranking", [["b"], ["a"]]
    yield "ranker", {"ranker": ["b", "a"]}, "ranking", [["b"], ["a"]]
    yield "pairwise", {"selected": "left"}, "class", "left"


@pytest.mark.parametrize(("kind", "value", "expected", "answer"), list(kinds()))
def test_every_type_of_answer(kind, value, expected, answer):
    reading = opened(
        ("a", json.dumps([task(1, annotation(1, 1, result(value, kind)), annotation(2, 2, result(value, kind)))]))
    )
    assert reading.dataset.kind == expected
    assert [found for *_, found in answers(reading.dataset)] == [answer, answer]
    assert reading.dataset.ordinal == (kind == "rating")


def test_several_questions_are_for_the_user_to_choose():
    both = [
        task(
            1, annotation(1, 1, result({"choices": ["a"]}), result({"rating": 3}, "rating", "stars")), happy(2, 2, "b")
        )
    ]
    content = json.dumps(both).encode()
    with pytest.raises(InputError, match=r"2 questions: 'mood', 'stars'"):
        read(content)
    assert read(content, question="mood").dataset.n_annotations == 2
    stars = read(content, question="stars")
    assert answers(stars.dataset) == [("1", "1", "3")]
    assert reasons(stars) == [(1, "task 1, annotation 2: no answer to this question")]
    with pytest.raises(InputError, match="Unknown question 'colour'"):
        read(content, question="colour")


def test_regions_of_a_picture_are_no_classes_of_it():
    boxes = [task(1, annotation(1, 1, result({"x": 1, "rectanglelabels": ["car"]}, "rectanglelabels")), happy(2, 2))]
    reading = opened(("a", json.dumps(boxes)))
    assert reading.report.n_kept == 1
    assert any("rectanglelabels" in note for note in reading.report.notes)
    per_region = annotation(1, 1, result({"choices": ["a"]}), result({"choices": ["b"]}))
    reading = opened(("a", json.dumps([task(1, per_region, happy(2, 2))])))
    assert answers(reading.dataset) == [("1", "2", "happy")]


def test_ground_truth_is_gold_of_its_question():
    reading = opened(
        (
            "a",
            json.dumps(
                [task(1, happy(1, 1, "a", "a", ground_truth=True), happy(2, 2, "b")), task(2, happy(3, 1, "b"))]
            ),
        )
    )
    assert reading.dataset.gold.tolist() == [0, -1]
    assert reading.dataset.n_annotations == 3


def test_one_annotation_for_every_case_is_warned_of():
    reading = opened(("a", json.dumps([task(1, happy(1, 1)), task(2, happy(2, 2))])))
    assert any("whether the export left out some raters" in warning for warning in reading.report.warnings)


def test_answers_that_a_model_gave_are_told():
    by_model = annotation(1, 1, result({"choices": ["a"]}, origin="prediction"))
    reading = opened(("a", json.dumps([task(1, by_model, happy(2, 2))])))
    assert any("came from a model" in note for note in reading.report.notes)


def test_annotations_without_raters_are_anonymous():
    nobody = [task(1, annotation(1, None, result({"choices": ["a"]})), annotation(2, None, result({"choices": ["b"]})))]
    dataset = opened(("a", json.dumps(nobody))).dataset
    assert not dataset.raters_identified
    assert dataset.raters == ("answer 1", "answer 2")


ROWS = [
    {
        "text": "fine",
        "id": 1,
        "mood": "happy",
        "annotator": 11,
        "annotation_id": 1,
        "created_at": "2024-01-01",
        "lead_time": 2.5,
    },
    {
        "text": "fine",
        "id": 1,
        "mood": {"choices": ["happy", "sad"]},
        "annotator": 12,
        "annotation_id": 2,
        "lead_time": 1,
    },
    {"text": "bad", "id": 2, "mood": "sad", "annotator": 11, "annotation_id": 3, "lead_time": 1},
    {"text": "bad", "id": 2, "mood": "sad", "annotator": 11, "annotation_id": 3, "lead_time": 1},
]


def as_csv(rows) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    for row in rows:
        writer.writerow(
            {key: json.dumps(value) if isinstance(value, dict | list) else value for key, value in row.items()}
        )
    return text.getvalue()


def test_csv_and_json_min_are_the_same():
    one, other = opened(("a", json.dumps(ROWS))), opened(("b", as_csv(ROWS)))
    assert one.dataset.digest == other.dataset.digest
    assert answers(one.dataset) == [("1", "12", [["happy", "sad"]]), ("1", "11", [["happy"]]), ("2", "11", [["sad"]])]
    assert "annotation ID 3 is repeated in the file" in reasons(other)[0][1]
    source = open_source([("a", json.dumps(ROWS).encode())])
    assert source.format == "label-studio-min"
    assert source.side.cases.text == ("fine", "bad")


def test_json_cells_of_the_tables():
    rows = [
        {"id": 1, "q": [{"rating": 4}], "annotator": "a", "annotation_id": 1, "lead_time": 1},
        {"id": 1, "q": [{"rating": 5}], "annotator": "b", "annotation_id": 2, "lead_time": 1},
    ]
    reading = opened(("a", as_csv(rows)))
    assert reading.dataset.classes == ("4", "5")
    assert reading.dataset.ordinal


NAMES = st.text("abü 1,\"'{[", min_size=1, max_size=5).map(str.strip).filter(lambda name: name and name != "NA")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["ann", "bob"]), NAMES), min_size=1, max_size=8))
def test_what_is_written_as_label_studio_reads_back(rows):
    """The same annotations as one task with annotations each, and as a long table."""
    tasks: dict[int, list] = {}
    for number, (case, rater, name) in enumerate(rows):
        tasks.setdefault(case, []).append(annotation(number, rater, result({"choices": [name]})))
    written = json.dumps([{"id": case, "data": {}, "annotations": given} for case, given in tasks.items()])
    expected: dict = {}
    for case, rater, name in rows:
        expected.setdefault(str(case), []).append((str(case), rater, name))
    found = opened(("a", written), kind="class").dataset
    assert answers(found) == [row for case in sorted(expected) for row in expected[case]]
