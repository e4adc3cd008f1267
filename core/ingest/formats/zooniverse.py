"""Zooniverse, CSV of classifications: one row per volunteer and subject, with annotations of every task as JSON."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from ...text import shorten
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import value_of_cell
from .questionnaire import Questionnaire, left_out, text_of
from .raw_table import RawTable
from .reader import Reader
from .source import Source

NAME, TITLE = "zooniverse", "Zooniverse (classifications CSV)"
_COLUMNS = {"classification_id", "user_name", "annotations", "subject_ids"}
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)\s*")


def recognise(columns: Sequence[str]) -> str | None:
    """Recognise columns `classification_id`, `user_name`, `annotations` and `subject_ids`."""
    return "columns classification_id, user_name, annotations and subject_ids" if set(columns) >= _COLUMNS else None


def read(raw: RawTable) -> Source:
    """Read every task as a question, named by its label; leave out pictures in answers; several answers to a task tie.

    The choices of a survey are classes, and so are the options of each drop-down list. A volunteer who is not logged in
    has a name of their own (``not-logged-in-…``), as Zooniverse gives it. Marks on the image, what a survey asks about
    a choice and text typed into a list are not classes: they are counted in the notes. A text task cannot be
    distinguished from a question, and is offered as one.
    """
    named = ("classification_id", "user_name", "created_at", "annotations", "subject_ids", "subject_data")
    cells = {name: raw.table[name].to_pylist() for name in named if name in raw.columns}
    nothing = [""] * raw.table.num_rows
    number, who, when, said, subjects, facts = (cells.get(name, nothing) for name in named)
    asked, shown, known = Questionnaire(("row",)), CaseTexts(), set()
    left: Counter[tuple[str, str]] = Counter()
    for row in range(raw.table.num_rows):
        asked.begin(int(raw.line[row]), (row + 1,), subjects[row], who[row], when[row])
        shown.add(subjects[row], _facts(facts[row], subjects[row]))
        if number[row] and number[row] in known:
            asked.drop(f"classification ID {number[row][:40]} is repeated in the file")
            continue
        known.add(number[row])
        tasks = _parsed(said[row])
        if not isinstance(tasks, list):
            asked.drop("the annotations are not a list of tasks")
            continue
        given = list(_answers(tasks, left))
        for name, block in given:
            asked.answer(name, [block] if block else [])
        if not given:
            asked.drop("no task was answered with a class")
    notes = [*raw.notes, *left_out(left)]
    return Source(NAME, TITLE, recognise(raw.columns) or "said so", asked.questions(notes), SideFiles(shown.table()))


def _answers(tasks: list, left: Counter[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield name and classes of each question task; tasks within a combined one are separate.

    Other content is counted in ``left``, under the words for it.
    """
    for task in tasks:
        if not isinstance(task, dict):
            continue
        value, name = task.get("value"), text_of(task.get("task_label")) or text_of(task.get("task"))
        if isinstance(value, list) and value and all(isinstance(one, dict) and "task" in one for one in value):
            yield from _answers(value, left)
            continue
        given = value if isinstance(value, list) else [value]
        nested = [one for one in given if isinstance(one, dict)]
        if not nested:
            texts = [_PICTURE.sub("", text_of(one)).strip() for one in given]
            yield name, [text for text in texts if text]
        elif any("choice" in one for one in nested):
            yield name, _chosen(nested, name, left)
        elif any("option" in one for one in nested):
            yield from _from_lists(nested, name, left)
        else:
            where = f"on the image for {shorten(name, 60)}"
            left[f"mark {where}", f"marks {where}"] += len(nested)


def _chosen(identified: list[dict], name: str, left: Counter[tuple[str, str]]) -> list[str]:
    """Return the choices of a survey, each with its own questions, such as how many animals there are."""
    for one in identified:
        about = one.get("answers")
        for question in about if isinstance(about, dict) else ():
            asked, survey = shorten(question, 60), shorten(name, 60)
            left[f"answer to {asked} about a choice in {survey}", f"answers to {asked} about choices in {survey}"] += 1
    return [text for one in identified if (text := text_of(one.get("choice")).strip())]


def _from_lists(chosen: list[dict], name: str, left: Counter[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the options of drop-down lists, each as a question; a list without a name is named after its task."""
    for place, one in enumerate(chosen, 1):
        label = text_of(one.get("select_label")) or (name if len(chosen) == 1 else f"{name} {place}")
        if one.get("option"):
            text = (text_of(one.get("label")) or text_of(one.get("value"))).strip()
            yield label, [text] if text else []
        elif text_of(one.get("value")):
            where = f"typed into {shorten(label, 60)}"
            left[f"text {where}", f"texts {where}"] += 1


def _facts(cell: str, subject: str) -> dict[str, str]:
    """Return the facts of Zooniverse on the subject: names and values of its manifest."""
    found = _parsed(cell)
    facts = found.get(subject) if isinstance(found, dict) else None
    plain = facts.items() if isinstance(facts, dict) else ()
    return {
        str(key): text_of(value) for key, value in plain if not isinstance(value, dict | list) and value is not None
    }


def _parsed(cell: str) -> object:
    try:
        return value_of_cell(cell) if cell.strip() else None
    except (ValueError, RecursionError):
        return None


METHOD = Reader(
    NAME,
    TITLE,
    "table",
    recognise,
    read,
    place=81,
    plainly="Classifications from a Zooniverse project, one row per volunteer and subject.",
    exactly="CSV of classifications: `annotations` contains the answers to question, survey and drop-down tasks as "
    "JSON.",
    sources=("Zooniverse Panoptes, classifications export CSV",),
)
