"""Set up numba for this package: all types registered, kernels that load late, and the private parts that are used."""

import ctypes
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

SMALL = 600_000
ENTRY = 10  # what an entry of a ranking takes as Python, in bytes of a file
# What takes as Python about as long as compiling does, where others compile meanwhile.
SMALL_UNCOMPILED = 6_000_000
_LOADING = threading.RLock()
STATE_WORDS = 628  # numba's generator of a thread: place, 624 words, a normal number in hand or not, and that number


def njit(**options: Any) -> Any:
    """Return ``numba.njit`` with these options, once numba has registered all types that it knows.

    numba registers the last types when it first compiles or loads, in a table that each first call of a kernel walks:
    if two threads call their first kernels at once, one could find that the table changes while it walks.
    """
    import numba.experimental.function_type  # noqa: F401  registers
    from numba import njit as of_numba

    return of_numba(**options)


class LazyKernel:
    """Kernel whose compiler is imported at its first call; replaces a numba dispatcher.

    Attributes
    ----------
    py_func : callable
        Kernel as Python. Kernels that it calls must be in its module.
    """

    def __init__(self, py_func: Callable[..., Any], options: dict[str, Any]):
        self.py_func, self._options, self._machine = py_func, options, None
        self.__name__, self.__doc__, self.__module__ = py_func.__name__, py_func.__doc__, py_func.__module__

    def __call__(self, *arguments: Any) -> Any:
        """Run as machine code."""
        return self.dispatcher()(*arguments)

    @property
    def signatures(self) -> list[Any]:
        """Types for which machine code is loaded."""
        return [] if self._machine is None else self._machine.signatures

    def dispatcher(self) -> Any:
        """Return the compiled kernel; also compile the module's other late kernels, because it may call them."""
        if self._machine is not None:
            return self._machine
        with _LOADING:
            if self._machine is None:
                machine, around = njit(**self._options)(self.py_func), self.py_func.__globals__
                for name, other in [pair for pair in around.items() if isinstance(pair[1], LazyKernel)]:
                    around[name] = machine if other is self else other.dispatcher()
                self._machine = machine
        return self._machine


def lazy_njit(**options: Any) -> Callable[[Callable[..., Any]], LazyKernel]:
    """Return a decorator like ``numba.njit`` that imports the compiler at the first call; for kernels that read files.

    Parameters
    ----------
    **options
        Options of ``numba.njit``.
    """
    return lambda py_func: LazyKernel(py_func, options)


class InterpretedWork:
    """Amount of work that kernels have done as Python in this process.

    Attributes
    ----------
    total : int
        Number of entries and bytes walked.
    most : int
        Limit at which machine code would have cost the same: `SMALL` to load it, `SMALL_UNCOMPILED` to compile it.
    """

    total = 0
    most = SMALL


def pick_backend(kernel: Any, size: int) -> Callable[..., Any]:
    """Return the kernel for data of this size: Python until loading machine code would have cost no more.

    So a single small file needs no machine code, and a process that reads many files, or a large one, gets it. Only for
    kernels that calculate with integers, and at most compare others: their results are the same in both ways.

    Parameters
    ----------
    kernel : numba dispatcher
    size : int
        Number of entries or bytes that it walks.
    """
    python = getattr(kernel, "py_func", kernel)  # without numba's compiler a kernel is Python already
    if getattr(kernel, "signatures", ()):
        return kernel
    InterpretedWork.total += size
    return python if InterpretedWork.total <= InterpretedWork.most else kernel


def thread_generator() -> np.ndarray:
    """View the state of the random generator that kernels use in this thread, so that a chain can continue from it."""
    from numba import (
        _helperlib,  # private: tests/core/runtime/test_numba_setup.py names the version it was checked with
    )

    address = _helperlib.rnd_get_np_state_ptr()
    return np.ctypeslib.as_array((ctypes.c_uint32 * STATE_WORDS).from_address(address))
