"""Files of a reader study: those of iMRMC, or tables with a row per reading, of one modality each or of several.

A table has columns of cases and scores, and of readers, modalities and the truth if the files do not differ by them.
Columns are recognised by name. Scores are numbers, or ordered classes whose names give their order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.ordering import order_by_name
from ..annotations.vocabulary import encode, to_numbers
from ..errors import InputError
from ..ingest.formats.raw_table import RawTable
from ..ingest.formats.tables import open_tables
from ..text import listed, plural, shorten
from .imrmc import is_imrmc, read_rows
from .study import ReadingStudy, study_from_rows

Role = Literal["reader", "case", "modality", "score", "truth"]
# Names of columns, in small letters and with blanks.
ROLES: dict[Role, frozenset[str]] = {
    "reader": frozenset(
        ("reader", "reader id", "readerid", "rater", "rater id", "radiologist", "observer", "annotator", "physician")
    ),
    "case": frozenset(
        ("case", "case id", "caseid", "patient", "patient id", "subject", "subject id", "image", "image id", "item")
    ),
    "modality": frozenset(
        ("modality", "modality id", "modalityid", "treatment", "test", "technique", "system", "device", "arm", "mode")
    ),
    "score": frozenset(("score", "rating", "confidence", "probability", "likelihood", "value", "class", "answer")),
    "truth": frozenset(
        ("truth", "gold", "gold standard", "reference", "reference standard", "ground truth", "disease", "diseased")
    ),
}  # fmt: skip
# Names of the class with the condition, beside a class of another name.
WITH_CONDITION = frozenset(
    ("1", "yes", "true", "positive", "pos", "present", "diseased", "disease", "abnormal", "malignant", "cancer", "with")
)
_SHOWN = 24


@dataclass(frozen=True, slots=True, eq=False)
class StudyReading:
    """A reader study with what was understood of its files.

    Attributes
    ----------
    study : ReadingStudy
        Study, without a truth if the condition must be chosen from ``choices``.
    notes : tuple of str
        Roles of the columns of each file, and what was left out.
    choices : tuple of str
        Classes of the truth of which one is the condition; empty if it is clear or nothing is known about the truth.
    """

    study: ReadingStudy
    notes: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Rows:
    """Readings and truths of all files, as text."""

    readings: list[tuple[str, str, str, str]] = field(default_factory=list)
    truth: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    decimal_comma: bool = False


def read_study(
    files: Sequence[tuple[str, bytes]],
    *,
    columns: Mapping[str, str] | None = None,
    truth: Mapping[str, str] | None = None,
    panel: Dataset | None = None,
    positive: str = "",
) -> StudyReading:
    """Read a reader study.

    Parameters
    ----------
    files : sequence of (str, bytes)
        Names and contents. Without a column of readers or modalities, the name of the file is the name of its reader or
        modality. A table of cases and their truth has no scores.
    columns : mapping of str to str, optional
        Columns by role, if their names do not give them.
    truth : mapping of str to str, optional
        Class of each case, in place of that in the files.
    panel : Dataset, optional
        Single classes by a panel that does not read in the study; its opinions count in place of a truth.
    positive : str
        The class with the condition; recognised by name if omitted.

    Returns
    -------
    StudyReading

    Raises
    ------
    InputError
        A column is missing, a score is neither a number nor of a known order, a case has two truths or is scored twice,
        or the truth or the panel has no case of the study.
    LimitError
        See `core.studies.study.study_from_rows`.
    """
    found = _Rows()
    for name, content in files:
        if is_imrmc(content):
            _add_imrmc(found, content)
        else:
            _add_table(found, name, open_tables(name, content)[0][1], columns or {})
    if not found.readings:
        raise InputError("Could not read the study: it has no rows.", "Add one row per reader, case and modality.")
    rows = [(*row[:3], score) for row, score in zip(found.readings, _scores(found), strict=True)]
    cases = {row[1] for row in rows}
    if panel is not None:
        return _with_panel(rows, cases, panel, positive, found.notes)
    known = found.truth if truth is None else dict(truth)
    if known and not cases & known.keys():
        raise InputError(
            "Could not use the truth: it contains none of the cases in the study.",
            "Use the same case names in both files.",
        )
    names = tuple(sorted({known[case] for case in cases & known.keys()}))
    condition = condition_of(names, positive)
    if not condition:
        return StudyReading(study_from_rows(rows), tuple(found.notes), names)
    codes = {case: int(name == condition) for case, name in known.items()}
    return StudyReading(study_from_rows(rows, codes), tuple(found.notes))


def condition_of(names: Sequence[str], positive: str = "") -> str:
    """Find the class with the condition, chosen or recognised by its name; empty if it is neither.

    Parameters
    ----------
    names : sequence of str
    positive : str
                Chosen class; empty if none was chosen.

    Raises
    ------
    InputError
        There is no such class.
    """
    if positive and names:
        if positive not in names:
            raise InputError(
                f"Could not use class {positive!r}: the truth does not contain it.", f"Use one of {listed(names)}."
            )
        return positive
    known = [name for name in names if _plain(name) in WITH_CONDITION]
    return known[0] if len(known) == 1 and len(names) <= 2 else ""


def truth_of(name: str, content: bytes, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Read the class of each case in a table of cases and their truth.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
    columns : mapping of str to str, optional
        Columns by role, if their names do not give them.

    Raises
    ------
    InputError
        See `read_study`.
    """
    raw = open_tables(name, content)[0][1]
    roles = _roles(raw.columns, columns or {})
    others = [column for column in raw.columns if column != roles.get("case")]
    column = roles.get("truth") or roles.get("score") or (others[0] if len(others) == 1 else "")
    if "case" not in roles or not column:
        raise InputError(
            f"Could not use {name}: it has no columns for cases and their truth.", "Name these columns case and truth."
        )
    found: dict[str, str] = {}
    _add_truth(found, _texts(raw, roles["case"]), _texts(raw, column), raw)
    return found


