"""Kernels for one fixed-point step of the strength s of a Dirichlet prior s m from counts, by group of units.

    s ← (s Σ m (ψ(s m + n) − ψ(s m)) + shape − 1) / (Σ (ψ(s + N) − ψ(s)) + rate)

Minka (2000), *Estimating a Dirichlet distribution*, with a Gamma prior on s. Both differences of digamma functions are
most of the cost of an empirical Bayes fit. ψ(x + n) − ψ(x) = Σ_i n / ((x + i)(x + n + i)) up to where the asymptotic
series holds to 1e-12 (Abramowitz & Stegun 1964, 6.3.6 and 6.3.18).
"""

import numpy as np

from ..runtime.numba_setup import njit

_FROM = 8.0


@njit(cache=True, nogil=True, error_model="numpy")
def _series(x):
    """Compute how much ln x − 1/(2x) exceeds ψ(x), for x of at least 8."""
    v = 1.0 / (x * x)
    return v * (1 / 12 - v * (1 / 120 - v * (1 / 252 - v * (1 / 240 - v * (1 / 132)))))


@njit(cache=True, nogil=True, error_model="numpy")
def digamma_rise(x, n):
    """Compute ψ(x + n) − ψ(x) for x > 0 and n >= 0."""
    rise, y = 0.0, x + n
    while x < _FROM:
        rise += n / (x * y)
        x += 1.0
        y += 1.0
    return rise + np.log1p(n / x) + 0.5 * n / (x * y) + _series(x) - _series(y)


@njit(cache=True, nogil=True, error_model="numpy")
def add_rises(group, n, m, strength, total):
    """Add m (ψ(s m + n) − ψ(s m)), s that of each count's group, to ``total`` by group."""
    for place in range(n.size):
        g = group[place]
        total[g] += m[place] * digamma_rise(strength[g] * m[place], n[place])
