"""Readers: bytes of files to tables of text. The format is found by content, not by the name of a file."""

import pyarrow as pa

from core.annotations.readers.formats import FORMATS, open_source
from core.annotations.readers.raw import Dropped, RawTable
from core.annotations.readers.side_tables import read_pictures, read_side_file
from core.annotations.readers.source import Question, Source
from core.annotations.readers.tables import check_size, open_tables

__all__ = [
    "FORMATS",
    "Dropped",
    "Question",
    "RawTable",
    "Source",
    "open_source",
    "open_table",
    "read_pictures",
    "read_side_file",
]


def open_table(content: bytes, *, has_header: bool | None = None) -> RawTable:
    """A file that holds one table, as text; of a workbook the first sheet that holds one.

    Raises
    ------
    InputError
        The file is over the limit or cannot be read; the message says where and what to do.
    """
    check_size("The file", len(content))
    (_, raw), *others = open_tables("The file", content, has_header=has_header)
    plain = pa.table({name: raw.table[name].cast(pa.string()) for name in raw.columns})
    notes = raw.notes + (f"Only the first of {len(others) + 1} sheets was read.",) * bool(others)
    return RawTable(plain, raw.line, raw.dropped, notes, raw.has_header, raw.decimal_comma, raw.places)
