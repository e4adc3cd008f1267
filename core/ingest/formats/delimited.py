"""CSV, TSV and similar text: the dialect is detected, and the records are counted independently of the reader."""

import re
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from pyarrow import csv

from ...annotations._kernels import scan_lines, scan_records
from ...annotations.vocabulary import one_dictionary
from ...errors import InputError, OneColumnError
from ...runtime.numba_setup import pick_backend
from ...text import plural, was_or_were
from ..column_mapping import is_known_column
from .arrow_bytes import arrow_bytes
from .budget import OBJECT, spend, spend_table
from .encoding import to_utf8
from .headers import (
    column_names,
    header_rows,
    joined_header,
    knows_columns,
    looks_like_header,
    repeats_header,
)
from .raw_table import Dropped, RawTable
from .regions import refuse_markup

_DELIMITERS = {",": "a comma", "\t": "a tab", ";": "a semicolon", "|": "a bar"}
_SNIFFED_RECORDS = 200
_LARGE, _SNIFFED_BYTES, _NEWLINE = 50_000, 65_536, 10
_MOST_JOINED = 100  # columns whose chunks are put together at once: all of them may be needed
_EXCEL_LINE = re.compile(rb"sep=([,;|\t])[ \t]*(?=[\r\n])")  # written for Excel, which takes the delimiter from it
_COMMENT, _AFTER_QUOTE, _BLANK = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Dialect:
    """Separators of the fields of a file. ``quote`` is empty if none is used."""

    delimiter: str
    quote: str


@dataclass(frozen=True, slots=True)
class _Records:
    """One entry per record of the file, in order; see the kernel ``scan_records``."""

    first: np.ndarray
    last: np.ndarray
    line: np.ndarray
    fields: np.ndarray
    flags: np.ndarray

    def marked(self, flag: int) -> np.ndarray:
        return (self.flags & flag) != 0


def read_delimited(content: bytes, *, has_header: bool | None = None) -> RawTable:
    """Return a table of text from CSV, TSV, or text with semicolons or bars between its fields.

    Parameters
    ----------
    content : bytes
        Whole file, in any encoding.
    has_header : bool, optional
        True if the first row names the columns; guessed if omitted.

    Raises
    ------
    InputError
        The file is empty or binary, has one column only, repeats a name in the header, has a quote that stays open, or
        its rows do not fit the header. A partly read table is never returned.
    """
    asked, (content, notes) = has_header, _text(content)
    data = np.frombuffer(content, np.uint8)
    declared = _EXCEL_LINE.match(content)
    dialect = Dialect(declared.group(1).decode(), '"') if declared else sniff_dialect(data)
    notes.append(f"The delimiter is {_DELIMITERS[dialect.delimiter]}.")
    records, plain = _records(content, data, dialect)

    rows, n_columns = _rows_of_table(content, dialect, records, declared is not None, notes)
    spend_table((indices := _places(rows)).size, n_columns)  # before their names are looked at
    if has_header is not False and (n_above := _lines_above_header(content, dialect, records, indices, n_columns)):
        notes.append(f"{plural(n_above, 'line')} above the header {was_or_were(n_above)} left out.")
        indices = indices[n_above:]
    cells = [_cells(content, dialect, records, index) for index in indices[:_SNIFFED_RECORDS]]
    at = int(records.line[indices[0]])
    header, names, n_above, has_header = _header(cells, has_header, n_columns, at, notes)
    indices = indices[n_above:]
    if n_columns < 2:
        _refuse_markup(content)
        if (spaced := _with_tabs(content)) is not None:
            found = read_delimited(spaced, has_header=asked)
            return replace(found, notes=(*notes[:-2], "The delimiter is white space.", *found.notes[1:]))
        raise OneColumnError(
            f"Could not read the table: only one column was found ({names[0]!r}).",
            "Use a table with at least a case column and an annotation column, separated by commas, semicolons, tabs "
            "or vertical bars (|).",
        )
    if indices.size == 0:
        raise InputError("Could not read the table: it has a header but no rows.", "Add at least one row of data.")

    kept, dropped = _fitting(content, records, indices, n_columns)
    if records.flags.any() and (marked := int(records.marked(_COMMENT)[kept].sum())):
        notes.append(_read_as_data(marked))
    line, span = records.line[_run(kept)], (kept, records.first, records.last)
    del records, indices, kept, rows
    table = _parse(content, dialect, names, *span, not plain)
    line = line.astype(np.int64, copy=False)
    del span
    if has_header:
        again = repeats_header(table, header)
        dropped += [Dropped(int(place), "a repeated header") for place in line[again]]
        table, line = (table.filter(pa.array(~again)), line[~again]) if again.any() else (table, line)
    return RawTable(table, line, tuple(dropped), tuple(notes), has_header, dialect.delimiter == ";")


