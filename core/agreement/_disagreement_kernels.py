"""Disagreement within cases and between them, with the influence of every case on both: no array of cases is made.

``x = Σ w_i d_i / Σ w_i`` with ``d_i = 1 − Σ_c n_ic (n_ic − 1) / (n_i (n_i − 1))`` over cases of two annotations, and
``y = 1 − (Σ_c N_c² − Σ_i Σ_c n_ic²) / (N² − Σ_i n_i²)`` over all. Nørregaard & Derczynski (2022).
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def disagreement_sums(n, pairs, weight, times):
    """Sums of w_i d_i, w_i, n_i, n_i² and pairs_i; how many cases have an annotation, and how many have two.

    Here and below ``times`` is how many cases a row stands for, empty for one each.
    """
    sums = np.zeros(5)
    rated = 0
    usable = 0
    for case in range(n.size):
        like = times[case] if times.size else 1
        sums[2] += like * n[case]
        sums[3] += like * (n[case] * n[case])
        sums[4] += like * pairs[case]
        if n[case] >= 1:
            rated += like
        if n[case] >= 2:
            usable += like
            sums[0] += like * (weight[case] * (1 - pairs[case] / (n[case] * (n[case] - 1))))
            sums[1] += like * weight[case]
    return sums, rated, usable


@njit(cache=True, nogil=True)
def jackknife_sums(ptr, class_code, count, n, pairs, weight, times, total, x, y, alike, every, size, all_weight):
    """What x and y change by when a case is deleted: sums over cases of both, their squares and their product.

    ``alike`` and ``every`` are numerator and denominator of chance, ``size`` all annotations, ``all_weight`` Σ w_i.
    """
    dx_sum, dy_sum, dx_dx, dx_dy, dy_dy = 0.0, 0.0, 0.0, 0.0, 0.0
    for case in range(n.size):
        if n[case] == 0:
            continue
        mine = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            mine += count[e] * total[class_code[e]]
        # A case takes from Σ N_c² its 2 N_c n_ic − n_ic² and from N² its 2 N n_i − n_i²; sums within cases go too.
        without = alike - 2 * (mine - pairs[case] - n[case])
        dy = 1 - y - without / (every - 2 * (size - n[case]) * n[case])
        dx = 0.0
        if n[case] >= 2:
            own = 1 - pairs[case] / (n[case] * (n[case] - 1))
            dx = weight[case] * (x - own) / (all_weight - weight[case])
        like = times[case] if times.size else 1
        dx_sum += like * dx
        dy_sum += like * dy
        dx_dx += like * (dx * dx)
        dx_dy += like * (dx * dy)
        dy_dy += like * (dy * dy)
    return dx_sum, dy_sum, dx_dx, dx_dy, dy_dy


@njit(cache=True, nogil=True)
def class_majorities(ptr, class_code, count, n_classes, times):
    """Per class its annotations, and the cases of two or more of which at least half are its; all such cases."""
    total = np.zeros(n_classes)
    half = np.zeros(n_classes, np.int64)
    usable = 0
    for case in range(ptr.size - 1):
        n = 0
        like = times[case] if times.size else 1
        for e in range(ptr[case], ptr[case + 1]):
            n += count[e]
            total[class_code[e]] += like * count[e]
        if n >= 2:
            usable += like
            for e in range(ptr[case], ptr[case + 1]):
                if 2 * count[e] >= n:
                    half[class_code[e]] += like
    return total, half, usable
