"""Annotations by rater in JSON: one object of raters, each an object of cases and annotations, or one of these."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np

from ...annotations.vocabulary import encode
from ..column_roles import SWAPPED, in_doubt, leaning_of_counts, leaning_of_names
from ..companion_files import SideFiles
from .json_text import JsonFile, Progress, all_heads, all_records, most_are
from .questionnaire import ODD, AnswerType, Questionnaire, text_of
from .reader import Reader
from .records import rows_of_frame
from .side_tables import is_gold_name
from .source import Question, Source

# Names of files for annotators: such a file has raters outside and cases inside.
_NAMED_BY_RATERS = re.compile(r"(?<![a-z])(humans?|people|llms?|raters?|annotators?|readers?)(?![a-z])", re.IGNORECASE)
NAME, TITLE = "by-rater", "Annotations by rater (JSON)"
_WHY = "an object that lists the annotations of each rater"
_ONE = "an object with one annotation per case, in a file named after the rater"
_LEAST = 10  # single classes; an object of one rater has so many and they repeat: a record of a table has fewer names
_QUESTION = "annotations"
_WORDS_OF_TEXT = 4  # names of people have fewer
_CASES = frozenset({"case", "case_id", "item", "item_id", "task", "task_id", "id"})
_SAID = frozenset({"label", "class", "score", "annotation", "answer"})
# Names of columns: an object of these is a table written by column or by row, not annotations by rater.
_COLUMNS = frozenset(
    {"case", "case_id", "item", "item_id", "task", "task_id", "id", "text", "rater", "rater_id", "annotator"}
    | {"annotator_id", "worker", "worker_id", "label", "labels", "class", "score", "rank", "annotation", "annotations"}
    | {"annotators", "answer", "time"}
)


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise an object with objects of plain annotations, or one of these; no key is a name of a column."""
    if any(all_heads(files)) and most_are(files, _is_raters):
        return _WHY
    ours = bool(files) and all(len(file) == 1 for file in files)
    if ours and most_are(files, lambda value: _is_raters(value) or _is_one_rater(value)):
        return _ONE
    return None


def _is_raters(value: object) -> bool:
    if _is_listed(value):
        return True
    if not isinstance(value, dict) or not value or not all(isinstance(given, dict) for given in value.values()):
        return False
    if rows_of_frame(value) is not None:
        return False
    if not any(value.values()) or not _COLUMNS.isdisjoint(name.casefold() for name in value):
        return False
    return all(
        _COLUMNS.isdisjoint(case.casefold() for case in given) and all(map(_is_annotation, given.values()))
        for given in value.values()
    )


def _is_listed(value: object) -> bool:
    """Return whether raters have lists of records of a shared case and its annotation; one list alone is a table."""
    if not isinstance(value, dict) or len(value) < 2 or not _COLUMNS.isdisjoint(name.casefold() for name in value):
        return False
    if not all(isinstance(given, list) and given and all(map(_is_record, given)) for given in value.values()):
        return False
    seen = [{text_of(case) for case, _ in _answers(given)} for given in value.values()]
    return any(seen[0] & other for other in seen[1:])


def _is_record(value: object) -> bool:
    if not isinstance(value, dict) or len(value) != 2:
        return False
    case, said = (name.casefold() for name in value)
    return case in _CASES and said in _SAID and _is_annotation(list(value.values())[1])


def _answers(given: object) -> list[tuple]:
    """Return cases and annotations of one rater, from an object or from a list of records."""
    if isinstance(given, list):
        return [tuple(record.values()) for record in given]
    return list(given.items()) if isinstance(given, dict) else []


def _is_one_rater(value: object) -> bool:
    """Return whether a value is cases and annotations without a rater, as published next to those of several raters."""
    if not isinstance(value, dict) or len(value) < _LEAST or not all(map(_is_annotation, value.values())):
        return False
    said = {text_of(given) for given in value.values()}
    return _COLUMNS.isdisjoint(case.casefold() for case in value) and 2 * len(said) <= len(value)


def _is_annotation(value: object) -> bool:
    """Return whether a value is a class, a score, nothing, or a ranking (a list of classes or of tied blocks)."""
    if isinstance(value, dict):
        return False
    if not isinstance(value, list):
        return True
    return not any(isinstance(name, list | dict) for block in value for name in _block(block))


