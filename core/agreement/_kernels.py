"""Sums over cases behind the agreement coefficients. One pass, O(answers), never an array of classes × classes.

Gwet, Handbook of Inter-Rater Reliability (2014); Krippendorff, Content Analysis (2004).
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def agreeing_pairs(ptr, count):
    """Per case n_i = sum_k n_ik and the ordered pairs of equal answers sum_k n_ik (n_ik - 1)."""
    n_cases = ptr.size - 1
    answers = np.zeros(n_cases)
    pairs = np.zeros(n_cases)
    for case in range(n_cases):
        for e in range(ptr[case], ptr[case + 1]):
            answers[case] += count[e]
            pairs[case] += count[e] * (count[e] - 1.0)
    return answers, pairs


@njit(cache=True, nogil=True)
def class_shares(ptr, class_code, count, answers, least, n_classes):
    """Over cases with at least ``least`` answers: sums over cases of n_ik / n_i, and of n_ik."""
    mean_share = np.zeros(n_classes)
    pooled = np.zeros(n_classes)
    for case in range(ptr.size - 1):
        if answers[case] >= least:
            for e in range(ptr[case], ptr[case + 1]):
                mean_share[class_code[e]] += count[e] / answers[case]
                pooled[class_code[e]] += count[e]
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
    """For each two raters: pairs of answers on the same case, and how many of them agree. Symmetric, zero diagonal."""
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
