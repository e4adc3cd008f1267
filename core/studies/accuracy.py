"""Contributions of cases to a measure of each reader in each modality.

AUC by Wilcoxon, with the placements of DeLong, DeLong & Clarke-Pearson (1988), DOI 10.2307/2531595; sensitivity and
specificity as means of correct decisions at a threshold. A measure is the mean of its contributions over one kind of
cases, and its covariances are those of the contributions.
"""

from typing import Literal, get_args

import numpy as np

from ._mrmc_kernels import placements
from .study import ReadingStudy

Measure = Literal["auc", "sensitivity", "specificity"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
TITLES: dict[Measure, str] = {"auc": "AUC", "sensitivity": "Sensitivity", "specificity": "Specificity"}


def contributions(
    study: ReadingStudy, truth: np.ndarray, measure: Measure, threshold: float | None
) -> tuple[np.ndarray, ...]:
    """Compute contributions by kind of cases: with and without the condition for the AUC, one kind for the others.

    Parameters
    ----------
    study : ReadingStudy
    truth : ndarray of int8, shape (n_cases,)
    measure : {"auc", "sensitivity", "specificity"}
    threshold : float, optional
        Scores at or above it are positive; of sensitivity and specificity.

    Returns
    -------
    tuple of ndarray, shape (n_modalities * n_readers, n_cases of the kind)
        NaN where a case was not read. The mean of each row is the measure.
    """
    positive, negative = _fields(study, truth == 1), _fields(study, truth == 0)
    if measure == "auc":
        return placements(positive, negative, True), placements(negative, positive, False)
    if measure == "sensitivity":
        return (decisions(positive, threshold, True),)
    return (decisions(negative, threshold, False),)


def values_by_reader(parts: tuple[np.ndarray, ...], shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Compute each reader's measure in each modality and its variance over cases; NaN if a reader read nothing.

    Parameters
    ----------
    parts : tuple of ndarray
        See `contributions`.
    shape : tuple of int
        (n_modalities, n_readers).
    """
    variance = np.zeros(shape)
    for part in parts:
        n = (~np.isnan(part)).sum(axis=1)
        mean = np.divide(np.nansum(part, axis=1), n, out=np.full(len(part), np.nan), where=n > 0)
        square = np.nansum((part - mean[:, None]) ** 2, axis=1)
        spread = np.divide(square, (n - 1.0) * n, out=np.full(len(part), np.nan), where=n > 1)
        variance += spread.reshape(shape)
    n = (~np.isnan(parts[0])).sum(axis=1)
    mean = np.divide(np.nansum(parts[0], axis=1), n, out=np.full(len(parts[0]), np.nan), where=n > 0)
    return mean.reshape(shape), variance


def error_covariance(parts: tuple[np.ndarray, ...], shape: tuple[int, int]) -> np.ndarray:
    """Compute the covariance over cases of the measures, (M, R, M, R); all readers must have read every case.

    Parameters
    ----------
    parts : tuple of ndarray
        See `contributions`.
    shape : tuple of int
        (n_modalities, n_readers).
    """
    total = np.zeros((shape[0] * shape[1],) * 2)
    for part in parts:
        total += np.atleast_2d(np.cov(part)) / part.shape[1]
    return total.reshape(*shape, *shape)


def decisions(scores: np.ndarray, threshold: float | None, positive: bool) -> np.ndarray:
    """Return 1 for a correct decision at the threshold, 0 for a wrong one, NaN if the case was not read.

    Parameters
    ----------
    scores : ndarray of float64
    threshold : float, optional
        Required; scores at or above it are positive.
    positive : bool
        True if the cases have the condition.
    """
    correct = (scores >= threshold) == positive
    return np.where(np.isnan(scores), np.nan, correct)


def _fields(study: ReadingStudy, of: np.ndarray) -> np.ndarray:
    """Return scores of some cases, one row per modality and reader."""
    return np.ascontiguousarray(study.scores[:, :, of].reshape(-1, int(of.sum())))
