"""Tables of any kind of file as text: CSV and its like, Parquet, workbooks."""

from collections.abc import Callable

from core.annotations.readers.archive import is_workbook
from core.annotations.readers.delimited import read_delimited
from core.annotations.readers.parquet import MAGIC as PARQUET
from core.annotations.readers.parquet import read_parquet
from core.annotations.readers.raw import RawTable
from core.annotations.readers.workbook import read_workbook
from core.errors import InputError
from core.settings import MEGABYTE, current_settings

_NO_TABLES = {
    b"PK\x03\x04": "a zip archive",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook, or one with a password",
    b"\x1f\x8b": "a gzip archive",
    b"%PDF": "a PDF document",
}


def check_size(name: str, n_bytes: int) -> None:
    """Raise `InputError` where a file is larger than the limit."""
    limit = current_settings().max_upload_mb
    if n_bytes > limit * MEGABYTE:
        raise InputError(
            f"{name} has {n_bytes / MEGABYTE:,.1f} MB, the limit is {limit:,} MB.",
            "Use Parquet, leave out columns that are not needed, or set PLURALITY_MAX_UPLOAD_MB higher.",
        )


def open_tables(
    name: str, content: bytes, *, has_header: bool | None = None, progress: Callable[[float], None] | None = None
) -> list[tuple[str, RawTable]]:
    """Every table of a file with its title: one, but for the sheets of a workbook.

    Raises
    ------
    InputError
        The file is no table; the message says where and what to do.
    """
    if content.startswith(PARQUET):
        return [(name, read_parquet(content, progress))]
    if is_workbook(content):
        return read_workbook(name, content, has_header=has_header)
    for magic, what in _NO_TABLES.items():
        if content.startswith(magic):
            raise InputError(f"This is {what}.", "Unpack it or save the table as CSV, TSV or Parquet, and open that.")
    return [(name, read_delimited(content, has_header=has_header))]
