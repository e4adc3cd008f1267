"""Kernels for pairs of annotations on a case: observed ones, expected ones under a model, and the graph of raters.

Observed: mean over cases with n_i >= 2 of pairs (k, l) / (n_i (n_i - 1)), as Fleiss' kappa counts. Expected under a
model: sum_k pi_k (s s' - sum_a theta_a theta_a') / (n_i (n_i - 1)), s = sum over annotations a of theta[rater_a, k].
"""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def bipartite(case_ptr, rater, n_raters):
    """Return for each rater whether their component in the graph of pairs has no odd cycle (union by parity)."""
    parent = np.arange(n_raters)
    parity = np.zeros(n_raters, np.int64)  # against the parent
    even = np.ones(n_raters, np.bool_)  # of roots
    for case in range(case_ptr.size - 1):
        for a in range(case_ptr[case], case_ptr[case + 1]):
            for b in range(a + 1, case_ptr[case + 1]):
                x = rater[a]
                side = 0
                while parent[x] != x:
                    side ^= parity[x]
                    x = parent[x]
                y = rater[b]
                other = 0
                while parent[y] != y:
                    other ^= parity[y]
                    y = parent[y]
                if x == y:
                    if side == other:
                        even[x] = False
                else:
                    parent[x] = y
                    parity[x] = side ^ other ^ 1
                    even[y] = even[x] and even[y]
    answer = np.ones(n_raters, np.bool_)
    for r in range(n_raters):
        x = r
        while parent[x] != x:
            x = parent[x]
        answer[r] = even[x]
    return answer


@njit(cache=True, nogil=True)
def add_expected(raters, confusion, prevalence, s, own, meant, expected):
    """Add the model's expectation for one case that these raters annotate; ``s`` and ``own`` are scratch."""
    n_classes, n = prevalence.size, raters.size
    pairs = n * (n - 1.0)
    for true in range(n_classes):
        s[:] = 0.0
        own[:] = 0.0
        for rater in raters:
            for k in range(n_classes):
                p = confusion[rater, true, k]
                s[k] += p
                for m in range(n_classes):
                    own[k, m] += p * confusion[rater, true, m]
        for k in range(n_classes):
            meant[k] += prevalence[true] * s[k] / n
            if n > 1:
                for m in range(n_classes):
                    expected[k, m] += prevalence[true] * (s[k] * s[m] - own[k, m]) / pairs


@njit(cache=True, nogil=True)
def expected_pair_tables(case_ptr, rater, answer, confusion, prevalence):
    """Compute observed and expected tables of pairs and margins, and the number of cases of each.

    ``confusion`` has axes rater, true, annotated. Tables are means over cases of two annotations or more, margins over
    cases of one or more.
    """
    n_classes = prevalence.size
    observed = np.zeros((n_classes, n_classes))
    expected = np.zeros((n_classes, n_classes))
    seen = np.zeros(n_classes)
    meant = np.zeros(n_classes)
    n_paired = 0
    n_rated = 0
    count = np.zeros(n_classes)
    s = np.zeros(n_classes)
    own = np.zeros((n_classes, n_classes))
    for case in range(case_ptr.size - 1):
        start = case_ptr[case]
        stop = case_ptr[case + 1]
        n = stop - start
        if n == 0:
            continue
        n_rated += 1
        count[:] = 0.0
        for a in range(start, stop):
            count[answer[a]] += 1.0
        for k in range(n_classes):
            seen[k] += count[k] / n
        pairs = n * (n - 1.0)
        if n > 1:
            n_paired += 1
            for k in range(n_classes):
                for m in range(n_classes):
                    same = count[k] if k == m else 0.0
                    observed[k, m] += (count[k] * count[m] - same) / pairs
        add_expected(rater[start:stop], confusion, prevalence, s, own, meant, expected)
    return observed, expected, seen, meant, n_paired, n_rated


@njit(cache=True, nogil=True)
def mean_product(case_ptr, rater, value):
    """Compute the mean over cases with two annotations or more of the mean of value[j] value[h] over their pairs."""
    total = 0.0
    n_paired = 0
    for case in range(case_ptr.size - 1):
        n = case_ptr[case + 1] - case_ptr[case]
        if n < 2:
            continue
        n_paired += 1
        once = 0.0
        squares = 0.0
        for a in range(case_ptr[case], case_ptr[case + 1]):
            once += value[rater[a]]
            squares += value[rater[a]] ** 2
        total += (once * once - squares) / (n * (n - 1.0))
    return total / n_paired if n_paired > 0 else 0.0
