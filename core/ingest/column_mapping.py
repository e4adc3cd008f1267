"""Roles of columns: guessed from names in any spelling, always shown, always changeable."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, get_args

from ..errors import InputError
from ..options import check_choice, shown

Layout = Literal["long", "wide", "transposed", "counts", "contingency", "patterns", "labels", "comparisons"]
Repeats = Literal["keep", "first", "refuse"]
Empty = Literal["unsaid", "none"]
Role = Literal["case", "rater", "answer", "rank", "time", "group", "confidence", "count", "gold"]
LAYOUTS: dict[Layout, str] = {
    "long": "one row per annotation, or per ranked class",
    "wide": "one row per case, one column per rater",
    "transposed": "one row per rater, one column per case",
    "counts": "one row per case, one column per class with the number of annotations",
    "contingency": "two raters: one row and one column per class, and numbers of cases in the cells",
    "patterns": "one column per rater, and one column with the number of cases that have these annotations",
    "labels": "one row per annotation, one column per label with 0 or 1",
    "comparisons": "one row per comparison of two items, with the preferred item",
}

ROLES: dict[Role, str] = {
    "case": "case",
    "rater": "rater",
    "answer": "annotation",
    "rank": "rank",
    "confidence": "confidence",
    "time": "date",
    "group": "group",
    "gold": "gold",
    "count": "count",
}
_SAID: dict[str, str] = {str(role): title for role, title in ROLES.items()} | {
    "across": "columns",
    "first": "items",
    "separators": "rankings",
}


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


IDS = ("id", "uid", "uuid", "key", "index", "idx", "no", "nr", "number")
SHOWN = ("text", "sentence", "tweet", "comment", "post", "utterance", "question", "document", "image", "img", "photo")
_SYNONYMS: dict[Role, frozenset[str]] = {
    "case": words(
        "case item task unit subject document doc image img patient sentence example sample record hit text "
        "study stimulus object instance ticket scan slide xray photo tweet comment post utterance pair question lesion "
        "mole nodule specimen biopsy exam examination spot film frame clip video recording"
    ),
    "rater": words(
        "rater worker annotator coder reader observer performer labeler labeller judge reviewer user expert "
        "participant evaluator assessor grader doctor physician clinician dentist nurse specialist surgeon "
        "psychiatrist consultant scorer voter examiner moderator rad"
    ),
    "answer": words(
        "class label rating annotation answer response choice category diagnosis judgment judgement verdict "
        "grade score value vote decision condition opinion finding read reading impression assessment tag"
    ),
    "rank": words("rank ranking position place order priority preference"),
    "time": words("time timestamp date datetime created submitted when"),
    "group": words("group site center centre batch hospital clinic cohort guideline"),
    "confidence": words("confidence certainty likelihood probability conf prob"),
    "count": words("count frequency freq times weight"),
    "gold": words("gold golden truth groundtruth reference"),
}
_DONE = (
    r"(?:read|seen|graded|rated|scored|labell?ed|coded|annotated|assessed|reviewed|diagnosed|judged|evaluated|classified|"
    r"completed|answered|submitted|validated|verified|confirmed)"
)
_DOING = r"(?:read|reading|annotation|label|rating|grading|assessment|review|evaluation|submission)"
# Patterns for names of several words that show a role only as a whole.
_WHOLE = {
    "rater": re.compile(rf"{_DONE}[\W_]*by|(?:[a-z]+[\W_]+)*[a-z]+ologists?(?:[\W_]*(?:id|name|no|nr|code|\d+))?"),
    "time": re.compile(
        rf"{_DONE}[\W_]*(?:on|at)|{_DOING}[\W_]*(?:date|timestamp|day)|date[\W_]*(?:of[\W_]*)?(?:{_DOING}|{_DONE})"
    ),
    "gold": re.compile(
        r"(?:gold|golden|truth|ground[\W_]*truth|reference)(?:[\W_]*(?:label|class|answer|standard))?"
        r"|(?:true|correct)[\W_]*(?:label|class|answer)"
    ),
    "group": re.compile(r"guidelines?[\W_]*versions?|versions?[\W_]*(?:of[\W_]*)?(?:the[\W_]*)?guidelines?"),
    "count": re.compile(r"n|(?:n|number|no)[\W_]*(?:of[\W_]*)?(?:cases|items|patients|subjects)"),
}
_ONLY_ANSWER = words(
    "label class annotation answer response rating vote judgment judgement choice category value decision score grade"
)
# Names of columns with the number of annotations.
_HOW_MANY = re.compile(
    r"(?:n|num|number|no|total)[\W_]*(?:of[\W_]*)?(?:votes?|annotations?|ratings?|labels?|answers?|judge?ments?)"
)
_NAMED_WHOLE: tuple[Role, ...] = ("rank", "time", "group", "confidence", "count", "gold")
_SUFFIXES = {"id", "ids", "no", "nr", "num", "number", "name", "key", "code", "idx", "index", "uid", "uuid", "at", "on"}
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_LETTER = re.compile(r"[^a-z]+")
_GLUED = re.compile(r"^(.+?)(?:ids?|no|nr|num|number|name|uuid|uid)$")


@dataclass(frozen=True, slots=True)
class Mapping:
    """Role of each column of a table.

    Attributes
    ----------
    layout : str
        One of `LAYOUTS`.
    case : str or None
        Column of case ids; None (not for long tables) takes the row's number.
    rater : str or None
        Long and transposed: column of rater ids; None if annotations are anonymous.
    answer : str or None
        Long: column of the class or score.
    rank : str or None
        Long: column of the rank of that class in the rater's differential diagnosis, 1 first, equal is tied.
    raters : tuple of str
        Wide and patterns: the columns that are raters.
    rater_names : tuple of (str, str)
        Wide: column of a rater and the rater's name, if that is not the column's.
    time, group : str or None
        Columns of the date of an annotation (long) and of the group of a case.
    confidence : str or None
        Long: column of how sure the rater is of that class; higher is first, equal is tied, 0 is not ranked.
    separators : (str, str) or None
        Signs of whole rankings in annotations: between one position and the next, and between tied classes.
    across : tuple of str
        Counts and contingency: the columns that are classes. Labels: those that are labels. Transposed: those that are
        cases.
    count : str or None
        Patterns: column of how many cases have these annotations.
    gold : str or None
        Long, wide and counts: column of the gold class of the case.
    label_sign : str or None
        Sign between labels if annotations are sets of labels.
    first, second : str or None
        Comparisons: columns of the item shown first, or on the left, and of the other; ``answer`` is that of the
        preferred item, None if the first is the preferred one.
    annotation : str or None
        Long: column that tells annotations apart, where several rows are one.
    empty : str
        Meaning of an empty cell for sets of labels; ``none``: its label does not apply, or none does.
    day_first : bool or None
        Order in dates like 02/03/2021; None: as other dates show. If none shows it, the dates are left out.
    why : dict
        Reason of each guess by role, for the screen.
    instead : tuple of Mapping
        Other readings that the table may have as well; empty where the reading was chosen or is clear.
    doubt : str
        Reason for several readings, in a sentence.
    before : Mapping or None
        Guess of earlier versions, if it differed.
    """

    layout: Layout
    case: str | None = None
    rater: str | None = None
    answer: str | None = None
    rank: str | None = None
    raters: tuple[str, ...] = ()
    time: str | None = None
    group: str | None = None
    confidence: str | None = None
    separators: tuple[str, str] | None = None
    across: tuple[str, ...] = ()
    count: str | None = None
    gold: str | None = None
    label_sign: str | None = None
    annotation: str | None = None
    empty: Empty = "unsaid"
    day_first: bool | None = None
    why: dict[str, str] = field(default_factory=dict, compare=False)
    instead: tuple["Mapping", ...] = field(default=(), compare=False)
    doubt: str = field(default="", compare=False)
    before: "Mapping | None" = field(default=None, compare=False)
    rater_names: tuple[tuple[str, str], ...] = ()
    first: str | None = None
    second: str | None = None

    def __post_init__(self) -> None:
        check_choice(self.layout, "The layout", LAYOUTS)
        check_choice(self.empty, "The meaning of an empty cell", get_args(Empty))
        for role in (*_SYNONYMS, "first", "second"):
            column = getattr(self, role)
            if column is not None and not isinstance(column, str):
                raise InputError(f"Could not use {shown(column)} as the column for {role!r}.", "Use a column name.")
        for roles in ("raters", "across"):
            names = getattr(self, roles)
            if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
                raise InputError(
                    f"Could not use {shown(names)} as the columns for {roles!r}.", "Use a list of column names."
                )
            object.__setattr__(self, roles, tuple(names))
        if self.separators is not None:
            signs = self.separators
            if not isinstance(signs, list | tuple) or [type(sign) for sign in signs] != [str, str]:
                raise InputError(
                    f"Could not use {shown(signs)} as the separators between ranked classes.",
                    "Use two separators, such as > and =.",
                )
            object.__setattr__(self, "separators", tuple(signs))
        if self.label_sign is not None and not (isinstance(self.label_sign, str) and self.label_sign):
            raise InputError(
                f"Could not use {shown(self.label_sign)} as the separator between labels.",
                "Use one separator, such as ;.",
            )

    def reasons(self) -> list[str]:
        """Return why each column has its role, in words."""
        return [f"{_SAID.get(role, role)}: {why}" for role, why in self.why.items()]

    def chosen_from(self, guess: "Mapping") -> "Mapping":
        """Return the mapping with "you chose" as the reason for each column that differs from the guess.

        Parameters
        ----------
        guess : Mapping
        """
        why = dict(self.why)
        for role in (*ROLES, "raters", "across", "first", "second"):
            now, before = getattr(self, role), getattr(guess, role)
            if now == before:
                continue
            why.pop(role, None)
            if now:
                why[role] = f"you chose {now!r}" if isinstance(now, str) else f"you chose {len(now):,} columns"
        return replace(self, why=why)

    def clear(self) -> "Mapping":
        """Return the same reading without alternatives."""
        return replace(self, instead=(), doubt="")

    def rater_of(self, column: str) -> str:
        """Return the name of the rater of a column."""
        return dict(self.rater_names).get(column, column)

    @property
    def holds_sets(self) -> bool:
        """True if annotations are sets of labels and may be in empty cells, whose meaning then has to be stated."""
        return self.layout == "labels" or (self.layout == "long" and self.label_sign is not None)

    def with_group(self, column: str) -> "Mapping":
        """Return the mapping with a column of groups of cases, which has no other role then.

        Parameters
        ----------
        column : str
        """
        raters, across = (tuple(one for one in part if one != column) for part in (self.raters, self.across))
        return replace(self, group=column, raters=raters, across=across)

    @property
    def ranked(self) -> bool:
        """True if annotations are rankings."""
        return self.rank is not None or self.confidence is not None or self.separators is not None


def names_cases(name: str) -> bool:
    """Return whether a column of that name has ids of cases, and not what raters were shown of them."""
    plain = name.strip().casefold()
    return plain in IDS or (plain not in SHOWN and likeness(name, "case") == 2)


def is_only_answer(name: str) -> bool:
    """Return whether a column of that name has annotations and nothing else; others may be one of several questions."""
    return likeness(name, "answer") == 2 and bool(words_of_name(name) & _ONLY_ANSWER)


def words_of_name(name: str) -> frozenset[str]:
    """Return the words of a name, in lower case."""
    spaced = _CAMEL.sub(" ", name)
    return frozenset(token for token in _NO_LETTER.split(spaced.casefold()) if token)


def is_known_column(name: str) -> bool:
    """Return whether a column of that name would be recognised; numbers and annotations are not."""
    return any(how == 2 and role not in ("confidence", "count", "gold") for role, how in _likenesses(name).items())


def rater_columns(columns: Sequence[str], *others: str | None) -> tuple[str, ...]:
    """Return the columns of a wide table that may be raters: all but those named, and dates."""
    return tuple(column for column in columns if column not in others and likeness(column, "time") < 2)


def guess_mapping(columns: Sequence[str]) -> Mapping:
    """Return the most probable mapping by the names of the columns.

    If a case, a rater and an annotation are recognised, the table is long. Otherwise it is wide if at least two columns
    other than the case are left. Roles that cannot be guessed stay None for the user to choose.
    """
    found: dict[Any, Any] = {**_recognised(columns)}
    rater = found.get("rater")
    if "answer" not in found and rater is not None and likeness(rater, "rater") == likeness(rater, "answer") == 1:
        found["answer"] = found.pop("rater")  # "annotator labels" are labels
    if (rater := found.get("rater")) is not None and likeness(rater, "rater") == 1 and _has_siblings(rater, columns):
        found = {role: column for role, column in found.items() if role not in ("rater", "answer")}
    if _HOW_MANY.fullmatch(found.get("answer", "").strip().casefold()):
        found.pop("answer")
    for role in ("confidence", "count"):  # only the rows below show their role
        found.pop(role, None)
    why: dict[str, str] = {role: f"the column is called {column!r}" for role, column in found.items()}
    if "rater" in found and "answer" in found and "case" in found:
        return Mapping("long", **found, why=why)
    numbered_raters = [column for column in columns if re.search(r"\d$", column.strip())]
    if "rater" in found and (found["rater"] in numbered_raters or _one_rater_a_column(columns, found)):
        del found["rater"], why["rater"]
    if "rater" in found:
        return Mapping("long", **found, why=why)
    raters = rater_columns(columns, found.get("case"), found.get("group"), found.get("gold"))
    single_answer = "answer" in found and found["answer"] not in numbered_raters
    first_is_free = bool(columns) and columns[0] not in found.values() and not likeness(columns[0], "rater")
    if "case" not in found and first_is_free and (len(raters) > 2 or columns[0].strip().casefold() in IDS):
        found["case"], raters = columns[0], raters[1:]
        why["case"] = "it is the first column"
    if len(raters) < 2 or single_answer:
        return Mapping("long", **found, why=why)
    why.pop("answer", None)  # a column that is named like annotations is that of a rater here
    why["raters"] = "one column per rater, because no column contains rater IDs"
    return Mapping(
        "wide", case=found.get("case"), raters=raters, group=found.get("group"), gold=found.get("gold"), why=why
    )


def numbers_apart(name: str) -> str:
    """Replace each number and single letter of a name by a sign, so that "Reviewer 1" and "Reviewer 2" are equal."""
    return re.sub(r"\d+|(?<![a-z0-9])[a-z](?![a-z0-9])", "#", name.strip().casefold())


def _has_siblings(name: str, columns: Sequence[str]) -> bool:
    """Return whether another column differs from this one only in a number."""
    plain = numbers_apart(name)
    return "#" in plain and sum(numbers_apart(column) == plain for column in columns) > 1


def _recognised(columns: Sequence[str]) -> dict[Role, str]:
    """Return the column of each role whose name shows it, the first of those that show it best."""
    found: dict[Role, str] = {}
    for wanted in (2, 1):
        for role in _SYNONYMS:
            if role in found:
                continue
            # "score" or "rank" inside a longer name is weak evidence for rank, time and group: these need all of it.
            if wanted == 1 and role in _NAMED_WHOLE:
                continue
            for column in columns:
                if column not in found.values() and likeness(column, role) >= wanted:
                    found[role] = column
                    break
    return found


def _one_rater_a_column(columns: Sequence[str], found: dict[Role, str]) -> bool:
    """Return whether, without a column of annotations, all other columns are named like raters."""
    if "answer" in found:
        return False
    left = [column for column in columns if column not in found.values() or column == found["rater"]]
    return len(left) > 1 and all(likeness(column, "rater") == 2 for column in left)


def check_mapping(mapping: Mapping, columns: Sequence[str]) -> None:
    """Raise `InputError` if a mapping names columns that do not exist, one twice, or too few."""
    single = (getattr(mapping, role) for role in (*_SYNONYMS, "first", "second"))
    named = [column for column in single if column is not None] + [*mapping.raters, *mapping.across]
    listed = ", ".join(repr(column) for column in list(columns)[:12])
    present = set(columns)
    for column, count in Counter(named).items():
        if column not in present:
            raise InputError(f"Could not find the column {column!r}.", f"Columns: {listed}.")
        if count > 1:
            raise InputError(
                f"Could not use column {column!r}: it has two roles.", "Choose a different column for one of the roles."
            )
    if mapping.layout not in LAYOUTS:
        raise InputError(f"Unknown layout {mapping.layout!r}.", f"Use one of {', '.join(LAYOUTS)}.")
    if mapping.separators is not None and (len(set(mapping.separators)) < 2 or not all(mapping.separators)):
        raise InputError(
            "Could not read rankings: the separators between classes are empty or identical.",
            "Use > and =, or the separators in the file.",
        )
    if mapping.annotation is not None and mapping.annotation not in present:
        raise InputError(f"Could not find the column {mapping.annotation!r}.", f"Columns: {listed}.")
    if mapping.layout in ("wide", "patterns"):
        _check_raters(mapping, listed)
    elif mapping.layout in ("long", "comparisons"):
        (_check_long if mapping.layout == "long" else _check_comparisons)(mapping, listed)
    elif len(mapping.across) < (1 if mapping.layout in ("transposed", "labels") else 2):
        what = {"transposed": "case", "labels": "label"}.get(mapping.layout)
        few = "fewer than 2 columns are marked as classes" if what is None else f"no column is marked as a {what}"
        raise InputError(f"Could not read the table: {few}.", f"Choose the columns from {listed}.")


def _check_raters(mapping: Mapping, listed: str) -> None:
    if len(mapping.raters) < 1:
        raise InputError(
            "Could not read the table: no column is marked as a rater.", f"Choose rater columns from {listed}."
        )
    if mapping.layout == "patterns" and mapping.count is None:
        raise InputError(
            "Could not read the table: no column is marked as the number of cases per row.",
            f"Choose it from {listed}.",
        )


def _check_comparisons(mapping: Mapping, listed: str) -> None:
    if mapping.first is None or mapping.second is None:
        raise InputError(
            "Could not identify the columns that contain the two items.", f"Choose these columns from {listed}."
        )


def _check_long(mapping: Mapping, listed: str) -> None:
    for role, what, column in (("case", "case", mapping.case), ("answer", "annotation", mapping.answer)):
        if column is None:
            raise InputError(
                f"Could not recognise the {what} column.", f"Choose it from {listed} (--{_FLAGS[role]} NAME)."
            )
    if sum((mapping.rank is not None, mapping.confidence is not None, mapping.separators is not None)) > 1:
        raise InputError(
            "Could not order ranked classes: more than one order is defined.",
            "Use only ranks, only confidences, or only separators in the annotations.",
        )
    if mapping.rater is None and "anonymous" not in mapping.why:
        raise InputError(
            "Could not recognise the rater column.",
            f"Choose it from {listed} (--rater NAME), or declare the annotations anonymous (--rater none). If this "
            "file contains gold, open it together with the annotations (--gold FILE).",
        )


_FLAGS = {"case": "case", "answer": "class"}
_OF_OTHERS: frozenset[Role] = frozenset(("rater", "time"))
_NONE: dict[Role, int] = {}


def _said(name: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """Return the roles that the whole name shows, and its words without those that only number it."""
    plain = name.strip().casefold()
    whole = frozenset(role for role, pattern in _WHOLE.items() if pattern.fullmatch(plain))
    spaced = _CAMEL.sub(" ", name)
    tokens = [token for token in _NO_LETTER.split(spaced.casefold()) if token]
    return whole, tuple(token for token in tokens if token not in _SUFFIXES) or tuple(tokens)


def likeness(name: str, role: Role) -> int:
    """Return 2 if the whole name is a synonym of the role, 1 if a part of it is, else 0."""
    return _likenesses(name).get(role, 0)


@lru_cache(maxsize=200_000)
def _likenesses(name: str) -> dict[Role, int]:
    """Return `likeness` for all roles that the name shows, because a table of 100,000 columns asks for each role."""
    whole, core = _said(name)
    said = [_meant(token) for token in core]
    if not whole and not any(said):
        return _NONE
    found: dict[Role, int] = {}
    for role in _SYNONYMS:
        if role in whole:
            found[role] = 2
        elif not whole & (_OF_OTHERS - {role}):  # "read on" is not an annotation
            n_said = sum(role in one for one in said)
            found[role] = 2 if n_said and len(said) == 1 else min(n_said, 1)
    return found


@lru_cache(maxsize=200_000)
def _meant(token: str) -> frozenset[Role]:
    """Return the roles of which the word is a synonym, in one of its forms."""
    forms = _forms(token)
    return frozenset(role for role, words in _SYNONYMS.items() if not words.isdisjoint(forms))


@lru_cache(maxsize=10_000)
def _forms(token: str) -> tuple[str, ...]:
    glued = _GLUED.match(token)
    return token, token.removesuffix("s"), glued.group(1) if glued else token
