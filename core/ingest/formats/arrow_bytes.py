"""Bytes that pyarrow reads from in threads of its own."""

import pyarrow as pa

_COPIED = 64 << 20  # after a larger file there is so much left to do that no thread of the reading outlives it


def arrow_bytes(content: bytes, start: int = 0, stop: int | None = None) -> pa.Buffer:
    """A part of a file, as memory of pyarrow's own where that costs little.

    Bytes of Python are freed by whichever thread has read them last. Where that is one of pyarrow's, and the
    process is about to end, it asks for Python in vain and ends the process with SIGABRT (apache/arrow#45017; one of
    some hundred runs of the command line on a busy computer).

    Parameters
    ----------
    content : bytes
    start, stop : int
        Of the part; ``stop`` is the end of the file where not given.
    """
    part = pa.py_buffer(content)[start:stop]
    if part.size > _COPIED:
        return part
    owned = pa.allocate_buffer(part.size)
    memoryview(owned)[:] = memoryview(part)
    return owned
