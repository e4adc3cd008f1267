"""numba's ``njit`` for kernels, when numba has registered all types that it knows.

The last of them it registers as it compiles or loads for the first time, in a table that each first call of a kernel
walks: of two threads that call their first kernels at once, one could find the table grown under its feet.
"""

import numba.experimental.function_type  # noqa: F401  registers
from numba import njit

__all__ = ["njit"]
