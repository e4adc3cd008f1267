"""Rubin's rules, which pool estimates for several draws of the truth.

``T = W + (1 + 1/S) B`` from the mean variance W and the variance B of S estimates, with the degrees of freedom of
Barnard & Rubin (1999), DOI 10.1093/biomet/86.4.948, whose complete-data degrees of freedom are those of the study's own
analysis (Hillis').
"""

import numpy as np


def pool(value: np.ndarray, variance: np.ndarray, df: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pool estimates of several draws of the truth.

    Parameters
    ----------
    value, variance, df : ndarray, shape (n_draws, ...)
        Value, variance and degrees of freedom of each draw; at least two draws.

    Returns
    -------
    value, variance, df : ndarray, shape (...)
    """
    n = len(value)
    within, between = variance.mean(axis=0), (1 + 1 / n) * value.var(axis=0, ddof=1)
    total = within + between
    share = np.divide(between, total, out=np.zeros_like(total), where=total > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        complete = 1 / np.mean(1 / df, axis=0)  # harmonic: a single draw can have almost unlimited ones
        drawn = (n - 1) / share**2
        observed = np.where(np.isinf(complete), np.inf, (complete + 1) / (complete + 3) * complete) * (1 - share)
        found = 1 / (1 / drawn + 1 / observed)
    return value.mean(axis=0), total, found
