"""How a process takes memory from the system and gives it back, where the C library is glibc."""

import ctypes
import os
import sys
from contextlib import suppress

_M_ARENA_MAX = -8  # of glibc's malloc.h


def few_heaps() -> None:
    """Let all threads of a server share two heaps, unless the environment says otherwise.

    Of a heap for each thread what one has given back serves no other.
    """
    if sys.platform == "linux" and "MALLOC_ARENA_MAX" not in os.environ:
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def give_back() -> None:
    """Return to the system what is free in the heaps, also between what is in use."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
