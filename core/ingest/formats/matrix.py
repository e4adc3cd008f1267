"""Matrices of scores without a header: a row per case, a column per class (`np.savetxt`, `np.save`, JSON)."""

import io

import numpy as np
import orjson

from ...errors import InputError
from ...runtime.files import load_any
from ...text import shorten
from .budget import spend_as_values
from .encoding import to_utf8

NUMPY = b"\x93NUMPY"
_HEAD = 20
_DELIMITERS = (None, ",", ";", "\t")  # None is any white space
_FIRST_BYTES = 1 << 20


def is_matrix(content: bytes) -> bool:
    """Return whether a file consists only of rows with equally many numbers, of which some are not integers.

    Integers only may be annotations, counts or codes, and are a table. Of text, only the first rows are checked.
    """
    if content.startswith(NUMPY):
        return True
    if b"\x00" in content[:4096]:
        return False
    if _begins_as_lists(content):
        return _is_of_rows(_lists(content))
    lines = [line for line in content[:_FIRST_BYTES].splitlines()[: _HEAD + 1] if line.strip() and line[:1] != b"#"]
    if len(content) > _FIRST_BYTES and len(lines) > 1:
        lines = lines[:-1]  # the last may be cut
    rows = [_numbers(line) for line in lines]
    if not rows or any(row is None for row in rows):
        return False
    sizes = {len(row) for row in rows if row is not None}
    return len(sizes) == 1 and sizes.pop() > 1 and any(value % 1 for row in rows for value in row or ())


def read_matrix(name: str, content: bytes) -> np.ndarray:
    """Return the matrix in a file, as float64 of shape (n_rows, n_columns).

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
        Text with a row on each line, a NumPy array (`.npy`) of numbers, or JSON with a list for each row.

    Raises
    ------
    InputError
        Rows differ in length, a value is not a finite number, or an array does not have two dimensions.
    """
    shown = shorten(name, 60)
    if content.startswith(NUMPY):
        matrix = _array(shown, content)
    elif _begins_as_lists(content):
        if (rows := _lists(content)) is None:
            raise InputError(
                f"Could not read {shown}: its lists have different lengths.",
                "Write one list per case, with one number per class.",
            )
        matrix = np.array(rows, np.float64)
    else:
        text = to_utf8(content)[0]
        first = next((line for line in text.splitlines() if line.strip() and line[:1] != b"#"), b"")
        try:
            matrix = np.loadtxt(io.StringIO(text.decode()), delimiter=_delimiter(first), ndmin=2)
        except ValueError as error:
            raise InputError(
                f"Could not read the matrix in {shown}: {str(error).split(';')[0]}.",
                "Write one row per case, with one number per class.",
            ) from None
    if (bad := np.argwhere(~np.isfinite(matrix))).size:
        row, column = bad[0] + 1
        raise InputError(
            f"Could not read {shown}: the score in row {row:,}, column {column:,} is not a finite number.",
            "Use a finite score for every class.",
        )
    return matrix


def _array(shown: str, content: bytes) -> np.ndarray:
    try:
        array = load_any(io.BytesIO(content))
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"Could not read the NumPy array {shown}: {error}.", "Save it again with np.save.") from None
    if array.ndim != 2 or array.dtype.kind not in "fiu":
        raise InputError(
            f"Could not read {shown}: the array has shape {array.shape} and type {array.dtype}.",
            "Use an array of numbers with one row per case and one column per class.",
        )
    return np.asarray(array, np.float64)


def _begins_as_lists(content: bytes) -> bool:
    head = b"".join(content[:64].split())
    return head.startswith((b"[[", b"\xef\xbb\xbf[["))


def _lists(content: bytes) -> list | None:
    """Return the content of JSON; None if it cannot be read, or is not a list of lists with equally many numbers."""
    spend_as_values(content)
    try:
        rows = orjson.loads(content.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError:
        return None
    n_columns = {len(row) if isinstance(row, list) else 0 for row in rows}
    whole = len(n_columns) == 1 and min(n_columns) > 1
    return rows if whole and all(type(value) in (int, float) for row in rows for value in row) else None


def _is_of_rows(rows: list | None) -> bool:
    return rows is not None and any(value % 1 for row in rows for value in row)


def _delimiter(line: bytes) -> str | None:
    return next((sign for sign in _DELIMITERS[1:] if sign.encode() in line), None)


def _numbers(line: bytes) -> list[float] | None:
    """Return the numbers of a line; None if it contains anything else."""
    delimiter = _delimiter(line)
    try:
        return [float(cell) for cell in line.split(delimiter.encode() if delimiter else None)]
    except ValueError:
        return None
