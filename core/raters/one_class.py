"""Raters who name one class whatever the case shows.

The number of times that a rater names class k is compared with what the others named on the same cases. Of case i, with
``c`` of ``n`` annotations of the others that are k, another rater names k with ``p_i = (c + s q) / (n + s)``: q is k's
share of all annotations of the others, and ``s = (1 − α) / α`` with Krippendorff's α of "k or not", so that p follows
the case as closely as raters agree on k. The count would be a Poisson-binomial variable. The tail of the class that the
rater names most counts as often as there are classes, and over raters the false discovery rate is held [Benjamini &
Hochberg (1995), DOI 10.1111/j.2517-6161.1995.tb02031.x]. What is significant need not be large: somebody is called so
only who names the class on `ONE_CLASS_FLAGGED` of the annotations. Nor is everybody blind who is strict: whoever names
other classes where the others do, beyond chance (``1 − p_i`` on these cases against as many drawn from all of the
rater's, by a normal tail of `_FOLLOWS`), follows the cases.

No model takes part, so whether raters can be judged by a model may be asked without those who are found here.
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
_ALPHA = 0.02, 0.98  # range of α: neither is no agreement at all shown by data, nor is all of it
_MOST_STEPS = 50_000_000
_FFT_FLOOR = 1e-13  # what a Fourier transform of probabilities cannot tell from 0


@dataclass(frozen=True, slots=True, eq=False)
class OneClass:
    """One entry for each rater; arrays of shape (n_raters,).

    Attributes
    ----------
    favourite : ndarray of int32
        Class that the rater names most on cases with annotations of others; -1 if there is no such case.
    n, n_named : ndarray of int64
        Annotations on such cases, and how many name the favourite.
    expected : ndarray
        How many of them other raters would name so; NaN where the favourite stands on fewer than `ONE_CLASS_FLAGGED`
        of them.
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
        """Raters who name one class only at a false discovery rate, by position."""
        return benjamini_hochberg(self.p, q)


@cache_by_identity
def one_class(dataset: Dataset) -> OneClass:
    """Compare the favourite class of every rater with what the others name on the same cases.

    Parameters
    ----------
    dataset : Dataset
        Of single classes by identified raters.
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
    """Annotations that the rater of each gave on its case, shape (n_annotations,)."""
    _, place, count = np.unique(case * dataset.n_raters + dataset.rater, return_inverse=True, return_counts=True)
    return count[place]


def _follows(chances: np.ndarray, named: np.ndarray) -> bool:
    """Whether annotations stand on cases of larger chances than as many drawn without replacement would."""
    n, m = named.size, int(named.sum())
    spread = np.sqrt(m * (n - m) / max(n - 1, 1) * chances.var())
    return bool(chances[named].sum() - m * chances.mean() > _FOLLOWS * spread)


def _strength(on_case: np.ndarray, per_case: np.ndarray) -> float:
    """Annotations that the overall share of a class counts for beside those of a case, (1 − α) / α."""
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


def _favourites(dataset: Dataset, used: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Class that each rater names most, of how many annotations that are used, and how often."""
    rater = dataset.rater[used].astype(np.int64)
    n = np.bincount(rater, minlength=dataset.n_raters)
    key, count = np.unique(rater * dataset.n_classes + dataset.answer[used], return_counts=True)
    by, answer = np.divmod(key, dataset.n_classes)
    order = np.lexsort((answer, -count, by))
    first = order[np.unique(by[order], return_index=True)[1]]
    favourite, n_named = np.full(dataset.n_raters, -1, np.int32), np.zeros(dataset.n_raters, np.int64)
    favourite[by[first]], n_named[by[first]] = answer[first], count[first]
    return favourite, n, n_named
