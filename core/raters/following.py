"""Raters of ordered classes and scores: how closely each follows the cases, and separately shift and spread.

A rater who reads the whole scale one class higher names another class on most cases, but distinguishes the cases as
well as anybody; their accuracy would be low. So these raters are judged by the correlation ρ of their annotations with
the case's own score. Its estimate r is the correlation with the mean of the others less their severities
(`core.raters.score_raters`), of which a rater without scatter attains only ``a < 1``, because the mean of a few differs
from the case's score; Fisher's z of r is normal about z(a ρ) with variance 1 / (n − 3). On gold a is 1. The prior of ρ
is the pool of all raters (`core.raters.learned_pool`, on (1 + ρ) / 2).

The default acceptable value is the midpoint between ρ = 0 and the mean of all annotations. Raters with the smallest P(ρ
≥ acceptable) are flagged at a Bayesian false discovery rate, as for accuracies. A shift, and a spread above that of the
median rater, are found by family-wise tests, and do not count against raters, because both can be corrected for.

The information of an annotation on a case is ``ρ² / (1 − ρ²)``, the variance due to cases over that of the rest. So the
worth of n annotations of a rater is n times the ratio of this to that of the mean rater, and the rest is lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.score_trust import score_digits
from ..errors import NotApplicableError, PluralityError
from ..order import highest_first
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import listed, number, plural
from .accuracy_threshold import GOLD_EACH, Judge, Judged, agree_beyond_chance, bayesian_discoveries, check_asked
from .flags import ACCEPTABLE, Flag
from .learned_pool import MIDDLE, LearnedPool
from .one_class import FALSE_DISCOVERIES
from .rates import Rates
from .score_raters import ScoreRaters, score_raters, values_of

_EVEN = 0.5
_LEAST = 4  # Smallest number of cases for Fisher's interval.
_EDGE = 0.999  # Largest correlation: a few cases that agree completely do not show more.
_MOST_NAMED = 2
READING = tuple(f"{name}{end}" for name in ("severity", "spread") for end in ("", "_low", "_high"))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Following(Judged, Result):
    """Closeness of raters to the cases (ρ), their shift and spread; arrays of shape (n_raters,), NaN if unknown.

    Attributes
    ----------
    raters : tuple of str
    unit : str
        Unit of shift and spread: "class", or empty for scores.
    scores : ScoreRaters or None
        Severity and spread; None if they cannot be estimated.
    rates : Rates
        Posterior mean and interval of ρ; ``n`` are cases with others, or with gold.
    judged_by : {"gold", "model"}
        Judge of the raters of ``by_gold``; the other raters judge the rest, without a model of classes.
    by_gold : ndarray of bool
        True for raters whom gold judges.
    mean : float or None
        Mean ρ over annotations; None if nobody can be judged.
    acceptable : float or None
    default : bool
        True if ``acceptable`` is computed from the data.
    chance : ndarray
        P(ρ is acceptable or better).
    flagged : ndarray of bool
    n_annotations : ndarray of int64
    q : float
        False discovery rate of ``flagged``.
    level : float
        Confidence level of the intervals.
    why : str
        Reason why nobody can be judged; empty if somebody can.
    aside : tuple of int
        See `core.raters.accuracy_threshold.JudgedAccuracy`.
    """

    raters: tuple[str, ...]
    unit: str
    scores: ScoreRaters | None
    rates: Rates
    judged_by: Judge
    by_gold: np.ndarray
    mean: float | None
    acceptable: float | None
    default: bool
    chance: np.ndarray
    flagged: np.ndarray
    n_annotations: np.ndarray
    q: float
    level: float
    why: str
    aside: tuple[int, ...]

    TABLES = ("raters",)
    measure = "Correlation with the case"
    why_no_order = ""

    def _columns(self, table: str, most: int | None) -> Columns:
        found: dict[str, Any] = {"rater": self.raters, "n": self.n_annotations}
        found |= self.rates.columns("follows", "follows_low", "follows_high", "follows_n")
        found |= {"p_acceptable": self.chance, "low": self.flagged, "lost": self.lost}
        found |= {"judged_by": ["gold" if by else "model" for by in self.by_gold.tolist()]}
        found |= {name: self.reading(name) for name in READING}
        return {name: values[:most] for name, values in found.items()}

    def reading(self, name: str) -> np.ndarray:
        """Return severity, spread or an end of either for all raters; NaN if there is none."""
        return np.full(len(self.raters), np.nan) if self.scores is None else getattr(self.scores, name)

    @property
    def lost(self) -> np.ndarray:
        """Number of each rater's annotations that are lost, compared with the mean rater's information."""
        if self.mean is None:
            return np.full(len(self.raters), np.nan)
        rho = np.maximum(self.rates.value, 0.0)
        worth = (rho**2 / (1 - rho**2)) / (self.mean**2 / (1 - self.mean**2))
        return self.n_annotations * (1 - np.minimum(worth, 1.0))

    costs = lost

    @property
    def digits(self) -> int:
        """Number of decimals of shift and spread."""
        width = self.reading("severity_high") - self.reading("severity_low")
        return score_digits(float(np.nanmedian(width))) if not self.unit and np.isfinite(width).any() else 2

    def said(self, rater: int) -> str:
        """Format a rater's ρ with its interval."""
        return _said(self.rates.value[rater], self.rates.low[rater], self.rates.high[rater])

    def flags(self) -> list[Flag]:
        """Raise flags of who follows too little, and separately who reads higher or lower and who scatters more."""
        low = [Flag(int(j), "follow", float(self.chance[j]), self._low(int(j))) for j in np.flatnonzero(self.flagged)]
        scores = self.scores
        if scores is None or self.why:
            return low
        shift = [
            Flag(int(j), "shift", float(scores.p_severe[j]), f"{self.shift(int(j)).capitalize()}.")
            for j in np.flatnonzero(scores.severe)
        ]
        spread = [
            Flag(int(j), "spread", float(scores.p_erratic[j]), self._spread(scores, int(j)))
            for j in np.flatnonzero(scores.erratic)
        ]
        return low + shift + spread

    def words(self) -> str:
        """Describe how many follow too little and their cost, then who reads higher or lower. Not escaped."""
        if not self.n_judged:
            return self.who()
        said = [self.who(), *self._limit(), *self._shifted()]
        if self.aside:
            said.append(without_words(self.raters, self.aside))
        return " ".join(said)

    def shift(self, rater: int) -> str:
        """Describe how a rater reads the scale: "rates 1.10 classes (0.85 to 1.35) higher than the average rater"."""
        at, low, high = (float(self.reading(f"severity{end}")[rater]) for end in ("", "_low", "_high"))
        if not np.isfinite(at):
            return "cannot be compared with the average rater"
        side = "higher" if at >= 0 else "lower"
        ends = (low, high) if at >= 0 else (-high, -low)
        unit = f" {self.unit}es" if self.unit else ""
        within = " to ".join(number(end, self.digits) for end in ends)
        return f"rates {number(abs(at), self.digits)}{unit} ({within}) {side} than the average rater"

    def who(self) -> str:
        """Describe how many follow the cases too little, and their cost. Not escaped."""
        if self.acceptable is None or not self.n_judged:
            return f"Cannot determine how closely raters follow the cases: {self.why}."
        n_judged, about = self.n_judged, round(self.n_below)
        bar = f"below {number(self.acceptable)}"
        if not self.n_flagged:
            unsure = f", but about {about:,} of {plural(n_judged, 'rater')} may be below it" if about else ""
            limit = number(self.acceptable)
            return f"No rater's correlation with the case scores is clearly below the limit ({limit}){unsure}."
        n_below = max(about, self.n_flagged)
        n = int(self.n_annotations[self.flagged].sum())
        have = "has" if n_below == 1 else "have"
        flagged = f"{self.n_flagged:,} of them {'is' if self.n_flagged == 1 else 'are'} flagged"
        return (
            f"About {n_below:,} of {plural(n_judged, 'rater')} {have} a weak correlation with the case scores "
            f"({bar}), and {flagged}. Flagged raters made {plural(n, 'annotation')}, which are worth as much as "
            f"{plural(max(round(n - self.cost), 0), 'annotation')} from the average rater."
        )

    def _limit(self) -> list[str]:
        """Return the origin of the acceptable correlation, unless the user chose it."""
        if not self.default or self.mean is None or self.acceptable is None:
            return []
        mean = number(self.mean)
        limit = number(self.acceptable)
        return [f"The limit of {limit} is half the mean correlation of all raters ({mean})."]

    def _shifted(self) -> list[str]:
        if self.scores is None or not self.scores.severe.any():
            return []
        at = np.where(self.scores.severe, np.abs(self.scores.severity), -1.0)
        n = int(self.scores.severe.sum())
        first = int(highest_first(at)[0])
        largest = f"{self.raters[first]} {self.shift(first)}"
        if n == 1:
            return [f"{largest}. This does not count against the rater."]
        return [
            f"{n:,} raters give clearly higher or lower ratings than the average rater. This does not count against "
            f"them. Largest difference: {self.raters[first]}, {self.shift(first).removeprefix('rates ')}."
        ]

    def _low(self, rater: int) -> str:
        judge = "with gold" if self.by_gold[rater] else "with the other raters' scores"
        chance = float(self.chance[rater])
        p = "below 0.001" if chance < 0.001 else number(chance, 3)
        return (
            f"Correlation {judge}: {self.said(rater)}, n = {plural(int(self.rates.n[rater]), 'case')}."
            f"{ACCEPTABLE} (at least {number(self.acceptable)}): {p}."
        )

    def _spread(self, scores: ScoreRaters, rater: int) -> str:
        own = _said(scores.spread[rater], scores.spread_low[rater], scores.spread_high[rater], self.digits)
        median = number(scores.median_spread, self.digits)
        return f"The spread around the case scores is {own}, compared with a median of {median} for all raters."


