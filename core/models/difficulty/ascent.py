"""Limited-memory BFGS (Nocedal 1980, doi:10.1090/S0025-5718-1980-0572855-7) on vectors alone.

The library's own goes through small matrices whose linear algebra runs in threads: on a busy machine they wait for each
other, and a search of 20 milliseconds takes seconds.
"""

from collections import deque
from collections.abc import Callable

import numpy as np

_MEMORY = 12
_SUFFICIENT, _CURVATURE = 1e-4, 0.9
_MOST_TRIALS = 50

Density = Callable[[np.ndarray], tuple[float, np.ndarray]]


def ascend(density: Density, start: np.ndarray, most_steps: int = 2000) -> tuple[np.ndarray, float, bool]:
    """Where a function is highest, its value there, and whether the search came to an end.

    Parameters
    ----------
    density : callable
        Value, ``-inf`` where there is none, and gradient.
    start : ndarray, shape (ndim,)
    most_steps : int
    """
    place, (value, gradient) = start, density(start)
    steps: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=_MEMORY)
    for _ in range(most_steps):
        if np.abs(gradient).max(initial=0.0) < 1e-5:
            return place, value, True
        direction = _direction(gradient, steps)
        found = _along(
            density, place, value, gradient, direction, 1.0 if steps else 1 / float(np.linalg.norm(gradient))
        )
        if found is None:
            if not steps:
                return place, value, value > -np.inf
            steps.clear()  # once more along the gradient, from which the memory may have led astray
            continue
        moved, risen, new_gradient = found
        step, change = moved - place, gradient - new_gradient
        if step @ change > 1e-14 * (change @ change):
            steps.append((step, change, 1 / (step @ change)))
        done = risen - value <= 1e-13 * (1 + abs(risen))
        place, value, gradient = moved, risen, new_gradient
        if done:
            return place, value, True
    return place, value, False


def _direction(gradient: np.ndarray, steps: deque) -> np.ndarray:
    """The gradient times the inverse curvature that the last steps tell of."""
    direction, factors = gradient.copy(), []
    for step, change, scale in reversed(steps):
        factors.append(scale * (step @ direction))
        direction -= factors[-1] * change
    if steps:
        step, change, scale = steps[-1]
        direction /= scale * (change @ change)
    for step, change, scale in steps:
        direction += (factors.pop() - scale * (change @ direction)) * step
    return direction


def _along(
    density: Density, place: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray, length: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """A point on the line that rises enough and is flatter (weak Wolfe conditions, by bisection); None: no rise."""
    slope, low, high, best = gradient @ direction, 0.0, np.inf, None
    if slope <= 0:
        return None
    for _ in range(_MOST_TRIALS):
        point = place + length * direction
        trial, by_place = density(point)
        if not trial >= value + _SUFFICIENT * length * slope:
            high = length
        else:
            best = point, trial, by_place
            if by_place @ direction <= _CURVATURE * slope:
                return best
            low = length
        length = 2 * length if high == np.inf else (low + high) / 2
    return best
