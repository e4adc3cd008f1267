"""Write results as bytes and read them back, without pickles: a zip of arrays (.npy) and one JSON of the structure.

Supported are texts, numbers, arrays, Arrow tables, tuples, lists, dicts, sets, dataclasses of this package, and methods
by name. What a result shares with its data (case ids, classes, arrays) is not written; it is taken from the data when
the result is read.
"""

import base64
import io
import json
import struct
import zipfile
import zlib
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa

from ..annotations.dataset import Dataset
from ..annotations.validation import Names, Texts
from ..errors import PluralityError
from ..methods import Method, method_named
from .files import read_array

_PACKAGE = __package__.rpartition(".")[0]
_TREE = "result.json"
# Of a large array this much is tried; it is compressed where at most this share of it is left.
_TRIED_BYTES, _MOST_LEFT = 1 << 16, 0.8
_LONG = 1 << 16  # bytes that are written as an array, not as text
_MANY = 1_000  # named tuples that are written as a table, not one by one
_PLAIN = (str, int, float, bool, type(None))
_SEQUENCES: dict[str, type] = {
    "tuple": tuple, "list": list, "set": set, "frozenset": frozenset, "texts": Texts, "names": Names,
}  # fmt: skip
DAMAGED = (OSError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError, ImportError, EOFError,
           NotImplementedError, struct.error, zlib.error, zipfile.BadZipFile, PluralityError)  # fmt: skip


class NotStorableError(PluralityError):
    """A result has a part of a kind that cannot be written."""


def to_bytes(result: Any, dataset: Dataset, *, compress: bool = True) -> bytes:
    """Return a result of the dataset as bytes.

    Parameters
    ----------
    result : object
        Dataclasses, arrays, numbers and text.
    dataset : Dataset
    compress : bool
        True for results that are saved.

    Raises
    ------
    NotStorableError
        The result has an object of another kind, such as a function.
    """
    writing = _Writing(dataset)
    tree = writing.tree(result)
    buffer, how = io.BytesIO(), zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(buffer, "w", how, compresslevel=1) as archive:
        said = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
        archive.writestr(_TREE, said.encode("utf-8", "surrogatepass"))  # files may hold halves of letters
        for number, table in enumerate(writing.tables):
            archive.compression = zipfile.ZIP_STORED
            with (
                archive.open(f"{number}.arrow", "w", force_zip64=True) as place,
                pa.ipc.new_stream(place, table.schema) as stream,
            ):
                stream.write_table(table)
        for number, array in enumerate(writing.arrays):
            worth = compress and _is_smaller_compressed(array)  # not tried where nothing is compressed
            archive.compression = how if worth else zipfile.ZIP_STORED
            with archive.open(f"{number}.npy", "w", force_zip64=True) as place:
                np.lib.format.write_array(place, np.asarray(array), allow_pickle=False)
    return buffer.getvalue()


