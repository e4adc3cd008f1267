"""When a kernel is worth its machine code: loading that takes half a second, which a small file does not need."""

from collections.abc import Callable
from typing import Any

SMALL = 4096


def for_size(kernel: Any, size: int) -> Callable[..., Any]:
    """The kernel for data of this size: as Python where they are small and its machine code is not loaded yet.

    Only for kernels of whole numbers, whose results do not depend on it.

    Parameters
    ----------
    kernel : numba dispatcher
    size : int
        How many entries or bytes it walks.
    """
    python = getattr(kernel, "py_func", kernel)  # without numba's compiler a kernel is Python already
    return python if size <= SMALL and not getattr(kernel, "signatures", ()) else kernel
