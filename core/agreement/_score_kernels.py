"""Kernels for sums of the restricted likelihood of two crossed random effects.

y = mu + a_i + b_j + e. The effects of the many (``outer``) are absorbed one by one, which leaves a matrix of the few
(``inner``). Outer units with the same number of scores weigh alike, so their incidences are summed beforehand.
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def incidence_by_size(ptr, inner, score, group, n_groups, n_inner):
    """Sum per group of outer units: co-incidences (groups, J, J), incidences (groups, J), the same times the sum."""
    together = np.zeros((n_groups, n_inner, n_inner))
    single = np.zeros((n_groups, n_inner))
    summed = np.zeros((n_groups, n_inner))
    for unit in range(ptr.size - 1):
        g = group[unit]
        total = 0.0
        for a in range(ptr[unit], ptr[unit + 1]):
            total += score[a]
        for a in range(ptr[unit], ptr[unit + 1]):
            single[g, inner[a]] += 1.0
            summed[g, inner[a]] += total
            for b in range(ptr[unit], ptr[unit + 1]):
                together[g, inner[a], inner[b]] += 1.0
    return together, single, summed


@njit(cache=True, nogil=True, error_model="numpy")
def restricted(
    outer, inner, sizes, units, total, total_squares, together, single, summed, inner_n, inner_total, squares
):
    """Compute −2 restricted log likelihood at two variances over that of the error; up to a constant.

    By a Cholesky factor of its own: for matrices this small the threads of a library cost more than they bring.
    """
    n_inner = inner_n.size
    system = np.zeros((n_inner, n_inner))  # upper triangle
    ones = np.zeros(n_inner)
    scores = inner_total.copy()
    sum_ones = 0.0
    sum_cross = 0.0
    rest = squares
    log_det = 0.0
    n_scores = 0.0
    for g in range(sizes.size):
        shrink = 1.0 / (1.0 + sizes[g] * outer)
        taken = outer * shrink
        sum_ones += units[g] * sizes[g] * shrink
        sum_cross += shrink * total[g]
        rest -= taken * total_squares[g]
        log_det -= units[g] * np.log(shrink)
        n_scores += units[g] * sizes[g]
        for j in range(n_inner):
            ones[j] += shrink * single[g, j]
            scores[j] -= taken * summed[g, j]
            for i in range(j, n_inner):
                system[j, i] -= inner * taken * together[g, j, i]
    for j in range(n_inner):
        system[j, j] += 1.0 + inner * inner_n[j]
    ones_fitted = 0.0
    cross_fitted = 0.0
    scores_fitted = 0.0
    for k in range(n_inner):
        root = np.sqrt(system[k, k])
        log_det += 2.0 * np.log(root)
        for i in range(k, n_inner):
            system[k, i] /= root
        one = ones[k] / root
        score = scores[k] / root
        ones_fitted += one * one
        cross_fitted += one * score
        scores_fitted += score * score
        for i in range(k + 1, n_inner):
            factor = system[k, i]
            ones[i] -= factor * one
            scores[i] -= factor * score
            if factor != 0.0:
                for m in range(i, n_inner):
                    system[i, m] -= factor * system[k, m]
    information = sum_ones - inner * ones_fitted
    cross = sum_cross - inner * cross_fitted
    rest -= inner * scores_fitted + cross * cross / information
    # Rounding must not look like a perfect fit, so the criterion is constant below this value.
    return (n_scores - 1.0) * np.log(max(rest / squares, 1e-14)) + log_det + np.log(information)