def as_dataset(study: ReadingStudy, name: str) -> Dataset:
    """Return the readings as a dataset of scores, with one rater per reader and modality.

    Parameters
    ----------
    study : ReadingStudy
    name : str
        Name of the dataset.
    """
    modality, reader, case = np.nonzero(~np.isnan(study.scores))
    raters = [f"{who} · {where}" for where in study.modalities for who in study.readers]
    return Dataset.from_scores(
        name, study.cases, raters, case, modality * len(study.readers) + reader, study.scores[modality, reader, case]
    )


def _with_panel(
    rows: list[tuple[str, str, str, float]], cases: set[str], panel: Dataset, positive: str, notes: Iterable[str]
) -> StudyReading:
    """Return the study with the opinions of its panel."""
    if not cases & set(panel.cases):
        raise InputError(
            "Could not use the panel: it annotated none of the cases in the study.",
            "Use the same case names in both files.",
        )
    condition = condition_of(panel.classes, positive)
    if not condition:
        return StudyReading(study_from_rows(rows), tuple(notes), panel.classes)
    opinions: dict[str, dict[str, int]] = {name: {} for name in panel.raters}
    case_of, code = panel.case_of_annotation.tolist(), panel.classes.index(condition)
    for case, rater, answer in zip(case_of, panel.rater.tolist(), panel.answer.tolist(), strict=True):
        opinions[panel.raters[rater]][panel.cases[case]] = int(answer == code)
    return StudyReading(study_from_rows(rows, None, opinions), tuple(notes))


def _add_imrmc(found: _Rows, content: bytes) -> None:
    rows, truth = read_rows(content)
    found.readings += [(*row[:3], repr(row[3])) for row in rows]
    for case, code in truth.items():
        _put(found.truth, case, str(code), None)


