"""Raters who name one class regardless of the case.

The number of times that a rater names class k is compared with what the others named on the same cases. On case i, with
``c`` of ``n`` annotations of the others that are k, another rater names k with ``p_i = (c + s q) / (n + s)``: q is k's
share of all annotations of the others, and ``s = (1 − α) / α`` with Krippendorff's α of "k or not", so that p depends
on the case as closely as raters agree on k. The count is then a Poisson-binomial variable. The tail of the class that
the rater names most is multiplied by the number of classes, and over raters the false discovery rate is controlled
[Benjamini & Hochberg (1995), DOI 10.1111/j.2517-6161.1995.tb02031.x]. A significant difference can be small, so that a
rater is flagged only if they name the class on `ONE_CLASS_FLAGGED` of the annotations. A strict rater is not blind
either: one who names other classes on the same cases as the others, beyond chance (``1 − p_i`` on these cases against
as many drawn from all of the rater's, by a normal tail of `_FOLLOWS`), follows the cases.

No model is used, so that raters found here can be left out when a model is checked.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import counting_sort
from ..annotations.dataset import Dataset
from ..errors import InputError
from ..multiplicity import benjamini_hochberg
from ..runtime.identity_cache import cache_by_identity
from ..thresholds import ONE_CLASS_FLAGGED
from ._learned_pool_kernels import at_most

FEWEST = 10
FALSE_DISCOVERIES = 0.05
_FOLLOWS = 1.645  # standard deviations
_ALPHA = 0.02, 0.98  # Range of α, because data never show zero or complete agreement.
_MOST_STEPS = 50_000_000
_FFT_FLOOR = 1e-13  # A Fourier transform of probabilities does not distinguish smaller values from 0.


@dataclass(frozen=True, slots=True, eq=False)
class OneClass:
    """Favourite class of each rater; arrays of shape (n_raters,).

    Attributes
    ----------
    favourite : ndarray of int32
        Class that the rater names most on cases with annotations of others; -1 if there is no such case.
    n, n_named : ndarray of int64
        Number of annotations on such cases, and of those that name the favourite.
    expected : ndarray
        Expected number of these if other raters annotated; NaN if the favourite is on fewer than `ONE_CLASS_FLAGGED` of
        them.
    p : ndarray
        P(as many or more), times the number of classes, at most 1; 1 if the favourite has fewer than
        `ONE_CLASS_FLAGGED` of the annotations, and if the others of them follow the cases; NaN below
        `FEWEST` annotations.
    """

    favourite: np.ndarray
    n: np.ndarray
    n_named: np.ndarray
    expected: np.ndarray
    p: np.ndarray

    def found(self, q: float = FALSE_DISCOVERIES) -> np.ndarray:
        """Return raters who name only one class at a false discovery rate, by position."""
        return benjamini_hochberg(self.p, q)


@cache_by_identity
def one_class(dataset: Dataset) -> OneClass:
    """Compare the favourite class of every rater with what the others name on the same cases.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes by identified raters.
    """
    case = dataset.case_of_annotation.astype(np.int64)
    per_case, own = np.diff(dataset.case_ptr), _of_the_same_rater(dataset, case)
    shared = per_case[case] > own
    favourite, n, n_named = _favourites(dataset, shared)
    expected, p = np.full(dataset.n_raters, np.nan), np.where(n >= FEWEST, 1.0, np.nan)
    ptr, order = counting_sort(dataset.rater, dataset.n_raters)
    candidates = np.flatnonzero((n >= FEWEST) & (n_named >= ONE_CLASS_FLAGGED * n))
    for k in np.unique(favourite[candidates]).tolist():
        named = dataset.answer == k
        on_case = np.bincount(case, named, dataset.n_cases)
        strength = _strength(on_case, per_case)
        for rater in candidates[favourite[candidates] == k].tolist():
            mine = order[ptr[rater] : ptr[rater + 1]]
            share = (named.sum() - named[mine].sum() + 1) / (named.size - mine.size + dataset.n_classes)
            places, at = np.unique(case[mine], return_inverse=True)
            same = on_case[places] - np.bincount(at, named[mine])
            others = per_case[places] - np.bincount(at)
            mine_too = shared[mine]
            chances = ((same + strength * share) / (others + strength))[at[mine_too]]
            expected[rater] = chances.sum()
            if not _follows(1 - chances, ~named[mine[mine_too]]):
                p[rater] = min(1.0, dataset.n_classes * poisson_binomial_tail(chances, int(n_named[rater])))
    return OneClass(favourite, n, n_named, expected, p)


def _of_the_same_rater(dataset: Dataset, case: np.ndarray) -> np.ndarray:
    """Count annotations that the rater of each annotation gave on its case, shape (n_annotations,)."""
    _, place, count = np.unique(case * dataset.n_raters + dataset.rater, return_inverse=True, return_counts=True)
    return count[place]


def _follows(chances: np.ndarray, named: np.ndarray) -> bool:
    """Return True if annotations are on cases of larger chances than as many drawn without replacement."""
    n, m = named.size, int(named.sum())
    spread = np.sqrt(m * (n - m) / max(n - 1, 1) * chances.var())
    return bool(chances[named].sum() - m * chances.mean() > _FOLLOWS * spread)


def _strength(on_case: np.ndarray, per_case: np.ndarray) -> float:
    """Compute the weight of a class's overall share, in annotations of a case, (1 − α) / α."""
    several = per_case > 1
    named, n = on_case[several], per_case[several]
    total, share = n.sum(), named.sum() / max(n.sum(), 1)
    expected = share * (1 - share) * total / max(total - 1, 1)
    if expected == 0:
        return (1 - _ALPHA[0]) / _ALPHA[0]
    alpha = 1 - (named * (n - named) / (n - 1)).sum() / total / expected
    alpha = float(np.clip(alpha, *_ALPHA))
    return (1 - alpha) / alpha


