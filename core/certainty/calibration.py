"""Whether probabilities of being right come true: binary log loss, expected calibration error, reliability diagram."""

from dataclasses import dataclass

import numpy as np

from core.agreement.intervals import wilson
from core.seeds import case_seeds

N_BINS = 10
N_BOOTSTRAP = 500
LEAST_DOUBT = 1e-3  # no certainty is taken for more than .999, what 1,000 draws can tell: a mistake costs 6.9 nats
Z = 1.959963984540054


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Cases of about one certainty.

    Attributes
    ----------
    low, high : float
        Ends of the bin.
    n : int
    certainty, right : float
        Mean certainty, and share of cases whose top-1 class is the truth.
    right_low, right_high : float
        95 % Wilson interval of ``right``.
    """

    low: float
    high: float
    n: int
    certainty: float
    right: float
    right_low: float
    right_high: float


def binary_log_loss(doubt: np.ndarray, right: np.ndarray, least_doubt: float = LEAST_DOUBT) -> np.ndarray:
    """Binary log loss of "the top-1 class is the truth" for each case; doubt is 1 − its probability."""
    doubt = np.clip(doubt, least_doubt, 1.0)
    sure = np.maximum(1 - doubt, least_doubt)
    return -(right * np.log(sure) + (1 - right) * np.log(doubt))


def _bin_of(certainty: np.ndarray) -> np.ndarray:
    return np.clip(np.ceil(certainty * N_BINS - 1e-12).astype(int) - 1, 0, N_BINS - 1)


def expected_calibration_error(certainty: np.ndarray, right: np.ndarray) -> float:
    """Σ over ten equal bins of share of cases · |mean certainty − share right|."""
    gaps = np.bincount(_bin_of(certainty), right - certainty, N_BINS)
    return float(np.abs(gaps).sum() / len(certainty))


def reliability_bins(certainty: np.ndarray, right: np.ndarray) -> tuple[ReliabilityBin, ...]:
    """Ten equal bins of certainty, those that hold cases."""
    place = _bin_of(certainty)
    found = []
    for number in np.unique(place):
        here = place == number
        n, share = int(here.sum()), float(right[here].mean())
        ends = wilson(share, n, Z)
        found.append(
            ReliabilityBin(number / N_BINS, (number + 1) / N_BINS, n, float(certainty[here].mean()), share, *ends)
        )
    return tuple(found)


def calibration_error_interval(certainty: np.ndarray, right: np.ndarray, ids: list[str], seed: int):
    """Bootstrap over cases: percentiles of the ECE, for each point; Poisson weights by the case's own seed."""
    weight = np.array(
        [np.random.default_rng(one).poisson(1.0, N_BOOTSTRAP) for one in case_seeds(seed, ids, "truth bootstrap")],
        np.float64,
    ).T
    total = np.maximum(weight.sum(axis=1), 1.0)
    ends = np.empty((2, len(certainty)))
    for point, (sure, hit) in enumerate(zip(certainty, right, strict=True)):
        gap = np.zeros((len(sure), N_BINS))
        gap[np.arange(len(sure)), _bin_of(sure)] = hit - sure
        ends[:, point] = np.quantile(np.abs(weight @ gap).sum(axis=1) / total, (0.025, 0.975))
    return ends
