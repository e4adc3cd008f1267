"""Unbounded coordinates for probabilities, as needed for second derivatives and intervals.

A probability whose expected count is below half an annotation stands on its bound: its coordinate is left out, and its
interval comes from elsewhere.
"""

from collections.abc import Callable

import numpy as np

LEAST_COUNT = 0.5


class SimplexRows:
    """Rows of probabilities by the logs of their ratios to the largest of the row.

    Parameters
    ----------
    rows : ndarray, shape (n_rows, n_classes)
    counts : ndarray, shape (n_rows, n_classes)
        Expected annotations behind each probability.
    """

    def __init__(self, rows: np.ndarray, counts: np.ndarray):
        free = (counts >= LEAST_COUNT) & (rows > 0)
        free &= free.sum(axis=1, keepdims=True) >= 2
        self._rows, self._free = rows, free
        self._mass = np.where(free, rows, 0).sum(axis=1, keepdims=True)
        moving = free.copy()
        reference = np.where(free, rows, -1).argmax(axis=1)
        moving[np.arange(len(rows)), reference] = False
        self._moving = moving
        base = rows[np.arange(len(rows)), reference][:, None]
        self._logit = np.zeros(rows.shape)
        np.log(np.divide(rows, base, out=np.ones(rows.shape), where=free), out=self._logit)
        self.start = self._logit[moving]

    def at(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the rows at the coordinates."""
        logit = self._logit.copy()
        logit[self._moving] = coordinates
        share = np.where(self._free, np.exp(logit - logit.max(axis=1, keepdims=True)), 0)
        total = share.sum(axis=1, keepdims=True)
        np.divide(share * self._mass, total, out=share, where=total > 0)
        return np.where(self._free, share, self._rows)

    def score(self, rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Compute the derivative of Σ weight · ln p at ``rows``, by coordinates."""
        total = np.where(self._free, weight, 0).sum(axis=1, keepdims=True)
        expected = np.divide(total * rows, self._mass, out=np.zeros(rows.shape), where=self._free)
        return (weight - expected)[self._moving]


class SimplexChart:
    """Confusion matrices with free rows; ``shape`` is (n_raters, n_classes, n_classes)."""

    def __init__(self, rows: np.ndarray, counts: np.ndarray, shape: tuple[int, int, int]):
        self._rows, self._shape = SimplexRows(rows, counts), shape
        self.start = self._rows.start

    def theta(self, coordinates: np.ndarray) -> np.ndarray:
        """Return P(annotated | true): rater, annotated, true."""
        return self._rows.at(coordinates).reshape(self._shape).transpose(0, 2, 1)

    def score(self, coordinates: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Compute the derivative of Σ counts · ln θ."""
        weight = counts.transpose(0, 2, 1).reshape(-1, self._shape[2])
        return self._rows.score(self._rows.at(coordinates), weight)


class RateChart:
    """Rates of being right, by their logits.

    Parameters
    ----------
    rate : ndarray
    right, wrong : ndarray, of the shape of ``rate``
        Expected annotations behind each.
    theta_of : callable
        θ from rates.
    split : callable
        Right and wrong annotations, each of the shape of ``rate``, from counts of the shape of θ.
    """

    def __init__(self, rate: np.ndarray, right: np.ndarray, wrong: np.ndarray, theta_of: Callable, split: Callable):
        self._free = (right >= LEAST_COUNT) & (wrong >= LEAST_COUNT) & (rate > 0) & (rate < 1)
        self._rate, self._theta_of, self._split = rate, theta_of, split
        self.start = logit(rate[self._free])

    def _at(self, coordinates: np.ndarray) -> np.ndarray:
        rate = self._rate.copy()
        rate[self._free] = expit(coordinates)
        return rate

    def theta(self, coordinates: np.ndarray) -> np.ndarray:
        """Return P(annotated | true): rater, annotated, true."""
        return self._theta_of(self._at(coordinates))

    def score(self, coordinates: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Compute the derivative of Σ counts · ln θ."""
        right, wrong = self._split(counts)
        return (right - (right + wrong) * self._at(coordinates))[self._free]


def logit(p: np.ndarray) -> np.ndarray:
    """Compute ln p/(1 − p)."""
    return np.log(p) - np.log1p(-p)


def expit(x: np.ndarray) -> np.ndarray:
    """Invert `logit`."""
    return np.exp(-np.logaddexp(0, -x))
