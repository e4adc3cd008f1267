"""Zooniverse, CSV of classifications: one row a volunteer and subject, with annotations of every task as JSON."""

import json
import re
from collections.abc import Iterator, Sequence

from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .questionnaire import Questionnaire, text_of
from .raw_table import RawTable
from .reader import Reader, reader_method
from .source import Source

NAME, TITLE = "zooniverse", "Zooniverse (classifications CSV)"
_COLUMNS = {"classification_id", "user_name", "annotations", "subject_ids"}
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\s*")


def recognise(columns: Sequence[str]) -> str | None:
    """Columns `classification_id`, `user_name`, `annotations` and `subject_ids`."""
    return "columns classification_id, user_name, annotations and subject_ids" if set(columns) >= _COLUMNS else None


def read(raw: RawTable) -> Source:
    """Every task is a question, named by its label; pictures in answers are left out, a task of several answers ties.

    A volunteer who is not logged in has a name of their own (``not-logged-in-…``), as Zooniverse gives it. Marks on the
    image, texts and transcriptions are no classes and are dropped rows.
    """
    named = ("classification_id", "user_name", "created_at", "annotations", "subject_ids", "subject_data")
    cells = {name: raw.table[name].to_pylist() for name in named if name in raw.columns}
    nothing = [""] * raw.table.num_rows
    number, who, when, said, subjects, facts = (cells.get(name, nothing) for name in named)
    asked, shown, known = Questionnaire(("row",)), CaseTexts(), set()
    for row in range(raw.table.num_rows):
        asked.begin(int(raw.line[row]), (row + 1,), subjects[row], who[row], when[row])
        shown.add(subjects[row], _facts(facts[row], subjects[row]))
        if number[row] and number[row] in known:
            asked.drop(f"classification {number[row][:40]} stands in the file twice")
            continue
        known.add(number[row])
        tasks = _parsed(said[row])
        if not isinstance(tasks, list):
            asked.drop("the annotations are no list of tasks")
            continue
        for name, block in _answers(tasks):
            asked.answer(name, [block] if block else [])
    return Source(
        NAME, TITLE, recognise(raw.columns) or "said so", asked.questions(raw.notes), SideFiles(shown.table())
    )


def _answers(tasks: list) -> Iterator[tuple[str, list[str]]]:
    """Name and classes of each question task; tasks within a combined one stand beside it."""
    for task in tasks:
        if not isinstance(task, dict):
            continue
        value, name = task.get("value"), text_of(task.get("task_label")) or text_of(task.get("task"))
        if isinstance(value, list) and value and all(isinstance(one, dict) and "task" in one for one in value):
            yield from _answers(value)
            continue
        given = value if isinstance(value, list) else [value]
        if any(isinstance(one, dict) for one in given):  # marks on the image
            continue
        texts = [_PICTURE.sub("", text_of(one)).strip() for one in given]
        yield name, [text for text in texts if text]


def _facts(cell: str, subject: str) -> dict[str, str]:
    """What Zooniverse says of the subject: names and values of its manifest."""
    found = _parsed(cell)
    facts = found.get(subject) if isinstance(found, dict) else None
    plain = facts.items() if isinstance(facts, dict) else ()
    return {
        str(key): text_of(value) for key, value in plain if not isinstance(value, dict | list) and value is not None
    }


def _parsed(cell: str) -> object:
    try:
        return json.loads(cell) if cell.strip() else None
    except (ValueError, RecursionError):
        return None


METHOD = reader_method(
    Reader(NAME, TITLE, "table", recognise, read),
    81,
    plainly="Classifications of a Zooniverse project, one row a volunteer and subject.",
    exactly="CSV of classifications: `annotations` holds the value of each task as JSON, `subject_ids` the subject.",
    source="Zooniverse Panoptes, classifications export CSV",
)
