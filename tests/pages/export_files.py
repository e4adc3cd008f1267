"""Exports of every family, small, as a person would drop them: name and content of each file."""

import io
import json
import zipfile

import openpyxl
import pyarrow as pa
from pyarrow import parquet

RATERS = ("ann", "bob", "cem")
CASES = range(1, 9)


def _said(case: int, rater: int) -> str:
    return ("calm", "angry")[(case + case * rater) % 2]


def _csv(rows: list) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in rows).encode() + b"\n"


def _lines(records: list) -> bytes:
    return "\n".join(map(json.dumps, records)).encode() + b"\n"


ROWS = [(case, name, _said(case, rater)) for case in CASES for rater, name in enumerate(RATERS)]
LONG = [("item", "annotator", "label"), *ROWS]
WIDE = [("tooth", *RATERS), *((case, *(_said(case, rater) for rater in range(3))) for case in CASES)]
RANKED = [
    (case, name, 1 + place, answer)
    for case in CASES
    for rater, name in enumerate(RATERS)
    for place, answer in enumerate(("a", "b") if _said(case, rater) == "calm" else ("b", "c"))
]


def _workbook(*sheets: list) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(list(row))
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()


def _parquet(rows: list) -> bytes:
    sink = io.BytesIO()
    parquet.write_table(pa.table(dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))), sink)
    return sink.getvalue()


def archive(files: dict[str, bytes]) -> bytes:
    """A zip of these files."""
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in files.items():
            target.writestr(name, content)
    return sink.getvalue()


def label_studio(key: str = "annotations", questions: tuple[str, ...] = ("mood",)) -> bytes:
    """Tasks with one annotation of each rater and an annotation to each question."""
    return json.dumps(
        [
            {
                "id": case,
                "data": {"text": f"words {case}"},
                key: [
                    {
                        "id": 10 * case + rater,
                        "completed_by": {"id": rater, "email": f"{name}@example.org"},
                        "result": [
                            {"from_name": name, "type": "choices", "value": {"choices": [_said(case + shift, rater)]}}
                            for shift, name in enumerate(questions)
                        ],
                    }
                    for rater, name in enumerate(RATERS)
                ],
            }
            for case in CASES
        ]
    ).encode()


def _prodigy(rater: int, **who: str) -> bytes:
    options = [{"id": "calm", "text": "calm"}, {"id": "angry", "text": "angry"}]
    return _lines(
        [
            {"_input_hash": case, "options": options, "accept": [_said(case, rater)], "answer": "accept", **who}
            for case in CASES
        ]
    )


