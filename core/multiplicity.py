"""Multiple tests: which are rejected when their number is taken into account."""

import numpy as np


def holm(p: np.ndarray, level: float) -> np.ndarray:
    """Return positions rejected by Holm's step-down at a family-wise ``level``, ascending; NaN is not a test.

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2), 65-70.
    """
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    passed = p[order] <= level / (tested.size - np.arange(tested.size))
    n = int(np.argmin(passed)) if not passed.all() else tested.size
    return np.sort(order[:n])


def benjamini_hochberg(p: np.ndarray, q: float) -> np.ndarray:
    """Return positions rejected at a false discovery rate of ``q``, ascending; NaN is not a test.

    Source: Benjamini & Hochberg (1995), Journal of the Royal Statistical Society B 57(1), 289-300.
    """
    tested = np.flatnonzero(np.isfinite(p))
    order = tested[np.argsort(p[tested], kind="stable")]
    passed = np.flatnonzero(p[order] <= q * np.arange(1, order.size + 1) / max(order.size, 1))
    return np.sort(order[: passed[-1] + 1 if passed.size else 0])
