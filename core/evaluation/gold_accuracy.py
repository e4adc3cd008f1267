"""Accuracy of classifiers by gold: how often the gold class is among the first predicted ones, with differences."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ..agreement.intervals import Z95, wilson
from ..annotations.dataset import Dataset
from ..models.gold import gold_cases
from ..order import highest_first
from ..result_base import Columns, Result
from ..text import number
from .predictions import Predictions


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GoldAccuracy(Result):
    """Accuracy of classifiers by gold at one depth.

    Attributes
    ----------
    classifiers : tuple of str
    top : int
        Number of first classes that count.
    n : ndarray of int64, shape (n_classifiers,)
        Number of predicted cases with gold and an annotation.
    value, low, high : ndarray of float64, shape (n_classifiers,)
        Share of these whose gold class is among the first ``top``, a tie across the last place in expectation, with
        Wilson's interval of 95%; NaN if there is no such case.
    gap, gap_se : ndarray of float64, shape (n_classifiers, n_classifiers)
        Row less column on the cases that both predict, and its standard error over cases; NaN below two of them.
    n_both : ndarray of int64, shape (n_classifiers, n_classifiers)
    """

    classifiers: tuple[str, ...]
    top: int
    n: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gap: np.ndarray
    gap_se: np.ndarray
    n_both: np.ndarray

    TABLES = ("classifiers",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return {
            "classifier": self.classifiers,
            "top": [self.top] * len(self.classifiers),
            "n_gold": self.n,
            "right_by_gold": self.value,
            "ci_low": self.low,
            "ci_high": self.high,
        }

    def words(self) -> str:
        """State in a sentence whether gold clearly separates the two best; empty below two classifiers with gold."""
        known = np.flatnonzero(self.n > 0)
        if known.size < 2:
            return ""
        first, second = known[highest_first(self.value[known])[:2]]
        gap, se, n = self.gap[first, second], self.gap_se[first, second], int(self.n_both[first, second])
        names = f"{self.classifiers[first]} and {self.classifiers[second]}"
        if not np.isfinite(se):
            few = "only one" if n else "no"
            return f"Cannot compare {names} using gold: {few} case with gold has predictions from both."
        mean, error = _with_two_more(gap, se, n)
        difference = f"difference {number(gap, 3)} ± {number(se or error, 3)}, n = {n:,} cases"
        told = abs(gap) > 2 * se and abs(mean) > stdtrit(n + 1, 0.975) * error
        measure = "accuracy" if self.top == 1 else f"top-{self.top} accuracy"
        differ = "differ" if told else "do not clearly differ"
        return f"{names} {differ} in {measure} against gold: {difference}."


def _with_two_more(gap: float, se: float, n: int) -> tuple[float, float]:
    """Compute the mean difference and its error with two more pairs, of half a case won, half lost, and one alike.

    On few cases that all differ alike the plain error is 0 [Agresti & Min 2005, DOI 10.1002/sim.1781].
    """
    mean = n * gap / (n + 2)
    square = (n * (n - 1) * se**2 + n * gap**2 + 1) / (n + 2)
    return mean, float(np.sqrt((square - mean**2) / (n + 2)))


def gold_accuracy(dataset: Dataset, classifiers: Sequence[Predictions], top: int = 1) -> GoldAccuracy:
    """Compute the accuracy by gold of each classifier, and the paired differences.

    Parameters
    ----------
    dataset : Dataset
    classifiers : sequence of Predictions
        Predictions matched to the dataset.
    top : int
        Number of first classes that count.
    """
    cases = gold_cases(dataset)
    gold = np.empty(0, np.int32) if dataset.gold is None else dataset.gold[cases]
    score = np.full((len(classifiers), len(cases)), np.nan)
    for row, each in enumerate(classifiers):
        for place, case in enumerate(cases.tolist()):
            own = slice(each.ptr[case], each.ptr[case + 1])
            if own.start < own.stop:
                score[row, place] = _right(each.class_code[own], each.group[own], int(gold[place]), top)
    n = np.isfinite(score).sum(axis=1)
    value = np.array([row[np.isfinite(row)].mean() if known else np.nan for row, known in zip(score, n, strict=True)])
    ends = [wilson(p, k, Z95) if k else (np.nan, np.nan) for p, k in zip(value.tolist(), n.tolist(), strict=True)]
    low, high = np.array(ends).reshape(-1, 2).T
    gap, gap_se = np.full((2, len(classifiers), len(classifiers)), np.nan)
    n_both = np.zeros((len(classifiers), len(classifiers)), np.int64)
    for a in range(len(classifiers)):
        for b in range(len(classifiers)):
            differ = score[a] - score[b]
            differ = differ[np.isfinite(differ)]
            n_both[a, b] = differ.size
            if differ.size > 1:
                gap[a, b], gap_se[a, b] = differ.mean(), differ.std(ddof=1) / np.sqrt(differ.size)
    return GoldAccuracy(tuple(each.name for each in classifiers), top, n, value, low, high, gap, gap_se, n_both)


def _right(code: np.ndarray, group: np.ndarray, gold: int, top: int) -> float:
    """Compute the probability that the gold class is among the first ones, with ties in random order."""
    here = np.flatnonzero(code == gold)
    if not here.size:
        return 0.0
    tie = group[here[0]]
    before, tied = int((group < tie).sum()), int((group == tie).sum())
    return min(max((top - before) / tied, 0.0), 1.0)
