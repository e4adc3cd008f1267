"""Monitoring: one row per rater with the number of annotations, speed, accuracy and flags."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..agreement.by_rater import by_rater, intra_rater
from ..agreement.coefficients import PERCENT
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..models._kernels import first_answers
from ..models.catalogue import Request, em_model, request
from ..models.dawid_skene import EMPIRICAL
from ..models.em_model import EmModel
from ..models.majority import MajorityVote
from ..models.one_coin import METHODS as ONE_COIN
from ..models.rater_summary import rater_summary
from ..models.result import RaterModelFit
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken, beside
from ..text import percent, significant
from ..thresholds import CLEAR_CASE
from .accuracy import Accuracies, accuracies_of
from .carelessness import Carelessness, carelessness
from .drift import drift_chances, drift_of
from .flags import (
    FALSE_ALARMS,
    RULES,
    Evidence,
    Flag,
    accuracy_evidence,
    adversarial_evidence,
    careless_evidence,
    flag_columns,
    raise_flags,
    spam_evidence,
    speed_evidence,
    streak_evidence,
)
from .leave_one_rater_out import Panel, panel_of
from .rates import BlindReads, Rates, agreement_with_blind, distances_of, entropy_of, rates_of
from .response_times import SITTING, ResponseTimes, response_times
from .truth_draws import AccuracyDraws

MOST_CELLS = 5_000_000
_BELOW_CHANCE = "adversarial"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RaterTable(Result):
    """Monitoring of raters; arrays of shape (n_raters,), NaN if undefined.

    Attributes
    ----------
    raters, classes : tuple of str
    n_annotations, n_cases : ndarray of int64
    agreement : Rates
        Share of pairs of the rater's annotation and another's on the same case that agree; ``n`` is the number of
        cases.
    accuracies : Accuracies
        Accuracies by which flags are raised. The accuracy that is shown is that of `core.raters.accuracy_threshold`.
    bias : ndarray, shape (n_raters, n_classes)
        Share of a class among the rater's annotations, less its expected share among the true classes of their cases.
    spam : ndarray
        P(the annotations do not depend on the case).
    adversarial : ndarray
        P(the accuracy is below ``chance``), shrunk; NaN if the judged annotations of a rater, or the classes that the
        others give these cases, are all of one class, so that no dependence on the truth is possible.
    chance : ndarray
        Accuracy of the rater's shares of classes given blindly.
    blind : Rates
        Share of blind reads by others that agree with the rater's annotation on the case; ``n`` is the number of cases.
    repeats : ndarray
        Share of the rater's annotations that repeat their earlier one on the same case.
    with_self : Rates
        Share of pairs of the rater's annotations on one case that agree; ``n`` is the number of cases.
    response_times : ResponseTimes
        Speed and streaks.
    signs : Carelessness
    entropy, entropy_of_cases : ndarray
        Entropy, in bits, of the classes that the rater used, and of the classes that the others give the same cases.
    distance : Rates
        Mean distance from the others in ordered classes (`core.raters.rates`); NaN for other classes.
    p_drift : ndarray
        P(a stable rater's chart reaches as high); NaN without a chart.
    flags : tuple of Flag
    false_alarms : float
        Largest probability that honest raters raise any flag.
    level : float
        Confidence level of the intervals.
    model : str
    notes : tuple of str
    panel : Panel
        Panel for `drift_of` and `report_card`.
    averaged : RaterModelFit or None
        Average of rater models that judges accuracy.
    draws : AccuracyDraws or None
        Draws of accuracies by that average; see `with_draws`.
    """

    raters: tuple[str, ...]
    classes: tuple[str, ...]
    n_annotations: np.ndarray
    n_cases: np.ndarray
    agreement: Rates
    accuracies: Accuracies
    bias: np.ndarray
    spam: np.ndarray
    adversarial: np.ndarray
    chance: np.ndarray
    blind: Rates
    repeats: np.ndarray
    with_self: Rates
    response_times: ResponseTimes
    signs: Carelessness
    entropy: np.ndarray
    entropy_of_cases: np.ndarray
    distance: Rates
    p_drift: np.ndarray
    flags: tuple[Flag, ...]
    false_alarms: float
    level: float
    model: str
    notes: tuple[str, ...]
    panel: Panel
    averaged: RaterModelFit | None = None
    draws: AccuracyDraws | None = None

    TABLES = ("raters", "bias", "flags")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "bias":
            each = [(rater, name) for rater in self.raters for name in self.classes]
            return {
                "rater": [rater for rater, _ in each],
                "class": [name for _, name in each],
                "bias": self.bias.ravel(),
            }
        if table == "flags":
            return flag_columns(self.flags, self.raters)
        found: dict[str, Any] = {"rater": self.raters}
        found |= {name: getattr(self, name) for name in ("n_annotations", "n_cases")}
        judged = self.accuracies
        found |= {"accuracy": judged.shrunk, "accuracy_low": judged.low, "accuracy_high": judged.high}
        found |= {"accuracy_n": judged.n_judged}
        for name in ("agreement", "blind", "with_self", "distance"):
            found |= getattr(self, name).columns(name, f"{name}_low", f"{name}_high", f"{name}_n")
        names = ("chance", "spam", "adversarial", "repeats", "entropy", "entropy_of_cases", "p_drift")
        return found | {name: getattr(self, name) for name in names}

    def flags_of(self, rater: int) -> tuple[Flag, ...]:
        """Return the flags of one rater."""
        return tuple(flag for flag in self.flags if flag.rater == rater)


def monitor(
    dataset: Dataset,
    *,
    model: EmModel | RaterModelFit | None = None,
    blind_reads: BlindReads | None = None,
    level: float = 0.95,
    false_alarms: float = FALSE_ALARMS,
    certain: float = CLEAR_CASE,
    sitting: int = SITTING,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> RaterTable:
    """Compute the monitoring of all raters.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes; for rankings, pass the first choices (`Dataset.as_classes`).
    model : EmModel or RaterModelFit, optional
        Model to fit, or a fit of these data. If omitted, the model of `default_request`, or majority vote if that
        cannot be fitted.
    blind_reads : BlindReads, optional
    level : float
        Confidence level of the intervals, 0 to 1.
    false_alarms : float
        Largest probability that honest raters raise any flag.
    certain : float
        Probability from which the others count as certain of a case, ½ to 1.
    sitting : int
        Seconds without an annotation that end a sitting.
    seed : int
        Seed of the random orders for drift.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes or are anonymous, or there are none.
    InputError
        A parameter is out of range, or the fit belongs to other data.
    LimitError
        The tables would not fit into memory.
    """
    _check(dataset, level, false_alarms, certain, sitting)
    agreement = beside(by_rater, dataset, PERCENT, level)
    fit, notes = _fit(dataset, model, token, _part(progress, 0.0, 0.3))
    panel = panel_of(dataset, fit, token=token, progress=_part(progress, 0.3, 0.4))
    accuracies = accuracies_of(panel, level, token=token, progress=_part(progress, 0.4, 0.6))
    p_drift = drift_chances(panel, seed=seed, token=token, progress=_part(progress, 0.6, 0.9))
    rates = rates_of(agreement.result().each, dataset.n_raters)
    table = _table(panel, fit, notes, accuracies, rates, p_drift, blind_reads, level, false_alarms, certain, sitting)
    if progress is not None:
        progress(1.0)
    return table


def with_draws(table: RaterTable, averaged: RaterModelFit, draws: AccuracyDraws) -> RaterTable:
    """Return the table with accuracy judged by draws of the truth, and new flags for raters below chance.

    Parameters
    ----------
    table : RaterTable
    averaged : RaterModelFit
        Average of rater models of the same data.
    draws : AccuracyDraws
        Draws of accuracies by that average.
    """
    below = np.where(np.isfinite(table.adversarial), 1 - draws.chance_at_least(table.chance), np.nan)
    evidence = {_BELOW_CHANCE: adversarial_evidence(1 - below, table.chance)}
    flags = [flag for flag in table.flags if flag.rule != _BELOW_CHANCE]
    flags += raise_flags(evidence, table.false_alarms / len(RULES))
    flags.sort(key=lambda flag: (flag.rater, list(RULES).index(flag.rule)))
    return replace(table, adversarial=below, flags=tuple(flags), averaged=averaged, draws=draws)


def _check(dataset: Dataset, level: float, false_alarms: float, certain: float, sitting: int) -> None:
    for name, value, low in (("level", level, 0), ("false-alarm rate", false_alarms, 0), ("certainty", certain, 0.5)):
        if not low < value < 1:
            raise InputError(f"The {name} must be between {low} and 1; got {value}.", "Choose another number.")
    if sitting < 1:
        raise InputError(f"The pause that ends a sitting must be at least 1 second; got {sitting}.", "Use 1 or more.")
    dataset.check_kind("class", "Cannot monitor raters", "Use first choices, or a threshold.")
    dataset.check_raters("Cannot monitor raters")
    if dataset.n_annotations == 0:
        raise NotApplicableError("Cannot monitor raters: the data have no annotations.")


def _part(progress: Callable[[float], None] | None, start: float, stop: float) -> Callable[[float], None] | None:
    """Return a function for the progress of a part of the whole, from ``start`` to ``stop``."""
    return progress and (lambda done: progress(start + (stop - start) * done))


def _table(
    panel: Panel,
    fit: RaterModelFit,
    notes: tuple[str, ...],
    accuracies: Accuracies,
    rates: Rates,
    p_drift: np.ndarray,
    blind_reads: BlindReads | None,
    level: float,
    false_alarms: float,
    certain: float,
    sitting: int,
) -> RaterTable:
    dataset = panel.dataset
    summary, signs, pace = (
        rater_summary(dataset, fit),
        carelessness(panel, certain),
        response_times(panel, sitting, certain),
    )
    dependent = _can_depend(panel)
    evidence = _evidence(panel, accuracies, summary.chance, dependent, p_drift, signs, pace, false_alarms)
    n = np.bincount(dataset.rater, minlength=dataset.n_raters)
    n_cases = _cases_of(dataset)
    return RaterTable(
        dataset.raters,
        dataset.classes,
        n,
        n_cases,
        rates,
        accuracies,
        summary.bias,
        signs.spam,
        np.where(dependent, accuracies.chance_below(summary.chance), np.nan),
        summary.chance,
        agreement_with_blind(dataset, blind_reads, level),
        np.divide(n - n_cases, n, out=np.full(dataset.n_raters, np.nan), where=n > 0),
        _with_self(dataset, n_cases, n, level),
        pace,
        signs,
        entropy_of(dataset.rater, dataset.answer, dataset),
        entropy_of(dataset.rater[panel.judged], panel.top[panel.judged], dataset),
        distances_of(panel, level),
        p_drift,
        raise_flags(evidence, false_alarms),
        false_alarms,
        level,
        fit.model,
        (*fit.notes, *notes),
        panel,
    )


def default_request(dataset: Dataset) -> Request:
    """Choose Dawid-Skene shrunk by empirical Bayes, or one accuracy per rater if its tables would be large."""
    if dataset.n_raters * dataset.n_classes**2 <= MOST_CELLS:
        return request(EMPIRICAL.name)
    return request(ONE_COIN[0].name)


def _fit(dataset, model, token, progress) -> tuple[RaterModelFit, tuple[str, ...]]:
    if isinstance(model, RaterModelFit):
        return model, ()
    try:
        return (model or em_model(default_request(dataset))).fit(dataset, token=token, progress=progress), ()
    except NotApplicableError as error:
        if model is not None:
            raise
        return MajorityVote().fit(dataset), (f"{error} Raters are compared with the majority vote.",)


def _evidence(
    panel: Panel,
    found: Accuracies,
    chance: np.ndarray,
    dependent: np.ndarray,
    p_drift: np.ndarray,
    signs: Carelessness,
    pace: ResponseTimes,
    false_alarms: float,
) -> dict[str, Evidence]:
    def drifted(rater: int) -> str:
        drift = drift_of(panel, rater, false_alarm=float(np.clip(false_alarms, 0.0005, 0.5)), n_windows=1)
        if drift.change is None:
            return "The control chart rose higher than it would for a stable rater."
        p = float(p_drift[rater])
        seldom = "less than 1 time in 1,000" if p < 0.001 else f"with a probability of {significant(p, 1)}"
        day = np.datetime64(drift.time_of(drift.change), "s").astype("datetime64[D]")
        return (
            f"Correct in {percent(drift.before)} of annotations before about {day}, and in {percent(drift.after)} "
            f"since then. A stable rater's control chart rises this high {seldom}."
        )

    below = np.where(dependent, 1 - found.chance_below(chance, shrunk=False), np.nan)
    return {
        "below_others": accuracy_evidence(
            found.below_others, found.alone, found.alone_low, found.alone_high, found.pool_mean or np.nan
        ),
        _BELOW_CHANCE: adversarial_evidence(below, chance),
        "spam": spam_evidence(signs),
        "careless": careless_evidence(signs, panel.dataset.classes),
        "streaks": streak_evidence(pace),
        "fast": speed_evidence(pace),
        "drift": Evidence(p_drift, drifted),
    }


def _can_depend(panel: Panel) -> np.ndarray:
    """Return True for raters whose judged annotations have several classes, on cases of several classes."""
    rater, n = panel.dataset.rater[panel.judged], panel.dataset.n_raters
    return _several(panel.dataset.answer[panel.judged], rater, n) & _several(panel.top[panel.judged], rater, n)


def _several(code: np.ndarray, by: np.ndarray, n: int) -> np.ndarray:
    """Return True for those of ``n`` raters that have two codes or more."""
    code = code.astype(np.int64)  # NumPy takes ten times as long if it has to convert each.
    lowest, highest = np.full(n, np.iinfo(np.int64).max), np.full(n, -1)
    np.minimum.at(lowest, by, code)
    np.maximum.at(highest, by, code)
    return lowest < highest


def _cases_of(dataset: Dataset) -> np.ndarray:
    first = first_answers(dataset.case_ptr, dataset.rater, dataset.n_raters)
    return np.bincount(dataset.rater[first], minlength=dataset.n_raters)


def _with_self(dataset: Dataset, n_cases: np.ndarray, n: np.ndarray, level: float) -> Rates:
    if (n == n_cases).all():
        nothing = np.full(dataset.n_raters, np.nan)
        return Rates(nothing, nothing, nothing, np.zeros(dataset.n_raters, np.int64))
    return rates_of(intra_rater(dataset, level).each, dataset.n_raters)
