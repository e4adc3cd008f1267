"""Weightings of cases for the sparse probability of agreement: their weights, and the one with the least variance.

Nørregaard & Derczynski, Sparse Probability of Agreement (2022), sections 5 and 6: figures 4 and 5 show weights by the
number of annotations, figure 7 and table 1 the variance under each weighting on their data.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from .intervals import Coefficient
from .linearised import as_counts
from .probability import SPA_WEIGHTINGS, case_agreement, paired_shares, spa, weights_of_sizes

N_RESAMPLES = 500
_SAME = 1e-9  # errors of shares that differ by rounding only


@dataclass(frozen=True, slots=True, eq=False)
class WeightingComparison:
    """SPA under each weighting.

    Attributes
    ----------
    weightings : tuple of str
    values : tuple of Coefficient
        SPA under each, with its standard error.
    p_least : ndarray, shape (n_weightings,)
        Share of bootstrap samples of cases in which its standard error is the least, ties shared; NaN if standard
        errors cannot be compared.
    sizes : ndarray of int64
        Numbers of annotations, 2 to the largest of a case.
    class_shares : ndarray, shape (n_classes,)
        Shares of classes in the annotations of cases with two or more.
    """

    weightings: tuple[str, ...]
    values: tuple[Coefficient, ...]
    p_least: np.ndarray
    sizes: np.ndarray
    class_shares: np.ndarray

    def curve(self, weighting: str, class_shares: np.ndarray | None = None) -> np.ndarray:
        """Return the weight of a case by its number of annotations, the largest 1; see `weight_curve`."""
        shares = self.class_shares if class_shares is None else class_shares
        return weight_curve(weighting, self.sizes, shares)


def weight_curve(weighting: str, sizes: np.ndarray, class_shares: np.ndarray) -> np.ndarray:
    """Compute the weight of a case by its number of annotations; the largest is 1 [SPA, figures 4 and 5].

    Parameters
    ----------
    weighting : str
        One of `SPA_WEIGHTINGS`.
    sizes : ndarray
        Numbers of annotations, 2 or more.
    class_shares : ndarray, shape (n_classes,)
        Class distribution, on which only ``inv_var_class`` depends.
    """
    weight = weights_of_sizes(np.asarray(sizes, np.float64), weighting, class_shares)
    return weight / weight.max()


def compare_weightings(data: ClassCounts | Dataset, seed: int = 0) -> WeightingComparison:
    """Compute SPA with its standard error under all weightings, and how often each error is the least in resamples.

    Parameters
    ----------
    data : ClassCounts or Dataset
    seed : int
        Seed of the bootstrap.

    Raises
    ------
    NotApplicableError
        No case has two annotations.
    """
    counts = as_counts(data)
    agreement, n = case_agreement(counts)
    usable = n >= 2
    if not usable.any():
        raise NotApplicableError("Cannot compare weightings: no case has two annotations.")
    shares = paired_shares(counts, n)
    known = np.column_stack([n, agreement.round(12)])[usable]  # which cases are alike depends on no rounding
    pairs, times = np.unique(known, axis=0, return_counts=True)
    weights = np.array([weights_of_sizes(pairs[:, 0], name, shares) for name in SPA_WEIGHTINGS])
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(times.sum(), times / times.sum(), N_RESAMPLES)
    errors = np.array([_errors(weight, pairs[:, 1], drawn) for weight in weights])
    least = errors <= errors.min(axis=0) + _SAME
    differ = np.ptp(pairs[:, 0]) > 0 and times.sum() > 1 and (np.ptp(errors, axis=0) > _SAME).any()
    p_least = (least / least.sum(axis=0)).mean(axis=1) if differ else np.full(len(weights), np.nan)
    return WeightingComparison(
        SPA_WEIGHTINGS,
        tuple(spa(counts, name) for name in SPA_WEIGHTINGS),
        p_least,
        np.arange(2, int(n[usable].max()) + 1),
        shares,
    )


def _errors(weight: np.ndarray, agreement: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Jackknife errors of resamples, shape (n_resamples,), in which each kind of case appears ``drawn`` times."""
    share = weight / (drawn @ weight)[:, None]
    p = (drawn * share) @ agreement
    moved = share * (agreement - p[:, None]) / np.maximum(1 - share, 1e-12)
    n = drawn.sum(axis=1)
    return np.sqrt((n - 1) / n * (drawn * moved**2).sum(axis=1))