def _add_table(found: _Rows, name: str, raw: RawTable, columns: Mapping[str, str]) -> None:
    """Add the rows of one table, with a note on the roles of its columns."""
    roles, stem = _roles(raw.columns, columns), PurePath(name).stem
    for needed in ("case",) if "truth" in roles and "score" not in roles else ("case", "score"):
        if needed not in roles:
            known = ", ".join(sorted(ROLES[needed]))  # type: ignore[index]
            left = listed([f"“{shorten(column, _SHOWN)}”" for column in raw.columns if column not in roles.values()])
            raise InputError(
                f"Could not read {name}: it has no {needed} column{f' (other columns: {left})' if left else ''}.",
                f"Rename a column to one of {known}, or add --column {needed}=NAME on the command line.",
            )
    cases = _texts(raw, roles["case"])
    named = [(role, shorten(column, _SHOWN)) for role, column in roles.items()]
    taken = [role if role == column.lower() else f"“{column}” as {role}" for role, column in named]
    found.notes.append(f"Columns used from {name}: {', '.join(taken)}.")
    if of_file := _of_file(roles):
        found.notes.append(f"The file name, “{shorten(stem, _SHOWN)}”, is used as {listed([*of_file])}.")
    if "truth" in roles:
        _add_truth(found.truth, cases, _texts(raw, roles["truth"]), raw)
    if "score" not in roles:
        return
    readers, modalities = (
        _texts(raw, roles[role]) if role in roles else [stem] * len(cases) for role in ("reader", "modality")
    )
    scores = _texts(raw, roles["score"])
    rows = [row for row in zip(readers, cases, modalities, scores, strict=True) if all(row)]
    if n := len(cases) - len(rows):
        found.notes.append(
            f"{name}: {plural(n, 'row')} without a reader, case, modality or score {'was' if n == 1 else 'were'} "
            "left out."
        )
    found.decimal_comma |= raw.decimal_comma
    found.readings += rows


def _of_file(roles: Mapping[Role, str]) -> list[Role]:
    """Return the roles that the name of the file has."""
    return [role for role in ("reader", "modality") if role not in roles and "score" in roles]  # type: ignore[misc]


def _roles(names: Sequence[str], given: Mapping[str, str]) -> dict[Role, str]:
    """Return the column of each role: as given, otherwise the first with a known name.

    If a table of readings has a single column of another name, that is the score.
    """
    found: dict[Role, str] = {}
    for role, column in given.items():
        if role not in ROLES:
            raise InputError(f"Unknown column role: {role!r}.", f"Use {', '.join(ROLES)}.")
        if column not in names:
            raise InputError(f"Could not find the column {column!r}.", f"Use one of {', '.join(names)}.")
        found[role] = column  # type: ignore[index]
    for role, known in ROLES.items():
        free = [name for name in names if name not in found.values() and _plain(name) in known]
        if free:
            found.setdefault(role, free[0])
    left = [name for name in names if name not in found.values()]
    if "score" not in found and "case" in found and found.keys() & {"reader", "modality"} and len(left) == 1:
        found["score"] = left[0]
    return found


def _texts(raw: RawTable, column: str) -> list[str]:
    """Return the values of a column as text, empty if missing."""
    coded = encode(raw.table[column])
    return np.array([*coded.values, ""], dtype=object)[coded.code].tolist()


def _add_truth(found: dict[str, str], cases: Sequence[str], truths: Sequence[str], raw: RawTable) -> None:
    for place, (case, truth) in enumerate(zip(cases, truths, strict=True)):
        if case and truth:
            _put(found, case, truth, int(raw.line[place]))


def _put(found: dict[str, str], case: str, truth: str, line: int | None) -> None:
    if found.setdefault(case, truth) != truth:
        raise InputError(
            f"Could not use case {case!r}: its truth is given as both {found[case]!r} and {truth!r}.",
            "Keep one of the two.",
            line,
        )


def _scores(found: _Rows) -> list[float]:
    """Convert scores to numbers, and ordered classes to their places."""
    texts = tuple(dict.fromkeys(row[3] for row in found.readings))
    numbers = to_numbers(texts, decimal_comma=found.decimal_comma)
    if not np.isfinite(numbers).all():
        order = order_by_name(texts)
        if order is None:
            first = texts[int(np.flatnonzero(~np.isfinite(numbers))[0])]
            raise InputError(
                f"Could not use the score {shorten(first, _SHOWN)!r}: it is not a number, and the scores do not form "
                "a known scale.",
                "Use numbers that are larger if the condition is more likely.",
            )
        found.notes.append(f"Order of the scores, low to high: {', '.join(shorten(name, _SHOWN) for name in order)}.")
        numbers = np.array([order.index(name) for name in texts], float)
    value = dict(zip(texts, numbers.tolist(), strict=True))
    return [value[row[3]] for row in found.readings]


def _plain(name: str) -> str:
    return " ".join(name.casefold().replace("_", " ").split())