def _read_as_data(marked: int) -> str:
    """Return the note on rows that start with # and have a field for each column."""
    they_have = "it has" if marked == 1 else "they have"
    rows = f"{plural(marked, 'row')} starting with # {was_or_were(marked)}"
    return f"{rows} read as data, because {they_have} as many fields as the table has columns."


def _header(
    cells: list[list[str]], has_header: bool | None, n_columns: int, line: int, notes: list[str]
) -> tuple[list[str], list[str], int, bool]:
    """Return the header as it is and as column names, the number of records before the rows, and if it is a header.

    Skipped or joined rows are added to ``notes``.
    """
    above, n_headers = header_rows(cells) if has_header is not False else (0, 1)
    if above:
        notes.append(f"{plural(above, 'line')} above the header {was_or_were(above)} left out.")
    if n_headers > 1:
        notes.append(f"{n_headers} header rows were joined.")
        has_header = True
    header = joined_header(cells[above : above + n_headers]) if n_headers > 1 else cells[above]
    head = cells[above + n_headers :]
    if has_header is None:
        has_header = looks_like_header(header, head)
    if has_header:
        return header, column_names(header, n_columns, line, head), above + n_headers, True
    notes.append("The columns have no names, so they were numbered.")
    return header, [f"column {number}" for number in range(1, n_columns + 1)], above, False


def _with_tabs(content: bytes) -> bytes | None:
    """Return lines with equally many repeated words with tabs in place of white space; None for other text."""
    words = [line.split() for line in content[:_SNIFFED_BYTES].splitlines() if line.strip()]
    flat = [word for line in words for word in line]
    if len({len(line) for line in words[:-1]}) != 1 or 2 * len(set(flat)) > len(flat):
        return None
    spend(cells=OBJECT * content.count(b"\n"))
    lines = content.splitlines()
    n_words = {len(line.split()) for line in lines if line.strip()}
    if b'"' in content or b"\t" in content or len(n_words) != 1 or min(n_words) < 3 or len(lines) < 2:
        return None
    return b"\n".join(b"\t".join(line.split()) for line in lines)


def _text(content: bytes) -> tuple[bytes, list[str]]:
    """Return the file in UTF-8, and notes on its encoding."""
    note: str | None = ""
    if content and not content.isspace():
        content, note = to_utf8(content)
    if not content or content.isspace():
        raise InputError("Could not read the file: it is empty.", "Choose a file with a header and at least one row.")
    return content, [note] if note else []


def _rows_of_table(
    content: bytes, dialect: Dialect, records: _Records, declared: bool, notes: list[str]
) -> tuple[np.ndarray, int]:
    """Return which records are rows, including the header, and the number of columns; add comments to ``notes``."""
    if not declared and not records.flags.any():
        return np.ones(records.fields.size, bool), _commonest(records.fields)
    rows = ~records.marked(_BLANK)
    rows[0] &= not declared
    sound = rows & ~records.marked(_COMMENT | _AFTER_QUOTE)
    if not sound.any():
        _refuse_markup(content)
        raise InputError(
            "Could not read the file: it contains only comments and unreadable lines.",
            "Choose a file with rows of data.",
        )
    n_columns = _commonest(records.fields[sound])
    comment = records.marked(_COMMENT) & (records.fields != n_columns)
    # A comment above the header may have as many fields as the table.
    above = np.flatnonzero(rows & ~comment)
    above = above[: int(np.argmin(np.append(records.marked(_COMMENT)[above], False)))]
    first = int(np.flatnonzero(sound)[0])
    if above.size and knows_columns(_cells(content, dialect, records, first)):
        comment[above] = True
    rows &= ~comment
    if comment.any():
        notes.append(f"{plural(int(comment.sum()), 'comment line')} (#) {was_or_were(int(comment.sum()))} left out.")
    return rows, n_columns


