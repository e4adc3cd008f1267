"""Which column is what: guessed from names in any spelling, always shown, always changeable."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.errors import InputError

Layout = Literal["long", "wide"]
Repeats = Literal["keep", "first", "refuse"]
Role = Literal["case", "rater", "answer", "rank", "time", "group"]


def _words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_SYNONYMS: dict[Role, frozenset[str]] = {
    "case": _words(
        "case item task unit subject document doc image img patient sentence example sample record hit text "
        "study stimulus object instance scan slide xray photo tweet comment post utterance pair question"
    ),
    "rater": _words(
        "rater worker annotator coder reader observer performer labeler labeller judge reviewer user expert "
        "participant evaluator assessor grader doctor physician clinician dentist radiologist pathologist nurse"
    ),
    "answer": _words(
        "class label rating annotation answer response choice category diagnosis judgment judgement verdict "
        "grade score value vote decision condition opinion finding"
    ),
    "rank": _words("rank ranking position place order priority preference"),
    "time": _words("time timestamp date datetime created submitted when"),
    "group": _words("group site center centre batch hospital clinic cohort"),
}
_SUFFIXES = {"id", "ids", "no", "nr", "num", "number", "name", "key", "code", "idx", "index", "uid", "uuid", "at", "on"}
_GLUED = re.compile(r"^(.+?)(?:ids?|no|nr|num|number|name|uuid|uid)$")


@dataclass(frozen=True, slots=True)
class Mapping:
    """What each column of a table stands for.

    Attributes
    ----------
    layout : {"long", "wide"}
        One row per annotation (or ranked class), or one row per case with a column for each rater.
    case : str or None
        Column of case ids; None (wide only) takes the row's number.
    rater : str or None
        Long: column of rater ids; None where answers are anonymous.
    answer : str or None
        Long: column of the class or score.
    rank : str or None
        Long: column of the rank of that class in the rater's differential diagnosis, 1 first, equal is tied.
    raters : tuple of str
        Wide: the columns that are raters.
    time, group : str or None
        Columns of the date of an annotation (long) and of the group of a case.
    why : dict
        Reason of each guess by role, for the screen.
    """

    layout: Layout
    case: str | None = None
    rater: str | None = None
    answer: str | None = None
    rank: str | None = None
    raters: tuple[str, ...] = ()
    time: str | None = None
    group: str | None = None
    why: dict[str, str] = field(default_factory=dict, compare=False)


def is_known_column(name: str) -> bool:
    """Whether a column of that name would be recognised; numbers and answers are not."""
    return any(_likeness(name, role) == 2 for role in _SYNONYMS)


def rater_columns(columns: Sequence[str], case: str | None, group: str | None) -> tuple[str, ...]:
    """The columns of a wide table that may be raters: all but the case, its group, and dates."""
    return tuple(column for column in columns if column not in (case, group) and _likeness(column, "time") < 2)


def guess_mapping(columns: Sequence[str]) -> Mapping:
    """The likeliest mapping by the names of the columns.

    Where a case, a rater and an answer are recognised the table is long. Otherwise it is wide when at least two columns
    are left beside the case. What cannot be guessed stays None for the user to choose.
    """
    found: dict[Role, str] = {}
    for wanted in (2, 1):
        for role in _SYNONYMS:
            if role in found:
                continue
            # "score" or "rank" inside a longer name says little about rank, time and group: those need the whole name.
            if wanted == 1 and role in ("rank", "time", "group"):
                continue
            for column in columns:
                if column not in found.values() and _likeness(column, role) >= wanted:
                    found[role] = column
                    break
    why = {role: f"the column is called {column!r}" for role, column in found.items()}
    if "rater" in found and "answer" in found and "case" in found:
        return Mapping("long", **found, why=why)
    numbered_raters = [column for column in columns if re.search(r"\d$", column.strip())]
    if "rater" in found and found["rater"] in numbered_raters:
        del found["rater"], why["rater"]
    if "rater" in found:
        return Mapping("long", **found, why=why)
    raters = rater_columns(columns, found.get("case"), found.get("group"))
    single_answer = "answer" in found and found["answer"] not in numbered_raters
    if "case" not in found and len(raters) > 2 and not any(_likeness(column, "rater") for column in columns[:1]):
        found["case"], raters = columns[0], raters[1:]
        why["case"] = "it is the first column"
    if len(raters) < 2 or single_answer:
        return Mapping("long", **found, why=why)
    why["raters"] = "one column for each rater: no column holds rater ids"
    return Mapping("wide", case=found.get("case"), raters=raters, group=found.get("group"), why=why)


def check_mapping(mapping: Mapping, columns: Sequence[str]) -> None:
    """Raise `InputError` where a mapping names columns that are not there, twice, or too few."""
    named = [mapping.case, mapping.rater, mapping.answer, mapping.rank, mapping.time, mapping.group, *mapping.raters]
    named = [column for column in named if column is not None]
    listed = ", ".join(repr(column) for column in list(columns)[:12])
    present = set(columns)
    for column, count in Counter(named).items():
        if column not in present:
            raise InputError(f"There is no column {column!r}.", f"The columns are {listed}.")
        if count > 1:
            raise InputError(f"Column {column!r} is given two meanings.", "Choose another column for one of them.")
    if mapping.layout == "wide":
        if len(mapping.raters) < 1:
            raise InputError("No column is marked as a rater.", f"Choose rater columns among {listed}.")
        return
    for role, column in (("case", mapping.case), ("answer", mapping.answer)):
        if column is None:
            raise InputError(
                f"No column was recognised as the {role}.", f"Choose it among {listed} (--{_FLAGS[role]} NAME)."
            )
    if mapping.rater is None and "anonymous" not in mapping.why:
        raise InputError(
            "No column was recognised as the rater, so nobody knows whose answer is whose.",
            f"Choose it among {listed} (--rater NAME), or say that the answers are anonymous (--rater none).",
        )


_FLAGS = {"case": "case", "answer": "class"}


def _likeness(name: str, role: Role) -> int:
    """2 where the whole name is a synonym of the role, 1 where a part of it is, else 0."""
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    tokens = [token for token in re.split(r"[^a-z]+", spaced.casefold()) if token]
    core = [token for token in tokens if token not in _SUFFIXES] or tokens
    words = [_singular(token, role) for token in core]
    if len(words) == 1 and words[0] in _SYNONYMS[role]:
        return 2
    return 1 if any(word in _SYNONYMS[role] for word in words) else 0


def _singular(token: str, role: Role) -> str:
    glued = _GLUED.match(token)
    for word in (token, token.removesuffix("s"), glued.group(1) if glued else token):
        if word in _SYNONYMS[role]:
            return word
    return token
