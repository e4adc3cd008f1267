"""Smallest possible values of coefficients, where their intervals are cut.

With d = 1 − w the distance of two classes, m the fewest annotations of a case, and D_o and D_e the disagreement
observed and by chance, a coefficient is 1 − D_o/D_e. Where d is of negative type [Schoenberg (1938), DOI
10.1090/S0002-9947-1938-1501980-0], as of every family of weights and every metric of alpha, D_o is at most m/(m − 1) of
the disagreement of two draws from all annotations: kappas and alpha are −1/(m − 1) or more, −1 with two annotations
per case. Chance of Gwet's AC and of Brennan and Prediger has a bound of its own, and D_o has one by how far m
annotations can differ.

Where chance is estimated from other annotations than agreement is, of cases or raters that are alone, no such bound
holds: then the coefficient is at least what no agreement at all would be by chance as it was observed.
"""

from itertools import combinations_with_replacement
from math import comb

import numpy as np

_MOST_CLASSES = 500  # of a matrix that is looked into
_MOST_SETS = 10_000
_ROUNDING = 1e-9


def least_beyond_chance(n: np.ndarray, p_e: float, distance: np.ndarray | None, own: bool) -> float:
    """Compute the smallest possible kappa or alpha.

    Parameters
    ----------
    n : ndarray, shape (n_usable,)
        Annotations of the cases with two or more.
    p_e : float
        Agreement by chance as observed, below 1.
    distance : ndarray of float64, shape (n_classes, n_classes), optional
        Distance of two classes, at most 1; None is 1 for any two that differ.
    own : bool
        True if chance is estimated from the annotations of the same cases, each of the same raters.
    """
    bound = -1 / (float(n.min()) - 1)
    if own and (distance is None or of_negative_type(distance)):
        return bound
    most = 1.0 if distance is None else float(distance.max())
    return min(bound, 1 - most / (1 - p_e))


def least_agreement(n: np.ndarray, weight: np.ndarray, n_classes: int, distance: np.ndarray | None) -> float:
    """Compute the smallest possible weighted mean over cases of the share of agreeing pairs.

    Parameters
    ----------
    n : ndarray, shape (n_usable,)
        Annotations of the cases with two or more.
    weight : ndarray, shape (n_usable,) or (0,)
        Weight of each case; empty for equal weights.
    n_classes : int
    distance : ndarray, optional
        See `least_beyond_chance`.
    """
    cases = np.bincount(n.astype(np.int64), weight if weight.size else None)
    sizes = np.flatnonzero(cases)
    most = [_most_apart(size, n_classes, distance) for size in sizes.tolist()]
    return max(0.0, 1 - float(np.dot(most, cases[sizes])) / float(cases.sum()))


def distance_of(matrix: np.ndarray | None) -> np.ndarray | None:
    """Return the distances of weights; None for identity."""
    return None if matrix is None else 1 - matrix


def of_negative_type(distance: np.ndarray) -> bool:
    """Return True if Σ x_k x_l d_kl is at most 0 for all x that sum to 0; False for too large matrices."""
    if len(distance) > _MOST_CLASSES:
        return False
    centred = distance - distance.mean(axis=0) - distance.mean(axis=1)[:, None] + distance.mean()
    return bool(np.linalg.eigvalsh(centred).max(initial=0.0) <= _ROUNDING)


def _most_apart(n: int, n_classes: int, distance: np.ndarray | None) -> float:
    """Compute the largest mean distance of two of n annotations: exact for identity, and for weights of few sets."""
    if distance is not None and comb(n_classes + n - 1, n) <= _MOST_SETS:
        sets = np.array(list(combinations_with_replacement(range(n_classes), n)))
        apart = sum(distance[sets[:, i], sets[:, j]] for i in range(n) for j in range(i))
        return float(np.max(apart)) / comb(n, 2)
    each, more = divmod(n, n_classes)
    alike = more * comb(each + 1, 2) + (n_classes - more) * comb(each, 2)
    return (1.0 if distance is None else float(distance.max())) * (1 - alike / comb(n, 2))
