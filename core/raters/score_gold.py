"""Raters of scores against gold: bias and error of each rater's scores."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..options import check_level
from ..result_base import Columns, Result
from ..text import number, plural


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreGold(Result):
    """Bias and error of each rater on cases with a known score; arrays of shape (n_raters,), in units of the scores.

    Attributes
    ----------
    raters : tuple of str
    n : ndarray of int64
        Number of scores of each on such cases.
    bias, bias_low, bias_high : ndarray
        Mean of score − gold and its t interval; NaN without a score, ends NaN with one.
    error, error_low, error_high : ndarray
        Mean of |score − gold|, with its interval; its ends are not below 0.
    level : float
    """

    raters: tuple[str, ...]
    n: np.ndarray
    bias: np.ndarray
    bias_low: np.ndarray
    bias_high: np.ndarray
    error: np.ndarray
    error_low: np.ndarray
    error_high: np.ndarray
    level: float

    TABLES = ("raters",)

    def words(self, digits: int = 2) -> str:
        """Describe who is clearly off from the known scores, largest first; nobody if there is none. Not escaped.

        Parameters
        ----------
        digits : int
            Number of decimals of scores.
        """
        sure = np.flatnonzero((self.bias_low > 0) | (self.bias_high < 0))
        if not sure.size:
            return "No rater clearly scores above or below gold"
        one = int(sure[np.argmax(np.abs(self.bias[sure]))])
        ends = sorted(abs(end) for end in (self.bias_low[one], self.bias_high[one]))
        side = "lower" if self.bias[one] < 0 else "higher"
        return (
            f"{self.raters[one]} scores {number(abs(self.bias[one]), digits)} points {side} than gold "
            f"({number(ends[0], digits)} to {number(ends[1], digits)}; n = {plural(int(self.n[one]), 'score')})"
        )

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("n", "bias", "bias_low", "bias_high", "error", "error_low", "error_high")
        return {"rater": self.raters[:most]} | {name: getattr(self, name)[:most] for name in names}


def score_gold(dataset: Dataset, gold: Mapping[str, float] | None = None, *, level: float = 0.95) -> ScoreGold:
    """Compute the difference of each rater's scores from known scores.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores by identified raters.
    gold : mapping of str to float, optional
        Known score by case; cases that are not in the data are left out. Known scores of the dataset if omitted.
    level : float
        Confidence level of the intervals, 0 to 1; cases are a sample, and raters are fixed.

    Raises
    ------
    NotApplicableError
        The annotations are not scores or are anonymous, or no case with scores has a known score.
    InputError
        A known score is not finite, or the level is out of range.
    """
    from scipy.special import stdtrit

    check_level(level)
    dataset.check_kind("score", "Cannot compute bias and error")
    dataset.check_raters("Cannot compute bias and error")
    if gold is None:
        if dataset.gold_scores is None:
            raise NotApplicableError("Cannot compare scores with gold: no case has a gold score.")
        known = dataset.gold_scores
    else:
        bad = next((case for case, value in gold.items() if not np.isfinite(value)), None)
        if bad is not None:
            raise InputError(
                f"Could not use the gold scores: the score of case {bad!r} is not a finite number.",
                "Enter a finite number, or leave the case out.",
            )
        known = np.array([gold.get(case, np.nan) for case in dataset.cases], np.float64)
    off = dataset.score - known[dataset.case_of_annotation]
    told = np.isfinite(off)
    if not told.any():
        raise NotApplicableError("Could not compare scores with gold: no case has both a score and a gold score.")
    rater, n_raters = dataset.rater[told], dataset.n_raters
    n = np.bincount(rater, minlength=n_raters)
    with np.errstate(invalid="ignore", divide="ignore"):
        reach = stdtrit(np.where(n > 1, n - 1, np.nan), (1 + level) / 2) / np.sqrt(n)

        def of_raters(value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            mean = np.bincount(rater, value, n_raters) / n
            squares = np.bincount(rater, (value - mean[rater]) ** 2, n_raters)
            half = reach * np.sqrt(squares / (n - 1))
            return mean, mean - half, mean + half

        bias, bias_low, bias_high = of_raters(off[told])
        error, error_low, error_high = of_raters(np.abs(off[told]))
    return ScoreGold(dataset.raters, n, bias, bias_low, bias_high, error, np.maximum(error_low, 0.0), error_high, level)
