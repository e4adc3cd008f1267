"""Kernels for draws from Dirichlet distributions in logs, and for the first classes of a draw.

Gamma(a) by Marsaglia & Tsang (2000); for a < 1, ln Gamma(a) = ln Gamma(a + 1) + ln U / a, which does not underflow.
Binomials of large means are halved by the middle one of n uniforms, a Beta draw: Relles (1972), JASA 67, 612-613.
Never-named classes are drawn as their sum, which is split by a symmetric Dirichlet only if the order of the first
places depends on it.
"""

import numpy as np

from .._binomial_kernels import binomial_of_small_mean
from ..runtime.numba_setup import njit

_FLOOR = -690.0
_TINY = np.exp(_FLOOR)
_SMALL_MEAN = 30.0


@njit(cache=True, nogil=True)
def gamma_draw(shape):
    """Draw once from Gamma(shape, 1), shape >= 1: Marsaglia & Tsang (2000)."""
    if shape == 1.0:
        return -np.log(1.0 - np.random.random())
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = np.random.standard_normal()
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = 1.0 - np.random.random()
            if u < 1.0 - 0.0331 * x * x * x * x or np.log(u) < 0.5 * x * x + d * (1.0 - v + np.log(v)):
                return d * v


@njit(cache=True, nogil=True)
def log_gamma_draw(shape):
    """Draw the logarithm of Gamma(shape, 1) once, any shape > 0: ln Gamma(a) = ln Gamma(a + 1) + ln U / a."""
    if shape >= 1.0:
        return np.log(gamma_draw(shape))
    return np.log(gamma_draw(shape + 1.0)) + np.log(1.0 - np.random.random()) / shape


@njit(cache=True, nogil=True)
def binomial_draw(n, p):
    """Draw once from Binomial(n, p), n >= 1, 0 < p < 1."""
    sure = 0
    while n * min(p, 1.0 - p) > _SMALL_MEAN:
        half = (n + 1) // 2
        below = gamma_draw(float(half))
        middle = below / (below + gamma_draw(float(n + 1 - half)))  # Rank of the middle one of n uniforms.
        if middle <= p:
            sure += half
            n -= half
            p = (p - middle) / (1.0 - middle)
        else:
            n = half - 1
            p /= middle
    if p > 0.5:
        return sure + n - binomial_of_small_mean(n, 1.0 - p)
    return sure + binomial_of_small_mean(n, p)


@njit(cache=True, nogil=True)
def ordered_exp(x):
    """Compute exp(x) for x <= 0; instead of underflow, return a tiny number that keeps the order of the arguments."""
    return np.exp(x) if x > _FLOOR else _TINY * (_FLOOR / x)


@njit(cache=True, nogil=True)
def dirichlet_draws(seed, shape, rest_shape, n_rest, n_draws, depth):
    """Draw from Dirichlet(shape..., rest_shape repeated n_rest times) with the repeated classes summed.

    Returns shares of the first classes, the sum of the rest, and the first ``depth`` places (see `leading_places`).
    """
    np.random.seed(seed)
    n_named = shape.size
    share = np.empty((n_draws, n_named))
    rest = np.zeros(n_draws)
    order = np.empty((n_draws, depth), np.int32)
    logs = np.empty(n_named + 1)
    largest = np.empty(depth)
    of_rest = rest_shape * n_rest
    plain = n_rest == 0 or of_rest >= 1.0  # Draws of shapes from 1 on are never so close to 0 that they underflow.
    for k in range(n_named):
        plain = plain and shape[k] >= 1.0
    for draw in range(n_draws):
        log_rest, total = -np.inf, 0.0
        if plain:
            for k in range(n_named):
                share[draw, k] = gamma_draw(shape[k])
                total += share[draw, k]
            if n_rest > 0:
                rest[draw] = gamma_draw(of_rest)
                log_rest = np.log(rest[draw])
        else:
            best = -np.inf
            for k in range(n_named):
                logs[k] = log_gamma_draw(shape[k])
                best = max(best, logs[k])
            logs[n_named] = log_gamma_draw(of_rest) if n_rest > 0 else -np.inf
            best = max(best, logs[n_named])
            for k in range(n_named):
                share[draw, k] = ordered_exp(logs[k] - best)
                total += share[draw, k]
            if n_rest > 0:
                rest[draw] = ordered_exp(logs[n_named] - best)
                log_rest = logs[n_named] - best
        total += rest[draw]
        leading_places(share[draw], rest[draw], log_rest, rest_shape, n_rest, order[draw], largest)
        for k in range(n_named):
            share[draw, k] /= total
        rest[draw] /= total
    return share, rest, order


