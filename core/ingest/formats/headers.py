"""Whether a table has a header, and what its columns are called."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...annotations.columns import as_numpy, text
from ...errors import InputError
from ...text import plural
from ..column_mapping import is_known_column


def knows_columns(cells: list[str]) -> bool:
    """Whether some cell is a known name of a column."""
    return any(is_known_column(cell) for cell in cells)


def looks_like_header(header: list[str], head: list[list[str]]) -> bool:
    """Whether a first row names the columns, judged by its words and by the rows below."""
    known = sum(is_known_column(name) for name in header)
    if 2 * known > len(header):
        return True
    for column, name in enumerate(header):
        values = {row[column].strip() for row in head if column < len(row) and row != header}
        # Annotations and raters may be words that also name columns ("doctor 1"): what stands below again is no name.
        if (name.strip() and name.strip() in values) or (_is_number(name) and not known):
            return False
    return True


def column_names(header: list[str], n_columns: int, line: int, head: list[list[str]]) -> list[str]:
    """Names of the columns from the header on ``line``; a name twice or too few are refused.

    Parameters
    ----------
    header : list of str
    n_columns : int
        Fields of most rows.
    line : int
        Of the header, for messages.
    head : list of list of str
        The first rows below it: they tell why the header has one name less than they have fields.

    Returns
    -------
    list of str
        ``n_columns`` different names.

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
            "Give every column one name, in quotation marks if it contains the delimiter, and take out lines above it.",
            line=line,
        )
    names = [name or f"column {number}" for number, name in enumerate(names, 1)]
    for name, count in Counter(names).items():
        if count > 1:
            places = " and ".join(str(number) for number, other in enumerate(names, 1) if other == name)
            raise InputError(
                f"The header names {name!r} {count} times (columns {places}).",
                "Give each column a name of its own, so that no annotations are mixed up.",
                line=line,
            )
    return names


def repeats_header(table: pa.Table, header: list[str]) -> np.ndarray:
    """Rows that repeat the header, as in files put together from several."""
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