def _fitting(
    content: bytes, records: _Records, indices: np.ndarray, n_columns: int
) -> tuple[np.ndarray, list[Dropped]]:
    """Return the records with as many fields as the table has columns, and the others with the reason."""
    bad = ((records.fields != n_columns) | records.marked(_AFTER_QUOTE))[_run(indices)]
    if not bad.any():
        return indices, []
    dropped = [
        Dropped(
            int(records.line[index]),
            "text after a closing quote"
            if records.flags[index] & _AFTER_QUOTE
            else f"{records.fields[index]} fields instead of {n_columns}",
        )
        for index in indices[bad]
    ]
    kept = indices[~bad]
    if kept.size == 0:
        _refuse_markup(content)
        raise InputError(
            f"Could not read the table: no row has the expected {plural(n_columns, 'field')}.",
            "Check the delimiter of the file.",
        )
    return kept, dropped


def sniff_dialect(data: np.ndarray) -> Dialect:
    """Return the delimiter that gives most records the same number of fields, more than one, and the quote in use.

    A delimiter that does so for more than half of them, including the first, and with which every quote closes, is
    preferred: with others the file would be refused.

    Parameters
    ----------
    data : ndarray of uint8
        Text in UTF-8.
    """
    best, best_score = Dialect(",", '"'), (False, -1.0, 0)
    head = data[: 1 << 20]
    scan = pick_backend(scan_records, head.size)
    for quote in ('"', "'"):
        if quote == "'" and not _single_quotes_in_use(head[:_SNIFFED_BYTES].tobytes()):
            continue
        for delimiter in _DELIMITERS:
            _, _, _, fields, flags, open_line, _ = scan(head, ord(delimiter), ord(quote), 0, _SNIFFED_RECORDS)
            never_closes = open_line and head.size == data.size
            if never_closes:  # the lines inside it are evidence on the delimiter, too
                _, _, _, fields, flags, _, _ = scan(head, ord(delimiter), 0, 0, _SNIFFED_RECORDS)
            n_fields = fields[(flags & (_COMMENT | _BLANK)) == 0].tolist()
            if not n_fields:
                continue
            columns, records = Counter(n_fields).most_common(1)[0]
            share = records / len(n_fields) if columns > 1 else 0.0
            fits = share > 0.5 and n_fields[0] == columns and not never_closes
            # Ties go to the first of the list: a comma inside text is less frequent than one as delimiter.
            score = (fits, share, columns if quote == "'" else 0)
            if score > best_score:
                best, best_score = Dialect(delimiter, quote), score
    return best


def _single_quotes_in_use(head: bytes) -> bool:
    if b'"' in head:
        return False
    lines = head.splitlines()[:_SNIFFED_RECORDS]
    quoted = [line.count(b"'") >= 2 and line.lstrip().startswith(b"'") for line in lines]
    return quoted[0] and sum(quoted) > len(lines) / 2


def _commonest(numbers: np.ndarray) -> int:
    """Return the most frequent number; if tied, the one that comes first."""
    counts = np.bincount(numbers)
    most = np.flatnonzero(counts == counts.max())
    return int(most[0]) if most.size == 1 else int(numbers[np.argmax(np.isin(numbers, most))])


def _records(content: bytes, data: np.ndarray, dialect: Dialect) -> tuple[_Records, bool]:
    """Return the records of a file, and whether each of them is one line."""
    n = content.count(b"\n") + bool(data.size and data[-1] != _NEWLINE)
    spend(cells=n)
    places = np.int32 if data.size < 1 << 31 else np.int64
    first, last = np.empty(n, places), np.empty(n, places)
    n_fields, flags = np.empty(n, np.int32), np.empty(n, np.uint8)
    scan = pick_backend(scan_lines, data.size)
    if scan(data, ord(dialect.delimiter), ord(dialect.quote), first, last, n_fields, flags) < 0:
        return _scan(data, dialect), False
    return _Records(first, last, np.arange(1, n + 1, dtype=places), n_fields, flags), True


