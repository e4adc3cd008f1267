"""Prediction sets that contain the truth as often as promised, even if the truth is uncertain.

``C(x) = {k : E(x, k) ≥ τ}``, E the score of a classifier, larger is better. With one known label per case, τ is the
order statistic ``⌊α(n + 1)⌋`` of the scores of the labels (split conformal prediction). If calibrated on voted labels,
sets miss the truth too often on cases with disagreement. Monte Carlo conformal prediction draws labels from the
plausibilities instead: ``Y_i^(1..m) ~ Cat(λ_i)``, ``ρ_k = mean_j (1 + #{i : E(x_i, Y_i^(j)) ≤ E(x, k)})/(n + 1)``, ``C
= {k : ρ_k > α}`` [Stutz et al., Conformal prediction under ambiguous ground truth, 2023]. Here λ is the posterior of a
plausibility model at a reliability γ, so the promise is valid under that γ.

Every method reduces to one threshold on the score, because ρ grows with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..agreement.intervals import wilson
from ..annotations.dataset import RISK_LEVELS, Dataset
from ..checked import checked
from ..errors import InputError, NotApplicableError
from ..options import check_choice, check_level, check_number, check_whole
from ..plausibility.protocol import PlausibilityModel
from ..reducers.mean_shares import MeanShares
from ..result_base import Columns, Result, rows
from ..runtime.seeds import case_seeds
from ..text import exact, number, percent, plural
from ._set_kernels import draw_labels, mean_scores
from .predictions import Predictions

CALIBRATION, TEST, LEFT_OUT = 0, 1, -1
FEW = 30
RISK_ENDS = (0.5, 1.5)
QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")
PROMISES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MOST_DENSE = 50_000_000
Labels = tuple[np.ndarray, np.ndarray, np.ndarray]  # Cases, classes and weights.
_MARGIN = 0.02
_IN_ORDER = (*QUARTERS, *RISK_LEVELS)
_ROUNDING = 1e-9
_SUMS = 1e-12
_DELTA = 0.05


@dataclass(frozen=True, slots=True, repr=False)
class CoveredShare(Result):
    """Share of sets that contain the label.

    Attributes
    ----------
    value, low, high : float
        Mean over cases, with Wilson's interval. From `FEW` cases on, its effective number of cases comes from the
        observed variance. Below it, the number of cases is used, which makes it wider.
    n : int
        Number of cases.
    """

    value: float
    low: float
    high: float
    n: int

    TABLES = ("share",)
    COLUMNS = ("value", "low", "high", "n")


@dataclass(frozen=True, slots=True, repr=False)
class SetGroup(Result):
    """Coverage and size of the sets of some test cases.

    Attributes
    ----------
    by, value : str
        Grouping of the cases, and the name of this group.
    n : int
    aggregated : CoveredShare
    voted : CoveredShare or None
        Coverage of the majority vote; None if no case has one.
    mean_size : float
    """

    by: str
    value: str
    n: int
    aggregated: CoveredShare
    voted: CoveredShare | None
    mean_size: float

    TABLES = ("group",)
    COLUMNS = ("by", "value", "n", "mean_size")


@dataclass(frozen=True, slots=True, repr=False)
class SetStratum(Result):
    """Threshold of one stratum of cases.

    Attributes
    ----------
    value : str
        Name of the stratum.
    n : int
        Number of cases that calibrated it.
    threshold : float
        -inf gives all classes.
    """

    value: str
    n: int
    threshold: float

    TABLES = ("stratum",)
    COLUMNS = ("value", "n", "threshold")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PredictionSets(Result):
    """Sets of classes for all predicted cases, and how often those of the test cases contain the truth.

    Attributes
    ----------
    classifier : str
    alpha : float
        Largest share of the sets that may miss the truth.
    n_labels : int
        Number m of labels drawn for each calibration case.
    corrected : bool
        True if half of the calibration cases correct the p-values of the other half by their distribution.
    folds : int
        Number of folds, each with the threshold of all others; 0 if a part of the cases calibrates for the others.
    n_classes, n_calibration, n_test : int
    threshold : float
        Threshold τ for a new case; -inf gives all classes. NaN if each stratum has its own.
    strata : tuple of SetStratum
        Strata; empty if one threshold applies to all cases.
    ptr : ndarray of int64, shape (n_cases + 1,)
    class_code : ndarray of int32, shape (n_entries,)
        Classes by case, the highest score first: the set of case ``i`` is ``ptr[i]`` to ``ptr[i + 1]``, empty if the
        case is not predicted.
    part : ndarray of int8, shape (n_cases,)
        `CALIBRATION`, `TEST` or `LEFT_OUT`: not predicted, or without an annotation.
    covered : ndarray of float64, shape (n_cases,)
        Plausibility of the set, ``Σ_{k in C} λ_k`` at the mean over draws; NaN if the case is not predicted.
    listed : float
        Plausibility of all classes that the classifier scores, mean over annotated cases. A larger promise needs sets
        of all classes.
    aggregated : CoveredShare
        Share of test cases whose set contains the truth. Use this one.
    voted, true : CoveredShare or None
        Share of sets that contain the majority vote (a tie in expectation), and the gold class; None if there is none.
    groups : tuple of SetGroup
    region : float or None
        Threshold of the mean score ``Σ_k λ_k E(x, k)``: plausibilities beyond it are the plausibility region of a
        case; classes that are not listed count as in `score_unlisted`. None if there are too many scores.
    region_covered : CoveredShare or None
        Share of draws of the plausibilities that are in the region.
    """

    classifier: str
    alpha: float
    n_labels: int
    corrected: bool
    folds: int
    n_classes: int
    n_calibration: int
    n_test: int
    threshold: float
    strata: tuple[SetStratum, ...]
    ptr: np.ndarray
    class_code: np.ndarray
    part: np.ndarray
    covered: np.ndarray
    listed: float
    aggregated: CoveredShare
    voted: CoveredShare | None
    true: CoveredShare | None
    groups: tuple[SetGroup, ...]
    region: float | None
    region_covered: CoveredShare | None

    TABLES = ("cases", "groups")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "groups":
            return rows(self.groups, SetGroup.COLUMNS) | {
                "aggregated": [one.aggregated.value for one in self.groups],
                "voted": [None if one.voted is None else one.voted.value for one in self.groups],
            }
        return {
            "case": np.arange(len(self.size))[:most],
            "size": self.size[:most],
            "covered": self.covered[:most],
            "part": self.part[:most],
        }

    @property
    def size(self) -> np.ndarray:
        """Number of classes in each set, int64 of shape (n_cases,)."""
        return np.diff(self.ptr)

    @property
    def mean_size(self) -> float:
        """Mean number of classes in a set, over test cases."""
        return float(self.size[self.part == TEST].mean())

    @property
    def all_classes(self) -> bool:
        """True if every set contains every class: too few calibration cases, or too few classes with scores."""
        return all(one.threshold == -np.inf for one in self.strata) if self.strata else self.threshold == -np.inf

    @property
    def n_needed(self) -> int:
        """Number of calibration cases, in each stratum, below which no set can leave out a class."""
        least = int(np.ceil(1 / self.alpha - _ROUNDING))
        return 2 * least if self.corrected else least - 1

    @property
    def too_few(self) -> bool:
        """True if every stratum has fewer calibration cases than `n_needed`."""
        return max((one.n for one in self.strata), default=self.n_calibration) < self.n_needed

    def of_case(self, case: int) -> np.ndarray:
        """Return the classes in the set of a case, the highest score first."""
        return self.class_code[self.ptr[case] : self.ptr[case + 1]]

    def promise(self, reliability: float) -> str:
        """State the promise in a sentence.

        Parameters
        ----------
        reliability : float
            γ of the plausibilities.
        """
        words = self._promised(reliability)
        if self.all_classes or self.n_classes == 1 or self.size[self.part == TEST].min() < self.n_classes:
            return words
        return f"{words} But the set for every test case contains {_all_of(self.n_classes)}, so no class is excluded."

    def _promised(self, reliability: float) -> str:
        share = _rounded(1 - self.alpha)
        if self.all_classes:
            return f"{self._why_all(share, reliability)} Every set contains {_all_of(self.n_classes)}."
        given = f"if the truth follows the plausibilities at γ = {exact(reliability)}"
        whole = [one.value for one in self.strata if one.threshold == -np.inf]
        except_in = f" In strata with too few cases ({', '.join(whole)}), sets contain all classes." if whole else ""
        if self.corrected:
            slack = np.sqrt(np.log(2 / _DELTA) / (2 * (self.n_calibration // 2)))
            least = _rounded(max(0.0, 1 - self.alpha - slack))
            return (
                f"About {share} of the sets for new cases like these contain the truth, {given}. With "
                f"{percent(1 - _DELTA)} probability, the share is at least {least}.{except_in}"
            )
        if self.n_labels > 1:
            least = _rounded(max(0.0, 1 - 2 * self.alpha))
            return (
                f"About {share} of the sets for new cases like these contain the truth, {given}. Only {least} "
                f"is guaranteed, because {self.n_labels:,} labels are drawn per case.{except_in}"
            )
        each = " in each stratum" if self.strata else ""
        return (
            f"On average, at least {share} of the sets for new cases like these contain the truth{each}, "
            f"{given}.{except_in}"
        )

    def _why_all(self, share: str, reliability: float) -> str:
        if not self.too_few:
            return (
                f"{self.classifier} lists only some classes per case. These have {_rounded(self.listed)} of the "
                f"plausibility at γ = {exact(reliability)}, too little to guarantee {share}."
            )
        few = plural(self.n_calibration, "calibration case is", "calibration cases are")
        return (
            f"{few} too few to guarantee {share}, which needs {self.n_needed:,} "
            f"cases{' in each stratum' if self.strata else ''}."
        )


@dataclass(frozen=True, slots=True, eq=False)
class KeptPlausibilities:
    """Reduced draws at one γ that prediction sets need, for any classifier and promise.

    Attributes
    ----------
    means : MeanShares
    certainty : ndarray of float64, shape (n_cases,)
        Annotation certainty of the top-1 class.
    expected_risk : ndarray of float64, shape (n_cases,), or None
        Expected risk; None if classes have no levels of risk.
    """

    means: MeanShares
    certainty: np.ndarray
    expected_risk: np.ndarray | None = None


def score_unlisted(score: np.ndarray) -> float:
    """Return the score of an unlisted class in a mean of scores: 0, or 1 less than the lowest if that is below 0.

    Parameters
    ----------
    score : ndarray
        All scores of the classifier.
    """
    lowest = float(np.min(score, initial=0.0))
    return 0.0 if lowest >= 0 else lowest - 1


def scores_at(predictions: Predictions, case: int, codes: Sequence[int]) -> np.ndarray:
    """Return scores of some classes of a case, as the plausibility region uses them.

    Parameters
    ----------
    predictions : Predictions
        Predictions with scores.
    case : int
    codes : sequence of int
        Codes of classes.
    """
    own = slice(predictions.ptr[case], predictions.ptr[case + 1])
    score = np.asarray(predictions.score)
    listed = dict(zip(predictions.class_code[own].tolist(), score[own].tolist(), strict=True))
    return np.array([listed.get(code, score_unlisted(score)) for code in codes])


def possible_promise(listed: float, wanted: float = 0.9) -> float:
    """Return the largest of `PROMISES` up to the wanted one that lists with this plausibility allow.

    Parameters
    ----------
    listed : float
        Plausibility of all listed classes, see `PredictionSets`.
    wanted : float
    """
    possible = [promise for promise in PROMISES if promise <= min(wanted, listed - _MARGIN)]
    return max(possible, default=min(PROMISES)) if listed < 1 - _ROUNDING else wanted


def split_threshold(scores: np.ndarray, alpha: float) -> float:
    """Compute the threshold of split and of Monte Carlo conformal prediction, in its p-value form.

    Parameters
    ----------
    scores : ndarray, shape (n,) or (n, m)
        ``E(x_i, Y_i^(j))`` of the calibration cases; -inf for a label that is not scored.
    alpha : float
        0 < α < 1.

    Returns
    -------
    float
        Smallest score of a class in the set: -inf, all classes, if n is below ``1/α − 1``; inf, no class, only if α is
        nearly 1.

    Raises
    ------
    InputError
        α is not between 0 and 1.
    """
    check_alpha(alpha)
    scores = np.asarray(scores, np.float64)
    n, m = (len(scores), 1) if scores.ndim == 1 else scores.shape
    # Σ_j (1 + #_j) > α m (n + 1) in integers, so that ties and rounding make no difference.
    place = int(np.floor(alpha * m * (n + 1) + _ROUNDING)) - m + 1
    return _order_statistic(scores.ravel(), place)


def corrected_threshold(scores: np.ndarray, checks: np.ndarray, alpha: float) -> float:
    """Compute the threshold of Monte Carlo conformal prediction with ECDF correction.

    Parameters
    ----------
    scores : ndarray, shape (n_a,) or (n_a, m)
        Scores as in `split_threshold`, which give the p-values.
    checks : ndarray, shape (n_b,)
        Scores of one label of each other case: F is the empirical distribution of their p-values, and a class is in the
        set if ``F(ρ_k) > α``.
    alpha : float

    Returns
    -------
    float
        Threshold; -inf, all classes, if ``α n_b`` is below 1.

    Raises
    ------
    InputError
        α is not between 0 and 1.
    """
    check_alpha(alpha)
    ordered = np.sort(np.asarray(scores, np.float64).ravel())
    at_most = np.sort(np.searchsorted(ordered, np.asarray(checks, np.float64), side="right"))
    place = int(np.floor(alpha * len(at_most) + _ROUNDING))
    if place == 0:
        return -np.inf
    return np.inf if place >= len(at_most) else _order_statistic(ordered, int(at_most[place]))


def check_alpha(alpha: float) -> None:
    """Raise `InputError` unless α is above 0 and below 1."""
    check_number(alpha, "The error rate α")
    if not 0 < alpha < 1:
        raise InputError(f"The error rate α must be between 0 and 1; got {alpha}.", "For a coverage of 95%, use 0.05.")


def _all_of(n_classes: int) -> str:
    return "the one class" if n_classes == 1 else f"all {n_classes:,} classes"


def _rounded(share: float) -> str:
    """Round to two digits, or three if they are needed."""
    return number(share, 2 if abs(share - round(share, 2)) < _ROUNDING else 3)


def _order_statistic(values: np.ndarray, place: int) -> float:
    if place <= 0:
        return -np.inf
    return np.inf if place > values.size else float(np.partition(values, place - 1)[place - 1])


@dataclass(frozen=True, slots=True)
class SetSettings:
    """Settings of the calibration of sets.

    Attributes
    ----------
    alpha : float
        Error α, 0 < α < 1; the sets promise 1 − α.
    calibrate : float
        Share of the cases that calibrate, 0 < share < 1; the others test.
    folds : int
        Number of folds, if 2 or more: each fold has the threshold of the others, and all cases test.
    n_labels : int
        Number m of labels drawn for each calibration case.
    corrected : bool
        True if half of the calibration cases are used for the ECDF correction.
    within : {"", "group", "risk", "certainty"}
        One threshold for all; or a threshold for each group of cases, level of expected risk or quarter of certainty
        (Mondrian), so that the promise is valid within each. A new case has a risk or a certainty only once it is
        annotated.
    seed : int
        Seed of labels and of the choice of calibration cases.
    level : float
        Confidence level of the intervals.

    Raises
    ------
    InputError
        A setting is out of its range.
    """

    alpha: float = 0.1
    calibrate: float = 0.5
    folds: int = 0
    n_labels: int = 1
    corrected: bool = False
    within: str = ""
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        check_level(self.level)
        check_whole(self.n_labels, "The number of labels", 1)
        check_whole(self.folds, "The number of folds", 0)
        check_number(self.calibrate, "The calibration share")
        if self.folds == 1:
            raise InputError(
                "Could not calibrate: with 1 fold, no other cases are left for calibration.", "Use at least 2 folds."
            )
        check_level(self.calibrate, "The calibration share")


@checked
def prediction_sets(
    predictions: Predictions,
    dataset: Dataset,
    kept: KeptPlausibilities,
    *,
    model: PlausibilityModel | None = None,
    votes: Labels | None = None,
    **settings: Any,
) -> PredictionSets:
    """Compute the sets of one classifier at a promised coverage, from reduced draws.

    Parameters
    ----------
    predictions : Predictions
        Matched to the dataset.
    dataset : Dataset
        Dataset of the plausibilities.
    kept : KeptPlausibilities
        Reduced draws at one γ.
    model : PlausibilityModel, optional
        Model whose point estimate is the majority vote; without it, voted coverage is not computed.
    votes : tuple of three ndarray, optional
        Majority votes by `majority_votes`, if known; they are the same for all sets of the same data.
    **settings
        Arguments of `SetSettings`, such as ``alpha``.

    Raises
    ------
    InputError
        A setting is out of its range, or predictions are of other data.
    NotApplicableError
        The classifier has no scores, or fewer than two annotated cases are predicted.
    """
    how = SetSettings(**settings)
    _check(predictions, dataset)
    groups = _groups(dataset, kept)
    if how.within:
        check_choice(how.within, "The variable that defines the strata", tuple(groups))
    scores = _Scores(predictions, dataset.n_classes)
    calibration = _calibration(predictions, dataset, kept.means, scores, groups.get(how.within), how)
    plan = _in_folds(calibration, how.folds) if how.folds else _in_parts(calibration, how.calibrate)
    ptr, code, covered = _sets(scores, kept.means, plan.taus)
    tested = np.flatnonzero(plan.part == TEST)
    if votes is None:
        votes = _no_labels() if model is None else majority_votes(model, dataset)
    vote = _held(scores, plan.taus, *votes)
    gold = _held(scores, plan.taus, *_gold(dataset))
    listed = _whole(np.bincount(scores.case, _mass(scores, kept.means), dataset.n_cases)[calibration.order]).mean()
    region, in_region = _region(scores, kept.means, dataset, plan, how)
    return PredictionSets(
        predictions.name, float(how.alpha), how.n_labels, how.corrected, how.folds, dataset.n_classes,
        len(plan.calibrating), len(tested), np.nan if how.within else plan.new[0].threshold,
        plan.new if how.within else (), ptr, code, plan.part, covered, float(listed),
        _share(covered[tested], how.level), _known_share(vote[tested], how.level),
        _known_share(gold[tested], how.level), _by(groups, tested, covered, vote, np.diff(ptr), how.level),
        region, None if in_region is None else _share(in_region[tested], how.level),
    )  # fmt: skip


def _calibration(
    predictions: Predictions,
    dataset: Dataset,
    means: MeanShares,
    scores: "_Scores",
    stratum: np.ndarray | None,
    how: SetSettings,
) -> "_Calibration":
    usable = np.flatnonzero(predictions.predicted & (np.diff(dataset.case_ptr) > 0))
    if usable.size < 2:
        raise NotApplicableError(
            f"Could not compute prediction sets: {predictions.name} predicts {plural(usable.size, 'annotated case')}, "
            "but at least two are needed.",
            "Add predictions for more cases.",
        )
    labels = _labels(dataset, means, how.n_labels + 1, how.seed)  # The last one checks if there is a correction.
    every = np.arange(dataset.n_cases)
    return _Calibration(
        np.stack([scores.of(every, labels[:, n]) for n in range(how.n_labels + 1)], axis=1),
        np.full(dataset.n_cases, "") if stratum is None else stratum,
        usable[np.argsort(case_seeds(how.seed, dataset.cases, "calibration cases")[usable], kind="stable")],
        how.alpha,
        how.corrected,
    )


class _Scores:
    """Scores of one classifier by case and class; a class that it does not list has -inf."""

    def __init__(self, predictions: Predictions, n_classes: int) -> None:
        self.ptr, self.code, self.n_classes = predictions.ptr, predictions.class_code, n_classes
        self.score = np.asarray(predictions.score)
        self.case = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        keys = self.case * n_classes + self.code
        self._order = np.argsort(keys, kind="stable")
        self._keys = keys[self._order]

    def of(self, case: np.ndarray, code: np.ndarray) -> np.ndarray:
        """Return the score of each pair of case and class."""
        wanted = case * self.n_classes + code
        place = np.minimum(np.searchsorted(self._keys, wanted), max(len(self._keys) - 1, 0))
        return np.where(self._keys[place] == wanted, self.score[self._order[place]], -np.inf)

    def dense(self) -> np.ndarray | None:
        """Return all scores, shape (n_cases, n_classes), see `score_unlisted`; None if there are too many."""
        shape = len(self.ptr) - 1, self.n_classes
        if shape[0] * shape[1] > MOST_DENSE:
            return None
        found = np.full(shape, score_unlisted(self.score))
        found[self.case, self.code] = self.score
        return found


@dataclass(frozen=True, slots=True)
class _Calibration:
    """Input of thresholds: scores of drawn labels, (n_cases, m + 1), and cases in random order."""

    drawn: np.ndarray
    stratum: np.ndarray
    order: np.ndarray
    alpha: float
    corrected: bool

    def threshold(self, cases: np.ndarray, name: str) -> SetStratum:
        """Compute the threshold of a stratum from these cases."""
        own = cases[self.stratum[cases] == name]
        if self.corrected:
            tau = corrected_threshold(self.drawn[own[0::2], :-1], self.drawn[own[1::2], -1], self.alpha)
        else:
            tau = split_threshold(self.drawn[own, :-1], self.alpha)
        return SetStratum(name, len(own), tau)

    def thresholds(self, cases: np.ndarray) -> tuple[SetStratum, ...]:
        """Compute the threshold of every stratum that an annotated case is in."""
        return tuple(self.threshold(cases, name) for name in sorted(set(self.stratum[self.order].tolist())))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Plan of calibration: cases that calibrate and test, τ of each case, and τ for new ones."""

    part: np.ndarray
    taus: np.ndarray
    calibrating: np.ndarray
    new: tuple[SetStratum, ...]


