"""Arrow files, which pandas and R call Feather (version 2); their unpacked size is known before they are read."""

import struct

import pyarrow as pa

from ...errors import InputError
from .arrow_bytes import arrow_bytes
from .budget import spend
from .parquet import as_text
from .raw_table import RawTable

MAGIC = b"ARROW1"
_BATCH, _DICTIONARY = 3, 2  # kinds of messages
_CONTINUED = b"\xff\xff\xff\xff"


def read_arrow(content: bytes) -> RawTable:
    """Return the table of an Arrow file.

    Raises
    ------
    InputError
        The file is broken, or its unpacked size is too large.
    """
    try:
        _check_unpacked(content)
        table = pa.ipc.open_file(pa.BufferReader(arrow_bytes(content))).read_all()
        names = [name for name in table.column_names if name.startswith("__index_level_")]
        plain = table.drop_columns(names).replace_schema_metadata(None)
        plain = plain.cast(pa.schema([field.with_type(_as_read(field.type)) for field in plain.schema]))
    except (pa.ArrowException, OSError, ValueError, KeyError, struct.error) as error:
        raise InputError(f"Could not read this Arrow file: {error}.", "Save it again and open the new file.") from None
    return as_text(plain)


def _as_read(kind: pa.DataType) -> pa.DataType:
    """Return texts of any width as the type that readers know."""
    if pa.types.is_dictionary(kind):
        return _as_read(kind.value_type)
    return pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind


def _check_unpacked(content: bytes) -> None:
    """Spend the unpacked size of the buffers of every batch; packed ones start with their size."""
    at = 8
    while at + 8 <= len(content):
        if content[at : at + 4] != _CONTINUED:
            return
        (size,) = struct.unpack_from("<i", content, at + 4)
        if size <= 0:
            return
        message = _Table(content[at + 8 : at + 8 + size])
        body, kind = at + 8 + size, message.number("B", 1)
        if kind in (_BATCH, _DICTIONARY):
            batch = message.table(2) if kind == _BATCH else message.table(2).table(1)
            packed = batch.place(3) is not None
            sizes = [_unpacked_size(content, body + start, n) if packed else n for start, n in batch.pairs(2)]
            spend(cells=batch.number("q", 0), characters=sum(sizes))
        at = body + message.number("q", 3)


def _unpacked_size(content: bytes, at: int, length: int) -> int:
    """Return the unpacked size of a packed buffer; -1 if it is not packed."""
    if length < 8:
        return 0
    (size,) = struct.unpack_from("<q", content, at)
    if size < -1:
        raise ValueError("a buffer has a negative size")
    return length if size == -1 else size


class _Table:
    """Table of a FlatBuffer, whose fields are found by their numbers."""

    def __init__(self, content: bytes, at: int | None = None) -> None:
        self.content = content
        self.at = struct.unpack_from("<I", content, 0)[0] if at is None else at

    def place(self, field: int) -> int | None:
        """Return where a field is; None if it is not set."""
        entries = self.at - struct.unpack_from("<i", self.content, self.at)[0]
        if 4 + 2 * field >= struct.unpack_from("<H", self.content, entries)[0]:
            return None
        offset = struct.unpack_from("<H", self.content, entries + 4 + 2 * field)[0]
        return self.at + offset if offset else None

    def number(self, kind: str, field: int) -> int:
        """Return a field that is a number; 0 if it is not set."""
        place = self.place(field)
        return 0 if place is None else struct.unpack_from(f"<{kind}", self.content, place)[0]

    def table(self, field: int) -> "_Table":
        """Return a field that is a table."""
        place = self.place(field)
        if place is None:
            raise ValueError("a message without content")
        return _Table(self.content, place + struct.unpack_from("<I", self.content, place)[0])

    def pairs(self, field: int) -> list[tuple[int, int]]:
        """Return a field that is a vector of pairs of numbers."""
        place = self.place(field)
        if place is None:
            return []
        start = place + struct.unpack_from("<I", self.content, place)[0]
        (count,) = struct.unpack_from("<I", self.content, start)
        if start + 4 + 16 * count > len(self.content):
            raise ValueError("a vector extends beyond its message")
        return [struct.unpack_from("<qq", self.content, start + 4 + 16 * one) for one in range(count)]
