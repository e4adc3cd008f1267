"""Kernels for charts of a rater's annotations in order of time, each against the rater's earlier annotations.

The reference before annotation t is a_t = (w a + sum_{s<t} r_s) / (w + t), with a the accuracy over all annotations,
r_s the probability that annotation s is correct, and w = `WARM_UP`. With f_t(a) = a right_t + (1 - a) wrong_t:

CUSUM (Page 1954, DOI 10.1093/biomet/41.1-2.100), self-starting (Hawkins 1987, Self-starting CUSUM charts for location
and scale, The Statistician 36): S_t = max(0, S_{t-1} + ln f_t(b_t) / f_t(a_t)), S_0 = 0, odds(b_t) = fall odds(a_t).
EWMA (Roberts 1959, DOI 10.1080/00401706.1959.10489860): E_t = (1 - l) E_{t-1} + l (a_t - r_t), E_0 = 0, drawn over
sqrt(l (1 - (1 - l)^(2t)) / (2 - l)).
"""

import numpy as np

from ..runtime.numba_setup import njit

WARM_UP = 10.0


@njit(cache=True, nogil=True)
def chart_of(right, wrong, soft, order, accuracy, fall, weight, out):
    """Fill ``out`` with the chart of the annotations in an ``order``, CUSUM if ``weight`` is 0; return its maximum."""
    value = 0.0
    top = 0.0
    decay = 1.0
    known = WARM_UP * accuracy
    for t in range(order.size):
        n = order[t]
        a = min(max(known / (WARM_UP + t), 0.02), 0.98)
        known += soft[n]
        if weight == 0.0:
            odds = fall * a / (1.0 - a)
            b = odds / (1.0 + odds)
            step = np.log((b * right[n] + (1.0 - b) * wrong[n]) / (a * right[n] + (1.0 - a) * wrong[n]))
            value = max(0.0, value + step)
            out[t] = value
        else:
            value = (1.0 - weight) * value + weight * (a - soft[n])
            decay *= (1.0 - weight) * (1.0 - weight)
            out[t] = value / np.sqrt(weight * (1.0 - decay) / (2.0 - weight))
        top = max(top, out[t])
    return top


@njit(cache=True, nogil=True)
def shuffled_highest(seed, right, wrong, soft, accuracy, fall, weight, reached, enough, highest):
    """Fill ``highest`` with the largest chart values of random orders, until ``enough`` of them are at ``reached``.

    Returns how many orders were drawn.
    """
    np.random.seed(seed)
    order = np.arange(right.size)
    chart = np.empty(right.size)
    above = 0
    for draw in range(highest.size):
        for t in range(order.size - 1, 0, -1):
            s = np.random.randint(0, t + 1)
            order[t], order[s] = order[s], order[t]
        highest[draw] = chart_of(right, wrong, soft, order, accuracy, fall, weight, chart)
        if highest[draw] >= reached:
            above += 1
            if above == enough:
                return draw + 1
    return highest.size


@njit(cache=True, nogil=True)
def change_points(right, wrong, accuracy, log_prior):
    """Compute the log evidence of a change after t annotations, t = 1..n-1, with accuracies of both parts by the prior.

    ln sum_g p_g prod_{s<=t} f_s(g) + ln sum_g p_g prod_{s>t} f_s(g), with f_s(g) = a_g right_s + (1 - a_g) wrong_s.
    """
    n, n_points = right.size, accuracy.size
    before = np.empty(n)
    found = np.empty(max(n - 1, 0))
    for backward in range(2):
        total = log_prior.copy()
        for step in range(n - 1):
            t = n - 1 - step if backward else step
            best = -np.inf
            for g in range(n_points):
                total[g] += np.log(accuracy[g] * right[t] + (1.0 - accuracy[g]) * wrong[t])
                best = max(best, total[g])
            mass = 0.0
            for g in range(n_points):
                mass += np.exp(total[g] - best)
            if backward:
                found[t - 1] = before[t - 1] + best + np.log(mass)
            else:
                before[t] = best + np.log(mass)
    return found
