"""Plausibility models give draws as a stream: one case at a time, over the classes that anyone named there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from core.annotations.dataset import Dataset


@dataclass(frozen=True, slots=True, eq=False)
class CaseDraws:
    """Draws of the plausibilities of one case.

    Attributes
    ----------
    classes : ndarray of int32, shape (n_named,)
        Classes that somebody named on the case, ascending.
    share : ndarray of float64, shape (n_draws, n_named)
        Plausibility of each named class. ``share.sum(1) + rest`` is 1.
    rest : ndarray of float64, shape (n_draws,)
        Plausibility of all classes together that nobody named.
    rest_top : ndarray of float64, shape (n_draws, depth)
        The largest single plausibilities among those classes, descending; 0 where they cannot be among the first
        ``depth`` of all classes. Which class it is, is not said: never-named classes are exchangeable.
    n_rest : int
        How many classes nobody named.
    ess : float
        Effective number of draws; below ``n_draws`` where they are correlated.
    """

    classes: np.ndarray
    share: np.ndarray
    rest: np.ndarray
    rest_top: np.ndarray
    n_rest: int
    ess: float

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.rest)


class PlausibilityModel(Protocol):
    """What the driver, the sweep and the pages ask of a model. ``name`` goes into every cache key."""

    name: str
    default_reliability: float

    def settings(self) -> dict:
        """Parameters that change the draws, for cache keys and reports."""

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Draws of each case in ``cases`` (all by default), in order."""