_MTURK = ("HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "Input.url", "Answer.mood")
_STUDIO_CSV = ("text", "id", "mood", "annotator", "annotation_id", "lead_time")
_DOCCANO = {
    f"{name}.jsonl": _lines([{"id": case, "text": "t", "label": [_said(case, rater)]} for case in CASES])
    for rater, name in enumerate(RATERS)
}
_LABELBOX = [
    {
        "data_row": {"id": f"d{case}", "global_key": f"k{case}"},
        "projects": {
            "p": {
                "labels": [
                    {
                        "id": f"{case}{name}",
                        "label_details": {"created_by": name},
                        "annotations": {
                            "classifications": [{"name": "mood", "radio_answer": {"name": _said(case, rater)}}]
                        },
                    }
                    for rater, name in enumerate(RATERS)
                ]
            }
        },
    }
    for case in CASES
]
_LEWIDI = {
    str(case): {
        "text": "t",
        "annotators": ",".join(RATERS),
        "annotations": ",".join(_said(case, rater) for rater in range(3)),
        "soft_label": {"calm": 0.9},
        "split": "dev",
    }
    for case in CASES
}
_ARGILLA = [
    {
        "id": f"r{case}",
        "fields": {"text": "t"},
        "responses": {
            "mood": [{"value": _said(case, rater), "user_id": name} for rater, name in enumerate(RATERS)],
        },
    }
    for case in CASES
]
_ORDERED = [
    ("case", *RATERS),
    *((case, *("a = b > c" if _said(case, rater) == "calm" else "c > a" for rater in range(3))) for case in CASES),
]
_NESTED = [[[[0], [1]] if _said(case, rater) == "calm" else [[2], [0, 1]] for rater in range(3)] for case in CASES]
_COUNTS = [("case", "calm", "angry", "sad")]
_COUNTS += [(case, 3 - case % 3, case % 3, 0) for case in CASES] + [(9, 0, 0, 3)]

_TRANSPOSED = [("rater", *(f"q{case}" for case in CASES))]
_TRANSPOSED += [(name, *(_said(case, rater) for case in CASES)) for rater, name in enumerate(RATERS)]

EXPORTS: dict[str, list[tuple[str, bytes]]] = {
    "long": [("long.csv", _csv(LONG))],
    "wide": [("wide.csv", _csv(WIDE))],
    "transposed": [("across.csv", _csv(_TRANSPOSED))],
    "counts": [("counts.csv", _csv(_COUNTS))],
    "contingency": [("two.csv", b",yes,no\nyes,8,2\nno,3,7\n")],
    "patterns": [("patterns.csv", b"r1,r2,r3,count\n0,0,0,30\n0,1,1,7\n1,1,1,20\n1,0,0,3\n")],
    "workbook": [("book.xlsx", _workbook(WIDE, LONG))],
    "parquet": [("answers.parquet", _parquet(LONG))],
    "ranks": [("ranks.csv", _csv([("case", "rater", "rank", "class"), *RANKED]))],
    "confidence": [
        ("sure.csv", _csv([("case", "rater", "class", "confidence"), *((c, r, k, 1 - p / 4) for c, r, p, k in RANKED)]))
    ],
    "ordered": [("ordered.csv", _csv(_ORDERED))],
    "nested": [
        ("ddx.json", json.dumps(_NESTED).encode()),
        ("names.txt", b"Acne\nEczema\nMelanoma\n"),
        ("risks.txt", b"0\n1\n2\n"),
    ],
    "label studio": [("project.json", label_studio())],
    "label studio, old": [("old.json", label_studio("completions"))],
    "label studio csv": [
        (
            "project.csv",
            _csv([_STUDIO_CSV, *(("t", case, said, name, f"{case}{name}", 1) for case, name, said in ROWS)]),
        )
    ],
    "prodigy": [("db.jsonl", b"".join(_prodigy(rater, _annotator_id=name) for rater, name in enumerate(RATERS)))],
    "prodigy, a file for each rater": [(f"{name}.jsonl", _prodigy(rater)) for rater, name in enumerate(RATERS)],
    "mturk": [
        (
            "batch.csv",
            _csv([_MTURK, *((f"h{case}", f"{case}{name}", name, "Approved", "u", said) for case, name, said in ROWS)]),
        )
    ],
    "doccano": [("export.zip", archive(_DOCCANO))],
    "labelbox": [("export.ndjson", _lines(_LABELBOX))],
    "lewidi": [("dev.json", json.dumps(_LEWIDI).encode())],
    "argilla": [("records.json", json.dumps(_ARGILLA).encode())],
    "crowd-kit": [
        ("gold.csv", _csv([("task", "label"), *((case, _said(case, 0)) for case in (1, 2, 3))])),
        ("labels.csv", _csv([("worker", "task", "label"), *((name, case, said) for case, name, said in ROWS)])),
    ],
}
# Cases, raters and annotations that each holds; raters None where nobody is named.
HOLDS: dict[str, tuple[int, int | None, int]] = dict.fromkeys(EXPORTS, (8, 3, 24)) | {
    "counts": (9, None, 27),
    "contingency": (20, 2, 40),
    "patterns": (60, 3, 180),
    "nested": (8, None, 24),
}
