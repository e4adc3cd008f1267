"""Kernels for cases from draws of the parameters: probability of annotations, true class, effects, and new cases.

The posterior of a node g of the grid, given the annotations of a case, is Σ_z π_z w_g Π_a p_zg(a) over its sum;
averaged over draws it is that of the effects. P(right) on a case not seen is Σ_g w_g (λ_g + (1 - λ_g) logit⁻¹(δ_g (α -
β_g))). Leaving out one annotation of probability p weighs a draw by 1 / p (Vehtari et al. 2017, eq. 8), here averaged
over effects.
"""

import numpy as np

from ...runtime.numba_setup import njit
from ._kernels import both_ways, fill_node_table, mix, odds_against, weigh
from .nodes import MOST_EXPONENT


@njit(cache=True, nogil=True, error_model="numpy")
def pattern_probabilities(logit, alpha, ptr, cell, delta, nodes, first, last, log_p, positive):
    """Compute per draw and pattern ``first`` to ``last`` the log probability of annotations and P(z = 1 | annotations).

    ``logit[draw]``, ``alpha[draw, rater, z]``; fills ``log_p`` and ``positive``, both [draw, pattern - first].
    """
    n_nodes = nodes.shape[1]
    table = np.empty((2, 2 * alpha.shape[1], n_nodes))
    work = np.empty(n_nodes)
    for draw in range(logit.size):
        fill_node_table(odds_against(alpha[draw], delta), nodes, table)
        prevalence = both_ways(logit[draw])
        for p in range(first, last):
            shift_0, total_0 = weigh(table[0], cell, ptr[p], ptr[p + 1], nodes[2], work)
            shift_1, total_1 = weigh(table[1], cell, ptr[p], ptr[p + 1], nodes[2], work)
            log_p[draw, p - first], positive[draw, p - first] = mix(prevalence, shift_0, total_0, shift_1, total_1)


@njit(cache=True, nogil=True, error_model="numpy")
def node_posterior(logit, alpha, ptr, cell, delta, nodes, first, last, share):
    """Add the node posterior given annotations, mean over draws and true classes, to ``share[pattern, g]``."""
    n_nodes = nodes.shape[1]
    table = np.empty((2, 2 * alpha.shape[1], n_nodes))
    work = np.empty((2, n_nodes))
    for draw in range(logit.size):
        fill_node_table(odds_against(alpha[draw], delta), nodes, table)
        prevalence = both_ways(logit[draw])
        for p in range(first, last):
            shift_0, total_0 = weigh(table[0], cell, ptr[p], ptr[p + 1], nodes[2], work[0])
            shift_1, total_1 = weigh(table[1], cell, ptr[p], ptr[p + 1], nodes[2], work[1])
            _, positive = mix(prevalence, shift_0, total_0, shift_1, total_1)
            row = share[p - first]
            factor_0 = (1.0 - positive) / (total_0 * logit.size)
            factor_1 = positive / (total_1 * logit.size)
            for g in range(n_nodes):
                row[g] += factor_0 * work[0, g] + factor_1 * work[1, g]


@njit(cache=True, nogil=True, error_model="numpy")
def right_for_a_new_case(alpha, delta, nodes):
    """Compute P(right) on a new case, effects integrated, for each α of a flat array."""
    found = np.zeros(alpha.size)
    block = nodes.shape[1] // delta.size
    for i in range(alpha.size):
        for d in range(delta.size):
            exponent = -delta[d] * alpha[i]
            factor = np.exp(min(max(exponent, -MOST_EXPONENT), MOST_EXPONENT))
            for g in range(d * block, (d + 1) * block):
                found[i] += nodes[2, g] * (nodes[1, g] + (1.0 - nodes[1, g]) / (1.0 + factor * nodes[0, g]))
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def harmonic_probabilities(logit, alpha, ptr, cell, delta, nodes, first, last, log_p):
    """Compute per draw and annotation of patterns ``first`` to ``last``: -ln E[1 / (π p_1 + (1 - π) p_0)].

    p_z is the probability of that annotation at a node where the truth is z, and the expectation is over the posterior
    of the node given all annotations of the case. Fills ``log_p[draw, annotation - ptr[first]]``.
    """
    n_nodes = nodes.shape[1]
    table = np.empty((2, 2 * alpha.shape[1], n_nodes))
    inverse = np.empty(table.shape[1:])
    work = np.empty((2, n_nodes))
    share = np.empty(n_nodes)
    for draw in range(logit.size):
        fill_node_table(odds_against(alpha[draw], delta), nodes, table)
        prevalence = both_ways(logit[draw])
        for c in range(inverse.shape[0]):
            for g in range(n_nodes):
                inverse[c, g] = 1.0 / (prevalence[1] * table[1, c, g] + prevalence[0] * table[0, c, g])
        for p in range(first, last):
            shift_0, total_0 = weigh(table[0], cell, ptr[p], ptr[p + 1], nodes[2], work[0])
            shift_1, total_1 = weigh(table[1], cell, ptr[p], ptr[p + 1], nodes[2], work[1])
            _, positive = mix(prevalence, shift_0, total_0, shift_1, total_1)
            factor_0 = (1.0 - positive) / total_0
            factor_1 = positive / total_1
            for g in range(n_nodes):
                share[g] = factor_0 * work[0, g] + factor_1 * work[1, g]
            for a in range(ptr[p], ptr[p + 1]):
                row = inverse[cell[a]]
                mean = 0.0
                for g in range(n_nodes):
                    mean += share[g] * row[g]
                log_p[draw, a - ptr[first]] = -np.log(mean)
