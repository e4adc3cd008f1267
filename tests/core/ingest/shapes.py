"""Files of every known shape, small, and ways to break them."""

import io
import json
import random
import zipfile

import openpyxl
import pyarrow as pa
from pyarrow import parquet

LONG = [
    ["case", "rater", "class", "date"],
    ["1", "ann", "x", "2024-01-01"],
    ["1", "bob", "y", ""],
    ["2", "ann", "x", "1"],
]
TABLES = {
    "long": LONG,
    "wide": [["case", "Anna", "Bob", "truth"], ["1", "x", "y", "x"], ["2", "", "x", "y"]],
    "counts": [["case", "a", "b", "c"], ["1", "0", "2", "1"], ["2", "3", "0", "0"], ["3", "1", "1", "1"]],
    "contingency": [["", "yes", "no", "sum"], ["yes", "2", "1", "3"], ["no", "0", "3", "3"], ["sum", "2", "4", "6"]],
    "patterns": [["r1", "r2", "count"], ["0", "1", "3"], ["1", "1", "2"]],
    "transposed": [["rater", "c1", "c2"], ["ann", "x", "y"], ["bob", "y", "y"]],
    "ranks": [["case", "rater", "rank", "class"], ["1", "a", "1", "x"], ["1", "a", "1", "y"], ["1", "b", "2", "x"]],
    "confidence": [
        ["case", "rater", "class", "confidence"],
        ["1", "a", "x", "0.9"],
        ["1", "a", "y", "0"],
        ["1", "b", "x", "1"],
    ],
    "ordered": [["case", "ann", "bob"], ["1", "A > B = C", "B > A"], ["2", "C", "A > C"]],
    "mturk": [
        [
            "HITId",
            "AssignmentId",
            "WorkerId",
            "AssignmentStatus",
            "SubmitTime",
            "Input.url",
            "Answer.m.a",
            "Answer.m.b",
        ],
        ["h1", "a1", "w1", "Approved", "Mon", "u", "true", "false"],
        ["h1", "a2", "w2", "Rejected", "Mon", "u", "false", "true"],
    ],
    "task answers": [["HITId", "WorkerId", "Answer.taskAnswers"], ["h", "w", '[{"m": {"a": true, "b": false}}]']],
    "zooniverse": [
        ["classification_id", "user_name", "created_at", "annotations", "subject_data", "subject_ids"],
        ["1", "ann", "2024-01-01", '[{"task": "T0", "task_label": "q", "value": "a"}]', '{"s": {"f": "x.png"}}', "s"],
        ["2", "bob", "2024-01-01", '[{"task": "T0", "task_label": "q", "value": ["a", "b"]}]', "", "s"],
    ],
    "redcap": [["record_id", "grade", "reading_complete"], ["7--1", "a", "2"], ["7--2", "b", "2"], ["7", "b", "2"]],
    "label studio csv": [
        ["text", "id", "mood", "annotator", "annotation_id", "created_at", "lead_time"],
        ["t", "1", "happy", "7", "1", "2024-01-01", "1"],
        ["t", "1", '{"choices": ["a", "b"]}', "8", "2", "2024-01-01", "1"],
        ["t", "2", '[{"rating": 4}]', "8", "3", "2024-01-01", "1"],
    ],
    "surveymonkey": [
        ["Respondent ID", "Collector ID", "Image 1", "Image 2"],
        ["", "", "Response", "Response"],
        ["11", "4", "yes", "no"],
        ["12", "4", "yes", "yes"],
    ],
    "imrmc": [
        ["readerID", "caseID", "modalityID", "score"],
        ["truth", "c1", "truth", "1"],
        ["ann", "c1", "A", "2.5"],
        ["bob", "c1", "B", "1"],
    ],
    "toloka": [
        [
            "INPUT:url",
            "OUTPUT:result",
            "GOLDEN:result",
            "ASSIGNMENT:task_id",
            "ASSIGNMENT:worker_id",
            "ASSIGNMENT:status",
        ],
        ["u", "a", "a", "t1", "w1", "APPROVED"],
        ["u", "b", "", "t1", "w2", "REJECTED"],
    ],
    "appen": [
        ["_unit_id", "_worker_id", "_golden", "_tainted", "mood", "text", "mood_gold"],
        ["1", "w1", "true", "false", "a\nb", "t", "a"],
        ["1", "w2", "false", "true", "b", "t", ""],
    ],
    "qualtrics": [
        ["ResponseId", "RecordedDate", "Finished", "Status", "Q1", "Q2"],
        ["Response ID", "Recorded Date", "Finished", "Response Type", "First?", "Second?"],
        ['{"ImportId":"_recordId"}', '{"ImportId":"d"}', '{"ImportId":"f"}', '{"ImportId":"s"}', "{}", "{}"],
        ["R_1", "2024-01-01", "True", "IP Address", "x", "y"],
        ["R_2", "2024-01-01", "True", "Spam", "y", "x"],
        ["R_3", "2024-01-01", "True", "IP Address", "y", "x"],
    ],
    "google forms": [
        ["Timestamp", "Email Address", "Case 1 [A]", "Case 2 [A]"],
        ["2024/03/01", "a@example.org", "x", "y"],
        ["2024/03/01", "b@example.org", "y", "x"],
    ],
    "rayyan": [["key", "title", "notes"], ["r1", "t", 'RAYYAN-INCLUSION: {"ann"=>"Included", "bob"=>"Excluded"} | x']],
    "pairs": [["id", "rater_1", "label_1", "rater_2", "label_2"], ["1", "a", "x", "b", "y"], ["2", "b", "x", "", ""]],
    "headers": [["Case", "Round 1", "", "Round 2"], ["", "A", "B", "A"], ["1", "x", "y", "x"], ["2", "y", "y", "x"]],
    "totals": [["case", "ann", "bob", "agree"], ["1", "x", "y", "0"], ["2", "x", "x", "1"], ["Total", "", "", "1"]],
    "objects": [["case", "votes", "list"], ["1", '{"a": 3, "b": 1}', "[1, 2]"], ["2", '{"a": 1}', "['x', 'y']"]],
    "shares": [
        ["id", "n_votes", "a", "b"],
        ["1", "4", "0.25", "0.75"],
        ["2", "4", "50%", "<0.5"],
        ["3", "1,000", "1", "0"],
    ],
    "classes": [["class", "order", "risk"], ["x", "1", "low"], ["y", "2", "high"]],
    "gold": [["case", "gold"], ["1", "x"], ["2", "y"]],
    "cases": [["case", "text", "image", "site"], ["1", "hello", "a.png", "n"], ["2", "bye", "b.png", "s"]],
}


