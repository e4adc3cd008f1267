"""Drift of raters of scores: whose severity changed, when, and by how much.

A rater's score less the others' of the same case, each less its own severity and weighted by its precision, does not
depend on the true score of the case; so changes of the cases over time are not drift. In order of time, standardised,
these differences are exchangeable for a stable rater, and the highest point of their sums less the mean has the
distribution of the supremum of a Brownian bridge [Ploberger & Krämer, The CUSUM test with OLS residuals, Econometrica
60 (1992), 271-285]; with few differences the true chance is smaller. Alarms are Holm's over raters. Drift is relative
to the others: a rater who stays the same while all others change is found as well.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import NotApplicableError
from ..multiplicity import holm
from ..options import check_level
from ..result_base import Columns, Result
from ..text import number
from .accuracy_windows import FEWEST
from .flags import FALSE_ALARMS
from .score_raters import ScoreRaters, values_of

N_WINDOWS = 8
_Mean = tuple[float, float, float]  # Each with the ends of its interval.
_NO_CHANGE: tuple[None, None, None, None, None] = (None, None, None, None, None)
_LEAST_SPREAD = 0.25  # Smallest variance as a share of the median rater's, so that no score counts as the truth.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreDrift(Result):
    """Drift of one rater; arrays of shape (n_scores,) in order of time, in units of the scores unless stated.

    Attributes
    ----------
    annotation : ndarray of int64
        Positions in the dataset.
    time : ndarray of int64
        Seconds since 1970-01-01 UTC.
    above : ndarray
        Rater's score less the estimate from the others of the case.
    chart : ndarray
        Sums of the standardised differences less their mean, over √n; without a unit. 0 at the end.
    p : float
        Largest probability that a stable rater's chart reaches as far from 0.
    change : int or None
        Number of scores before the change, the median of its posterior; None without an alarm.
    change_low, change_high : int or None
        Ends of its interval.
    before, after : tuple of float or None
        Mean of ``above`` before and after ``change``, each with the ends of its interval.
    windows : ndarray, shape (n_windows, 6)
        Mean of ``above`` in windows of equal numbers of scores, its ends, times of the first and the last score, and
        number.
    """

    annotation: np.ndarray
    time: np.ndarray
    above: np.ndarray
    chart: np.ndarray
    p: float
    change: int | None
    change_low: int | None
    change_high: int | None
    before: tuple[float, float, float] | None
    after: tuple[float, float, float] | None
    windows: np.ndarray

    TABLES = ("chart",)
    COLUMNS = ("annotation", "time", "above", "chart")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreDrifts(Result):
    """Drift of all raters of scores.

    Attributes
    ----------
    raters : tuple of str
    each : tuple of ScoreDrift or None
        Drift of each rater; None with fewer than `FEWEST` dated scores on cases of others.
    p : ndarray, shape (n_raters,)
        P-value of each rater; NaN likewise.
    alarm : ndarray of bool, shape (n_raters,)
        True if severity changed, at a family-wise level: ``false_alarms`` is the probability that any stable rater is
        included.
    false_alarms, level : float
    n_undated : int
        Number of scores left out because their time is unknown.
    """

    raters: tuple[str, ...]
    each: tuple[ScoreDrift | None, ...]
    p: np.ndarray
    alarm: np.ndarray
    false_alarms: float
    level: float
    n_undated: int

    TABLES = ("raters",)

    def words(self, rater: int, digits: int = 2, unit: str = "") -> str:
        """Describe the drift of one rater in a sentence. Not escaped.

        Parameters
        ----------
        rater : int
        digits : int
            Number of decimals of scores.
        unit : str
            "class" for ordered classes, empty for scores.
        """
        found = self.each[rater]
        if found is None:
            return f"{self.raters[rater]} has too few dated scores on shared cases"
        if found.before is None or found.after is None:
            return f"{self.raters[rater]} shows no change in severity"
        moved = found.after[0] - found.before[0]
        side = "higher" if moved > 0 else "lower"
        verb, units = ("rated", f"{unit}es") if unit else ("scored", "points")
        by = f"{verb} {number(abs(moved), digits)} {units}"
        return f"{self.raters[rater]} has {by} {side} since about {self.day(rater)}"

    def day(self, rater: int) -> str | None:
        """Return the day of the first score after the change; None without an alarm."""
        found = self.each[rater]
        if found is None or found.change is None:
            return None
        return str(np.datetime64(int(found.time[found.change]), "s").astype("datetime64[D]"))

    def _columns(self, table: str, most: int | None) -> Columns:
        def of(part: str, end: int) -> list[float | None]:
            means = [getattr(one, part, None) for one in self.each]
            return [None if mean is None else mean[end] for mean in means]

        ends = {"": 0, "_low": 1, "_high": 2}
        return {
            "rater": self.raters,
            "n": [0 if one is None else len(one.time) for one in self.each],
            "p": self.p,
            "alarm": self.alarm,
            "since": [self.day(rater) for rater in range(len(self.raters))],
            **{f"{part}{end}": of(part, at) for part in ("before", "after") for end, at in ends.items()},
        }


def score_drifts(
    dataset: Dataset, raters: ScoreRaters, *, false_alarms: float = FALSE_ALARMS, level: float = 0.95
) -> ScoreDrifts:
    """Test whether the severity of each rater changed over time.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores, or of ordered classes, with times.
    raters : ScoreRaters
        Severities from the same data.
    false_alarms : float
        Largest probability that any stable rater has an alarm.
    level : float
        Confidence level of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The data have no times.
    InputError
        A share is out of range.
    """
    check_level(level)
    check_level(false_alarms)
    if dataset.time is None:
        raise NotApplicableError("Cannot compute drift: these scores have no dates.")
    above, variance = _beside_others(dataset, raters)
    known = np.isfinite(above)
    dated = known & (dataset.time != MISSING_TIME)
    order = np.lexsort((np.arange(known.size), dataset.time, dataset.rater))
    order = order[dated[order]]
    ends = np.searchsorted(dataset.rater[order], np.arange(dataset.n_raters + 1))
    rows = [order[start:stop] for start, stop in pairwise(ends)]
    charts = [_chart(above[one], variance[one]) if one.size >= FEWEST else None for one in rows]
    p = np.array([np.nan if one is None else one[1] for one in charts])
    alarm = np.zeros(dataset.n_raters, bool)
    alarm[holm(p, false_alarms)] = True
    each: list[ScoreDrift | None] = []
    for one, chart, changed in zip(rows, charts, alarm, strict=True):
        if chart is None:
            each.append(None)
            continue
        sums, chance = chart
        at, low, high, before, after = _change(above[one], variance[one], level) if changed else _NO_CHANGE
        windows = _windows(above[one], dataset.time[one], level)
        each.append(ScoreDrift(one, dataset.time[one], above[one], sums, chance, at, low, high, before, after, windows))
    return ScoreDrifts(raters.raters, tuple(each), p, alarm, false_alarms, level, int((known & ~dated).sum()))


def _beside_others(dataset: Dataset, raters: ScoreRaters) -> tuple[np.ndarray, np.ndarray]:
    """Return each score less the estimate from the case's other scores, and its variance; NaN for a single score."""
    usual = raters.median_spread
    spread = np.where(np.isfinite(raters.spread), raters.spread, usual)
    own = np.maximum(spread, _LEAST_SPREAD * usual)[dataset.rater] ** 2
    case, weight = dataset.case_of_annotation, 1 / own
    value = values_of(dataset)
    level = value - np.nan_to_num(raters.severity)[dataset.rater]

    # Scores of the same rater on the case are left out together.
    pair = case.astype(np.int64) * dataset.n_raters + dataset.rater
    _, cell = np.unique(pair, return_inverse=True)
    others = np.bincount(case, weight, dataset.n_cases)[case] - np.bincount(cell, weight)[cell]
    total = np.bincount(case, weight * level, dataset.n_cases)[case] - np.bincount(cell, weight * level)[cell]
    beside = np.bincount(case, minlength=dataset.n_cases)[case] > np.bincount(cell)[cell]
    others = np.where(beside, others, np.nan)
    return value - total / others, own + 1 / others


