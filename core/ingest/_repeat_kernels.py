"""Repeated annotations of one rater on one case. No bounds are checked here."""

import numpy as np

from ..kernels import late_njit


@late_njit(cache=True, nogil=True)
def repeated_pairs(case_ptr, order, rater, n_raters):
    """Which annotations come after another of the same rater on the same case.

    ``order`` brings annotations together by case, stable; ``case_ptr`` is where each case begins in it.
    """
    repeated = np.zeros(rater.size, np.bool_)
    seen_on = np.full(n_raters, -1, np.int64)
    for case in range(case_ptr.size - 1):
        for place in range(case_ptr[case], case_ptr[case + 1]):
            annotation = order[place]
            if seen_on[rater[annotation]] == case:
                repeated[annotation] = True
            seen_on[rater[annotation]] = case
    return repeated
