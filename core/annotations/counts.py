"""Counts of each class on each case, in CSR, and of the parts in which raters and cases are connected."""

from dataclasses import dataclass, field

import numpy as np

from ..runtime.identity_cache import cache_by_identity
from ._kernels import count_classes
from .dataset import Dataset
from .paired_items import FIRST, SECOND
from .validation import frozen

_ONCE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """Counts of annotations by case and class; classes that nobody gave on a case are absent.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_cases + 1,)
        Case ``i`` has entries ``ptr[i]`` to ``ptr[i + 1]``, ascending by class.
    class_code : ndarray of int32, shape (n_entries,)
    count : ndarray of int64, shape (n_entries,)
    n_classes : int
        Length of the declared class list.
    times : ndarray of int64, shape (n_cases,) or (0,)
        Number of cases that each row represents; empty if it is one each, as `class_counts` returns them.
    mirrored : bool
        True for comparisons of two items: which of them is the first one is arbitrary, so that the first and the last
        class mean the same.
    """

    ptr: np.ndarray
    class_code: np.ndarray
    count: np.ndarray
    n_classes: int
    times: np.ndarray = field(default_factory=lambda: _ONCE)
    mirrored: bool = False

    @property
    def n_cases(self) -> int:
        """Number of rows, one per case with or without annotations, unless `times` is given."""
        return len(self.ptr) - 1

    def per_case(self) -> np.ndarray:
        """Return the number of annotations of each case, ndarray of int64, shape (n_cases,)."""
        total = np.concatenate([[0], np.cumsum(self.count)])
        return total[self.ptr[1:]] - total[self.ptr[:-1]]

    def both_ways(self) -> "ClassCounts":
        """Return the counts of all cases, and then the same with the classes in reversed order."""
        case = np.repeat(np.arange(self.n_cases), np.diff(self.ptr))
        order = np.lexsort((-self.class_code, case))
        code = np.append(self.class_code, self.n_classes - 1 - self.class_code[order]).astype(np.int32)
        ptr, count = np.append(self.ptr, self.ptr[-1] + self.ptr[1:]), np.append(self.count, self.count[order])
        return ClassCounts(ptr, code, count, self.n_classes, np.tile(self.times, 2))


def class_counts(dataset: Dataset, cases: range | None = None) -> ClassCounts:
    """Return the counts of a dataset of single classes.

    Parameters
    ----------
    dataset : Dataset
    cases : range, optional
        Run of cases, whose first is then case 0 of the counts; all cases if omitted.

    Raises
    ------
    NotApplicableError
        The annotations are not classes; use `Dataset.as_classes` first.
    """
    dataset.check_kind("class", "Could not count classes")
    case_ptr, answer = dataset.case_ptr, dataset.answer
    if cases is not None:
        case_ptr = case_ptr[cases.start : max(cases.start, cases.stop) + 1]
        answer = answer[case_ptr[0] : case_ptr[-1]]
        case_ptr = frozen(
            case_ptr - case_ptr[0]
        )  # read-only like that of a dataset, so that the kernel is compiled only once
    ptr, class_code, count = count_classes(case_ptr, answer, dataset.n_classes)
    mirrored = dataset.compares and {dataset.classes[0], dataset.classes[-1]} == {FIRST, SECOND}
    return ClassCounts(ptr, class_code, count, dataset.n_classes, mirrored=mirrored)


def rater_case_pairs(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Return each pair of a case and a rater who annotated it once, by case, then by rater.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    case, rater : ndarray of int64, shape (n_pairs,)
        Codes of the case and the rater of each pair.
    """
    key = np.sort(dataset.case_of_annotation.astype(np.int64) * dataset.n_raters + dataset.rater)
    once = np.ones(key.size, bool)
    np.not_equal(key[1:], key[:-1], out=once[1:])
    case, rater = np.divmod(key[once], max(dataset.n_raters, 1))
    return case, rater


@cache_by_identity
def raters_per_case(dataset: Dataset) -> np.ndarray:
    """Count the different raters of each case, ndarray of int64, shape (n_cases,), read-only."""
    return frozen(np.bincount(rater_case_pairs(dataset)[0], minlength=dataset.n_cases))


def n_groups(dataset: Dataset) -> int:
    """Return the number of groups of cases and raters that no annotation joins; 1 if everything is connected."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = dataset.n_cases + dataset.n_raters
    answers = np.ones(dataset.n_annotations, np.int8)
    joined = coo_array((answers, (dataset.case_of_annotation, dataset.n_cases + dataset.rater)), shape=(size, size))
    return int(connected_components(joined, directed=False, return_labels=False))


def classes_per_case(dataset: Dataset) -> np.ndarray:
    """Count the different classes given to each case, int64, shape (n_cases,); not defined for scores."""
    case, code = dataset.named_classes()
    pairs = np.unique(case.astype(np.int64) * dataset.n_classes + code)
    return np.bincount(pairs // max(1, dataset.n_classes), minlength=dataset.n_cases)
