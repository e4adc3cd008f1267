"""One choice of settings per dataset: the plausibility model with its prior, γ, and the model that weighs raters.

Every page, the guided story, the report and the command line take their defaults from `decide`, so that no two of them
answer one question by different models. What `decide` needs (held-out scores of rater models, certainty against gold)
takes a while: a page computes it in the background and passes what it has, and the settings say what may still change.
`compute_settings` waits for all of it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from .annotations.dataset import Dataset
from .certainty.default_reliability import DefaultReliability, default_reliability
from .certainty.held_out_readers import HeldOutCurve
from .certainty.truth_curve import TruthCurve, truth_curve
from .errors import PluralityError
from .methods import any_of, as_taken, can_use, method_named, offered
from .models.average import METHOD as AVERAGE
from .models.average import AveragedModels, average_models
from .models.catalogue import Request, fit_request, request
from .models.choose import Choice, choose
from .models.dawid_skene import METHOD as DAWID_SKENE
from .models.gold import gold_cases
from .models.ordinal import METHOD as ORDINAL
from .models.result import RaterModelFit
from .plausibility.dirichlet import DirichletCounts
from .plausibility.learned_counts import learned_counts
from .plausibility.ordinal_truth import OrdinalTruth
from .plausibility.protocol import PlausibilityModel
from .runtime.chunks import CancelToken

SEED = 0
MOST_ANNOTATIONS = 1_000_000  # above, rater models are not scored
MOST_TRUTH_CASES = 5_000  # above, certainty is not compared with gold
MOST_TRUSTED_CASES = 500  # the same of a model with a trust in each rater, which draws chains for it
COUNTS_LEARN = False  # whether counts open with the prior learned from all cases, at γ = 1
_BETA, _DOUBT = 0.6, 0.02  # until held-out scores say how far the annotations of a case are independent


@dataclass(frozen=True, slots=True, eq=False)
class AnalysisSettings:
    """What answers about a dataset are computed with.

    Attributes
    ----------
    plausibility : PlausibilityModel
        With its prior.
    reliability : float
        γ: how much each annotation counts.
    rater_model : Request or None
        The model that weighs raters, with its β and doubt: the average of models once they are scored. None if no
        rater model is possible.
    choice : Choice or None
        Held-out scores of rater models; None until they are known.
    opening : DefaultReliability or None
        Why γ opens there; None if nothing can be said.
    reliability_open, rater_model_open : bool
        Whether γ or the plausibility model, and whether the rater model, is still being chosen from the data. A number
        that rests on it is provisional, and no headline says it.
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
            Of single classes.
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
            Of single classes, as they were scored.
        token : CancelToken, optional
        """
        if self.averaged is not None or self.choice is None:
            return self.averaged
        return average_models(self.choice, classes, token=token)


def can_choose(classes: Dataset) -> bool:
    """Whether rater models are scored on these data without being asked for."""
    possible = any_of("rater model", classes).possible and classes.n_classes > 1
    return possible and classes.n_annotations <= MOST_ANNOTATIONS


def has_truth(dataset: Dataset, model: PlausibilityModel) -> bool:
    """Whether certainty under a model is compared with gold without being asked for."""
    if dataset.kind == "score":
        return False
    return 2 <= len(gold_cases(dataset)) <= (MOST_TRUSTED_CASES if hasattr(model, "trusted") else MOST_TRUTH_CASES)


def rests_on_beta(model: PlausibilityModel) -> bool:
    """Whether γ of a model follows how far raters share mistakes."""
    return isinstance(model, DirichletCounts | OrdinalTruth)


def plausibility_names(dataset: Dataset, choice: Choice | None) -> list[str]:
    """Names of the plausibility models for a dataset, the one that opens first.

    Parameters
    ----------
    dataset : Dataset
    choice : Choice or None
        Of all rater models: if the ordinal one is chosen, the order of the classes counts.
    """
    names = [one.name for one in offered("plausibility", dataset) if can_use(one, dataset).possible]
    if choice is None or choice.chosen != ORDINAL.name:
        return names
    return sorted(names, key=OrdinalTruth.name.__ne__)


def rater_request(choice: Choice | None, classes: Dataset) -> Request | None:
    """The average of rater models, or the vote if none can be averaged.

    Dawid-Skene until the models are scored, None if none is possible.
    """
    if choice is not None:
        return choice.request() if choice.best.by_vote else request(AVERAGE.name)
    if not any_of("rater model", classes).possible:
        return None
    return request(DAWID_SKENE.name, beta=_BETA, doubt=_DOUBT)


def shown_at(name: str, choice: Choice | None) -> dict:
    """β and doubt at which class probabilities of a rater model are shown."""
    if choice is None:
        return {"beta": _BETA, "doubt": _DOUBT}
    standing = next((one for one in choice.standings if one.candidate.name == name), None)
    return {} if standing is None else standing.shown_at


def page_reliability(model: PlausibilityModel, value: float) -> float:
    """γ as the slider of pages takes it."""
    scale = method_named("plausibility", model.name).reliability
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
    learn: bool | None = None,
) -> AnalysisSettings:
    """Settings from what is known by now. It fits nothing.

    Parameters
    ----------
    dataset : Dataset
        What the model takes.
    model : PlausibilityModel
    classes : Dataset
        The same as single classes.
    choice : Choice, optional
        Held-out scores of rater models, of all of them or, while ``scoring``, of those by expectation-maximisation.
    averaged : AveragedModels, optional
        Of the models of ``choice``.
    scoring : bool
        Whether rater models are still being scored.
    truth : TruthCurve, optional
    awaits_truth : bool
        Whether certainty is still being compared with gold.
    readers : HeldOutCurve, optional
    learn : bool, optional
        Whether counts take the prior learned from all cases, and γ = 1, in place of theirs; `COUNTS_LEARN` by default.
    """
    prior = None
    if isinstance(model, DirichletCounts) and dataset.kind == "class" and (COUNTS_LEARN if learn is None else learn):
        learned = learned_counts(dataset)
        model, prior = replace(learned.model, depth=model.depth), learned.prior
    beta = None if choice is None else choice.dependence
    try:
        found = default_reliability(dataset, model, beta=beta, truth=truth, readers=readers, prior=prior)
    except PluralityError:  # nothing anchors γ here: it opens at the published value, as without any data
        found = None
    value = model.default_reliability if found is None else found.reliability
    unknown = choice is None and rests_on_beta(model) and prior is None
    ordered = dataset.kind == "class" and dataset.ordinal  # the choice says whether the order counts
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
    make: Callable[[str], PlausibilityModel] = lambda name: method_named("plausibility", name).make(),
    weighing: bool = True,
    learn: bool | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> AnalysisSettings:
    """Settings of a dataset, with all that they rest on computed first.

    Parameters
    ----------
    dataset : Dataset
    threshold : float or str, optional
        What makes classes of scores, or of sets of labels.
    name : str, optional
        Of a plausibility model in place of the one that opens.
    make : callable
        Makes the plausibility model of that name, with its prior.
    weighing : bool
        Also choose the rater model. γ alone needs fewer held-out scores, or none.
    learn : bool, optional
        As of `decide`.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    whole = dataset.kind == "score" and threshold is None
    classes = dataset if whole else dataset.as_classes(threshold)[0]
    every = weighing or (name is None and classes.ordinal)
    scored = can_choose(classes) and (every or name is None or rests_on_beta(make(name)))
    choice = None
    if scored:
        choice = choose(classes, seed=SEED, difficulty=every, independent=False, token=token, progress=progress)
    averaged = average_models(choice, classes, token=token) if choice is not None and weighing else None
    model = make(name or plausibility_names(dataset, choice)[0])
    view = as_taken(method_named("plausibility", model.name), dataset, threshold)[0]
    if isinstance(model, OrdinalTruth):
        model = replace(model, fitted=model.fit(view))
    truth = truth_curve(view, model, seed=SEED, token=token) if has_truth(view, model) else None
    return decide(view, model, classes, choice=choice, averaged=averaged, truth=truth, learn=learn)
