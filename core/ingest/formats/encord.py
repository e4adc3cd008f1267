"""Encord, JSON of label rows: classifications of data units, each with its author."""

from collections import Counter
from collections.abc import Iterator, Sequence

from ...text import shorten
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import Questionnaire, left_out, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "encord", "Encord (JSON)"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with `label_hash` or `data_hash`, `data_units` and `classification_answers`."""
    return "records with data_units and classification_answers" if most_are(files, _is_label_row) else None


def _is_label_row(record: object) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("data_units"), dict)
        and isinstance(record.get("classification_answers"), dict)
    )


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read every radio or checklist classification of a label row; one question for each name.

    The author is the classification's own ``createdBy``: several people may have labelled one row, and if a project has
    a row for each of them, the same ``data_hash`` is repeated. Text answers and drawn objects are not classes; the
    notes count them.
    """
    asked = Questionnaire(("label row", "classification"), [file.name for file in files])
    left: Counter[tuple[str, str]] = Counter()
    for file, number, line, record in all_records(files, progress):
        row = record if isinstance(record, dict) else {}
        case = text_of(row.get("data_title")) or text_of(row.get("data_hash"))
        found = list(_classifications(row, left))
        n_objects = _n_objects(row)
        if n_objects:
            left["drawn object", "drawn objects"] += n_objects
        if not found:
            asked.begin(line, (number, 0), case, "", file=file)
            asked.drop("it has no classification")
        for place, (who, when, name, block) in enumerate(found, 1):
            asked.begin(line, (number, place), case, who, when, file=file, only=name)
            asked.answer(name, [block] if block else [])
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(left_out(left)))


def _n_objects(row: dict) -> int:
    """Return the number of objects drawn on data units, each counted once in any number of frames."""
    objects = row.get("object_answers")
    return len(objects) if isinstance(objects, dict) else 0


def _classifications(row: dict, left: Counter[tuple[str, str]]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Yield author, time, name and classes; nested ones are separate, and written text is counted in ``left``."""
    made = _made(row)
    answers = row.get("classification_answers")
    for key, answer in answers.items() if isinstance(answers, dict) else ():
        if not isinstance(answer, dict):
            continue
        unit = made.get(key, {})
        who = text_of(answer.get("createdBy")) or text_of(unit.get("createdBy")) or text_of(row.get("created_by"))
        when = text_of(answer.get("createdAt")) or text_of(unit.get("createdAt"))
        asked = answer.get("classifications")
        for one in asked if isinstance(asked, list) else ():
            if not isinstance(one, dict):
                continue
            given = one.get("answers")
            given = given if isinstance(given, list) else [] if given is None else [given]
            name = text_of(one.get("name")) or text_of(one.get("value")) or "classification"
            if given and not any(isinstance(part, dict) for part in given):
                where = f"written as {shorten(name, 60)}"
                left[f"text {where}", f"texts {where}"] += 1
                continue
            names = [
                text_of(part.get("name")) or text_of(part.get("value")) for part in given if isinstance(part, dict)
            ]
            yield who, when, name, [text for text in names if text]


def _made(row: dict) -> dict[str, dict]:
    """Return the classifications of data units, images or frames of videos, by their hash."""
    found: dict[str, dict] = {}
    units = row.get("data_units")
    for unit in (one for one in (units.values() if isinstance(units, dict) else ()) if isinstance(one, dict)):
        labels = unit.get("labels")
        frames = [labels, *labels.values()] if isinstance(labels, dict) else []
        for frame in (one for one in frames if isinstance(one, dict)):
            listed = frame.get("classifications")
            for one in listed if isinstance(listed, list) else ():
                if isinstance(one, dict):
                    found.setdefault(text_of(one.get("classificationHash")), one)
    return found


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=21,
    plainly="Encord label rows with the classifications of each data unit.",
    exactly="JSON export: `classification_answers` with `createdBy` and the `answers` of radio and checklist "
    "classifications.",
    sources=("Encord, label export JSON",),
)
