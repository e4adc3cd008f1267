"""Readers: bytes of a file to a table of text. The format is found by content, not by the name of the file."""

from core.annotations.readers.delimited import read_delimited
from core.annotations.readers.parquet import MAGIC, read_parquet
from core.annotations.readers.raw import Dropped, RawTable
from core.errors import InputError
from core.settings import MEGABYTE, current_settings

_NOT_YET_TABLES = {
    b"PK\x03\x04": "a zip archive or an Excel workbook",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF document",
}

__all__ = ["Dropped", "RawTable", "open_table"]


def open_table(content: bytes, *, has_header: bool | None = None) -> RawTable:
    """The file as a table of text.

    Raises
    ------
    InputError
        The file is over the limit or cannot be read; the message says where and what to do.
    """
    limit = current_settings().max_upload_mb
    if len(content) > limit * MEGABYTE:
        raise InputError(
            f"The file has {len(content) / MEGABYTE:,.1f} MB, the limit is {limit:,} MB.",
            "Use Parquet, leave out columns that are not needed, or set PLURALITY_MAX_UPLOAD_MB higher.",
        )
    if content.startswith(MAGIC):
        return read_parquet(content)
    for magic, what in _NOT_YET_TABLES.items():
        if content.startswith(magic):
            raise InputError(f"This is {what}.", "Unpack it or save the table as CSV, TSV or Parquet, and open that.")
    return read_delimited(content, has_header=has_header)
