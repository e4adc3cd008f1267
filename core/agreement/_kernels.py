"""Kernels for sums over cases of agreement coefficients, mostly in one pass, without arrays of cases × cases.

Gwet, Handbook of Inter-Rater Reliability (2014); Krippendorff, Content Analysis (2004).
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def agreeing_pairs(ptr, count):
    """Compute per case n_i = sum_k n_ik and the ordered pairs of equal annotations sum_k n_ik (n_ik - 1)."""
    n_cases = ptr.size - 1
    answers = np.zeros(n_cases)
    pairs = np.zeros(n_cases)
    for case in range(n_cases):
        for e in range(ptr[case], ptr[case + 1]):
            answers[case] += count[e]
            pairs[case] += count[e] * (count[e] - 1.0)
    return answers, pairs


@njit(cache=True, nogil=True)
def class_shares(ptr, class_code, count, answers, least, n_classes, times):
    """Compute, over cases with at least ``least`` annotations, sums over cases of n_ik / n_i, and of n_ik.

    Here and below ``times`` is the number of cases of a row, empty for one each.
    """
    mean_share = np.zeros(n_classes)
    pooled = np.zeros(n_classes)
    for case in range(ptr.size - 1):
        if answers[case] >= least:
            alike = times[case] if times.size else 1
            for e in range(ptr[case], ptr[case + 1]):
                mean_share[class_code[e]] += alike * (count[e] / answers[case])
                pooled[class_code[e]] += alike * count[e]
    return mean_share, pooled


@njit(cache=True, nogil=True)
def weighted_answers(ptr, class_code, count, value):
    """Compute per case sum_k n_ik value_k."""
    total = np.zeros(ptr.size - 1)
    for case in range(ptr.size - 1):
        for e in range(ptr[case], ptr[case + 1]):
            total[case] += count[e] * value[class_code[e]]
    return total


@njit(cache=True, nogil=True)
def rater_pairs(case_ptr, rater, answer, n_raters):
    """Count for every two raters pairs of annotations on a case, and those that agree. Symmetric, zero diagonal."""
    both = np.zeros((n_raters, n_raters), np.int64)
    agree = np.zeros((n_raters, n_raters), np.int64)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            for b in range(a + 1, case_ptr[case + 1]):
                i, j = rater[a], rater[b]
                if i == j:
                    continue
                both[i, j] += 1
                both[j, i] += 1
                if answer[a] == answer[b]:
                    agree[i, j] += 1
                    agree[j, i] += 1
    return both, agree


@njit(cache=True, nogil=True)
def pair_tables(case_ptr, rater, answer, n_raters, n_classes):
    """Build tables of raters i < j, rows the annotations of i, at i (2J - i - 1)/2 + j - i - 1. Shape (pairs, K, K)."""
    tables = np.zeros((n_raters * (n_raters - 1) // 2, n_classes, n_classes), np.int32)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            for b in range(a + 1, case_ptr[case + 1]):
                i, j, k, l = rater[a], rater[b], answer[a], answer[b]  # noqa: E741
                if i == j:
                    continue
                if i > j:
                    i, j, k, l = j, i, l, k  # noqa: E741
                tables[i * (2 * n_raters - i - 1) // 2 + j - i - 1, k, l] += 1
    return tables


@njit(cache=True, nogil=True)
def table_margins(tables):
    """Compute sums of rows and of columns of each table, both of shape (K, pairs), and of its diagonal."""
    n_tables, n_classes = tables.shape[0], tables.shape[1]
    row = np.zeros((n_classes, n_tables))
    column = np.zeros((n_classes, n_tables))
    same = np.zeros(n_tables)
    for t in range(n_tables):
        for k in range(n_classes):
            for m in range(n_classes):
                row[k, t] += tables[t, k, m]
                column[m, t] += tables[t, k, m]
            same[t] += tables[t, k, k]
    return row, column, same


@njit(cache=True, nogil=True)
def table_squares(tables, each, alike, of_row, of_column):
    """Compute per table sum_kl n_kl (each + alike(k = l) + of_row_k + of_column_l)²."""
    total = np.zeros(tables.shape[0])
    for t in range(tables.shape[0]):
        for k in range(tables.shape[1]):
            for m in range(tables.shape[1]):
                if tables[t, k, m]:
                    adds = each[t] + of_row[k, t] + of_column[m, t]
                    if k == m:
                        adds += alike[t]
                    total[t] += tables[t, k, m] * adds * adds
    return total


@njit(cache=True, nogil=True)
def paired(ptr, class_code, count, matrix):
    """Compute per case sum_k sum_l n_ik n_il matrix_kl over its classes."""
    total = np.zeros(ptr.size - 1)
    for case in range(ptr.size - 1):
        for e in range(ptr[case], ptr[case + 1]):
            k = class_code[e]
            total[case] += count[e] * count[e] * matrix[k, k]
            for f in range(e + 1, ptr[case + 1]):
                total[case] += count[e] * count[f] * (matrix[k, class_code[f]] + matrix[class_code[f], k])
    return total


@njit(cache=True, nogil=True)
def spread(ptr, class_code, count, value):
    """Compute per case the sum over ordered pairs of (x − y)², as 2 n_i sum (x − mean)² without visiting pairs."""
    total = np.zeros(ptr.size - 1)
    for case in range(ptr.size - 1):
        n = 0.0
        mean = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            n += count[e]
            mean += count[e] * (value[class_code[e]] - mean) / n
        squares = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            squares += count[e] * (value[class_code[e]] - mean) ** 2
        total[case] = 2.0 * n * squares
    return total


@njit(cache=True, nogil=True)
def ratio_spread(ptr, class_code, count, value):
    """Compute per case the sum over ordered pairs of ((x − y) / (x + y))²; two zeros are equal."""
    total = np.zeros(ptr.size - 1)
    for case in range(ptr.size - 1):
        for e in range(ptr[case], ptr[case + 1]):
            x = value[class_code[e]]
            for f in range(e + 1, ptr[case + 1]):
                y = value[class_code[f]]
                if x != y:
                    total[case] += 2.0 * count[e] * count[f] * ((x - y) / (x + y)) ** 2
    return total


@njit(cache=True, nogil=True)
def ratio_expected(value, share):
    """Compute for each value the mean over all of ((x − y) / (x + y))². O(values²) steps, O(values) memory."""
    mean = np.zeros(value.size)
    for k in range(value.size):
        for other in range(k + 1, value.size):
            x, y = value[k], value[other]
            if x != y:
                distance = ((x - y) / (x + y)) ** 2
                mean[k] += share[other] * distance
                mean[other] += share[k] * distance
    return mean


@njit(cache=True, nogil=True)
def rater_answers(case_ptr, rater, answer, value):
    """Compute per case the sum over its annotations of value[rater, annotation]."""
    total = np.zeros(case_ptr.size - 1)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            total[case] += value[rater[a], answer[a]]
    return total


@njit(cache=True, nogil=True)
def repeated_answers(case_ptr, rater, n_raters):
    """Count annotations that repeat an earlier one of the same rater on the same case."""
    last = np.full(n_raters, -1)
    repeats = 0
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            repeats += last[rater[a]] == case
            last[rater[a]] = case
    return repeats


@njit(cache=True, nogil=True)
def class_pairs(ptr, class_code, count, answers, n_classes):
    """Compute sums per class, over cases with two annotations, in shape (n_classes, 6).

    Sums of n_ik (n_ik − 1), n_ik (n_i − 1), n_ik and 1; the least and largest share (n_ik − 1) / (n_i − 1) of a case.
    """
    sums = np.zeros((n_classes, 6))
    sums[:, 4] = 2.0
    sums[:, 5] = -1.0
    for case in range(ptr.size - 1):
        if answers[case] >= 2:
            for e in range(ptr[case], ptr[case + 1]):
                one = sums[class_code[e]]
                one[0] += count[e] * (count[e] - 1.0)
                one[1] += count[e] * (answers[case] - 1.0)
                one[2] += count[e]
                one[3] += 1
                share = (count[e] - 1.0) / (answers[case] - 1.0)
                one[4] = min(one[4], share)
                one[5] = max(one[5], share)
    return sums


@njit(cache=True, nogil=True)
def class_errors(ptr, class_code, count, answers, share, weight):
    """Compute per class, (n_classes, 3): sums of (h_i (P_i − P) / (1 − h_i))² and of h_i², and the largest h_i.

    h_i = n_ik (n_i − 1) / weight_k, P_i the share (n_ik − 1) / (n_i − 1) of a case, P that of the class.
    """
    sums = np.zeros((share.size, 3))
    for case in range(ptr.size - 1):
        if answers[case] >= 2:
            for e in range(ptr[case], ptr[case + 1]):
                k = class_code[e]
                h = count[e] * (answers[case] - 1.0) / weight[k]
                own = (count[e] - 1.0) / (answers[case] - 1.0)
                if h < 1:
                    sums[k, 0] += (h * (own - share[k]) / (1 - h)) ** 2
                sums[k, 1] += h * h
                sums[k, 2] = max(sums[k, 2], h)
    return sums


# Disagreement within cases and between them, with the influence of every case on both: no array of cases is made.
#
# ``x = Σ w_i d_i / Σ w_i`` with ``d_i = 1 − Σ_c n_ic (n_ic − 1) / (n_i (n_i − 1))`` over cases of two annotations, and
# ``y = 1 − (Σ_c N_c² − Σ_i Σ_c n_ic²) / (N² − Σ_i n_i²)`` over all. Nørregaard & Derczynski (2022).


@njit(cache=True, nogil=True)
def disagreement_sums(n, pairs, weight, times):
    """Compute sums of w_i d_i, w_i, n_i, n_i² and pairs_i, and count cases with an annotation, and with two.

    Here and below ``times`` is the number of cases of a row, empty for one each.
    """
    sums = np.zeros(5)
    rated = 0
    usable = 0
    for case in range(n.size):
        like = times[case] if times.size else 1
        sums[2] += like * n[case]
        sums[3] += like * (n[case] * n[case])
        sums[4] += like * pairs[case]
        if n[case] >= 1:
            rated += like
        if n[case] >= 2:
            usable += like
            sums[0] += like * (weight[case] * (1 - pairs[case] / (n[case] * (n[case] - 1))))
            sums[1] += like * weight[case]
    return sums, rated, usable


@njit(cache=True, nogil=True)
def jackknife_sums(ptr, class_code, count, n, pairs, weight, times, total, x, y, alike, every, size, all_weight):
    """Compute changes of x and y if a case is deleted: sums over cases of both, their squares and their product.

    ``alike`` and ``every`` are numerator and denominator of chance, ``size`` all annotations, ``all_weight`` Σ w_i.
    """
    dx_sum, dy_sum, dx_dx, dx_dy, dy_dy = 0.0, 0.0, 0.0, 0.0, 0.0
    for case in range(n.size):
        if n[case] == 0:
            continue
        mine = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            mine += count[e] * total[class_code[e]]
        # A case takes from Σ N_c² its 2 N_c n_ic − n_ic² and from N² its 2 N n_i − n_i²; sums within cases go too.
        without = alike - 2 * (mine - pairs[case] - n[case])
        dy = 1 - y - without / (every - 2 * (size - n[case]) * n[case])
        dx = 0.0
        if n[case] >= 2:
            own = 1 - pairs[case] / (n[case] * (n[case] - 1))
            dx = weight[case] * (x - own) / (all_weight - weight[case])
        like = times[case] if times.size else 1
        dx_sum += like * dx
        dy_sum += like * dy
        dx_dx += like * (dx * dx)
        dx_dy += like * (dx * dy)
        dy_dy += like * (dy * dy)
    return dx_sum, dy_sum, dx_dx, dx_dy, dy_dy


@njit(cache=True, nogil=True)
def class_majorities(ptr, class_code, count, n_classes, times):
    """Count per class its annotations, and cases of two or more of which at least half have it; count all cases."""
    total = np.zeros(n_classes)
    half = np.zeros(n_classes, np.int64)
    usable = 0
    for case in range(ptr.size - 1):
        n = 0
        like = times[case] if times.size else 1
        for e in range(ptr[case], ptr[case + 1]):
            n += count[e]
            total[class_code[e]] += like * count[e]
        if n >= 2:
            usable += like
            for e in range(ptr[case], ptr[case + 1]):
                if 2 * count[e] >= n:
                    half[class_code[e]] += like
    return total, half, usable


# Unbiased moments of the class distribution of a case from its counts.
#
# With S_m = sum_c p_c^m and falling factorials (n)_m = n (n-1) ... (n-m+1), independent annotations have
# E[sum_c (n_c)_3 / (n)_3] = S_3 and E[(sum_c (n_c)_4 + sum_{c != d} (n_c)_2 (n_d)_2) / (n)_4] = S_2^2.


@njit(cache=True, nogil=True)
def power_sums(ptr, count):
    """Compute per case n, and estimates of S_2, S_3 and S_2²; NaN with fewer than two, three or four annotations."""
    n_cases = ptr.size - 1
    answers = np.zeros(n_cases)
    moments = np.full((3, n_cases), np.nan)
    for case in range(n_cases):
        n = 0.0
        two = 0.0
        three = 0.0
        four = 0.0
        squares = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            x = float(count[e])
            pairs = x * (x - 1.0)
            n += x
            two += pairs
            squares += pairs * pairs
            three += pairs * (x - 2.0)
            four += pairs * (x - 2.0) * (x - 3.0)
        answers[case] = n
        if n >= 2:
            moments[0, case] = two / (n * (n - 1.0))
        if n >= 3:
            moments[1, case] = three / (n * (n - 1.0) * (n - 2.0))
        if n >= 4:
            moments[2, case] = (four + two * two - squares) / (n * (n - 1.0) * (n - 2.0) * (n - 3.0))
    return answers, moments


# Sums per rater in one walk over the annotations: agreement with the others, and coefficients without each rater.
#
# A run is one rater on one case. With n_k annotations of class k on the case, o_k of them the rater's own, the rater
# meets o (n - o) annotations of others, of which sum_k o_k (n_k - o_k) are the same.


@njit(cache=True, nogil=True)
def agreement_of_runs(rater_ptr, order, case_of, answer, ptr, class_code, count, n_classes):
    """Compute per run: rater, pairs of annotations with others, how many agree, and the rater's annotations in it."""
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
    """Add a case to the sums, or subtract it: cases of two annotations or more, of any, and Σ P, n (1 − P), n."""
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
    """Compute the sums of `add_case` over all cases."""
    sums = np.zeros(5)
    for case in range(n.size):
        add_case(n[case], pairs[case], 1.0, sums)
    return sums


@njit(cache=True, nogil=True)
def leave_out(start, stop, class_code, count, own, before, left, share, pool):
    """Take a rater's annotations out of both sums of a case, set ``own`` to 0, and return remaining agreeing pairs."""
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
