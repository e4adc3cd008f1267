"""What a reader gives: a table of text as it stands in the file, with the place of every row."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa


class Dropped(NamedTuple):
    """A row of the file that is not used."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class RawTable:
    """A file as text, before anything is understood.

    Attributes
    ----------
    table : pyarrow.Table
        Every column as strings, nothing trimmed, nothing taken for missing.
    line : ndarray of int64, shape (n_rows,)
        Physical line of each row, from 1; for Parquet the row number.
    dropped : tuple of Dropped
        Rows that could not be brought into the table's columns.
    notes : tuple of str
        What was found out about the file: encoding, delimiter, comments.
    has_header : bool
        False where the columns had no names and were numbered.
    decimal_comma : bool
        True where 1,5 can only be one and a half: the fields are set apart by semicolon.
    """

    table: pa.Table
    line: np.ndarray
    dropped: tuple[Dropped, ...]
    notes: tuple[str, ...]
    has_header: bool = True
    decimal_comma: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.table.column_names

    @property
    def n_rows(self) -> int:
        """Rows in the file: those in the table and those dropped; header, blank and comment lines do not count."""
        return self.table.num_rows + len(self.dropped)
