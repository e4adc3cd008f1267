"""Estimates that both methods of a reader study return, before intervals are computed."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceComponents:
    """Parts of the variance of a difference of two modalities, in squared units of the measure.

    Attributes
    ----------
    readers : ndarray, shape (n_pairs,)
        For one reader and infinitely many cases: the interaction of readers and modalities.
    cases : ndarray, shape (n_pairs,)
        For the cases of this study and infinitely many readers.
    rest : ndarray, shape (n_pairs,)
        Variance of one reader and the cases of this study together, beyond both.
    """

    readers: np.ndarray
    cases: np.ndarray
    rest: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class StudyMoments:
    """Estimates, variances and degrees of freedom for one truth.

    Attributes
    ----------
    reader_value, reader_variance : ndarray, shape (n_modalities, n_readers)
        Value and variance of each reader over cases; NaN if a reader read nothing in a modality.
    value, variance, df : ndarray, shape (n_modalities,)
        Mean over readers, its variance and its degrees of freedom.
    difference, difference_variance, difference_df : ndarray, shape (n_pairs,)
        Difference of each pair of modalities, the first less the second, in the order of `pairs_of`.
    components : DifferenceComponents
        Components of the differences.
    replaced : int
        Variances that were negative and were replaced by the estimate that cannot be, for U-statistics.
    """

    reader_value: np.ndarray
    reader_variance: np.ndarray
    value: np.ndarray
    variance: np.ndarray
    df: np.ndarray
    difference: np.ndarray
    difference_variance: np.ndarray
    difference_df: np.ndarray
    components: DifferenceComponents
    replaced: int = 0


def pairs_of(n_modalities: int) -> tuple[np.ndarray, np.ndarray]:
    """Return places of the first and second modality of each pair."""
    return np.triu_indices(n_modalities, 1)
