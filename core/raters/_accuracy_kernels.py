"""Kernels for the likelihood of the accuracy of each rater, given the others' annotations of each case.

ln L_j(a) = sum over annotations n of rater j of ln(a right_n + (1 - a) wrong_n), on points equally far apart on the
logit scale between bounds beyond which the likelihood is below exp(-30) of its largest value.
"""

import numpy as np

from ..runtime.numba_setup import njit

_DROP = 30.0
_END = 12.0
# Products are moved to logs below the first bound; likelihoods below the second count as 0.
_SMALL, _SMALLEST = 1e-100, 1e-300


@njit(cache=True, nogil=True)
def log_likelihood(right, wrong, judged, order, start, stop, accuracy, out):
    """Fill ``out`` with ln L at each ``accuracy``, in ascending order.

    Factors of all accuracies are multiplied in parallel, and logs of the products are taken before one could vanish: a
    factor is linear in the accuracy, so the smallest one is at an end.
    """
    n_points = accuracy.size
    lowest, highest = accuracy[0], accuracy[n_points - 1]
    mistaken, product = 1.0 - accuracy, np.ones(n_points)
    out[:n_points] = 0.0
    least = 1.0  # No product is smaller.
    for place in range(start, stop):
        n = order[place]
        if not judged[n]:
            continue
        p, q = right[n], wrong[n]
        factor = min(lowest * p + (1.0 - lowest) * q, highest * p + (1.0 - highest) * q)
        if least * factor < _SMALLEST:
            _take_logs(product, _SMALL, out)
            least = _SMALL
        for g in range(n_points):
            product[g] *= accuracy[g] * p + mistaken[g] * q
        least *= factor
    _take_logs(product, np.inf, out)


@njit(cache=True, nogil=True)
def _take_logs(product, below, out):
    """Move products below a bound to ``out``, as their logs."""
    for g in range(product.size):
        if product[g] < below:
            out[g] += np.log(max(product[g], _SMALLEST))
            product[g] = 1.0


@njit(cache=True, nogil=True)
def likelihood_grids(right, wrong, judged, order, rater_ptr, first, last, n_points):
    """Compute, for raters from ``first`` to ``last``, logits and ln L (largest 0), each of shape (raters, n_points)."""
    logit = np.empty((last - first, n_points))
    value = np.empty((last - first, n_points))
    point = np.empty(n_points)
    for j in range(first, last):
        low, high = -_END, _END
        row = value[j - first]
        for _ in range(6):
            step = (high - low) / (n_points - 1)
            for g in range(n_points):
                logit[j - first, g] = low + g * step
                point[g] = 1.0 / (1.0 + np.exp(-logit[j - first, g]))
            log_likelihood(right, wrong, judged, order, rater_ptr[j], rater_ptr[j + 1], point, row)
            best = row.max()
            begin, end = 0, n_points - 1
            while row[begin] < best - _DROP:
                begin += 1
            while row[end] < best - _DROP:
                end -= 1
            for g in range(n_points):
                row[g] -= best
            if end - begin > n_points // 3:
                break
            begin, end = max(begin - 1, 0), min(end + 1, n_points - 1)
            low, high = logit[j - first, begin], logit[j - first, end]
    return logit, value
