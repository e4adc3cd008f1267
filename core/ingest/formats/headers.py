"""Headers of tables: whether there is one, and the names of the columns."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...annotations.columns import as_numpy, text
from ...errors import InputError
from ...text import plural
from ..column_mapping import is_known_column

HEADERS_JOINED = " / "  # between the cells of several header rows
_MOST_ABOVE, _WITH_ROWS, _COUNTED = 20, 3, 3


def knows_columns(cells: list[str]) -> bool:
    """Return whether some cell is a known name of a column."""
    return any(is_known_column(cell) for cell in cells)


def header_rows(rows: list[list[str]]) -> tuple[int, int]:
    """Return how many title rows are above the header, and how many rows the header has: one or two.

    A title fills one cell of three or more. The first of two header rows has cells merged over several columns, of
    which only the first is filled; no cell of the second is repeated below.
    """
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[:_MOST_ABOVE]]
    above = next((place for place, size in enumerate(filled) if size > 1), 0) if len(rows[0]) > 2 else 0
    if len(rows) < above + _WITH_ROWS:
        return above, 1
    first, second = rows[above], rows[above + 1]
    if len(first) != len(second) or (not first[0].strip() and not second[0].strip()):
        return above, 1
    merged = [place for place in range(1, len(first)) if not first[place].strip()]
    if not merged or any(not second[place].strip() or _is_number(second[place]) for place in merged):
        return above, 1
    for place, name in enumerate(second):
        if name.strip() and name in {row[place] for row in rows[above + 2 :] if place < len(row)}:
            return above, 1
    return above, 2


def joined_header(rows: list[list[str]]) -> list[str]:
    """Return one name per column of several header rows: "Round 1 / Dr A"."""
    names = [""] * len(rows[0])
    for number, row in enumerate(rows, 1):
        last = ""
        for place, cell in enumerate(row):
            last = cell.strip() or (last if number < len(rows) else "")
            if last and last != names[place]:
                names[place] += f"{HEADERS_JOINED if names[place] else ''}{last}"
    return names


def looks_like_header(header: list[str], head: list[list[str]]) -> bool:
    """Return whether a first row names the columns, judged by its words and by the rows below."""
    known = sum(is_known_column(name) for name in header)
    if 2 * known > len(header) or _numbers_raters(header, head):
        return True
    if any(cell.startswith('{"ImportId"') for row in head[:2] for cell in row):  # of Qualtrics
        return True
    cells = {cell.strip() for row in head for cell in row}
    if len(set(header)) < len(header) and all(name.strip() in cells for name in header if name.strip()):
        return False
    for column, name in enumerate(header):
        values = {row[column].strip() for row in head if column < len(row) and row != header}
        # Annotations and raters may be words that also name columns ("doctor 1"). A word repeated below is not a name.
        if (name.strip() and name.strip() in values) or (_is_number(name) and not known):
            return False
    return True


def _numbers_raters(header: list[str], head: list[list[str]]) -> bool:
    """Return whether a name without digits is above ids with digits, and the other columns are counted: 1, 2, 3."""
    first, *others = (name.strip() for name in header)
    if len(others) < _COUNTED or not all(name.isascii() and name.isdigit() for name in others):
        return False
    ids = [row[0] for row in head if row and row[0].strip()]
    if (
        not first
        or any(sign.isdigit() for sign in first)
        or not all(any(sign.isdigit() for sign in one) for one in ids)
    ):
        return False
    return all(int(after) == int(before) + 1 for before, after in pairwise(others))


def column_names(header: list[str], n_columns: int, line: int, head: list[list[str]]) -> list[str]:
    """Return names of the columns from the header on ``line``; refuse repeated or missing names.

    Parameters
    ----------
    header : list of str
    n_columns : int
        Number of fields of most rows.
    line : int
        Line of the header, for messages.
    head : list of list of str
        First rows below it, which show why the header has one name less than they have fields.

    Returns
    -------
    list of str
        Names, ``n_columns`` different ones.

    Raises
    ------
    InputError
    """
    names = [name.strip().lstrip("#").strip() for name in header]
    full = [row for row in head if len(row) == n_columns]
    if len(names) == n_columns - 1 and full and not knows_columns(full[0]):
        if all(not row[-1].strip() for row in full):  # a delimiter at the end of every row
            names = [*names, f"column {n_columns:,}"]
        elif len({row[0] for row in full}) == len(full):  # tables written with row names have no name for that column
            names = ["row", *names]
    if len(names) != n_columns:
        raise InputError(
            f"The header has {plural(len(names), 'name')} but most rows have {n_columns:,} fields.",
            "Use one name per column, in quotation marks if it contains the delimiter, and remove lines above it.",
            line=line,
        )
    names = [name or f"column {number}" for number, name in enumerate(names, 1)]
    for name, count in Counter(names).items():
        if count > 1:
            places = " and ".join(str(number) for number, other in enumerate(names, 1) if other == name)
            raise InputError(
                f"The header names {name!r} {count} times (columns {places}).",
                "Use a different name for each column, so that no annotations are mixed up.",
                line=line,
            )
    return names


def repeats_header(table: pa.Table, header: list[str]) -> np.ndarray:
    """Return rows that repeat the header, as in files combined from several."""
    if len(header) != table.num_columns:
        return np.zeros(table.num_rows, bool)
    same = np.ones(table.num_rows, bool)
    for column, name in zip(table.columns, header, strict=True):
        if not same.any():
            break
        if pa.types.is_dictionary(column.type):
            if not any(pc.index(chunk.dictionary, text(name)).as_py() >= 0 for chunk in column.chunks):
                return np.zeros(table.num_rows, bool)
            column = column.cast(pa.string())
        same &= as_numpy(pc.equal(column, text(name)))
    return same


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
