"""Exponentials of many numbers at once, by branch-free code that compiles to vector instructions.

e^x = 2^n e^r, n = floor(x / ln 2 + 1/2), r = x - n ln 2 in two parts; e^r = 1 + 2 r P(r^2) / (Q(r^2) - r P(r^2)), the
rational approximation of Cephes (Moshier, Methods and Programs for Mathematical Functions, 1989): within one unit in
the last place. The same operations in the same order on every machine, so the same numbers.
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True, error_model="numpy")
def exponentials(x, n, powers):
    """Replace the first ``n`` of ``x``, none above 0, by e^x; from -746 down, where doubles end, it is 0.

    ``powers`` of int64, at least as long, is overwritten.
    """
    for i in range(n):
        v = max(x[i], -746.0)
        whole = np.floor(v * 1.4426950408889634 + 0.5)
        r = v - whole * 6.93145751953125e-1 - whole * 1.42860682030941723212e-6
        s = r * r
        p = r * (0.99999999999999999991 + s * (3.02994407707441961300e-2 + s * 1.26177193074810590878e-4))
        q = 2.00000000000000000009 + s * (
            2.27265548208155028766e-1 + s * (2.52448340349684104192e-3 + s * 3.00198505138664455042e-6)
        )
        half = np.floor(0.5 * whole)
        powers[i] = (np.int64(half) + 1023) << 52
        x[i] = (1.0 + 2.0 * p / (q - p)) * (1.0 + whole - 2.0 * half)
    power = powers.view(np.float64)  # 2^h has the bits of h + 1023 in the place of its exponent
    for i in range(n):
        x[i] = x[i] * power[i] * power[i]  # in two steps, for the smallest doubles have no such power
