"""Parquet tables, every column as text."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from core.annotations.readers.raw import RawTable
from core.errors import InputError

MAGIC = b"PAR1"


def read_parquet(content: bytes) -> RawTable:
    """A table of text from a Parquet file; whole numbers stay without a decimal point.

    Raises
    ------
    InputError
        The file is broken, has fewer than two columns of plain values, or no rows.
    """
    try:
        table = parquet.ParquetFile(pa.BufferReader(content)).read()
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"This Parquet file cannot be read ({error}).", "Write it again and open that.") from None
    names, columns, notes = [], [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_nested(column.type):
            notes.append(f"Column {name!r} holds nested values and was passed over.")
            continue
        try:
            text = _as_text(column)
        except (pa.ArrowException, ValueError):  # pixels and the like
            notes.append(f"Column {name!r} holds no text or numbers and was passed over.")
            continue
        names.append(name)
        columns.append(text)
    if len(names) < 2:
        raise InputError("There are fewer than two columns of plain values.", "A table needs a case and an answer.")
    if len(set(names)) < len(names):
        raise InputError("Two columns have the same name.", "Give each column a name of its own.")
    if table.num_rows == 0:
        raise InputError("The file has columns but no rows.", "Choose a file with at least one row of data.")
    line = np.arange(1, table.num_rows + 1, dtype=np.int64)
    return RawTable(pa.table(columns, names=names), line, (), tuple(notes))


def _as_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_float16(column.type):  # which Arrow does not write as text
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)
        whole = pc.all(pc.equal(column, pc.round(column)), skip_nulls=True).as_py()
        if whole and (pc.max(pc.abs(column)).as_py() or 0) < 2**53:
            column = column.cast(pa.int64())
    return pc.fill_null(column.cast(pa.string()), "")
