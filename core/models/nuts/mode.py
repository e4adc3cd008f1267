"""Mode of a posterior, by a quasi-Newton search on its free coordinates."""

import numpy as np

from ...errors import PluralityError
from .density import Differentiable

MAX_STEPS = 1000
_WALL = 1e12


class NoModeError(PluralityError):
    """Error: the posterior overflows near its mode."""


def posterior_mode(density: Differentiable, start: np.ndarray, max_steps: int = MAX_STEPS) -> np.ndarray:
    """Find the maximum of the density near ``start``, shape (ndim,), by at most ``max_steps`` steps of L-BFGS.

    Parameters
    ----------
    density : Differentiable
    start : ndarray, shape (ndim,)
    max_steps : int

    Raises
    ------
    NoModeError
        The density overflows at the start.
    """
    from scipy.optimize import minimize

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = density.value_and_gradient(theta)
        # The line search needs numbers: an overflow is a high wall, from which it turns back.
        return (-value, -gradient) if np.isfinite(value) else (_WALL, np.zeros_like(theta))

    start = np.ascontiguousarray(start, np.float64)
    if not np.isfinite(density.value_and_gradient(start)[0]):
        raise NoModeError(
            "Could not fit the model: its posterior density overflows at the starting point. Check for a rater "
            "or class with very many annotations of one kind, or use a simpler model."
        )
    options = {"maxiter": max_steps, "maxfun": 2 * max_steps, "gtol": 1e-8, "ftol": 1e-15, "maxcor": 20}
    return minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x
