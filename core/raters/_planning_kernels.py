"""Worlds that the data could come from, and further answers in them.

One sweep of the Gibbs sampler of Dawid & Skene's model with raters from a pool: z_i ~ pi_k prod_a theta[rater_a, k,
answer_a]; the strength s, the pool m[k, :] and theta[j, k, :] ~ Dirichlet(s m[k, :]) given the counts n[j, k, :] of
rater j on cases of class k; pi ~ Dirichlet(1 + cases by class). Given counts, theta is summed out for s, which is one
of `STRENGTHS` with equal prior: p(n | s) = prod_jk G(s) / G(s + n_jk) prod_l G(n_jkl + s m_kl) / G(s m_kl). The pool is
drawn through tables (Teh, Jordan, Beal & Blei 2006, DOI 10.1198/016214506000000302): t_jkl counts successes of trials
i = 0..n_jkl - 1 with chances s m_kl / (s m_kl + i), and m[k, :] ~ Dirichlet(b_k: + sum_j t_jk:), with b
2.5 K on the diagonal and 1 off it, the diagonal prior of the Stan user's guide, section 7.4.
"""

from math import lgamma

import numpy as np
from numba import njit

STRENGTHS = np.array([2.0, 4.0, 8.0, 16.0, 32.0, 64.0])


@njit(cache=True, nogil=True)
def _pick(share):
    """Place drawn by weights that need not sum to 1."""
    total = 0.0
    for k in range(share.size):
        total += share[k]
    at = np.random.random() * total
    for k in range(share.size - 1):
        at -= share[k]
        if at < 0.0:
            return k
    return share.size - 1


@njit(cache=True, nogil=True)
def _dirichlet(shape, out):
    """Fill ``out`` with a draw; ln Gamma(a) = ln Gamma(a + 1) + ln U / a keeps small shapes from underflow."""
    best = -np.inf
    for k in range(shape.size):
        out[k] = -np.inf
        if shape[k] > 0:
            out[k] = np.log(np.random.standard_gamma(shape[k] + 1.0)) + np.log(1.0 - np.random.random()) / shape[k]
        best = max(best, out[k])
    total = 0.0
    for k in range(shape.size):
        out[k] = np.exp(out[k] - best)
        total += out[k]
    for k in range(shape.size):
        out[k] /= total


@njit(cache=True, nogil=True)
def _draw_raters(counts, pool, theta):
    """Draw the strength, the pool and every rater, in place of those given."""
    n_raters, n_classes, _ = counts.shape
    log_p = np.zeros(STRENGTHS.size)
    for g in range(STRENGTHS.size):
        s = STRENGTHS[g]
        for j in range(n_raters):
            for k in range(n_classes):
                n = counts[j, k].sum()
                if n > 0:
                    log_p[g] += lgamma(s) - lgamma(s + n)
                    for m in range(n_classes):
                        if counts[j, k, m] > 0:
                            shape = max(s * pool[k, m], 1e-12)
                            log_p[g] += lgamma(counts[j, k, m] + shape) - lgamma(shape)
    strength = STRENGTHS[_pick(np.exp(log_p - log_p.max()))]
    for k in range(n_classes):
        tables = np.ones(n_classes)
        tables[k] = 2.5 * n_classes
        for j in range(n_raters):
            for m in range(n_classes):
                shape = max(strength * pool[k, m], 1e-12)
                for i in range(int(counts[j, k, m])):
                    if np.random.random() * (shape + i) < shape:
                        tables[m] += 1.0
        _dirichlet(tables, pool[k])
        for j in range(n_raters):
            _dirichlet(strength * pool[k] + counts[j, k], theta[j, k])


@njit(cache=True, nogil=True)
def draw_world(seed, case_ptr, rater, answer, known, pool, theta, prevalence, n_sweeps, truth):
    """Run ``n_sweeps`` from ``pool`` (true, answered), ``theta`` (rater, true, answered) and ``prevalence``.

    All three are overwritten; ``truth`` is filled.
    """
    np.random.seed(seed)
    n_raters, n_classes, _ = theta.shape
    p = np.empty(n_classes)
    log_theta = np.empty(theta.shape)
    for _ in range(n_sweeps):
        counts = np.zeros(theta.shape)
        cases_of = np.ones(n_classes)
        for j in range(n_raters):
            for k in range(n_classes):
                for m in range(n_classes):
                    log_theta[j, m, k] = np.log(max(theta[j, k, m], 1e-300))
        for case in range(case_ptr.size - 1):
            if known.size and known[case] >= 0:
                truth[case] = known[case]
            else:
                for k in range(n_classes):
                    p[k] = np.log(max(prevalence[k], 1e-300))
                for a in range(case_ptr[case], case_ptr[case + 1]):
                    for k in range(n_classes):
                        p[k] += log_theta[rater[a], answer[a], k]
                best = p.max()
                for k in range(n_classes):
                    p[k] = np.exp(p[k] - best)
                truth[case] = _pick(p)
            if case_ptr[case + 1] > case_ptr[case]:
                cases_of[truth[case]] += 1.0
            for a in range(case_ptr[case], case_ptr[case + 1]):
                counts[rater[a], truth[case], answer[a]] += 1.0
        _draw_raters(counts, pool, theta)
        _dirichlet(cases_of, prevalence)


@njit(cache=True, nogil=True)
def ask(seed, wanted, truth, theta, share, case_ptr, rater, head, link, new_rater, new_answer, n_new):
    """Ask somebody for one more answer on each case of ``wanted``, in order.

    Raters are drawn by ``share`` among those who have not answered the case; where there is none the case is skipped.
    Further answers of a case hang on ``head[case]``, linked by ``link``; ``n_new`` of them are there already. Returns
    how many there are then, and fills ``new_rater``, ``new_answer``, ``head`` and ``link``; link holds the case's
    previous further answer.
    """
    np.random.seed(seed)
    n_classes = theta.shape[1]
    free = np.empty(share.size)
    asked = np.full(wanted.size, -1, np.int64)
    for w in range(wanted.size):
        case = wanted[w]
        for j in range(share.size):
            free[j] = share[j]
        if case < case_ptr.size - 1:
            for a in range(case_ptr[case], case_ptr[case + 1]):
                free[rater[a]] = 0.0
        place = head[case]
        while place >= 0:
            free[new_rater[place]] = 0.0
            place = link[place]
        if free.sum() <= 0.0:
            continue
        j = _pick(free)
        while free[j] == 0.0:  # rounding at the very end of the weights
            j -= 1
        new_rater[n_new] = j
        new_answer[n_new] = _pick(theta[j, truth[case], :n_classes])
        link[n_new] = head[case]
        head[case] = n_new
        asked[w] = n_new
        n_new += 1
    return n_new, asked
