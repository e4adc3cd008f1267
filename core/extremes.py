"""Which of several estimates is clearly the least or the most: what every title that names one asks.

An estimate is named where the interval of its difference to every other one leaves out 0. That interval is put together
from the two intervals that face each other: the distance of the ends is √(arm² + arm²), as of independent estimates
[Zou & Donner (2008), DOI 10.1002/sim.3095]. Of estimates that rise and fall together it is too wide, and names less.

The number of candidates needs no correction: where the runner-up is the least as well, or more of them, the chance that
the wrong one is named is at most 1 less the level of the intervals, and less the more there are [Hung & Fithian (2019),
DOI 10.1214/17-AOS1697]. `tests/benchmarks/equal_estimates.py` has simulated rates.
"""

from collections.abc import Sequence

import numpy as np

Ends = Sequence[float | None] | np.ndarray


def clearly_least(value: Ends, low: Ends, high: Ends) -> int | None:
    """The place of the estimate that is clearly below every other one; None where there is none.

    Parameters
    ----------
    value, low, high : sequence of float, length n
        Estimates with the ends of their intervals. NaN or None where there is no estimate, which then is no candidate;
        an estimate without an interval, or with one without width, cannot be told apart, so that none is named.
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
    """The place of the estimate that is clearly above every other one; None where there is none.

    Parameters
    ----------
    value, low, high : sequence of float, length n
        As of `clearly_least`.
    """
    return clearly_least(*(-np.array(ends, float) for ends in (value, high, low)))


def clearly_apart(value: Ends, low: Ends, high: Ends) -> bool:
    """Whether the largest and the smallest estimate differ by more than chance makes any two differ.

    The arms are those of intervals of 95%, stretched as of normal distributions by Bonferroni's correction for all
    pairs.

    Parameters
    ----------
    value, low, high : sequence of float, length n
        As of `clearly_least`.
    """
    from scipy.special import ndtri

    estimate, below, above = (np.array(ends, float) for ends in (value, low, high))
    known = np.flatnonzero(np.isfinite(estimate) & (above > below))
    if known.size < 2:
        return False
    first, last = known[estimate[known].argmin()], known[estimate[known].argmax()]
    pairs = known.size * (known.size - 1) / 2
    stretched = float(ndtri(1 - 0.025 / pairs) / ndtri(0.975))
    arms = np.hypot(above[first] - estimate[first], estimate[last] - below[last])
    return bool(estimate[last] - estimate[first] > stretched * arms)


def clearly_most_cases(share: Ends, n: int, level: float = 0.95) -> int | None:
    """The place of the class that clearly most of n cases have, of shares that sum to 1 or less; None without one.

    Shares of the same cases fall where others rise, so that intervals do not tell: of the cases of the two commonest
    classes each has half if they are equally common. A tied case counts in parts.

    Parameters
    ----------
    share : sequence of float, length n_classes
    n : int
        Cases.
    level : float
        1 less the two-sided level of the test.
    """
    from scipy.special import betainc

    count = np.array(share, float) * n
    if count.size < 2:
        return 0 if n else None
    order = np.argsort(-count, kind="stable")
    a, b = count[order[:2]].tolist()
    # P(a or more of a + b) of a fair coin, by its continuation between whole numbers.
    return int(order[0]) if a > b and 2 * float(betainc(a, b + 1, 0.5)) <= 1 - level else None
