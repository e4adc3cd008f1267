"""Rows that make one annotation, and repeated annotations of a case by a rater."""

import numpy as np

from ..annotations._kernels import counting_sort
from ..errors import InputError
from ..runtime.numba_setup import pick_backend
from ..text import plural
from ._repeat_kernels import repeated_pairs
from .column_mapping import Repeats
from .formats.raw_table import RawTable
from .long_rows import Rows, drop


def treat_repeats(rows: Rows, raw: RawTable, repeats: Repeats, first: np.ndarray | None = None) -> tuple[int, int]:
    """Count the annotations beyond the first of a rater on a case, and keep, drop or refuse them.

    Parameters
    ----------
    rows : Rows
        Rows, changed in place if repeats are dropped.
    raw : RawTable
    repeats : {"keep", "first", "refuse"}
    first : ndarray of int64, shape (n_rows,), optional
        First row of the annotation of each row; without it, each row is an annotation.

    Returns
    -------
    n_repeats, n_same : int
        Number of annotations beyond the first of a rater on a case, dropped or not; and, if they are kept and each row
        is an annotation, how many of them equal an earlier one of the rater on the case.

    Raises
    ------
    InputError
        There are repeated annotations, and they are refused.
    """
    heads = slice(None) if first is None else np.flatnonzero(first == np.arange(first.size))
    case = np.ascontiguousarray(rows.case_code[heads], np.int32)
    rater = np.ascontiguousarray(rows.rater_code[heads], np.int32)
    case_ptr, order = pick_backend(counting_sort, case.size)(case, len(rows.case.values))
    mark = pick_backend(repeated_pairs, case.size)(case_ptr, order, rater, len(rows.rater.values))
    repeated = mark == 2
    count = int(repeated.sum())
    if count == 0 or repeats == "keep":
        return count, _said_again(rows, np.flatnonzero(mark)) if count and first is None else 0
    if first is not None:
        of_head, repeated = repeated, np.zeros(first.size, bool)
        repeated[heads] = of_head
        repeated = repeated[first]
    if repeats == "refuse":
        place = int(np.flatnonzero(repeated)[0])
        raise InputError(
            f"Could not read annotations: rater {rows.rater.values[rows.rater_code[place]]!r} annotated case "
            f"{rows.case.values[rows.case_code[place]]!r} more than once ({plural(count, 'repeat')} in the file).",
            "Keep all, or use only the first annotation.",
            line=int(raw.line[rows.row[place]]),
        )
    drop(rows, raw, repeated, "a repeated annotation by the same rater on the same case")
    return count, 0


def _said_again(rows: Rows, several: np.ndarray) -> int:
    """Count the rows whose rater gave the same class to the same case in an earlier row, among ``several``."""
    pair = rows.case_code[several].astype(np.int64) * len(rows.rater.values) + rows.rater_code[several]
    said = np.sort(pair * len(rows.answer.values) + rows.answer_code[several])
    return int((said[1:] == said[:-1]).sum())


def entries_of_rankings(rows: Rows, raw: RawTable) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows by annotation (case, rater, time); return the first row and the entry range of each annotation."""
    import pandas as pd

    keys: dict[str, np.ndarray]
    if rows.annotation is not None:
        keys = {"annotation": rows.annotation}
    else:
        keys = {"case": rows.case_code, "rater": rows.rater_code}
        if rows.time is not None:
            keys["time"] = rows.time
    annotation = pd.DataFrame(keys).groupby(list(keys), sort=False, dropna=False).ngroup().to_numpy()
    rank = np.zeros(len(annotation)) if rows.rank is None else rows.rank
    best_first = np.lexsort((rank, annotation))
    rows.keep(best_first)
    annotation = annotation[best_first]
    entry = annotation * len(rows.answer.values) + rows.answer_code
    twice = pd.Series(entry).duplicated().to_numpy()
    staying = np.zeros(raw.table.num_rows, bool)
    staying[rows.row[~twice]] = True
    leaving = np.flatnonzero(twice & ~staying[rows.row])  # a row of a whole ranking stays with its other classes
    if rows.rank is None and leaving.size:
        once, first = np.unique(entry, return_index=True)
        into = first[np.searchsorted(once, entry[leaving])]
        rows.merged += zip(rows.row[leaving].tolist(), rows.row[into].tolist(), strict=True)
    elif rows.rank is not None:
        rows.dropped += [
            raw.drop(
                rows.row[place],
                f"rater {rows.rater.values[rows.rater_code[place]]!r} already ranked "
                f"{rows.answer.values[rows.answer_code[place]]!r} for case {rows.case.values[rows.case_code[place]]!r}",
            )
            for place in leaving
        ]
    rows.keep(~twice)
    annotation = annotation[~twice]
    first = np.flatnonzero(np.diff(annotation, prepend=-1))
    return first, np.append(first, annotation.size).astype(np.int64)
