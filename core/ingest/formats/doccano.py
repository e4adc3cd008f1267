"""doccano, JSON Lines: one file per rater, named after the rater; `all.jsonl` does not name raters.

Present files name nobody in a record: next to id, text and labels are the columns that were uploaded with the text.
Early files named the rater in `username`. Columns uploaded with a text are the same in all records of it, so a name
belongs to the rater if records of one text differ in it.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

from ...errors import InputError
from ...text import was_or_were
from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile, Progress, all_heads, all_records, most_are
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Source

NAME, TITLE = "doccano", "doccano (JSONL)"
_LABELS = ("label", "labels", "cats")
_WHO = ("username", "user", "annotator", "user_name", "annotator_name")
_NO_RATER = ("all", "unknown", "admin_all")


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise records with an id, a text and a list of labels."""
    return "records with id, text and a list of labels" if most_are(files, _is_example) else None


def _is_example(record: object) -> bool:
    if not isinstance(record, dict) or "id" not in record or not {"text", "data", "filename"} & record.keys():
        return False
    return any(isinstance(record.get(name), list) for name in _LABELS) and not {"responses", "answer"} & record.keys()


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read the labels of each record. One file has no raters; if there are several, each is one rater.

    Raises
    ------
    InputError
        The labels are spans of the text.
    """
    notes = []
    stems = [file.name.replace("\\", "/").rsplit("/", 1)[-1].rsplit(".", 1)[0] for file in files]
    named = [stem.casefold() not in _NO_RATER for stem in stems]
    if len(files) > 1 and any(named) and not all(named):
        left = ", ".join(file.name for file, kept in zip(files, named, strict=True) if not kept)
        notes.append(
            f"{left} {was_or_were(named.count(False))} left out, because only files named after a rater show who "
            "annotated."
        )
        files = [file for file, kept in zip(files, named, strict=True) if kept]
        stems = [stem for stem, kept in zip(stems, named, strict=True) if kept]
    who = None
    if len(files) == 1:
        stems = [""]
        who, said = _who(files)
        notes.append(said)
    asked, shown = Questionnaire(("record",), [file.name for file in files]), CaseTexts()
    n_spans = 0
    for file, number, line, record in all_records(files, progress):
        if not isinstance(record, dict) or not _is_example(record):
            case = text_of(record.get("id")) if isinstance(record, dict) else ""
            asked.begin(line, (number,), case, stems[file], file=file)
            asked.drop("the record lacks an id, a text or a list of labels")
            continue
        case = text_of(record["id"])
        asked.begin(line, (number,), case, stems[file] if who is None else _name(record, who), file=file)
        shown.add(case, {name: record.get(name) for name in ("text", "data", "filename")})
        labels: list = next((record[name] for name in _LABELS if isinstance(record.get(name), list)), [])
        if labels and all(isinstance(label, list | dict) for label in labels):
            n_spans += 1
            asked.drop("the labels are spans, not classes of the case")
            continue
        block = [text for label in labels if (text := text_of(label))]
        asked.answer("label", [block] if block else [])
    if n_spans == asked.n_annotations:
        raise InputError(
            "Could not use the annotations: they are spans of text, not classes of whole cases.",
            "Export a text classification project.",
        )
    return Source(NAME, TITLE, recognise(files) or "said so", asked.questions(notes), SideFiles(cases=shown.table()))


def _who(files: Sequence[JsonFile]) -> tuple[str | None, str]:
    """Return the key of the rater in each record of one file, None if there is none, and a sentence on that."""
    if not any(isinstance(record, dict) and record.keys() & set(_WHO) for record in all_heads(files)):
        return None, _ALONE
    named: dict[str, defaultdict[str, set[str]]] = {key: defaultdict(set) for key in _WHO}
    times: Counter[str] = Counter()
    unnamed = Counter(dict.fromkeys(_WHO, 0))
    for _, _, _, record in all_records(files):
        if isinstance(record, dict) and _is_example(record):
            times[case := text_of(record["id"])] += 1
            for key in _WHO:
                named[key][case].add(name := _name(record, key))
                unnamed[key] += not name
    if not times:
        return None, _ALONE
    for key, names in named.items():
        if not unnamed[key] and all(len(names[case]) == n for case, n in times.items()) and max(times.values()) > 1:
            return key, f"Raters were read from {key!r}, because records of the same text differ in this field."
    given = [key for key in _WHO if unnamed[key] < times.total()]
    if given:
        return None, (
            f"{given[0]!r} was not read as the rater: records of the same text do not differ in this field, so it may "
            f"come from the uploaded data. {_ALONE}"
        )
    return None, _ALONE


def _name(record: dict, key: str) -> str:
    value = record.get(key)
    return text_of(value) if isinstance(value, str | int) else ""


_ALONE = (
    "A single doccano file does not name raters. Turn off “Export only approved documents”, export one file per "
    "user, and open the ZIP file with all of them."
)

METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=70,
    plainly="doccano examples, one file per rater.",
    exactly="doccano, JSON Lines: one file per rater, named after the rater; `all.jsonl` does not name raters.",
    sources=("doccano, export format JSONL",),
)
