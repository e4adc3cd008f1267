"""Intervals of Pearson's correlation."""

import numpy as np

_ROUNDING = 1e-9  # of a correlation; 1 and -1 have no interval


def fisher_interval(correlation: np.ndarray, n: np.ndarray, tail: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval by Fisher's transformation.

    Parameters
    ----------
    correlation, n : np.ndarray
        Correlations, -1 to 1 or NaN, and their numbers of pairs; the same shape.
    tail : float
        Probability beyond either end.

    Returns
    -------
    low, high : np.ndarray
        Ends; NaN below four pairs, and if the correlation is 1 or -1 up to rounding, because such a sample gives no
        bound.

    Source: Fisher (1921), Metron 1, 3-32.
    """
    from scipy.special import ndtri

    r, n = np.asarray(correlation, float), np.asarray(n, float)
    with np.errstate(invalid="ignore"):
        r = np.where((np.abs(r) <= 1 - _ROUNDING) & (n > 3), r, np.nan)
    middle, reach = np.arctanh(r), ndtri(1 - tail) / np.sqrt(np.maximum(n - 3, 1))
    return np.tanh(middle - reach), np.tanh(middle + reach)
