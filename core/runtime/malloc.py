"""How a process takes memory from the system and gives it back, where the C library is glibc."""

import ctypes
import os
import sys
from contextlib import suppress

_M_ARENA_MAX = -8  # of glibc's malloc.h


def limit_arenas() -> None:
    """Let all threads of a server share one heap, unless the environment says otherwise.

    What a thread has given back to a heap of its own serves no other, and of each heap some is held between what is in
    use. That a heap is for one thread at a time was not to be seen in the time of pages and of draws.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)


def trim() -> None:
    """Return to the system what is free in the heaps, also between what is in use."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
