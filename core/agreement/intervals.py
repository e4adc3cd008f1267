"""Coefficients with their uncertainty, and the intervals for them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..result_base import Result

NO_ERROR = 1e-12
Z95 = 1.959963984540054  # Number of standard errors to each end of a 95% interval.
EVERYTHING = "too few cases: the interval covers the whole range of the coefficient"
WITHOUT_ERROR = "no interval: the estimated standard error is 0"


class IntervalEstimate(NamedTuple):
    """Value with its interval, NaN if undefined.

    Attributes
    ----------
    value, low, high : float
    """

    value: float
    low: float
    high: float


UNDEFINED = IntervalEstimate(float("nan"), float("nan"), float("nan"))


def percentile_interval(value: float, replicates: np.ndarray, level: float) -> IntervalEstimate:
    """Compute percentiles of resampled values around a value; replicates that are NaN do not count.

    Parameters
    ----------
    value : float
    replicates : ndarray, shape (n_replicates,)
    level : float
        0 to 1.
    """
    known = replicates[np.isfinite(replicates)]
    if not known.size or not np.isfinite(value):
        return IntervalEstimate(float(value), float("nan"), float("nan"))
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(known, [tail, 100 - tail])
    return IntervalEstimate(float(value), float(min(low, value)), float(max(high, value)))


@dataclass(frozen=True, slots=True, repr=False)
class Coefficient(Result):
    """Coefficient with its uncertainty. Undefined values are None, with the reason in ``note``.

    Attributes
    ----------
    name, weights : str
        Names of the coefficient, and of its weights or weighting.
    value, se, ci_low, ci_high : float or None
    n_cases : int
        Number of cases used.
    n_annotations : int
        Number of their annotations.
    note : str
        Reason why a value is undefined, or a caution; empty otherwise.
    """

    name: str
    weights: str
    value: float | None
    se: float | None
    ci_low: float | None
    ci_high: float | None
    n_cases: int
    n_annotations: int
    note: str = ""

    @property
    def arms(self) -> tuple[float, float]:
        """Distances from the value to both ends of the interval; 0 and 0 if there is none."""
        if self.value is None or self.ci_low is None or self.ci_high is None:
            return 0.0, 0.0
        return self.value - self.ci_low, self.ci_high - self.value

    TABLES = ("coefficient",)
    COLUMNS = ("name", "weights", "value", "se", "ci_low", "ci_high", "n_cases", "n_annotations", "note")


def undefined(name: str, weights: str, why: str, n_cases: int = 0, n_annotations: int = 0) -> Coefficient:
    """Build a coefficient without a value, with the reason.

    Parameters
    ----------
    name, weights : str
        See `Coefficient`.
    why : str
        Reason, without a full stop.
    n_cases, n_annotations : int
    """
    return Coefficient(name, weights, None, None, None, None, n_cases, n_annotations, f"undefined: {why}")


def with_t_interval(
    name: str,
    weights: str,
    value: float,
    variance: float,
    df: int,
    n_cases: int,
    n_annotations: int,
    level: float,
    least: Callable[[], float],
) -> Coefficient:
    """Compute value ± t·SE, cut at 1 and at the smallest possible value of the coefficient.

    No interval below one degree of freedom, and none where the estimated standard error is 0: an interval without width
    would be more certain than any data.

    Parameters
    ----------
    name, weights : str
        See `Coefficient`.
    value, variance : float
        Estimate and its variance.
    df : int
        Degrees of freedom of t.
    n_cases, n_annotations : int
    level : float
        Confidence level of the interval, 0 to 1.
    least : callable
        Gives that value, 0 or less; called where the interval reaches below 0. See `core.agreement.ranges`.
    """
    from scipy.special import stdtrit

    if df < 1:
        return Coefficient(
            name,
            weights,
            value,
            None,
            None,
            None,
            n_cases,
            n_annotations,
            "no interval: there is only one case",
        )
    value, se = min(1.0, value), float(np.sqrt(variance))
    if se <= NO_ERROR:
        return Coefficient(name, weights, value, None, None, None, n_cases, n_annotations, WITHOUT_ERROR)
    half = float(stdtrit(df, (1 + level) / 2)) * se
    low, high = value - half, min(1.0, value + half)
    note = few_cases(n_cases)
    if low < 0 and low <= (lowest := min(value, least())):
        low, note = lowest, EVERYTHING if high == 1 else note
    return Coefficient(name, weights, value, se, low, high, n_cases, n_annotations, note)


def few_cases(n_cases: int) -> str:
    """Return the note on an interval from fewer than 20 cases."""
    return "there are few cases, so the interval is rough" if n_cases < 20 else ""


def wilson(p: float, n_eff: float, t: float) -> tuple[float, float]:
    """Compute Wilson's interval for a probability from ``n_eff`` effective observations and quantile ``t``.

    Parameters
    ----------
    p : float
        The share, 0 to 1.
    n_eff : float
        Effective observations, above 0.
    t : float
        Quantile of the normal or of Student's t.
    """
    t2 = t * t
    centre = p + t2 / (2 * n_eff)
    half = t * np.sqrt(p * (1 - p) / n_eff + t2 / (4 * n_eff * n_eff))
    scale = 1 + t2 / n_eff
    low, high = max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
    # At the ends exactly: what a rounding error leaves would be told as "over 99%".
    return float(low if p > 0 else 0.0), float(high if p < 1 else 1.0)


@dataclass(frozen=True, slots=True)
class Share:
    """Share of cases with its interval, count and n."""

    value: float
    low: float
    high: float
    n: int


def share_of(count: float, n: int) -> Share:
    """Compute the share of ``count`` among ``n`` cases, with Wilson's 95% interval; ties may give fractions."""
    return Share(count / n, *wilson(count / n, n, Z95), n)
