"""Comparison of the annotations in a new version of a file with those in an earlier version."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import numpy as np
import pandas as pd

from ..result_base import Result
from ..text import plural
from .dataset import Dataset, label_sign


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VersionComparison(Result):
    """Annotations that differ between two versions: the changed ones first, then the added and the removed ones.

    Attributes
    ----------
    n_changed, n_added, n_removed, n_unchanged : int
        Numbers of annotations.
    new_cases, new_raters : tuple of str
        Names that the earlier version does not have; no raters if either version is anonymous.
    change : ndarray of object, shape (n_differing,)
        "changed", "added" or "removed".
    case, rater, before, now : ndarray of object, shape (n_differing,)
        Names and annotations as text; None if there is none.
    """

    n_changed: int
    n_added: int
    n_removed: int
    n_unchanged: int
    new_cases: tuple[str, ...]
    new_raters: tuple[str, ...]
    change: np.ndarray
    case: np.ndarray
    rater: np.ndarray
    before: np.ndarray
    now: np.ndarray

    TABLES = ("annotations",)
    COLUMNS = ("change", "case", "rater", "before", "now")

    @property
    def words(self) -> str:
        """Counts as a sentence without its subject: ``12 annotations changed, 40 added, 3 removed; 5 new cases.``."""
        new = [plural(len(self.new_cases), "new case")] * bool(self.new_cases)
        new += [plural(len(self.new_raters), "new rater")] * bool(self.new_raters)
        counts = f"{plural(self.n_changed, 'annotation')} changed, {self.n_added:,} added, {self.n_removed:,} removed"
        return f"{'; '.join([counts, *[', '.join(new)] * bool(new)])}."


def compare_with_earlier(earlier: Dataset, now: Dataset) -> VersionComparison:
    """Compare two versions of the same data by the names of cases, raters and classes.

    Several annotations of a case by one rater have no order: equal ones are unchanged, and the others are paired in the
    order of the data. Without names of raters, the same holds for all annotations of a case.

    Parameters
    ----------
    earlier, now : Dataset
        Datasets of any kind.
    """
    both = earlier, now
    named = earlier.raters_identified and now.raters_identified
    case, cases = _joined([one.cases for one in both], [one.case_of_annotation for one in both])
    rater, raters = _joined([one.raters for one in both], [one.rater for one in both])
    value, texts = _values(both)
    key = case * len(raters) + rater if named else case
    rows = pd.DataFrame({"key": key, "value": value, "place": np.arange(len(key))})
    rows["old"] = rows["place"] < earlier.n_annotations
    rows["nth"] = rows.groupby(["old", "key", "value"], sort=False).cumcount()
    rows = rows[~rows.duplicated(["key", "value", "nth"], keep=False)]
    rows = rows.assign(nth=rows.groupby(["old", "key"], sort=False).cumcount())
    sides = [rows.loc[rows["old"] == old, ["key", "nth", "place"]] for old in (True, False)]
    found = sides[0].merge(sides[1], "outer", ["key", "nth"], suffixes=("_before", "_now"))
    before, after = (found[f"place_{side}"].fillna(-1).to_numpy(np.int64) for side in ("before", "now"))
    change = np.where(before < 0, 1, np.where(after < 0, 2, 0))
    order = np.argsort(change, kind="stable")
    before, after, change = before[order], after[order], change[order]
    place = np.where(after < 0, before, after)
    n_changed, n_added, n_removed = np.bincount(change, minlength=3).tolist()
    return VersionComparison(
        n_changed,
        n_added,
        n_removed,
        now.n_annotations - n_changed - n_added,
        _new(earlier.cases, now.cases),
        _new(earlier.raters, now.raters) if named else (),
        np.array(["changed", "added", "removed"], object)[change],
        cases[case[place]],
        raters[rater[place]] if named else np.full(len(place), None),
        texts(before),
        texts(after),
    )


def _joined(names: Sequence[Sequence[str]], codes: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of both versions below each other, as positions in one vocabulary, and the vocabulary."""
    code, union = pd.factorize(np.concatenate([np.array(one, object) for one in names]))
    size = len(names[0])
    return np.concatenate([code[:size][codes[0]], code[size:][codes[1]]]), union


def _new(earlier: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
    known = set(earlier)
    return tuple(name for name in now if name not in known)


def _values(both: tuple[Dataset, Dataset]):
    """Return a number for each annotation of both versions, equal if they are, and a function to their texts."""
    listed = [_entries(one) for one in both]
    code, names = _joined([one[0] for one in listed], [one[2] for one in listed])
    block = np.concatenate([one[3] for one in listed]).astype(np.int64)
    length = np.concatenate([np.diff(one[1]) for one in listed])
    order = np.lexsort((code, block, np.repeat(np.arange(len(length)), length)))
    code, block, start = code[order], block[order], np.cumsum(length) - length
    entry, kinds = pd.factorize(block * len(names) + code)
    value, n_values = np.zeros(len(length), np.int64), 1
    for place in range(int(length.max(initial=0))):  # two are equal if they were up to here, and the next entry is
        longer = np.flatnonzero(length > place)
        number, different = pd.factorize(value[longer] * len(kinds) + entry[start[longer] + place])
        value[longer] = n_values + number
        n_values += len(different)
    tied = " = " if any(one.kind == "ranking" for one in both) else label_sign(names.tolist())

    def text(annotation: int) -> str:
        run = slice(start[annotation], start[annotation] + length[annotation])
        blocks = groupby(zip(block[run].tolist(), names[code[run]], strict=True), itemgetter(0))
        return " > ".join(tied.join(name for _, name in group) for _, group in blocks)

    def texts(annotations: np.ndarray) -> np.ndarray:
        known = np.flatnonzero(annotations >= 0)
        found = np.full(len(annotations), None)
        if length.max(initial=0) == 1:
            found[known] = names[code[annotations[known]]]
            return found
        _, first, which = np.unique(value[annotations[known]], return_index=True, return_inverse=True)
        found[known] = np.array([text(one) for one in annotations[known][first].tolist()], object)[which]
        return found

    return value, texts


def _entries(dataset: Dataset) -> tuple[Sequence[str], np.ndarray, np.ndarray, np.ndarray]:
    """Return the names of classes, and the entries of annotations; each score is a class of its own."""
    if dataset.kind != "score":
        return dataset.classes, *dataset.entries()
    scores, code = np.unique(dataset.score, return_inverse=True)
    names = [repr(score).removesuffix(".0") for score in scores.tolist()]
    return names, np.arange(len(code) + 1), code, np.zeros(len(code), np.int32)