def _choice(name: str) -> dict:
    return {"from_name": "mood", "type": "choices", "value": {"choices": [name]}, "origin": "manual"}


def _typed(kind: str, value: object) -> dict:
    return {"from_name": kind, "type": kind, "value": {kind: value}}


_RESULTS = [
    [_choice("a")],
    [_choice("b"), _typed("rating", 3)],
    [_typed("taxonomy", [["a", "b"]]), _typed("number", 1.5)],
]
_RESULTS += [[_typed("ranker", {"_": ["a", "b"]})]]
RECORDS = {
    "label studio": [
        {
            "id": task,
            "data": {"text": "words", "image": "/data/a.png"},
            "annotations": [
                {
                    "id": task * 9 + n,
                    "completed_by": n,
                    "was_cancelled": n == 3,
                    "ground_truth": n == 1,
                    "result": result,
                }
                for n, result in enumerate(_RESULTS)
            ],
        }
        for task in (1, 2)
    ],
    "completions": [
        {"id": 1, "data": {}, "completions": [{"id": 1, "completed_by": {"id": 1, "email": "a@b"}, "result": []}]}
    ],
    "json min": [
        {"text": "t", "id": 1, "mood": "a", "annotator": 1, "annotation_id": 1, "lead_time": 1.5},
        {"text": "t", "id": 1, "mood": {"choices": ["a", "b"]}, "annotator": 2, "annotation_id": 2, "lead_time": 1.5},
    ],
    "prodigy": [
        {"text": "t", "_input_hash": 1, "options": [{"id": "a", "text": "A"}], "accept": ["a"], "answer": "accept"},
        {
            "text": "t",
            "_input_hash": 1,
            "label": "SPAM",
            "answer": "reject",
            "_session_id": "s",
            "_timestamp": 1700000000,
        },
        {"text": "t", "_input_hash": 2, "answer": "ignore", "_annotator_id": "ann"},
    ],
    "doccano": [{"id": 1, "text": "t", "label": ["a"]}, {"id": 2, "text": "t", "label": ["a", "b"]}],
    "labelbox": [
        {
            "data_row": {"id": "d", "global_key": "k"},
            "projects": {
                "p": {
                    "labels": [
                        {
                            "id": "1",
                            "label_details": {"created_by": "ann", "created_at": "2024-01-01T00:00:00Z"},
                            "annotations": {
                                "classifications": [
                                    {"name": "mood", "radio_answer": {"name": "a"}},
                                    {"name": "parts", "checklist_answers": [{"name": "b"}, {"name": "c"}]},
                                ]
                            },
                        }
                    ]
                }
            },
        }
    ],
    "encord": [
        {
            "data_hash": "d",
            "data_title": "a.png",
            "data_units": {"d": {"labels": {"classifications": [{"classificationHash": "k", "createdBy": "ann"}]}}},
            "classification_answers": {
                "k": {"classifications": [{"name": "mood", "answers": [{"name": "a"}]}], "createdAt": "2024-01-01"},
                "l": {"classifications": [{"name": "mood", "answers": "text"}], "createdBy": "bob"},
            },
        }
    ],
    "lewidi": [
        {
            "1": {
                "text": "t",
                "annotators": "A,B",
                "annotations": "0,1",
                "soft_label": {"0": 0.5, "1": 0.5},
                "split": "dev",
            },
            "2": {"text": "t", "annotators": "A,B", "annotations": {"A": "0", "B": "1,0"}, "split": "dev"},
        }
    ],
    "sagemaker": [
        {
            "datasetObjectId": "0",
            "dataObject": {"s3Uri": "s3://b/0.jpg"},
            "annotations": [{"workerId": "w", "annotationData": {"content": '{"f": {"label": "cat"}}'}}],
        },
        {
            "answers": [
                {"answerContent": {"f": {"labels": ["a", "b"]}}, "workerId": "w", "submissionTime": "2024-01-01"}
            ]
        },
        {"source-ref": "s", "j": 0, "j-metadata": {"type": "groundtruth/x", "class-name": "a"}},
    ],
    "kili": [
        {
            "id": "x",
            "externalId": "a.jpg",
            "content": "t",
            "labels": [
                {
                    "author": {"email": "ann"},
                    "labelType": "DEFAULT",
                    "jsonResponse": {"J": {"categories": [{"name": "a"}]}},
                },
                {"author": {"id": "bob"}, "jsonResponse": '{"J": {"categories": [{"name": "b"}]}}'},
            ],
        }
    ],
    "lighttag": [
        {
            "schema": {},
            "examples": [
                {
                    "example_id": "e",
                    "content": "t",
                    "annotations": [{"start": 0}],
                    "classifications": [{"classname": "a", "annotated_by": [{"annotator": "ann", "timestamp": "x"}]}],
                }
            ],
        }
    ],
    "potato": [
        {"id": "1", "displayed_text": "t", "label_annotations": {"mood": {"happy": "true", "sad": False}}},
        {"id": "2", "user": "ann", "label_annotations": {"mood": {"scale": 3}, "other": []}},
    ],
    "split": [{"columns": ["case", "ann", "bob"], "index": [0, 1], "data": [["1", "x", "y"], ["2", "y", "y"]]}],
    "columns": [{"case": {"0": "1", "1": "2"}, "ann": {"0": "x", "1": "y"}, "bob": {"0": "x", "1": None}}],
    "coco": [{"images": [{"id": 1}], "annotations": [{"id": 1, "bbox": [1, 2, 3, 4]}], "categories": []}],
    "by-rater": [{"A": {"1": "x", "2": None, "3": 4}, "B": {"1": ["x", "y"], "3": [["x", "y"], ["z"]]}}],
    "argilla": [
        {
            "id": "r",
            "fields": {"text": "t"},
            "responses": {"mood": [{"value": "a", "user_id": "u"}, {"value": ["a", "b"]}]},
        },
        {"id": "s", "fields": {}, "responses": [{"user_id": "u", "values": {"m": {"value": 1}}, "status": "draft"}]},
        {"id": "t", "q.responses": ["a"], "q.responses.users": ["u"], "q.responses.status": ["submitted"]},
    ],
    "nested": [[[[1]], [[2], [0, 1]]], [[[0]], []]],
    "lists": [
        {"case": "1", "annotators": ["a", "b"], "labels": [1, 0], "more": {"x": [1]}},
        {"case": "2", "annotators": ["a"], "labels": [1], "more": {"x": []}},
    ],
    "structs": [
        {"case": "1", "said": [{"annotator": "a", "label": "x"}, {"annotator": "b", "label": "y"}]},
        {"case": "2", "said": [{"annotator": "a", "label": "y"}]},
    ],
    "records": [{"case": 1, "rater": "a", "label": "x"}, {"case": 1, "rater": "b", "label": None, "more": [1]}],
}


