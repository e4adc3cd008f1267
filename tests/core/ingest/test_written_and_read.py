"""The same annotations written as each tool writes them read back to the same dataset."""

import io
import json
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from core.annotations.vocabulary import MISSING_TOKENS
from core.ingest.formats.detect import open_source
from tests.core.ingest.as_read import opened
from tests.core.ingest.shapes import delimited, parquet_bytes, workbook_bytes, zip_bytes

Row = tuple[str, str, str]
NAME = st.text("abü 1\"'{[>=;", min_size=1, max_size=6).map(str.strip)
# A cell that begins with = is a formula in a workbook.
NAME = NAME.filter(lambda text: text and text[0] != "=" and text.casefold() not in MISSING_TOKENS)


@st.composite
def some_answers(draw) -> list[Row]:
    """Case, rater and class in order, no rater twice on one case."""
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    pairs = st.tuples(st.sampled_from(["c1", "c2", "c10"]), st.sampled_from(["ann", "bob", "eve"]))
    chosen = draw(st.lists(pairs, min_size=1, max_size=9, unique=True))
    chosen.sort(key=lambda pair: (int(pair[0][1:]), pair[1]))
    return [(case, rater, draw(st.sampled_from(names))) for case, rater in chosen]


def by_case(rows: list[Row]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for case, rater, name in rows:
        found.setdefault(case, {})[rater] = name
    return found


def lines(records: list) -> bytes:
    return "\n".join(map(json.dumps, records)).encode()


def long_csv(rows):
    return [("a.csv", delimited([["case", "rater", "class"], *rows]))]


def crowd_kit(rows):
    return [("a.tsv", delimited([["task", "worker", "label"], *rows], "\t"))]


def parquet_table(rows):
    return [("a.parquet", parquet_bytes([["case", "rater", "class"], *rows]))]


def parquet_lists(rows):
    cases = by_case(rows)
    columns = {
        "case": list(cases),
        "raters": [list(given) for given in cases.values()],
        "labels": [list(given.values()) for given in cases.values()],
    }
    sink = io.BytesIO()
    parquet.write_table(pa.table(columns), sink)
    return [("a.parquet", sink.getvalue())]


def workbook(rows):
    return [("a.xlsx", workbook_bytes([["case", "rater", "class"], *rows]))]


def plain_json(rows):
    return [("a.json", json.dumps([dict(zip(("case", "rater", "class"), row, strict=True)) for row in rows]).encode())]


def label_studio_min(rows):
    head = ["id", "mood", "annotator", "annotation_id", "lead_time"]
    body = [[case, json.dumps([name]), rater, number, 1.5] for number, (case, rater, name) in enumerate(rows)]
    return [("a.csv", delimited([head, *body]))]


def prodigy(rows):
    return [
        (
            "a.jsonl",
            lines(
                [
                    {"_input_hash": case, "options": [], "accept": [name], "answer": "accept", "_annotator_id": rater}
                    for case, rater, name in rows
                ]
            ),
        )
    ]


def mturk(rows):
    return [("a.csv", delimited([["HITId", "WorkerId", "Answer.mood"], *rows]))]


def doccano(rows):
    files = {}
    for case, rater, name in rows:
        files.setdefault(rater, []).append({"id": case, "text": "t", "label": [name]})
    return [("a.zip", zip_bytes([(f"{rater}.jsonl", lines(files[rater])) for rater in sorted(files)]))]


def labelbox(rows):
    def label(rater, name):
        answered = {"classifications": [{"name": "mood", "radio_answer": {"name": name}}]}
        return {"label_details": {"created_by": rater}, "annotations": answered}

    return [
        (
            "a.ndjson",
            lines(
                [
                    {"data_row": {"id": case}, "projects": {"p": {"labels": [label(*pair) for pair in given.items()]}}}
                    for case, given in by_case(rows).items()
                ]
            ),
        )
    ]


def zooniverse(rows):
    head = ["classification_id", "user_name", "annotations", "subject_ids"]
    said = [
        [n, rater, json.dumps([{"task": "T0", "task_label": "mood", "value": name}]), case]
        for n, (case, rater, name) in enumerate(rows)
    ]
    return [("a.csv", delimited([head, *said]))]


def encord(rows):
    def answer(rater, name):
        return {"createdBy": rater, "classifications": [{"name": "mood", "answers": [{"name": name}]}]}

    records = [
        {
            "data_title": case,
            "data_units": {},
            "classification_answers": {str(n): answer(*pair) for n, pair in enumerate(given.items())},
        }
        for case, given in by_case(rows).items()
    ]
    return [("a.json", json.dumps(records).encode())]


def lewidi(rows):
    cases = {case: {"annotators": ",".join(given), "annotations": given} for case, given in by_case(rows).items()}
    return [("a.json", json.dumps(cases).encode())]


def by_rater(rows):
    raters = {}
    for case, rater, name in rows:
        raters.setdefault(rater, {})[case] = name
    return [("a.json", json.dumps(dict(sorted(raters.items()))).encode())]


def argilla(rows):
    records = [
        {
            "id": case,
            "fields": {},
            "responses": {"mood": [{"value": name, "user_id": rater} for rater, name in given.items()]},
        }
        for case, given in by_case(rows).items()
    ]
    return [("a.json", json.dumps(records).encode())]


WRITERS = {
    "table": (long_csv, crowd_kit, parquet_table, parquet_lists, workbook, plain_json),
    "label-studio-min": (label_studio_min,),
    "prodigy": (prodigy,),
    "mturk": (mturk,),
    "doccano": (doccano,),
    "labelbox": (labelbox,),
    "zooniverse": (zooniverse,),
    "encord": (encord,),
    "lewidi": (lewidi,),
    "by-rater": (by_rater,),
    "argilla": (argilla,),
}
PAIRS = [(name, writer) for name, writers in WRITERS.items() for writer in writers]


@pytest.mark.parametrize(("name", "write"), PAIRS, ids=[writer.__name__ for _, writer in PAIRS])
@settings(max_examples=25, deadline=None)
@given(rows=some_answers())
def test_written_and_read(name, write, rows):
    files = write(rows)
    assert open_source(files).format == name
    expected = opened(*parquet_table(rows), kind="class").dataset
    reading = opened(*files, kind="class")
    assert reading.report.dropped == ()
    if write is doccano and expected.n_raters == 1:  # one file alone says nothing of its rater
        expected = replace(expected, raters=("answer 1",), raters_identified=False)
    assert reading.dataset.digest == expected.digest
