"""Patterns: cases with the same annotations, with a count, so that their likelihood is computed once."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """Distinct multisets of annotations.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_patterns + 1,)
        Annotations of pattern ``p`` are ``cell[ptr[p]:ptr[p + 1]]``; none for cases that nobody annotated.
    cell : ndarray of int32
        Which rater gave which annotation, in order; repeated annotations of one rater stand repeatedly.
    count : ndarray of int64, shape (n_patterns,)
        Cases of each pattern.
    pattern_of_case : ndarray of int64, shape (n_cases,)
    """

    ptr: np.ndarray
    cell: np.ndarray
    count: np.ndarray
    pattern_of_case: np.ndarray

    @property
    def longest(self) -> int:
        """Largest number of annotations on a case."""
        return int(np.diff(self.ptr).max(initial=0))

    @property
    def design(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Arrays for kernels: ``ptr``, ``cell``, ``count``."""
        return self.ptr, self.cell, self.count


def collapse(case_ptr: np.ndarray, rater: np.ndarray, answer: np.ndarray, n_classes: int = 2) -> Patterns:
    """Collapse annotations in CSR by case to patterns, shorter ones first; a cell is rater * n_classes + annotation.

    Parameters
    ----------
    case_ptr : ndarray of int64, shape (n_cases + 1,)
    rater : ndarray, shape (n_annotations,)
        All 0 where raters are alike: then cases with the same numbers of each annotation are one pattern.
    answer : ndarray, shape (n_annotations,)
        From 0 to n_classes - 1.
    n_classes : int
    """
    size = np.diff(case_ptr)
    cell = (n_classes * rater + answer).astype(np.int32)
    case = np.repeat(np.arange(size.size), size)
    cell = cell[np.lexsort((cell, case))]
    pattern_of_case = np.empty(size.size, np.int64)
    cells, counts, sizes = [np.empty(0, np.int32)], [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    n_patterns = 0
    for length in np.unique(size):
        members = np.flatnonzero(size == length)
        if length:
            rows = cell[case_ptr[members][:, None] + np.arange(length)]
            distinct, place, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        else:  # rows of no columns cannot be compared
            distinct, place, count = cell[:0], np.zeros(members.size, np.int64), np.array([members.size])
        pattern_of_case[members] = n_patterns + place.ravel()
        cells.append(distinct.ravel())
        counts.append(count)
        sizes.append(np.full(count.size, length))
        n_patterns += count.size
    return Patterns(
        ptr=np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int64),
        cell=np.ascontiguousarray(np.concatenate(cells), np.int32),
        count=np.concatenate(counts).astype(np.int64),
        pattern_of_case=pattern_of_case,
    )