def delimited(rows: list[list], delimiter: str = ",") -> bytes:
    """A table as text, quoted where it must be."""

    def cell(value: object) -> str:
        text = str(value)
        quoted = any(sign in text for sign in f'{delimiter}"\n\r')
        return '"' + text.replace('"', '""') + '"' if quoted else text

    return "\n".join(delimiter.join(map(cell, row)) for row in rows).encode("utf-8", "replace") + b"\n"


def parquet_bytes(rows: list[list]) -> bytes:
    """A table as Parquet; columns whose cells differ in type are text."""
    columns = {}
    for place, name in enumerate(rows[0]):
        cells = [row[place] if place < len(row) else None for row in rows[1:]]
        try:
            columns[_name(name)] = pa.array(cells)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError):
            columns[_name(name)] = pa.array([ascii(cell) for cell in cells])
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return sink.getvalue()


def nested_parquet_bytes(records: list) -> bytes | None:
    """Records as Parquet with lists and parts; None where their values differ in type."""
    sink = io.BytesIO()
    try:
        parquet.write_table(pa.Table.from_pylist(records), sink)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError, AttributeError, TypeError, ValueError):
        return None
    return sink.getvalue()


def _name(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode()


def workbook_bytes(*sheets: list[list]) -> bytes:
    """Tables as sheets of a workbook; what a cell cannot hold is left out."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append([_cell(value) for value in row])
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return "".join(letter for letter in value if letter.isprintable())
    return value if isinstance(value, int | float) or value is None else ascii(value)


def json_bytes(records: list, rng: random.Random) -> bytes:
    """Records as an array, as lines, or as a single object."""
    one = json.dumps
    if len(records) == 1 and isinstance(records[0], dict):
        return one(records[0]).encode()
    if rng.random() < 0.5:
        return one(records, indent=rng.choice([None, 1])).encode()
    return "\n".join(map(one, records)).encode()


def zip_bytes(files: list[tuple[str, bytes]]) -> bytes:
    """Files in an archive."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return sink.getvalue()