def _in_parts(calibration: _Calibration, share: float) -> _Plan:
    n = len(calibration.order)
    calibrating = calibration.order[: min(max(round(share * n), 1), n - 1)]
    part = np.full(len(calibration.stratum), LEFT_OUT, np.int8)
    part[calibration.order], part[calibrating] = TEST, CALIBRATION
    new = calibration.thresholds(calibrating)
    return _Plan(part, _applied(calibration.stratum, new), calibrating, new)


def _in_folds(calibration: _Calibration, folds: int) -> _Plan:
    order, stratum = calibration.order, calibration.stratum
    part = np.full(len(stratum), LEFT_OUT, np.int8)
    part[order] = TEST
    new = calibration.thresholds(order)
    taus = _applied(stratum, new)  # Cases without an annotation have a group, too.
    number = np.arange(len(order)) % folds
    for fold in range(folds):
        mine = order[number == fold]
        taus[mine] = _applied(stratum, calibration.thresholds(order[number != fold]))[mine]
    return _Plan(part, taus, order, new)


def _applied(stratum: np.ndarray, thresholds: tuple[SetStratum, ...]) -> np.ndarray:
    """Return τ of each case; all classes for a stratum that no annotated case is in."""
    taus = np.full(len(stratum), -np.inf)
    for one in thresholds:
        taus[stratum == one.value] = one.threshold
    return taus


