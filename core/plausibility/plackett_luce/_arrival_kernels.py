"""Kernels for large blocks of ties in linear time, by the first arrival s after the block.

P(block before all later) = Z ∫ exp(-Z s) Π_k (1 - exp(-λ_k s)) ds. The density of ln s is log-concave, its mode between
1/Z and (n + 1)/Z: drawn exactly under three tangents, integrated by the trapezoid rule, which converges geometrically.
From a point to its double, m = 1 - exp(-λ s) becomes m (2 - m), so the rule takes exponentials in one octave only.
"""

import numpy as np

from ...runtime.numba_setup import njit

DEEP = 26.0  # The rule ends where the density is exp(-26) of its peak or less.
# Points per octave, as a multiple of the square root of n + 1: errors are below 1e-9 from 1 to 400 tied classes.
PARTS = 0.9


@njit(cache=True, nogil=True)
def log_arrival(u, member, start, stop, lam, after):
    """Compute ln of e^u exp(-Z e^u) Π (1 - exp(-λ e^u)), the density of the logarithm of the block's next arrival."""
    s = np.exp(u)
    value = u - after * s
    for e in range(start, stop):
        value += np.log(-np.expm1(-lam[member[e]] * s))
    return value


@njit(cache=True, nogil=True)
def arrival_slope(s, member, start, stop, lam, after):
    """Compute the first and second derivative of `log_arrival` by u at s = e^u."""
    first = 1.0 - after * s
    second = -after * s
    for e in range(start, stop):
        x = lam[member[e]] * s
        if x < 1e-8:
            first += 1.0 - 0.5 * x
            second -= 0.5 * x
        elif x < 700.0:
            growth = np.expm1(x)
            first += x / growth
            second += x / growth * (1.0 - x * (growth + 1.0) / growth)
    return first, second


@njit(cache=True, nogil=True)
def arrival_mode(member, start, stop, lam, after):
    """Find the mode of `log_arrival` in u, and its curvature there; the root is between 1/Z and (n + 1)/Z."""
    low = -np.log(after)
    high = low + np.log(stop - start + 1.0)
    u = 0.5 * (low + high)
    second = -1.0
    for _ in range(60):
        first, second = arrival_slope(np.exp(u), member, start, stop, lam, after)
        if first > 0.0:
            low = u
        else:
            high = u
        step = u - first / second if second < 0.0 else 0.5 * (low + high)
        if not (low < step < high):
            step = 0.5 * (low + high)
        if abs(step - u) < 1e-10:
            break
        u = step
    return u, second


@njit(cache=True, nogil=True)
def arrival_span(member, start, stop, lam, after):
    """Find the first point and the number of octaves of the trapezoid rule in ln s.

    The logarithm of the density is concave in ln s: below s = 1/8 Z, left of the mode, it falls as steeply as there;
    beyond (n + 1)/Z, right of it, by more than (n + 1)(c - 1 - ln c) at c times that.
    """
    size = stop - start
    low = 0.125 / after
    slope = 0.875
    for e in range(start, stop):
        x = lam[member[e]] * low
        if x < 1e-8:
            slope += 1.0
        elif x < 700.0:
            slope += x / np.expm1(x)
    low *= np.exp(-DEEP / slope)
    high = 2.0
    while (size + 1.0) * (high - 1.0 - np.log(high)) < DEEP:
        high *= 1.25
    return low, int(np.ceil(np.log2(high * (size + 1.0) / after / low)))


