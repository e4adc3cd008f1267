"""Rows of a table as one row per annotation, during filtering."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..annotations.columns import as_numpy, as_texts, of_numpy, of_texts, text
from ..annotations.dataset import MISSING_TIME
from ..annotations.none_of_these import NONE_APPLIES, says_none
from ..annotations.paired_items import PairedItems
from ..annotations.vocabulary import Coded, encode, one_dictionary, to_numbers
from .column_mapping import Mapping
from .formats.raw_table import Dropped, RawTable
from .times import to_seconds, unclear_date

_ROW_ARRAYS = ("row", "case_code", "rater_code", "answer_code", "time", "rank", "annotation", "swapped")


@dataclass(slots=True)
class Rows:
    """Long rows during filtering. ``row`` is the place in the raw table, for lines.

    ``annotation`` identifies annotations if a rater may rank a case twice; None if case, rater and time do. For
    comparisons, ``pairs`` has the items of each case in ``case``, and ``swapped`` whether the second was shown first.
    ``merged`` has each row whose label another row of the annotation has, and that row.
    """

    case: Coded
    rater: Coded
    answer: Coded
    row: np.ndarray
    case_code: np.ndarray
    rater_code: np.ndarray
    answer_code: np.ndarray
    time: np.ndarray | None = None
    rank: np.ndarray | None = None
    annotation: np.ndarray | None = None
    swapped: np.ndarray | None = None
    pairs: PairedItems | None = None
    dropped: list[Dropped] = field(default_factory=list)
    merged: list[tuple[int, int]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)

    def keep(self, mask: np.ndarray) -> None:
        """Keep only the rows marked in ``mask``, or in the order of its places."""
        if mask.dtype == bool and mask.all():
            return
        for name in _ROW_ARRAYS:
            array = getattr(self, name)
            if array is not None:
                setattr(self, name, array[mask])

    def read_time(self, raw: RawTable, mapping: Mapping) -> None:
        """Read the dates; add a caution if nothing shows whether the day or the month comes first."""
        if mapping.time is None:
            return
        column = raw.table[mapping.time]
        self.time = to_seconds(column, mapping.day_first)
        if mapping.day_first is None and (example := unclear_date(column)) is not None:
            self.cautions.append(
                f"It is unclear whether dates such as {example} begin with the day or the month, so they were left "
                "out. Choose which comes first (--dates on the command line)."
            )
            self.time = None if (self.time == MISSING_TIME).all() else self.time


def long_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return the rows of a long table.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping with ``case`` and ``answer``; without ``rater`` the annotations of a case are numbered.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict of str to int)
        Rows, and how many annotations are missing by token.
    """
    case = encode(raw.table[mapping.case])
    tell(0.2)
    answer = encode(raw.table[mapping.answer])
    if mapping.empty == "none" and mapping.holds_sets and mapping.answer is not None:
        answer = _none_where_empty(answer, empty_cells(raw, mapping.answer))
    tell(0.3)
    if mapping.rater is not None:
        rater = encode(raw.table[mapping.rater])
    else:
        number = number_within(case.code)
        places = tuple(f"answer {place}" for place in range(1, int(number.max(initial=0)) + 2))
        rater = Coded(number.astype(np.int32), places, {})
    rows = Rows(case, rater, answer, np.arange(case.code.size, dtype=np.int32), case.code, rater.code, answer.code)
    rows.read_time(raw, mapping)
    drop(rows, raw, rows.case_code < 0, "no case")
    drop(rows, raw, rows.rater_code < 0, "no rater")
    if (empty := rows.row[rows.answer_code < 0]).size:
        tokens = one_dictionary(raw.table[mapping.answer].take(of_numpy(empty)))
        reasons = [no_annotation(token) for token in as_texts(tokens.dictionary)]
        rows.dropped += map(raw.drop, empty, map(reasons.__getitem__, as_numpy(tokens.indices)))
        rows.keep(rows.answer_code >= 0)
    if mapping.annotation is not None:
        rows.annotation = encode(raw.table[mapping.annotation]).code[rows.row]
    if mapping.rank is not None:
        rows.rank = _numbers(raw, mapping.rank)[rows.row]
        drop(rows, raw, ~np.isfinite(rows.rank), "the rank is not a number")
    elif mapping.confidence is not None:
        rows.rank = -_numbers(raw, mapping.confidence)[rows.row]
        drop(rows, raw, ~np.isfinite(rows.rank), "the confidence is not a number")
        drop(rows, raw, rows.rank == 0, "not ranked: the confidence is 0")
        drop(rows, raw, rows.rank > 0, "the confidence is below 0")
    return rows, answer.missing


def no_annotation(text: str | None) -> str:
    """Return the reason to leave out a row without an annotation, with the sign for missing values, such as NA."""
    token = (text or "").strip()
    return f"no annotation ({token!r})" if token else "no annotation"


