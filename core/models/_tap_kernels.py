"""Kernels for the exact M-step of the t-a-p model.

A rater gives the truth with probability a, else draws from p: theta[k, l] = (1 - a) p_l + a 1(k = l). With D_l the
expected right annotations l, O_l the expected wrong ones and n all of them, sum_l D_l ln(a + u_l) + O_l ln u_l,
u = (1 - a) p, is greatest where n u_l^2 + (n a - D_l - O_l) u_l - a O_l = 0 and a + sum_l u_l = 1. The sum is convex
in a, with a root at 0; the other one, if it is above, is the maximum. The moments printed in Eubanks, Kappa Zoo,
chapter 9, are another step, which can lower the likelihood.
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True, error_model="numpy")
def sum_at(a, n, right, wrong, u):
    """Compute the sum a + sum_l u_l - 1 and its slope at a; fills ``u`` with the roots."""
    value = a - 1.0
    slope = 1.0
    for k in range(u.size):
        s = right[k] + wrong[k] - n * a
        root = np.sqrt(s * s + 4.0 * n * a * wrong[k])
        if s >= 0:
            u[k] = (s + root) / (2.0 * n)
        else:
            u[k] = 2.0 * a * wrong[k] / (root - s)
        value += u[k]
        if root > 0:
            slope += (wrong[k] - n * u[k]) / root
    return value, slope


@njit(cache=True, nogil=True, error_model="numpy")
def accuracy_and_guesses(right, wrong, accuracy, guess):
    """Fill ``accuracy`` and the rows of ``guess`` from expected right and wrong ones, shape (n_raters, n_classes).

    A rater without annotations keeps what stands there; one without wrong annotations gets accuracy 1 and keeps
    ``guess``.
    """
    n_raters, n_classes = right.shape
    u = np.empty(n_classes)
    for rater in range(n_raters):
        n = 0.0
        mistakes = 0.0
        share = 0.0
        for k in range(n_classes):
            both = right[rater, k] + wrong[rater, k]
            n += both
            mistakes += wrong[rater, k]
            if both > 0:
                share += right[rater, k] / both
        if n == 0:
            continue
        if mistakes == 0:
            accuracy[rater] = 1.0
            continue
        a = 1.0
        if share <= 1.0:
            a = 0.0
        for _step in range(200):
            value, slope = sum_at(a, n, right[rater], wrong[rater], u)
            if a == 0.0 or value <= 0.0 or slope <= 0.0:
                break
            lower = a - value / slope
            if lower >= a:
                break
            a = max(lower, 0.0)
        mass = 0.0
        for k in range(n_classes):
            mass += u[k]
        accuracy[rater] = a
        for k in range(n_classes):
            guess[rater, k] = u[k] / mass
