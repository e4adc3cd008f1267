"""Predictions of classifiers, matched to the cases and classes of a dataset, with what is missing listed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.annotations.dataset import Dataset
from core.annotations.mapping import is_known_column
from core.annotations.readers import RawTable
from core.annotations.vocabulary import encode, to_numbers
from core.errors import InputError

SUM_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Ranked classes of one classifier, in CSR by case of a dataset.

    Attributes
    ----------
    name : str
    ptr : ndarray of int64, shape (n_cases + 1,)
    class_code : ndarray of int32, shape (n_entries,)
        Best first.
    group : ndarray of int32, shape (n_entries,)
        Block of tied scores within the case, 0, 1, ...
    notes : tuple of str
        What does not match: cases without a prediction, predictions of other cases, scores that do not sum to one.
    """

    name: str
    ptr: np.ndarray
    class_code: np.ndarray
    group: np.ndarray
    notes: tuple[str, ...] = ()

    @property
    def predicted(self) -> np.ndarray:
        """Which cases have a prediction, bool, shape (n_cases,)."""
        return np.diff(self.ptr) > 0

    def n_tied(self, top: int) -> int:
        """Cases with a tie of scores across place ``top``."""
        first, last = self.ptr[:-1], self.ptr[1:]
        long = last - first > top
        here = np.where(long, first + top, 1)
        return int((long & (self.group[here] == self.group[here - 1])).sum())

    def n_short(self, top: int) -> int:
        """Predicted cases with fewer than ``top`` classes; the missing places are misses."""
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
    """One classifier's scores, one row per case and class, in the order of a dataset.

    Parameters
    ----------
    case_ids, class_names : sequence of str, length n_rows
    score : ndarray, shape (n_rows,)
        Higher is better; equal is tied. Rows with score 0 or less are not predictions where scores are probabilities.
    probabilities : bool
        Whether to tell of cases whose scores sum to more than one.

    Raises
    ------
    InputError
        An unknown class, a score that is not a number, a class twice on one case, or no case in common.
    """
    position = {case_id: case for case, case_id in enumerate(dataset.cases)}
    codes = {class_name: code for code, class_name in enumerate(dataset.classes)}
    score = np.asarray(score, np.float64)
    bad = np.flatnonzero(~np.isfinite(score))
    if bad.size:
        raise InputError(
            f"{name}: the score of class {class_names[bad[0]]!r} on case {case_ids[bad[0]]!r} is not a number.",
            "Give every listed class a finite score.",
        )
    case = np.array([position.get(case_id, -1) for case_id in case_ids], np.int64)
    code = np.array([codes.get(class_name, -1) for class_name in class_names], np.int64)
    known = case >= 0
    notes = []
    unknown = np.flatnonzero(known & (code < 0))
    if unknown.size:
        raise InputError(
            f"{name}: class {class_names[unknown[0]]!r} on case {case_ids[unknown[0]]!r} is not in the list.",
            "Use the names of the data, or declare the class.",
        )
    if not known.any():
        raise InputError(f"{name}: no prediction is for a case of these data.", "Look at the case ids.")
    n_other = len({case_id for case_id, inside in zip(case_ids, known, strict=True) if not inside})
    if n_other:
        notes.append(f"{name}: predictions of {n_other:,} cases that are not in the data are passed over.")
    case, code, score = case[known], code[known], score[known]
    if len(np.unique(case * len(codes) + code)) < case.size:
        frame = pd.DataFrame({"case": case, "code": code})
        first = frame[frame.duplicated()].iloc[0]
        raise InputError(
            f"{name}: class {dataset.classes[first.code]!r} is predicted twice on case {dataset.cases[first.case]!r}.",
            "Give each class one score.",
        )
    order = np.lexsort((code, -score, case))
    case, code, score = case[order], code[order], score[order]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(case, minlength=dataset.n_cases))]).astype(np.int64)
    new_case = np.diff(case, prepend=-1) != 0
    step = new_case | (np.diff(score, prepend=np.inf) != 0)
    running = np.cumsum(step)
    group = running - np.repeat(running[ptr[:-1][np.diff(ptr) > 0]], np.diff(ptr)[np.diff(ptr) > 0])
    n_missing = int((np.diff(ptr) == 0).sum())
    if n_missing:
        missing = [dataset.cases[place] for place in np.flatnonzero(np.diff(ptr) == 0)[:3]]
        notes.append(f"{name}: {n_missing:,} cases have no prediction ({', '.join(missing)}, ...).")
    if probabilities:
        sums = np.bincount(case, weights=score, minlength=dataset.n_cases)
        n_over = int((sums > 1 + SUM_TOLERANCE).sum())
        if n_over:
            notes.append(f"{name}: the scores of {n_over:,} cases sum to more than one; only their order is used.")
    return Predictions(name, ptr, code.astype(np.int32), group.astype(np.int32), tuple(notes))


