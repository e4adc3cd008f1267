"""Raters who name one class whatever the case shows.

The number of times that a rater names a class is compared with what other raters would name on the same cases: with
``p_i = Σ_z P(z_i | the others' annotations) θ[z, k]``, θ of all other raters taken as one, it would be a
Poisson-binomial variable. The tail of the class that the rater names most counts as often as there are classes, and
over raters the false discovery rate is held [Benjamini & Hochberg (1995), DOI 10.1111/j.2517-6161.1995.tb02031.x]. What
is significant need not be large: somebody is called so only who names the class on `ONLY` of the annotations.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ._acceptable_kernels import at_most
from .leave_one_rater_out import Panel

ONLY = 0.9
FEWEST = 10
_POOL_WEIGHT = 2.0
_MOST_STEPS = 50_000_000
_FFT_FLOOR = 1e-13  # what a Fourier transform of probabilities cannot tell from 0


@dataclass(frozen=True, slots=True, eq=False)
class OneClass:
    """One entry for each rater; arrays of shape (n_raters,).

    Attributes
    ----------
    favourite : ndarray of int32
        Class that the rater names most; -1 where others judge none of the annotations.
    n, n_named : ndarray of int64
        Annotations that others judge, and how many name the favourite.
    expected : ndarray
        How many of them other raters would name so; NaN where the favourite stands on fewer than `ONLY` of them.
    p : ndarray
        P(as many or more), times the number of classes, at most 1; 1 where the favourite stands on fewer than `ONLY` of
        the annotations, NaN below `FEWEST` annotations.
    """

    favourite: np.ndarray
    n: np.ndarray
    n_named: np.ndarray
    expected: np.ndarray
    p: np.ndarray


def one_class(panel: Panel) -> OneClass:
    """The favourite of every rater of a panel, and whether others would name it as often on the same cases."""
    dataset = panel.dataset
    n_raters, n_classes = dataset.n_raters, dataset.n_classes
    favourite, n, n_named = _favourites(panel)
    expected, p = np.full(n_raters, np.nan), np.where(n >= FEWEST, 1.0, np.nan)
    answered = np.bincount(dataset.answer, minlength=n_classes).astype(np.float64)
    for rater in np.flatnonzero((n >= FEWEST) & (n_named >= ONLY * n)).tolist():
        rows = panel.of(rater)
        rows = rows[panel.judged[rows]]
        k = int(favourite[rater])
        others = answered[k] - n_named[rater], dataset.n_annotations - rows.size
        share = (others[0] + 1) / (others[1] + n_classes)
        chances = _chances(panel, rows, k, share)
        expected[rater] = chances.sum()
        p[rater] = min(1.0, n_classes * poisson_binomial_tail(chances, int(n_named[rater])))
    return OneClass(favourite, n, n_named, expected, p)


def _chances(panel: Panel, rows: np.ndarray, favourite: int, share: float) -> np.ndarray:
    """P(another rater names the favourite) on each of one rater's annotations.

    Σ_z P(z | the others) θ_z, with θ_z the share of the favourite among the expected annotations of all other raters on
    class z, and `_POOL_WEIGHT` annotations of its overall ``share``.
    """
    truth = panel.by_others(rows)
    own = truth[panel.dataset.answer[rows] == favourite].sum(axis=0)
    same = np.maximum(panel.pool[:, favourite] - own, 0.0)
    others = np.maximum(panel.pool.sum(axis=1) - truth.sum(axis=0), 0.0)
    return np.clip(truth @ ((same + _POOL_WEIGHT * share) / (others + _POOL_WEIGHT)), 0.0, 1.0)


def poisson_binomial_tail(chances: np.ndarray, least: int) -> float:
    """P(X ≥ least) of the number X of successes among independent trials.

    Parameters
    ----------
    chances : ndarray of float64, shape (n_trials,)
        Of each trial, 0 to 1.
    least : int

    Returns
    -------
    float
        Exact by convolution; for very many trials far from both ends by Fourier transforms, right to 1e-13.

    Raises
    ------
    InputError
        A chance is not between 0 and 1.
    """
    chances = np.ascontiguousarray(chances, np.float64)
    n = chances.size
    if not ((chances >= 0) & (chances <= 1)).all():
        raise InputError("A chance of the trials is not between 0 and 1.", "Give probabilities.")
    if least <= 0:
        return 1.0
    if least > n:
        return 0.0
    if n * (n - least + 1) <= _MOST_STEPS:
        return float(at_most(1.0 - chances, n - least))
    if n * least <= _MOST_STEPS:
        return float(max(1.0 - at_most(chances, least - 1), 0.0))
    return float(min(1.0, max(_density(chances)[least:].sum(), _FFT_FLOOR)))


def _density(chances: np.ndarray) -> np.ndarray:
    """Probabilities of 0 to n successes, multiplied up by halves."""
    from scipy.signal import fftconvolve

    parts = [np.array([1 - p, p]) for p in chances]
    while len(parts) > 1:
        parts = [
            fftconvolve(*parts[i : i + 2]).clip(0) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)
        ]
    return parts[0]


def _favourites(panel: Panel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Class that each rater names most, of how many judged annotations, and how often."""
    dataset = panel.dataset
    rater = dataset.rater[panel.judged].astype(np.int64)
    n = np.bincount(rater, minlength=dataset.n_raters)
    key, count = np.unique(rater * dataset.n_classes + dataset.answer[panel.judged], return_counts=True)
    by, answer = np.divmod(key, dataset.n_classes)
    order = np.lexsort((answer, -count, by))
    first = order[np.unique(by[order], return_index=True)[1]]
    favourite, n_named = np.full(dataset.n_raters, -1, np.int32), np.zeros(dataset.n_raters, np.int64)
    favourite[by[first]], n_named[by[first]] = answer[first], count[first]
    return favourite, n, n_named
