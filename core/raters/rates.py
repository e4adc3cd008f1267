"""Rates of every rater: shares with intervals, the entropy of classes, distance in classes, and blind reads."""

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from ..agreement.intervals import Coefficient, wilson
from ..annotations.dataset import Dataset
from ..errors import InputError
from ..result_base import Result
from .leave_one_rater_out import Panel


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rates(Result):
    """Share of each rater with its interval; arrays of shape (n_raters,), NaN if undefined.

    Attributes
    ----------
    value, low, high : ndarray
    n : ndarray of int64
        Denominator of the share.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray

    TABLES = ("rates",)
    COLUMNS = ("value", "low", "high", "n")

    def columns(self, *names: str) -> dict[str, np.ndarray]:
        """Return value, ends and n under the names of four columns."""
        return dict(zip(names, (self.value, self.low, self.high, self.n), strict=True))


def shares_of(right: np.ndarray, n: np.ndarray, level: float) -> Rates:
    """Compute shares with Wilson's intervals; undefined if ``n`` is 0.

    Parameters
    ----------
    right, n : ndarray, shape (n_raters,)
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    value = np.divide(right, n, out=np.full(len(n), np.nan), where=n > 0)
    ends = [wilson(float(p), float(m), z) if m else (np.nan, np.nan) for p, m in zip(value, n, strict=True)]
    low, high = np.array(ends, float).reshape(len(n), 2).T
    return Rates(value, np.ascontiguousarray(low), np.ascontiguousarray(high), n)


def rates_of(each: tuple[Coefficient, ...], n_raters: int) -> Rates:
    """Convert one coefficient per rater to arrays."""
    values = [(c.value, c.ci_low, c.ci_high) for c in each]
    columns = np.array(values, float).reshape(n_raters, 3).T
    value, low, high = (np.ascontiguousarray(column) for column in columns)
    return Rates(value, low, high, np.array([c.n_cases for c in each], np.int64))


def entropy_of(rater: np.ndarray, code: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Compute the entropy in bits of the classes of each rater; NaN without any.

    Parameters
    ----------
    rater, code : ndarray of int, shape (n_answers,)
        Rater and class of each annotation.
    dataset : Dataset
        Dataset with the numbers of raters and classes.

    Returns
    -------
    ndarray, shape (n_raters,)
    """
    key, count = np.unique(rater.astype(np.int64) * dataset.n_classes + code, return_counts=True)
    by = key // dataset.n_classes
    total = np.bincount(by, count, dataset.n_raters)
    share = count / total[by]
    bits = np.bincount(by, -share * np.log2(share), dataset.n_raters) + 0.0
    return np.where(total > 0, bits, np.nan)


_BLOCK = 20_000  # Number of annotations whose class probabilities are in memory at the same time.


def distances_of(panel: Panel, level: float = 0.95) -> Rates:
    """Compute the expected |annotated class − true class| of every rater, in classes; NaN if classes have no order.

    The true class is that of the other raters of the case, by probability (`Panel.by_others`). The mean over a rater's
    judged annotations has a t interval from the variance of the distance, which has a part between annotations and a
    part from the uncertain truth of each; with fewer than two annotations there is no interval.

    Parameters
    ----------
    panel : Panel
    level : float
        Confidence level of the intervals, 0 to 1.

    Returns
    -------
    Rates
        Mean distances; ``n`` is the number of judged annotations.
    """
    dataset = panel.dataset
    nothing = np.full(dataset.n_raters, np.nan)
    n = np.bincount(dataset.rater, panel.judged, dataset.n_raters).astype(np.int64)
    if not dataset.ordinal or dataset.n_classes < 3:
        return Rates(nothing, nothing, nothing, np.zeros(dataset.n_raters, np.int64))
    total, squares = np.zeros(dataset.n_raters), np.zeros(dataset.n_raters)
    judged = np.flatnonzero(panel.judged)
    places = np.arange(dataset.n_classes)
    for first in range(0, judged.size, _BLOCK):
        rows = judged[first : first + _BLOCK]
        apart = np.abs(dataset.answer[rows][:, None] - places)
        probability = panel.by_others(rows)
        total += np.bincount(dataset.rater[rows], (probability * apart).sum(axis=1), dataset.n_raters)
        squares += np.bincount(dataset.rater[rows], (probability * apart**2).sum(axis=1), dataset.n_raters)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(n > 0, total / n, np.nan)
        variance = np.maximum(squares / n - mean**2, 0.0) * n / (n - 1)
        half = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.sqrt(variance / n), np.nan)
    return Rates(mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, dataset.n_classes - 1.0), n)


@dataclass(frozen=True, slots=True)
class BlindReads:
    """Opinions that were given without seeing the annotations of raters or models; tuples of equal length.

    Attributes
    ----------
    case, reader, answer : tuple of str
        Names of cases, of readers, and of the classes that the reader named first; reads without a single first class
        are left out.
    """

    case: tuple[str, ...]
    reader: tuple[str, ...]
    answer: tuple[str, ...]

    def __post_init__(self) -> None:
        if not len(self.case) == len(self.reader) == len(self.answer):
            raise InputError(
                "Could not compute rates: the lists of cases, raters and annotations differ in length.",
                "Provide one case and one rater per blind annotation.",
            )


def agreement_with_blind(dataset: Dataset, reads: BlindReads | None, level: float) -> Rates:
    """Compute the share of blind reads that agree with a rater on their cases: mean over cases, with Wilson's interval.

    A reader of the same name is the rater, and is not compared with themselves. Reads of other cases, and of classes
    that are not in the list, agree with nobody: the first are left out, the second count.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    reads : BlindReads, optional
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    n_raters = dataset.n_raters
    agree, n = np.zeros(n_raters), np.zeros(n_raters, np.int64)
    places = {case_id: case for case, case_id in enumerate(dataset.cases)} if reads else {}
    by_case: dict[int, list[tuple[str, str]]] = {}
    for case_id, reader, answer in zip(reads.case, reads.reader, reads.answer, strict=True) if reads else ():
        if case_id in places:
            by_case.setdefault(places[case_id], []).append((reader, answer))
    for case, given in by_case.items():
        met: dict[int, list[bool]] = {}
        for a in dataset.annotations_of(case):
            rater, answer = int(dataset.rater[a]), dataset.classes[dataset.answer[a]]
            alike = [answer == read for reader, read in given if reader != dataset.raters[rater]]
            met.setdefault(rater, []).extend(alike)
        for rater, alike in met.items():
            if alike:
                agree[rater] += float(np.mean(alike))
                n[rater] += 1
    return shares_of(agree, n, level)
