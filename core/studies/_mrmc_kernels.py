"""Kernels that compare each case with the condition and each case without it, by reader and modality.

The success of a pair is ``s(x, y) = [y > x] + [y = x]/2`` for a case without (score x) and one with the condition
(score y) [Wilcoxon; Bamber 1975, DOI 10.1016/0022-2496(75)90001-2]. Placements are means of s over the other kind of
cases [DeLong et al. 1988, DOI 10.2307/2531595]; the sums of products of successes are those of a U-statistic's second
moments [Gallas et al. 2009, DOI 10.1080/03610920802610084]. Unread cases are NaN, which no comparison takes.
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def placements(scores: np.ndarray, others: np.ndarray, larger: bool) -> np.ndarray:
    """Compute each score's mean success among its field's scores of the other kind, (n_fields, n); NaN if unread.

    ``larger`` is True where the scores are of cases with the condition, so that success is to be the larger one.
    """
    n_fields, n = scores.shape
    found = np.full((n_fields, n), np.nan)
    for field in range(n_fields):
        ordered = np.empty(others.shape[1])
        count = 0
        for place in range(others.shape[1]):
            if others[field, place] == others[field, place]:
                ordered[count] = others[field, place]
                count += 1
        ordered = np.sort(ordered[:count])
        for place in range(n):
            score = scores[field, place]
            if score != score or count == 0:
                continue
            below = _first_not_below(ordered, score, False)
            upto = _first_not_below(ordered, score, True)
            share = 0.5 * (below + upto) / count
            found[field, place] = share if larger else 1.0 - share
    return found


@njit(cache=True, nogil=True)
def _first_not_below(ordered: np.ndarray, score: float, beyond: bool) -> int:
    """Count the ordered scores that are below this one, or at most as large if ``beyond``."""
    low, high = 0, ordered.size
    while low < high:
        middle = (low + high) // 2
        if ordered[middle] < score or (beyond and ordered[middle] == score):
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _success(negative: float, positive: float, centre: float) -> float:
    """Compute the success of one comparison less the centre; 0 if either score is missing."""
    if positive > negative:
        return 1.0 - centre
    if positive < negative:
        return -centre
    return 0.5 - centre if positive == negative else 0.0


@njit(cache=True, nogil=True)
def pair_sums(
    negative: np.ndarray, positive: np.ndarray, centre: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sum successes less the centre of their modality over pairs of cases, and products of two modalities.

    Scores are (n_cases, M, R). Returned are the sums over the positive cases (n_negative, M, R), over the negative ones
    (n_positive, M, R), and over pairs of cases of products (M, M): within readers, and of the sums over readers.
    """
    n_negative, n_modalities, n_readers = negative.shape
    n_positive = positive.shape[0]
    by_negative = np.zeros((n_negative, n_modalities, n_readers))
    by_positive = np.zeros((n_positive, n_modalities, n_readers))
    within = np.zeros((n_modalities, n_modalities))
    across = np.zeros((n_modalities, n_modalities))
    success = np.zeros((n_modalities, n_readers))
    total = np.zeros(n_modalities)
    for i in range(n_negative):
        for j in range(n_positive):
            for m in range(n_modalities):
                total[m] = 0.0
                for r in range(n_readers):
                    s = _success(negative[i, m, r], positive[j, m, r], centre[m])
                    success[m, r] = s
                    total[m] += s
                    by_negative[i, m, r] += s
                    by_positive[j, m, r] += s
            for m in range(n_modalities):
                for k in range(m + 1):
                    product = 0.0
                    for r in range(n_readers):
                        product += success[m, r] * success[k, r]
                    within[m, k] += product
                    across[m, k] += total[m] * total[k]
    for m in range(n_modalities):
        for k in range(m):
            within[k, m] = within[m, k]
            across[k, m] = across[m, k]
    return by_negative, by_positive, within, across
