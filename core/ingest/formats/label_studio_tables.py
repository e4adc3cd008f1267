"""Label Studio, CSV and JSON-MIN: one row per annotation; annotations are plain text or JSON in a cell."""

from collections.abc import Sequence

from ...errors import InputError
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .label_studio_values import answer_in_cell
from .questionnaire import Questionnaire
from .raw_table import RawTable
from .reader import Reader
from .source import Source

NAME, TITLE = "label-studio-min", "Label Studio (CSV or JSON-MIN)"
_AFTER = ("annotator", "annotation_id", "created_at", "updated_at", "lead_time", "sentiment_agreement", "agreement")
_NEEDED = {"annotation_id", "lead_time"}


def recognise(columns: Sequence[str]) -> str | None:
    """Recognise columns `annotation_id` and `lead_time`, and an `annotator` or an `id`."""
    if set(columns) >= _NEEDED and {"annotator", "id"} & set(columns):
        return "columns annotation_id and lead_time"
    return None


def read(raw: RawTable, *, word: str = "row") -> Source:
    """Read every column after the task's id that is not one of Label Studio's own as a question."""
    columns = raw.columns
    behind = columns[columns.index("id") + 1 :] if "id" in columns else columns
    candidates = [column for column in behind if column not in _AFTER and column != "id"]
    if not candidates:
        candidates = [column for column in columns if column not in _AFTER and column != "id"]
    if not candidates:
        raise InputError(
            "Could not read annotations: no column contains any.",
            "Export the project again, with the results included.",
        )
    data = [column for column in columns if column not in (*candidates, *_AFTER, "id")]
    wanted = ("id", "annotator", "annotation_id", "created_at", *candidates, *data)
    cells = {name: raw.table[name].to_pylist() for name in wanted if name in columns}
    nothing = [""] * raw.table.num_rows
    asked, shown, known = Questionnaire((word,)), CaseTexts(), set()
    tasks = cells.get("id") or cells.get("annotation_id") or nothing
    raters, numbers, times = (cells.get(name, nothing) for name in ("annotator", "annotation_id", "created_at"))
    for row in range(raw.table.num_rows):
        asked.begin(int(raw.line[row]), (row + 1,), tasks[row], raters[row], times[row])
        shown.add(tasks[row], {name: cells[name][row] for name in data})
        if numbers[row]:
            if numbers[row] in known:
                asked.drop(f"annotation ID {numbers[row][:40]} is repeated in the file")
                continue
            known.add(numbers[row])
        for name in candidates:
            answer = answer_in_cell(cells[name][row])
            if answer is not None:
                asked.answer(name, *answer)
    questions = asked.questions(raw.notes)
    return Source(NAME, TITLE, recognise(columns) or "said so", questions, SideFiles(cases=shown.table()))


METHOD = Reader(
    NAME,
    TITLE,
    "table",
    recognise,
    read,
    place=90,
    plainly="Label Studio annotations as a table.",
    exactly="Label Studio, CSV and JSON-MIN: one row per annotation; annotations are plain text or JSON in a cell.",
    sources=("Label Studio, export formats CSV and JSON-MIN",),
)
