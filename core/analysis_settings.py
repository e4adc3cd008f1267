"""One choice of settings per dataset: the plausibility model with its prior, γ, and the model that weights raters.

Every page, the guided story, the report and the command line take their defaults from `decide`, so that no two of them
answer one question by different models. What `decide` needs (held-out scores of rater models, certainty against gold)
takes a while: a page computes it in the background and passes what it has, and the settings say what may still change.
`compute_settings` waits for all of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeGuard

from .annotations.dataset import Dataset
from .certainty.default_reliability import DefaultReliability, default_reliability
from .certainty.held_out_readers import HeldOutCurve
from .certainty.truth_curve import TruthCurve, truth_curve
from .errors import PluralityError
from .methods import as_taken, can_use, method_named
from .models.average import METHOD as AVERAGE
from .models.average import AveragedModels, average_models
from .models.catalogue import Request, fit_request, request
from .models.choose import Choice, choose
from .models.dawid_skene import METHOD as DAWID_SKENE
from .models.gold import gold_cases
from .models.ordinal import METHOD as ORDINAL
from .models.rater_methods import any_rater_model
from .models.result import RaterModelFit
from .models.vote_prior import VotePrior
from .plausibility.dirichlet import DirichletCounts
from .plausibility.learned_counts import learned_counts, learned_prior
from .plausibility.ordinal_truth import OrdinalTruth
from .plausibility.protocol import PlausibilityMethod, PlausibilityModel, offered
from .runtime.chunks import CancelToken

SEED = 0
MOST_ANNOTATIONS = 1_000_000  # above, rater models are not scored
MOST_TRUTH_CASES = 5_000  # above, certainty is not compared with gold
MOST_TRUSTED_CASES = 500  # the same for a model with a reliability per rater, which needs chains
_BETA, _DOUBT = 0.6, 0.02  # until held-out scores give the independence of the annotations of a case


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisSettings:
    """Settings that results on a dataset are computed with.

    Attributes
    ----------
    plausibility : PlausibilityModel
        Plausibility model with its prior.
    reliability : float
        Reliability γ: how much each annotation counts.
    rater_model : Request or None
        Model that weights raters, with its β and doubt: the average of models once they are scored. None if no rater
        model is possible.
    choice : Choice or None
        Held-out scores of rater models; None until they are known.
    opening : DefaultReliability or None
        Reason for the default γ; None if there is none.
    reliability_open, rater_model_open : bool
        True while γ or the plausibility model, and while the rater model, is being chosen from the data. A number
        that depends on it is provisional, and no headline shows it.
    averaged : AveragedModels or None
        The average of the models of ``choice``, if it is known already.
    """

    plausibility: PlausibilityModel
    reliability: float
    rater_model: Request | None = None
    choice: Choice | None = None
    opening: DefaultReliability | None = None
    reliability_open: bool = False
    rater_model_open: bool = False
    averaged: AveragedModels | None = None

    def weigh(self, classes: Dataset, token: CancelToken | None = None) -> RaterModelFit | None:
        """Fit the rater model, or take its fit from the choice; None if there is no rater model.

        Parameters
        ----------
        classes : Dataset
            Dataset of single classes.
        token : CancelToken, optional
        """
        if self.rater_model is None:
            return None
        if self.rater_model.method is AVERAGE and (averaged := self.average(classes, token)) is not None:
            return averaged.fit
        best = None if self.choice is None else self.choice.best
        if best is not None and best.fit is not None and best.request() == self.rater_model:
            return best.fit
        return fit_request(self.rater_model, classes, token=token).fit

    def average(self, classes: Dataset, token: CancelToken | None = None) -> AveragedModels | None:
        """Average the rater models that were scored: P(correct) of each class; None until they are scored.

        Parameters
        ----------
        classes : Dataset
            Dataset of single classes, as they were scored.
        token : CancelToken, optional
        """
        if self.averaged is not None or self.choice is None:
            return self.averaged
        return average_models(self.choice, classes, token=token)


def can_choose(classes: Dataset) -> bool:
    """Return whether rater models are scored on these data automatically."""
    possible = any_rater_model(classes).possible and classes.n_classes > 1
    return possible and classes.n_annotations <= MOST_ANNOTATIONS


def has_truth(dataset: Dataset, model: PlausibilityModel) -> bool:
    """Return whether certainty under a model is compared with gold automatically."""
    if dataset.kind == "score":
        return False
    return 2 <= len(gold_cases(dataset)) <= (MOST_TRUSTED_CASES if hasattr(model, "trusted") else MOST_TRUTH_CASES)


def rests_on_beta(model: PlausibilityModel) -> bool:
    """Return whether γ of a model with a prior that was not learned depends on how far raters share mistakes."""
    return isinstance(model, DirichletCounts | OrdinalTruth)


def learns_prior(model: PlausibilityModel, dataset: Dataset) -> TypeGuard[DirichletCounts]:
    """Check that a model opens with the prior learned from all cases: counts, except for the labels of sets.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset as raters gave it.
    """
    return isinstance(model, DirichletCounts) and dataset.kind != "set"


def plausibility_names(dataset: Dataset, choice: Choice | None) -> list[str]:
    """List the names of plausibility models for a dataset, the default first.

    Parameters
    ----------
    dataset : Dataset
    choice : Choice or None
        Choice among all rater models: if the ordinal one is chosen, the order of the classes counts.
    """
    names = [one.name for one in offered(dataset) if can_use(one, dataset).possible]
    if choice is None or choice.chosen != ORDINAL.name:
        return names
    return sorted(names, key=OrdinalTruth.name.__ne__)


def rater_request(choice: Choice | None, classes: Dataset) -> Request | None:
    """Return the average of rater models, or the vote if none can be averaged.

    Dawid-Skene until the models are scored, None if none is possible.
    """
    if choice is not None:
        return choice.request() if choice.best.by_vote else request(AVERAGE.name)
    if not any_rater_model(classes).possible:
        return None
    return request(DAWID_SKENE.name, beta=_BETA, doubt=_DOUBT)


def shown_at(name: str, choice: Choice | None) -> dict:
    """Return β and doubt for the class probabilities of a rater model."""
    if choice is None:
        return {"beta": _BETA, "doubt": _DOUBT}
    standing = next((one for one in choice.standings if one.candidate.name == name), None)
    return {} if standing is None else standing.shown_at


def page_reliability(model: PlausibilityModel, value: float) -> float:
    """Return γ as the slider of pages takes it."""
    scale = method_named(PlausibilityMethod, model.name).reliability
    if scale is None:
        return value
    return float(min(max(round(value, 1), scale.low), scale.high))


def decide(
    dataset: Dataset,
    model: PlausibilityModel,
    classes: Dataset,
    *,
    choice: Choice | None = None,
    averaged: AveragedModels | None = None,
    scoring: bool = False,
    truth: TruthCurve | None = None,
    awaits_truth: bool = False,
    readers: HeldOutCurve | None = None,
    prior: VotePrior | None = None,
) -> AnalysisSettings:
    """Return settings from the results known so far, without fitting anything.

    Parameters
    ----------
    dataset : Dataset
        Dataset as the model takes it.
    model : PlausibilityModel
    classes : Dataset
        The same data as single classes.
    choice : Choice, optional
        Held-out scores of all rater models or, while ``scoring``, of those by expectation-maximisation.
    averaged : AveragedModels, optional
        Average of the models of ``choice``.
    scoring : bool
        True while rater models are still being scored.
    truth : TruthCurve, optional
    awaits_truth : bool
        True while certainty is still being compared with gold.
    readers : HeldOutCurve, optional
    prior : VotePrior, optional
        If the model has the prior learned from all cases: γ then opens at 1, and waits for nothing.
    """
    beta = None if choice is None else choice.dependence
    try:
        found = default_reliability(dataset, model, beta=beta, truth=truth, readers=readers, prior=prior)
    except PluralityError:  # there is no evidence for γ here, so the published value is the default
        found = None
    value = model.default_reliability if found is None else found.reliability
    unknown = choice is None and rests_on_beta(model) and prior is None
    ordered = dataset.kind == "class" and dataset.ordinal  # the choice decides if the order counts
    chosen = None if scoring else choice
    return AnalysisSettings(
        model,
        page_reliability(model, value),
        rater_request(chosen, classes),
        chosen,
        found,
        reliability_open=(awaits_truth and prior is None) or (scoring and (unknown or ordered)),
        rater_model_open=scoring,
        averaged=None if scoring else averaged,
    )


def compute_settings(
    dataset: Dataset,
    threshold: float | str | None = None,
    *,
    name: str | None = None,
    make: Callable[[str], PlausibilityModel] = lambda name: method_named(PlausibilityMethod, name).make(),
    weighing: bool = True,
    learn: bool = True,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> AnalysisSettings:
    """Return the settings of a dataset, after computing all results that they depend on.

    Parameters
    ----------
    dataset : Dataset
    threshold : float or str, optional
        Threshold that makes classes of scores, or label that makes classes of sets.
    name : str, optional
        Name of a plausibility model to use instead of the default.
    make : callable
        Function that makes the plausibility model of that name, with its prior.
    weighing : bool
        Also choose the rater model. γ alone needs fewer held-out scores, or none.
    learn : bool
        True if counts take the prior learned from all cases in place of that of ``make``.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    whole = dataset.kind == "score" and threshold is None
    classes = dataset if whole else dataset.as_classes(threshold)[0]
    every = weighing or (name is None and classes.ordinal)
    first = make(name or plausibility_names(dataset, None)[0])
    awaits_beta = rests_on_beta(first) and not (learn and learns_prior(first, dataset))
    scored = can_choose(classes) and (every or awaits_beta)
    choice = None
    if scored:
        choice = choose(classes, seed=SEED, difficulty=every, independent=False, token=token, progress=progress)
    averaged = average_models(choice, classes, token=token) if choice is not None and weighing else None
    model = first if name else make(plausibility_names(dataset, choice)[0])
    view = as_taken(method_named(PlausibilityMethod, model.name), dataset, threshold)[0]
    if isinstance(model, OrdinalTruth):
        model = replace(model, fitted=model.fit(view))
    if learn and learns_prior(model, dataset):
        model = replace(learned_counts(view).model, depth=model.depth)
    prior = learned_prior(view, model)
    truth = truth_curve(view, model, seed=SEED, token=token) if prior is None and has_truth(view, model) else None
    return decide(view, model, classes, choice=choice, averaged=averaged, truth=truth, prior=prior)
