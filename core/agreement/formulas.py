"""Formulas of coefficients of single classes, as functions of sums over cases.

Everything else follows from that function. Its value comes from the sums over all cases; its error from its derivatives
and from what each case adds to the sums (`core.agreement.linearised`); resamples, raters left out, pairs of raters and
partitions give it other sums.

Derivatives are taken by a complex step, which loses no digit: Squire & Trapp (1998), DOI 10.1137/S003614459631241X.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np

from ._bootstrap_kernels import quadratic_forms

ALL = 1 - 1e-12
FEW_OF_OTHERS, FEW_OF_OTHERS_AC1 = 8, 5
"""95% intervals of kappa and alpha (linearised or percentile bootstrap) contain the true value in fewer than 93% of
datasets if fewer cases than this have a majority for a class other than the most common one
(``tests/benchmarks/coverage.py``). The second number is for AC1."""
_STEP = 1e-50


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Sums over cases, one number each or arrays of one shape: of resamples, raters or pairs of raters.

    Attributes
    ----------
    observed : float or ndarray
        Over cases with two annotations or more: their share of agreeing pairs, by weight. For alpha the distances of
        their ordered pairs of annotations, over the number of annotations less one.
    paired, rated : float or ndarray
        Cases with two annotations or more, and with any.
    annotations : float or ndarray
        Number of annotations on the paired cases.
    chance : float or ndarray
        Agreement by chance; for alpha the mean distance of two draws.
    """

    observed: Any
    paired: Any
    rated: Any
    annotations: Any
    chance: Any = 0.0

    @property
    def cases(self) -> Any:
        """Share of rated cases that are paired; Gwet's errors treat it as known."""
        rated = np.real(self.rated)
        return np.real(self.paired) + (self.rated - rated) * (np.real(self.paired) / rated)


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Comparison of two draws from the classes by ``constant + factor · weight``; identity without a matrix.

    Attributes
    ----------
    constant, factor : float
    matrix : ndarray of float64, shape (n_classes, n_classes), or None
        Symmetric.
    least : float
        A mean of this or less is 0: it is what rounding leaves.
    """

    constant: float
    factor: float
    matrix: np.ndarray | None = None
    least: float = 0.0

    def mean(self, share: np.ndarray) -> Any:
        """Compute the mean over two draws from class shares of shape (n_classes,) or (n_classes, n_resamples)."""
        if self.matrix is None or share.ndim == 1:
            mean = (share * self.to_all(share)).sum(axis=0)
        else:
            forms = np.zeros(share.shape[1])
            quadratic_forms(self.matrix, np.ascontiguousarray(share)[None], forms)
            mean = self.constant + self.factor * forms
        return np.where(mean > self.least, mean, 0.0)[()] if self.least else mean

    def to_all(self, share: np.ndarray) -> np.ndarray:
        """Compute the mean of each class to a draw from the classes, of the shape of ``share``."""
        return self.constant + self.factor * (share if self.matrix is None else self.matrix @ share)


@dataclass(frozen=True, slots=True)
class Formula:
    """Coefficient as a function of sums.

    Attributes
    ----------
    value : callable
        Takes `Sums` and gives the coefficient, NaN if it is undefined.
    chance : callable or None
        How two draws are compared by chance, from the number of declared classes and the matrix of weights or None.
        Only for "cases" and "annotations".
    of : {"none", "cases", "annotations", "raters", "other cases"}
        Whose class shares chance is drawn from: means over annotated cases; all annotations of paired cases, the only
        ones that then count at all; those of each of two raters; or the annotations of two different cases.
    linear : callable or None
        What the error is of, where that is not ``value``.
    by_size : bool
        True if cases are weighted by their number of annotations (`core.agreement.probability.SPA_WEIGHTINGS`):
        then ``paired`` and ``rated`` are sums of these weights.
    highest_chance : callable or None
        Bound of agreement by chance, from the same as ``chance``; if there is none, the least value of the
        coefficient follows from chance as it was observed.
    needs_classes : int
        Smallest number of declared classes.
    few_of_others : int
        See `FEW_OF_OTHERS`; 0 where intervals hold with any.
    of_pairs : bool
        True if a matrix of pairs of raters offers it.
    """

    value: Callable[[Sums], Any]
    chance: Callable[[int, np.ndarray | None], Draws] | None = None
    of: Literal["none", "cases", "annotations", "raters", "other cases"] = "cases"
    linear: Callable[[Sums], Any] | None = None
    by_size: bool = False
    highest_chance: Callable[[int, np.ndarray | None], float] | None = None
    needs_classes: int = 1
    few_of_others: int = FEW_OF_OTHERS
    of_pairs: bool = False

    def __call__(self, sums: Sums) -> Any:
        """Compute the coefficient, of the shape of the sums; NaN if it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.value(sums)

    def derivative(self, sums: Sums, **adds: float) -> Any:
        """Compute the change of the coefficient by a case.

        Parameters
        ----------
        sums : Sums
        **adds : float
            Contributions of the case to sums, by their names.
        """
        moved = replace(sums, **{name: getattr(sums, name) + 1j * _STEP * step for name, step in adds.items()})
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.imag((self.linear or self.value)(moved)) / _STEP

    def derivatives(self, sums: Sums) -> Sums:
        """Compute the derivative to each of the sums."""
        return Sums(*(self.derivative(sums, **{field.name: 1.0}) for field in fields(Sums)))


