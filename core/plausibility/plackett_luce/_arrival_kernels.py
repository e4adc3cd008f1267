"""Large blocks of ties in linear time, by the first arrival s after the block.

P(block before all later) = Z ∫ exp(-Z s) Π_k (1 - exp(-λ_k s)) ds. The density of ln s is log-concave, its mode between
1/Z and (n + 1)/Z: drawn exactly under three tangents, integrated by the trapezoid rule, which converges geometrically.
"""

import numpy as np
from numba import njit

STEPS = 96


@njit(cache=True, nogil=True)
def log_arrival(u, member, start, stop, lam, after):
    """Ln of e^u exp(-Z e^u) Π (1 - exp(-λ e^u)): density of the logarithm of the first arrival after the block."""
    s = np.exp(u)
    value = u - after * s
    for e in range(start, stop):
        value += np.log(-np.expm1(-lam[member[e]] * s))
    return value


@njit(cache=True, nogil=True)
def arrival_slope(s, member, start, stop, lam, after):
    """First and second derivative of `log_arrival` by u at s = e^u."""
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
    """Mode of `log_arrival` in u, and its curvature there; the root lies between 1/Z and (n + 1)/Z."""
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
def trapezoid(member, start, stop, lam, after):
    """First point, step and peak of a trapezoid rule that reaches to exp(-40) of the density's peak on both sides."""
    mode, curvature = arrival_mode(member, start, stop, lam, after)
    peak = log_arrival(mode, member, start, stop, lam, after)
    width = 1.0 / np.sqrt(-curvature)
    low = mode
    while log_arrival(low, member, start, stop, lam, after) - peak > -40.0:
        low -= width
    high = mode
    while log_arrival(high, member, start, stop, lam, after) - peak > -40.0:
        high += 0.5 * width
    step = (high - low) / STEPS
    return low, step, peak


@njit(cache=True, nogil=True)
def log_large_block(member, start, stop, lam, after):
    """Ln Z ∫ exp(-Z s) Π (1 - exp(-λ s)) ds by the trapezoid rule in ln s, which converges geometrically."""
    low, step, peak = trapezoid(member, start, stop, lam, after)
    total = 0.0
    for i in range(STEPS + 1):
        total += np.exp(log_arrival(low + i * step, member, start, stop, lam, after) - peak)
    return np.log(after) + peak + np.log(total * step)


@njit(cache=True, nogil=True)
def draw_first_arrival(member, start, stop, lam, after):
    """Exact draw of the first arrival after the block, by rejection from three tangents of the log-concave density."""
    mode, curvature = arrival_mode(member, start, stop, lam, after)
    peak = log_arrival(mode, member, start, stop, lam, after)
    width = 1.2 / np.sqrt(-curvature)
    left = mode - width
    right = mode + width
    left_value = log_arrival(left, member, start, stop, lam, after)
    right_value = log_arrival(right, member, start, stop, lam, after)
    left_slope, _ = arrival_slope(np.exp(left), member, start, stop, lam, after)
    right_slope, _ = arrival_slope(np.exp(right), member, start, stop, lam, after)
    # Where each tangent reaches the height of the mode's (flat) tangent.
    from_left = left + (peak - left_value) / left_slope
    from_right = right + (peak - right_value) / right_slope
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
    """Expected arrivals of the classes of a large block, added ``copies`` times; returns the expected last of them.

    With nothing after the block its order carries no information, and nobody waits for its last class.
    """
    if after == 0.0:
        for e in range(start, stop):
            exposure[member[e]] += copies / lam[member[e]]
        return 0.0
    low, step, peak = trapezoid(member, start, stop, lam, after)
    total = 0.0
    mean = 0.0
    slopes = np.zeros(stop - start)
    for i in range(STEPS + 1):
        u = low + i * step
        s = np.exp(u)
        density = np.exp(log_arrival(u, member, start, stop, lam, after) - peak)
        total += density
        mean += density * s
        for e in range(start, stop):
            x = lam[member[e]] * s
            slopes[e - start] += density * s / np.expm1(x) if x < 700.0 else 0.0
    for e in range(start, stop):
        exposure[member[e]] += copies * (1.0 / lam[member[e]] - slopes[e - start] / total)
    return max(0.0, mean / total - 1.0 / after)
