"""Tables of any kind of file as text: CSV and similar, Parquet, workbooks."""

from collections.abc import Callable

import pyarrow as pa

from ...errors import InputError
from ...settings import MEGABYTE, current_settings
from ...text import number
from .archive import is_archive, is_workbook, unzipped
from .arrow_file import MAGIC as ARROW
from .arrow_file import read_arrow
from .binary import what_is
from .budget import check_looked_at, plain_text, reading
from .delimited import read_delimited
from .imrmc import table_of_imrmc
from .parquet import MAGIC as PARQUET
from .parquet import read_parquet
from .raw_table import RawTable
from .workbook import read_workbook


def check_file_size(name: str, n_bytes: int) -> None:
    """Raise `InputError` if a file is larger than the limit."""
    limit = current_settings().max_upload_mb
    if n_bytes > limit * MEGABYTE:
        raise InputError(
            f"Could not open {name}: it is {number(n_bytes / MEGABYTE, 1)} MB; the limit is {limit:,} MB.",
            "Save the table as Parquet, or remove columns that you do not need. An administrator can raise "
            "PLURALITY_MAX_UPLOAD_MB.",
        )


def open_tables(
    name: str, content: bytes, *, has_header: bool | None = None, progress: Callable[[float], None] | None = None
) -> list[tuple[str, RawTable]]:
    """Return every table of a file with its title: one, except for the sheets of a workbook.

    Parameters
    ----------
    name : str
        Name of the file, for messages; the title of its table.
    content : bytes
    has_header : bool, optional
        True if the first row names the columns; guessed if omitted.
    progress : callable, optional
        Called with the share done, 0 to 1, of a Parquet file.

    Raises
    ------
    InputError
        The file is not a table; the message states the place and what to do.
    """
    with reading(len(content)):
        name, content = unzipped(name, content)
        tables = _tables(name, content, has_header, progress)
        for _, raw in tables:
            check_looked_at(raw.table)
        return tables


def _tables(
    name: str, content: bytes, has_header: bool | None, progress: Callable[[float], None] | None
) -> list[tuple[str, RawTable]]:
    if content.startswith(PARQUET):
        return [(name, read_parquet(content, progress))]
    if content.startswith(ARROW):
        return [(name, read_arrow(content))]
    if is_workbook(content):
        return read_workbook(name, content, has_header=has_header)
    if (found := what_is(content)) is not None:
        raise InputError(f"{name} is {found[0]}.", found[1])
    if is_archive(content):
        raise InputError(
            f"Could not open {name}: it is a zip archive.", "Unpack it, or save the table as CSV, TSV or Parquet."
        )
    if (study := table_of_imrmc(content)) is not None:
        return [(name, study)]
    return [(name, read_delimited(content, has_header=has_header))]


def open_table(content: bytes, *, has_header: bool | None = None) -> RawTable:
    """Return a file with one table as text; for a workbook the first sheet with a table.

    Raises
    ------
    InputError
        The file is over the limit or cannot be read; the message states the place and what to do.
    """
    check_file_size("The file", len(content))
    with reading(len(content)):
        (_, raw), *others = open_tables("The file", content, has_header=has_header)
        plain = pa.table({name: plain_text(raw.table[name]) for name in raw.columns})
    notes = raw.notes + (f"Only the first of {len(others) + 1} sheets was read.",) * bool(others)
    return RawTable(plain, raw.line, raw.dropped, notes, raw.has_header, raw.decimal_comma, raw.places)
