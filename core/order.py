"""Orders that do not depend on the last bit of a number, which differs between processors."""

import numpy as np

_NEAR = 1e-9  # share of the largest value; rounding stays far below it


FITTED = 6  # reliable decimals of a share after convergence


def lowest_first(values: np.ndarray, then: np.ndarray | None = None) -> np.ndarray:
    """Return positions of the values, the lowest first; those that differ only by rounding keep their order.

    Parameters
    ----------
    values : np.ndarray
        Values, shape (n,); NaN come last.
    then : np.ndarray, optional
        Values, shape (n,), that order tied ones, the lowest first.

    Returns
    -------
    np.ndarray
        Positions, shape (n,), int.
    """
    if then is None:
        return np.argsort(_levels(values), kind="stable")
    return np.lexsort((_levels(then), _levels(values)))


def highest_first(values: np.ndarray) -> np.ndarray:
    """Return positions of the values, the highest first; see `lowest_first`."""
    return lowest_first(-np.asarray(values, float))


def _levels(values: np.ndarray) -> np.ndarray:
    """Return for each value how many gaps wider than rounding are below it."""
    values = np.asarray(values, float)
    order = np.argsort(values, kind="stable")
    finite = np.abs(values[np.isfinite(values)])
    with np.errstate(invalid="ignore"):  # of two infinite values
        apart = ~(np.diff(values[order]) <= _NEAR * finite.max(initial=0.0))
    level = np.empty(len(values), np.int64)
    level[order] = np.concatenate(([0], np.cumsum(apart)))[: len(values)]
    return level
