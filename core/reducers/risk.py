"""Reducer for the certainty of risk levels and expected risk."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..plausibility.protocol import CaseDraws
from ._metric_kernels import risk_of_draws

N_LEVELS = 3


@dataclass(frozen=True, slots=True, eq=False)
class RiskState:
    """Sums of risk levels, one row per case; the last axis is low, medium, high.

    Attributes
    ----------
    top_level : ndarray, shape (n_cases, 3)
        Frequency of each level as that of the top-1 class.
    summed_level : ndarray, shape (n_cases, 3)
        Frequency with which each level has the largest summed plausibility.
    mean : ndarray, shape (n_cases, 3)
        Mean summed plausibility of each level.
    ess : ndarray, shape (n_cases,)
    """

    top_level: np.ndarray
    summed_level: np.ndarray
    mean: np.ndarray
    ess: np.ndarray


def level_masses(draws: CaseDraws, class_risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute each level's summed plausibility and the top-1 class's level per draw; both of shape (n_draws, 3).

    Parameters
    ----------
    draws : CaseDraws
    class_risk : ndarray of int8, shape (n_classes,)
        Level of every class of the list, none unknown.
    """
    named_level = class_risk[draws.classes].astype(np.int64)
    rest_levels = np.bincount(class_risk, minlength=N_LEVELS) - np.bincount(named_level, minlength=N_LEVELS)
    mass, top = np.empty((draws.n_draws, N_LEVELS)), np.empty((draws.n_draws, N_LEVELS))
    risk_of_draws(
        np.uint32(draws.seed ^ 0x5EED5EED),
        draws.share,
        draws.rest,
        draws.top,
        named_level,
        rest_levels,
        draws.rest_shape,
        N_LEVELS,
        mass,
        top,
    )
    return mass, top


@dataclass(frozen=True, slots=True)
class RiskLevels:
    """Reducer that computes the certainty of risk levels in both ways.

    Parameters
    ----------
    class_risk : ndarray of int8, shape (n_classes,)
    """

    class_risk: np.ndarray

    def init(self, n_cases: int, n_draws: int) -> RiskState:
        """Return empty rows."""
        top, summed, mean = (np.empty((n_cases, N_LEVELS)) for _ in range(3))
        return RiskState(top, summed, mean, np.empty(n_cases))

    def update(self, state: RiskState, place: int, case: int, draws: CaseDraws) -> None:
        """Count the levels of one case.

        Parameters
        ----------
        state : RiskState
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.
        """
        mass, top = level_masses(draws, self.class_risk)
        state.top_level[place] = top.mean(axis=0)
        state.summed_level[place] = np.bincount(mass.argmax(axis=1), minlength=N_LEVELS) / draws.n_draws
        state.mean[place] = mass.mean(axis=0)
        state.ess[place] = draws.ess

    def merge(self, states: Sequence[RiskState]) -> RiskState:
        """Stack rows of consecutive chunks."""
        names = ("top_level", "summed_level", "mean", "ess")
        return RiskState(*(np.concatenate([getattr(state, name) for state in states]) for name in names))

    def result(self, state: RiskState) -> RiskState:
        """Return the rows; `core.certainty.risk` adds errors and names."""
        return state
