"""Protocols of a Bayesian rater model for the sampler and its users."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..result import RaterModelFit


class CasePatterns(Protocol):
    """Assignment of cases to annotation patterns.

    Attributes
    ----------
    pattern_of_case : ndarray of int64, shape (n_cases,)
    """

    @property
    def pattern_of_case(self) -> np.ndarray:
        """Pattern of each case."""
        ...


class Differentiable(Protocol):
    """A log density with its gradient."""

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log density at ``theta``, shape (ndim,), up to a constant, with its gradient.

        Never raises; ``-inf`` and zeros where it overflows. Releases the GIL.
        """
        ...


class Density(Differentiable, Protocol):
    """A posterior of one dataset on unconstrained coordinates, with case effects and true classes integrated out.

    It exists twice: in the process that starts sampling, and in the child process, which makes it again by `from_job`.

    Attributes
    ----------
    name : str
        ``module:Class``, where `core.models.nuts.densities` finds the class.
    ndim : int
        Number of coordinates.
    case_count : ndarray of int64, shape (n_patterns,)
        Cases of each annotation pattern; patterns of one case each where nothing collapses.
    patterns : CasePatterns
    """

    @property
    def name(self) -> str:
        """Module and class of the density."""
        ...

    @property
    def ndim(self) -> int:
        """Number of coordinates."""
        ...

    @property
    def case_count(self) -> np.ndarray:
        """Number of cases of each annotation pattern."""
        ...

    @property
    def patterns(self) -> CasePatterns:
        """Assignment of cases to patterns."""
        ...

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return all that the child needs: settings for JSON, and arrays by name."""
        ...

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "Density":
        """Build the same density from the result of `job`."""
        ...

    def starts(self, n_chains: int, seed: int) -> np.ndarray:
        """Return starts of chains: around the posterior mode, shape (n_chains, ndim)."""
        ...

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return parameters by name from draws of shape (n_draws, ndim), each of shape (n_draws, ...)."""
        ...

    def log_likelihood(self, draws: np.ndarray) -> np.ndarray:
        """Compute the log probability of a case of each pattern, effects and truth integrated."""
        ...

    def simulate(self, theta: np.ndarray, seed: int) -> np.ndarray:
        """Simulate annotations of a dataset of the same design, new effects and truths, shape (n_annotations,)."""
        ...


# What turns a density and its draws of shape (n_draws, ndim) into a fit: given the density, the draws, the method
# ("map" or "nuts") and the level of intervals. One draw, the mode, gives no intervals.
Summarise = Callable[[Any, np.ndarray, str, float], RaterModelFit]
