"""Kernels for posteriors of accuracies under a pool with a learned shape, and for Poisson-binomial tails.

Accuracies are independent draws of a pool that follows a Dirichlet process, whose base measure is a Beta distribution
[Ferguson 1973, DOI 10.1214/aos/1176342360]. Given the posteriors of the others, the prior of rater j is
g_j = (w B + S sum_{i != j} p_i) / (w + n - 1), with p_i the posterior of rater i on cells of the scale, p_j ~ L_j g_j,
and S a smoothing, without which the pool degenerates to points and intervals are too short [EM with a smoothing step:
Silverman, Jones, Wilson & Nychka 1990, Journal of the Royal Statistical Society B 52, 271-324].

The number of times that a rater names a class is a Poisson-binomial variable: a sum of unequal coin tosses.
"""

import numpy as np

from ..runtime.numba_setup import njit
from ._accuracy_kernels import log_likelihood


@njit(cache=True, nogil=True)
def likelihoods_at(right, wrong, judged, order, rater_ptr, first, last, accuracy):
    """Compute the log likelihood of raters from ``first`` to ``last`` at each ``accuracy``: (raters, accuracies)."""
    out = np.empty((last - first, accuracy.size))
    for j in range(first, last):
        log_likelihood(right, wrong, judged, order, rater_ptr[j], rater_ptr[j + 1], accuracy, out[j - first])
    return out


@njit(cache=True, nogil=True)
def _smoothed(value, kernel, out):
    """Fill ``out`` with ``value`` spread by a symmetric ``kernel`` (its middle and one side), mirrored at both ends."""
    n = value.size
    for c in range(n):
        out[c] = kernel[0] * value[c]
        for d in range(1, kernel.size):
            below, above = c - d, c + d
            below = -1 - below if below < 0 else below
            above = 2 * n - 1 - above if above >= n else above
            out[c] += kernel[d] * (value[below] + value[above])


@njit(cache=True, nogil=True)
def learn_pool(likelihood, base, kernel, most, least, total):
    """Fill ``total`` with the smoothed sum of the posteriors of all raters, and return the number of rounds.

    ``likelihood``, shape (n_raters, n_cells), is at most 1; ``base`` sums to the weight w. ``total`` contains a start.
    Rounds end when no cell of the mean posterior moved by more than ``least``.
    """
    n_raters, n_cells = likelihood.shape
    new, row, prior, smooth = np.empty(n_cells), np.empty(n_cells), np.empty(n_cells), np.empty(n_cells)
    for step in range(most):
        new[:] = 0.0
        for c in range(n_cells):
            prior[c] = base[c] + total[c]
        for j in range(n_raters):
            mass = 0.0
            for c in range(n_cells):
                row[c] = likelihood[j, c] * prior[c]
                mass += row[c]
            for c in range(n_cells):
                new[c] += row[c] / mass
        _smoothed(new, kernel, smooth)
        moved = 0.0
        for c in range(n_cells):
            moved = max(moved, abs(smooth[c] - total[c]))
            total[c] = smooth[c]
        if moved <= least * n_raters:
            return step + 1
    return most


@njit(cache=True, nogil=True)
def posteriors(likelihood, base, kernel, total, out):
    """Fill ``out`` with the posterior of each rater, leaving the rater out of the pool."""
    n_raters, n_cells = likelihood.shape
    own = np.empty(n_cells)
    for j in range(n_raters):
        mass = 0.0
        for c in range(n_cells):
            out[j, c] = likelihood[j, c] * (base[c] + total[c])
            mass += out[j, c]
        for c in range(n_cells):
            out[j, c] /= mass
        _smoothed(out[j], kernel, own)
        mass = 0.0
        for c in range(n_cells):
            out[j, c] = likelihood[j, c] * (base[c] + max(total[c] - own[c], 0.0))
            mass += out[j, c]
        for c in range(n_cells):
            out[j, c] /= mass


@njit(cache=True, nogil=True)
def at_most(chances, most):
    """Compute P(X <= most) of the Poisson-binomial X, adding one trial at a time, scaled by a log factor."""
    state = np.zeros(most + 1)
    state[0] = 1.0
    scale = 0.0
    for i in range(chances.size):
        p = chances[i]
        top = min(i + 1, most)
        for x in range(top, 0, -1):
            state[x] = state[x] * (1.0 - p) + state[x - 1] * p
        state[0] *= 1.0 - p
        if i % 64 == 63:
            largest = state.max()
            if largest == 0.0:
                return 0.0
            if largest < 1e-100:
                for x in range(most + 1):
                    state[x] /= largest
                scale += np.log(largest)
    return min(1.0, np.exp(scale + np.log(max(state.sum(), 1e-320))))