def raw_agreement(sums: Sums) -> Any:
    """Compute the mean share of agreeing pairs."""
    return sums.observed / sums.cases


def beyond_chance(sums: Sums) -> Any:
    """Compute ``(p_a − p_e)/(1 − p_e)``, NaN if chance alone makes all agree."""
    p_e = sums.chance
    excess = sums.observed / sums.cases - sums.paired / sums.cases * p_e
    return np.where(np.real(p_e) < ALL, excess / (1 - p_e), np.nan)[()]


def alpha(sums: Sums) -> Any:
    """Compute ``1 − (1 − 1/N) D_o/D_e``, NaN if no two draws differ."""
    within = sums.observed / sums.annotations / sums.chance
    return np.where(np.real(sums.chance) > 0, 1 - (1 - 1 / sums.annotations) * within, np.nan)[()]


def alpha_of_many(sums: Sums) -> Any:
    """Compute alpha without its correction for small samples, as in Gwet's error."""
    per_case = sums.annotations / sums.cases
    now = np.real(per_case)
    per_case = now + (per_case - now) * (1 - 1 / np.real(sums.annotations))
    return 1 - sums.observed / sums.cases / per_case / sums.chance


def chance_of_raters(share: np.ndarray, n_raters: Any, matrix: np.ndarray | None) -> Any:
    """Compute the agreement of two draws, each from the class shares of another rater.

    Parameters
    ----------
    share : ndarray of float64, shape (n_raters, n_classes, n_resamples)
        0 for raters without annotations.
    n_raters : int or ndarray, shape (n_resamples,)
        Raters with annotations.
    matrix : ndarray, shape (n_classes, n_classes), or None
        Weights; identity without.
    """
    if matrix is None:
        own, all_draws = np.square(share).sum(axis=(0, 1)), np.square(share.sum(axis=0)).sum(axis=0)
    else:
        own, all_draws = np.zeros(share.shape[2]), np.zeros(share.shape[2])
        quadratic_forms(matrix, share, own)
        quadratic_forms(matrix, share.sum(axis=0)[None], all_draws)
    return (all_draws - own) / (n_raters * (n_raters - 1))


def slopes_of_raters(table: np.ndarray, matrix: np.ndarray | None) -> tuple[Any, np.ndarray]:
    """Compute `chance_of_raters`, and each annotation's contribution, from how often each rater gave each class.

    Parameters
    ----------
    table : ndarray of int64, shape (n_raters, n_classes, n_pairs)
    matrix : ndarray, shape (n_classes, n_classes), or None

    Returns
    -------
    chance : ndarray, shape (n_pairs,)
    slope : ndarray, shape (n_raters, n_classes, n_pairs)
    """
    n = table.sum(axis=1)
    n_raters = np.count_nonzero(n, axis=0)
    share = table / np.maximum(n, 1)[:, None]
    others = share.sum(axis=0) - share
    if matrix is not None:
        others = np.moveaxis(np.tensordot(others, matrix, (1, 0)), -1, 1)
    others /= np.maximum(n_raters * (n_raters - 1), 1)
    own = np.einsum("gkt,gkt->gt", share, others)
    others -= own[:, None]
    others *= 2 / np.maximum(n, 1)[:, None]
    return own.sum(axis=0), others
