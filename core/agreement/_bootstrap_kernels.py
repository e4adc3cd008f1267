"""Kernels for resamples of cases as weights on their distinct count vectors, and for weighted sums.

A resample draws as many cases as there are, with replacement: the weights of U vectors that c_u cases share are
multinomial, drawn one after another as binomials of what is left, or case by case where that is less work. Binomials:
Hörmann (1993), algorithm BTRS, DOI 10.1080/00949659308811496, and inversion for small means.
"""

import math

import numpy as np

from .._binomial_kernels import binomial_of_small_mean
from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def distinct_vectors(ptr, class_code, count):
    """Return the number of each case's count vector, in order of first appearance, and where it first appears."""
    n_cases = ptr.size - 1
    size = 2
    while size < 2 * n_cases:
        size *= 2
    slot = np.full(size, -1)
    number = np.empty(n_cases, np.int64)
    first = np.empty(n_cases, np.int64)
    n_vectors = 0
    for case in range(n_cases):
        mixed = np.uint64(1469598103934665603)
        for e in range(ptr[case], ptr[case + 1]):
            mixed = (mixed ^ np.uint64(class_code[e])) * np.uint64(1099511628211)
            mixed = (mixed ^ np.uint64(count[e])) * np.uint64(1099511628211)
            mixed ^= mixed >> np.uint64(29)
        place = np.int64(mixed & np.uint64(size - 1))
        while True:
            vector = slot[place]
            if vector < 0:
                slot[place] = n_vectors
                number[case] = n_vectors
                first[n_vectors] = case
                n_vectors += 1
                break
            same = ptr[first[vector] + 1] - ptr[first[vector]] == ptr[case + 1] - ptr[case]
            shift = ptr[first[vector]] - ptr[case]
            if same:
                for e in range(ptr[case], ptr[case + 1]):
                    if class_code[e] != class_code[e + shift] or count[e] != count[e + shift]:
                        same = False
                        break
            if same:
                number[case] = vector
                break
            place = (place + 1) & (size - 1)
    return number, first[:n_vectors].copy()


@njit(cache=True, nogil=True)
def binomial(n, p):
    """Draw the number of successes among n trials, each of probability p of at most 1/2."""
    if n * p < 10:
        return binomial_of_small_mean(n, p)
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    middle = n * p + 0.5
    inside = 0.92 - 4.2 / b
    while True:
        u = np.random.random() - 0.5
        v = np.random.random()
        edge = 0.5 - abs(u)
        if edge <= 0:
            continue
        k = math.floor((2 * a / edge + b) * u + middle)
        if edge >= 0.07 and v <= inside:
            return np.int64(k)
        if k < 0 or k > n:
            continue
        mode = math.floor((n + 1) * p)
        v *= (2.83 + 5.1 / b) * spread / (a / (edge * edge) + b)
        height = math.lgamma(mode + 1) + math.lgamma(n - mode + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        if v <= 0 or math.log(v) <= height + (k - mode) * math.log(p / (1 - p)):
            return np.int64(k)


@njit(cache=True, nogil=True)
def draw_by_vector(start, by_vector, by_case):
    """Draw how often each vector occurs, one binomial each, and, if wanted, which of its cases."""
    n_vectors = start.size - 1
    n_cases = start[n_vectors]
    left = n_cases
    for u in range(n_vectors):
        mass = n_cases - start[u]
        mine = start[u + 1] - start[u]
        if mine == mass:
            drawn = left
        elif 2 * mine <= mass:
            drawn = binomial(left, mine / mass)
        else:
            drawn = left - binomial(left, 1 - mine / mass)
        by_vector[u] = drawn
        left -= drawn
    if by_case.size > 0:
        for u in range(n_vectors):
            for _ in range(by_vector[u]):
                by_case[start[u] + int(np.random.random() * (start[u + 1] - start[u]))] += 1


@njit(cache=True, nogil=True)
def draw_resamples(seeds, start, vector_of, one_by_one, vector_weight, case_weight):
    """Fill one column for each seed: ``vector_weight`` (n_vectors, n_seeds) and ``case_weight`` (n_cases, n_seeds).

    Cases are sorted by vector; vector u has those from ``start[u]`` to ``start[u + 1]``. No row of ``case_weight``:
    weights of cases are not wanted. The weights of vectors are the same with and without them.
    """
    n_vectors = start.size - 1
    n_cases = start[n_vectors]
    by_case = np.zeros(n_cases if case_weight.shape[0] > 0 else 0, np.uint8)
    by_vector = np.zeros(n_vectors, np.int64)
    for column in range(seeds.size):
        np.random.seed(seeds[column])
        by_case[:] = 0
        by_vector[:] = 0
        if one_by_one:
            for _ in range(n_cases):
                case = int(np.random.random() * n_cases)
                by_vector[vector_of[case]] += 1
                if by_case.size > 0:
                    by_case[case] += 1
        else:
            draw_by_vector(start, by_vector, by_case)
        for u in range(n_vectors):
            vector_weight[u, column] = by_vector[u]
        for case in range(by_case.size):
            case_weight[case, column] = by_case[case]


@njit(cache=True, nogil=True)
def weighted_sums(ptr, column, value, weight, sums):
    """Add the values of every row, times the row's weights, to ``sums`` (n_columns, n_seeds)."""
    for row in range(ptr.size - 1):
        for e in range(ptr[row], ptr[row + 1]):
            total = sums[column[e]]
            x = value[e]
            for b in range(weight.shape[1]):
                total[b] += x * weight[row, b]


@njit(cache=True, nogil=True)
def quadratic_forms(matrix, shares, total):
    """Add sum_kl shares[g, k] matrix[k, l] shares[g, l] over all g to ``total`` (n_seeds,); shares end in n_seeds."""
    n_groups, n_classes, width = shares.shape
    for g in range(n_groups):
        for k in range(n_classes):
            there = False
            for b in range(width):
                there = there or shares[g, k, b] != 0
            if not there:
                continue
            for other in range(n_classes):
                w = matrix[k, other]
                if w == 0:
                    continue
                for b in range(width):
                    total[b] += shares[g, k, b] * w * shares[g, other, b]


@njit(cache=True, nogil=True)
def unlike_pairs(ptr, class_code, count):
    """List every two classes of every row: the row, the lower and the higher class, and the product of their counts."""
    n_pairs = 0
    for row in range(ptr.size - 1):
        n = ptr[row + 1] - ptr[row]
        n_pairs += n * (n - 1) // 2
    found_row = np.empty(n_pairs, np.int64)
    low = np.empty(n_pairs, np.int64)
    high = np.empty(n_pairs, np.int64)
    product = np.empty(n_pairs)
    pair = 0
    for row in range(ptr.size - 1):
        for e in range(ptr[row], ptr[row + 1]):
            for f in range(e + 1, ptr[row + 1]):
                found_row[pair], low[pair], high[pair] = row, class_code[e], class_code[f]
                product[pair] = count[e] * count[f]
                pair += 1
    return found_row, low, high, product
