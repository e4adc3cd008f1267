"""Certainty of risk levels, and expected risk [Stutz et al., section 3].

Each class has a level: low, medium or high. There are two certainties: of the level of the top-1 class, and of the
level with most summed plausibility. Expected risk = Σ level x plausibility with low 0, medium 1, high 2.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import RISK_LEVELS, Dataset
from ..checked import checked
from ..errors import NotApplicableError
from ..plausibility.protocol import PlausibilityModel
from ..reducers.protocol import reduce_draws
from ..reducers.risk import N_LEVELS, RiskLevels, RiskState
from ..result_base import Columns, Result, named


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RiskResult(Result):
    """Risk of every case.

    Attributes
    ----------
    of_top1, of_top1_se, summed, summed_se : ndarray, shape (n_cases,)
        Certainty of the level of the top-1 class, and of the level with most plausibility, with Monte Carlo errors.
    level : ndarray of int64, shape (n_cases,)
        Level that most often has the most plausibility: 0 low, 1 medium, 2 high.
    expected : ndarray, shape (n_cases,)
        Expected risk, 0 to 2.
    mean : ndarray, shape (n_cases, 3)
        Mean plausibility of low, medium, high.
    """

    of_top1: np.ndarray
    of_top1_se: np.ndarray
    summed: np.ndarray
    summed_se: np.ndarray
    level: np.ndarray
    expected: np.ndarray
    mean: np.ndarray

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("of_top1", "of_top1_se", "summed", "summed_se", "expected")
        return {
            "level": named(RISK_LEVELS, self.level[:most]),
            **{name: getattr(self, name)[:most] for name in names},
            **{f"mean_{level}": self.mean[:most, place] for place, level in enumerate(RISK_LEVELS)},
        }


def known_risk(dataset: Dataset) -> np.ndarray:
    """Return the level of every class; raise `NotApplicableError` if a class has none."""
    if dataset.class_risk is None or (dataset.class_risk < 0).any():
        raise NotApplicableError(
            "Could not compute risk: some classes have no risk level. Add a risk level (low, medium or high) for "
            "every class."
        )
    return dataset.class_risk


@checked
def expected_risk(
    model: PlausibilityModel, dataset: Dataset, *, reliability: float, n_draws: int = 1000, seed: int = 0
) -> RiskResult:
    """Compute expected risk and certainty of the risk levels of every case.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes, with a risk level for every class.
    reliability : float
        γ, the trust in the raters, > 0.
    n_draws, seed : int

    Raises
    ------
    NotApplicableError
        Some classes have no risk level.
    """
    reducer = RiskLevels(known_risk(dataset))
    (state,) = reduce_draws(model, dataset, [reducer], reliability=reliability, n_draws=n_draws, seed=seed)
    return risk_of(state)


def risk_of(state: RiskState) -> RiskResult:
    """Compute certainties, errors and expected risk from the state of the reducer."""
    of_top1, summed = state.top_level.max(axis=1), state.summed_level.max(axis=1)
    return RiskResult(
        of_top1,
        np.sqrt(of_top1 * (1 - of_top1) / state.ess),
        summed,
        np.sqrt(summed * (1 - summed) / state.ess),
        state.summed_level.argmax(axis=1),
        state.mean @ np.arange(N_LEVELS),
        state.mean,
    )
