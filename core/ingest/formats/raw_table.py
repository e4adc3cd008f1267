"""Output of a reader: a table of text as in the file, with the place of every row."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

UNANSWERED = "no answer to this question"  # why an annotation of a program is left out


class Dropped(NamedTuple):
    """Row of the file that is left out. If its line is not informative, the reason starts with the place."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RowLocations:
    """Places of rows in a file that is not a table: "ann.jsonl, task 17, annotation 3".

    Attributes
    ----------
    words : tuple of str
        Names of what is counted, from the outside in.
    numbers : tuple of ndarray of int, each of shape (n_rows,)
        Number of each row for each word, from 1.
    files : tuple of str
        Names of the files; empty if there is only one.
    file : ndarray of int, shape (n_rows,), or None
        Index into ``files``.
    """

    words: tuple[str, ...] = ()
    numbers: tuple[np.ndarray, ...] = ()
    files: tuple[str, ...] = ()
    file: np.ndarray | None = None

    def at(self, rows: np.ndarray) -> "RowLocations":
        """Return the places of some rows, in their order."""
        file = None if self.file is None else self.file[rows]
        return RowLocations(self.words, tuple(number[rows] for number in self.numbers), self.files, file)

    def of(self, row: int) -> str:
        """Return the place of one row in words."""
        parts = [self.files[int(self.file[row])]] if self.file is not None and len(self.files) > 1 else []
        parts += [f"{word} {int(number[row]):,}" for word, number in zip(self.words, self.numbers, strict=True)]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class RawTable:
    """File as text, before it is interpreted.

    Attributes
    ----------
    table : pyarrow.Table
        Columns as strings (large tables: as dictionaries of strings), with nothing trimmed or taken for missing.
    line : ndarray of int64, shape (n_rows,)
        Physical line of each row, from 1; for Parquet and workbooks the row number.
    dropped : tuple of Dropped
        Rows that could not be brought into the table's columns.
    notes : tuple of str
        Findings on the file: encoding, delimiter, comments.
    has_header : bool
        False if the columns had no names and were numbered.
    decimal_comma : bool
        True if 1,5 can only be one and a half, because the fields are separated by semicolons.
    places : RowLocations or None
        Place of each row, if its line is not informative.
    sheet : str
        Sheet of a workbook with several sheets.
    """

    table: pa.Table
    line: np.ndarray
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    has_header: bool = True
    decimal_comma: bool = False
    places: RowLocations | None = None
    sheet: str = ""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.table.column_names

    @property
    def n_rows(self) -> int:
        """Number of rows in the file: in the table or left out; header, blank and comment lines do not count."""
        return self.table.num_rows + len(self.dropped)

    def drop(self, row: int | np.integer, reason: str) -> Dropped:
        """Return the account of a row of the table that is left out."""
        place = self.places.of(int(row)) if self.places is not None else ""
        return Dropped(int(self.line[row]), f"{place}: {reason}" if place else reason)
