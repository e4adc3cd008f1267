"""Prodigy, Mechanical Turk, doccano, Labelbox, LeWiDi and Argilla."""

import io
import json
import zipfile

import pyarrow as pa
import pytest
from pyarrow import parquet

from core.errors import InputError
from core.ingest.formats.detect import open_source
from core.ingest.read_files import read
from tests.core.ingest.as_read import answers, opened, reasons


def lines(*records) -> str:
    return "\n".join(map(json.dumps, records)) + "\n"


def zipped(files: dict[str, str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


OPTIONS = [{"id": "h", "text": "Happy"}, {"id": "s", "text": "Sad"}]


def chosen(case, who, *ids, answer="accept", **more):
    return {
        "text": f"t{case}",
        "_input_hash": case,
        "options": OPTIONS,
        "accept": list(ids),
        "answer": answer,
        **who,
        **more,
    }


ANN, BOB = {"_annotator_id": "ann"}, {"_session_id": "db-bob"}


def test_prodigy_choices_are_grouped_by_what_was_shown():
    content = lines(
        chosen(5, ANN, "h"),
        chosen(5, BOB, "s"),
        chosen(6, ANN, answer="ignore"),
        chosen(6, BOB, "s", answer="reject"),
        chosen(6, ANN, "h", "s"),
    )
    reading = opened(("a.jsonl", content))
    assert answers(reading.dataset) == [
        ("5", "ann", [["Happy"]]),
        ("5", "db-bob", [["Sad"]]),
        ("6", "ann", [["Happy", "Sad"]]),
    ]
    assert reasons(reading) == [
        (3, "record 3: the rater ignored the task"),
        (4, "record 4: the rater rejected the task"),
    ]


def test_prodigy_labels_are_accepted_or_rejected_each_a_question():
    def record(case, label, answer):
        return {"text": "t", "label": label, "answer": answer, "_input_hash": case, "_annotator_id": "a"}

    content = lines(record(1, "SPAM", "accept"), record(1, "RUDE", "reject"), record(2, "SPAM", "reject"))
    source = open_source([("a", content.encode())])
    assert [question.name for question in source.questions] == ["SPAM", "RUDE"]
    spam = opened(("a", content), question="SPAM")
    assert answers(spam.dataset) == [("1", "a", "accept"), ("2", "a", "reject")]
    assert reasons(spam) == []


def test_prodigy_files_are_raters_where_no_record_names_one():
    files = [("ann.jsonl", lines(chosen(1, {}, "h"))), ("bob.jsonl", lines(chosen(1, {}, "s")))]
    assert opened(*files).dataset.raters == ("ann", "bob")
    assert any("all annotations count as those of one rater" in note for note in opened(files[0]).report.notes)


def test_prodigy_spans_are_refused():
    with pytest.raises(InputError, match="spans"):
        read(lines({"text": "t", "spans": [{"start": 0}], "_input_hash": 1, "answer": "accept"}).encode())


MTURK = (
    "HITId,AssignmentId,WorkerId,AssignmentStatus,SubmitTime,Input.url,Answer.mood\n"
    "h1,a1,w1,Approved,Mon Jan 08 10:00:00 PST 2024,http://x/1.png,happy\n"
    "h1,a2,w2,Rejected,Mon Jan 08 10:00:00 PST 2024,http://x/1.png,sad\n"
    "h1,a3,w3,Submitted,Mon Jan 08 10:00:00 PST 2024,http://x/1.png,\n"
    "h1,a1,w1,Approved,Mon Jan 08 10:00:00 PST 2024,http://x/1.png,happy\n"
    "h2,a4,w2,Approved,Mon Jan 08 10:00:00 PST 2024,http://x/2.png,sad\n"
)


def test_a_batch_of_mechanical_turk():
    reading = opened(("batch.csv", MTURK))
    assert answers(reading.dataset) == [("h1", "w1", "happy"), ("h2", "w2", "sad")]
    assert reading.dataset.time.tolist() == [1704736800, 1704736800]
    assert [reason for _, reason in reasons(reading)] == [
        "row 2: the work was rejected",
        "row 3: no answer to this question",
        "row 4: assignment ID a1 is repeated in the file",
    ]
    source = open_source([("b", MTURK.encode())])
    assert source.format == "mturk"
    assert source.side.cases.address == ("http://x/1.png", "http://x/2.png")


def test_boxes_of_one_field_are_one_question():
    head = "HITId,WorkerId,Answer.mood.happy,Answer.mood.sad\n"
    reading = opened(("b", head + "h1,w1,true,false\nh1,w2,false,true\nh2,w1,false,false\n"))
    assert answers(reading.dataset) == [("h1", "w1", "happy"), ("h1", "w2", "sad")]
    form = "HITId,WorkerId,Answer.taskAnswers\n"
    form += 'h1,w1,"[{""mood"":{""happy"":true,""sad"":false}}]"\nh1,w2,"[{""mood"":{""label"":""sad""}}]"\n'
    assert answers(opened(("b", form)).dataset) == [("h1", "w1", "happy"), ("h1", "w2", "sad")]


def test_crowd_kit_with_its_gold():
    source = (
        ("labels.csv", "worker,task,label\nw1,t1,a\nw2,t1,b\nw1,t2,b\n"),
        ("gold.csv", "task,label\nt1,a\nt9,b\n"),
    )
    reading = opened(*source)
    assert reading.dataset.gold.tolist() == [0, -1]
    assert any("Gold was left out for 1 case" in warning for warning in reading.report.warnings)


def labelled(number, *names):
    return {"id": number, "text": f"t{number}", "label": list(names), "Comments": []}


def test_doccano_files_are_raters_and_the_one_of_all_is_passed_over():
    files = {
        "ann.jsonl": lines(labelled(1, "a"), labelled(2)),
        "bob.jsonl": lines(labelled(1, "b")),
        "all.jsonl": lines(labelled(1, "a")),
    }
    reading = opened(("export.zip", zipped(files)))
    assert answers(reading.dataset) == [("1", "ann", "a"), ("1", "bob", "b")]
    assert reasons(reading) == [(2, "ann.jsonl, record 2: no answer to this question")]
    assert any("all.jsonl" in note for note in reading.report.notes)


def test_one_doccano_file_says_nothing_of_raters():
    source = open_source([("all.jsonl", lines(labelled(1, "a"), labelled(1, "b"), labelled(2, "b")).encode())])
    assert source.format == "doccano"
    assert not source.questions[0].raters_identified
    assert any("does not name raters" in note for note in source.questions[0].notes)
    with pytest.raises(InputError, match="spans"):
        read(lines({"id": 1, "text": "t", "label": [[0, 2, "LOC"]]}).encode())


def test_names_in_the_records_of_one_doccano_file_are_raters_where_they_tell_records_of_a_text_apart():
    who = [labelled(1, "a") | {"username": "ann"}, labelled(1, "b") | {"username": "bob"}]
    reading = opened(("all.jsonl", lines(*who, labelled(2, "b") | {"username": "ann"})))
    assert answers(reading.dataset) == [("1", "ann", "a"), ("1", "bob", "b"), ("2", "ann", "b")]
    assert any("Raters were read from 'username'" in note for note in reading.report.notes)
    for records in (
        [labelled(1, "a") | {"username": "ann"}, labelled(2, "b") | {"username": "bob"}],  # authors of texts, it may be
        [labelled(1, "a") | {"username": "ann"}, labelled(1, "b") | {"username": "ann"}],
        [*who, labelled(2, "a")],
    ):
        question = open_source([("all.jsonl", lines(*records).encode())]).questions[0]
        assert not question.raters_identified
        assert any("'username' was not read as the rater" in note for note in question.notes)


def row(key, *labels):
    return {
        "data_row": {"id": "x" + key, "global_key": key, "row_data": "words"},
        "projects": {"p": {"labels": list(labels)}},
    }


def label(number, who, *classifications, **details):
    return {
        "id": number,
        "label_details": {"created_by": who, "created_at": "2024-01-01T00:00:00Z", **details},
        "annotations": {"classifications": list(classifications)},
    }


def test_labelbox_radio_and_checklist():
    radio = {"name": "mood", "radio_answer": {"name": "happy", "value": "h"}}
    check = {"name": "parts", "checklist_answers": [{"name": "a"}, {"name": "b"}]}
    content = lines(row("k1", label("1", "ann", radio, check), label("2", "bob", radio)), row("k2"))
    mood = opened(("a.ndjson", content), question="mood")
    assert answers(mood.dataset) == [("k1", "ann", "happy"), ("k1", "bob", "happy")]
    assert reasons(mood) == [(2, "data row 2, label 0: nobody labelled it")]
    parts = opened(("a.ndjson", content), question="parts")
    assert answers(parts.dataset) == [("k1", "ann", [["a", "b"]])]


def test_lewidi_strings_and_objects_are_the_same():
    strings = {
        "1": {"text": "x", "annotators": "A1,A2", "annotations": "0,1", "soft_label": {"0": 0.9}, "split": "dev"}
    }
    objects = {"1": {"text": "x", "annotators": "A1,A2", "annotations": {"A1": "0", "A2": "1"}, "split": "dev"}}
    one, other = opened(("a", json.dumps(strings))), opened(("b", json.dumps(objects)))
    assert one.dataset.digest == other.dataset.digest
    assert answers(one.dataset) == [("1", "A1", "0"), ("1", "A2", "1")]
    assert one.dataset.case_group == ("dev",)
    assert any("soft_label" in note for note in one.report.notes)


def test_lewidi_of_several_labels_and_of_lengths_that_differ():
    content = {
        "1": {"annotators": "A,B", "annotations": {"A": "yes,no", "B": "no"}},
        "2": {"annotators": "A,B", "annotations": "yes"},
    }
    reading = opened(("a", json.dumps(content)))
    assert answers(reading.dataset) == [("1", "A", [["no", "yes"]]), ("1", "B", [["no"]])]
    assert reasons(reading) == [(1, "case 2, annotation 0: the numbers of annotators and annotations differ")]


def test_argilla_of_both_versions_and_from_hugging_face():
    second = {
        "id": "r1",
        "status": "completed",
        "fields": {"text": "x"},
        "responses": {"mood": [{"value": "happy", "user_id": "u1"}, {"value": "sad", "user_id": "u2"}]},
    }
    first = {
        "id": "r1",
        "fields": {"text": "x"},
        "responses": [
            {"user_id": "u1", "values": {"mood": {"value": "happy"}}, "status": "submitted"},
            {"user_id": "u2", "values": {"mood": {"value": "sad"}}, "status": "submitted"},
        ],
    }
    table = pa.table(
        {
            "id": ["r1"],
            "text": ["x"],
            "mood.responses": [["happy", "sad"]],
            "mood.responses.users": [["u1", "u2"]],
            "mood.responses.status": [["submitted", "submitted"]],
        }
    )
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    found = [
        opened(("a", json.dumps([second]))),
        opened(("a", lines(first))),
        opened(("a.parquet", sink.getvalue())),
        opened(("a", json.dumps(table.to_pylist()))),
    ]
    assert {reading.dataset.digest for reading in found} == {found[0].dataset.digest}
    assert answers(found[0].dataset) == [("r1", "u1", "happy"), ("r1", "u2", "sad")]


def test_argilla_drafts_are_dropped_and_questions_stand_apart():
    record = {
        "id": "r1",
        "fields": {},
        "responses": [
            {"user_id": "u1", "values": {"mood": {"value": "happy"}, "stars": {"value": 3}}, "status": "submitted"},
            {"user_id": "u2", "values": {"mood": {"value": "sad"}}, "status": "draft"},
            {
                "user_id": "u3",
                "values": {"order": {"value": [{"value": "b", "rank": 2}, {"value": "a", "rank": 1}]}},
                "status": "submitted",
            },
        ],
    }
    content = json.dumps([record])
    mood = opened(("a", content), question="mood")
    assert answers(mood.dataset) == [("r1", "u1", "happy")]
    assert reasons(mood) == [
        (1, "record 1, response 2: the response is draft"),
        (1, "record 1, response 3: no answer to this question"),
    ]
    assert answers(opened(("a", content), question="order").dataset) == [("r1", "u3", [["a"], ["b"]])]


@pytest.mark.parametrize("name", ["label-studio", "mturk", "argilla", "label-studio-min"])
def test_a_format_that_does_not_fit_is_refused(name):
    for content in (b"case,rater,class\n1,a,x\n", b'[{"case": 1, "rater": 2, "label": 3}]'):
        with pytest.raises(InputError, match="Could not read"):
            read(content, format=name)


def test_a_format_may_be_a_plain_table():
    content = json.dumps([{"case": 1, "rater": "a", "label": "x"}, {"case": 1, "rater": "b", "label": "y"}]).encode()
    assert answers(read(content).dataset) == [("1", "a", "x"), ("1", "b", "y")]
    assert read(content, format="long").dataset.digest == read(content).dataset.digest
    with pytest.raises(InputError, match="Unknown format 'zebra'"):
        read(content, format="zebra")
