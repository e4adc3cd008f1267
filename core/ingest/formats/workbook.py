"""Excel workbooks, read only: the values of every sheet as text."""

import datetime
import io
import re
import zipfile
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from ...errors import InputError, PluralityError
from ...tables import SETTINGS_HEADER, SETTINGS_SHEET
from ...text import plural, was_or_were
from .archive import check_archive
from .budget import OBJECT, check_columns, spend
from .headers import column_names, header_rows, joined_header, looks_like_header
from .questionnaire import strings, text_of
from .raw_table import Dropped, RawTable

_MOST_ROWS = 1_048_576  # Excel has no more
_CHUNK = 1 << 20
# Merged cells in one column; of a range over several columns the first is filled.
_MERGED = re.compile(rb'<mergeCell [^<>]*?ref="([A-Z]{1,3})(\d{1,7}):(?:[A-Z]{1,3})(\d{1,7})"')
_LONGEST_REFERENCE = 80
# Memory of openpyxl for a part of a workbook, in cells: a cell of a sheet has four tags or more.
_TAG, _TAG_OF_STYLE, _MERGED_RANGE = OBJECT // 4, 5 * OBJECT, 4 * OBJECT
_MOST_NOTED = 3  # sheets
_IN_BULK = ("worksheets/", "sharedStrings")
_EMPTY_ROW: list[str] = []
_SAVE_AGAIN = "Save it again as .xlsx without a password, or as CSV."


def read_workbook(name: str, content: bytes, *, has_header: bool | None = None) -> list[tuple[str, RawTable]]:
    """Return title and table of every sheet that has one. Formulas count by the value last calculated.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
    has_header : bool, optional
        True if the first row names the columns; guessed if omitted.

    Raises
    ------
    InputError
        The workbook is broken, protected, or no sheet has a table.
    """
    import openpyxl

    check_archive(name, content)
    found, reasons = [], []
    try:
        _check_parts(name, content)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            rows = _rows(name, sheet)
            n_filled = _fill_merged(rows, book, sheet)
            if sheet.title == SETTINGS_SHEET and rows and tuple(rows[0]) == SETTINGS_HEADER:
                continue  # a table of our own, exported with its settings
            try:
                found.append((sheet.title, _table(rows, has_header, n_filled)))
            except InputError as error:
                reasons.append(f"Sheet {sheet.title!r}: {error.message}")
        book.close()
    except (PluralityError, MemoryError):
        raise
    except Exception as error:  # the library may raise any error
        raise InputError(
            f"Could not read {name} as an Excel workbook ({type(error).__name__}).",
            _SAVE_AGAIN,
        ) from None
    if not found:
        raise InputError(
            f"Could not read {name}: no sheet has a table. {' '.join(reasons[:_MOST_NOTED])}",
            "Use a table with at least a case column and an annotation column.",
        )
    if len(found) + len(reasons) > 1:
        notes = tuple(f"{reason.removesuffix('.')}, so it was left out." for reason in reasons[:_MOST_NOTED])
        found = [(title, replace(raw, notes=raw.notes + notes, sheet=title)) for title, raw in found]
    return found


