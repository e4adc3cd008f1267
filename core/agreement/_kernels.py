"""Sums over cases behind the agreement coefficients, mostly in one pass; no array of cases × cases or values × values.

Gwet, Handbook of Inter-Rater Reliability (2014); Krippendorff, Content Analysis (2004).
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def agreeing_pairs(ptr, count):
    """Per case n_i = sum_k n_ik and the ordered pairs of equal annotations sum_k n_ik (n_ik - 1)."""
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
    """Over cases with at least ``least`` annotations: sums over cases of n_ik / n_i, and of n_ik.

    Here and below ``times`` is how many cases a row stands for, empty for one each.
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
    """Per case sum_k n_ik value_k."""
    total = np.zeros(ptr.size - 1)
    for case in range(ptr.size - 1):
        for e in range(ptr[case], ptr[case + 1]):
            total[case] += count[e] * value[class_code[e]]
    return total


@njit(cache=True, nogil=True)
def rater_pairs(case_ptr, rater, answer, n_raters):
    """For each two raters: pairs of annotations on the same case, and how many agree. Symmetric, zero diagonal."""
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
def paired(ptr, class_code, count, matrix):
    """Per case sum_k sum_l n_ik n_il matrix_kl over its classes."""
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
    """Per case the sum over ordered pairs of (x − y)², as 2 n_i sum (x − mean)²: no pair is walked."""
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
    """Per case the sum over ordered pairs of ((x − y) / (x + y))²; 0 and 0 are alike."""
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
    """For each value the mean over all of ((x − y) / (x + y))². O(values²) steps, O(values) memory."""
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
    """Per case the sum over its annotations of value[rater, annotation]."""
    total = np.zeros(case_ptr.size - 1)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            total[case] += value[rater[a], answer[a]]
    return total


@njit(cache=True, nogil=True)
def repeated_answers(case_ptr, rater, n_raters):
    """How many annotations repeat an earlier one of the same rater on the same case."""
    last = np.full(n_raters, -1)
    repeats = 0
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            repeats += last[rater[a]] == case
            last[rater[a]] = case
    return repeats


@njit(cache=True, nogil=True)
def class_pairs(ptr, class_code, count, answers, n_classes):
    """Per class, over cases with two annotations, in shape (n_classes, 6).

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
    """Per class, in shape (n_classes, 3): sums of (h_i (P_i − P) / (1 − h_i))² and of h_i², and the largest h_i.

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
