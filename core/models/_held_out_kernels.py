"""Kernels for held-out annotations: which are hidden in which fold, and their scores under a fitted model.

A fold hides at most one rater's annotation of a case, with its repeats and those of the rater's family. The score of a
hidden annotation y of rater j is ln max(p, floor), p = Σ_k P_β(k | the case's other annotations) θ[j, k, y],
P_β(k | ·) ∝ π_k Π θ^β.
"""

import numpy as np

from ..runtime.numba_setup import njit
from ._exponential_kernels import exponentials
from ._kernels import joint


@njit(cache=True, nogil=True)
def draw_folds(case_ptr, family, is_first, seeds, n_folds, fold, scored):
    """Fill ``fold`` (-1 where never hidden) and ``scored`` (first annotations that are hidden), both by annotation.

    A case with annotations of two families or more hides one first annotation of min(n, n_folds) of them in as many
    different folds; what the same family said besides is hidden with it. ``family`` is by annotation.
    """
    for case in range(case_ptr.size - 1):
        start = case_ptr[case]
        stop = case_ptr[case + 1]
        for a in range(start, stop):
            fold[a] = -1
            scored[a] = False
        first = np.empty(stop - start, np.int64)
        n = 0
        several = False
        for a in range(start, stop):
            several = several or family[a] != family[start]
            if is_first[a]:
                first[n] = a
                n += 1
        if not several:
            continue
        np.random.seed(seeds[case])
        place = np.arange(n_folds)
        hidden = 0
        for i in range(n):
            if hidden == n_folds:
                break
            j = i + int(np.random.random() * (n - i))
            first[i], first[j] = first[j], first[i]
            if fold[first[i]] >= 0:
                continue
            j = hidden + int(np.random.random() * (n_folds - hidden))
            place[hidden], place[j] = place[j], place[hidden]
            scored[first[i]] = True
            for a in range(start, stop):
                if family[a] == family[first[i]]:
                    fold[a] = place[hidden]
            hidden += 1


@njit(cache=True, nogil=True)
def spread_folds(case_ptr, rater, seeds, n_folds, fold):
    """Fill ``fold`` by annotation: raters of a case in turn, from a fold of the case's own; repeats with the first."""
    for case in range(case_ptr.size - 1):
        place = seeds[case] % n_folds
        for a in range(case_ptr[case], case_ptr[case + 1]):
            fold[a] = -1
            for b in range(case_ptr[case], a):
                if rater[b] == rater[a]:
                    fold[a] = fold[b]
                    break
            if fold[a] < 0:
                fold[a] = place
                place = (place + 1) % n_folds


@njit(cache=True, nogil=True, error_model="numpy")
def score_hidden(  # noqa: C901 - one pass of loops over a case
    case_ptr, cell, fold, scored, hidden, log_theta, log_prevalence, betas, powers_of_prevalence, log_floor, first_case,
    last_case, sums,
):  # fmt: skip
    """Add the scores of what fold ``hidden`` hides to ``sums[case, b]``: θ to ``betas[b]``, π to its own power."""
    n_classes = log_prevalence.size
    n_betas = betas.size
    likelihood = np.empty(n_classes)
    weight = np.empty((n_betas + 1, n_classes))  # of each beta, then of the hidden annotation by true class
    flat = weight.reshape(weight.size)
    powers = np.empty(weight.size, np.int64)
    for case in range(first_case, last_case):
        start = case_ptr[case]
        stop = case_ptr[case + 1]
        target = -1
        for a in range(start, stop):
            if fold[a] == hidden and scored[a]:
                target = a
        if target < 0:
            continue
        for k in range(n_classes):
            likelihood[k] = 0.0
        for a in range(start, stop):
            if fold[a] != hidden:
                for k in range(n_classes):
                    likelihood[k] += log_theta[cell[a], k]
        for b in range(n_betas):
            best = -np.inf
            for k in range(n_classes):
                weight[b, k] = powers_of_prevalence[b] * log_prevalence[k] + betas[b] * likelihood[k]
                best = max(best, weight[b, k])
            for k in range(n_classes):
                weight[b, k] = 0.0 if best == -np.inf else weight[b, k] - best
        for k in range(n_classes):
            weight[n_betas, k] = log_theta[cell[target], k]
        exponentials(flat, flat.size, powers)
        for b in range(n_betas):
            mass = 0.0
            p = 0.0
            for k in range(n_classes):
                mass += weight[b, k]
                p += weight[b, k] * weight[n_betas, k]
            p /= mass
            sums[case, b] += max(np.log(p), log_floor) if p > 0 else log_floor


@njit(cache=True, nogil=True, error_model="numpy")
def score_cases(case_ptr, cell, fold_of_case, hidden, log_theta, log_prevalence, log_floor, first_case, last_case, out):
    """Compute ln p(annotations) of cases that fold ``hidden`` hides; each annotation counts ``log_floor`` at least."""
    n_classes = log_prevalence.size
    weight = np.empty(n_classes)
    for case in range(first_case, last_case):
        if fold_of_case[case] != hidden:
            continue
        best = joint(case_ptr, cell, log_theta, log_prevalence, case, weight)
        least = log_floor * (case_ptr[case + 1] - case_ptr[case])
        if best == -np.inf:
            out[case] = least
            continue
        mass = 0.0
        for k in range(n_classes):
            mass += np.exp(weight[k] - best)
        out[case] = max(best + np.log(mass), least)


@njit(cache=True, nogil=True, error_model="numpy")
def score_votes(case_ptr, answer, fold, scored, hidden, prior, log_floor, first_case, last_case, sums):
    """Add to ``sums[case]`` ln (n_y + a_y)/(n + Σ a) of what fold ``hidden`` hides; n_y of n others, a the prior."""
    strength = prior.sum()
    for case in range(first_case, last_case):
        target = -1
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if fold[a] == hidden and scored[a]:
                target = a
        if target < 0:
            continue
        same = prior[answer[target]]
        n = strength
        for a in range(case_ptr[case], case_ptr[case + 1]):
            if fold[a] != hidden:
                n += 1.0
                if answer[a] == answer[target]:
                    same += 1.0
        sums[case] += max(np.log(same / n), log_floor) if same > 0 else log_floor
