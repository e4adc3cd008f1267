"""Kernels that draw labels from plausibilities, and compute the mean score of a case under one draw of them.

``Y_i^(1..m) ~ Cat(λ_i)``; ``e_i = Σ_k λ_ik E(x_i, k)`` [Stutz et al., Conformal prediction under ambiguous ground
truth, 2023].
"""

import numpy as np

from ..plausibility._kernels import log_gamma_draw, ordered_exp
from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def draw_labels(seeds, ptr, class_code, share, n_rest, n_labels):
    """Draw classes with the probabilities ``share``; the remainder is divided equally among the others.

    ``class_code`` ascends in each case. Returns int32 of shape (n_cases, n_labels).
    """
    n_cases = len(ptr) - 1
    labels = np.empty((n_cases, n_labels), np.int32)
    for case in range(n_cases):
        np.random.seed(seeds[case])
        first, last = ptr[case], ptr[case + 1]
        for n in range(n_labels):
            left = np.random.random()
            code = -1
            for entry in range(first, last):
                left -= share[entry]
                if left < 0.0:
                    code = class_code[entry]
                    break
            if code < 0 and n_rest[case] == 0:  # rounding
                code = class_code[last - 1]
            elif code < 0:
                code = np.int32(np.random.random() * n_rest[case])
                for entry in range(first, last):
                    if class_code[entry] <= code:
                        code += 1
            labels[case, n] = code
    return labels


@njit(cache=True, nogil=True)
def mean_scores(seeds, ptr, class_code, share, rest, rest_shape, score):
    """Compute ``Σ_k λ_k E(x, k)`` of each case; ``rest`` is split at random over the classes that nobody named.

    ``score`` has shape (n_cases, n_classes), ``class_code`` ascends in each case.
    """
    n_cases, n_classes = score.shape
    found = np.zeros(n_cases)
    logs = np.empty(n_classes)
    for case in range(n_cases):
        np.random.seed(seeds[case])
        first, last = ptr[case], ptr[case + 1]
        for entry in range(first, last):
            found[case] += share[entry] * score[case, class_code[entry]]
        if last - first == n_classes:
            continue
        best = -np.inf
        entry = first
        for code in range(n_classes):
            if entry < last and class_code[entry] == code:
                logs[code] = -np.inf
                entry += 1
                continue
            logs[code] = log_gamma_draw(rest_shape[case])
            best = max(best, logs[code])
        total, weighted = 0.0, 0.0
        for code in range(n_classes):
            if logs[code] > -np.inf:
                part = ordered_exp(logs[code] - best)
                total += part
                weighted += part * score[case, code]
        found[case] += rest[case] * weighted / total
    return found