@njit(cache=True, nogil=True)
def leading_places(share, rest, log_rest, rest_shape, n_rest, order, largest):
    """Fill ``order`` with the places of the most plausible classes, the most plausible first.

    A place is one in ``share``, or its size for a never-named class; -1 if there are fewer classes. ``largest`` is
    scratch of the same size; the scale of shares is free. The sum ``rest`` is split only if a named class could be
    between its members: if all named classes are above it, the places after them are never-named in any case.
    """
    n_named = share.size
    depth = order.size
    taken = 0
    for place in range(depth):  # Select the largest named classes only.
        best = -1
        for k in range(n_named):
            if best >= 0 and share[k] <= share[best]:
                continue
            seen = False
            for before in range(place):
                if order[before] == k:
                    seen = True
            if not seen:
                best = k
        if best < 0:
            break
        order[place] = best
        taken += 1
    for place in range(taken, depth):
        order[place] = -1
    if n_rest == 0:
        return
    above = 0
    while above < taken and share[order[above]] >= rest:
        above += 1
    if above == depth:
        return
    if above == n_named:
        for place in range(above, min(depth, above + n_rest)):
            order[place] = n_named
        return
    n_split = min(depth - above, n_rest)
    split_largest(log_rest, rest_shape, n_rest, largest[:n_split])
    named = above
    from_rest = 0
    kept = order[above:].copy()
    for place in range(above, depth):
        here = kept[named - above] if named - above < kept.size else -1
        if from_rest < n_split and (here < 0 or largest[from_rest] > share[here]):
            order[place] = n_named
            from_rest += 1
        else:
            order[place] = here
            named += 1


@njit(cache=True, nogil=True)
def split_largest(log_mass, shape, n_members, largest):
    """Return the largest members, descending, of a mass split by a symmetric Dirichlet over ``n_members`` classes.

    With shape 1 members are exponentials -ln U: the largest come from the smallest U, and their sum is minus the
    logarithm of a product, taken once in 16 factors (each at least 2^-53, so the product cannot underflow). Otherwise
    the members are split in halves by Beta draws, and only halves that can still contain a large member are split
    further.
    """
    if shape == 1.0:
        largest[:] = 2.0
        total = 0.0
        product = 1.0
        for t in range(n_members):
            u = 1.0 - np.random.random()
            product *= u
            if t & 15 == 15:
                total -= np.log(product)
                product = 1.0
            if u < largest[-1]:
                place = largest.size - 1
                while place > 0 and largest[place - 1] > u:
                    largest[place] = largest[place - 1]
                    place -= 1
                largest[place] = u
        total -= np.log(product)
        for place in range(largest.size):
            largest[place] = -np.exp(log_mass) * np.log(largest[place]) / total
        return
    largest[:] = -np.inf
    sizes = np.empty(2 * n_members, np.int64)
    masses = np.empty(2 * n_members)
    sizes[0] = n_members
    masses[0] = log_mass
    n_parts = 1
    while n_parts > 0:
        heaviest = 0
        for part in range(1, n_parts):
            if masses[part] > masses[heaviest]:
                heaviest = part
        size, weight = sizes[heaviest], masses[heaviest]
        n_parts -= 1
        sizes[heaviest], masses[heaviest] = sizes[n_parts], masses[n_parts]
        if weight <= largest[-1]:
            break
        if size == 1:
            place = largest.size - 1
            while place > 0 and largest[place - 1] < weight:
                largest[place] = largest[place - 1]
                place -= 1
            largest[place] = weight
            continue
        half = size // 2
        a = log_gamma_draw(shape * half)
        b = log_gamma_draw(shape * (size - half))
        both = max(a, b) + np.log1p(np.exp(-abs(a - b)))
        sizes[n_parts], masses[n_parts] = half, weight + a - both
        sizes[n_parts + 1], masses[n_parts + 1] = size - half, weight + b - both
        n_parts += 2
    for place in range(largest.size):
        largest[place] = ordered_exp(largest[place])