def without_words(raters: Sequence[str], aside: Sequence[int]) -> str:
    """Describe in a sentence who was left out when agreement beyond chance was tested. Not escaped."""
    named = [raters[rater] for rater in aside[:_MOST_NAMED]]
    if len(aside) > _MOST_NAMED:
        named.append(plural(len(aside) - _MOST_NAMED, "other"))
    return f"Raters agree beyond chance only without {listed(named)}, who {'is' if len(aside) == 1 else 'are'} flagged."


def can_follow(dataset: Dataset) -> bool:
    """Return True if raters can be judged by following: for scores, and for three ordered classes or more."""
    return dataset.raters_identified and (dataset.kind == "score" or (dataset.ordinal and dataset.n_classes > 2))


def following_of(
    dataset: Dataset,
    *,
    acceptable: float | None = None,
    q: float = FALSE_DISCOVERIES,
    judged_by: Judge | None = None,
    level: float = 0.95,
    aside: Sequence[int] = (),
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Following:
    """Estimate how closely raters follow the cases.

    Parameters
    ----------
    dataset : Dataset
    acceptable : float, optional
        Lowest acceptable correlation with the case; computed from the data if omitted.
    q : float
        Largest expected share of flagged raters who are acceptable.
    judged_by : {"gold", "model"}, optional
        Judge of raters with `GOLD_EACH` annotations on gold cases; gold, if omitted and the median rater has as many.
    level : float
        Confidence level of the intervals.
    aside : sequence of int
        Raters without whom agreement beyond chance is tested, in addition to those who scatter more than the others.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The annotations are neither scores nor three ordered classes or more, or are anonymous, or gold is the judge and
        no annotation is on a gold case.
    InputError
        A number is not between 0 and 1, or the judge is unknown.
    """
    check_asked(acceptable, q, judged_by, level, "correlation")
    if not can_follow(dataset):
        raise NotApplicableError(
            "Cannot determine how closely raters follow the cases: this needs named raters, and either scores or "
            "at least three ordered classes."
        )
    scores, why = _scores(dataset, level, token, progress)
    without, why = ((), why) if scores is None else _agreeing(dataset, scores, aside)
    gold = _with_gold(dataset)
    judge = _judge(dataset, gold[1], judged_by)
    likelihood, cases, judged = _likelihoods(dataset, None if why else scores, gold, judge)
    n, why = dataset.annotations_of_raters, "" if judged.any() else why
    pool, mean, why = _pool(likelihood, cases, n, why)
    bar = None if mean is None else _EVEN * mean if acceptable is None else acceptable
    found = pool.rates(level)
    rates = Rates(2 * found.value - 1, 2 * found.low - 1, 2 * found.high - 1, found.n)
    chance = np.full(dataset.n_raters, np.nan) if bar is None else pool.chance_at_least((1 + bar) / 2)
    flagged = bayesian_discoveries(chance, q) & (np.nan_to_num(chance, nan=1.0) <= _EVEN)
    unit = "" if dataset.kind == "score" else "class"
    return Following(
        dataset.raters, unit, scores, rates, judge, judged, mean, bar, acceptable is None, chance, flagged, n, q, level,
        why, without,
    )  # fmt: skip


def _pool(likelihood: np.ndarray, cases: np.ndarray, n: np.ndarray, why: str) -> tuple[LearnedPool, float | None, str]:
    """Build the pool on (1 + ρ) / 2, its mean ρ over annotations, and the reason why nobody is judged."""
    pool = LearnedPool(likelihood, cases)
    share = pool.mean_over(n)
    if share is None:
        few = f"no rater has {_LEAST} shared cases on which annotations differ"
        return pool, None, why or few
    if share <= _EVEN:
        return (
            LearnedPool(likelihood, 0 * cases),
            None,
            "on average, raters' annotations do not correlate with the case scores",
        )
    return pool, 2 * share - 1, why


def _agreeing(dataset: Dataset, scores: ScoreRaters, aside: Sequence[int]) -> tuple[tuple[int, ...], str]:
    """Find raters without whom the others agree beyond chance, and the reason why nobody is judged otherwise."""
    aside = sorted({*aside, *np.flatnonzero(scores.erratic).tolist()})
    metric = "interval" if dataset.kind == "score" else "ordinal"
    if agree_beyond_chance(dataset, metric=metric):
        return (), ""
    if aside and agree_beyond_chance(dataset, aside, metric):
        return tuple(aside), ""
    return (), "agreement between raters is not clearly better than chance"


def _judge(dataset: Dataset, on_gold: np.ndarray, judged_by: Judge | None) -> Judge:
    if judged_by == "gold" and not on_gold.any():
        raise NotApplicableError(
            "Cannot compare raters with gold: no gold case is annotated. Add gold, or use the model as the truth."
        )
    if judged_by is not None:
        return judged_by
    n = on_gold[dataset.annotations_of_raters > 0]
    return "gold" if n.size and np.median(n) >= GOLD_EACH else "model"


def _likelihoods(
    dataset: Dataset, scores: ScoreRaters | None, gold: tuple[np.ndarray, np.ndarray], judge: Judge
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute log likelihoods of ρ, the cases that they depend on, and whom gold judges."""
    likelihood, cases = np.zeros((dataset.n_raters, MIDDLE.size)), np.zeros(dataset.n_raters, np.int64)
    judged = np.zeros(dataset.n_raters, bool)
    if scores is not None:
        cases = _seen(scores.with_others, scores.shared)
        likelihood = _log_likelihood(scores.with_others, cases, scores.attainable)
    if judge == "gold":
        r, on_gold = gold
        judged = _seen(r, on_gold) >= GOLD_EACH
        likelihood[judged] = _log_likelihood(r, on_gold, np.ones(dataset.n_raters))[judged]
        cases = np.where(judged, on_gold, cases)
    return likelihood, cases, judged


def _scores(
    dataset: Dataset, level: float, token: CancelToken | None, progress: Callable[[float], None] | None
) -> tuple[ScoreRaters | None, str]:
    try:
        return score_raters(dataset, level=level, token=token, progress=progress), ""
    except PluralityError as error:
        said = str(error).split(". ")[0].rstrip(".")
        return None, said[0].lower() + said[1:]


def _seen(correlation: np.ndarray, n: np.ndarray) -> np.ndarray:
    """Count the cases that judge each rater: none without a correlation, or with fewer than `_LEAST`."""
    return np.where(np.isfinite(correlation) & (n >= _LEAST), n, 0)


def _log_likelihood(correlation: np.ndarray, n: np.ndarray, attainable: np.ndarray) -> np.ndarray:
    """Compute the log likelihood of each rater's ρ on cells of (1 + ρ) / 2, (n_raters, n_cells); 0 without any."""
    with np.errstate(invalid="ignore"):
        z = np.arctanh(np.clip(correlation, -_EDGE, _EDGE))[:, None]
        middle = np.arctanh(np.clip(attainable[:, None] * (2 * MIDDLE - 1), -_EDGE, _EDGE))
        return np.nan_to_num(-0.5 * np.maximum(n - 3, 0)[:, None] * (z - middle) ** 2)


def _with_gold(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Compute the correlation of each rater's annotations with gold, and their number."""
    if dataset.kind == "score":
        known = np.full(dataset.n_cases, np.nan) if dataset.gold_scores is None else dataset.gold_scores
    else:
        gold = np.full(dataset.n_cases, -1) if dataset.gold is None else dataset.gold
        known = np.where(gold >= 0, gold, np.nan)
    given, known = values_of(dataset), known[dataset.case_of_annotation]
    on = np.isfinite(known)
    rater, n = dataset.rater[on], np.bincount(dataset.rater[on], minlength=dataset.n_raters)

    def sums(values: np.ndarray) -> np.ndarray:
        return np.bincount(rater, values, dataset.n_raters)

    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = given[on] - (sums(given[on]) / n)[rater], known[on] - (sums(known[on]) / n)[rater]
        spread = np.sqrt(sums(x * x) * sums(y * y))
        return np.where(spread > 0, sums(x * y) / spread, np.nan), n


def _said(value: float, low: float, high: float, digits: int = 2) -> str:
    if not np.isfinite(value):
        return "–"
    return f"{number(value, digits)} ({number(low, digits)} to {number(high, digits)})"
