"""Tests of which of several estimates is clearly the least or the most, for titles that name one.

An estimate is named if the interval of its difference to every other one excludes 0. That interval is computed from the
two intervals that face each other: the distance of the ends is √(arm² + arm²), as for independent estimates [Zou &
Donner (2008), DOI 10.1002/sim.3095]. For positively correlated estimates it is too wide, and names fewer.

The number of candidates needs no correction: if the runner-up, or several of them, equals the least, the probability
that the wrong one is named is at most 1 minus the level of the intervals, and lower with more candidates [Hung &
Fithian (2019), DOI 10.1214/17-AOS1697]. `tests/benchmarks/equal_estimates.py` has simulated rates.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

Ends = Sequence[float | None] | np.ndarray


def clearly_least(value: Ends, low: Ends, high: Ends) -> int | None:
    """Return the position of the estimate that is clearly below every other one; None if there is none.

    Parameters
    ----------
    value, low, high : sequence of float, length n
        Estimates with the ends of their intervals. NaN or None means no estimate, which then is not a candidate; an
        estimate without an interval, or with one of zero width, cannot be compared, so none is named.
    """
    estimate, below, above = (np.array(ends, float) for ends in (value, low, high))
    known = np.flatnonzero(np.isfinite(estimate))
    if known.size < 2:
        return None
    first = int(known[estimate[known].argmin()])
    others = known[known != first]
    arms = np.hypot(above[first] - estimate[first], estimate[others] - below[others])
    bounded = above[known] > below[known]  # False of NaN
    return first if bounded.all() and (estimate[others] - estimate[first] > arms).all() else None


def clearly_most(value: Ends, low: Ends, high: Ends) -> int | None:
    """Return the position of the estimate that is clearly above every other one; None if there is none.

    Parameters
    ----------
    value, low, high : sequence of float, length n
        See `clearly_least`.
    """
    return clearly_least(*(-np.array(ends, float) for ends in (value, high, low)))


def clearly_apart(value: Ends, low: Ends, high: Ends) -> bool:
    """Return whether the largest and the smallest estimate differ by more than chance explains for any two.

    The arms are those of 95% intervals, widened for the range of so many normal estimates as by Tukey and Kramer
    [Kramer, Extension of multiple range tests to group means with unequal numbers of replications (1956)].

    Parameters
    ----------
    value, low, high : sequence of float, length n
        See `clearly_least`.
    """
    estimate, below, above = (np.array(ends, float) for ends in (value, low, high))
    known = np.flatnonzero(np.isfinite(estimate) & (above > below))
    if known.size < 2:
        return False
    first, last = known[estimate[known].argmin()], known[estimate[known].argmax()]
    arms = np.hypot(above[first] - estimate[first], estimate[last] - below[last])
    return bool(estimate[last] - estimate[first] > _range_of(known.size) / _range_of(2) * arms)


@lru_cache(maxsize=256)
def _range_of(n: int) -> float:
    """Return the 95% quantile of the range of n standard normal numbers, by bisection of its distribution."""
    from scipy.special import ndtr

    z = np.linspace(-9, 9, 3001)
    density = n * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])
    low, high = 0.0, 15.0
    for _ in range(50):
        middle = (low + high) / 2
        below = float((density * (ndtr(z) - ndtr(z - middle)) ** (n - 1)).sum())
        low, high = (middle, high) if below < 0.95 else (low, middle)
    return low


def clearly_most_cases(share: Ends, n: int, level: float = 0.95) -> int | None:
    """Return the position of the class that clearly most of n cases have, from shares with sum ≤ 1; None if none.

    Shares of the same cases fall as others rise, so intervals are inconclusive: of the cases of the two most frequent
    classes each has half if they are equally frequent. A tied case counts in parts.

    Parameters
    ----------
    share : sequence of float, length n_classes
    n : int
        Number of cases.
    level : float
        One minus the two-sided level of the test.
    """
    from scipy.special import betainc

    count = np.array(share, float) * n
    if count.size < 2:
        return 0 if n else None
    order = np.argsort(-count, kind="stable")
    a, b = count[order[:2]].tolist()
    # P(a or more of a + b) of a fair coin, by its continuation between whole numbers.
    return int(order[0]) if a > b and 2 * float(betainc(a, b + 1, 0.5)) <= 1 - level else None
