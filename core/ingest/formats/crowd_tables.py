"""Tables of crowdsourcing platforms: Toloka, one row per assignment and task, and Appen, one row per judgment."""

from collections.abc import Sequence
from dataclasses import replace

from ...errors import InputError
from ..column_evidence import ColumnEvidence, is_fact_by_name
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .questionnaire import Questionnaire
from .raw_table import RawTable
from .reader import Reader
from .source import Source

TOLOKA, TOLOKA_TITLE = "toloka", "Toloka (assignments TSV)"
APPEN, APPEN_TITLE = "appen", "Appen (report CSV)"
_ONE_EACH = "{what} is aggregated: it has one answer per {unit} instead of the raters' annotations."


def recognise_toloka(columns: Sequence[str]) -> str | None:
    """Recognise columns `INPUT:*`, `OUTPUT:*`, and those of assignments or of aggregation."""
    starts = {column.partition(":")[0] for column in columns if ":" in column}
    if {"INPUT", "OUTPUT"} <= starts and starts & {"ASSIGNMENT", "CONFIDENCE"}:
        return "columns INPUT:*, OUTPUT:* and ASSIGNMENT:* or CONFIDENCE:*"
    return None


def read_toloka(raw: RawTable) -> Source:
    """Read every output as a question, with its gold from `GOLDEN:*`; rejected assignments are rows left out.

    Raises
    ------
    InputError
        The answers are aggregated.
    """
    if "ASSIGNMENT:worker_id" not in raw.columns:
        raise InputError(_ONE_EACH.format(what="This Toloka file", unit="task"), "Download the pool's assignments.")
    cells = {name: raw.table[name].to_pylist() for name in raw.columns}
    nothing = [""] * raw.table.num_rows
    inputs = [name for name in raw.columns if name.startswith("INPUT:")]
    tasks = cells.get("ASSIGNMENT:task_id") or [
        " ".join(row) for row in zip(*(cells[one] for one in inputs), strict=True)
    ]
    named = ("worker_id", "status", "started")
    worker, status, time = (cells.get(f"ASSIGNMENT:{name}", nothing) for name in named)
    outputs = [name for name in raw.columns if name.startswith("OUTPUT:") and any(map(str.strip, cells[name]))]
    outputs = [name for name in outputs if not is_fact_by_name(name.removeprefix("OUTPUT:"))] or outputs
    asked, shown, gold = Questionnaire(("row",)), CaseTexts(), _Gold()
    for row in range(raw.table.num_rows):
        asked.begin(int(raw.line[row]), (row + 1,), tasks[row], worker[row], time[row])
        shown.add(tasks[row], {name.removeprefix("INPUT:"): cells[name][row] for name in inputs})
        if status[row].strip().casefold() == "rejected":
            asked.drop("the work was rejected")
            continue
        for name in outputs:
            question, text = name.removeprefix("OUTPUT:"), cells[name][row].strip()
            asked.answer(question, [[text]] if text else [])
            gold.add(question, tasks[row], cells.get(f"GOLDEN:{question}", nothing)[row])
    return _source(TOLOKA, TOLOKA_TITLE, recognise_toloka(raw.columns), asked, raw, shown, gold)


def recognise_appen(columns: Sequence[str]) -> str | None:
    """Recognise columns `_unit_id` and `_worker_id`, or `_unit_id` and confidences of aggregated answers."""
    if "_unit_id" not in columns:
        return None
    if "_worker_id" in columns or any(column.endswith(":confidence") for column in columns):
        return "columns _unit_id and _worker_id or *:confidence"
    return None


def read_appen(raw: RawTable) -> Source:
    """Read answers from columns with a gold column, else those that differ within units; lines of a cell are labels.

    Tainted judgments are left out. Gold is that of test questions.

    Raises
    ------
    InputError
        The answers are aggregated, or no column has any.
    """
    if "_worker_id" not in raw.columns:
        raise InputError(_ONE_EACH.format(what="This Appen report", unit="unit"), "Download the full report.")
    free = [name for name in raw.columns if not name.startswith("_")]
    answers = [name for name in free if f"{name}_gold" in raw.columns]
    seen = ColumnEvidence(raw)
    free = [name for name in free if not name.endswith(("_gold", "_gold_reason"))]
    answers = answers or [one for one in free if seen.n_given(one) and not seen.is_fact_of(one, "_unit_id")]
    answers = answers or (free if len(free) == 1 else [])
    if not answers:
        raise InputError(
            "Could not read this Appen report: no column contains answers.",
            "Open the report as a plain table, and choose the columns yourself.",
        )
    cells = {name: raw.table[name].to_pylist() for name in raw.columns}
    nothing = [""] * raw.table.num_rows
    tainted, golden, time = (cells.get(name, nothing) for name in ("_tainted", "_golden", "_created_at"))
    asked, shown, gold = Questionnaire(("row",)), CaseTexts(), _Gold()
    for row, unit in enumerate(cells["_unit_id"]):
        asked.begin(int(raw.line[row]), (row + 1,), unit, cells["_worker_id"][row], time[row])
        shown.add(unit, {name: cells[name][row] for name in free if name not in answers})
        if tainted[row].strip().casefold() == "true":
            asked.drop("the judgment is tainted")
            continue
        for name in answers:
            block = [line.strip() for line in cells[name][row].splitlines() if line.strip()]
            asked.answer(name, [block] if block else [])
            if golden[row].strip().casefold() == "true":
                gold.add(name, unit, cells.get(f"{name}_gold", nothing)[row])
    return _source(APPEN, APPEN_TITLE, recognise_appen(raw.columns), asked, raw, shown, gold)


class _Gold:
    """Gold classes by question and case; if there are several, the first counts."""

    def __init__(self) -> None:
        self.of: dict[str, dict[str, str]] = {}

    def add(self, question: str, case: str, text: str) -> None:
        """Add a gold class, if there is one; several classes are none."""
        if text.strip() and "\n" not in text.strip():
            self.of.setdefault(question, {}).setdefault(case, text.strip())


def _source(
    name: str, title: str, why: str | None, asked: Questionnaire, raw: RawTable, shown: CaseTexts, gold: _Gold
) -> Source:
    questions = tuple(replace(one, gold=gold.of.get(one.name)) for one in asked.questions(raw.notes))
    return Source(name, title, why or "said so", questions, SideFiles(cases=shown.table()))


METHODS = (
    Reader(
        TOLOKA,
        TOLOKA_TITLE,
        "table",
        recognise_toloka,
        read_toloka,
        place=83,
        plainly="Assignments from a Toloka pool, one row per task and worker.",
        exactly="TSV of a pool: `INPUT:*` (task), `OUTPUT:*` (annotation), `GOLDEN:*` (gold), `ASSIGNMENT:*` (worker).",
        sources=("Toloka, file with the results of a pool",),
    ),
    Reader(
        APPEN,
        APPEN_TITLE,
        "table",
        recognise_appen,
        read_appen,
        place=84,
        plainly="Full report from Appen (Figure Eight, CrowdFlower), one row per judgment.",
        exactly="CSV of the full report: `_unit_id`, `_worker_id`, answers, and `*_gold` of test questions.",
        sources=("Appen, full report CSV",),
    ),
)
