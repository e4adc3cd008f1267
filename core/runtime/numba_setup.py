"""numba as this package uses it: all types registered, kernels that load late, and the private part that is used."""

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

    The last of them it registers as it compiles or loads for the first time, in a table that each first call of a
    kernel walks: of two threads that call their first kernels at once, one could find the table grown under its feet.
    """
    import numba.experimental.function_type  # noqa: F401  registers
    from numba import njit as of_numba

    return of_numba(**options)


class LazyKernel:
    """A kernel whose compiler is imported with its first call; it stands in for a numba dispatcher.

    Attributes
    ----------
    py_func : callable
        The kernel as Python. Kernels that it calls must be of its module.
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
        """What numba makes of it; the module's other late kernels are made with it, for it may call them."""
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
    """``numba.njit`` for kernels that reading a file needs: the compiler is imported when one is first called.

    Parameters
    ----------
    **options
        Of ``numba.njit``.
    """
    return lambda py_func: LazyKernel(py_func, options)


class InterpretedWork:
    """What kernels have walked as Python in this process.

    Attributes
    ----------
    total : int
        Entries and bytes.
    most : int
        As much as costs what machine code does: `SMALL` to load it, `SMALL_UNCOMPILED` to compile it.
    """

    total = 0
    most = SMALL


def pick_backend(kernel: Any, size: int) -> Callable[..., Any]:
    """The kernel for data of this size: as Python until its machine code would have cost no more.

    So a single small file needs no machine code, and whoever reads many, or one that is not small, has it.
    Only for kernels that calculate with whole numbers, and at most compare others: their results do not depend on it.

    Parameters
    ----------
    kernel : numba dispatcher
    size : int
        How many entries or bytes it walks.
    """
    python = getattr(kernel, "py_func", kernel)  # without numba's compiler a kernel is Python already
    if getattr(kernel, "signatures", ()):
        return kernel
    InterpretedWork.total += size
    return python if InterpretedWork.total <= InterpretedWork.most else kernel


def thread_generator() -> np.ndarray:
    """View of the state of the generator that kernels use in this thread, so that a chain can go on where it stood."""
    from numba import (
        _helperlib,  # private: tests/core/runtime/test_numba_setup.py names the version it was checked with
    )

    address = _helperlib.rnd_get_np_state_ptr()
    return np.ctypeslib.as_array((ctypes.c_uint32 * STATE_WORDS).from_address(address))
