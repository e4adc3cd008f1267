"""Kernels for the truth of a case from the annotations of all raters but one.

P(z = k | annotations of all but rater j) is proportional to pi_k times the product over annotations a of the case that
are not rater j's of theta[rater_a, k, answer_a] (Dawid & Skene 1979, eq. 2.5, with the annotations of one rater taken
out).
"""

import numpy as np

from ..runtime.numba_setup import njit

_ROUNDING = 1e-6  # Probabilities of a converged fit that differ by less are considered equal.


@njit(cache=True, nogil=True)
def _left_out(case_ptr, rater, cell, log_theta, log_prevalence, known, case, a, total, p):
    """Fill ``p`` with the class probabilities of a case without annotation ``a``'s rater; return the others' number."""
    n_classes = log_prevalence.size
    others = 0
    for k in range(n_classes):
        p[k] = total[k]
    for b in range(case_ptr[case], case_ptr[case + 1]):
        if rater[b] == rater[a]:
            for k in range(n_classes):
                p[k] -= log_theta[cell[b], k]
        else:
            others += 1
    if known.size and known[case] >= 0:
        for k in range(n_classes):
            p[k] = 1.0 if k == known[case] else 0.0
        return max(others, 1)
    best = p[0]
    for k in range(1, n_classes):
        best = max(best, p[k])
    mass = 0.0
    for k in range(n_classes):
        p[k] = np.exp(p[k] - best)
        mass += p[k]
    for k in range(n_classes):
        p[k] /= mass
    return others


@njit(cache=True, nogil=True)
def _all_answers(case_ptr, cell, log_theta, log_prevalence, case, total):
    for k in range(log_prevalence.size):
        total[k] = log_prevalence[k]
    for b in range(case_ptr[case], case_ptr[case + 1]):
        for k in range(log_prevalence.size):
            total[k] += log_theta[cell[b], k]


@njit(cache=True, nogil=True)
def without_own(
    case_ptr,
    rater,
    answer,
    cell,
    fold,
    number,
    log_theta,
    log_prevalence,
    known,
    first_case,
    last_case,
    right,
    top,
    sure,
    judged,
):
    """Judge the annotations of fold ``number`` on consecutive cases by the annotations of the others.

    ``log_theta[rater * K + annotation, k]`` must be finite. Fills, by annotation, ``right`` (P that the annotation is
    the true class), ``top`` and ``sure`` (most likely class and its probability; the first of classes that differ only
    by rounding), and ``judged`` (True if there are others, or the class is known). Returns expected annotations by
    (true, annotated class).
    """
    n_classes = log_prevalence.size
    pool = np.zeros((n_classes, n_classes))
    total, p = np.empty(n_classes), np.empty(n_classes)
    for case in range(first_case, last_case):
        _all_answers(case_ptr, cell, log_theta, log_prevalence, case, total)
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if fold[a] != number:
                continue
            others = _left_out(case_ptr, rater, cell, log_theta, log_prevalence, known, case, a, total, p)
            best = 0
            for k in range(1, n_classes):
                if p[k] > p[best] * (1.0 + _ROUNDING):
                    best = k
            right[a] = p[answer[a]]
            top[a] = best
            sure[a] = p[best]
            judged[a] = others > 0
            if others:
                for k in range(n_classes):
                    pool[k, answer[a]] += p[k]
    return pool


@njit(cache=True, nogil=True)
def chance_of_mistake(
    case_ptr,
    rater,
    answer,
    cell,
    fold,
    number,
    log_theta,
    log_prevalence,
    known,
    spread,
    first_case,
    last_case,
    wrong,
):
    """Fill ``wrong`` with P(this annotation | the rater is mistaken): sum over k of p_k spread[k, it], 0 at k = it.

    This is done for the annotations of fold ``number``. ``spread[k]`` is the distribution of mistakes on class k over
    the other classes.
    """
    n_classes = log_prevalence.size
    total, p = np.empty(n_classes), np.empty(n_classes)
    for case in range(first_case, last_case):
        _all_answers(case_ptr, cell, log_theta, log_prevalence, case, total)
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if fold[a] != number:
                continue
            _left_out(case_ptr, rater, cell, log_theta, log_prevalence, known, case, a, total, p)
            chance = 0.0
            for k in range(n_classes):
                chance += p[k] * spread[k, answer[a]]
            wrong[a] = chance


@njit(cache=True, nogil=True)
def classes_by_others(case_ptr, rater, cell, log_theta, log_prevalence, known, rows, cases):
    """Compute P(z | the others) of some annotations, with their cases; shape (n_rows, n_classes)."""
    n_classes = log_prevalence.size
    found = np.empty((rows.size, n_classes))
    total = np.empty(n_classes)
    for i in range(rows.size):
        _all_answers(case_ptr, cell, log_theta, log_prevalence, cases[i], total)
        _left_out(case_ptr, rater, cell, log_theta, log_prevalence, known, cases[i], rows[i], total, found[i])
    return found
