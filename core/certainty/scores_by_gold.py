"""Comparison of plausible scores with known ones: their errors, and the share of intervals with the known score."""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import wilson
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..models.gold import gold_cases
from ..result_base import Result
from ..text import exact, number, percent, percent_with_interval, plural
from ..thresholds import INTERVAL_LEVEL
from .score_trust import ScoreTrust


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoresByGold(Result):
    """Errors of plausible scores and the share of intervals that contain the known score; arrays of shape (n_points,).

    Attributes
    ----------
    n : int
        Number of cases with scores and a known score.
    reliability : ndarray
        γ, ascending.
    error, error_low, error_high : ndarray
        Mean of |plausible score − known score| over cases, in units of the scores, and its t interval, not below 0; NaN
        ends with one case.
    held, held_low, held_high : ndarray
        Share of the 95% intervals that contain the known score, and Wilson's interval.
    """

    n: int
    reliability: np.ndarray
    error: np.ndarray
    error_low: np.ndarray
    error_high: np.ndarray
    held: np.ndarray
    held_low: np.ndarray
    held_high: np.ndarray

    TABLES = ("reliabilities",)
    COLUMNS = ("reliability", "error", "error_low", "error_high", "held", "held_low", "held_high")

    def words(self, place: int, digits: int) -> str:
        """Describe error and coverage in one sentence. Not escaped.

        Parameters
        ----------
        place : int
            Index of the γ.
        digits : int
            Number of decimals of scores.
        """
        ends = (
            f" ({number(self.error_low[place], digits)} to {number(self.error_high[place], digits)})"
            if self.n > 1
            else ""
        )
        held = percent_with_interval(self.held[place], self.held_low[place], self.held_high[place])
        off = f"{number(self.error[place], digits)}{ends}"
        return (
            f"At γ = {exact(self.reliability[place])}, the mean distance of plausible scores from gold is {off}. "
            f"{held} of their {percent(INTERVAL_LEVEL)} intervals contain the gold score; n = {plural(self.n, 'case')}."
        )


def scores_by_gold(dataset: Dataset, trust: ScoreTrust) -> ScoresByGold:
    """Compute how close plausible scores are to known ones.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores, with known scores of some cases (``gold_scores``).
    trust : ScoreTrust
        Plausible scores of all its cases.

    Raises
    ------
    NotApplicableError
        No case with a score has a gold score.
    InputError
        ``trust`` belongs to other cases.
    """
    from scipy.special import ndtri, stdtrit

    told = gold_cases(dataset)
    if dataset.gold_scores is None or not told.size:
        raise NotApplicableError("Could not compare scores with gold: no case has both a score and a gold score.")
    if trust.m.shape[1] != dataset.n_cases:
        raise InputError(
            "Could not use the plausible scores: they are for different cases.",
            "Compute them for all cases in these data.",
        )
    n = told.size
    gold = dataset.gold_scores[told]
    off = np.abs(trust.m[:, told] - gold)
    error, half = off.mean(axis=1), np.full(len(off), np.nan)
    if n > 1:
        half = stdtrit(n - 1, (1 + INTERVAL_LEVEL) / 2) * off.std(axis=1, ddof=1) / np.sqrt(n)
    held = ((trust.low[:, told] <= gold) & (gold <= trust.high[:, told])).mean(axis=1)
    low, high = np.array([wilson(share, n, float(ndtri((1 + INTERVAL_LEVEL) / 2))) for share in held]).T
    return ScoresByGold(n, trust.reliability, error, np.maximum(error - half, 0.0), error + half, held, low, high)