@njit(cache=True, nogil=True)
def arrival_points(member, start, stop, lam, after):
    """Compute points s of a trapezoid rule in ln s, the scaled density there, the logarithm of the scale, and the step.

    The scale is the density at (n + 1)/Z, and powers are distributed over the classes, so that nothing overflows.
    """
    size = stop - start
    parts = int(np.ceil(PARTS * np.sqrt(size + 1.0)))
    low, octaves = arrival_span(member, start, stop, lam, after)
    points = np.empty(octaves * parts)
    shared = np.empty(octaves * parts)
    density = np.ones(octaves * parts)
    reference = (size + 1.0) / after
    step = np.log(2.0) / parts
    from_low = np.log(low / reference)
    for i in range(points.size):
        points[i] = low * np.exp(i * step) if i < parts else 2.0 * points[i - parts]
        shared[i] = np.exp((from_low + i * step + (size + 1.0) - after * points[i]) / size)
    log_scale = np.log(reference) - (size + 1.0)
    arrived = np.empty(parts)
    for e in range(start, stop):
        rate = lam[member[e]]
        whole = -np.expm1(-rate * reference)
        log_scale += np.log(whole)
        for part in range(parts):
            arrived[part] = -np.expm1(-rate * points[part])
        for first in range(0, points.size, parts):
            for part in range(parts):
                density[first + part] *= arrived[part] / whole * shared[first + part]
                arrived[part] *= 2.0 - arrived[part]
    return points, density, log_scale, step


@njit(cache=True, nogil=True)
def log_large_block(member, start, stop, lam, after):
    """Compute ln Z ∫ exp(-Z s) Π (1 - exp(-λ s)) ds."""
    _, density, log_scale, step = arrival_points(member, start, stop, lam, after)
    total = 0.0
    for i in range(density.size):
        total += density[i]
    return np.log(after) + log_scale + np.log(total * step)


@njit(cache=True, nogil=True)
def arrival_hull(member, start, stop, lam, after):
    """Compute three tangents over the log-concave density of ln s: their height, corners, slopes and areas."""
    mode, curvature = arrival_mode(member, start, stop, lam, after)
    peak = log_arrival(mode, member, start, stop, lam, after)
    width = 1.2 / np.sqrt(-curvature)
    left = mode - width
    right = mode + width
    left_value = log_arrival(left, member, start, stop, lam, after)
    right_value = log_arrival(right, member, start, stop, lam, after)
    left_slope, _ = arrival_slope(np.exp(left), member, start, stop, lam, after)
    right_slope, _ = arrival_slope(np.exp(right), member, start, stop, lam, after)
    # Points at which each tangent reaches the height of the mode's (flat) tangent.
    from_left = left + (peak - left_value) / left_slope
    from_right = right + (peak - right_value) / right_slope
    return peak, from_left, from_right, left_slope, right_slope


@njit(cache=True, nogil=True)
def draw_first_arrival(member, start, stop, lam, after, hull):
    """Draw the first arrival after the block exactly, by rejection from the tangents of `arrival_hull`."""
    peak, from_left, from_right, left_slope, right_slope = hull
    left_area = 1.0 / left_slope
    middle = max(0.0, from_right - from_left)
    right_area = -1.0 / right_slope
    while True:
        pick = np.random.random() * (left_area + middle + right_area)
        if pick < left_area:
            u = from_left + np.log(1.0 - np.random.random()) / left_slope
            hull = peak + left_slope * (u - from_left)
        elif pick < left_area + middle:
            u = from_left + pick - left_area
            hull = peak
        else:
            u = from_right + np.log(1.0 - np.random.random()) / right_slope
            hull = peak + right_slope * (u - from_right)
        if np.log(1.0 - np.random.random()) <= log_arrival(u, member, start, stop, lam, after) - hull:
            return np.exp(u)


@njit(cache=True, nogil=True)
def expected_large(member, start, stop, lam, after, copies, exposure):
    """Add expected arrivals of the classes of a large block ``copies`` times, and return the expected last of them.

    With nothing after the block its order carries no information, and nobody waits for its last class.
    """
    if after == 0.0:
        for e in range(start, stop):
            exposure[member[e]] += copies / lam[member[e]]
        return 0.0
    points, density, _, _ = arrival_points(member, start, stop, lam, after)
    total = 0.0
    mean = 0.0
    slopes = np.zeros(stop - start)
    for i in range(points.size):
        s = points[i]
        total += density[i]
        mean += density[i] * s
        for e in range(start, stop):
            x = lam[member[e]] * s
            slopes[e - start] += density[i] * s / np.expm1(x) if x < 700.0 else 0.0
    for e in range(start, stop):
        exposure[member[e]] += copies * (1.0 / lam[member[e]] - slopes[e - start] / total)
    return max(0.0, mean / total - 1.0 / after)
