"""Kernel for repeated annotations of one rater on one case. It checks no bounds."""

import numpy as np

from ..runtime.numba_setup import lazy_njit


@lazy_njit(cache=True, nogil=True)
def repeated_pairs(case_ptr, order, rater, n_raters):
    """Mark annotations whose rater annotated the same case several times: 1 the first, 2 the later ones, else 0.

    ``order`` groups annotations by case, stable; ``case_ptr`` is where each case starts in it.
    """
    mark = np.zeros(rater.size, np.int8)
    seen_on = np.full(n_raters, -1, np.int64)
    first = np.empty(n_raters, np.int64)
    for case in range(case_ptr.size - 1):
        for place in range(case_ptr[case], case_ptr[case + 1]):
            annotation = order[place]
            who = rater[annotation]
            if seen_on[who] == case:
                mark[annotation] = 2
                mark[first[who]] = 1
            else:
                seen_on[who] = case
                first[who] = annotation
    return mark
