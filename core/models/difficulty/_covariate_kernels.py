"""Kernel for a difficulty model whose prevalence and difficulty depend on the case.

``p(y_i) = Σ_z π_iz ∫ Π_a p_a(z, ε) N(ε; 0, 1) dε``, where a right annotation has log odds ``α_jz − l_i − σε``, α_j0 the
specificity and α_j1 the sensitivity of rater j, and l_i the expected difficulty of case i.
"""

import numpy as np

from ...runtime.numba_setup import njit
from ._kernels import both_ways, mix, weigh

_MOST = 100.0  # of each exponent: the product of three stays finite


@njit(cache=True, nogil=True, error_model="numpy")
def bounded_exp(x):
    """Compute exp(x), x cut to what three factors can hold."""
    return np.exp(min(max(x, -_MOST), _MOST))


@njit(cache=True, nogil=True, error_model="numpy")
def covariate_likelihood(
    logit, alpha, location, spread, node, weight, ptr, rater, positive, slope_logit, slope_alpha, slope_location
):
    """Compute the log-likelihood and its slope by σ; fills slopes by ``logit[case]``, ``alpha[rater, z]``, location.

    ``positive[a]`` is True if annotation ``a`` is of class z = 1; ``node`` and ``weight`` integrate over ε.
    """
    n_nodes = node.size
    longest = 0
    for i in range(location.size):
        longest = max(longest, ptr[i + 1] - ptr[i])
    table = np.empty((2, longest, n_nodes))
    work = np.empty((2, n_nodes))
    row = np.arange(longest)
    of_node = np.empty(n_nodes)
    for g in range(n_nodes):
        of_node[g] = bounded_exp(spread * node[g])
    slope_alpha[:] = 0.0
    value = 0.0
    slope_spread = 0.0
    for i in range(location.size):
        start = ptr[i]
        size = ptr[i + 1] - start
        slope_location[i] = 0.0
        slope_logit[i] = 0.0
        if size == 0:
            continue
        of_case = bounded_exp(location[i])
        for a in range(size):
            for z in range(2):
                factor = of_case * bounded_exp(-alpha[rater[start + a], z])
                agrees = positive[start + a] == (z == 1)
                for g in range(n_nodes):
                    against = factor * of_node[g]
                    table[z, a, g] = (1.0 if agrees else against) / (1.0 + against)
        prevalence = both_ways(logit[i])
        shift_0, total_0 = weigh(table[0], row, 0, size, weight, work[0])
        shift_1, total_1 = weigh(table[1], row, 0, size, weight, work[1])
        log_p, share = mix(prevalence, shift_0, total_0, shift_1, total_1)
        value += log_p
        slope_logit[i] = share - prevalence[1]
        for z in range(2):
            known = share / total_1 if z == 1 else (1.0 - share) / total_0
            for a in range(size):
                sign = known if positive[start + a] == (z == 1) else -known
                by_alpha = 0.0
                for g in range(n_nodes):
                    part = sign * work[z, g] * (1.0 - table[z, a, g])
                    by_alpha += part
                    slope_spread -= part * node[g]
                slope_alpha[rater[start + a], z] += by_alpha
                slope_location[i] -= by_alpha
    return value, slope_spread
