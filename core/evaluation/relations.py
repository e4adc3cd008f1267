"""How certainty goes with other things: agreement left one out, and another model."""

from dataclasses import dataclass

import numpy as np

from ..correlation import fisher_interval
from ..result_base import Result


@dataclass(frozen=True, slots=True, repr=False)
class Relation(Result):
    """A least-squares line and Pearson's correlation with its 95% interval (Fisher's transformation).

    Attributes
    ----------
    intercept, slope, correlation : float or None
        None where fewer than three pairs or no spread allow none.
    ci_low, ci_high : float or None
        None with fewer than four pairs.
    n : int
    """

    intercept: float | None
    slope: float | None
    correlation: float | None
    ci_low: float | None
    ci_high: float | None
    n: int


def relation(x: np.ndarray, y: np.ndarray) -> Relation:
    """Line and correlation of two arrays of the same length."""
    n = len(x)
    if n < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Relation(None, None, None, None, None, n)
    slope = float(np.cov(x, y)[0, 1] / np.var(x, ddof=1))
    r = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    low, high = (None if np.isnan(end) else float(end) for end in fisher_interval(np.array(r), np.array(n), 0.025))
    return Relation(float(y.mean() - slope * x.mean()), slope, r, low, high, n)
