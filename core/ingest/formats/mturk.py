"""Mechanical Turk, CSV of a batch: one row per assignment, with the content in `Input.*` and answers in `Answer.*`."""

import re
from collections.abc import Iterator, Sequence

from ...annotations.none_of_these import NONE_APPLIES
from ...errors import InputError
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import value_of_cell
from .questionnaire import Questionnaire, text_of
from .raw_table import RawTable
from .reader import Reader
from .source import Source

NAME, TITLE = "mturk", "Mechanical Turk (batch CSV)"
_TRUE, _FALSE = ("true", "on", "1"), ("false", "off", "0", "")
_BOXES = "check boxes"
_WHOLE = "Answer.taskAnswers"
_MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec"
_ZONES = {"PST": "-08:00", "PDT": "-07:00", "UTC": "Z", "GMT": "Z"}
_DATE = re.compile(
    r"\w{3} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d\d) (\d\d:\d\d:\d\d) (PST|PDT|UTC|GMT) (\d{4})"
)


def recognise(columns: Sequence[str]) -> str | None:
    """Recognise columns `HITId`, `WorkerId` and some `Answer.*`."""
    if {"HITId", "WorkerId"} <= set(columns) and any(column.startswith("Answer.") for column in columns):
        return "columns HITId, WorkerId and Answer.*"
    return None


def read(raw: RawTable, *, with_rejected: bool = False) -> Source:
    """Read every field of answers as a question; boxes of one field (`Answer.mood.happy`, `Answer.mood.sad`) are one.

    Rejected assignments are left out unless ``with_rejected``.
    """
    fields = [column for column in raw.columns if column.startswith("Answer.")]
    inputs = [column for column in raw.columns if column.startswith("Input.")]
    if not fields:
        raise InputError(
            "Could not read annotations: the file has no Answer.* column.", "Download the results of the batch again."
        )
    named = ("HITId", "WorkerId", "AssignmentId", "AssignmentStatus", "SubmitTime")
    cells = {name: raw.table[name].to_pylist() for name in (*named, *fields, *inputs) if name in raw.columns}
    nothing = [""] * raw.table.num_rows
    hit, worker, assignment, status, time = (cells.get(name, nothing) for name in named)
    boxes = _boxes({field: cells[field] for field in fields if field != _WHOLE})
    asked, shown, known = Questionnaire(("row",)), CaseTexts(), set()
    for row in range(raw.table.num_rows):
        asked.begin(int(raw.line[row]), (row + 1,), hit[row], worker[row], _iso(time[row]))
        shown.add(hit[row], {name: cells[name][row] for name in inputs})
        if assignment[row] and assignment[row] in known:
            asked.drop(f"assignment ID {assignment[row][:40]} is repeated in the file")
            continue
        known.add(assignment[row])
        if status[row].strip().casefold() == "rejected" and not with_rejected:
            asked.drop("the work was rejected")
            continue
        for name, parts in boxes.items():
            block = [part for part, field in parts if cells[field][row].strip().casefold() in _TRUE]
            asked.answer(name, [block] if block else [])
        for field in fields:
            if field == _WHOLE:
                for name, block in _task_answers(cells[field][row]):
                    asked.answer(name, [block] if block else [])
            elif not any(field == other for parts in boxes.values() for _, other in parts):
                text = cells[field][row].strip()
                asked.answer(field.removeprefix("Answer."), [[text]] if text else [])
    return Source(
        NAME, TITLE, recognise(raw.columns) or "said so", asked.questions(raw.notes), SideFiles(shown.table())
    )


def _iso(text: str) -> str:
    """Return a date such as "Mon Jan 08 10:00:00 PST 2024" in ISO; anything else unchanged."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return text
    month, day, clock, zone, year = found.groups()
    return f"{year}-{_MONTHS.index(month) // 3 + 1:02d}-{day}T{clock}{_ZONES[zone]}"


def _boxes(columns: dict[str, list[str]]) -> dict[str, list[tuple[str, str]]]:
    """Return fields of one name and several boxes, name to (class, column), if every cell is true or false."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for field in columns:
        name, dot, part = field.removeprefix("Answer.").rpartition(".")
        if dot:
            groups.setdefault(name, []).append((part, field))
    boolean = (*_TRUE, *_FALSE)
    return {
        name: parts
        for name, parts in groups.items()
        if len(parts) > 1 and all(cell.strip().casefold() in boolean for _, field in parts for cell in columns[field])
    }


def _task_answers(cell: str) -> Iterator[tuple[str, list[str]]]:
    """Yield question and classes in the JSON that crowd forms send: ``[{"mood": {"happy": true, "sad": false}}]``."""
    try:
        value = value_of_cell(cell) if cell.strip() else []
    except (ValueError, RecursionError):
        value = []
    for part in value if isinstance(value, list) else [value]:
        fields = part if isinstance(part, dict) else {}
        boxes = {name: box["on"] for name, box in fields.items() if _is_box(box)}
        if len(boxes) > 1:
            yield _BOXES, [name for name, chosen in boxes.items() if chosen] or [NONE_APPLIES]
        for name, answer in fields.items():
            if len(boxes) > 1 and name in boxes:
                continue
            if isinstance(answer, dict):
                answer = answer.get("label", [key for key, chosen in answer.items() if chosen is True])
            texts = [text_of(one) for one in (answer if isinstance(answer, list) else [answer])]
            yield name, [text for text in texts if text]


def _is_box(answer: object) -> bool:
    return isinstance(answer, dict) and answer.keys() == {"on"} and isinstance(answer["on"], bool)


METHOD = Reader(
    NAME,
    TITLE,
    "table",
    recognise,
    read,
    place=80,
    plainly="A Mechanical Turk batch, one row per assignment.",
    exactly="CSV of a batch: one row per assignment, questions in `Input.*`, answers in `Answer.*`.",
    sources=("Amazon Mechanical Turk, batch results CSV",),
)
