"""Expectation-maximisation of latent true classes over annotations in CSR by case, in log space.

E: ln q_ik = ln pi_k + sum over annotations a of i of ln theta[rater_a, k, answer_a], normalised over k; q of a case
whose class is known is 1 there. M, by the model: from expected counts sum_i q_ik, and per rater and annotation sum_a
q_ik. Both counts come in one pass: q of a case is used while hot. Dawid & Skene (1979), DOI 10.2307/2346806.
"""

import numpy as np

from ..runtime.numba_setup import njit
from ._exponential_kernels import exponentials


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def joint(case_ptr, cell, log_theta, log_prevalence, case, q):
    """Fill ``q`` with ln P(true class k, annotations of the case), and return the greatest."""
    n_classes = log_prevalence.size
    start = case_ptr[case]
    stop = case_ptr[case + 1]
    top = -np.inf
    fours = n_classes - n_classes % 4
    for k in range(0, fours, 4):  # four sums in registers
        s0 = log_prevalence[k]
        s1 = log_prevalence[k + 1]
        s2 = log_prevalence[k + 2]
        s3 = log_prevalence[k + 3]
        for a in range(start, stop):
            c = np.uintp(cell[a])
            s0 += log_theta[c, k]
            s1 += log_theta[c, k + 1]
            s2 += log_theta[c, k + 2]
            s3 += log_theta[c, k + 3]
        q[k] = s0
        q[k + 1] = s1
        q[k + 2] = s2
        q[k + 3] = s3
        top = max(top, max(max(s0, s1), max(s2, s3)))
    for k in range(fours, n_classes):
        s0 = log_prevalence[k]
        for a in range(start, stop):
            s0 += log_theta[np.uintp(cell[a]), k]
        q[k] = s0
        top = max(top, s0)
    return top


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _count_case(case_ptr, cell, case, q, scale, cases_of, counts):
    """Add a case's class probabilities ``scale * q`` to the expected cases and annotations."""
    start = case_ptr[case]
    stop = case_ptr[case + 1]
    if stop == start:  # a case that nobody annotated says nothing about prevalence
        return
    n_classes = q.size
    fours = n_classes - n_classes % 4
    for k in range(0, fours, 4):
        s0 = q[k] * scale
        s1 = q[k + 1] * scale
        s2 = q[k + 2] * scale
        s3 = q[k + 3] * scale
        cases_of[k] += s0
        cases_of[k + 1] += s1
        cases_of[k + 2] += s2
        cases_of[k + 3] += s3
        for a in range(start, stop):
            c = np.uintp(cell[a])
            counts[c, k] += s0
            counts[c, k + 1] += s1
            counts[c, k + 2] += s2
            counts[c, k + 3] += s3
    for k in range(fours, n_classes):
        s0 = q[k] * scale
        cases_of[k] += s0
        for a in range(start, stop):
            counts[np.uintp(cell[a]), k] += s0


