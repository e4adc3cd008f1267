"""Kernel for further annotations: a rater who has not annotated case i is asked, and gives l ~ theta[rater, z_i, :]."""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def _pick(share):
    """Draw a place by weights that need not sum to 1."""
    total = 0.0
    for k in range(share.size):
        total += share[k]
    at = np.random.random() * total
    for k in range(share.size - 1):
        at -= share[k]
        if at < 0.0:
            return k
    return share.size - 1


@njit(cache=True, nogil=True)
def ask(seed, wanted, truth, theta, share, case_ptr, rater, head, link, new_rater, new_answer, n_new):
    """Ask a rater for one more annotation on each case of ``wanted``, in order.

    Raters are drawn by ``share`` among those who have not annotated the case; if there is none, the case is skipped.
    Further annotations of a case are a list from ``head[case]``, linked by ``link``; ``n_new`` of them exist already.
    Returns their new number, and fills ``new_rater``, ``new_answer``, ``head`` and ``link``; link holds the case's
    previous further annotation.
    """
    np.random.seed(seed)
    n_classes = theta.shape[1]
    free = np.empty(share.size)
    asked = np.full(wanted.size, -1, np.int64)
    for w in range(wanted.size):
        case = wanted[w]
        for j in range(share.size):
            free[j] = share[j]
        if case < case_ptr.size - 1:
            for a in range(case_ptr[case], case_ptr[case + 1]):
                free[rater[a]] = 0.0
        place = head[case]
        while place >= 0:
            free[new_rater[place]] = 0.0
            place = link[place]
        if free.sum() <= 0.0:
            continue
        j = _pick(free)
        while free[j] == 0.0:  # Rounding can exceed the sum of the weights.
            j -= 1
        new_rater[n_new] = j
        new_answer[n_new] = _pick(theta[j, truth[case], :n_classes])
        link[n_new] = head[case]
        head[case] = n_new
        asked[w] = n_new
        n_new += 1
    return n_new, asked