def empty_cells(raw: RawTable, column: str) -> np.ndarray:
    """Return which cells of a column are empty; a sign for missing values, such as NA, is not empty."""
    coded = one_dictionary(raw.table[column])
    is_empty = as_numpy(pc.equal(pc.utf8_trim_whitespace(coded.dictionary), text("")))
    return is_empty[as_numpy(coded.indices)]


def _none_where_empty(answer: Coded, empty: np.ndarray) -> Coded:
    """Return the annotations with the label for "no other applies" in empty cells."""
    name = next((value for value in answer.values if says_none(value)), NONE_APPLIES)
    values = answer.values if name in answer.values else (*answer.values, name)
    code = np.where(empty, values.index(name), answer.code).astype(answer.code.dtype)
    return Coded(code, values, {token: n for token, n in answer.missing.items() if token.strip()})


def wide_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return the rows of a table with a column per rater.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping; ``raters`` has the columns of raters; without ``case`` the rows are numbered.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict of str to int)
        Rows, and how many annotations are missing by token.
    """
    n_rows = raw.table.num_rows
    case = cases_or_numbers(raw, mapping.case)
    tell(0.1)
    answer = encode(stacked(raw, mapping.raters))
    raters = names_as_codes([mapping.rater_of(column) for column in mapping.raters])
    row = np.tile(np.arange(n_rows), len(mapping.raters))
    rows = Rows(case, raters, answer, row, case.code[row], np.repeat(raters.code, n_rows), answer.code)
    rows.dropped += [raw.drop(place, "no case") for place in np.flatnonzero(case.code < 0)]
    rows.keep(rows.case_code >= 0)
    drop(rows, raw, (rows.answer_code < 0) | (rows.rater_code < 0), "no rater annotated")
    return rows, answer.missing


def transposed_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return the rows of a table with a row per rater and a column per case.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping; ``across`` has the columns of cases; without ``rater`` the rows are numbered.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict of str to int)
        Rows, and how many annotations are missing by token.
    """
    n_rows = raw.table.num_rows
    rater = encode(raw.table[mapping.rater]) if mapping.rater is not None else _numbered(n_rows, "rater ")
    tell(0.1)
    answer = encode(stacked(raw, mapping.across))
    cases = names_as_codes(mapping.across)
    row = np.tile(np.arange(n_rows), len(mapping.across))
    rows = Rows(cases, rater, answer, row, np.repeat(cases.code, n_rows), rater.code[row], answer.code)
    rows.dropped += [raw.drop(place, "no rater") for place in np.flatnonzero(rater.code < 0)]
    rows.keep(rows.rater_code >= 0)
    drop(rows, raw, rows.case_code < 0, "no case")
    drop(rows, raw, rows.answer_code < 0, "no case was annotated")
    return rows, answer.missing


def drop(rows: Rows, raw: RawTable, bad: np.ndarray, reason: str) -> None:
    """Remove annotations with a reason. A row of the file is left out only with its last annotation.

    Parameters
    ----------
    rows : Rows
        Rows, changed in place.
    raw : RawTable
    bad : ndarray of bool, shape (n_rows,)
        Rows to remove.
    reason : str
        Reason in the account of rows left out.
    """
    if not bad.any():
        return
    leaving, staying = np.zeros(raw.table.num_rows, bool), np.zeros(raw.table.num_rows, bool)
    leaving[rows.row[bad]] = True
    staying[rows.row[~bad]] = True
    rows.dropped += [raw.drop(row, reason) for row in np.flatnonzero(leaving & ~staying)]
    rows.keep(~bad)


def stacked(raw: RawTable, columns: Sequence[str]) -> pa.ChunkedArray:
    """Return columns one below the other; for dictionaries, no text is copied for each cell."""
    parts = [raw.table[column] for column in columns]
    if {part.type for part in parts} == {pa.string()}:
        return pa.chunked_array([chunk for part in parts for chunk in part.chunks], pa.string())
    coded = [one_dictionary(part) for part in parts]
    return pa.chunked_array([part.cast(pa.dictionary(pa.int32(), pa.string())) for part in coded])


def names_as_codes(names: Sequence[str]) -> Coded:
    """Return names of columns as a vocabulary, each with its code."""
    return encode(pa.chunked_array([of_texts(names)]))


def cases_or_numbers(raw: RawTable, column: str | None) -> Coded:
    """Return cases by a column, or by the number of their row."""
    return encode(raw.table[column]) if column is not None else _numbered(raw.table.num_rows)


def _numbered(count: int, word: str = "") -> Coded:
    names = tuple(f"{word}{place}" for place in range(1, count + 1))
    return Coded(np.arange(count, dtype=np.int32), names, {})


def _numbers(raw: RawTable, column: str) -> np.ndarray:
    coded = encode(raw.table[column])
    return np.append(to_numbers(coded.values, decimal_comma=raw.decimal_comma), np.nan)[coded.code]


def number_within(code: np.ndarray) -> np.ndarray:
    """Return how many rows of the same code are before each row."""
    import pandas as pd  # most files need none of it, and loading it takes longer than reading a small one

    return pd.Series(code).groupby(code).cumcount().to_numpy()
