"""How far from the truth raters of ordered classes are, in classes: one class off is not as far as four."""

import numpy as np
from scipy.special import stdtrit

from .leave_one_rater_out import Panel
from .rates import Rates

_BLOCK = 20_000  # annotations whose class probabilities are held at once


def distances_of(panel: Panel, level: float = 0.95) -> Rates:
    """Expected |annotated class − true class| of every rater, in classes; NaN where the order means nothing.

    The true class is that of the other raters of the case, by probability (`Panel.by_others`). The mean over a rater's
    judged annotations has a t interval from the variance of the distance, of which one part lies between annotations
    and one is that the truth of each is uncertain; of fewer than two annotations there is none.

    Parameters
    ----------
    panel : Panel
    level : float
        Of the intervals, 0 to 1.

    Returns
    -------
    Rates
        ``n`` are judged annotations.
    """
    dataset = panel.dataset
    nothing = np.full(dataset.n_raters, np.nan)
    n = np.bincount(dataset.rater, panel.judged, dataset.n_raters).astype(np.int64)
    if not dataset.ordinal or dataset.n_classes < 3:
        return Rates(nothing, nothing, nothing, np.zeros(dataset.n_raters, np.int64))
    total, squares = np.zeros(dataset.n_raters), np.zeros(dataset.n_raters)
    judged = np.flatnonzero(panel.judged)
    places = np.arange(dataset.n_classes)
    for first in range(0, judged.size, _BLOCK):
        rows = judged[first : first + _BLOCK]
        apart = np.abs(dataset.answer[rows][:, None] - places)
        probability = panel.by_others(rows)
        total += np.bincount(dataset.rater[rows], (probability * apart).sum(axis=1), dataset.n_raters)
        squares += np.bincount(dataset.rater[rows], (probability * apart**2).sum(axis=1), dataset.n_raters)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(n > 0, total / n, np.nan)
        variance = np.maximum(squares / n - mean**2, 0.0) * n / (n - 1)
        half = np.where(n > 1, stdtrit(np.maximum(n - 1, 1), (1 + level) / 2) * np.sqrt(variance / n), np.nan)
    return Rates(mean, np.maximum(mean - half, 0.0), np.minimum(mean + half, dataset.n_classes - 1.0), n)