def _chart(above: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, float]:
    """Compute sums of standardised differences in order, and P(a stable rater's sum is as far from 0)."""
    from scipy.special import kolmogorov

    weight = 1 / variance
    standard = (above - weight @ above / weight.sum()) / np.sqrt(variance)
    standard = standard - standard.mean()
    size = np.sqrt(standard @ standard / standard.size)
    if size == 0:
        return np.zeros(above.size), 1.0
    chart = np.cumsum(standard) / (size * np.sqrt(standard.size))
    return chart, float(kolmogorov(np.abs(chart).max()))


def _change(above: np.ndarray, variance: np.ndarray, level: float) -> tuple[int, int, int, _Mean, _Mean]:
    """Find the place of the one change with its interval, and the means before and after it with theirs.

    The priors of the place and of the two means are flat; the scale of the means is that of the best place.
    """
    weight = 1 / variance
    first, sums = np.cumsum(weight)[:-1], np.cumsum(weight * above)[:-1]
    second, rest = weight.sum() - first, (weight * above).sum() - sums
    explained = sums**2 / first + rest**2 / second
    left = (weight * above**2).sum() - explained
    scale = max(float(left.min()) / max(above.size - 2, 1), 1e-300)
    evidence = (explained - explained.max()) / (2 * scale) - 0.5 * np.log(first * second)
    mass = np.exp(evidence - evidence.max())
    reached = np.cumsum(mass / mass.sum())
    places = np.searchsorted(reached, [0.5, (1 - level) / 2, (1 + level) / 2]) + 1
    change, low, high = (int(min(place, above.size - 1)) for place in places)
    return change, low, high, _mean(above[:change], level), _mean(above[change:], level)


def _mean(values: np.ndarray, level: float) -> _Mean:
    """Compute the mean with its t interval; the ends for one value are NaN."""
    from scipy.special import stdtrit

    mean, n = float(values.mean()), values.size
    half = float(stdtrit(n - 1, (1 + level) / 2) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return mean, mean - half, mean + half


def _windows(above: np.ndarray, time: np.ndarray, level: float) -> np.ndarray:
    parts = np.array_split(np.arange(above.size), min(N_WINDOWS, max(above.size // FEWEST, 1)))
    return np.array([[*_mean(above[part], level), time[part[0]], time[part[-1]], part.size] for part in parts])
