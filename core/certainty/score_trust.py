"""What the trust γ in the raters does to scores: plausible scores of cases with their intervals, and of one case whole.

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

_POINTS = 201  # of a density
_BEYOND = 0.35  # of the interval's width, drawn on both sides of it


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
        Probability that the score is above the threshold; None without one.
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
        """Quarter, half and three quarters of the cases have an interval of at most this width, shape (3, n_points)."""
        return np.quantile(self.width, [0.25, 0.5, 0.75], axis=1)

    @property
    def certainty(self) -> np.ndarray:
        """How sure the side of the threshold is, max(P, 1 − P), shape (n_points, n_cases).

        Raises
        ------
        InputError
            There is no threshold.
        """
        if self.above is None:
            raise InputError("There is no threshold, so no side to be certain of.", "Give one.")
        return np.maximum(self.above, 1 - self.above)


def score_trust(
    dataset: Dataset, model: GaussianScores, reliabilities: Sequence[float], cases: range | None = None
) -> ScoreTrust:
    """Plausible scores at each γ.

    Parameters
    ----------
    dataset : Dataset
        Of scores.
    model : GaussianScores
        With a threshold or without.
    reliabilities : sequence of float
        γ, each above 0.
    cases : range, optional
        A run of cases; all where not given.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    InputError
        A reliability is out of range, or there is none.
    """
    points = sorted({float(value) for value in reliabilities})
    if not points:
        raise InputError("No reliability was given.", "Give at least one.")
    found = [model.posterior(dataset, value, cases) for value in points]
    low, high = zip(*(one.interval(INTERVAL_LEVEL) for one in found), strict=True)
    above = None if model.threshold is None else np.array([one.above for one in found])
    m = np.array([one.m for one in found])
    return ScoreTrust(model.threshold, np.array(points), m, np.array(low), np.array(high), above)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlausibleScore(Result):
    """What the score of one case could be.

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
        What the raters gave, ascending.
    rater : tuple of str
        Who gave each.
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
    """The posterior of one case's score, over a range that holds its interval, its scores and the threshold's side.

    Parameters
    ----------
    dataset : Dataset
        Of scores.
    model : GaussianScores
    case : int
    reliability : float
        γ.

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
    # More points where the density is: half over the whole range, half over the interval.
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
    """Digits after the point that a score is worth whose interval has this width: two significant ones of the width."""
    return int(np.clip(1 - np.floor(np.log10(width)), 0, 12)) if width > 0 else 2


def scores_in_words(dataset: Dataset, case: int) -> str:
    """One sentence on what the raters gave: how many, from where to where. Not escaped."""
    annotations = dataset.annotations_of(case)
    score = np.sort(dataset.score[annotations.start : annotations.stop])
    if not len(score):
        return "Nobody gave a score."
    if score[0] == score[-1]:
        return f"{plural(len(score), 'score')}, {'all of them' if len(score) > 1 else 'of'} {exact(score[0])}."
    middle = round(float(np.median(score)), 2)
    ends = f"from {exact(score[0])} to {exact(score[-1])}"
    return f"{len(score):,} scores {ends}, half of them at most {exact(middle)}."
