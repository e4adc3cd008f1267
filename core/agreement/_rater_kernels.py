"""Sums per rater in one walk over the annotations: agreement with the others, and coefficients without each rater.

A run is one rater on one case. With n_k annotations of class k on the case, o_k of them the rater's own, the rater
meets o (n - o) annotations of others, of which sum_k o_k (n_k - o_k) are the same.
"""

import numpy as np

from ..runtime.numba_setup import njit


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
def sums_of_cases(n, pairs):
    """Cases of one annotation or more, of two or more; over these the sums of P, n - 1, (n - 1) P, n and n (1 - P)."""
    all_rated = 0
    all_usable = 0
    all_p = 0.0
    all_w = 0.0
    all_wp = 0.0
    all_n = 0.0
    all_disagreement = 0.0
    for case in range(n.size):
        all_rated += n[case] >= 1
        if n[case] >= 2:
            all_usable += 1
            p = pairs[case] / (n[case] * (n[case] - 1.0))
            all_p += p
            all_w += n[case] - 1.0
            all_wp += (n[case] - 1.0) * p
            all_n += n[case]
            all_disagreement += n[case] * (1.0 - p)
    return all_rated, all_usable, all_p, all_w, all_wp, all_n, all_disagreement


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
def without_each_rater(rater_ptr, order, case_of, answer, ptr, class_code, count, n, pairs, mean_share, pooled):
    """Percent, SPA (annotations_m1), Fleiss' kappa and nominal alpha without each rater; and the cases left.

    The sums of all cases, with those of the rater's cases taken out and put back without the rater's annotations.
    Shape (n_raters, 4); NaN where a coefficient is undefined.
    """
    n_raters = rater_ptr.size - 1
    n_classes = pooled.size
    found = np.full((n_raters, 4), np.nan)
    left_cases = np.zeros(n_raters, np.int64)
    all_rated, all_usable, all_p, all_w, all_wp, all_n, all_disagreement = sums_of_cases(n, pairs)
    own = np.zeros(n_classes, np.int64)
    share = np.empty(n_classes)
    pool = np.empty(n_classes)
    for r in range(n_raters):
        for k in range(n_classes):
            share[k] = mean_share[k]
            pool[k] = pooled[k]
        rated = all_rated
        usable = all_usable
        total_p, total_w, total_wp, total_n, disagreement = all_p, all_w, all_wp, all_n, all_disagreement
        at = rater_ptr[r]
        while at < rater_ptr[r + 1]:
            case = case_of[order[at]]
            stop = at
            while stop < rater_ptr[r + 1] and case_of[order[stop]] == case:
                own[answer[order[stop]]] += 1
                stop += 1
            before = n[case]
            left = before - (stop - at)
            left_pairs = leave_out(ptr[case], ptr[case + 1], class_code, count, own, before, left, share, pool)
            if left == 0:
                rated -= 1
            if before >= 2:
                p = pairs[case] / (before * (before - 1.0))
                usable -= 1
                total_p -= p
                total_w -= before - 1.0
                total_wp -= (before - 1.0) * p
                total_n -= before
                disagreement -= before * (1.0 - p)
            if left >= 2:
                p = left_pairs / (left * (left - 1.0))
                usable += 1
                total_p += p
                total_w += left - 1.0
                total_wp += (left - 1.0) * p
                total_n += left
                disagreement += left * (1.0 - p)
            at = stop
        left_cases[r] = usable
        if usable == 0:
            continue
        fleiss_chance = 0.0
        alpha_chance = 0.0
        for k in range(n_classes):
            fleiss_chance += (share[k] / rated) ** 2
            alpha_chance += (pool[k] / total_n) ** 2
        found[r, 0] = min(max(total_p / usable, 0.0), 1.0)
        found[r, 1] = min(max(total_wp / total_w, 0.0), 1.0)
        if fleiss_chance < 1 - 1e-10:
            found[r, 2] = (found[r, 0] - fleiss_chance) / (1 - fleiss_chance)
        if alpha_chance < 1 - 1e-10:
            found[r, 3] = 1 - (1 - 1 / total_n) * (disagreement / total_n) / (1 - alpha_chance)
    return found, left_cases
