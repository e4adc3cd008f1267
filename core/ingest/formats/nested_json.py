"""Differential diagnoses as nested lists [case][rater][block][class], with class names and risks in separate files."""

from collections.abc import Sequence

from ...annotations.dataset import RISK_LEVELS
from ...errors import InputError
from ...text import first_twice, plural, shorten
from ..companion_files import ClassTable, SideFiles
from .encoding import to_utf8
from .json_text import JsonFile, Progress, all_heads, all_records, most_are
from .questionnaire import Questionnaire, text_of
from .reader import Reader
from .source import Question, Source

NAME, TITLE = "nested-rankings", "Differential diagnoses as nested lists (JSON)"
_WHY = "nested lists of cases, raters, blocks of tied classes, and classes"


def recognise(files: Sequence[JsonFile]) -> str | None:
    """Recognise cases that are lists of raters, who are lists of blocks, which are lists of classes."""
    return _WHY if any(all_heads(files)) and most_are(files, _is_case) else None


def _is_case(case: object) -> bool:
    if not isinstance(case, list) or not all(map(_is_lists, case)):
        return False
    return not any(isinstance(name, list | dict) for rater in case for block in rater for name in block)


def read(
    files: Sequence[JsonFile],
    progress: Progress | None = None,
    others: Sequence[tuple[str, bytes]] = (),
) -> Source:
    """Read rankings of every case. Raters have no names, so their position does not identify them.

    Parameters
    ----------
    files : sequence of JsonFile
    progress : callable, optional
        Called with the share done, 0 to 1.
    others : sequence of (str, bytes)
        Name and content of text files with one entry per line: names of classes (their position from 0 is the number in
        the lists), and their risks (low, medium, high or 0, 1, 2).

    Raises
    ------
    InputError
        A class has a number without a line in the file of names.
    """
    names, risks = _class_files(others)
    asked = Questionnaire(("case", "rater"), [file.name for file in files])
    case_number = 0
    twice: list[str] = []
    for file, number, line, case in all_records(files, progress):
        case_number += 1
        for place, blocks in enumerate(case if isinstance(case, list) else [], 1):
            asked.begin(line, (number, place), str(case_number), "", file=file)
            if not _is_lists(blocks):
                asked.drop("the ranking is not a list of blocks")
                continue
            if (negative := _negative(blocks)) is not None:
                asked.drop(f"class {negative} is below 0, but class numbers start at 0")
                continue
            ranked = [
                [text for name in block if not isinstance(name, list | dict) and (text := _name(name, names, line))]
                for block in blocks
            ]
            once = _each_once(ranked)
            if sum(map(len, once)) < sum(map(len, ranked)):
                twice.append(f"case {number:,}, rater {place}")
            asked.answer("ranking", once, "ranking")
        if not isinstance(case, list) or not case:
            asked.begin(line, (number, 0), str(case_number), "", file=file)
            asked.drop("nobody ranked anything")
    notes = [
        "A position in the lists may stand for different raters on different cases, so rater statistics are not "
        "available."
    ]
    if twice:
        are, such_as = ("rankings name", "such as ") if len(twice) > 1 else ("ranking names", "")
        notes.append(f"{len(twice):,} {are} a class twice ({such_as}{twice[0]}). Only its first position is used.")
    if not names:
        notes.append("Classes are numbered from 0. To see their names, also open the file with the class names.")
    questions = tuple(_anonymous(question, notes) for question in asked.questions())
    side = SideFiles(classes=ClassTable(tuple(names), risk=tuple(risks) if risks else None)) if names else SideFiles()
    return Source(NAME, TITLE, _WHY, questions, side)


def _negative(blocks: list) -> int | float | None:
    """Return the first number of a class that is below 0."""
    return next((name for block in blocks for name in block if isinstance(name, int | float) and name < 0), None)


def _each_once(ranked: list[list[str]]) -> list[list[str]]:
    """Return the same blocks with each class at its first position only, without empty ones."""
    seen: set[str] = set()
    kept = []
    for block in ranked:
        kept.append([text for text in dict.fromkeys(block) if text not in seen])
        seen.update(block)
    return [block for block in kept if block]


def claims(name: str, content: bytes) -> bool:
    """Return whether a file is a plain list that belongs to nested rankings."""
    return name.casefold().endswith((".txt", ".lst", ".names")) and b"\x00" not in content[:4096]


def _anonymous(question: Question, notes: Sequence[str]) -> Question:
    return Question(
        question.name,
        question.raw,
        question.mapping,
        "ranking",
        None,
        False,
        raters_identified=False,
        notes=tuple(notes),
    )


def _class_files(others: Sequence[tuple[str, bytes]]) -> tuple[list[str], list[str]]:
    names: list[str] = []
    risks: list[str] = []
    for name, content in others:
        lines = [line.strip() for line in to_utf8(content)[0].decode().splitlines() if line.strip()]
        if lines and all(line.casefold() in (*RISK_LEVELS, "0", "1", "2") for line in lines):
            risks = lines
        elif lines:
            if (twice := first_twice(lines)) is not None:
                raise InputError(
                    f"Could not use {name}: the class {shorten(twice)!r} occurs twice.", "Use one line per class."
                )
            names = lines
    if risks and names and len(risks) != len(names):
        raise InputError(
            f"Could not match class names and risks: there are {len(names):,} names and {len(risks):,} risks.",
            "Use one line per class in both files.",
        )
    return names, risks


def _name(value: object, names: Sequence[str], line: int) -> str:
    if not names or isinstance(value, str):
        return text_of(value)
    if isinstance(value, int) and 0 <= value < len(names):
        return names[value]
    raise InputError(
        f"Could not name class {text_of(value)[:40]}: the names file has only {plural(len(names), 'name')}.",
        "Classes are numbered from 0. Use the names file that belongs to these rankings.",
        line=line,
    )


def _is_lists(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(part, list) for part in value)


METHOD = Reader(
    NAME,
    TITLE,
    "json",
    recognise,
    read,
    claims=claims,
    place=60,
    plainly="Differential diagnoses as nested lists.",
    exactly="Nested lists [case][rater][block][class], with class names and risks in separate files.",
    sources=("Data from Stutz et al., Evaluating AI systems under uncertain ground truth (2023)",),
)
