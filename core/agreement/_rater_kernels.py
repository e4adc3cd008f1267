"""Sums per rater in one walk over the annotations: agreement with the others, and coefficients without each rater.

A run is one rater on one case. With n_k annotations of class k on the case, o_k of them the rater's own, the rater
meets o (n - o) annotations of others, of which sum_k o_k (n_k - o_k) are the same.
"""

import numpy as np

from ..machine_code import njit


@njit(cache=True, nogil=True)
def agreement_of_runs(rater_ptr, order, case_of, answer, ptr, class_code, count, n_classes):
    """Per run: rater, pairs of annotations with others, how many agree, and the rater's annotations in it."""
    n = order.size
    rater = np.empty(n, np.int64)
    pairs = np.empty(n)
    agree = np.empty(n)
    mine = np.empty(n, np.int64)
    own = np.zeros(n_classes, np.int64)
    n_runs = 0
    for r in range(rater_ptr.size - 1):
        at = rater_ptr[r]
        while at < rater_ptr[r + 1]:
            case = case_of[order[at]]
            stop = at
            while stop < rater_ptr[r + 1] and case_of[order[stop]] == case:
                own[answer[order[stop]]] += 1
                stop += 1
            total = 0
            same = 0
            for e in range(ptr[case], ptr[case + 1]):
                k = class_code[e]
                total += count[e]
                same += own[k] * (count[e] - own[k])
                own[k] = 0
            rater[n_runs] = r
            mine[n_runs] = stop - at
            pairs[n_runs] = (stop - at) * (total - (stop - at))
            agree[n_runs] = same
            n_runs += 1
            at = stop
    return rater[:n_runs], pairs[:n_runs], agree[:n_runs], mine[:n_runs]


@njit(cache=True, nogil=True)
def add_case(n, pairs, sign, sums):
    """Add a case to the sums, or take it away: cases of two annotations or more, of any, and Σ P, n (1 − P), n."""
    if n >= 1:
        sums[1] += sign
    if n >= 2:
        p = pairs / (n * (n - 1.0))
        sums[0] += sign
        sums[2] += sign * p
        sums[3] += sign * (n * (1.0 - p))
        sums[4] += sign * n


@njit(cache=True, nogil=True)
def sums_of_cases(n, pairs):
    """The sums of `add_case` over all cases."""
    sums = np.zeros(5)
    for case in range(n.size):
        add_case(n[case], pairs[case], 1.0, sums)
    return sums


@njit(cache=True, nogil=True)
def leave_out(start, stop, class_code, count, own, before, left, share, pool):
    """Take one rater's annotations out of a case's part of both sums, and set ``own`` to 0; its agreeing pairs then."""
    left_pairs = 0.0
    for e in range(start, stop):
        k = class_code[e]
        rest = float(count[e] - own[k])
        own[k] = 0
        left_pairs += rest * (rest - 1.0)
        share[k] -= count[e] / before
        if left >= 1:
            share[k] += rest / left
        if before >= 2:
            pool[k] -= count[e]
        if left >= 2:
            pool[k] += rest
    return left_pairs


@njit(cache=True, nogil=True)
def sums_without(first, sums, share, pool, rater_ptr, order, case_of, answer, ptr, class_code, count, n, pairs):
    """Take one rater after the other, from ``first``, out of rows that begin as the sums of all cases.

    Rows of ``sums`` are those of `add_case`, rows of ``share`` and ``pool`` the two sums of `class_shares`, over cases
    of one annotation or more and of two or more.
    """
    own = np.zeros(pool.shape[1], np.int64)
    for row in range(sums.shape[0]):
        left_sums, left_share, left_pool = sums[row], share[row], pool[row]
        at = rater_ptr[first + row]
        while at < rater_ptr[first + row + 1]:
            case = case_of[order[at]]
            stop = at
            while stop < rater_ptr[first + row + 1] and case_of[order[stop]] == case:
                own[answer[order[stop]]] += 1
                stop += 1
            before = n[case]
            left = before - (stop - at)
            rest = leave_out(ptr[case], ptr[case + 1], class_code, count, own, before, left, left_share, left_pool)
            add_case(before, pairs[case], -1.0, left_sums)
            add_case(left, rest, 1.0, left_sums)
            at = stop
