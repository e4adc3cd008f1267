"""Answers made ready for confusion-matrix models: cases with the same answers are one pattern with a count."""

from dataclasses import dataclass

import numpy as np

from core.annotations.dataset import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class AnswerPatterns:
    """Distinct multisets of (rater, answer), and the design they came from.

    Attributes
    ----------
    n_raters, n_classes : int
    case_ptr : ndarray of int64, shape (n_cases + 1,)
    rater, answer : ndarray of int32, shape (n_annotations,)
    ptr : ndarray of int64, shape (n_patterns + 1,)
        Entries of pattern ``p`` are ``cell[ptr[p]:ptr[p + 1]]``.
    cell : ndarray of int32, shape (n_entries,)
        rater * n_classes + answer.
    times : ndarray of float64, shape (n_entries,)
        How often the rater gave the answer on the case.
    count : ndarray of int64, shape (n_patterns,)
        Cases of each pattern.
    pattern_of_case : ndarray of int64, shape (n_cases,)
    """

    n_raters: int
    n_classes: int
    case_ptr: np.ndarray
    rater: np.ndarray
    answer: np.ndarray
    ptr: np.ndarray
    cell: np.ndarray
    times: np.ndarray
    count: np.ndarray
    pattern_of_case: np.ndarray

    @classmethod
    def of(cls, dataset: Dataset) -> "AnswerPatterns":
        """The patterns of a dataset of classes."""
        return cls.from_arrays(dataset.n_raters, dataset.n_classes, dataset.case_ptr, dataset.rater, dataset.answer)

    @classmethod
    def from_arrays(
        cls, n_raters: int, n_classes: int, case_ptr: np.ndarray, rater: np.ndarray, answer: np.ndarray
    ) -> "AnswerPatterns":
        """The patterns of annotations in CSR by case."""
        n_cases = case_ptr.size - 1
        case = np.repeat(np.arange(n_cases), np.diff(case_ptr))
        cell = rater.astype(np.int64) * n_classes + answer
        # One entry per case and cell, by case, then by cell.
        key, times = np.unique(case * (n_raters * n_classes) + cell, return_counts=True)
        case, cell = np.divmod(key, n_raters * n_classes)
        size = np.bincount(case, minlength=n_cases)
        start = np.concatenate(([0], np.cumsum(size)))
        pattern_of_case = np.empty(n_cases, np.int64)
        counts, cells, repeats, sizes, n_patterns = [], [], [], [], 0
        for length in np.unique(size):
            members = np.flatnonzero(size == length)
            entries = start[members][:, None] + np.arange(length)
            rows = np.concatenate((np.zeros((members.size, 1), np.int64), cell[entries], times[entries]), axis=1)
            distinct, place, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
            pattern_of_case[members] = n_patterns + place.reshape(-1)
            n_patterns += count.size
            counts.append(count)
            cells.append(distinct[:, 1 : length + 1].ravel())
            repeats.append(distinct[:, length + 1 :].ravel())
            sizes.append(np.full(count.size, length))
        return cls(
            n_raters=n_raters,
            n_classes=n_classes,
            case_ptr=np.ascontiguousarray(case_ptr, np.int64),
            rater=np.ascontiguousarray(rater, np.int32),
            answer=np.ascontiguousarray(answer, np.int32),
            ptr=np.concatenate(([0], np.cumsum(np.concatenate(sizes)))).astype(np.int64),
            cell=np.concatenate(cells).astype(np.int32),
            times=np.concatenate(repeats).astype(np.float64),
            count=np.concatenate(counts).astype(np.int64),
            pattern_of_case=pattern_of_case,
        )

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """What `from_arrays` needs."""
        return {"case_ptr": self.case_ptr, "rater": self.rater, "answer": self.answer}

    @property
    def design(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What the kernels walk: ``ptr``, ``cell``, ``times``, ``count``."""
        return self.ptr, self.cell, self.times, self.count
