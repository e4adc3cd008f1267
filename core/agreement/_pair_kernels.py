"""Contingency tables of every two raters, and coefficients of two raters from a table.

With shares p_kl of a table of n pairs of annotations, margins r_k and c_l, pi = (r + c)/2: kappa = (p_a - p_e)/(1 -
p_e), p_e = sum r_k c_k (Cohen), sum pi_k^2 (Scott, alpha), sum pi_k (1 - pi_k)/(q - 1) (Gwet). The linearised error is
that of Gwet, Handbook of Inter-Rater Reliability (2014), n (n - 1) var = sum n_kl u_kl^2 with
u_kl = [(1(k = l) - p_a) - (1 - kappa) d_kl]/(1 - p_e), d_kl the derivative of p_e to p_kl.
"""

import numpy as np

from ..runtime.numba_setup import njit

COHEN, SCOTT, GWET, ALPHA = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def pair_tables(case_ptr, rater, answer, n_raters, n_classes):
    """Tables of raters i < j, rows the annotations of i, at i (2J - i - 1)/2 + j - i - 1. Shape (pairs, K, K)."""
    tables = np.zeros((n_raters * (n_raters - 1) // 2, n_classes, n_classes), np.int32)
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            for b in range(a + 1, case_ptr[case + 1]):
                i, j, k, l = rater[a], rater[b], answer[a], answer[b]  # noqa: E741
                if i == j:
                    continue
                if i > j:
                    i, j, k, l = j, i, l, k  # noqa: E741
                tables[i * (2 * n_raters - i - 1) // 2 + j - i - 1, k, l] += 1
    return tables


@njit(cache=True, nogil=True)
def chance_of_class(row, column, q, which):
    """What a class of these two shares adds to agreement by chance."""
    if which == COHEN:
        return row * column
    pi = (row + column) / 2
    if which == GWET:
        return pi * (1 - pi) / (q - 1) if q > 1 else 0.0
    return pi * pi


@njit(cache=True, nogil=True)
def slope_of_chance(row, column, other_row, other_column, q, which):
    """How agreement by chance moves with a case of two classes, ``row`` to ``other_column`` being their shares."""
    if which == COHEN:
        return column + other_row
    both = (row + column + other_row + other_column) / 2
    return (2 - both) / (q - 1) if which == GWET else both


@njit(cache=True, nogil=True)
def table_coefficients(tables, which):
    """Value and standard error of each table; NaN where undefined, and no error from one pair of annotations."""
    q = tables.shape[1]
    value = np.full(tables.shape[0], np.nan)
    error = np.full(tables.shape[0], np.nan)
    row = np.empty(q)
    column = np.empty(q)
    for t in range(tables.shape[0]):
        row[:] = 0.0
        column[:] = 0.0
        same = 0.0
        n = 0.0
        for k in range(q):
            for m in range(q):
                row[k] += tables[t, k, m]
                column[m] += tables[t, k, m]
                n += tables[t, k, m]
            same += tables[t, k, k]
        if n == 0:
            continue
        chance = 0.0
        used = 0
        for k in range(q):
            row[k] /= n
            column[k] /= n
            used += row[k] + column[k] > 0
            chance += chance_of_class(row[k], column[k], q, which)
        if q < 2 or (used < 2 and which != GWET) or chance > 1 - 1e-12:
            continue
        agreement = same / n
        kappa = (agreement - chance) / (1 - chance)
        value[t] = kappa if which != ALPHA else 1 - (1 - 1 / (2 * n)) * (1 - kappa)
        if n < 2:
            continue
        total = 0.0
        for k in range(q):
            for m in range(q):
                if tables[t, k, m] == 0:
                    continue
                slope = slope_of_chance(row[k], column[k], row[m], column[m], q, which) - 2 * chance
                u = ((1.0 if k == m else 0.0) - agreement - (1 - kappa) * slope) / (1 - chance)
                total += tables[t, k, m] * u * u
        error[t] = np.sqrt(total / (n * (n - 1)))
    return value, error
