"""Guided tour of seven steps through two samples; each step makes a claim that is computed from the data when shown.

Every claim has a flag that shows if it is true for the data, so that the tour cannot become wrong when they change.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .agreement.intervals import Coefficient
from .annotations.dataset import RISK_LEVELS, Dataset
from .certainty.top_sets import CertaintyResult
from .errors import NotApplicableError
from .evaluation.choice import leaders
from .evaluation.metrics import Evaluation
from .extremes import clearly_apart
from .machines.alternative_test import AlternativeTest
from .machines.equivalent_readers import EquivalentReaders
from .machines.sentences import outcome
from .models.majority import MajorityVote
from .models.result import RaterModelFit
from .plausibility.protocol import PlausibilityModel
from .raters.accuracy_threshold import JudgedAccuracy
from .raters.plan_world import counts_of
from .reducers.all_draws import WholeCases
from .reducers.protocol import reduce_draws
from .text import exact, number, percent, percent_with_interval, plural, probability
from .thresholds import CLEARLY_AHEAD, DISAGREE_BELOW, NUMBERS_DIFFER, TWO_TRUTHS, UNCERTAIN_BELOW

SAMPLE = "skin"
METRIC = "top3_accuracy"


@dataclass(frozen=True, slots=True)
class StoryStep:
    """Step of the tour: its title, its page, one thing to try there, and its sample."""

    title: str
    page: str
    attempt: str
    data: str = SAMPLE


@dataclass(frozen=True, slots=True)
class Claim:
    """Claim of a step on the data, in words, and whether it is true."""

    words: str
    holds: bool


@dataclass(frozen=True, slots=True)
class Torn:
    """Case between two truths.

    Attributes
    ----------
    case_id : str
    classes : tuple of str
        Two classes that lead most often in the draws.
    shares : tuple of float
        Shares of draws in which they lead.
    risk : tuple of str or None
        Risk levels of the classes; None if there are none.
    """

    case_id: str
    classes: tuple[str, str]
    shares: tuple[float, float]
    risk: tuple[str, str] | None


STEPS = (
    StoryStep(
        "Raters disagree",
        "agreement",
        "Under “Pairwise agreement”, click the palest cell to see the cases on which the two raters differ.",
    ),
    StoryStep(
        "The majority vote hides disagreement",
        "cases",
        "Click a case at the top of the worklist, and compare the annotations with the plausible classes.",
    ),
    StoryStep(
        "A model weights the raters",
        "models",
        "Open the Raters page, and compare the accuracies and the widths of their intervals.",
    ),
    StoryStep(
        "This case has two plausible truths",
        "cases",
        "Move the slider: how high must γ be before only one class remains plausible?",
    ),
    StoryStep(
        "The classifier looked better than it is",
        "reliability",
        "Follow its line: at lower γ it falls further below its cross (its score against one label per case).",
    ),
    StoryStep(
        "The ranking of classifiers depends on γ",
        "reliability",
        "Choose top-1 accuracy above the figure: for first guesses, one classifier leads at every γ.",
    ),
    StoryStep(
        "One AI model can replace a rater, another cannot",
        "ai_rater",
        "Open “Shared errors”: two versions of one model make the same mistakes, so they are worth less than two "
        "raters.",
        "replies",
    ),
)


def disagree(agreement: Coefficient) -> Claim:
    """Return the claim of step one, from percent agreement."""
    low, high = agreement.ci_low, agreement.ci_high
    if agreement.value is None or low is None or high is None:
        return Claim("Cannot determine how often two raters agree", False)
    words = (
        f"Two raters of the same case put the same diagnosis first in {percent(agreement.value)} of pairs "
        f"({number(100 * low, 0)} to {number(100 * high, 0)}). Their annotations cannot all be correct"
    )
    return Claim(words, high < DISAGREE_BELOW)


def hidden(dataset: Dataset, certainty: CertaintyResult) -> Claim:
    """Return the claim of step two, from the vote on first choices and the certainty of all cases.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    certainty : CertaintyResult
        Certainty of these data.
    """
    clear = MajorityVote().fit(dataset).top_class() >= 0
    doubtful = int((clear & (certainty.certainty[:, 0] < UNCERTAIN_BELOW)).sum())
    words = (
        f"Majority vote gives one label to {int(clear.sum()):,} of {plural(dataset.n_cases, 'case')}, which looks "
        f"final. But {doubtful:,} of these labels have certainty below {percent(UNCERTAIN_BELOW)}, and the vote "
        "does not show which"
    )
    return Claim(words, bool(doubtful > 0.1 * clear.sum()))


def weighs(dataset: Dataset, title: str, fit: RaterModelFit, judged: JudgedAccuracy) -> Claim:
    """Return the claim of step three, from the rater model of the settings and the raters' accuracy.

    Parameters
    ----------
    dataset : Dataset
    title : str
        Title of the rater model.
    fit : RaterModelFit
        Fit of the rater model.
    judged : JudgedAccuracy
        Accuracies of the dataset's raters.
    """
    found = judged.accuracy
    if judged.why or judged.why_no_order or not np.isfinite(found.value).any():
        return Claim("Cannot determine which rater is more accurate", False)
    most, least = int(np.nanargmax(found.value)), int(np.nanargmin(found.value))

    def said(rater: int) -> str:
        share = percent_with_interval(found.value[rater], found.low[rater], found.high[rater])
        return f"{dataset.raters[rater]} is correct on {share}"

    n, same = _all_but_one(dataset)
    p = fit.class_probability[same, MajorityVote().fit(dataset).top_class()[same]]
    words = f"From the annotations alone, the model estimates that {said(most)} of cases and {said(least)}"
    if not p.size:
        return Claim(words, False)
    words += (
        f". In {plural(p.size, 'case')}, {n - 1:,} of {n:,} annotations agree, but P(correct) of their class ranges "
        f"from {percent(p.min())} to {percent(p.max())} ({title})"
    )
    apart = clearly_apart(found.value, found.low, found.high)
    return Claim(words, apart and bool(p.max() - p.min() >= NUMBERS_DIFFER))


def _all_but_one(dataset: Dataset) -> tuple[int, np.ndarray]:
    """Find cases on which all annotations but one agree: the most frequent number of annotations, and its cases."""
    n = np.diff(dataset.case_ptr)
    same = (n > 2) & (counts_of(dataset).max(axis=1, initial=0) == n - 1)
    usual = int(np.bincount(n[same], minlength=1).argmax())
    return usual, np.flatnonzero(same & (n == usual))


def torn_case(
    model: PlausibilityModel,
    dataset: Dataset,
    certainty: CertaintyResult,
    *,
    reliability: float,
    n_draws: int,
    seed: int,
) -> Torn:
    """Return the case to show, among those with two classes that lead about equally often.

    The first criterion is how far the two differ in risk, because there the uncertainty matters for the decision; then
    the number of annotations, because a split of many is not an accident; then how close to even the two are.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
    certainty : CertaintyResult
        Certainty at the same reliability, draws and seed.
    reliability : float
        Reliability γ: how much each annotation counts, > 0.
    n_draws, seed : int
    """
    best, best_rank = None, (-1, 0, 0.0)
    for case in np.flatnonzero(certainty.certainty[:, 0] < 1 - TWO_TRUTHS).tolist():
        settings: dict[str, Any] = {"reliability": reliability, "n_draws": n_draws, "seed": seed}
        (whole,) = reduce_draws(model, dataset, [WholeCases()], **settings, cases=range(case, case + 1))
        draws = whole[int(case)]
        named = draws.top[:, 0][draws.top[:, 0] < len(draws.classes)]
        count = np.bincount(named, minlength=2)
        first, second = np.argsort(-count, kind="stable")[:2]
        codes = int(draws.classes[first]), int(draws.classes[second])
        if count[second] < TWO_TRUTHS * n_draws:
            continue
        risk, gap = None, 0
        if dataset.class_risk is not None and (dataset.class_risk >= 0).all():
            risk = RISK_LEVELS[dataset.class_risk[codes[0]]], RISK_LEVELS[dataset.class_risk[codes[1]]]
            gap = abs(int(dataset.class_risk[codes[0]]) - int(dataset.class_risk[codes[1]]))
        rank = (gap, len(dataset.annotations_of(case)), float(count[second] / n_draws))
        if rank > best_rank:
            shares = (float(count[first] / n_draws), float(count[second] / n_draws))
            best_rank = rank
            best = Torn(dataset.cases[case], (dataset.classes[codes[0]], dataset.classes[codes[1]]), shares, risk)
    if best is None:
        raise NotApplicableError("Could not show an example: no case has two plausible classes.")
    return best


def two_truths(torn: Torn) -> Claim:
    """Return the claim of step four, from the case with the closest two classes."""
    (one, other), (more, less) = torn.classes, torn.shares
    words = f"{one} is the leading class in {percent(more)} of draws, {other} in {percent(less)}"
    if torn.risk is not None and torn.risk[0] != torn.risk[1]:
        words += f". The first class has {torn.risk[0]} risk, the second {torn.risk[1]} risk"
    words += ". One label per case would hide one of them"
    return Claim(words, less >= TWO_TRUTHS)


def looked_better(evaluation: Evaluation, reliability: float) -> Claim:
    """Return the claim of step five: the classifier that loses most at the default γ against its score by one label."""
    values = {name: evaluation.values[name][METRIC] for name in evaluation.classifiers}
    name = max(values, key=lambda one: values[one].point - values[one].mean)
    found = values[name]
    words = (
        f"Judged against one label per case, classifier {name} has the true class among its first three guesses "
        f"in {percent(found.point)} of cases. Over draws (γ = {exact(reliability)}), the share is "
        f"{percent_with_interval(found.mean, found.ci_low, found.ci_high)}"
    )
    return Claim(words, found.point > found.ci_high)


def flips(reliabilities: Sequence[float], evaluations: Sequence[Evaluation]) -> Claim:
    """Return the claim of step six, from classifiers at the lowest and the highest γ, and the metric that agrees."""
    first, *_, last = leaders(evaluations, METRIC)
    words = (
        f"If annotations count little (γ = {exact(reliabilities[0])}), {first.name} leads. If they count much (γ = "
        f"{exact(reliabilities[-1])}), {last.name} leads. Each leads with {_at_least(first.p, last.p)} "
        "probability. Choose γ before you choose a classifier"
    )
    sure = first.p is not None and last.p is not None and min(first.p, last.p) >= CLEARLY_AHEAD
    same = {leader.name for leader in leaders(evaluations, "top1_accuracy")}
    return Claim(words, first.name != last.name and sure and len(same) == 1)


def stands_in(test: AlternativeTest, by_probabilities: Sequence[EquivalentReaders]) -> Claim:
    """Return the claim of step seven, from the test of all AI raters, and the worth of their probabilities.

    Parameters
    ----------
    test : AlternativeTest
    by_probabilities : sequence of EquivalentReaders
        Worth by log score.
    """
    known = {one.machine: one for one in by_probabilities}
    tested = [one for one in test.machines if one.raters and one.machine in known]
    if len(tested) < 2:
        return Claim("Cannot determine which AI model can replace a rater", False)
    best, worst = (end(tested, key=lambda one: one.n_rejected) for end in (max, min))
    worth = [known[one.machine].words() for one in (best, worst)]
    words = (
        f"{best.machine} is not worse than {best.n_rejected:,} of {plural(len(best.raters), 'rater')}; for "
        f"{worst.machine}, it is {worst.n_rejected:,} of {len(worst.raters):,} (ε = {exact(test.epsilon)}). "
        f"Judged by their probabilities, {best.machine} is worth {worth[0]} raters and {worst.machine} "
        f"{worth[1]}; {worst.machine} is confident even when it is wrong"
    )
    holds = outcome(best) == "passes" and outcome(worst) == "fails" and known[worst.machine].k_high == -np.inf
    return Claim(words, holds and known[best.machine].k > 0)


def _at_least(*probabilities: float | None) -> str:
    least = min(0.0 if one is None else one for one in probabilities)
    said = probability(least)
    floor = math.floor(100 * least + 1e-9) / 100  # never more than it is
    return said if said.startswith("over") else f"at least {probability(floor)}"
