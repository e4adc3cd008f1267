"""Calibration of probabilities of being correct: binary log loss, expected calibration error, reliability diagram."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Z95, wilson
from ..result_base import Result
from ..runtime.seeds import case_seeds

N_BINS = 10
N_BOOTSTRAP = 500
LEAST_DOUBT = 1e-3  # Certainty counts as 0.999 at most, which is what 1,000 draws can show: a mistake costs 6.9 nats.
_CHUNK = 1000


@dataclass(frozen=True, slots=True, repr=False)
class ReliabilityBin(Result):
    """One bin of cases with similar certainty.

    Attributes
    ----------
    low, high : float
        Ends of the bin.
    n : int
    certainty, right : float
        Mean certainty, and share of cases whose top-1 class is the truth.
    right_low, right_high : float
        95% Wilson interval of ``right``.
    """

    low: float
    high: float
    n: int
    certainty: float
    right: float
    right_low: float
    right_high: float


def binary_log_loss(doubt: np.ndarray, right: np.ndarray, least_doubt: float = LEAST_DOUBT) -> np.ndarray:
    """Compute the binary log loss of "the top-1 class is the truth" for each case.

    Parameters
    ----------
    doubt : ndarray, shape (n_cases,)
        1 − the probability of the top-1 class.
    right : ndarray of bool or float, shape (n_cases,)
        True, or 1, if the top-1 class is the truth.
    least_doubt : float
        Smallest value that the probability and the doubt count as, so that the loss stays finite.

    Returns
    -------
    ndarray, shape (n_cases,)
        Loss in nats.
    """
    doubt = np.clip(doubt, least_doubt, 1.0)
    sure = np.maximum(1 - doubt, least_doubt)
    return -(right * np.log(sure) + (1 - right) * np.log(doubt))


def _bin_of(certainty: np.ndarray) -> np.ndarray:
    return np.clip(np.ceil(certainty * N_BINS - 1e-12).astype(int) - 1, 0, N_BINS - 1)


def expected_calibration_error(certainty: np.ndarray, right: np.ndarray) -> float:
    """Compute the sum over ten equal bins of share of cases · |mean certainty − share correct|."""
    gaps = np.bincount(_bin_of(certainty), right - certainty, N_BINS)
    return float(np.abs(gaps).sum() / len(certainty))


def reliability_bins(certainty: np.ndarray, right: np.ndarray) -> tuple[ReliabilityBin, ...]:
    """Compute ten equal bins of certainty, and return those with cases."""
    place = _bin_of(certainty)
    found = []
    for number in np.unique(place):
        here = place == number
        n, share = int(here.sum()), float(right[here].mean())
        ends = wilson(share, n, Z95)
        found.append(
            ReliabilityBin(number / N_BINS, (number + 1) / N_BINS, n, float(certainty[here].mean()), share, *ends)
        )
    return tuple(found)


def calibration_error_interval(
    certainty: np.ndarray, right: np.ndarray, ids: Sequence[str], seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Bootstrap 95% percentile intervals of the ECE over cases, each weighted by Poisson draws of its own seed.

    Parameters
    ----------
    certainty, right : ndarray, shape (n_points, n_cases)
    ids : sequence of str, length n_cases
    seed : int

    Returns
    -------
    low, high : ndarray, shape (n_points,)
    """
    n_points, n_cases = certainty.shape
    seeds = case_seeds(seed, ids, "truth bootstrap")
    sums, total = np.zeros((N_BOOTSTRAP, n_points * N_BINS)), np.zeros(N_BOOTSTRAP)
    offset = np.arange(n_points)[:, None] * N_BINS
    for start in range(0, n_cases, _CHUNK):
        part = slice(start, min(start + _CHUNK, n_cases))
        weight = np.array([np.random.default_rng(one).poisson(1.0, N_BOOTSTRAP) for one in seeds[part]], np.float64)
        gap = np.zeros((len(weight), n_points * N_BINS))
        gap[np.arange(len(weight)), _bin_of(certainty[:, part]) + offset] = (right - certainty)[:, part]
        sums += weight.T @ gap
        total += weight.sum(axis=0)
    error = np.abs(sums).reshape(N_BOOTSTRAP, n_points, N_BINS).sum(axis=2) / np.maximum(total, 1.0)[:, None]
    low, high = np.quantile(error, (0.025, 0.975), axis=0)
    return low, high
