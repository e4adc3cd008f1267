"""Observed agreement of cases, and Gwet's linearised variance of what is corrected by chance.

Gwet, Handbook of Inter-Rater Reliability (2014), chapters 5 and 6.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ._disagreement_kernels import class_majorities
from ._kernels import agreeing_pairs, paired
from .intervals import EVERYTHING, Coefficient, undefined, with_t_interval

NO_PAIR = "no case has two annotations"
ONE_CLASS = "only one class was used; raw agreement is 1"
ALL = 1 - 1e-12
FEW_OF_OTHERS, FEW_OF_OTHERS_AC1 = 8, 5
"""Where fewer cases are mostly of other classes than the commonest, 95% intervals of kappa and alpha, linearised or by
percentiles of resamples, hold the truth in less than 93% of data sets (``tests/benchmarks/coverage.py``). AC1: 5."""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Agreement of the cases that were annotated at all; arrays of shape (n_rated,).

    Attributes
    ----------
    rated : ndarray of bool, shape (n_cases,)
        Which cases these are.
    n : ndarray of float64
        Annotations of each.
    usable : ndarray of bool
        Two annotations or more.
    p_ai : ndarray of float64
        Share of agreeing pairs, by weight; 0 where there is none.
    times : ndarray of int64, shape (n_rated,) or (0,)
        How many cases each stands for; empty for one each.
    """

    rated: np.ndarray
    n: np.ndarray
    usable: np.ndarray
    p_ai: np.ndarray
    times: np.ndarray

    @property
    def n_rated(self) -> int:
        """Cases that were annotated at all."""
        return int(self.times.sum()) if self.times.size else self.n.size

    @property
    def n_usable(self) -> int:
        """Cases with two annotations or more."""
        return int(total_of(self.usable, self.times))

    @property
    def usable_times(self) -> np.ndarray:
        """``times`` of the usable cases."""
        return self.times[self.usable] if self.times.size else self.times

    @property
    def agreement(self) -> float:
        """Mean share of agreeing pairs over the usable cases."""
        if self.times.size:
            return total_of(self.p_ai, self.times) / self.n_usable
        return float(self.p_ai[self.usable].mean())

    @property
    def n_annotations(self) -> int:
        """Annotations of the usable cases."""
        return int(total_of(np.where(self.usable, self.n, 0.0), self.times))


def as_counts(data: ClassCounts | Dataset) -> ClassCounts:
    """The counts themselves, or those of a dataset of single classes."""
    return class_counts(data) if isinstance(data, Dataset) else data


def observed(counts: ClassCounts, matrix: np.ndarray | None = None) -> Observed:
    """Agreement of each case, ``Σ_k n_ik (Σ_l w_kl n_il − 1) / (n_i (n_i − 1))``; identity without a matrix."""
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    if matrix is not None:
        pairs = paired(counts.ptr, counts.class_code, counts.count, matrix) - n
    rated = n >= 1
    n, pairs = n[rated], pairs[rated]
    usable = n >= 2
    p_ai = np.zeros(n.size)
    np.divide(pairs, n * (n - 1), out=p_ai, where=usable)
    return Observed(rated, n, usable, p_ai, counts.times[rated] if counts.times.size else counts.times)


def total_of(values: np.ndarray, times: np.ndarray) -> float:
    """Sum over cases of values of rows, shape (n_rows,), that stand for ``times`` cases each, one each where empty."""
    return float(values @ times) if times.size else float(values.sum())


def corrected(
    name: str,
    weights: str,
    seen: Observed,
    level: float,
    p_e: float = 0.0,
    p_ei: np.ndarray | None = None,
    why_certain: str = ONE_CLASS,
    *,
    least: Callable[[], float],
) -> Coefficient:
    """``(p_a − p_e)/(1 − p_e)`` with its linearised interval.

    Parameters
    ----------
    name, weights : str
    seen : Observed
    level : float
        Of the interval, 0 to 1.
    p_e : float
        Agreement by chance.
    p_ei : ndarray of float64, shape (n_rated,), optional
        What each case says of it; without it chance is taken as known.
    why_certain : str
        The reason to give where chance alone would make all agree.
    least : callable
        See `core.agreement.intervals.with_t_interval`.
    """
    n_cases, m = seen.n_rated, seen.n_usable
    if m == 0:
        return undefined(name, weights, NO_PAIR)
    if p_e >= ALL:
        return undefined(name, weights, why_certain, m, seen.n_annotations)
    kappa = (seen.agreement - p_e) / (1 - p_e)
    squares = squares_about(kappa, seen, n_cases / m, p_e, p_ei)
    variance = squares / (n_cases * (n_cases - 1)) if n_cases > 1 else 0.0
    return with_t_interval(name, weights, kappa, variance, n_cases - 1, m, seen.n_annotations, level, least)


def squares_about(kappa: float, seen: Observed, by_usable: float, p_e: float, p_ei: np.ndarray | None) -> float:
    """Sum over cases of the squared difference of what each says of a coefficient, and the coefficient.

    Parameters
    ----------
    kappa : float
    seen : Observed
        Of all cases or of some of them.
    by_usable : float
        Annotated cases for each usable one, of all.
    p_e, p_ei
        See `corrected`.
    """
    influence = np.where(seen.usable, by_usable * (seen.p_ai - p_e) / (1 - p_e), 0.0)
    if p_ei is not None:
        influence -= 2 * (1 - kappa) * (p_ei - p_e) / (1 - p_e)
    return total_of((influence - kappa) ** 2, seen.times)


def why_certain(n_used: int | np.integer) -> str:
    """Why chance alone makes all agree, by how many classes were used."""
    return ONE_CLASS if n_used < 2 else "the weights make all classes that were used agree"


def mostly_of_others(counts: ClassCounts) -> tuple[int, int]:
    """Cases with two annotations or more, and how many of them are for more than half of other classes than one.

    That one is the commonest class; of two as common as each other, the one that leaves fewer cases.
    """
    total, half, usable = class_majorities(counts.ptr, counts.class_code, counts.count, counts.n_classes, counts.times)
    return usable, usable - int(half[total == total.max()].max())


def warn_rare_classes(found: Coefficient, counts: ClassCounts, few: int = FEW_OF_OTHERS) -> Coefficient:
    """The coefficient with a remark on its interval where the agreement beyond chance hangs on few cases.

    Parameters
    ----------
    found : Coefficient
    counts : ClassCounts
    few : int
        With fewer cases of other classes than the commonest the interval is too narrow.
    """
    if found.ci_low is None:
        return found
    usable, others = mostly_of_others(counts)
    if others >= few or found.note == EVERYTHING:
        return found
    note = (
        f"{others:,} of {usable:,} cases are mostly of other classes than the commonest, too few: the interval tends "
        "to be too narrow"
    )
    return replace(found, note="; ".join(filter(None, (found.note, note))))
