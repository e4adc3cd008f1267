"""Predictions of classifiers, matched to the cases and classes of a dataset, with a list of missing ones."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..annotations.dataset import Dataset
from ..annotations.validation import (
    check_length,
    check_predictions,
    check_range,
    checked_integers,
    checked_numbers,
    checked_pointers,
    frozen,
    one_dimensional,
)
from ..annotations.vocabulary import Coded, encode, to_numbers
from ..errors import InputError
from ..ingest.column_mapping import guess_mapping
from ..ingest.formats.budget import reading
from ..ingest.formats.json_text import looks_like_json, open_json
from ..ingest.formats.matrix import is_matrix, read_matrix
from ..ingest.formats.raw_table import RawTable
from ..ingest.formats.records import read_records
from ..ingest.formats.reshaped import objects_as_columns
from ..ingest.formats.tables import open_table
from ..ingest.machine_answers import MACHINES, read_answers
from ..result_base import Columns, Result
from ..text import plural, was_or_were

SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Predictions(Result):
    """Ranked classes of one classifier, in CSR by case of a dataset.

    Attributes
    ----------
    name : str
    ptr : ndarray of int64, shape (n_cases + 1,)
    class_code : ndarray of int32, shape (n_entries,)
        Codes of classes, the best first.
    group : ndarray of int32, shape (n_entries,)
        Block of tied scores within the case, 0, 1, ...
    notes : tuple of str
        Mismatches: cases without a prediction, predictions of other cases, scores that do not sum to one.
    score : ndarray of float64, shape (n_entries,), or None
        Scores, higher is better; None if only the order is known.

    Raises
    ------
    InputError
        Arrays do not fit each other, blocks do not ascend by one from 0, or a case has a class twice.
    """

    name: str
    ptr: np.ndarray
    class_code: np.ndarray
    group: np.ndarray
    notes: tuple[str, ...] = ()
    score: np.ndarray | None = None

    TABLES = ("ranked",)

    def _columns(self, table: str, most: int | None) -> Columns:
        found = {
            "case": np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr)),
            "class": self.class_code,
            "group": self.group,
        }
        return found if self.score is None else found | {"score": self.score}

    def __post_init__(self) -> None:
        code = checked_integers(self.class_code, "class_code", np.int32)
        check_range(code, "class_code", 0, np.iinfo(np.int32).max, "a class code")
        group = checked_integers(self.group, "group", np.int32)
        check_length(group, len(code), "group", "predicted classes")
        n_cases = max(len(one_dimensional(self.ptr, "ptr")) - 1, 0)
        ptr = checked_pointers(self.ptr, "ptr", n_cases, len(code), "cases", "predicted classes")
        check_predictions(ptr, code, group)
        arrays = {"ptr": ptr, "class_code": code, "group": group}
        if self.score is not None:
            arrays["score"] = checked_numbers(self.score, "score", np.finfo(np.float64).max)
            check_length(arrays["score"], len(code), "score", "predicted classes")
        for name, array in arrays.items():
            object.__setattr__(self, name, frozen(array))

    @property
    def predicted(self) -> np.ndarray:
        """True for cases with a prediction, bool, shape (n_cases,)."""
        return np.diff(self.ptr) > 0

    def probabilities(self, n_classes: int) -> np.ndarray | None:
        """Return the probability of every class, shape (n_cases, n_classes), NaN on cases without a prediction.

        The remainder of a list to 1 is divided equally among the classes that it does not name. None if only the order
        is known, or if the scores of a case are not probabilities: below 0, with a sum above 1, or with a sum of all
        classes below 1.

        Parameters
        ----------
        n_classes : int
        """
        n_listed = np.diff(self.ptr)
        if self.score is None or not self.score.size or self.score.min() < 0:
            return None
        case = np.repeat(np.arange(n_listed.size), n_listed)
        total = np.bincount(case, self.score, n_listed.size)
        left, unnamed = 1 - total, n_classes - n_listed
        tolerance = _sum_tolerance(self.score, n_listed)
        if (left < -tolerance).any() or (left > tolerance)[unnamed == 0].any():
            return None
        each = np.maximum(left, 0.0) / np.maximum(unnamed, 1)
        found = np.repeat(np.where(self.predicted, each, np.nan)[:, None], n_classes, axis=1)
        found[case, self.class_code] = self.score
        return found / found.sum(axis=1, keepdims=True)

    def n_tied(self, top: int) -> int:
        """Count cases with a tie of scores across place ``top``."""
        first, last = self.ptr[:-1], self.ptr[1:]
        long = last - first > top
        here = (first + top)[long]
        return int((self.group[here] == self.group[here - 1]).sum())

    def n_short(self, top: int) -> int:
        """Count predicted cases with fewer than ``top`` classes; the missing places are misses."""
        sizes = np.diff(self.ptr)
        return int(((sizes > 0) & (sizes < top)).sum())


def match_predictions(
    dataset: Dataset,
    case_ids: Sequence[str],
    class_names: Sequence[str],
    score: np.ndarray,
    name: str,
    *,
    probabilities: bool = False,
) -> Predictions:
    """Match one classifier's scores, one row per case and class, to the cases and classes of a dataset.

    Parameters
    ----------
    dataset : Dataset
    case_ids, class_names : sequence of str, length n_rows
    score : ndarray, shape (n_rows,)
        Higher is better; equal is tied.
    name : str
        Name of the classifier.
    probabilities : bool
        True to report cases whose scores do not sum to one; a list of some classes may sum to less.

    Raises
    ------
    InputError
        No case is shared, or a case of the data has an unknown class, a score that is not a number, or a class twice.
    """
    position = {case_id: case for case, case_id in enumerate(dataset.cases)}
    codes = {class_name: code for code, class_name in enumerate(dataset.classes)}
    score = np.asarray(score, np.float64)
    case = np.array([position.get(case_id, -1) for case_id in case_ids], np.int64)
    code = np.array([codes.get(class_name, -1) for class_name in class_names], np.int64)
    known = case >= 0
    if not known.any():
        raise InputError(f"Could not use {name}: none of the predicted cases is in these data.", "Check the case IDs.")
    if (unknown := np.flatnonzero(known & (code < 0))).size:
        raise InputError(
            f"Could not use {name}: unknown class {class_names[unknown[0]]!r} for case {case_ids[unknown[0]]!r}.",
            "Use the class names in the data, or add this class to the list of classes.",
        )
    if (bad := np.flatnonzero(known & ~np.isfinite(score))).size:
        raise InputError(
            f"Could not use {name}: class {class_names[bad[0]]!r} has no finite score for case {case_ids[bad[0]]!r}.",
            "Use a finite score for every listed class.",
        )
    notes = []
    n_other = len({case_id for case_id, inside in zip(case_ids, known, strict=True) if not inside})
    if n_other:
        notes.append(f"{name}: predictions for {plural(n_other, 'case')} not in the data were left out.")
    case, code, score = case[known], code[known], score[known]
    _refuse_twice(dataset, case, code, name)
    order = np.lexsort((code, -score, case))
    case, code, score = case[order], code[order], score[order]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(case, minlength=dataset.n_cases))]).astype(np.int64)
    new_case = np.diff(case, prepend=-1) != 0
    step = new_case | np.append(True, score[1:] != score[:-1])
    running = np.cumsum(step)
    group = running - np.repeat(running[ptr[:-1][np.diff(ptr) > 0]], np.diff(ptr)[np.diff(ptr) > 0])
    notes += _remarks(dataset, ptr, score if probabilities else None, name)
    return Predictions(name, ptr, code.astype(np.int32), group.astype(np.int32), tuple(notes), score)


def _refuse_twice(dataset: Dataset, case: np.ndarray, code: np.ndarray, name: str) -> None:
    if len(np.unique(case * dataset.n_classes + code)) < case.size:
        frame = pd.DataFrame({"case": case, "code": code})
        first = frame[frame.duplicated()].iloc[0]
        raise InputError(
            f"Could not use {name}: class {dataset.classes[first.code]!r} is predicted twice for case "
            f"{dataset.cases[first.case]!r}.",
            "Keep one score per class.",
        )


def _sum_tolerance(score: np.ndarray, n_listed: np.ndarray) -> np.ndarray:
    """Return how far the sum of each case may be from one: scores with two or three decimals were rounded."""
    for decimals in range(4) if score.max(initial=0.0) <= 1 else ():
        scaled = score * 10**decimals
        if (np.abs(scaled - np.rint(scaled)) < 1e-6).all():
            return np.maximum(SUM_TOLERANCE, n_listed * (0.5 * 10**-decimals if decimals > 1 else 0.0) + 1e-9)
    return np.full(n_listed.shape, SUM_TOLERANCE)


def _remarks(dataset: Dataset, ptr: np.ndarray, score: np.ndarray | None, name: str) -> list[str]:
    """Describe problems with the cases: none predicted, or sums of scores that differ from one."""
    notes, n_listed = [], np.diff(ptr)
    n_missing = int((n_listed == 0).sum())
    if n_missing:
        missing = [dataset.cases[place] for place in np.flatnonzero(n_listed == 0)[:3]]
        more = ", ..." if n_missing > len(missing) else ""
        notes.append(f"{name}: no prediction for {plural(n_missing, 'case')} ({', '.join(missing)}{more}).")
    if score is not None:
        sums = np.bincount(np.repeat(np.arange(n_listed.size), n_listed), score, n_listed.size)
        whole, tolerance = n_listed == dataset.n_classes, _sum_tolerance(score, n_listed)
        n_off = int(((sums > 1 + tolerance) | (whole & (sums < 1 - tolerance))).sum())
        if n_off:
            notes.append(
                f"{name}: the scores for {plural(n_off, 'case')} do not add up to one. Metrics use only the "
                "order of the scores. Prediction sets use the scores unchanged."
            )
    return notes


def open_predictions(
    name: str, content: bytes, dataset: Dataset, whole: Dataset | None = None
) -> tuple[Predictions, ...]:
    """Read predictions from a file: a table (see `read_predictions`), a matrix (see `match_matrix`), or answers.

    Answers are one class per case without a score: in a table, in JSON by rater, or in the log of an evaluation (see
    `core.ingest.machine_answers`); each rater of JSON is a classifier.

    Parameters
    ----------
    name : str
        Name of the classifier, if the file has none.
    content : bytes
    dataset : Dataset
        Dataset to which predictions are matched.
    whole : Dataset, optional
        Data that ``dataset`` was selected from; rows of a matrix are its cases.

    Raises
    ------
    InputError
        The file is refused by one of those functions.
    """
    with reading(len(content)):
        if is_matrix(content):
            return (match_matrix(dataset, read_matrix(name, content), name, whole=whole),)
        if looks_like_json(content):
            with suppress(InputError):
                return read_predictions(read_records([open_json(name, content)]), dataset, name)
            return _of_answers(read_answers(content, name).dataset, dataset, name)
        return read_predictions(open_table(content), dataset, name)


def _of_answers(answers: Dataset, dataset: Dataset, name: str) -> tuple[Predictions, ...]:
    """Return the first answer of each rater to a case as the class that it predicts there."""
    if answers.kind != "class":
        raise InputError(
            f"Could not use {name}: its predictions are not classes.",
            "Provide one class per case, or a table of scores.",
        )
    found = []
    for code, rater in enumerate(answers.raters if answers.raters_identified else (name,)):
        own = answers.rater == code if answers.raters_identified else np.ones(answers.n_annotations, bool)
        case, first = np.unique(answers.case_of_annotation[own], return_index=True)
        classes = [answers.classes[given] for given in answers.answer[own][first]]
        found.append(match_predictions(dataset, [answers.cases[n] for n in case], classes, -np.ones(case.size), rater))
    return tuple(found)


def match_matrix(dataset: Dataset, matrix: np.ndarray, name: str, *, whole: Dataset | None = None) -> Predictions:
    """Match one classifier's scores in a matrix: row n is the n-th case, column k the k-th class of the list.

    If cases are numbered (1, 2, …) and some have no annotation, rows are matched by number; so are columns if classes
    are numbers from 0.

    Parameters
    ----------
    dataset : Dataset
        Dataset to which predictions are matched.
    matrix : ndarray, shape (n_rows, n_columns)
        Higher is better; equal is tied.
    name : str
    whole : Dataset, optional
        Data that ``dataset`` was selected from.

    Raises
    ------
    InputError
        The shape of the matrix differs from that of the data.
    """
    whole = dataset if whole is None else whole
    n_rows, n_columns = matrix.shape
    rows = _numbered(whole.cases, n_rows, 1)
    columns = _numbered(whole.classes, n_columns, 0)
    if rows is None or columns is None:
        raise InputError(
            f"Could not use {name}: the matrix has {n_rows:,} rows and {n_columns:,} columns, but there are "
            f"{plural(whole.n_cases, 'case')} and {plural(whole.n_classes, 'class', 'classes')}.",
            "Use one row per case and one column per class, in the order of the data. If raters never used some "
            "classes, open the data with the list of all classes.",
        )
    selected = set(dataset.cases)
    kept = [place for place, case in enumerate(whole.cases) if case in selected]
    case_ids = np.repeat(np.array([whole.cases[place] for place in kept], object), whole.n_classes)
    names = np.tile(np.array(whole.classes, object), len(kept))
    scores = matrix[np.ix_(rows[kept], columns)].ravel()
    found = match_predictions(dataset, case_ids.tolist(), names.tolist(), scores, name, probabilities=True)
    said = (
        f"{name}: {plural(n_rows, 'row')} and {plural(n_columns, 'column')} without names were read as cases and "
        "classes, in the order of the data."
    )
    return replace(found, notes=(said, *found.notes))


def _numbered(names: Sequence[str], n: int, first: int) -> np.ndarray | None:
    """Return the place of each name in a matrix: as listed, or by its number from ``first``; None if neither fits."""
    if len(names) == n:
        return np.arange(n)
    if not all(name.isascii() and name.isdigit() for name in names):
        return None
    numbers = np.array([int(name) - first for name in names], np.int64)
    return numbers if len(names) and numbers.min() >= 0 and numbers.max() == n - 1 else None


def read_predictions(raw: RawTable, dataset: Dataset, name: str) -> tuple[Predictions, ...]:
    """Read predictions from a table: long (case, class, score or rank, perhaps classifier) or wide (column per class).

    Score and rank may be omitted with one class per case: it is the first, and the others are unknown. A classifier
    that cannot be read is left out and reported in the notes of the first one that can.

    Parameters
    ----------
    raw : RawTable
    dataset : Dataset
        Dataset with the cases and classes that the table names.
    name : str
        Name of the file, and of the classifier if no column names it.

    Raises
    ------
    InputError
        Neither scores nor classes can be recognised, or no classifier can be read.
    """
    raw = _objects_by_class(raw, dataset.classes)
    roles = columns_of(raw.columns, dataset.classes)
    class_columns = [column for column in raw.columns if column in set(dataset.classes)]
    if "class" in roles and ("score" in roles or "rank" in roles):
        columns, notes = _long(raw, roles, name)
    elif class_columns:
        columns, notes = _wide(raw, roles, class_columns, name)
    elif "class" in roles:
        columns, notes = _answers(raw, roles, name)
        roles["rank"] = ""
    else:
        raise InputError(
            f"Could not read {name}: it has no class column and no columns named after classes.",
            "Use one row per case and class (case, class, score), or one column per class.",
        )
    who, case_ids, class_names, scores = columns
    found, errors = [], []
    for title in dict.fromkeys(who):
        rows = np.flatnonzero(who == title)
        try:
            found.append(
                match_predictions(
                    dataset,
                    case_ids[rows].tolist(),
                    class_names[rows].tolist(),
                    scores[rows],
                    title,
                    probabilities="rank" not in roles,
                )
            )
        except InputError as error:
            errors.append(error)
    if not found:
        raise (
            errors[0]
            if errors
            else InputError(f"Could not use {name}: it contains no predictions.", notes[0] if notes else "")
        )
    notes += [f"{error} This classifier was left out." for error in errors]
    return (replace(found[0], notes=(*notes, *found[0].notes)), *found[1:])


def _objects_by_class(raw: RawTable, classes: Sequence[str]) -> RawTable:
    """Return one column per class if cells are JSON objects with a score per class, such as {"a": 0.9, "b": 0.1}."""
    before, raw = set(raw.columns), objects_as_columns(raw)[0]
    names = list(raw.columns)
    for place, column in enumerate(names):
        key = column.partition(".")[2]
        if column not in before and key in classes and key not in names:
            names[place] = key
    return replace(raw, table=raw.table.rename_columns(names))


_Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def _long(raw: RawTable, roles: dict[str, str], name: str) -> tuple[_Columns, list[str]]:
    """Return classifier, case, class and score of every row, and notes on rows left out."""
    who, known = _classifiers(raw, roles, name)
    cases, classes = encode(raw.table[roles["case"]]), encode(raw.table[roles["class"]])
    if "score" in roles or "rank" in roles:
        sign = 1.0 if "score" in roles else -1.0
        scores = sign * numbers_of(raw, roles.get("score") or roles["rank"])
    else:
        scores = -np.ones(raw.table.num_rows)
    usable = known & (cases.code >= 0) & (classes.code >= 0)
    n_empty = int((~usable).sum())
    notes = (
        [
            f"{name}: {plural(n_empty, 'row')} without a case, a class or a classifier "
            f"{'was' if n_empty == 1 else 'were'} left out."
        ]
        if n_empty
        else []
    )
    return (who[usable], texts_of(cases)[usable], texts_of(classes)[usable], scores[usable]), notes


def _answers(raw: RawTable, roles: dict[str, str], name: str) -> tuple[_Columns, list[str]]:
    """Return the same as `_long`, for one class per case, which is the first."""
    columns, notes = _long(raw, roles, name)
    if pd.DataFrame({"who": columns[0], "case": columns[1]}).duplicated().any():
        raise InputError(
            f"Could not read {name}: a case has several classes, but no scores or ranks.",
            "Add a column named score or rank.",
        )
    return columns, [*notes, f"{name}: one class per case, without scores."]


def _wide(raw: RawTable, roles: dict[str, str], class_columns: list[str], name: str) -> tuple[_Columns, list[str]]:
    """Return the same as `_long` from one row per case; an empty cell is not a prediction, a cell "NaN" is a score."""
    who, known = _classifiers(raw, roles, name)
    cases = encode(raw.table[roles["case"]])
    usable = known & (cases.code >= 0)
    case_ids = texts_of(cases)
    parts, n_empty = [], 0
    for column in class_columns:
        scores = numbers_of(raw, column)
        says_nan = pc.equal(pc.utf8_lower(pc.utf8_trim_whitespace(raw.table[column].cast(pa.string()))), "nan")
        present = encode(raw.table[column]).code >= 0
        present |= pc.fill_null(says_nan, False).to_numpy()
        n_empty += int((usable & ~present).sum())
        rows = np.flatnonzero(usable & present)
        parts.append((who[rows], case_ids[rows], np.full(len(rows), column, object), scores[rows]))
    notes = []
    if n_empty:
        notes.append(f"{name}: {plural(n_empty, 'empty cell')} {was_or_were(n_empty)} read as “not predicted”.")
    if n_rows := int((~usable).sum()):
        notes.append(
            f"{name}: {plural(n_rows, 'row')} without a case or a classifier {'was' if n_rows == 1 else 'were'} "
            "left out."
        )
    others = [
        column for column in raw.columns if column not in {*class_columns, roles["case"], roles.get("classifier")}
    ]
    if others:
        listed = ", ".join(others[:5]) + (", ..." if len(others) > 5 else "")
        notes.append(
            f"{name}: {plural(len(others), 'column')} not named after a class "
            f"{'was' if len(others) == 1 else 'were'} left out ({listed})."
        )
    who, names, columns, scores = (np.concatenate(part) for part in zip(*parts, strict=True))
    return (who, names, columns, scores), notes


def _classifiers(raw: RawTable, roles: dict[str, str], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the name of each row's classifier, and whether it has one."""
    if "classifier" not in roles:
        return np.full(raw.table.num_rows, name, object), np.ones(raw.table.num_rows, bool)
    who = encode(raw.table[roles["classifier"]])
    return texts_of(who), who.code >= 0