def _check_parts(name: str, content: bytes) -> None:
    """Spend the memory that openpyxl needs for the tags of every part, before it reads any; refuse entities."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            if not entry.filename.endswith((".xml", ".rels", ".vml")):
                continue
            weight = _TAG if any(part in entry.filename for part in _IN_BULK) else _TAG_OF_STYLE
            rest = b""
            with archive.open(entry) as part:
                while chunk := part.read(_CHUNK):
                    text = rest + chunk
                    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
                        raise InputError(
                            f"Could not open {name}: it declares XML entities, which no workbook needs.", _SAVE_AGAIN
                        )
                    merged = text.count(b"<mergeCell ") * _MERGED_RANGE
                    spend(cells=chunk.count(b"<") * weight + merged)
                    rest = text[-len(b"<mergeCell") :]


def _rows(name: str, sheet: Any) -> list[list[str]]:
    """Return the cells of a sheet as text, row by row."""
    rows: list[list[str]] = []
    if hasattr(sheet, "reset_dimensions"):
        sheet.reset_dimensions()  # the size in the file may be wrong
    for cells in sheet.iter_rows(values_only=True):
        if len(rows) == _MOST_ROWS:
            raise InputError(
                f"Could not open {name}: a sheet has more than {_MOST_ROWS:,} rows.",
                "Save the sheet as CSV, and open that file.",
            )
        if not cells:
            rows.append(_EMPTY_ROW)
            continue
        check_columns(_last_filled(cells))
        texts = [_cell(value) for value in cells]
        spend(cells=OBJECT * len(texts), characters=sum(map(len, texts)))
        rows.append(texts)
    return rows


def _last_filled(cells: tuple) -> int:
    """Return the place of the last cell of a row that is not empty, from 1."""
    if cells[-1] is not None:
        return len(cells)
    return next((place for place in range(len(cells), 0, -1) if cells[place - 1] is not None), 0)


def _fill_merged(rows: list[list[str]], book: Any, sheet: Any) -> int:
    """Write the value of cells merged down a column into each of their rows, in place; return how many were filled.

    When reading row by row, openpyxl leaves out which cells are merged, and all but the first of them are empty. Titles
    across columns are not changed.
    """
    archive, path = getattr(book, "_archive", None), getattr(sheet, "_worksheet_path", None)
    if archive is None or path is None:
        return 0
    from openpyxl.utils import column_index_from_string

    ranges: set[tuple[int, int, int]] = set()
    rest = b""
    with archive.open(path) as part:
        while chunk := part.read(_CHUNK):
            text = rest + chunk
            for letters, first, last in _MERGED.findall(text):
                if int(last) > int(first):
                    ranges.add((column_index_from_string(letters.decode()) - 1, int(first), int(last)))
            rest = text[-_LONGEST_REFERENCE:]
    if not ranges:
        return 0
    filled = [any(cell.strip() for cell in row) for row in rows]
    n_filled, column, done = 0, -1, 0
    for of_column, first, last in sorted(ranges):
        column, done = of_column, done if of_column == column else 0
        n_filled += _filled(rows, filled, column, first, max(first, done), last)
        done = max(done, last)
    return n_filled


def _filled(rows: list[list[str]], filled: list[bool], column: int, first: int, above: int, last: int) -> int:
    """Fill the rows from ``above`` to ``last`` of one merged range, rows from 1: each row is visited once."""
    if not 0 < first <= len(rows) or column >= len(rows[first - 1]) or not rows[first - 1][column].strip():
        return 0
    n_filled, value = 0, rows[first - 1][column]
    for place in range(above, min(last, len(rows))):
        row = rows[place]
        if filled[place]:
            if len(row) <= column:
                spend(cells=OBJECT * (column + 1 - len(row)))
                row.extend([""] * (column + 1 - len(row)))
            if not row[column].strip():
                spend(characters=len(value))
                row[column] = value
                n_filled += 1
    return n_filled


def _cell(value: object) -> str:
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, datetime.timedelta):
        return str(value)
    return text_of(value)


def _table(rows: list[list[str]], has_header: bool | None, n_filled: int = 0) -> RawTable:
    numbered = [(line, row) for line, row in enumerate(rows, 1) if any(cell.strip() for cell in row)]
    if not numbered:
        raise InputError("it is empty.")
    width = max(max(place for place, cell in enumerate(row, 1) if cell.strip()) for _, row in numbered)
    if width < 2:
        raise InputError("it has only one column.")
    check_columns(width)
    spend(cells=OBJECT * max(0, len(numbered) * width - sum(len(row) for _, row in numbered)))
    notes = []
    if n_filled:
        notes.append(f"{plural(n_filled, 'merged cell')} {was_or_were(n_filled)} filled with the value above.")
    numbered = [(line, (row + [""] * width)[:width]) for line, row in numbered]
    above, n_headers = header_rows([row for _, row in numbered[:200]])
    if above:
        notes.append(f"{plural(above, 'row')} above the table {was_or_were(above)} left out.")
    if has_header is False:
        n_headers = 1
    if n_headers > 1:
        notes.append(f"{n_headers} header rows were joined.")
        has_header = True
    line = numbered[above][0]
    header = joined_header([row for _, row in numbered[above : above + n_headers]])
    numbered = [(line, header), *numbered[above + n_headers :]] if n_headers > 1 else numbered[above:]
    header = numbered[0][1]
    head = [row for _, row in numbered[1:200]]
    if has_header is None:
        has_header = looks_like_header(header, head)
    if has_header:
        names, numbered = column_names(header, width, line, head), numbered[1:]
    else:
        names = [f"column {number}" for number in range(1, width + 1)]
        notes.append("The columns have no names, so they were numbered.")
    if not numbered:
        raise InputError("it has a header but no rows.")
    dropped = tuple(Dropped(line, "a repeated header") for line, row in numbered if has_header and row == header)
    kept = [(line, row) for line, row in numbered if not (has_header and row == header)]
    columns = [strings(row[place] for _, row in kept) for place in range(width)]
    lines = np.array([line for line, _ in kept], np.int64)
    return RawTable(pa.table(columns, names=names), lines, dropped, tuple(notes), has_header)
