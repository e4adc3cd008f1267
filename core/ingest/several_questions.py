"""Questions of one upload: those that can be opened together, and the dataset of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..errors import PluralityError
from .answer_rules import Treatment
from .column_mapping import Mapping
from .formats.source import Question, Source
from .read_files import Reading, build_question

_SHARED = ("case", "rater", "time", "group")


@dataclass(frozen=True, slots=True)
class QuestionReading:
    """A question as it was read.

    Attributes
    ----------
    name : str
    reading : Reading or None
    why : str
            Reason why it cannot be opened with the others; empty if it can.
    """

    name: str
    reading: Reading | None
    why: str = ""


def name_of(upload: str, question: str) -> str:
    """Return the name of the dataset of one question.

    Parameters
    ----------
    upload, question : str
    """
    return f"{upload} · {question}"


def joint_questions(source: Source) -> tuple[Question, ...]:
    """Return the questions that can be opened together, without those that take columns of others.

    Parameters
    ----------
    source : Source
    """
    found: list[Question] = []
    for one in source.questions:
        taken = {column for other in found if other.raw.table is one.raw.table for column in other.mapping.raters}
        if not taken & set(one.mapping.raters) and not any(_includes(one, other) for other in source.questions):
            found.append(one)
    return tuple(found)


def _includes(one: Question, other: Question) -> bool:
    return one.raw.table is other.raw.table and set(one.mapping.raters) > set(other.mapping.raters) > set()


def columns_of_others(source: Source, shown: Question) -> dict[str, str]:
    """Return the columns of annotations of the other questions of a table, with the names of those questions.

    Parameters
    ----------
    source : Source
    shown : Question
        Question of the source.
    """
    found: dict[str, str] = {}
    for one in joint_questions(source):
        if one.name != shown.name and one.raw.table is shown.raw.table and one.mapping.layout != "labels":
            columns = one.mapping.raters or (one.mapping.answer,)
            found |= {column: one.name for column in columns if column is not None}
    return found


def other_questions(source: Source, shown: Question, chosen: Mapping) -> tuple[Question, ...]:
    """Return the questions to open with the one shown, with the cases, raters, dates and groups chosen for it.

    Parameters
    ----------
    source : Source
    shown : Question
        Question of the source, as guessed.
    chosen : Mapping
        Mapping of the question that is shown, as the user has it.
    """
    joint = joint_questions(source)
    if shown not in joint or len(joint) < 2:
        return ()
    same_layout = chosen.layout == shown.mapping.layout
    changed = {role: getattr(chosen, role) for role in _SHARED if getattr(chosen, role) != getattr(shown.mapping, role)}
    found = []
    for one in joint:
        mapping = one.mapping
        if one is shown or (mapping.answer is not None and mapping.answer in changed.values()):
            continue
        if one.raw.table is shown.raw.table and same_layout and mapping.layout == chosen.layout == "long":
            why = mapping.why | ({"anonymous": "chosen"} if "anonymous" in chosen.why else {})
            mapping = replace(mapping, **changed, why=why).clear()
        found.append(replace(one, mapping=mapping))
    return tuple(found)


def read_questions(
    source: Source,
    questions: Sequence[Question],
    name: str,
    treatment: Treatment | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[QuestionReading, ...]:
    """Read the dataset of each question, or the reason why it cannot be read.

    Parameters
    ----------
    source : Source
    questions : sequence of Question
    name : str
        Name of the upload.
    treatment : Treatment, optional
        Treatment of codes for missing annotations.
    progress : callable, optional
        Called with the share done, 0 to 1.
    """
    found = []
    for place, question in enumerate(questions):
        if progress is not None:
            progress(place / len(questions))
        try:
            reading = build_question(source, question, name_of(name, question.name), treatment=treatment)
        except PluralityError as error:
            found.append(QuestionReading(question.name, None, str(error)))
            continue
        found.append(QuestionReading(question.name, reading, reading.doubt))
    return tuple(found)
