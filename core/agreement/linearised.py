"""Observed agreement of cases, and Gwet's linearised variance of chance-corrected coefficients.

Gwet, Handbook of Inter-Rater Reliability (2014), chapters 5 and 6.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ._kernels import agreeing_pairs, class_majorities, class_shares, paired, weighted_answers
from .formulas import FEW_OF_OTHERS, Formula, Sums
from .intervals import EVERYTHING, Coefficient, undefined, with_t_interval
from .ranges import distance_of, least_agreement, least_beyond_chance
from .weights import Weights, resolve_weights

NO_PAIR = "no case has two annotations"
ONE_CLASS = "only one class was used; raw agreement is 1"


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Agreement of the annotated cases; arrays of shape (n_rated,).

    Attributes
    ----------
    rated : ndarray of bool, shape (n_cases,)
        Which cases these are.
    n : ndarray of float64
        Annotations of each.
    usable : ndarray of bool
        Two annotations or more.
    p_ai : ndarray of float64
        Share of agreeing pairs, by weight; 0 if there is none.
    times : ndarray of int64, shape (n_rated,) or (0,)
        Number of cases of each; empty for one each.
    """

    rated: np.ndarray
    n: np.ndarray
    usable: np.ndarray
    p_ai: np.ndarray
    times: np.ndarray

    @property
    def n_rated(self) -> int:
        """Number of annotated cases."""
        return int(self.times.sum()) if self.times.size else self.n.size

    @property
    def n_usable(self) -> int:
        """Number of cases with two annotations or more."""
        return int(total_of(self.usable, self.times))

    @property
    def usable_times(self) -> np.ndarray:
        """Number of cases that each usable row counts."""
        return self.times[self.usable] if self.times.size else self.times

    @property
    def n_annotations(self) -> int:
        """Number of annotations of the usable cases."""
        return int(total_of(np.where(self.usable, self.n, 0.0), self.times))

    def features(self, to_chance: np.ndarray | float) -> "Features":
        """Return the contributions of cases to the sums of a coefficient, and to its chance."""
        return Features(self.p_ai, self.n, self.usable, to_chance, self.times)


def as_counts(data: ClassCounts | Dataset) -> ClassCounts:
    """Return the counts, or count a dataset of single classes."""
    return class_counts(data) if isinstance(data, Dataset) else data


