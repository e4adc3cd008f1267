"""Arrays from files of NumPy, in any thread.

The header of such a file is a Python literal, and CPython before 3.13 may fail to parse two at once with ``SystemError:
AST constructor recursion depth mismatch``: where finalisers run on the way, the thread changes within the parser, which
counts its depth for all threads together. So headers are read one at a time, and what follows them is not.
"""

import math
import threading
from pathlib import Path
from typing import IO

import numpy as np

_ONE_AT_A_TIME = threading.Lock()
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def read_array(file: IO[bytes]) -> np.ndarray:
    """The array of an open .npy file that is read to its end; read-only.

    Raises
    ------
    ValueError
        It is not such a file, not whole, or holds objects.
    """
    shape, by_columns, dtype = _header(file)
    return _array(shape, dtype, file.read(), by_columns)


def load_array(path: Path) -> np.ndarray:
    """The array of a .npy file on disk; writable. See `read_array`."""
    with path.open("rb") as file:
        shape, by_columns, dtype = _header(file)
        return _array(shape, dtype, np.fromfile(file, np.uint8), by_columns)


def load_arrays(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file, by name."""
    with _ONE_AT_A_TIME, np.load(path, allow_pickle=False) as archive:
        return dict(archive)


def load_any(file: IO[bytes]) -> np.ndarray:
    """What `numpy.load` makes of a file that somebody gave, without pickles."""
    with _ONE_AT_A_TIME:
        return np.load(file, allow_pickle=False)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"Files of version {version} are not read")
    with _ONE_AT_A_TIME:
        shape, by_columns, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise ValueError("Objects are not read")
    return shape, by_columns, dtype


def _array(shape: tuple[int, ...], dtype: np.dtype, content: bytes | np.ndarray, by_columns: bool) -> np.ndarray:
    if len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError(f"An array of shape {shape} and type {dtype} is not of {len(content)} bytes")
    return np.ndarray(shape, dtype, content, order="F" if by_columns else "C")
