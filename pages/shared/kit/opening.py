"""What opens, and why: the rater model with the best held-out score, and the trust γ that data or gold suggest."""

from core.annotations.dataset import Dataset
from core.certainty.held_out_readers import HeldOutCurve, held_out_curve
from core.certainty.opening import Opening, opens_at
from core.certainty.truth_curve import TruthCurve, truth_curve
from core.errors import PluralityError
from core.methods import any_of, method_named
from core.models.choose import Choice, choose
from core.models.gold import gold_cases
from core.models.gold_measures import GoldMeasures, gold_measures
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.gaussian import GaussianScores
from core.plausibility.ordinal_truth import OrdinalTruth
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.protocol import PlausibilityModel
from core.runtime.jobs import Job
from core.settings import current_settings
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, plausibility_models, trusted_raters

SEED = plausibility_models.SEED
LANE = "opening"
READERS = "Held-out readers"
MOST_ANNOTATIONS = 1_000_000
MOST_TRUTH_CASES = 5_000
_OF_TRUTH = 4e-3  # seconds of a case with gold
MOST_TRUSTED_CASES = 500  # a model with a trust in each rater draws chains for it
Judged = tuple[Choice, dict[str, GoldMeasures]]


def choice_job(view: Dataset) -> Job | None:
    """Held-out scores of the models by EM in the background, and what gold says; None where nothing can be compared.

    ``view`` has one class an annotation.
    """
    if not any_of("rater model", view).possible or view.n_classes < 2 or view.n_annotations > MOST_ANNOTATIONS:
        return None

    def work(job: Job) -> Judged:
        cached.preparation().wait(("models",))  # compiling here too would take twice as long
        told = {"seed": SEED, "difficulty": False, "seconds": expected.of_choice(view)}
        found = cached.run(job, choose, view.coded, view.coded, **told)
        return found, _by_gold(view.coded, found)

    key = (view.content_digest, "choose by EM", SEED)
    return cached.job(key, "Held-out scores of rater models", work, LANE, view, background=True)


def whole_choice_job(view: Dataset) -> Job | None:
    """The same of all models, those with case difficulty or an order after the others; None until these are done."""
    first = choice_job(view)
    if first is None or first.state != "done":
        return None
    known: Choice = cached.result(first, view.coded)[0]

    def work(job: Job) -> Judged:
        told = {"seed": SEED, "known": known, "seconds": expected.of_choice(view)}
        found = cached.run(job, choose, view.coded, view.coded, **told)
        return found, _by_gold(view.coded, found)

    key, title = plausibility_models.choice_key(view), plausibility_models.CHOICE
    return cached.job(key, title, work, LANE, view, background=True)


def choice(view: Dataset) -> Judged | None:
    """The scores that are done: of all models, else of those by EM if one of these can open."""
    first, whole = choice_job(view), whole_choice_job(view)
    if whole is not None and whole.state == "done":
        return cached.result(whole, view)
    if first is None or first.state != "done":
        return None
    judged: Judged = cached.result(first, view)
    by_vote = judged[0].best.by_vote
    return None if by_vote and whole is not None and not whole.finished else judged


def _by_gold(view: Dataset, found: Choice) -> dict[str, GoldMeasures]:
    if not len(gold_cases(view)):
        return {}
    return {
        each.candidate.name: gold_measures(view, each.fit, seed=SEED)
        for each in found.standings
        if each.fit is not None
    }


def opening(dataset: Dataset, model: PlausibilityModel, view: Dataset) -> Opening | None:
    """Where γ opens for a model, and its marks; None where nothing can be said of these data.

    Parameters
    ----------
    dataset : Dataset
        What the model takes.
    view : Dataset
        The same as single classes, whose dependence β says how much annotations count together.
    """
    judged = choice(view)
    try:
        return opens_at(
            dataset,
            model,
            beta=None if judged is None else judged[0].dependence,
            truth=truth(dataset, model),
            readers=readers(dataset, model),
        )
    except PluralityError:  # nothing anchors γ here: the page opens at the published value, as without any data
        return None


def reliability(dataset: Dataset, model: PlausibilityModel, view: Dataset) -> tuple[float, Opening | None]:
    """The γ that a page opens at, as its slider takes it, and why."""
    found = opening(dataset, model, view)
    scale = method_named("plausibility", model.name).reliability
    value = scale.default if found is None else found.reliability
    return float(min(max(round(value, 1), scale.low), scale.high)), found


def readers_key(dataset: Dataset, model: PlausibilityModel) -> tuple:
    """Under which the curve of held-out readers is kept, for whoever asks."""
    return (dataset.content_digest, "held-out readers", model.name, tuple(sorted(model.settings().items())), SEED)


def readers(dataset: Dataset, model: PlausibilityModel) -> HeldOutCurve | None:
    """The curve of held-out readers where it is done; None until then, and where it takes too long unasked."""
    job = readers_job(dataset, model)
    if job is None:
        return cached.known_result(readers_key(dataset, model), READERS, dataset)
    return cached.result(job, dataset) if job.state == "done" else None


def readers_job(dataset: Dataset, model: PlausibilityModel) -> Job | None:
    """The same in the background; None where no mark comes of it, or it takes too long."""
    if not isinstance(model, PlackettLuce | GaussianScores) or takes_minutes(dataset):
        return None
    work = readers_work(dataset, model)
    return cached.job(readers_key(dataset, model), READERS, work, "samplers", dataset, background=True)


def takes_minutes(dataset: Dataset) -> bool:
    """Whether held-out readers are computed only where they are asked for."""
    return dataset.n_cases > current_settings().unasked_cases


def readers_work(dataset: Dataset, model: PlausibilityModel):
    """What computes it."""

    def work(job: Job) -> HeldOutCurve:
        cached.preparation().wait(("anchors",))
        seconds = expected.of_readers(dataset, model)
        return cached.run(job, held_out_curve, dataset.coded, dataset.coded, model, seed=SEED, seconds=seconds)

    return work


def at_work(dataset: Dataset, model: PlausibilityModel, view: Dataset) -> list[Job]:
    """What is still being computed that may move γ, or the model; not the readers' mark. Arguments as of `opening`."""
    jobs = [truth_job(dataset, model)]
    if isinstance(model, DirichletCounts | OrdinalTruth):
        jobs.append(choice_job(view))
    if view.ordinal:  # what it chooses says whether the order counts
        jobs.append(whole_choice_job(view))
    return [job for job in jobs if job is not None and not job.finished]


def truth(dataset: Dataset, model: PlausibilityModel) -> TruthCurve | None:
    """Certainty against gold where it is done; None without gold, or with too much of it to compute unasked."""
    job = truth_job(dataset, model)
    return cached.result(job, dataset) if job is not None and job.state == "done" else None


def truth_job(dataset: Dataset, model: PlausibilityModel) -> Job | None:
    """The same in the background; None where there is nothing to compute."""
    n_gold = len(gold_cases(dataset))
    if dataset.kind == "score" or n_gold < 2 or n_gold > MOST_TRUTH_CASES:
        return None
    known = trusted_raters.in_hand(dataset, model)
    if known is None or (trusted_raters.is_asked_for(model) and n_gold > MOST_TRUSTED_CASES):
        return None
    key = (dataset.content_digest, "truth curve", model.name, tuple(sorted(model.settings().items())), SEED)
    return cached.job(
        key,
        "Certainty against gold",
        lambda job: cached.run(
            job, truth_curve, dataset.coded, dataset.coded, known, seed=SEED, seconds=_OF_TRUTH * n_gold
        ),
        LANE,
        dataset,
        background=True,
    )