def observed(counts: ClassCounts, matrix: np.ndarray | None = None) -> Observed:
    """Compute the agreement of cases, ``Σ_k n_ik (Σ_l w_kl n_il − 1) / (n_i (n_i − 1))``; identity without a matrix."""
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
    """Sum values of rows, shape (n_rows,), over cases; a row counts for ``times`` cases, one each if empty."""
    return float(values @ times) if times.size else float(values.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """Contributions of each case to the sums of a coefficient; arrays of shape (n_rated,), of the cases that count.

    Attributes
    ----------
    observed : ndarray of float64
        See `core.agreement.formulas.Sums`.
    n : ndarray of float64
        Annotations.
    paired : ndarray of bool
        Two annotations or more.
    to_chance : ndarray of float64, or 0
        How agreement by chance moves with the case; 0 where chance is known.
    times : ndarray of int64, shape (n_rated,) or (0,)
        Number of cases of each; empty for one each.
    """

    observed: np.ndarray
    n: np.ndarray
    paired: np.ndarray
    to_chance: np.ndarray | float
    times: np.ndarray

    def sums(self, chance: float) -> Sums:
        """Compute the sums over all cases."""
        if self.times.size:
            rated, paired = float(self.times.sum()), total_of(self.paired, self.times)
        else:
            rated, paired = float(self.n.size), float(np.count_nonzero(self.paired))
        alone = rated - paired  # cases of one annotation each
        sums = total_of(self.observed, self.times), paired, rated, total_of(self.n, self.times) - alone, chance
        return Sums(*map(np.float64, sums))

    def adds(self, slope: Sums, n_cases: float) -> np.ndarray:
        """Compute each case's contribution to a coefficient, times the number of all cases: float64, shape (n_rated,).

        Parameters
        ----------
        slope : Sums
            Derivatives of the coefficient, as `core.agreement.formulas.Formula.derivatives` gives them.
        n_cases : float
            All cases that count, here or in other partitions.
        """
        adds = slope.observed * self.observed + (slope.rated + slope.chance * self.to_chance)
        if slope.paired:
            adds += slope.paired * self.paired
        if slope.annotations:
            adds += slope.annotations * self.n
        adds *= n_cases
        return adds

    def squares(self, slope: Sums, n_cases: float) -> float:
        """Sum the squares of `adds` over cases."""
        adds = self.adds(slope, n_cases)
        return total_of(np.square(adds, out=adds), self.times)


def estimate(
    name: str,
    formula: Formula,
    data: ClassCounts | Dataset,
    level: float = 0.95,
    weights: Weights = None,
    labels: Sequence[float] | None = None,
) -> Coefficient:
    """Estimate a coefficient with chance from the class shares of all annotated cases, or without correction.

    Parameters
    ----------
    name : str
    formula : Formula
    data : ClassCounts or Dataset
    level : float
        Confidence level of the interval, 0 to 1.
    weights, labels
        See `core.agreement.weights.weight_matrix`.
    """
    counts = as_counts(data)
    q = counts.n_classes
    called, matrix = resolve_weights(weights, q, labels)
    seen = observed(counts, matrix)
    if seen.n_usable == 0:
        return undefined(name, called, NO_PAIR)
    if q < formula.needs_classes:
        return undefined(name, called, "only one class is declared", seen.n_usable, seen.n_annotations)
    chance, to_chance, n_used = 0.0, 0.0, q
    if formula.chance is not None:
        draws = formula.chance(q, matrix)
        chance = draws.constant
        if draws.factor:
            share = _mean_shares(counts, seen)
            chance, n_used = float(draws.mean(share)), int(np.count_nonzero(share))
            to_chance = weighted_answers(counts.ptr, counts.class_code, counts.count, draws.to_all(share))[seen.rated]
            to_chance /= seen.n
            to_chance -= chance
            to_chance *= 2 / seen.n_rated

    def least() -> float:
        n = seen.n[seen.usable]
        if formula.highest_chance is None:
            return least_beyond_chance(n, chance, distance_of(matrix), own=bool(seen.usable.all()))
        highest = formula.highest_chance(q, matrix)
        return (least_agreement(n, seen.usable_times, q, distance_of(matrix)) - highest) / (1 - highest)

    why = why_certain(n_used if formula.highest_chance is None else q)
    found = with_error(name, called, formula, seen.features(to_chance), chance, level, least, why)
    return warn_rare_classes(found, counts, formula.few_of_others)


def with_error(
    name: str,
    weights: str,
    formula: Formula,
    cases: Features,
    chance: float,
    level: float,
    least: Callable[[], float],
    why: str,
) -> Coefficient:
    """Compute a coefficient of cases with its linearised interval.

    Parameters
    ----------
    name, weights : str
        See `core.agreement.intervals.Coefficient`.
    formula : Formula
    cases : Features
    chance : float
        See `core.agreement.formulas.Sums`.
    level : float
        Confidence level of the interval, 0 to 1.
    least : callable
        See `core.agreement.intervals.with_t_interval`.
    why : str
        The reason to give where the coefficient is undefined.
    """
    sums = cases.sums(chance)
    return from_sums(name, weights, formula, sums, partial(cases.squares, n_cases=sums.rated), level, least, why)


def from_sums(
    name: str,
    weights: str,
    formula: Formula,
    sums: Sums,
    squares: Callable[[Sums], float],
    level: float,
    least: Callable[[], float],
    why: str,
) -> Coefficient:
    """Compute a coefficient with its linearised interval from the sums over cases only.

    Parameters
    ----------
    name, weights, formula, level, least, why
        See `with_error`.
    sums : Sums
    squares : callable
        Given the derivatives, the sum over cases that `Features.squares` gives.
    """
    n_cases, m, n_annotations = int(sums.rated), int(sums.paired), int(sums.annotations)
    value = float(formula(sums))
    if np.isnan(value):
        return undefined(name, weights, why, m, n_annotations)
    variance = squares(formula.derivatives(sums)) / (n_cases * (n_cases - 1)) if n_cases > 1 else 0.0
    return with_t_interval(name, weights, value, variance, n_cases - 1, m, n_annotations, level, least)


def _mean_shares(counts: ClassCounts, seen: Observed) -> np.ndarray:
    n = np.zeros(counts.n_cases)
    n[seen.rated] = seen.n
    share, _ = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes, counts.times)
    return share / seen.n_rated


def why_certain(n_used: int | np.integer) -> str:
    """Explain why chance alone makes all agree, by how many classes were used."""
    return ONE_CLASS if n_used < 2 else "the weights treat all classes used as equal"


def mostly_of_others(counts: ClassCounts) -> tuple[int, int]:
    """Count cases with two annotations or more, and those that are mostly of other classes than the most common.

    That one is the most common class; of two as common as each other, the one that leaves fewer cases.
    """
    total, half, usable = class_majorities(counts.ptr, counts.class_code, counts.count, counts.n_classes, counts.times)
    return usable, usable - int(half[total == total.max()].max())


def warn_rare_classes(found: Coefficient, counts: ClassCounts, few: int = FEW_OF_OTHERS) -> Coefficient:
    """Add a note on the interval if agreement beyond chance depends on few cases.

    Parameters
    ----------
    found : Coefficient
    counts : ClassCounts
    few : int
        With fewer cases of other classes than the most common the interval is too narrow.
    """
    if found.ci_low is None or not few:
        return found
    usable, others = mostly_of_others(counts)
    if others >= few or found.note == EVERYTHING:
        return found
    note = (
        f"only {others:,} of {usable:,} cases have a majority for a class other than the most common one, so the "
        "interval tends to be too narrow"
    )
    return replace(found, note="; ".join(filter(None, (found.note, note))))
