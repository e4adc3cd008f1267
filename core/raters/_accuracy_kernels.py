"""Likelihood of the accuracy of each rater, given what the others say of each case.

ln L_j(a) = sum over annotations n of rater j of ln(a right_n + (1 - a) wrong_n), on points equally far apart on the
logit scale between bounds beyond which the likelihood is below exp(-30) of its largest value.
"""

import numpy as np

from ..machine_code import njit

_DROP = 30.0
_END = 12.0


@njit(cache=True, nogil=True)
def log_likelihood(right, wrong, judged, order, start, stop, accuracy, out):
    """Fill ``out`` with ln L at each ``accuracy``; factors are multiplied up and taken logs of now and then."""
    for g in range(accuracy.size):
        a = accuracy[g]
        total = 0.0
        product = 1.0
        for place in range(start, stop):
            n = order[place]
            if judged[n]:
                product *= a * right[n] + (1.0 - a) * wrong[n]
                if product < 1e-200:
                    total += np.log(max(product, 1e-300))
                    product = 1.0
        out[g] = total + np.log(max(product, 1e-300))


@njit(cache=True, nogil=True)
def likelihood_grids(right, wrong, judged, order, rater_ptr, first, last, n_points):
    """For each rater from ``first`` to ``last``: logits and ln L (largest 0), each of shape (raters, n_points)."""
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
