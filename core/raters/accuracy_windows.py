"""Accuracy of a rater in windows of time."""

from dataclasses import dataclass

import numpy as np

from ._accuracy_kernels import log_likelihood
from .accuracy import cell_edges, even_mass, quantile
from .leave_one_rater_out import Panel

FEWEST = 10
POINTS = np.linspace(0.005, 0.995, 100)


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Accuracy in windows of a rater's judged annotations; arrays of shape (n_windows,).

    Attributes
    ----------
    start, stop : ndarray of int64
        Times of the first and the last annotation, seconds since 1970-01-01 UTC.
    n : ndarray of int64
    accuracy, low, high : ndarray
        Mean and interval under an even prior.
    """

    start: np.ndarray
    stop: np.ndarray
    n: np.ndarray
    accuracy: np.ndarray
    low: np.ndarray
    high: np.ndarray


def windows_of(panel: Panel, rows: np.ndarray, n_windows: int, level: float) -> Windows:
    """Compute the accuracy in windows of about equally many annotations, at least `FEWEST` each.

    Parameters
    ----------
    panel : Panel
    rows : ndarray of int64, shape (n_answers,)
        Judged annotations of one rater, in order of time.
    n_windows : int
        Largest number of windows; fewer if there are too few annotations, but at least one.
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    n_windows = max(1, min(n_windows, rows.size // FEWEST))
    parts = np.array_split(rows, n_windows)
    points = np.tile(POINTS, (n_windows, 1))
    values = np.empty_like(points)
    for window, part in enumerate(parts):
        judged = np.ones(part.size, np.bool_)
        inside = np.arange(part.size)
        log_likelihood(panel.right[part], panel.wrong[part], judged, inside, 0, part.size, POINTS, values[window])
        values[window] -= values[window].max()
    # The points are equally spaced on the scale of accuracy, not of logits.
    mass = even_mass(points, values - np.log(points * (1 - points)))
    low, high = (quantile(cell_edges(points), mass, q) for q in ((1 - level) / 2, (1 + level) / 2))
    time = panel.time
    return Windows(
        np.array([time[part[0]] for part in parts]),
        np.array([time[part[-1]] for part in parts]),
        np.array([part.size for part in parts]),
        (mass * points).sum(axis=1),
        low,
        high,
    )


def mean_accuracy(right: np.ndarray, wrong: np.ndarray) -> float:
    """Compute the posterior mean of the accuracy of some annotations, under an even prior."""
    values = np.empty(POINTS.size)
    log_likelihood(
        np.ascontiguousarray(right),
        np.ascontiguousarray(wrong),
        np.ones(right.size, np.bool_),
        np.arange(right.size),
        0,
        right.size,
        POINTS,
        values,
    )
    mass = np.exp(values - values.max())
    return float(mass @ POINTS / mass.sum())
