"""Kernels for difficulty models with annotations counted β times: classes of cases, and one more annotation.

``P_β(z, g | annotations) ∝ π_z w_g Π_a p_zg(a)^β`` over the true class z and the nodes g of the case effects; of
another annotation y, ``p(y | annotations) = Σ_zg P_β(z, g | annotations) p_zg(y)``. ``table[z, cell, g]`` as in
`_kernels`.
"""

import numpy as np

from ...runtime.numba_setup import njit
from ._kernels import both_ways, fill_node_table, odds_against


@njit(cache=True, nogil=True, error_model="numpy")
def log_table(alpha, delta, nodes):
    """Fill the table of ln p_zg(cell), shape (2, 2 * n_alpha, n_nodes)."""
    table = np.empty((2, 2 * alpha.shape[0], nodes.shape[1]))
    fill_node_table(odds_against(alpha, delta), nodes, table)
    for z in range(2):
        for c in range(table.shape[1]):
            for g in range(table.shape[2]):
                table[z, c, g] = np.log(max(table[z, c, g], 1e-300))
    return table


@njit(cache=True, nogil=True, error_model="numpy")
def _joint(table, cell, ptr, case, fold, hidden, total):
    """Fill ``total[z, g]`` with the log likelihood of the annotations of a case that fold ``hidden`` does not hide."""
    total[:] = 0.0
    for a in range(ptr[case], ptr[case + 1]):
        if fold.size == 0 or fold[a] != hidden:
            for z in range(2):
                row = table[z, cell[a]]
                for g in range(row.size):
                    total[z, g] += row[g]


@njit(cache=True, nogil=True, error_model="numpy")
def _weigh(total, log_prevalence, log_weight, beta, work):
    """Fill ``work[z, g]`` with P_β over its largest value, and return the sum."""
    best = -np.inf
    for z in range(2):
        for g in range(log_weight.size):
            work[z, g] = log_prevalence[z] + log_weight[g] + beta * total[z, g]
            best = max(best, work[z, g])
    mass = 0.0
    for z in range(2):
        for g in range(log_weight.size):
            work[z, g] = np.exp(work[z, g] - best)
            mass += work[z, g]
    return mass


@njit(cache=True, nogil=True, error_model="numpy")
def tempered_positive(logit, table, nodes, ptr, cell, beta, first, last, positive):
    """Fill ``positive[case]``, P_β(z = 1 | annotations)."""
    log_weight = np.log(nodes[2])
    prevalence = both_ways(logit)
    log_prevalence = np.array([prevalence[2], prevalence[3]])
    total = np.empty((2, log_weight.size))
    work = np.empty((2, log_weight.size))
    nothing = np.empty(0, np.int8)
    for case in range(first, last):
        _joint(table, cell, ptr, case, nothing, 0, total)
        mass = _weigh(total, log_prevalence, log_weight, beta, work)
        positive[case] = work[1].sum() / mass


@njit(cache=True, nogil=True, error_model="numpy")
def score_hidden_answers(logit, table, nodes, ptr, cell, fold, scored, hidden, betas, log_floor, first, last, sums):
    """Add the scores of what fold ``hidden`` hides to ``sums[case, beta]``."""
    log_weight = np.log(nodes[2])
    prevalence = both_ways(logit)
    log_prevalence = np.array([prevalence[2], prevalence[3]])
    total = np.empty((2, log_weight.size))
    work = np.empty((2, log_weight.size))
    for case in range(first, last):
        target = -1
        for a in range(ptr[case], ptr[case + 1]):
            if fold[a] == hidden and scored[a]:
                target = a
        if target < 0:
            continue
        _joint(table, cell, ptr, case, fold, hidden, total)
        for b in range(betas.size):
            mass = _weigh(total, log_prevalence, log_weight, betas[b], work)
            p = 0.0
            for z in range(2):
                row = table[z, cell[target]]
                for g in range(row.size):
                    p += work[z, g] * np.exp(row[g])
            sums[case, b] += max(np.log(p / mass), log_floor)
