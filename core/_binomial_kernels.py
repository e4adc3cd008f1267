"""Draws from a binomial distribution by inversion, for small means."""

import math

import numpy as np

from .runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def binomial_of_small_mean(n, p):
    """Draw successes among n trials with probability p of at most 1/2; takes n p steps, so n p should be small."""
    u = np.random.random()
    odds = p / (1 - p)
    term = math.exp(n * math.log1p(-p))
    k = 0
    while u > term and k < n:
        u -= term
        k += 1
        term *= odds * (n - k + 1) / k
    return k