def _scan(data: np.ndarray, dialect: Dialect) -> _Records:
    scan = pick_backend(scan_records, data.size)
    *columns, open_line, noticed_line = scan(data, ord(dialect.delimiter), ord(dialect.quote), 0, -1)
    if open_line:
        where = "is never closed"
        n_lines = len(data.tobytes().splitlines())
        if open_line != noticed_line <= n_lines:
            where = f"is still open on line {noticed_line:,}"
        raise InputError(
            f"Could not read the file: a quotation mark ({dialect.quote}) opens on this line and {where}.",
            "Close the quotation mark, or double it if it is part of the text.",
            line=int(open_line),
        )
    return _Records(*columns)


def _cells(content: bytes, dialect: Dialect, records: _Records, index: int) -> list[str]:
    """Return the fields of one record, split by the standard library as an independent second reader."""
    import csv as standard_csv

    standard_csv.field_size_limit(2**31 - 1)  # it gives up at 131,072 letters otherwise
    text = content[records.first[index] : records.last[index]].decode()
    return next(standard_csv.reader([text], delimiter=dialect.delimiter, quotechar=dialect.quote), [""])


def _lines_above_header(
    content: bytes, dialect: Dialect, records: _Records, indices: np.ndarray, n_columns: int
) -> int:
    """Return how many title lines with another number of fields are above a header of known names."""
    for n_above, index in enumerate(indices[:20]):
        cells = _cells(content, dialect, records, index)
        if 2 * sum(map(is_known_column, cells)) > len(cells):
            return n_above if len(cells) == n_columns else 0
        if len(cells) == n_columns:
            return 0
    return 0


def _refuse_markup(content: bytes) -> None:
    start = content.lstrip()[:1]
    if start == b"<":
        refuse_markup("The file", content)
        raise InputError(
            "Could not read the table: the file looks like a web page or XML.", "Save the table as CSV or Parquet."
        )


def _parse(
    content: bytes,
    dialect: Dialect,
    names: list[str],
    kept: np.ndarray,
    first: np.ndarray,
    last: np.ndarray,
    quoted: bool,
) -> pa.Table:
    if isinstance(_run(kept), slice):
        buffer = arrow_bytes(content, int(first[kept[0]]), int(last[kept[-1]]))
    else:
        runs = np.split(kept, np.flatnonzero(np.diff(kept) != 1) + 1)
        pieces = (content[first[run[0]] : last[run[-1]]] for run in runs)
        buffer = arrow_bytes(b"\n".join(pieces) + b"\n")
    # Texts of large tables as dictionaries: a third of the memory, and the codes are what comes next.
    text = pa.dictionary(pa.int32(), pa.string()) if kept.size > _LARGE else pa.string()
    remedy = "Save the file as Parquet, or check the text for stray quotation marks and line breaks."
    try:
        table = csv.read_csv(
            pa.BufferReader(buffer),
            read_options=csv.ReadOptions(column_names=names, block_size=8 << 20),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char=dialect.quote,
                newlines_in_values=quoted,
                ignore_empty_lines=True,
            ),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, text), strings_can_be_null=False, check_utf8=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise InputError(f"Could not split the rows into fields: {error}.", remedy) from None
    if table.num_rows != kept.size:
        raise InputError(
            f"Could not read the table: it has {kept.size:,} rows, but {table.num_rows:,} were read.", remedy
        )
    if table.num_columns > _MOST_JOINED or text == pa.string():
        return table
    return pa.table([one_dictionary(table[name]) for name in names], names=names)


def _places(mask: np.ndarray) -> np.ndarray:
    """Return where a mask is true; for a mask that is true everywhere, in half the memory."""
    return np.arange(mask.size, dtype=np.int32) if mask.all() and mask.size < 1 << 31 else np.flatnonzero(mask)


def _run(places: np.ndarray) -> slice | np.ndarray:
    """Return ascending positions as a slice if none is missing between the first and the last."""
    if places.size and places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places
