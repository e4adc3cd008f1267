"""Orders that do not turn on the last bit of a number, which differs from one processor to the next."""

import numpy as np

_NEAR = 1e-9  # of the largest value: rounding stays far below, and no file shows what is above out of order


FITTED = 6  # digits of a share that a fit which has converged is sure of


def lowest_first(values: np.ndarray, then: np.ndarray | None = None) -> np.ndarray:
    """Places of the values, the lowest first; what differs by rounding alone is tied and keeps its order.

    Parameters
    ----------
    values : np.ndarray
        (n,); NaN come last.
    then : np.ndarray, optional
        (n,), by which those that are tied are ordered, the lowest first.

    Returns
    -------
    np.ndarray
        (n,) int.
    """
    if then is None:
        return np.argsort(_levels(values), kind="stable")
    return np.lexsort((_levels(then), _levels(values)))


def highest_first(values: np.ndarray) -> np.ndarray:
    """Places of the values, the highest first; see `lowest_first`."""
    return lowest_first(-np.asarray(values, float))


def _levels(values: np.ndarray) -> np.ndarray:
    """Of each value, how many gaps wider than rounding lie below it."""
    values = np.asarray(values, float)
    order = np.argsort(values, kind="stable")
    finite = np.abs(values[np.isfinite(values)])
    with np.errstate(invalid="ignore"):  # of two infinite values
        apart = ~(np.diff(values[order]) <= _NEAR * finite.max(initial=0.0))
    level = np.empty(len(values), np.int64)
    level[order] = np.concatenate(([0], np.cumsum(apart)))[: len(values)]
    return level
