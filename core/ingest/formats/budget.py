"""Budget of cells and characters for each reading: it limits what a file becomes, not only its size on disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...annotations.columns import as_numpy
from ...errors import InputError, TooManyColumnsError
from ...settings import MEGABYTE, current_settings
from ...text import number

MOST_COLUMNS = 10_000
# Size of a cell as an object of Python, in cells of Arrow, which take 4 bytes and a share of what is made of them.
OBJECT = 16
# Size of a row in addition to its cells: its line, its place, and the reason why it is left out, in words.
_ROW = 8
_VALUES = {b",": 6, b"[": 6, b"{": 24}  # size of values of JSON, by the sign that starts each
_CELLS_PER_MB, _CHARACTERS_PER_MB = 20_000, 200_000  # share of `Settings.reading_mb`
_CELLS_PER_BYTE, _CHARACTERS_PER_BYTE = 16, 40  # multiple of the file's size; ordinary files stay far below
_LOOKED_AT = 5_000  # rows whose texts are examined one by one


class Budget:
    """Remaining budget of one reading.

    Parameters
    ----------
    n_bytes : int
        Size of all files together, as uploaded.
    most_columns : int
        Largest number of columns of a table.
    """

    def __init__(self, n_bytes: int, most_columns: int = MOST_COLUMNS):
        self.n_bytes, self.most_columns = n_bytes, most_columns
        base = current_settings().reading_mb
        self.cells = self.most_cells = base * _CELLS_PER_MB + _CELLS_PER_BYTE * n_bytes
        self.characters = self.most_characters = base * _CHARACTERS_PER_MB + _CHARACTERS_PER_BYTE * n_bytes
        self.refusal: InputError | None = None

    def spend(self, cells: int, characters: int) -> None:
        """Take cells and characters from the budget; see `spend`."""
        self.cells -= cells
        self.characters -= characters
        if self.cells < 0:
            self._refuse(f"{self.most_cells:,} cells")
        if self.characters < 0:
            self._refuse(f"{self.most_characters:,} characters")

    def _refuse(self, limit: str) -> None:
        size = self.n_bytes / MEGABYTE
        shown = f"{number(size, 1)} MB" if size >= 1 else f"{max(1, self.n_bytes // 1024):,} kB"
        self.refusal = InputError(
            f"Could not read the file: it unpacks to more than {limit}, the limit for a file of {shown}.",
            "Remove empty rows, columns and merged cells, or save the table as CSV. An administrator can raise "
            "PLURALITY_READING_MB.",
        )
        raise self.refusal


_BUDGET: ContextVar[Budget | None] = ContextVar("reading", default=None)


@contextmanager
def reading(n_bytes: int, most_columns: int = MOST_COLUMNS) -> Iterator[None]:
    """Limit what is read inside the block by one budget, and turn errors of libraries into errors of the project.

    Inside another reading, the budget of that one counts.

    Parameters
    ----------
    n_bytes, most_columns : int
        See `Budget`.

    Raises
    ------
    InputError
        Memory ran out, or a library cannot read the file.
    """
    if (outer := _BUDGET.get()) is not None:
        if outer.refusal is not None:
            raise outer.refusal
        yield
        return
    budget = Budget(n_bytes, most_columns)
    set_before = _BUDGET.set(budget)
    try:
        yield
        if budget.refusal is not None:  # of one file among several, or of one sheet
            raise budget.refusal
    except InputError as error:
        raise budget.refusal or error from None
    except MemoryError:  # Arrow's memory error is a subclass
        raise InputError(
            "Could not read the file: there is not enough memory.",
            "Open a part of the file. An administrator can raise PLURALITY_READING_MB.",
        ) from None
    except (pa.ArrowException, RecursionError, OverflowError) as error:
        raise InputError(
            f"Could not read the file: it is damaged or not supported ({_short(error)}).",
            "Save the table as CSV or Parquet, and open that file.",
        ) from None
    finally:
        _BUDGET.reset(set_before)


def spend(*, cells: int = 0, characters: int = 0) -> None:
    """Take cells and characters from the budget of the present reading, before they are made.

    Raises
    ------
    InputError
        The budget does not have that many; the message states the limit.
    """
    if (budget := _BUDGET.get()) is not None:
        budget.spend(cells, characters)


def spend_as_values(*texts: bytes) -> None:
    """Spend the size of the values of JSON in these texts as objects of Python, before any is read."""
    spend(cells=sum(taken * text.count(sign) for text in texts for sign, taken in _VALUES.items()))


def rows_left() -> int | None:
    """Return how many rows the budget of the present reading has cells for; None without a reading."""
    return None if (budget := _BUDGET.get()) is None else budget.cells // _ROW


def check_columns(n_columns: int) -> None:
    """Raise if a table has more columns than allowed.

    Raises
    ------
    TooManyColumnsError
        There are too many; the error has the number of columns.
    """
    budget = _BUDGET.get()
    most = MOST_COLUMNS if budget is None else budget.most_columns
    if n_columns > most:
        raise TooManyColumnsError(n_columns, most)


def spend_table(n_rows: int, n_columns: int) -> None:
    """Spend the rows and cells of a table, before it is made, if it does not have too many columns."""
    check_columns(n_columns)
    spend(cells=n_rows * (n_columns + _ROW))


def check_looked_at(table: pa.Table) -> None:
    """Spend the characters of the first rows of a table, which are examined one by one to guess roles of columns."""
    for column in table.columns:
        spend(characters=_n_characters(column.slice(0, _LOOKED_AT)))


def spend_as_objects(table: pa.Table) -> None:
    """Spend the size of a table as objects of Python, one text per cell, before it is made."""
    texts = [column for column in table.columns if pa.types.is_string(_of_values(column.type))]
    spend(cells=OBJECT * table.num_rows * table.num_columns, characters=table.nbytes + sum(map(_n_characters, texts)))


def plain_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as strings; each cell of a dictionary then has its own text, and spends its characters."""
    if pa.types.is_dictionary(column.type):
        spend(characters=_n_characters(column))
    return column.cast(pa.string())


def _of_values(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _n_characters(column: pa.ChunkedArray) -> int:
    """Return the bytes of the texts of a column of strings, or of dictionaries of them, counting each cell."""
    total = 0
    for chunk in column.chunks:
        if not pa.types.is_dictionary(chunk.type):
            total += pc.sum(pc.binary_length(chunk)).as_py() or 0
        elif len(chunk):
            # A null has the length NaN here; pc.fill_null would load pandas, which takes a third of a second.
            length = np.nan_to_num(as_numpy(pc.binary_length(chunk.dictionary))).astype(np.int64)
            codes = as_numpy(chunk.indices.drop_null())
            total += int(length[codes].sum())
    return total


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:200]