def _check(predictions: Predictions, dataset: Dataset) -> None:
    if len(predictions.ptr) != dataset.n_cases + 1:
        raise InputError(
            f"Could not use {predictions.name}: the predictions are for different data.",
            "Use predictions for these cases (in Python, `match_predictions` puts them in order).",
        )
    if predictions.score is None:
        raise NotApplicableError(
            f"Could not compute prediction sets for {predictions.name}: it ranks the classes but gives no scores.",
            "Provide a score for each class.",
        )


def _labels(dataset: Dataset, means: MeanShares, n_labels: int, seed: int) -> np.ndarray:
    """Draw classes for each case, shape (n_cases, n_labels)."""
    seeds = case_seeds(seed, dataset.cases, "labels of prediction sets")
    return draw_labels(seeds, means.ptr, means.class_code, means.share, means.n_rest, n_labels)


def _mass(scores: _Scores, means: MeanShares) -> np.ndarray:
    """Compute the mean plausibility of each class that the classifier lists, in its order."""
    n_cases = means.n_cases
    named = np.repeat(np.arange(n_cases), np.diff(means.ptr)) * scores.n_classes + means.class_code
    wanted = scores.case * scores.n_classes + scores.code
    each = means.rest / np.maximum(means.n_rest, 1)
    if not len(named):
        return each[scores.case]
    place = np.minimum(np.searchsorted(named, wanted), len(named) - 1)
    return np.where(named[place] == wanted, means.share[place], each[scores.case])