def texts_of(coded: Coded) -> np.ndarray:
    """Return the texts of a coded column, "" if missing, ndarray of object."""
    return np.array([*coded.values, ""], dtype=object)[coded.code]


def numbers_of(raw: RawTable, column: str) -> np.ndarray:
    """Return the numbers of a column, NaN if missing, ndarray of float64."""
    coded = encode(raw.table[column])
    return np.append(to_numbers(coded.values, decimal_comma=raw.decimal_comma), np.nan)[coded.code]


def by_classifier(raw: RawTable, roles: dict[str, str], name: str) -> list[tuple[str, np.ndarray]]:
    """Group rows by classifier, in the order of the file; one that has no name is left out.

    Parameters
    ----------
    raw : RawTable
    roles : dict
        Roles from `columns_of`.
    name : str
        Name of the classifier, if no column names it.
    """
    who, _ = _classifiers(raw, roles, name)
    return [(str(title), who == title) for title in dict.fromkeys(who.tolist()) if title]


def match_rows(
    dataset: Dataset, name: str, case_ids: np.ndarray, usable: np.ndarray, what: str
) -> tuple[np.ndarray, np.ndarray, tuple[str, ...]]:
    """Match rows that each contain the whole prediction of one case to the cases of a dataset.

    Parameters
    ----------
    dataset : Dataset
    name : str
        Name of the classifier.
    case_ids : ndarray of object, shape (n_rows,)
    usable : ndarray of bool, shape (n_rows,)
        True for rows with a value.
    what : str
        Content of a row, such as "score".

    Returns
    -------
    ndarray, ndarray, tuple of str
        Rows that are used, the case of each of them, and notes on what was left out.

    Raises
    ------
    InputError
        No row belongs to a case of the data, or two rows have the same case.
    """
    place = {case_id: code for code, case_id in enumerate(dataset.cases)}
    code = np.array([place.get(case_id, -1) for case_id in case_ids.tolist()], np.int64)
    rows = np.flatnonzero((code >= 0) & usable)
    n_predicted = np.bincount(code[rows], minlength=dataset.n_cases)
    if not rows.size:
        raise InputError(
            f"Could not use {name}: it contains no valid prediction for any case in these data.",
            "Use the same case IDs as in the annotations, and make sure that scores are numbers.",
        )
    if (twice := np.flatnonzero(n_predicted > 1)).size:
        raise InputError(
            f"Could not use {name}: case {dataset.cases[twice[0]]!r} has two predicted {what}s.",
            "Use one row per case.",
        )
    left_out = {
        "{rows} for cases that are not in the data {were} left out": int((code < 0).sum()),
        "{rows} without a number {were} left out": int(((code >= 0) & ~usable).sum()),
        "no prediction for {cases}": int((n_predicted == 0).sum()),
    }
    notes = tuple(
        f"{name}: {words.format(rows=plural(n, 'row'), cases=plural(n, 'case'), were=was_or_were(n))}."
        for words, n in left_out.items()
        if n
    )
    return rows, code[rows], notes


_ROLES = {
    "class": {"class", "label", "prediction", "predicted", "predicted class", "condition", "category"},
    "score": {"score", "probability", "prob", "confidence", "p"},
    "rank": {"rank", "position", "place"},
    "classifier": MACHINES,
    "case": {"case", "case id"},
}


def columns_of(columns: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """Find the column of each role by its name; the case by any usual name in a table of annotations, or the first.

    Parameters
    ----------
    columns : sequence of str
    classes : sequence of str
        Class names; a column with such a name belongs to that class and has no role.
    """
    found: dict[str, str] = {}
    others = []
    for column in columns:
        plain = " ".join(column.casefold().replace("_", " ").split())
        role = next((role for role, names in _ROLES.items() if plain in names), None)
        if column in set(classes):
            continue
        if role is None or role in found:
            others.append(column)
        else:
            found[role] = column
    if "case" not in found:
        guessed = guess_mapping(others).case if others else None
        found["case"] = guessed or (others or list(columns))[0]
    return found