def poisson_binomial_tail(chances: np.ndarray, least: int) -> float:
    """Compute P(X ≥ least) of the number X of successes among independent trials.

    Parameters
    ----------
    chances : ndarray of float64, shape (n_trials,)
        Probability of success of each trial, 0 to 1.
    least : int

    Returns
    -------
    float
        Probability, exact by convolution; for very many trials far from both ends by Fourier transforms, accurate to
        1e-13.

    Raises
    ------
    InputError
        A chance is not between 0 and 1.
    """
    chances = np.ascontiguousarray(chances, np.float64)
    n = chances.size
    if not ((chances >= 0) & (chances <= 1)).all():
        raise InputError("Probabilities must be between 0 and 1.", "Provide valid probabilities.")
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
    """Compute probabilities of 0 to n successes by repeated halving."""
    from scipy.signal import fftconvolve

    parts = [np.array([1 - p, p]) for p in chances]
    while len(parts) > 1:
        parts = [
            fftconvolve(*parts[i : i + 2]).clip(0) if i + 1 < len(parts) else parts[i] for i in range(0, len(parts), 2)
        ]
    return parts[0]


def _favourites(dataset: Dataset, used: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the class that each rater names most, the number of annotations used, and how many name it."""
    rater = dataset.rater[used].astype(np.int64)
    n = np.bincount(rater, minlength=dataset.n_raters)
    key, count = np.unique(rater * dataset.n_classes + dataset.answer[used], return_counts=True)
    by, answer = np.divmod(key, dataset.n_classes)
    order = np.lexsort((answer, -count, by))
    first = order[np.unique(by[order], return_index=True)[1]]
    favourite, n_named = np.full(dataset.n_raters, -1, np.int32), np.zeros(dataset.n_raters, np.int64)
    favourite[by[first]], n_named[by[first]] = answer[first], count[first]
    return favourite, n, n_named
