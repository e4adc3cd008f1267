"""Kernels that join cases with equal counts into one row."""

import numpy as np

from ..runtime.numba_setup import njit


@njit(cache=True, nogil=True)
def pattern_keys(ptr, class_code, count):
    """Compute a hash of the classes and counts of each row (splitmix64 along its entries)."""
    keys = np.empty(ptr.size - 1, np.uint64)
    for row in range(ptr.size - 1):
        z = np.uint64(ptr[row + 1] - ptr[row])
        for e in range(ptr[row], ptr[row + 1]):
            z ^= (np.uint64(class_code[e]) << np.uint64(32)) + np.uint64(count[e])
            z += np.uint64(0x9E3779B97F4A7C15)
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            z ^= z >> np.uint64(31)
        keys[row] = z
    return keys


@njit(cache=True, nogil=True)
def same_pattern(ptr, class_code, count, row_of):
    """Return True for each row whose classes and counts equal those of the row that ``row_of`` assigns to it."""
    for row in range(ptr.size - 1):
        like = row_of[row]
        n = ptr[row + 1] - ptr[row]
        if ptr[like + 1] - ptr[like] != n:
            return False
        for e in range(n):
            if class_code[ptr[row] + e] != class_code[ptr[like] + e] or count[ptr[row] + e] != count[ptr[like] + e]:
                return False
    return True
