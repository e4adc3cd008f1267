"""Labelbox, NDJSON: data rows with the labels of each project; radio and checklist annotations."""

from collections.abc import Iterator, Sequence

from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "labelbox", "Labelbox (NDJSON)"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with a `data_row` and `projects`."""
    return "records with data_row and projects" if most_are(files, _is_data_row) else None


def _is_data_row(record: object) -> bool:
    return isinstance(record, dict) and "data_row" in record and isinstance(record.get("projects"), dict)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read every classification of every label; one question for each name."""
    asked, shown = Questionnaire(("data row", "label"), [file.name for file in files]), CaseTexts()
    known: set = set()
    for file, number, line, record in all_records(files, progress):
        record = record if isinstance(record, dict) else {}
        row = record.get("data_row")
        row = row if isinstance(row, dict) else {}
        case = text_of(row.get("global_key")) or text_of(row.get("external_id")) or text_of(row.get("id"))
        shown.add(case, {"row_data": row.get("row_data")})
        labels = list(_labels(record))
        if not labels:
            asked.begin(line, (number, 0), case, "", file=file)
            asked.drop("nobody labelled it")
        for place, label in enumerate(labels, 1):
            details = label.get("label_details")
            details = details if isinstance(details, dict) else {}
            who, when = details.get("created_by"), details.get("created_at")
            asked.begin(line, (number, place), case, who, when, file=file)
            if (key := label.get("id")) is not None:
                if text_of(key) in known:
                    asked.drop(f"label ID {text_of(key)} is repeated in the file")
                    continue
                known.add(text_of(key))
            if label.get("is_skipped") or details.get("is_skipped"):
                asked.drop("the rater skipped the data row")
                continue
            answered: set[str] = set()
            for name, block in _classifications(label):
                if name not in answered:
                    asked.answer(name, [block] if block else [])
                answered.add(name)
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(), SideFiles(cases=shown.table()))


def _labels(record: dict) -> Iterator[dict]:
    projects = record.get("projects")
    for project in projects.values() if isinstance(projects, dict) else ():
        labels = project.get("labels") if isinstance(project, dict) else None
        yield from (label for label in (labels if isinstance(labels, list) else ()) if isinstance(label, dict))


def _classifications(label: dict) -> Iterator[tuple[str, list[str]]]:
    """Yield name and chosen classes of each radio or checklist question; of nested classes only the outer."""
    annotations = label.get("annotations")
    found = annotations.get("classifications") if isinstance(annotations, dict) else None
    for asked in found if isinstance(found, list) else ():
        if not isinstance(asked, dict):
            continue
        name = text_of(asked.get("name")) or text_of(asked.get("value")) or "classification"
        if isinstance(radio := asked.get("radio_answer"), dict):
            yield name, [text] if (text := _title(radio)) else []
        elif isinstance(checked := asked.get("checklist_answers", asked.get("checklist_answer")), list):
            yield name, [text for one in checked if isinstance(one, dict) and (text := _title(one))]


def _title(answer: dict) -> str:
    return text_of(answer.get("name")) or text_of(answer.get("value"))


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=20,
    plainly="Labelbox data rows with the labels of each project.",
    exactly="Labelbox, NDJSON: data rows with the labels of each project; radio and checklist annotations.",
    sources=("Labelbox, export format NDJSON",),
)