def _is_smaller_compressed(array: np.ndarray) -> bool:
    """Return whether compression is worth the time; of a large array, a part from the middle is tried."""
    found = np.ascontiguousarray(array)
    if found.nbytes < 2 * _TRIED_BYTES:
        return True
    middle = found.reshape(-1).view(np.uint8)[found.nbytes // 2 :][:_TRIED_BYTES].tobytes()
    return len(zlib.compress(middle, 1)) < _MOST_LEFT * _TRIED_BYTES


def from_bytes(content: bytes, dataset: Dataset) -> Any:
    """Return the result that `to_bytes` wrote, for data of the same content; arrays are read-only.

    Raises
    ------
    one of `DAMAGED`
        The bytes are incomplete, or were written by another version.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return _Reading(archive, dataset).value(json.loads(archive.read(_TREE)))


class _Writing:
    def __init__(self, dataset: Dataset):
        self.arrays: list[np.ndarray] = []
        self.tables: list[pa.Table] = []
        self._known: dict[int, int] = {}
        self._of_data: dict[int, str] = {id(dataset): ""}
        for name, value in vars(dataset).items():
            if isinstance(value, np.ndarray | Texts):
                self._of_data.setdefault(id(value), name)

    def tree(self, value: Any) -> Any:
        """Return a value as JSON can hold it; its arrays are put aside."""
        if type(value) in _PLAIN:
            return value
        if id(value) in self._of_data:
            return {"data": self._of_data[id(value)]}
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if isinstance(value, pa.Table | bytes):
            return self._content(value)
        if type(value) is dict:
            return {"dict": [[self.tree(key), self.tree(inner)] for key, inner in value.items()]}
        kind = next((name for name, one in _SEQUENCES.items() if type(value) is one), None)
        if kind == "tuple" and len(value) >= _MANY and (table := _table_of(value)) is not None:
            return {"rows": [name_of(type(value[0])), self.tree(table)]}
        if kind is not None:
            return {kind: [self.tree(one) for one in value]}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {"named": [name_of(type(value)), [self.tree(one) for one in value]]}
        if isinstance(value, Method):
            return {"method": [name_of(type(value)), value.name]}
        if is_dataclass(value) and not isinstance(value, type):
            return self._instance(value)
        raise NotStorableError(f"{type(value).__name__} cannot be saved.")

    def _content(self, value: pa.Table | bytes) -> Any:
        if isinstance(value, pa.Table):
            return {"table": self._number(value, self.tables)}
        if len(value) > _LONG:
            return {"long bytes": self._array(np.frombuffer(value, np.uint8))}
        return {"bytes": base64.b64encode(value).decode()}

    def _array(self, value: Any) -> Any:
        if value.dtype.hasobject:
            listed = {"tuple": [self.tree(one) for one in value.ravel().tolist()]}
            return {"objects": [list(value.shape), listed]}
        return {"scalar" if isinstance(value, np.generic) else "array": self._number(value, self.arrays)}

    def _number(self, value: Any, put_aside: list) -> int:
        """Return the number of an array or table put aside; each is written once, however often it is referred to."""
        if id(value) not in self._known:
            self._known[id(value)] = len(put_aside)
            put_aside.append(value)
        return self._known[id(value)]

    def _instance(self, value: Any) -> Any:
        has = {one.name: self.tree(getattr(value, one.name)) for one in fields(value)}
        return {"is": name_of(type(value)), "has": has}


def name_of(kind: Any) -> str:
    """Return a class or a function of this package by its module and name.

    Raises
    ------
    NotStorableError
        It belongs to another package.
    """
    if not kind.__module__.startswith(f"{_PACKAGE}."):
        raise NotStorableError(f"{kind.__name__} from {kind.__module__} cannot be saved.")
    return f"{kind.__module__.removeprefix(_PACKAGE)}:{kind.__qualname__}"


def kind_of(name: str) -> Any:
    """Return the class or function of that name."""
    module, _, path = name.partition(":")
    kind: Any = import_module(module, _PACKAGE)
    for part in path.split("."):
        kind = getattr(kind, part)
    return kind


def _table_of(rows: tuple) -> pa.Table | None:
    """Return named tuples of one kind whose fields are all integers or all texts as a table; None for other tuples."""
    kind = type(rows[0])
    if not hasattr(kind, "_fields") or any(type(row) is not kind for row in rows):
        return None
    columns = list(zip(*rows, strict=True))
    if any({type(value) for value in column} not in ({int}, {str}) for column in columns):
        return None
    try:
        return pa.table([pa.array(column) for column in columns], names=kind._fields)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):  # what Arrow does not hold is written one by one
        return None


def _named_tuple(name: str) -> type:
    kind = kind_of(name)
    if not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        raise TypeError(f"{kind} is not a named tuple")
    return kind


class _Reading:
    def __init__(self, archive: zipfile.ZipFile, dataset: Dataset):
        self._archive, self._dataset = archive, dataset
        self._arrays: dict[int, np.ndarray] = {}
        self._tables: dict[int, pa.Table] = {}

    def value(self, tree: Any) -> Any:
        """Return the value that a tree encodes."""
        if not isinstance(tree, dict):
            return tree
        if "is" in tree:
            return self._instance(tree)
        [(kind, inner)] = tree.items()
        if kind == "data":
            return getattr(self._dataset, inner) if inner else self._dataset
        if kind == "array":
            return self._array(inner)
        if kind == "scalar":
            return self._array(inner)[()]
        if kind == "objects":
            shape, listed = inner
            found = np.empty(shape, dtype=object)
            np.place(found, np.ones(shape, bool), list(self.value(listed)))
            return found
        if kind == "named":
            return _named_tuple(inner[0])(*map(self.value, inner[1]))
        if kind == "rows":
            columns = (column.to_pylist() for column in self.value(inner[1]).columns)
            return tuple(map(_named_tuple(inner[0]), *columns))
        if kind == "method":
            return method_named(kind_of(inner[0]), inner[1])
        if kind == "dict":
            return {self.value(key): self.value(one) for key, one in inner}
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](map(self.value, inner))
        return self._content(kind, inner)

    def _content(self, kind: str, inner: Any) -> Any:
        """Return a table or bytes."""
        if kind == "table":
            if inner not in self._tables:
                with self._archive.open(f"{inner}.arrow") as place, pa.ipc.open_stream(place) as stream:
                    self._tables[inner] = stream.read_all()
            return self._tables[inner]
        return self.value(inner).tobytes() if kind == "long bytes" else base64.b64decode(inner)

    def _array(self, number: int) -> np.ndarray:
        if number not in self._arrays:
            with self._archive.open(f"{number}.npy") as place:
                self._arrays[number] = read_array(place)
        return self._arrays[number]

    def _instance(self, tree: dict[str, Any]) -> Any:
        kind = kind_of(tree["is"])
        if not is_dataclass(kind) or not isinstance(kind, type):
            raise TypeError(f"{kind} is not a dataclass")
        if {one.name for one in fields(kind)} != tree["has"].keys():
            raise TypeError(f"{kind} now has different fields")
        found = object.__new__(kind)
        for field, inner in tree["has"].items():
            object.__setattr__(found, field, self.value(inner))
        return found
