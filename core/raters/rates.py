"""Numbers of every rater: shares with their intervals, and the entropy of classes."""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Coefficient
from ..annotations.dataset import Dataset
from ..result_base import Result


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rates(Result):
    """A share of each rater with its interval; arrays of shape (n_raters,), NaN where undefined.

    Attributes
    ----------
    value, low, high : ndarray
    n : ndarray of int64
        What the share is of.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray

    TABLES = ("rates",)
    COLUMNS = ("value", "low", "high", "n")


def rates_of(each: tuple[Coefficient, ...], n_raters: int) -> Rates:
    """One coefficient for each rater, as arrays."""
    values = [(c.value, c.ci_low, c.ci_high) for c in each]
    columns = np.array(values, float).reshape(n_raters, 3).T
    value, low, high = (np.ascontiguousarray(column) for column in columns)
    return Rates(value, low, high, np.array([c.n_cases for c in each], np.int64))


def entropy_of(rater: np.ndarray, code: np.ndarray, dataset: Dataset) -> np.ndarray:
    """Bits of the classes of each rater; NaN without any.

    Parameters
    ----------
    rater, code : ndarray of int, shape (n_answers,)
        Who annotated, and the class.
    dataset : Dataset
        Has the numbers of raters and classes.

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
