"""Tables of any kind of file as text: CSV and its like, Parquet, workbooks."""

from collections.abc import Callable

from core.annotations.readers.archive import is_archive, is_workbook
from core.annotations.readers.binary import what_is
from core.annotations.readers.delimited import read_delimited
from core.annotations.readers.parquet import MAGIC as PARQUET
from core.annotations.readers.parquet import read_parquet
from core.annotations.readers.raw import RawTable
from core.annotations.readers.workbook import read_workbook
from core.errors import InputError
from core.settings import MEGABYTE, current_settings


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
    if (found := what_is(content)) is not None:
        raise InputError(f"{name} is {found[0]}.", found[1])
    if is_archive(content):
        raise InputError(f"{name} is a zip archive.", "Unpack it, or save the table as CSV, TSV or Parquet.")
    return [(name, read_delimited(content, has_header=has_header))]
