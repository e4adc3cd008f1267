"""What a reader gives: a table of text as it stands in the file, with the place of every row."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

UNANSWERED = "no answer to this question"  # why an annotation of a program is left out


class Dropped(NamedTuple):
    """A row of the file that is not used. Where lines say little the reason begins with the place."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RowLocations:
    """Where rows stand in a file that is no table: "ann.jsonl, task 17, annotation 3".

    Attributes
    ----------
    words : tuple of str
        What is counted, from the outside in.
    numbers : tuple of ndarray of int, each of shape (n_rows,)
        For each word the number of each row, from 1.
    files : tuple of str
        Names of the files; empty where there is only one.
    file : ndarray of int, shape (n_rows,), or None
        Index into ``files``.
    """

    words: tuple[str, ...] = ()
    numbers: tuple[np.ndarray, ...] = ()
    files: tuple[str, ...] = ()
    file: np.ndarray | None = None

    def at(self, rows: np.ndarray) -> "RowLocations":
        """The places of some rows, in their order."""
        file = None if self.file is None else self.file[rows]
        return RowLocations(self.words, tuple(number[rows] for number in self.numbers), self.files, file)

    def of(self, row: int) -> str:
        """The place of one row in words."""
        parts = [self.files[int(self.file[row])]] if self.file is not None and len(self.files) > 1 else []
        parts += [f"{word} {int(number[row]):,}" for word, number in zip(self.words, self.numbers, strict=True)]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class RawTable:
    """A file as text, before anything is understood.

    Attributes
    ----------
    table : pyarrow.Table
        Every column as strings (large tables: as dictionaries of strings), nothing trimmed, nothing taken for missing.
    line : ndarray of int64, shape (n_rows,)
        Physical line of each row, from 1; for Parquet and workbooks the row number.
    dropped : tuple of Dropped
        Rows that could not be brought into the table's columns.
    notes : tuple of str
        What was found out about the file: encoding, delimiter, comments.
    has_header : bool
        False where the columns had no names and were numbered.
    decimal_comma : bool
        True where 1,5 can only be one and a half: the fields are separated by semicolon.
    places : RowLocations or None
        Where each row stands, when its line does not say it.
    """

    table: pa.Table
    line: np.ndarray
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    has_header: bool = True
    decimal_comma: bool = False
    places: RowLocations | None = None

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.table.column_names

    @property
    def n_rows(self) -> int:
        """Rows in the file: those in the table and those dropped; header, blank and comment lines do not count."""
        return self.table.num_rows + len(self.dropped)

    def drop(self, row: int | np.integer, reason: str) -> Dropped:
        """The account of a row of the table that is not used."""
        place = self.places.of(int(row)) if self.places is not None else ""
        return Dropped(int(self.line[row]), f"{place}: {reason}" if place else reason)
