"""Kernels for statistics of a dataset that a predictive check compares with replicates, in one pass over annotations.

Positive annotations per rater and class: r_jk = Σ_a I(rater_a = j, answer_a = k).
Histogram of votes per class: v_km = number of cases i with Σ_{a of i} I(answer_a = k) = m (Han et al., section 6).
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def count_statistics(case_ptr, rater, answer, row_of_class, of_rater, of_votes):
    """Fill ``of_rater`` (n_rows, n_raters) and ``of_votes`` (n_rows, most annotations of a case + 1), both int64.

    ``row_of_class[k]`` is the row that counts class k, -1 if none does. Cases without annotations are not counted.
    """
    of_rater[:] = 0
    of_votes[:] = 0
    n_rows = of_rater.shape[0]
    votes = np.zeros(n_rows, np.int64)
    n_answered = 0
    for case in range(case_ptr.size - 1):
        start = case_ptr[case]
        stop = case_ptr[case + 1]
        if stop > start:
            n_answered += 1
        for a in range(start, stop):
            row = row_of_class[answer[a]]
            if row >= 0:
                of_rater[row, rater[a]] += 1
                votes[row] += 1
        for a in range(start, stop):  # only rows that were touched: the cost does not grow with the number of classes
            row = row_of_class[answer[a]]
            if row >= 0 and votes[row] > 0:
                of_votes[row, votes[row]] += 1
                votes[row] = 0
    for row in range(n_rows):
        of_votes[row, 0] = n_answered - of_votes[row].sum()


@njit(cache=True, nogil=True)
def tally(replicate, observed, n_above, n_equal):
    """Count, statistic by statistic, whether a replicate is above the data or equal to them."""
    for s in range(observed.size):
        if replicate[s] > observed[s]:
            n_above[s] += 1
        elif replicate[s] == observed[s]:
            n_equal[s] += 1