@njit(cache=True, nogil=True, error_model="numpy")
def expect_and_count(case_ptr, cell, log_theta, log_prevalence, known, weight, first_case, last_case, posterior, keep):
    """Run one pass over cases ``first_case`` to ``last_case``, in blocks whose exponentials are computed together.

    ``cell[a]`` is rater * n_classes + annotation; ``log_theta[cell, k]`` holds ln P(annotation | true k). ``known``
    holds the class of a case or -1, and ``weight`` how often a case counts; either may be empty. Returns the
    log-likelihood, expected cases per class, and expected annotations per (cell, true class). Fills ``posterior`` rows
    where ``keep``.
    """
    n_classes = log_prevalence.size
    cases_of = np.zeros(n_classes)
    counts = np.zeros(log_theta.shape)
    size = max(1, min(256, 2048 // n_classes))  # a block stays in the fastest memory
    q = np.empty((size, n_classes))
    flat = q.reshape(size * n_classes)
    powers = np.empty(size * n_classes, np.int64)
    total = 0.0
    product = 1.0  # of masses, whose logs are taken together where every case counts once
    for first in range(first_case, last_case, size):
        n = min(size, last_case - first)
        for i in range(n):
            case = first + i
            times = weight[case] if weight.size else 1.0
            if times == 0.0 and not keep:
                for k in range(n_classes):
                    q[i, k] = 0.0
                continue
            top = joint(case_ptr, cell, log_theta, log_prevalence, case, q[i])
            truth = known[case] if known.size else -1
            if truth >= 0:
                n_answers = case_ptr[case + 1] - case_ptr[case]
                of_truth = q[i, truth] if n_answers else 0.0
                total += times * max(of_truth, -745.0 * n_answers)
                for k in range(n_classes):
                    q[i, k] = 0.0 if k == truth else -np.inf
            elif top == -np.inf:  # no class can explain these annotations: say nothing about the case
                total -= times * 745.0
                for k in range(n_classes):
                    q[i, k] = 0.0
            else:
                total += times * top
                for k in range(n_classes):
                    q[i, k] -= top
        exponentials(flat, n * n_classes, powers)
        for i in range(n):
            case = first + i
            times = weight[case] if weight.size else 1.0
            if times == 0.0 and not keep:
                continue
            mass = 0.0
            for k in range(n_classes):
                mass += q[i, k]
            if weight.size:
                total += times * np.log(mass)
            else:
                product *= mass
                if product > 1e200:
                    total += np.log(product)
                    product = 1.0
            if keep:
                for k in range(n_classes):
                    posterior[case, k] = q[i, k] / mass
            _count_case(case_ptr, cell, case, q[i], times / mass, cases_of, counts)
    return total + np.log(product), cases_of, counts


@njit(cache=True, nogil=True)
def count_from(case_ptr, cell, posterior, n_cells, weight):
    """Sum expected cases per class and annotations per (cell, true class) from given class probabilities.

    ``weight`` is how often a case counts, empty for once.
    """
    n_classes = posterior.shape[1]
    cases_of = np.zeros(n_classes)
    counts = np.zeros((n_cells, n_classes))
    for case in range(case_ptr.size - 1):
        times = weight[case] if weight.size else 1.0
        _count_case(case_ptr, cell, case, posterior[case], times, cases_of, counts)
    return cases_of, counts


@njit(cache=True, nogil=True, error_model="numpy")
def row_shares(counts, theta):
    """Fill ``theta`` with each true class's shares of the annotated ones, by rater; uniform if there are none."""
    n_raters, n_classes, _ = counts.shape
    total = np.empty(n_classes)
    for rater in range(n_raters):
        for k in range(n_classes):
            total[k] = 0.0
        for m in range(n_classes):
            for k in range(n_classes):
                total[k] += counts[rater, m, k]
        for m in range(n_classes):
            for k in range(n_classes):
                theta[rater, m, k] = counts[rater, m, k] / total[k] if total[k] > 0 else 1.0 / n_classes


@njit(cache=True, nogil=True)
def right_and_wrong(counts, right, wrong):
    """Fill both, shape (n_raters, n_classes), with expected annotations of each true class, by whether they name it."""
    n_raters, n_classes, _ = counts.shape
    for rater in range(n_raters):
        for k in range(n_classes):
            right[rater, k] = counts[rater, k, k]
            wrong[rater, k] = 0.0
        for m in range(n_classes):
            for k in range(n_classes):
                if m != k:
                    wrong[rater, k] += counts[rater, m, k]


@njit(cache=True, nogil=True)
def log_prior(pseudo, log_theta):
    """Sum pseudo-counts times logs, 0 ln 0 = 0; ``pseudo`` is of each rater, or its first axis 1 of all."""
    n_raters, n_classes, _ = log_theta.shape
    total = 0.0
    for rater in range(n_raters):
        own = pseudo[rater if pseudo.shape[0] > 1 else 0]
        for m in range(n_classes):
            for k in range(n_classes):
                if own[m, k] > 0:
                    total += own[m, k] * log_theta[rater, m, k]
    return total


@njit(cache=True, nogil=True)
def vote_shares(ptr, class_code, count, n_classes):
    """Compute the share of each class among a case's annotations; uniform if a case has none."""
    n_cases = ptr.size - 1
    share = np.zeros((n_cases, n_classes))
    for case in range(n_cases):
        answers = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            answers += count[e]
        if answers == 0:
            for k in range(n_classes):
                share[case, k] = 1.0 / n_classes
        for e in range(ptr[case], ptr[case + 1]):
            share[case, class_code[e]] = count[e] / answers
    return share


@njit(cache=True, nogil=True)
def first_answers(case_ptr, rater, n_raters):
    """Return True for annotations that are the first of their rater on their case."""
    first = np.ones(rater.size, np.bool_)
    last_case = np.full(n_raters, -1, np.int64)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if last_case[rater[a]] == case:
                first[a] = False
            last_case[rater[a]] = case
    return first
