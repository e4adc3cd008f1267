"""Fits of rater models, which several parts depend on, and their finding in a sentence."""

from dataclasses import dataclass

import numpy as np

from ...analysis_settings import rater_request
from ...annotations.dataset import Dataset
from ...extremes import clearly_least, clearly_most
from ...figures.labels import NOT_CONVERGED
from ...models.average import METHOD as AVERAGE
from ...models.catalogue import Fitted, fit_request
from ...models.comparison import models_agree, vote_changes
from ...models.majority import MajorityVote
from ...models.restarts import Restarts
from ...models.result import RaterModelFit
from ...models.tempering import PREVALENCE_NOTE, dependence_note, doubt_note
from ...models.unanimous import unanimous_cases
from ...raters.accuracy_threshold import why_not
from ...text import number, percent_with_interval, plural, shorten
from ..blocks import Block, Name, Span, Strong, Words


@dataclass(frozen=True, slots=True, eq=False)
class FittedModels:
    """Fits of rater models to one dataset.

    Attributes
    ----------
    fitted : tuple of Fitted
    shown : Fitted
        Model in detail.
    vote : RaterModelFit
        Majority vote of the same classes as that model.
    """

    fitted: tuple[Fitted, ...]
    shown: Fitted
    vote: RaterModelFit

    @property
    def same(self) -> list[Fitted]:
        """Models of the same classes as the one in detail."""
        return [one for one in self.fitted if one.fit.classes == self.shown.fit.classes]

    @property
    def answered(self) -> np.ndarray:
        """Cases with annotations, bool, shape (n_cases,)."""
        return np.diff(self.shown.dataset.case_ptr) > 0


def fit_models(dataset: Dataset, options) -> FittedModels:
    """Fit the models of the options.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, for which some rater model is possible.
    options : ModelOptions
    """
    requests = options.requests or (rater_request(None, dataset),)
    return of_fits([fit_request(one, dataset) for one in requests if one is not None])


def of_fits(fitted: list[Fitted]) -> FittedModels:
    """Return fits with the majority vote, the first of them in detail.

    Parameters
    ----------
    fitted : list of Fitted
    """
    return FittedModels(tuple(fitted), fitted[0], MajorityVote().fit(fitted[0].dataset))


def label(one: Fitted) -> str:
    """Return the model's title, with a remark if it has not converged."""
    return one.title if one.fit.converged else f"{one.title}{NOT_CONVERGED}"


def headline(models: FittedModels) -> tuple[str, str]:
    """Return the most important sentence, and a second one; the first states if annotations are inconclusive.

    Several models are compared with each other; one model, or one that has not converged, with the majority vote.
    """
    shown = models.shown
    changes = vote_changes(shown.fit, models.vote, models.answered)
    converged = [one.fit for one in models.same if one.request.method.is_truth and one.fit.converged]
    if shown.request.way == "vote":
        sentence = f"{shown.title} chooses the majority class for every case"
    elif len(converged) < 2 or not shown.fit.converged:
        sentence = f"{changes.words} ({label(shown)})"
    else:
        sentence = models_agree(converged, models.answered).words
    known = shown.fit.settings.get("use_gold") or not shown.request.method.is_truth
    if not known and (changes.n_changed or changes.n_decided) and (why := why_not(shown.dataset)):
        return f"Cannot determine the correct class: {why}", f"{sentence}."
    return sentence, ""


def remarks(shown: Fitted) -> list[Block]:
    """Return cautions on the model in detail, serious ones first."""
    blocks: list[Block] = []
    if not shown.request.method.is_truth:
        text = (
            " is a baseline without parameters, for comparison with other models. Do not use its classes as the truth."
        )
        blocks.append(Words((Name(shown.title), text), "info"))
    diagnostics = None if shown.bayes is None else shown.bayes.diagnostics
    grave = shown.bayes is None and shown.request.method is not AVERAGE and shown.request.way != "vote"
    fit = shown.fit
    usual = {*dependence_note(shown.dataset, fit.beta), *doubt_note(fit.settings.get("doubt", 0.0)), PREVALENCE_NOTE}
    notes = {
        note: (grave and note not in usual) or (diagnostics is not None and note == diagnostics.words)
        for note in fit.notes
    }
    if shown.request.method.is_truth and (why := unanimous_cases(shown.dataset).why_not(shown.fit)):
        notes = {f"{shown.title} is unreliable here. {why}": True} | notes
    heavy, light = (" ".join(note for note, grave in notes.items() if grave == which) for which in (True, False))
    blocks += [Words((Name(heavy),), "warning")] if heavy else []
    return [*blocks, Words((Name(light),), "note")] if light else blocks


def restarts_in_words(fit: RaterModelFit, found: Restarts) -> Words:
    """Return whether other starting points lead to another fit, in words.

    Parameters
    ----------
    fit : RaterModelFit
        Fit from the start by the votes.
    found : Restarts
    """
    n = f"{len(found.objectives):,} restarts"
    if not found.differs:
        return Words(f"None of {n} found a better fit than the start from the majority vote.", "note")
    n_best = sum(abs(value - max(found.objectives)) < 1e-4 * (1 + abs(value)) for value in found.objectives)
    return Words(
        f"The likelihood has more than one mode. The best fit in {n} (reached {plural(n_best, 'time')}) has "
        f"log-likelihood {number(found.best.log_likelihood, 3)}; the start from the majority vote has "
        f"{number(fit.log_likelihood, 3)}. This better fit changes the most likely class of "
        f"{plural(found.n_changed, 'case')}. "
        "Results below use the start from the majority vote unless you choose the better fit.",
        "warning",
        icon="alt_route",
    )


def most_and_least_accurate(raters, accuracy) -> Words | None:
    """Return who is clearly most and least accurate, as on the Raters page; None if nobody is.

    Parameters
    ----------
    raters : sequence of str
    accuracy : Rates
        Accuracies of the raters, with their intervals.
    """
    ends = accuracy.value, accuracy.low, accuracy.high
    if np.isfinite(accuracy.value).sum() < 2:
        return None
    spans: list[Span] = []
    for how, rater in (("most", clearly_most(*ends)), ("least", clearly_least(*ends))):
        if rater is not None:
            how = f"; {how}" if spans else how.capitalize()
            value, low, high = (float(part[rater]) for part in ends)
            words = percent_with_interval(value, low, high)
            spans += [f"{how} accurate: ", Strong(Name(shorten(raters[rater], 40))), f", {words}"]
    return Words((*spans, ", as on the Raters page.")) if spans else None
