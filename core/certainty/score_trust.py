"""Effect of the reliability γ on scores: plausible scores of cases with their intervals, and the density of one case.

All of it is the closed form of `core.plausibility.gaussian`; nothing is drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..plausibility.gaussian import GaussianScores
from ..result_base import Columns, Result
from ..text import exact, plural
from ..thresholds import INTERVAL_LEVEL

_POINTS = 201  # Number of points of a density.
_BEYOND = 0.35  # Share of the interval's width that is drawn on both sides of it.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreTrust(Result):
    """Plausible scores of cases at several γ.

    Attributes
    ----------
    threshold : float or None
    reliability : ndarray, shape (n_points,)
        γ, ascending.
    m, low, high : ndarray, shape (n_points, n_cases)
        Plausible score and the ends of its 95% interval, in units of the scores.
    above : ndarray, shape (n_points, n_cases), or None
        Probability that the score is above the threshold; None without a threshold.
    """

    threshold: float | None
    reliability: np.ndarray
    m: np.ndarray
    low: np.ndarray
    high: np.ndarray
    above: np.ndarray | None

    TABLES = ("reliabilities",)

    def _columns(self, table: str, most: int | None) -> Columns:
        columns = {"reliability": self.reliability, "width_median": np.median(self.width, axis=1)}
        columns |= {"width_mean": self.width.mean(axis=1)}
        if self.above is not None:
            columns |= {"certainty": self.certainty.mean(axis=1)}
        return {name: values[:most] for name, values in columns.items()}

    @property
    def width(self) -> np.ndarray:
        """Width of the intervals, in units of the scores, shape (n_points, n_cases)."""
        return self.high - self.low

    @property
    def quartiles(self) -> np.ndarray:
        """Largest width of the intervals of a quarter, half and three quarters of the cases, shape (3, n_points)."""
        return np.quantile(self.width, [0.25, 0.5, 0.75], axis=1)

    @property
    def certainty(self) -> np.ndarray:
        """Certainty of the side of the threshold, max(P, 1 − P), shape (n_points, n_cases).

        Raises
        ------
        InputError
            No threshold was set.
        """
        if self.above is None:
            raise InputError(
                "Could not compare scores with the threshold: no threshold is set.",
                "Choose a threshold.",
            )
        return np.maximum(self.above, 1 - self.above)


def score_trust(
    dataset: Dataset, model: GaussianScores, reliabilities: Sequence[float], cases: range | None = None
) -> ScoreTrust:
    """Compute plausible scores at each γ.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores.
    model : GaussianScores
        Model, with or without a threshold.
    reliabilities : sequence of float
        Values of γ, each above 0.
    cases : range, optional
        Positions of consecutive cases; all if omitted.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    InputError
        A reliability is out of range, or none is given.
    """
    points = sorted({float(value) for value in reliabilities})
    if not points:
        raise InputError("Could not compute certainty: no reliability γ was given.", "Use at least one value of γ.")
    found = [model.posterior(dataset, value, cases) for value in points]
    low, high = zip(*(one.interval(INTERVAL_LEVEL) for one in found), strict=True)
    above = None if model.threshold is None else np.array([one.above for one in found])
    m = np.array([one.m for one in found])
    return ScoreTrust(model.threshold, np.array(points), m, np.array(low), np.array(high), above)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlausibleScore(Result):
    """Plausible score of one case, with its density.

    Attributes
    ----------
    case : str
    reliability : float
    threshold : float or None
    m, low, high : float
        Plausible score, and the ends of its 95% interval.
    above : float or None
        Probability that it is above the threshold.
    x, density : ndarray, shape (n_points,)
        Density of the score, per unit.
    score : ndarray, shape (n_scores,)
        Scores of the raters, ascending.
    rater : tuple of str
        Rater of each score.
    """

    case: str
    reliability: float
    threshold: float | None
    m: float
    low: float
    high: float
    above: float | None
    x: np.ndarray
    density: np.ndarray
    score: np.ndarray
    rater: tuple[str, ...]

    TABLES = ("density",)
    COLUMNS = ("x", "density")


def plausible_score(dataset: Dataset, model: GaussianScores, case: int, reliability: float) -> PlausibleScore:
    """Compute the posterior of one case's score over a range with its interval, its scores and the threshold.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores.
    model : GaussianScores
    case : int
    reliability : float
        Reliability γ.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    InputError
        The reliability is out of range.
    """
    posterior = model.posterior(dataset, reliability, range(case, case + 1))
    low, high = (float(end[0]) for end in posterior.interval(INTERVAL_LEVEL))
    annotations = dataset.annotations_of(case)
    score = dataset.score[annotations.start : annotations.stop]
    order = np.argsort(score, kind="stable")
    beyond = _BEYOND * (high - low)
    first, last = (min(low - beyond, score.min(initial=low)), max(high + beyond, score.max(initial=high)))
    # Half of the points are in the interval, where the density is high, and half over the whole range.
    x = np.union1d(np.linspace(first, last, _POINTS), np.linspace(low - beyond, high + beyond, _POINTS))
    return PlausibleScore(
        dataset.cases[case],
        float(reliability),
        model.threshold,
        float(posterior.m[0]),
        low,
        high,
        None if model.threshold is None else float(posterior.above[0]),
        x,
        posterior.density(0, x),
        score[order],
        tuple(dataset.raters[dataset.rater[annotations.start + place]] for place in order),
    )


def score_digits(width: float) -> int:
    """Return the number of decimals for a score with an interval of this width: two significant digits of the width."""
    return int(np.clip(1 - np.floor(np.log10(width)), 0, 12)) if width > 0 else 2


def scores_in_words(dataset: Dataset, case: int) -> str:
    """Describe the raters' scores in one sentence: how many, and their range. Not escaped."""
    annotations = dataset.annotations_of(case)
    score = np.sort(dataset.score[annotations.start : annotations.stop])
    if not len(score):
        return "This case has no score."
    if score[0] == score[-1]:
        return f"{plural(len(score), 'score')}, {'all of them' if len(score) > 1 else 'of'} {exact(score[0])}."
    middle = round(float(np.median(score)), 2)
    ends = f"from {exact(score[0])} to {exact(score[-1])}"
    return f"{len(score):,} scores, {ends}; median {exact(middle)}."
