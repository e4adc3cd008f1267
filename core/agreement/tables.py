"""Input of coefficients from tables of counts: cases by classes, or one rater by another."""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import InputError
from ..text import exact

_MOST = 2**31 - 1


def from_count_table(table: np.ndarray) -> ClassCounts:
    """Build counts from how often each class was given on each case.

    Parameters
    ----------
    table : array of int, shape (n_cases, n_classes)

    Raises
    ------
    InputError
        It is not a table of whole numbers of 0 or more.
    """
    counts = _whole_numbers(table)
    case, class_code = np.nonzero(counts)
    ptr = np.searchsorted(case, np.arange(len(counts) + 1)).astype(np.int64)
    return ClassCounts(ptr, class_code.astype(np.int32), counts[case, class_code], counts.shape[1])


def from_contingency(
    table: np.ndarray, classes: Sequence[str] | None = None, raters: tuple[str, str] = ("rows", "columns")
) -> Dataset:
    """Build annotations of two raters from how often one gave the row's class and the other the column's.

    Cases are numbered through the table row by row.

    Parameters
    ----------
    table : array of int, shape (n_classes, n_classes)
    classes : sequence of str, length n_classes, optional
        In the order of rows and columns alike; 1, 2, ... if omitted.
    raters : tuple of str

    Raises
    ------
    InputError
        It is not a square table of whole numbers of 0 or more, or the names do not fit it.
    """
    counts = _whole_numbers(table)
    n_classes = len(counts)
    if counts.shape[1] != n_classes:
        raise InputError(
            f"Could not read the table: it has {n_classes:,} rows but {counts.shape[1]} columns.",
            "Use one row and one column per class.",
        )
    names = [str(k + 1) for k in range(n_classes)] if classes is None else list(classes)
    if len(names) != n_classes or len(set(names)) != n_classes:
        raise InputError(f"Could not name the classes: {n_classes:,} classes need {n_classes:,} different names.")
    if len(raters) != 2 or raters[0] == raters[1]:
        raise InputError("Could not name the raters: two raters need two different names.")
    first, second = (np.repeat(code, counts.ravel()) for code in np.indices(counts.shape).reshape(2, -1))
    case = np.arange(first.size)
    return Dataset.from_classes(
        "contingency table",
        [str(i + 1) for i in range(first.size)],
        list(raters),
        names,
        np.concatenate([case, case]),
        np.repeat([0, 1], first.size),
        np.concatenate([first, second]),
    )


def _whole_numbers(table: np.ndarray) -> np.ndarray:
    try:
        given = np.array(table, np.float64)
    except (TypeError, ValueError):
        raise InputError("Could not read the table: it contains a value that is not a number.") from None
    if given.ndim != 2 or given.shape[1] == 0:
        raise InputError(
            "Could not read the table: it is not two-dimensional.", "Use one row of counts per case or class."
        )
    if not ((given >= 0) & (given <= _MOST) & (given == np.floor(given))).all():
        row, column = np.argwhere(~((given >= 0) & (given <= _MOST) & (given == np.floor(given))))[0]
        raise InputError(
            f"Could not read the table: row {row + 1}, column {column + 1} contains {exact(given[row, column])}.",
            "Counts must be non-negative integers.",
        )
    return given.astype(np.int64)
