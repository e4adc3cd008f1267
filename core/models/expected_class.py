"""Where on the scale a case stands, for ordered classes: mean, median and interval of its class probabilities."""

import numpy as np

from .result import CaseEffect, Spread


def expected_class(probability: np.ndarray, level: float = 0.95) -> CaseEffect:
    """Mean, standard deviation and interval of the true class of each case, classes counted from 1.

    Parameters
    ----------
    probability : ndarray, shape (n_cases, n_classes)
        P(class) of the cases, classes in their order.
    level : float
        Of the interval: from the first class at which P(this or a lower one) reaches half of the rest, to the first at
        which it reaches 1 less that half. It holds whole classes, so at least ``level`` of the probability.
    """
    places = np.arange(1, probability.shape[1] + 1)
    mean = probability @ places
    sd = np.sqrt(np.maximum(probability @ places**2 - mean**2, 0.0))
    below = np.cumsum(probability, axis=1)
    tail = (1 - level) / 2
    low = 1.0 + (below < tail - 1e-12).sum(axis=1)
    high = np.minimum(1.0 + (below < 1 - tail - 1e-12).sum(axis=1), float(places[-1]))
    return CaseEffect("expected_class", mean, Spread(sd, low, high))


def median_class(probability: np.ndarray) -> np.ndarray:
    """Code of the lowest class at which P(this or a lower one) reaches one half, shape (n_cases,)."""
    return (np.cumsum(probability, axis=1) < 0.5 - 1e-12).sum(axis=1)


def within_one(probability: np.ndarray) -> np.ndarray:
    """P(the true class is at most one away from the median class) of each case, shape (n_cases,).

    Parameters
    ----------
    probability : ndarray, shape (n_cases, n_classes)
        P(class) of the cases, classes in their order.
    """
    places = np.arange(probability.shape[1])
    near = np.abs(places - median_class(probability)[:, None]) <= 1
    return np.minimum((probability * near).sum(axis=1), 1.0)


def absolute_error(probability: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """|median class − known class| of each case, in classes.

    Of all single answers the median has the least absolute error by the probabilities themselves, as the mean has the
    least squared error: Gneiting (2011), doi:10.1198/jasa.2011.r10138.

    Parameters
    ----------
    probability : ndarray, shape (n_cases, n_classes)
    truth : ndarray of int, shape (n_cases,)
        Codes of the known classes, from 0.
    """
    return np.abs(median_class(probability) - truth)
