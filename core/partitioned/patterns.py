"""Counts of many cases, reduced to the few distinct patterns of counts."""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import ClassCounts
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


def patterns_of(counts: ClassCounts) -> ClassCounts:
    """Reduce counts to one row per distinct pattern, and return how many cases have each.

    Sums over cases stay the same. Five annotations of ten classes make 2,002 patterns at most, however many
    cases there are. Rows are in the order of a hash of their pattern, whatever the order of the cases.
    """
    keys = pattern_keys(counts.ptr, counts.class_code, counts.count)
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    if not same_pattern(counts.ptr, counts.class_code, counts.count, first[of_row]):  # Two patterns have the same hash.
        return counts
    times = np.bincount(of_row, counts.times if counts.times.size else None).astype(np.int64)
    size = np.diff(counts.ptr)[first]
    ptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    entry = np.repeat(counts.ptr[first] - ptr[:-1], size) + np.arange(ptr[-1])
    return ClassCounts(ptr, counts.class_code[entry], counts.count[entry], counts.n_classes, times)


def joined(parts: Sequence[ClassCounts]) -> ClassCounts:
    """Stack the rows of several parts, and join those with the same pattern."""
    starts = np.cumsum([0, *(part.ptr[-1] for part in parts)])
    once = [part.times if part.times.size else np.ones(part.n_cases, np.int64) for part in parts]
    return patterns_of(
        ClassCounts(
            np.concatenate([[0], *(part.ptr[1:] + start for part, start in zip(parts, starts, strict=False))]),
            np.concatenate([part.class_code for part in parts]),
            np.concatenate([part.count for part in parts]),
            parts[0].n_classes,
            np.concatenate(once),
        )
    )
