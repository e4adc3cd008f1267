"""Potato, JSON Lines: one folder per annotator, with the labels of each scheme."""

from collections.abc import Sequence
from pathlib import PurePath

from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_records, most_are
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "potato", "Potato (annotated instances, JSONL)"
_NOT_CHOSEN = frozenset({"", "false", "none"})


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with `id` and an object `label_annotations`."""
    return "records with id and label_annotations" if most_are(files, _is_instance) else None


def _is_instance(record: object) -> bool:
    return isinstance(record, dict) and "id" in record and isinstance(record.get("label_annotations"), dict)


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read every scheme as a question. The rater is a field ``user``, else the folder of the file, else its name."""
    asked, shown = Questionnaire(("record",), [file.name for file in files]), CaseTexts()
    names = [_rater(file.name) for file in files]
    for file, number, line, record in all_records(files, progress):
        if not isinstance(record, dict) or not _is_instance(record):
            asked.begin(line, (number,), "", "", file=file)
            asked.drop("the record has no label_annotations")
            continue
        case, who = text_of(record["id"]), text_of(record.get("user")) or text_of(record.get("user_id"))
        shown.add(case, {"text": record.get("displayed_text")})
        asked.begin(line, (number,), case, who or names[file], file=file)
        for scheme, labels in record["label_annotations"].items():
            chosen = labels.items() if isinstance(labels, dict) else ()
            block = [name for name, value in chosen if text_of(value).strip().casefold() not in _NOT_CHOSEN]
            asked.answer(scheme, [block] if block else [])
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(), SideFiles(cases=shown.table()))


def _rater(file: str) -> str:
    path = PurePath(file.replace("\\", "/"))
    return path.parent.name if len(path.parts) > 1 else path.stem


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=24,
    plainly="Potato labels, one folder per annotator.",
    exactly="`annotation_output/NAME/annotated_instances.jsonl`: `label_annotations` by scheme and label.",
    sources=("Potato annotation tool, output formats",),
)