def read_predictions(raw: RawTable, dataset: Dataset, name: str) -> tuple[Predictions, ...]:
    """Predictions from a table: long (case, class, score or rank, perhaps classifier) or wide (a column per class).

    Raises
    ------
    InputError
        No column of cases, or neither scores nor classes can be recognised.
    """
    by_role = {_role(column): column for column in reversed(raw.columns)}
    case_column = by_role.get("case", raw.columns[0])
    class_columns = [column for column in raw.columns if column in set(dataset.classes)]
    if "class" in by_role:
        return _long(raw, dataset, name, by_role, case_column)
    if not class_columns:
        raise InputError(
            f"{name}: neither a column of classes nor columns named by class were found.",
            "Give one row per case and class (case, class, score), or one column per class.",
        )
    cases = encode(raw.table[case_column])
    case_ids = np.array([*cases.values, ""], dtype=object)[cases.code]
    ids, names, scores = [], [], []
    for column in class_columns:
        coded = encode(raw.table[column])
        numbers = np.append(to_numbers(coded.values), np.nan)[coded.code]
        present = (coded.code >= 0) & (cases.code >= 0)
        ids.extend(case_ids[present])
        names.extend([column] * int(present.sum()))
        scores.append(numbers[present])
    return (match_predictions(dataset, ids, names, np.concatenate(scores), name, probabilities=True),)


def _long(raw: RawTable, dataset: Dataset, name: str, by_role: dict, case_column: str) -> tuple[Predictions, ...]:
    cases, classes = encode(raw.table[case_column]), encode(raw.table[by_role["class"]])
    if "score" in by_role:
        coded, sign = encode(raw.table[by_role["score"]]), 1.0
    elif "rank" in by_role:
        coded, sign = encode(raw.table[by_role["rank"]]), -1.0
    else:
        raise InputError(f"{name}: there is no column of scores or ranks.", "Add one, named score or rank.")
    scores = sign * np.append(to_numbers(coded.values), np.nan)[coded.code]
    usable = (cases.code >= 0) & (classes.code >= 0)
    case_ids = np.array([*cases.values, ""], dtype=object)[cases.code]
    class_names = np.array([*classes.values, ""], dtype=object)[classes.code]
    if "classifier" in by_role:
        who = encode(raw.table[by_role["classifier"]])
        parts = [(title, usable & (who.code == code)) for code, title in enumerate(who.values)]
    else:
        parts = [(name, usable)]
    return tuple(
        match_predictions(
            dataset, case_ids[rows], class_names[rows], scores[rows], title, probabilities="score" in by_role
        )
        for title, rows in parts
    )


_ROLES = {
    "class": {"class", "label", "prediction", "predicted", "predicted class", "condition", "category"},
    "score": {"score", "probability", "prob", "confidence", "p"},
    "rank": {"rank", "position", "place"},
    "classifier": {"classifier", "model", "system", "algorithm"},
    "case": {"case", "case id"},
}


def _role(column: str) -> str:
    plain = column.strip().casefold().replace("_", " ")
    for role, names in _ROLES.items():
        if plain in names:
            return role
    return "case" if is_known_column(column) else ""