def read(files: Sequence[JsonFile], progress: Progress | None = None) -> Source:
    """Read every annotation of every rater: numbers with decimals as scores, lists as rankings, all else as classes.

    One list among ten single classes or more, and fewer than one in fifty, does not make all annotations rankings: it
    is left out.

    Parameters
    ----------
    files : sequence of JsonFile
        Files; a rater in several of them is one rater. An object of cases only belongs to a rater named after its file.
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        No annotation can be read.
    """
    found = [(file, line, value) for file, _, line, value in all_records(files, progress) if isinstance(value, dict)]
    gold, found = _without_gold(found, [file.name for file in files])
    records = [
        (file, line, {PurePath(files[file].name).stem: value} if _is_one_rater(value) else value)
        for file, line, value in found
    ]
    kind = _kind([value for *_, value in records])
    asked = Questionnaire(("rater", "annotation"), [file.name for file in files])
    for file, line, value in records:
        for place, (rater, given) in enumerate(value.items(), 1):
            for number, (case, annotation) in enumerate(_answers(given), 1):
                asked.begin(line, (place, number), case, rater, file=file)
                blocks = _blocks(annotation)
                if kind != "ranking" and _names_several(annotation):
                    asked.drop("more than one class")
                else:
                    asked.answer(_QUESTION, blocks, kind) if blocks else asked.drop("no annotation")
    questions = asked.questions()
    clear = all(len(value) == 1 for *_, value in records) or all(_NAMED_BY_RATERS.search(file.name) for file in files)
    questions = questions if clear else tuple(map(_either_way, questions))
    return Source(NAME, TITLE, recognise(files) or _WHY, questions, SideFiles(gold=gold))


_Record = tuple[int, int, dict]


def _without_gold(found: list[_Record], names: Sequence[str]) -> tuple[dict[str, str] | None, list[_Record]]:
    """Separate files of one rater that are named as gold from the others, if there are others."""
    is_gold = [_is_one_rater(value) and is_gold_name(names[file], short=True) for file, _, value in found]
    if all(is_gold) or not any(is_gold):
        return None, found
    known = (value for (*_, value), gold in zip(found, is_gold, strict=True) if gold)
    gold = {case: text_of(said) for value in known for case, said in value.items() if said is not None}
    return gold, [one for one, apart in zip(found, is_gold, strict=True) if not apart]


def _either_way(question: Question) -> Question:
    """Return the question with both readings of outer and inner names, unless names or counts decide."""
    case, rater = (encode(question.raw.table[column]) for column in ("case", "rater"))
    leaning = leaning_of_names(case.values) - leaning_of_names(rater.values)
    people = all(not any(map(str.isdigit, name)) and len(name.split()) < _WORDS_OF_TEXT for name in rater.values)
    if not leaning and people and all(any(map(str.isdigit, name)) for name in case.values):
        return question  # names without a number outside, numbered ones inside
    if (leaning or leaning_of_counts(np.bincount(case.code + 1)[1:], np.bincount(rater.code + 1)[1:])) > 0:
        return question
    swapped = replace(question.mapping, case="rater", rater="case")
    return replace(question, mapping=in_doubt(question.mapping, swapped, doubt=SWAPPED))


def _kind(records: list[dict]) -> AnswerType:
    values = [value for record in records for given in record.values() for _, value in _answers(given)]
    plain = [value for value in values if not isinstance(value, list)]
    n_several = sum(map(_names_several, values))
    odd = ODD * n_several < len(values) or (n_several == 1 and len(plain) >= _LEAST)
    if len(plain) < len(values) and not (plain and odd):
        return "ranking"
    numbers = [value for value in plain if value is not None and value != ""]
    are_numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers)
    return "score" if are_numbers and any(value != int(value) for value in numbers if value == value) else "class"


def _names_several(value: object) -> bool:
    return isinstance(value, list) and sum(map(len, _blocks(value))) > 1


def _blocks(value: object) -> list[list[str]]:
    given = value if isinstance(value, list) else [value]
    blocks = [[text for name in _block(block) if (text := text_of(name).strip())] for block in given]
    return [block for block in blocks if block]


def _block(block: object) -> list:
    return block if isinstance(block, list) else [block]


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    place=55,
    plainly="Annotations by rater and case, as in the published data of the Alternative Annotator Test.",
    exactly="JSON: {rater: {case: annotation}}, {rater: [{case: …, label: …}, …]}, or {case: annotation} of one rater; "
    "annotations are classes, numbers, or ranked lists of classes.",
    sources=("Data from Calderon, Reichart & Dror, The Alternative Annotator Test (2025)",),
)
