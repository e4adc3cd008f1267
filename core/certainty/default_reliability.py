"""Choice of the reliability γ that a page opens at, with the reason, and the marks on its slider.

Counts with the prior learned from all cases open at γ = 1. Otherwise gold decides if it is known for 100 cases or
more: the γ at which certainties have the least log loss. Without it rankings and scores open at the published γ, and
counts with another prior at γ = min(1, β): raters make the same mistakes, so n annotations count as β n. β is the
largest exponent at which the annotations of a case, taken together, predict a held-out one within one standard error as
well as at the best. At the best itself γ is lower, and certainties are too low if mistakes are not shared: mean log
loss of certainty 0.425 on 31 crowds with known truth, 0.415 at the largest, 0.417 at γ = 1.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import InputError
from ..methods import method_named
from ..models.vote_prior import VotePrior
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import GaussianScores
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import PlausibilityMethod, PlausibilityModel
from ..result_base import Columns, Result, rows
from ..text import number, plural, significant
from ..thresholds import LEAST_GOLD
from .held_out_readers import HeldOutCurve, reach
from .truth_curve import TruthCurve


@dataclass(frozen=True, slots=True, repr=False)
class ReliabilityAnchor(Result):
    """A γ to mark on the slider.

    Attributes
    ----------
    name : {"gold", "readers", "beta", "published", "default"}
    reliability : float
    low, high : float or None
        Range that the data allow, two standard errors wide; None if there is none.
    sentence : str
    open_ends : tuple of bool
        True if the range reaches the lowest, and the highest, γ that was searched.
    """

    name: str
    reliability: float
    low: float | None
    high: float | None
    sentence: str
    open_ends: tuple[bool, bool] = (False, False)


@dataclass(frozen=True, slots=True, repr=False)
class DefaultReliability(Result):
    """The γ that a page opens at.

    Attributes
    ----------
    reliability : float
    source : {"prior", "gold", "beta", "default"}
    reason : str
        One sentence.
    marks : tuple of ReliabilityAnchor
    prior : float or None
        Counts: α = γ/(best γ/α), at which the plausibilities at this γ predict a held-out reader best. This is a prior
        that may be offered, not a reliability.
    prior_sentence : str
    """

    reliability: float
    source: str
    reason: str
    marks: tuple[ReliabilityAnchor, ...]
    prior: float | None
    prior_sentence: str

    TABLES = ("marks",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.marks, ("name", "reliability", "low", "high", "sentence"))


@checked
def default_reliability(
    dataset: Dataset,
    model: PlausibilityModel,
    *,
    beta: float | None = None,
    truth: TruthCurve | None = None,
    readers: HeldOutCurve | None = None,
    prior: VotePrior | None = None,
) -> DefaultReliability:
    """Choose the reliability that a page opens at, with the reason and the marks.

    No model is fitted: curves that are still being computed are left out, and γ is chosen without them.

    Parameters
    ----------
    dataset : Dataset
        Data that the model uses.
    model : PlausibilityModel
    beta : float, optional
        Exponent of dependence by held-out annotations, for counts and the ordinal truth.
    truth : TruthCurve, optional
        Certainty against gold; decides from 100 cases.
    readers : HeldOutCurve, optional
    prior : VotePrior, optional
        Learned prior of the counts of the model, which then open at γ = 1 in any case.

    Raises
    ------
    InputError
        β is not a positive number.
    """
    if beta is not None and not (np.isfinite(beta) and beta > 0):
        raise InputError(f"The exponent β must be above 0; got {beta}.", "Use a positive number.")
    if prior is not None:
        value, source, reason = 1.0, "prior", f"γ = 1: each annotation counts once. {prior.sentence()}"
    elif truth is not None and truth.n_cases >= LEAST_GOLD:
        value, source, reason = truth.best, "gold", _by_gold(truth)
    elif isinstance(model, DirichletCounts | OrdinalTruth) and beta is not None:
        value, source, reason = min(1.0, beta), "beta", _by_beta(dataset, beta)
    else:
        value, source, reason = model.default_reliability, "default", _by_default(model)
    if source not in ("gold", "prior") and truth is not None:
        reason += (
            f" Gold is known for {plural(truth.n_cases, 'case')}; setting γ from gold requires at least "
            f"{LEAST_GOLD} cases."
        )
    marks = [mark for mark in (_gold(truth), _readers(model, readers), _beta(dataset, model, beta)) if mark]
    scale = method_named(PlausibilityMethod, model.name).reliability
    published = "" if scale is None else scale.published
    name, sentence = (
        ("published", published)
        if published
        else ("default", f"Default: {_g(model.default_reliability)}. No published value exists.")
    )
    marks.append(ReliabilityAnchor(name, model.default_reliability, None, None, sentence))
    alpha, sentence = _prior(model, value, readers, prior)
    return DefaultReliability(float(value), source, reason, tuple(marks), alpha, sentence)


def _g(value: float) -> str:
    """Format a reliability with two significant digits, three above 10."""
    return significant(value, 3 if value >= 10 else 2)


def _reach(curve: TruthCurve | HeldOutCurve) -> str:
    return reach(curve.low, curve.high, curve.open_ends, _g)


def _by_gold(truth: TruthCurve) -> str:
    loss, n = number(truth.cross_validated, 3), plural(truth.n_cases, "case")
    ends = {
        truth.reliability[0]: (" This is the lowest γ tested."),
        truth.reliability[-1]: " This is the highest γ tested.",
    }
    return (
        f"γ = {_g(truth.best)} has the smallest log loss ({loss}, cross-validated) for {truth.scored} on {n} with "
        f"gold.{ends.get(truth.best, '')}"
    )


def _by_beta(dataset: Dataset, beta: float) -> str:
    if beta >= 1:
        return "γ = β = 1 because held-out annotations show no sign of shared mistakes."
    n = round(float(np.median(np.diff(dataset.case_ptr))))
    so = f". A case with {n} annotations counts as if it had about {_g(beta * n)}." if n > 1 else "."
    return f"γ = β = {_g(beta)} because raters may make the same mistakes{so}"


def _by_default(model: PlausibilityModel) -> str:
    default = _g(model.default_reliability)
    if isinstance(model, DirichletCounts | OrdinalTruth):
        return f"γ = {default} (default). It is unknown to what extent raters share mistakes (β)."
    if isinstance(model, GaussianScores):
        return f"γ = {default} (default). Scores for the same case are treated as independent."
    return f"γ = {default} (default). It can be calibrated only with gold."


def _gold(truth: TruthCurve | None) -> ReliabilityAnchor | None:
    if truth is None:
        return None
    few = "" if truth.n_cases >= LEAST_GOLD else " There are too few cases to set γ from gold."
    sentence = (
        f"Gold: certainty fits the truth best at γ = {_g(truth.best)} ({_reach(truth)}), n = "
        f"{plural(truth.n_cases, 'case')}.{few}"
    )
    return ReliabilityAnchor("gold", truth.best, truth.low, truth.high, sentence, truth.open_ends)


def _readers(model: PlausibilityModel, readers: HeldOutCurve | None) -> ReliabilityAnchor | None:
    """Describe the best γ by held-out readers; None for counts and PrIRN, which determine γ/α or ε/γ, and at an end."""
    if readers is None or readers.at_end or isinstance(model, DirichletCounts | OrdinalTruth | PrIRN):
        return None
    unsaid = "close the panel is to the truth" if isinstance(model, GaussianScores) else "certain the leading class is"
    sentence = (
        f"Raters: another rater's annotations are predicted best at γ = {_g(readers.best)} ({_reach(readers)}). This γ "
        f"does not show how {unsaid}."
    )
    return ReliabilityAnchor("readers", readers.best, readers.low, readers.high, sentence, readers.open_ends)


def _beta(dataset: Dataset, model: PlausibilityModel, beta: float | None) -> ReliabilityAnchor | None:
    if beta is None or not isinstance(model, DirichletCounts | OrdinalTruth):
        return None
    return ReliabilityAnchor("beta", min(1.0, beta), None, None, f"Dependence: {_by_beta(dataset, beta)}")


def _prior(
    model: PlausibilityModel, value: float, readers: HeldOutCurve | None, prior: VotePrior | None
) -> tuple[float | None, str]:
    if not isinstance(model, DirichletCounts) or readers is None or readers.at_end:
        return None, ""
    ratio = readers.best / model.alpha
    alpha = float(value / ratio)
    if prior is not None and prior.learned:
        return alpha, (
            f"The learned prior is α = {significant(model.alpha, 2)} per class at γ = 1. Held-out raters suggest "
            f"α = {significant(alpha, 2)}. Both estimate α/γ, which depends on how often raters of a case agree."
        )
    return alpha, (
        f"With γ = {_g(value)}, prior α = {_g(alpha)} best predicts another rater's annotations (γ/α = {_g(ratio)}). "
        "α is the prior of each class, not a reliability."
    )
