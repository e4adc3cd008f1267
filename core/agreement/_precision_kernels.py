"""Unbiased moments of the class distribution of a case from its counts.

With S_m = sum_c p_c^m and falling factorials (n)_m = n (n-1) ... (n-m+1), independent annotations have
E[sum_c (n_c)_3 / (n)_3] = S_3 and E[(sum_c (n_c)_4 + sum_{c != d} (n_c)_2 (n_d)_2) / (n)_4] = S_2^2.
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def power_sums(ptr, count):
    """Per case n, and estimates of S_2, S_3 and S_2²; NaN with fewer than two, three or four annotations."""
    n_cases = ptr.size - 1
    answers = np.zeros(n_cases)
    moments = np.full((3, n_cases), np.nan)
    for case in range(n_cases):
        n = 0.0
        two = 0.0
        three = 0.0
        four = 0.0
        squares = 0.0
        for e in range(ptr[case], ptr[case + 1]):
            x = float(count[e])
            pairs = x * (x - 1.0)
            n += x
            two += pairs
            squares += pairs * pairs
            three += pairs * (x - 2.0)
            four += pairs * (x - 2.0) * (x - 3.0)
        answers[case] = n
        if n >= 2:
            moments[0, case] = two / (n * (n - 1.0))
        if n >= 3:
            moments[1, case] = three / (n * (n - 1.0) * (n - 2.0))
        if n >= 4:
            moments[2, case] = (four + two * two - squares) / (n * (n - 1.0) * (n - 2.0) * (n - 3.0))
    return answers, moments
