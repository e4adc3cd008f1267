"""Convert text and numpy arrays to columns of pyarrow and back, without pandas.

pyarrow imports pandas with the first value that it converts from Python, and with the first array that it converts to
numpy. That takes longer than to read a small file, so values go through buffers here.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MOST_JOINED = 1 << 30  # bytes; the texts of one array have less than twice that


def of_texts(values: Sequence[str]) -> pa.StringArray:
    """Return a column of texts.

    Parameters
    ----------
    values : sequence of str
        Texts with less than 2 GB in total.
    """
    encoded = [value.encode() for value in values]
    ends = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(each) for each in encoded], out=ends[1:])
    return pa.Array.from_buffers(pa.string(), len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))])


def as_texts(column: pa.StringArray) -> list[str]:
    """Return a column of texts as a list; one long text is split at line ends, if no text contains one.

    Parameters
    ----------
    column : StringArray
        Column without nulls.
    """
    lists = pa.ListArray.from_arrays(of_numpy(np.array([0, len(column)], np.int32)), column)
    if not len(column) or column.nbytes > _MOST_JOINED:
        return column.to_pylist()
    found = pc.binary_join(lists, text("\n"))[0].as_py().split("\n")
    return found if len(found) == len(column) else column.to_pylist()


def text(value: str) -> pa.StringScalar:
    """Return one text as a scalar, to compare with."""
    return of_texts([value])[0]


def of_numpy(values: np.ndarray) -> pa.Array:
    """Return a column of integers, floats or truth values.

    Parameters
    ----------
    values : ndarray, shape (n,)
    """
    if values.dtype == bool:
        packed = np.packbits(values, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), values.size, [None, pa.py_buffer(packed)])
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), values.size, [None, buffer])


def as_numpy(column: pa.Array | pa.ChunkedArray) -> np.ndarray:
    """Return numbers or truth values, read-only if nothing has to be copied; if some are null, as pyarrow gives them.

    Parameters
    ----------
    column : Array or ChunkedArray
        Column of a type of fixed width.
    """
    if isinstance(column, pa.ChunkedArray):
        chunks = [as_numpy(chunk) for chunk in column.chunks]
        dtype = column.type.to_pandas_dtype()
        return chunks[0] if len(chunks) == 1 else np.concatenate([np.empty(0, dtype), *chunks])
    if column.null_count:
        return column.to_numpy(zero_copy_only=False)
    dtype, first, n = np.dtype(column.type.to_pandas_dtype()), column.offset, len(column)
    if not n:
        return np.empty(0, dtype)
    buffer = column.buffers()[1]
    if not pa.types.is_boolean(column.type):
        return np.frombuffer(buffer, dtype, n, first * dtype.itemsize)
    bits = np.frombuffer(buffer, np.uint8)[first // 8 : -(-(first + n) // 8)]
    return np.unpackbits(bits, bitorder="little")[first % 8 : first % 8 + n].view(bool)
