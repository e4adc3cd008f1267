"""Shared parts of readers of evaluation logs: a sample is a case, and a model that answered or judged is a rater."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..companion_files import SideFiles
from .content_columns import CaseTexts
from .json_text import JsonFile
from .questionnaire import AnswerType, Questionnaire, text_of
from .source import Source

ANSWER, SCORE = "answer", "score"


@dataclass(frozen=True, slots=True)
class Said:
    """Answer or judgement of an evaluation; ``value`` None drops it with ``reason``."""

    file: int
    line: int
    numbers: tuple[int, int]
    case: str
    rater: str
    question: str
    value: object = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Log:
    """Content of logs: all answers and judgements, the content of each case, and its target."""

    said: list[Said]
    shown: CaseTexts
    gold: dict[str, str]


def source_of(name: str, title: str, why: str, files: Sequence[JsonFile], log: Log, words: tuple[str, str]) -> Source:
    """Return the answers and the scores of evaluation logs as questions; targets are gold of the answers.

    Parameters
    ----------
    name, title, why : str
        Name, title and reason of the format.
    files : sequence of JsonFile
    log : Log
    words : (str, str)
        Names of the numbers of a place.
    """
    asked = Questionnaire(words, [file.name for file in files])
    kinds = {question: _kind(one.value for one in log.said if one.question == question) for question in (ANSWER, SCORE)}
    for one in log.said:
        asked.begin(one.line, one.numbers, one.case, one.rater, file=one.file, only=one.question or None)
        if one.reason:
            asked.drop(one.reason)
        else:
            text = as_class(one.value)
            asked.answer(one.question, [[text]] if text else [], kinds[one.question])
    found = [replace(one, gold=log.gold or None) if one.name == ANSWER else one for one in asked.questions()]
    return Source(name, title, why, tuple(found), SideFiles(cases=log.shown.table()))


def as_class(value: object) -> str:
    """Return ``pass`` and ``fail`` for yes and no; numbers and texts unchanged; the first of a list."""
    if isinstance(value, bool):
        return "pass" if value else "fail"
    if isinstance(value, list):
        value = value[0] if value else ""
    return text_of(value).strip()


def as_object(value: object) -> dict[str, Any]:
    """Return an object of JSON; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def called(*parts: object) -> str:
    """Return a name from parts, without empty ones."""
    return " / ".join(text for part in parts if (text := text_of(part).strip()))


def _kind(values: Iterable[object]) -> AnswerType:
    """Return "score" for numbers other than 0 and 1, and "class" for everything else."""
    given = [value for value in values if value is not None and value != ""]
    numbers = [value for value in given if isinstance(value, int | float) and not isinstance(value, bool)]
    return (
        "score" if numbers and len(numbers) == len(given) and any(value not in (0, 1) for value in numbers) else "class"
    )
