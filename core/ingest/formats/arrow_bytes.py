"""Memory for bytes that pyarrow reads in threads of its own."""

import pyarrow as pa

_COPIED = 64 << 20  # after a larger file there is so much left to do that no thread of the reading outlives it


def arrow_bytes(content: bytes, start: int = 0, stop: int | None = None) -> pa.Buffer:
    """Return a part of a file, in memory of pyarrow's own if that is cheap.

    Bytes of Python are freed by the thread that reads them last. If that is one of pyarrow's, and the process is about
    to end, it waits for Python in vain and ends the process with SIGABRT (apache/arrow#45017; one of some hundred runs
    of the command line on a busy computer).

    Parameters
    ----------
    content : bytes
    start, stop : int
        Ends of the part; ``stop`` is the end of the file if omitted.
    """
    part = pa.py_buffer(content)[start:stop]
    if part.size > _COPIED:
        return part
    owned = pa.allocate_buffer(part.size)
    memoryview(owned)[:] = memoryview(part)
    return owned
