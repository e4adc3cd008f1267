"""Compute the slides of the guided tour from the samples: what each step claims, and if that is true for the data.

Running it again writes the same file: ``python -m sample_data.make_tour``.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from core.agreement.applicable_coefficients import coefficients_for
from core.agreement.by_rater import by_rater
from core.agreement.intervals import Coefficient
from core.analysis_settings import compute_settings
from core.annotations.dataset import RISK_LEVELS, Dataset
from core.certainty.top_sets import CertaintyResult
from core.errors import NotApplicableError
from core.evaluation.choice import leaders
from core.evaluation.metrics import Evaluation
from core.evaluation.predictions import read_predictions
from core.evaluation.sweep_table import SweepTable, reliability_sweep
from core.extremes import clearly_apart
from core.ingest.formats.tables import open_table
from core.ingest.samples import read_sample, sample_predictions
from core.machines.alternative_test import EPSILON, AlternativeTest, alternative_test
from core.machines.equivalent_readers import EquivalentReaders, equivalent_readers
from core.machines.joined import joined, of_predictions
from core.machines.sentences import outcome
from core.models.catalogue import fit_request
from core.models.majority import MajorityVote
from core.models.result import RaterModelFit
from core.plausibility.plackett_luce.gibbs import METHOD as PLACKETT_LUCE
from core.plausibility.protocol import PlausibilityModel
from core.raters.accuracy_threshold import JudgedAccuracy, judge_accuracy
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import default_request
from core.raters.plan_world import counts_of
from core.raters.truth_draws import judging_draws
from core.reducers.all_draws import WholeCases
from core.reducers.protocol import reduce_draws
from core.story import FILE, METRIC, SAMPLE, STEPS, Claim, Mark, Slide
from core.text import ROUNDING, exact, number, percent, percent_with_interval, plural, probability
from core.thresholds import CLEARLY_AHEAD, DISAGREE_BELOW, NUMBERS_DIFFER, TWO_TRUTHS, UNCERTAIN_BELOW

SAMPLING = {"n_draws": 1000, "seed": 0}
_N_BINS = 10
_MOST_CLASSES = 5


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


def write() -> None:
    """Compute all slides and write them to the file that ships."""
    rows = [asdict(found) | {"content_digest": digest} for digest, found in compute()]
    for row in rows:
        row["marks"] = [{name: _rounded(value) for name, value in mark.items()} for mark in row["marks"]]
    FILE.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def _rounded(value: object) -> object:
    return round(value, 6) if isinstance(value, float) else value


def compute() -> list[tuple[str, Slide]]:
    """Compute the slides of all steps, each with the digest of its annotations."""
    dataset = read_sample(SAMPLE).dataset.coded
    view = dataset.as_classes()[0]
    predictions = read_predictions(open_table(sample_predictions(SAMPLE)), dataset, SAMPLE)
    swept = reliability_sweep(
        PLACKETT_LUCE.make(), dataset, PLACKETT_LUCE.reliability.sweep, classifiers=predictions, **SAMPLING
    )
    gamma = PLACKETT_LUCE.reliability.default
    certainty = swept.certainty[swept.reliabilities.index(gamma)]
    slides = [
        _disagree(view), _hidden(view, certainty, gamma), _weighs(dataset, view), _torn(dataset, certainty, gamma),
        _looked_better(swept, gamma, dataset.n_cases), _flips(swept, dataset.n_cases),
    ]  # fmt: skip
    return [*((dataset.content_digest, one) for one in slides), _stands_in()]


def _disagree(view: Dataset) -> Slide:
    overall = coefficients_for(view).coefficients[0]
    each = by_rater(view).each
    everybody = ("All raters", overall, True)
    rows = [everybody, *((name, one, False) for name, one in zip(view.raters, each, strict=True))]
    marks = [
        Mark(name, one.value, one.ci_low, one.ci_high, label=percent(one.value), strong=strong)
        for name, one, strong in rows
        if one.value is not None
    ]
    return Slide(
        disagree(overall),
        f"Two raters of the same case agree on the first diagnosis in only {percent(overall.value)} of pairs",
        "intervals",
        (marks[0], *_sorted(marks[1:])),
        "agreement with the other raters",
        f"First choices · {plural(overall.n_cases, 'case')}, {plural(overall.n_annotations, 'annotation')} · "
        "dot: share of pairs that agree, line: 95% interval",
    )


def _hidden(view: Dataset, certainty: CertaintyResult, gamma: float) -> Slide:
    clear = MajorityVote().fit(view).top_class() >= 0
    first = certainty.certainty[clear, 0]
    n_below = int((first < UNCERTAIN_BELOW).sum())
    edges = np.linspace(0, 1, _N_BINS + 1)
    counts = np.bincount(np.minimum((first * _N_BINS + 1e-9).astype(int), _N_BINS - 1), minlength=_N_BINS)
    marks = [
        Mark(f"{low:.0%} to {high:.0%}", int(n), at=float((low + high) / 2), label=f"{n:,}",
             strong=bool(high <= UNCERTAIN_BELOW + 1e-9))
        for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)
        if n
    ]  # fmt: skip
    return Slide(
        hidden(view, certainty),
        f"The majority vote gives {int(clear.sum()):,} labels and hides that {n_below:,} of them are uncertain",
        "columns",
        tuple(marks),
        "certainty of the leading class",
        f"{PLACKETT_LUCE.title}, γ = {exact(gamma)} · {plural(first.size, 'case')} with a majority · orange: certainty "
        f"below {percent(UNCERTAIN_BELOW)}",
    )


def _weighs(dataset: Dataset, view: Dataset) -> Slide:
    settings = compute_settings(dataset)
    panel = panel_of(view, fit_request(default_request(view), view).fit)
    averaged = settings.average(view)
    draws = None if averaged is None else judging_draws(averaged, view)
    judged = judge_accuracy(panel, averaged=None if averaged is None else averaged.fit, draws=draws)
    found = judged.accuracy
    most, least = int(np.nanargmax(found.value)), int(np.nanargmin(found.value))
    n_cases = int((np.diff(view.case_ptr) > 0).sum())
    marks = [
        Mark(name, *(float(part[rater]) for part in (found.value, found.low, found.high)),
             label=percent(found.value[rater]), strong=rater == least)
        for rater, name in enumerate(view.raters)
        if np.isfinite(found.value[rater])
    ]  # fmt: skip
    return Slide(
        weighs(view, settings.rater_model.title, settings.weigh(view), judged),
        f"From annotations alone: {view.raters[most]} is correct on {percent(found.value[most])} of cases, "
        f"{view.raters[least]} on {percent(found.value[least])}",
        "intervals",
        _sorted(marks),
        "accuracy",
        f"{settings.rater_model.title} · {plural(n_cases, 'case')}, {view.n_annotations:,} first choices · dot: "
        "estimate, line: 95% interval",
    )


def _torn(dataset: Dataset, certainty: CertaintyResult, gamma: float) -> Slide:
    model = PLACKETT_LUCE.make()
    torn = torn_case(model, dataset, certainty, reliability=gamma, **SAMPLING)
    case = dataset.case_index(torn.case_id)
    (whole,) = reduce_draws(model, dataset, [WholeCases()], reliability=gamma, **SAMPLING, cases=range(case, case + 1))
    draws = whole[case]
    leading = np.bincount(draws.top[:, 0], minlength=len(draws.classes) + 1)[: len(draws.classes)]
    order = [k for k in np.argsort(-leading, kind="stable")[:_MOST_CLASSES].tolist() if leading[k]]
    names, shares = [dataset.classes[draws.classes[k]] for k in order], (leading[order] / len(draws.top)).tolist()
    marks = [
        Mark(name, share, label=label, strong=name in torn.classes)
        for name, share, label in zip(names, shares, percents(shares), strict=True)
    ]
    (one, other), (more, less) = torn.classes, percents(torn.shares)
    return Slide(
        two_truths(torn),
        f"Case {torn.case_id} has two plausible truths: {one} ({more}) and {other} ({less})",
        "bars",
        tuple(marks),
        "share of draws in which the class leads",
        f"{PLACKETT_LUCE.title}, γ = {exact(gamma)} · {plural(len(dataset.annotations_of(case)), 'annotation')} of the "
        "case",
        torn.case_id,
    )


def _looked_better(swept: SweepTable, gamma: float, n_cases: int) -> Slide:
    evaluation = swept.evaluation[swept.reliabilities.index(gamma)]
    values = {name: evaluation.values[name][METRIC] for name in evaluation.classifiers}
    name = max(values, key=lambda one: values[one].point - values[one].mean)
    found = values[name]
    marks = [
        Mark(each, one.mean, one.ci_low, one.ci_high, one.point, label=percent(one.mean), strong=each == name)
        for each, one in values.items()
    ]
    return Slide(
        looked_better(evaluation, gamma),
        f"Classifier {name} reaches {percent(found.point)} against one label per case, but {percent(found.mean)} over "
        "plausible truths",
        "intervals",
        _sorted(marks),
        "top-3 accuracy",
        f"{PLACKETT_LUCE.title}, γ = {exact(gamma)} · {plural(n_cases, 'case')} · dot and line: mean and 95% of draws, "
        "×: against one label per case",
    )


def _flips(swept: SweepTable, n_cases: int) -> Slide:
    first, *_, last = leaders(swept.evaluation, METRIC)
    marks = [
        Mark(name, found.mean, at=float(gamma), strong=name in (first.name, last.name))
        for name in swept.evaluation[0].classifiers
        for gamma, found in zip(
            swept.reliabilities, (one.values[name][METRIC] for one in swept.evaluation), strict=True
        )
    ]
    low, high = exact(swept.reliabilities[0]), exact(swept.reliabilities[-1])
    return Slide(
        flips(swept.reliabilities, swept.evaluation),
        f"Classifier {first.name} leads at γ = {low}, {last.name} at γ = {high}: choose γ before the classifier",
        "lines",
        tuple(marks),
        "top-3 accuracy",
        f"{PLACKETT_LUCE.title} · {plural(n_cases, 'case')} · line: mean over draws at each reliability γ",
    )


def _stands_in() -> tuple[str, Slide]:
    sample = STEPS[-1].data
    reading = read_sample(sample)
    dataset, machines = reading.dataset, tuple(name for name, *_ in reading.machines)
    people = tuple(name for name in dataset.raters if name not in machines)
    given = {}
    for one in read_predictions(open_table(sample_predictions(sample)), dataset, sample):
        given[one.name] = one.probabilities(dataset.n_classes)
        dataset, names, _ = joined(dataset, of_predictions(dataset, one))
        machines += names
    codes = dict(zip(dataset.raters, dataset.coded.raters, strict=True))
    panel = tuple(codes[name] for name in people)
    test = alternative_test(dataset.coded, tuple(codes[name] for name in machines), people=panel)
    worth = [
        equivalent_readers(dataset.coded, codes[name], panel, score="log", probability=probability)
        for name, probability in given.items()
    ]
    tested = sorted((one for one in test.machines if one.raters), key=lambda one: -one.n_rejected)
    judged = {one.machine for one in worth}
    compared = [one for one in tested if one.machine in judged]
    best, worst = max(compared, key=lambda one: one.n_rejected), min(compared, key=lambda one: one.n_rejected)
    marks = [
        Mark(
            one.machine,
            one.n_rejected,
            label=f"{one.n_rejected:,} of {len(one.raters):,}",
            strong=outcome(one) == "fails",
            open=outcome(one) == "open",
        )
        for one in tested
    ]
    n_cases = max(one.n_cases for one in tested)
    found = Slide(
        stands_in(test, worth),
        f"{best.machine} does as well as {best.n_rejected:,} of {plural(len(best.raters), 'rater')}, "
        f"{worst.machine} as well as {worst.n_rejected:,}",
        "bars",
        tuple(marks),
        "raters as whom the AI rater does as well",
        f"Alternative annotator test, ε = {exact(EPSILON)} · {plural(n_cases, 'case')}, {plural(len(panel), 'rater')} "
        "· green: passes, grey: inconclusive, orange: fails",
    )
    return dataset.content_digest, found


def _sorted(marks: Iterable[Mark]) -> tuple[Mark, ...]:
    """Sort rows by value, the highest first."""
    return tuple(sorted(marks, key=lambda mark: (-mark.value, mark.name)))


def disagree(agreement: Coefficient) -> Claim:
    """Return the claim of step one, from percent agreement."""
    low, high = agreement.ci_low, agreement.ci_high
    if agreement.value is None or low is None or high is None:
        return Claim("Cannot determine how often two raters agree", False)
    words = (
        f"Two raters of the same case put the same diagnosis first {percent(agreement.value)} of the time "
        f"({number(100 * low, 0)}% to {number(100 * high, 0)}%). Their annotations cannot all be correct"
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
    (one, other), (more, less) = torn.classes, percents(torn.shares)
    words = f"{one} is the leading class in {more} of draws, {other} in {less}"
    if torn.risk is not None and torn.risk[0] != torn.risk[1]:
        words += f". The first class has {torn.risk[0]} risk, the second {torn.risk[1]} risk"
    words += ". A single label per case would hide one of them"
    return Claim(words, torn.shares[1] >= TWO_TRUTHS)


def percents(shares: Sequence[float]) -> list[str]:
    """Return shares of one whole in per cent, largest first, which do not add up to more than 100%."""
    left, said = 1.0, []
    for share in shares:
        said.append(percent(min(share, left)))
        left -= round(min(share, left) + ROUNDING, 2)
    return said


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
        f"If annotations count for little (γ = {exact(reliabilities[0])}), {first.name} leads. If they count for a "
        f"lot (γ = {exact(reliabilities[-1])}), {last.name} leads. Each leads with {_at_least(first.p, last.p)} "
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
        f"{best.machine} is not worse than {best.n_rejected:,} of {plural(len(best.raters), 'rater')}; "
        f"{worst.machine} is not worse than {worst.n_rejected:,} of {len(worst.raters):,} (ε = {exact(test.epsilon)}). "
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


if __name__ == "__main__":
    write()
