"""Intervals that stay valid however often growing data are analysed.

For the mean of values in [0, 1] that come in a random order: the hedged capital process of betting confidence sequences
[Waudby-Smith & Ramdas 2024, Journal of the Royal Statistical Society B 86(1), 1-27, section 4.4], with predictable
plug-in bets. For anything else: a union bound over looks, the k-th of which has 6 / (π² k²) of the error.
"""

import math

import numpy as np

_GRID = 1_000
_CELLS = 1 << 21
_MOST_BET = 0.5  # share of the capital


def level_of_look(level: float, look: int) -> float:
    """Return the level of the intervals at one analysis, so that all analyses together have the given level.

    Parameters
    ----------
    level : float
        Level of all analyses together, 0 to 1.
    look : int
        Number of the analysis, from 1.
    """
    return 1 - (1 - level) * 6 / (math.pi * look) ** 2


def betting_interval(values: np.ndarray, level: float = 0.95, *, at_all_lengths: bool = True) -> tuple[float, float]:
    """Return the interval of the mean after all values so far.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Values in [0, 1], in the order in which they came.
    level : float
        Level, 0 to 1.
    at_all_lengths : bool
        True for an interval that is valid at every length of the sequence together; else only at this length, and
        narrower.

    Returns
    -------
    tuple of float
        Ends, rounded outward to a step of `_GRID`.
    """
    values = np.asarray(values, float)
    alpha, n = 1 - level, len(values)
    size = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(values)) / (size + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2)) / (size + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    bet = np.sqrt(2 * math.log(2 / alpha) / (before * (size * np.log(size + 1) if at_all_lengths else n)))
    candidates = np.linspace(0, 1, _GRID + 1)
    largest, capital = np.full(_GRID + 1, -np.inf), np.zeros((2, _GRID + 1))
    with np.errstate(divide="ignore"):
        ends = _MOST_BET / candidates, _MOST_BET / (1 - candidates)
    step = max(1, _CELLS // (_GRID + 1))
    for low in range(0, n, step):
        away = values[low : low + step, None] - candidates
        bets = bet[low : low + step, None]
        up = capital[0] + np.cumsum(np.log1p(np.minimum(bets, ends[0]) * away), axis=0)
        down = capital[1] + np.cumsum(np.log1p(-np.minimum(bets, ends[1]) * away), axis=0)
        largest = np.maximum(largest, np.maximum(up, down).max(axis=0))
        capital = np.stack([up[-1], down[-1]])
    kept = np.flatnonzero(largest + math.log(0.5) < math.log(1 / alpha))
    if not kept.size:  # narrower than a step
        kept = np.array([int(np.argmin(largest))])
    return float(candidates[max(kept[0] - 1, 0)]), float(candidates[min(kept[-1] + 1, _GRID)])