def _sets(scores: _Scores, means: MeanShares, taus: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the sets in CSR, and the plausibility that each covers."""
    n_cases, listed = len(taus), np.diff(scores.ptr)
    inside = scores.score >= taus[scores.case]
    covered = np.bincount(scores.case, _mass(scores, means) * inside, n_cases)
    every = (taus == -np.inf) & (listed > 0)
    covered[every] = 1.0
    covered[listed == 0] = np.nan
    case, code = scores.case[inside], scores.code[inside]
    short = np.flatnonzero(every & (listed < scores.n_classes))
    if short.size:  # The set has all classes, so those that the classifier does not list come last.
        missing = np.ones((short.size, scores.n_classes), bool)
        row = np.full(n_cases, -1)
        row[short] = np.arange(short.size)
        ours = row[scores.case] >= 0
        missing[row[scores.case[ours]], scores.code[ours]] = False
        more, codes = np.nonzero(missing)
        case, code = np.append(case, short[more]), np.append(code, codes.astype(np.int32))
        order = np.argsort(case, kind="stable")
        case, code = case[order], code[order]
    ptr = np.concatenate([[0], np.cumsum(np.bincount(case, minlength=n_cases))]).astype(np.int64)
    return ptr, code.astype(np.int32), _whole(covered)


def _whole(covered: np.ndarray) -> np.ndarray:
    """Set sums of plausibilities that differ from 1 only by rounding to 1."""
    return np.where(covered > 1 - _SUMS, 1.0, covered)


def majority_votes(model: PlausibilityModel, dataset: Dataset) -> Labels:
    """Return case, class and weight of every majority vote, a model's point estimate; weights of a tie sum to one.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset

    Returns
    -------
    ndarray of int64, ndarray of int32, ndarray
        Shape (n_votes,).
    """
    ptr, code, share = model.point_shares(dataset)
    case = np.repeat(np.arange(dataset.n_cases), np.diff(ptr))
    best = np.full(dataset.n_cases, -np.inf)
    np.maximum.at(best, case, share)
    first = share >= best[case] * (1 - 1e-9)
    case, code = case[first], code[first]
    return case, code, 1 / np.bincount(case, minlength=dataset.n_cases)[case]


def _gold(dataset: Dataset) -> Labels:
    if dataset.gold is None:
        return _no_labels()
    case = np.flatnonzero(dataset.gold >= 0)
    return case, dataset.gold[case], np.ones(len(case))


def _no_labels() -> Labels:
    return np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)


def _held(scores: _Scores, taus: np.ndarray, case: np.ndarray, code: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Compute the weight of the labels that are in the set of their case, shape (n_cases,); NaN without a label."""
    found = np.full(len(taus), np.nan)
    found[case] = np.bincount(case, weight * (scores.of(case, code) >= taus[case]), len(taus))[case]
    return found


def _share(values: np.ndarray, level: float) -> CoveredShare:
    from scipy.special import ndtri

    n, mean = len(values), float(np.clip(values.mean(), 0.0, 1.0))
    variance = float(values.var(ddof=1)) if n >= FEW else 0.0
    n_eff = n * mean * (1 - mean) / variance if variance > _ROUNDING else float(n)
    return CoveredShare(mean, *wilson(mean, n_eff, float(ndtri((1 + level) / 2))), n)


def _known_share(values: np.ndarray, level: float) -> CoveredShare | None:
    known = values[np.isfinite(values)]
    return _share(known, level) if known.size else None


def _by(groups: Mapping[str, np.ndarray], tested, covered, vote, size, level) -> tuple[SetGroup, ...]:
    found = []
    for by, value_of in groups.items():
        for value in dict.fromkeys([*_IN_ORDER, *sorted(set(value_of[tested].tolist()))]):
            own = tested[value_of[tested] == value]
            if value and own.size:
                aggregated = _share(covered[own], level)
                voted = _known_share(vote[own], level)
                found.append(SetGroup(by, value, len(own), aggregated, voted, float(size[own].mean())))
    return tuple(found)


def _region(scores: _Scores, means: MeanShares, dataset: Dataset, plan: _Plan, how: SetSettings):
    """Compute the threshold of the plausibility region, and whether each case's draw is in its own region."""
    dense = scores.dense()
    if dense is None:
        return None, None
    seeds = case_seeds(how.seed, dataset.cases, "plausibility region")
    score = mean_scores(
        seeds, means.ptr, means.class_code, means.last_share, means.last_rest, means.rest_shape, dense
    )  # fmt: skip
    tau = split_threshold(score[plan.calibrating], how.alpha)
    return tau, (score >= tau).astype(np.float64)


def _groups(dataset: Dataset, kept: KeptPlausibilities) -> dict[str, np.ndarray]:
    """Return the groupings of cases, each with the group of every case, "" for none."""
    found = {"certainty": quarters(kept.certainty)}
    if dataset.case_group is not None:
        found["group"] = np.array(dataset.case_group, dtype=str)
    if kept.expected_risk is not None:
        found["risk"] = np.array(RISK_LEVELS)[np.digitize(kept.expected_risk, RISK_ENDS)]
    return found


def sets_table(found: PredictionSets, dataset: Dataset) -> pd.DataFrame:
    """Build a table of the set of every case: its size, the plausibility that it covers and its classes.

    Classes are one text, separated by "; ", the highest score first.

    Parameters
    ----------
    found : PredictionSets
    dataset : Dataset
        Dataset of the sets.
    """
    names = np.array(dataset.classes, dtype=object)
    used = {CALIBRATION: "calibration", TEST: "test", LEFT_OUT: "neither"}
    return pd.DataFrame(
        {
            "case": list(dataset.cases),
            "classifier": found.classifier,
            "part": [used[part] for part in found.part.tolist()],
            "size": found.size,
            "covered": found.covered,
            "classes": ["; ".join(names[found.of_case(case)]) for case in range(dataset.n_cases)],
        }
    )


def quarters(values: np.ndarray) -> np.ndarray:
    """Return the quarter of all values that each is in, as words of `QUARTERS`; equal values share a quarter.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Values; NaN is in no quarter.
    """
    found = np.full(len(values), "", dtype=object)
    known = np.isfinite(values)
    if known.any():
        cuts = np.quantile(values[known], (0.25, 0.5, 0.75))
        found[known] = np.array(QUARTERS, dtype=object)[np.searchsorted(cuts, values[known], side="left")]
    return found.astype(str)
