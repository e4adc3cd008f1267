"""Expectation-maximisation of latent true classes over annotations in CSR by case, in log space.

E: ln q_ik = ln pi_k + sum over annotations a of i of ln theta[rater_a, k, answer_a], normalised over k; q of a case
whose class is known is 1 there. M, by the model: from expected counts sum_i q_ik, and per rater and annotation sum_a
q_ik. Both counts come in one pass: q of a case is used while hot. Dawid & Skene (1979), DOI 10.2307/2346806.
"""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def expect_and_count(case_ptr, cell, log_theta, log_prevalence, known, weight, first_case, last_case, posterior, keep):
    """One pass over cases ``first_case`` to ``last_case``.

    ``cell[a]`` is rater * n_classes + annotation; ``log_theta[cell, k]`` holds ln P(annotation | true k). ``known``
    holds the class of a case or -1, and ``weight`` how often a case counts; either may be empty. Returns the
    log-likelihood, expected cases per class, and expected annotations per (cell, true class). Fills ``posterior`` rows
    where ``keep``.
    """
    n_classes = log_prevalence.size
    n_cells = log_theta.shape[0]
    cases_of = np.zeros(n_classes)
    counts = np.zeros((n_cells, n_classes))
    q = np.empty(n_classes)
    total = 0.0
    for case in range(first_case, last_case):
        start = case_ptr[case]
        stop = case_ptr[case + 1]
        times = weight[case] if weight.size else 1.0
        if times == 0.0 and not keep:
            continue
        for k in range(n_classes):
            q[k] = log_prevalence[k]
        for a in range(start, stop):
            c = cell[a]
            for k in range(n_classes):
                q[k] += log_theta[c, k]
        truth = known[case] if known.size else -1
        if truth >= 0:
            joint = q[truth] if stop > start else 0.0
            total += times * max(joint, -745.0 * (stop - start))
            for k in range(n_classes):
                q[k] = 1.0 if k == truth else 0.0
        else:
            best = q[0]
            for k in range(1, n_classes):
                if q[k] > best:
                    best = q[k]
            if best == -np.inf:  # no class can explain these annotations: say nothing about the case
                for k in range(n_classes):
                    q[k] = 1.0
                best = -745.0
            else:
                for k in range(n_classes):
                    q[k] = 1.0 if q[k] == best else np.exp(q[k] - best)
            mass = 0.0
            for k in range(n_classes):
                mass += q[k]
            total += times * (best + np.log(mass))
            scale = 1.0 / mass
            for k in range(n_classes):
                q[k] *= scale
        if keep:
            for k in range(n_classes):
                posterior[case, k] = q[k]
        if weight.size:
            for k in range(n_classes):
                q[k] *= times
        if stop > start:  # a case that nobody annotated says nothing about prevalence
            for k in range(n_classes):
                cases_of[k] += q[k]
        for a in range(start, stop):
            c = cell[a]
            for k in range(n_classes):
                counts[c, k] += q[k]
    return total, cases_of, counts


@njit(cache=True, nogil=True)
def count_from(case_ptr, cell, posterior, n_cells):
    """Expected cases per class and annotations per (cell, true class) from given class probabilities."""
    n_classes = posterior.shape[1]
    cases_of = np.zeros(n_classes)
    counts = np.zeros((n_cells, n_classes))
    for case in range(case_ptr.size - 1):
        if case_ptr[case + 1] > case_ptr[case]:
            for k in range(n_classes):
                cases_of[k] += posterior[case, k]
        for a in range(case_ptr[case], case_ptr[case + 1]):
            for k in range(n_classes):
                counts[cell[a], k] += posterior[case, k]
    return cases_of, counts


@njit(cache=True, nogil=True)
def vote_shares(ptr, class_code, count, n_classes):
    """Share of each class among a case's annotations; uniform where a case has none."""
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
    """Which annotations are the first of their rater on their case."""
    first = np.ones(rater.size, np.bool_)
    last_case = np.full(n_raters, -1, np.int64)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if last_case[rater[a]] == case:
                first[a] = False
            last_case[rater[a]] = case
    return first
