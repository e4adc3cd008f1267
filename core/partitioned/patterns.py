"""Counts of many cases, reduced to the few distinct patterns of counts."""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import ClassCounts
from ._kernels import pattern_keys, same_pattern


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
