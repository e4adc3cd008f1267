"""Obuchowski & Rockette's analysis of variance of a complete study, readers and cases random.

``θ_ij = μ + τ_i + R_j + (τR)_ij + ε_ij`` for modality i of t and reader j of r. The errors have a variance and the
covariances Cov1 (other modality, same reader), Cov2 (same modality, other reader) and Cov3 (both differ), by DeLong.
``Var(θ_i. − θ_k.) = 2/r [MS(TR) + r max(Cov2 − Cov3, 0)]``, with Hillis' degrees of freedom
``[MS(TR) + r max(Cov2 − Cov3, 0)]² / (MS(TR)² / ((t − 1)(r − 1)))``. A single modality takes its own readers and Cov2
[Obuchowski & Rockette 1995, DOI 10.1080/03610919508813243; Hillis 2007, DOI 10.1002/sim.2532; Hillis 2014,
DOI 10.1002/sim.5926].
"""

from dataclasses import dataclass

import numpy as np

from .estimates import DifferenceComponents, StudyMoments, pairs_of


@dataclass(frozen=True, slots=True)
class ErrorCovariances:
    """Means of the covariances of errors over a study.

    Attributes
    ----------
    variance : float
        Variance of one reader in one modality.
    cov1, cov2, cov3 : float
        Covariance with other modalities of a reader, with other readers in a modality, and with both.
    """

    variance: float
    cov1: float
    cov2: float
    cov3: float


def mean_covariances(covariance: np.ndarray) -> ErrorCovariances:
    """Average the covariances of errors by what they have in common.

    Parameters
    ----------
    covariance : ndarray, shape (M, R, M, R)
        See `core.studies.accuracy.error_covariance`.
    """
    m, r = covariance.shape[:2]
    everything = float(covariance.sum())
    same_both = float(np.einsum("mrmr->", covariance))
    same_reader = float(np.einsum("mrkr->", covariance)) - same_both
    same_modality = float(np.einsum("mrms->", covariance)) - same_both
    neither = everything - same_both - same_reader - same_modality
    return ErrorCovariances(
        same_both / (m * r),
        same_reader / (m * (m - 1) * r),
        same_modality / (m * r * (r - 1)),
        neither / (m * (m - 1) * r * (r - 1)),
    )


def compute_obuchowski_rockette(values: np.ndarray, covariance: np.ndarray) -> StudyMoments:
    """Analyse a complete study.

    Parameters
    ----------
    values : ndarray, shape (M, R)
        Measure of each reader in each modality; at least two of both.
    covariance : ndarray, shape (M, R, M, R)
        Covariance of their errors.
    """
    n_modalities, n_readers = values.shape
    means = values.mean(axis=1)
    residual = values - means[:, None] - values.mean(axis=0) + values.mean()
    df_interaction = (n_modalities - 1) * (n_readers - 1)
    interaction = float((residual**2).sum()) / df_interaction
    errors = mean_covariances(covariance)
    shared = max(errors.cov2 - errors.cov3, 0.0)
    error = interaction + n_readers * shared
    first, second = pairs_of(n_modalities)
    pairs = np.ones(len(first))
    readers = interaction - errors.variance + errors.cov1 + shared
    spread = values.var(axis=1, ddof=1)
    within = (np.einsum("mrms->m", covariance) - np.einsum("mrmr->m", covariance)) / (n_readers * (n_readers - 1))
    own = spread + n_readers * np.maximum(within, 0.0)
    return StudyMoments(
        reader_value=values,
        reader_variance=np.einsum("mrmr->mr", covariance).copy(),
        value=means,
        variance=own / n_readers,
        df=hillis_df(own, spread, n_readers - 1),
        difference=means[first] - means[second],
        difference_variance=2 / n_readers * error * pairs,
        difference_df=hillis_df(error * pairs, interaction * pairs, df_interaction),
        components=DifferenceComponents(
            2 * readers * pairs, 2 * shared * pairs, 2 * (errors.variance - errors.cov1 - shared) * pairs
        ),
    )


def hillis_df(error: np.ndarray, mean_square: np.ndarray, df: int) -> np.ndarray:
    """Compute the degrees of freedom of ``error``; its part ``mean_square`` with ``df`` is the variance of readers.

    Parameters
    ----------
    error, mean_square : ndarray
    df : int

    Returns
    -------
    ndarray
        Infinite where readers do not vary.
    """
    ratio = np.divide(error, mean_square, out=np.full(np.shape(error), np.inf), where=mean_square > 0)
    found: np.ndarray = df * ratio**2
    return found
