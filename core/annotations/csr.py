"""Group annotations by case in compressed sparse rows, and rankings into blocks of tied classes."""

import numpy as np

from ..runtime.numba_setup import ENTRY, pick_backend
from ._kernels import blocks_from_ranks, counting_sort
from .validation import (
    check_length,
    check_range,
    checked_integers,
    checked_numbers,
    checked_pointers,
    checked_times,
)

_LARGEST_RANK = np.finfo(np.float64).max


def group_by_case(case_code: np.ndarray, n_cases: int, time: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return row pointers, and the order that groups annotations by case.

    Within a case, annotations are ordered by time if times are given (unknown times first), else they keep their order.

    Parameters
    ----------
    case_code : array_like of int, shape (n_annotations,)
        Codes from 0 to ``n_cases`` − 1.
    n_cases : int
    time : array_like, shape (n_annotations,), optional
        See `core.annotations.validation.checked_times`.

    Returns
    -------
    case_ptr : ndarray of int64, shape (n_cases + 1,)
    order : ndarray of int64, shape (n_annotations,)

    Raises
    ------
    InputError
        A code of a case is out of range, a time is not a date, or the number of times is not that of annotations.
    """
    case_code = checked_integers(case_code, "case_code", np.int32)
    check_range(case_code, "case_code", 0, n_cases - 1, f"a code for one of the {n_cases:,} cases")
    if time is None:
        return pick_backend(counting_sort, case_code.size)(case_code, n_cases)
    time = checked_times(time)
    check_length(time, len(case_code), "time", "annotations")
    by_time = np.argsort(time, kind="stable")
    case_ptr, order = pick_backend(counting_sort, case_code.size)(case_code[by_time], n_cases)
    return case_ptr, by_time[order]


def keep_annotations(case_ptr: np.ndarray, keep: np.ndarray) -> np.ndarray:
    """Return row pointers when only the annotations marked in ``keep`` (bool, shape (n_annotations,)) are kept."""
    return np.concatenate([[0], np.cumsum(keep, dtype=np.int64)])[case_ptr]


def order_blocks(
    entry_ptr: np.ndarray, entry_class: np.ndarray, entry_rank: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Reorder entries of rankings by a new order of annotations, with ranks turned into blocks 0, 1, 2, ...

    Parameters
    ----------
    entry_ptr : ndarray of int64, shape (n_annotations + 1,)
    entry_class : ndarray of int32, shape (n_entries,)
    entry_rank : ndarray of float64, shape (n_entries,)
        Rank of each entry, lowest first; equal ranks are ties.
    order : ndarray of int64, shape (n_annotations,)

    Returns
    -------
    entry_ptr, entry_class, entry_block
        Arrays in the new order; within an annotation ascending by block, then by class.

    Raises
    ------
    InputError
        A pointer does not fit the entries, a rank is not finite, or ``order`` has an annotation that does not exist.
    """
    order = checked_integers(order, "order", np.int64)
    entry_class = checked_integers(entry_class, "entry_class", np.int32)
    entry_rank = checked_numbers(entry_rank, "entry_rank", _LARGEST_RANK)
    check_length(entry_rank, len(entry_class), "entry_rank", "ranked classes")
    entry_ptr = checked_pointers(entry_ptr, "entry_ptr", len(order), len(entry_class), "annotations", "ranked classes")
    check_range(order, "order", 0, len(order) - 1, f"the position of one of the {len(order):,} annotations")
    sizes = np.diff(entry_ptr).astype(float)
    steps = ENTRY * len(entry_class) + int(sizes @ sizes) // 4  # the sort moves each entry past others of its ranking
    return pick_backend(blocks_from_ranks, steps)(entry_ptr, entry_class, entry_rank, order)
