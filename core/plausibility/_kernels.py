"""Draws from Dirichlet distributions with tiny shapes, in logs.

Gamma(a) by Marsaglia & Tsang (2000); for a < 1, ln Gamma(a) = ln Gamma(a + 1) + ln U / a, which does not underflow.
"""

import numpy as np
from numba import njit

_FLOOR = -690.0
_TINY = np.exp(_FLOOR)


@njit(cache=True, nogil=True)
def log_gamma_draw(shape):
    """Logarithm of one draw from Gamma(shape, 1)."""
    boost = 0.0
    if shape < 1.0:
        boost = np.log(1.0 - np.random.random()) / shape
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = np.random.standard_normal()
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = 1.0 - np.random.random()
            if np.log(u) < 0.5 * x * x + d - d * v + d * np.log(v):
                return np.log(d * v) + boost


@njit(cache=True, nogil=True)
def ordered_exp(x):
    """exp(x) for x <= 0; where it would underflow, a tiny number that still keeps the order of the arguments."""
    return np.exp(x) if x > _FLOOR else _TINY * (_FLOOR / x)


@njit(cache=True, nogil=True)
def dirichlet_draws(seed, shape, rest_shape, n_rest, n_draws, depth):
    """Draws of Dirichlet(shape..., rest_shape repeated n_rest times) with the repeated classes summed.

    Returns shares of the first classes, the sum of the rest, and its ``depth`` largest members where they can be among
    the first ``depth`` of all classes (else 0).
    """
    np.random.seed(seed)
    n_named = shape.size
    share = np.empty((n_draws, n_named))
    rest = np.zeros(n_draws)
    rest_top = np.zeros((n_draws, depth))
    logs = np.empty(n_named + 1)
    members = np.empty(n_rest)
    for draw in range(n_draws):
        best = -np.inf
        for k in range(n_named):
            logs[k] = log_gamma_draw(shape[k])
            best = max(best, logs[k])
        logs[n_named] = log_gamma_draw(rest_shape * n_rest) if n_rest > 0 else -np.inf
        best = max(best, logs[n_named])
        total = 0.0
        for k in range(n_named):
            share[draw, k] = ordered_exp(logs[k] - best)
            total += share[draw, k]
        rest[draw] = ordered_exp(logs[n_named] - best)
        total += rest[draw]
        for k in range(n_named):
            share[draw, k] /= total
        rest[draw] /= total
        larger = 0
        for k in range(n_named):
            if share[draw, k] >= rest[draw]:
                larger += 1
        if n_rest > 0 and larger < depth:
            split_largest(logs[n_named] - best, rest_shape, members, rest_top[draw])
            rest_top[draw] /= total
    return share, rest, rest_top


@njit(cache=True, nogil=True)
def split_largest(log_mass, shape, members, largest):
    """The largest members, descending, when a mass is split by a symmetric Dirichlet over ``members.size`` classes.

    With shape 1 members are exponentials -ln U: the largest come from the smallest U, and their sum is minus the
    logarithm of a product, taken once in 16 factors (each at least 2^-53, so the product cannot underflow).
    """
    total = 0.0
    scale = 0.0
    if shape == 1.0:
        product = 1.0
        for t in range(members.size):
            members[t] = 1.0 - np.random.random()
            product *= members[t]
            if t & 15 == 15:
                total -= np.log(product)
                product = 1.0
        total -= np.log(product)
    else:
        best = -np.inf
        for t in range(members.size):
            members[t] = log_gamma_draw(shape)
            best = max(best, members[t])
        for t in range(members.size):
            total += np.exp(members[t] - best)
        scale = log_mass - best - np.log(total)
    for place in range(min(largest.size, members.size)):
        which = 0
        if shape == 1.0:
            for t in range(1, members.size):
                if members[t] < members[which]:
                    which = t
            largest[place] = -np.exp(log_mass) * np.log(members[which]) / total
            members[which] = 2.0
        else:
            for t in range(1, members.size):
                if members[t] > members[which]:
                    which = t
            largest[place] = ordered_exp(scale + members[which])
            members[which] = -np.inf
