"""The settings that a dataset opens with, computed in the background: `core.analysis_settings` decides.

Rater models are scored on held-out annotations, and certainty is compared with gold.
"""

from contextlib import suppress

from core.analyses.models.scores import JudgedModels, judge_models
from core.analysis_settings import SEED, AnalysisSettings, can_choose, decide, has_truth
from core.annotations.dataset import Dataset
from core.certainty.held_out_readers import HeldOutCurve, held_out_curve
from core.certainty.label_p_correct import LabelsCorrect, label_groups, of_groups
from core.certainty.p_correct import PCorrect, of_average
from core.certainty.truth_curve import TruthCurve, truth_curve
from core.errors import PluralityError
from core.models.choose import choose
from core.models.gold import gold_cases
from core.plausibility.gaussian import GaussianScores
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.protocol import PlausibilityModel
from core.runtime.jobs import Job
from core.settings import current_settings
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, gold_of_reviews, plausibility_models, state, trusted_raters

LANE = "opening"
READERS = "Held-out readers"
CHOOSING = "The model and γ are still being chosen from the data."
CHOOSING_RATERS = "Rater models are still being compared on held-out annotations."
_OF_LABELS = 10.0  # expected seconds that P(correct) of all labels may take unasked
_OF_TRUTH = 4e-3  # seconds of a case with gold


def choice_job(view: Dataset) -> Job | None:
    """Held-out scores of rater models with their average in the background, and what gold says; None if impossible.

    Models by expectation-maximisation are scored first, which settles how far raters share mistakes: they are the
    job's partial result. ``view`` has one class per annotation.
    """
    if not can_choose(view):
        return None

    def work(job: Job) -> JudgedModels:
        cached.preparation().wait(("models",))  # compiling here too would take twice as long
        seconds = expected.of_choice(view)
        how = {"seed": SEED, "difficulty": False, "independent": False, "seconds": seconds}
        job.partial = first = cached.run(job, choose, view.coded, view.coded, **how)
        return cached.run(job, judge_models, view.coded, view.coded, known=first, seconds=seconds)

    key, title = plausibility_models.choice_key(view), plausibility_models.CHOICE
    return cached.job(key, title, work, LANE, view, background=True)


def correct(view: Dataset) -> PCorrect | None:
    """Return P(correct) of every case by the average of rater models; None until it is known.

    Parameters
    ----------
    view : Dataset
        Dataset of single classes.
    """
    judged = choice(view)
    return None if judged is None else of_average(judged.averaged, view)


def correct_of_labels(dataset: Dataset) -> tuple[LabelsCorrect, list[Job]]:
    """Return P(correct) of every label as far as it is known, and the jobs of the rest, if they take little.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    """
    groups = label_groups(dataset)
    little = sum(expected.of_choice(each.classes) for each in groups) <= _OF_LABELS
    views = [each.classes if little or is_known(each.classes) else None for each in groups]
    found = [None if view is None else correct(view) for view in views]
    jobs = [job for view in views if view is not None and (job := correct_at_work(view)) is not None]
    return of_groups(dataset, groups, found), jobs


def correct_at_work(view: Dataset) -> Job | None:
    """Return the job that P(correct) still waits for; None if it is known or cannot be."""
    job = choice_job(view)
    return None if job is None or job.finished else job


def without_result(view: Dataset) -> Job | None:
    """Return the comparison of rater models if it failed or this session cancelled it; None otherwise."""
    job = choice_job(view)
    return job if job is not None and job.finished and job.state != "done" else None


def choice(view: Dataset) -> JudgedModels | None:
    """Return the scores of all models and their average; None until they are done."""
    job = choice_job(view)
    return cached.result(job, view) if job is not None and job.state == "done" else None


def is_known(view: Dataset) -> bool:
    """Return True if the scores of all models are known; starts nothing."""
    return cached.known_result(plausibility_models.choice_key(view), plausibility_models.CHOICE, view) is not None


def begin() -> None:
    """Have the settings of the dataset in use chosen, whatever page somebody looks at.

    The work goes on as long as any session has the dataset open, for each asks for it with every run.
    """
    if (reading := state.current()) is None:
        return
    with suppress(PluralityError):  # said by the page that needs it
        dataset = gold_of_reviews.applied(reading.dataset)
        choice_job(cached.class_view(dataset, state.split(dataset))[0])


def settings(dataset: Dataset, model: PlausibilityModel, view: Dataset) -> AnalysisSettings:
    """Return the settings of a dataset as far as they are known, without the choices of this session.

    Parameters
    ----------
    dataset : Dataset
        Data that the model takes.
    model : PlausibilityModel
    view : Dataset
        The same as single classes.
    """
    job, scored, averaged = choice_job(view), None, None
    scoring = job is not None and not job.finished
    if job is not None and (scoring or job.state == "done"):
        if scoring:
            scored = cached.partial(job, view)
        else:
            judged = cached.result(job, view)
            scored, averaged = judged.choice, judged.averaged
    awaited = truth_job(dataset, model)
    return decide(
        dataset,
        model,
        view,
        choice=scored,
        averaged=averaged,
        scoring=scoring,
        truth=truth(dataset, model),
        awaits_truth=awaited is not None and not awaited.finished,
        readers=readers(dataset, model),
        prior=plausibility_models.learned_prior(dataset, model),
    )


def readers_key(dataset: Dataset, model: PlausibilityModel) -> tuple:
    """Return the key of the cached curve of held-out readers, the same for all sessions."""
    return (dataset.content_digest, "held-out readers", model.name, tuple(sorted(model.settings().items())), SEED)


def readers(dataset: Dataset, model: PlausibilityModel) -> HeldOutCurve | None:
    """Return the curve of held-out readers; None until it is done, and if it takes too long to start unasked."""
    job = readers_job(dataset, model)
    if job is None:
        return cached.known_result(readers_key(dataset, model), READERS, dataset)
    return cached.result(job, dataset) if job.state == "done" else None


def readers_job(dataset: Dataset, model: PlausibilityModel) -> Job | None:
    """Return the background job of the curve of held-out readers; None if it gives no mark, or takes too long."""
    if not isinstance(model, PlackettLuce | GaussianScores) or takes_minutes(dataset):
        return None
    work = readers_work(dataset, model)
    return cached.job(readers_key(dataset, model), READERS, work, "samplers", dataset, background=True)


def takes_minutes(dataset: Dataset) -> bool:
    """Return True if held-out readers are computed only on request."""
    return dataset.n_cases > current_settings().unasked_cases


def readers_work(dataset: Dataset, model: PlausibilityModel):
    """Return the function that computes the curve of held-out readers."""

    def work(job: Job) -> HeldOutCurve:
        cached.preparation().wait(("anchors",))
        seconds = expected.of_readers(dataset, model)
        return cached.run(job, held_out_curve, dataset.coded, dataset.coded, model, seed=SEED, seconds=seconds)

    return work


def at_work(dataset: Dataset, model: PlausibilityModel, view: Dataset) -> list[Job]:
    """Return the running jobs that may change the settings; arguments as for `settings`."""
    return [job for job in (truth_job(dataset, model), choice_job(view)) if job is not None and not job.finished]


def truth(dataset: Dataset, model: PlausibilityModel) -> TruthCurve | None:
    """Return certainty against gold, if done; None without gold, or if it takes too long to start unasked."""
    job = truth_job(dataset, model)
    return cached.result(job, dataset) if job is not None and job.state == "done" else None


def truth_job(dataset: Dataset, model: PlausibilityModel) -> Job | None:
    """Return the background job of certainty against gold; None if there is nothing to compute."""
    if not has_truth(dataset, model) or (known := trusted_raters.in_hand(dataset, model)) is None:
        return None
    key = (dataset.content_digest, "truth curve", model.name, tuple(sorted(model.settings().items())), SEED)
    return cached.job(
        key,
        "Certainty against gold",
        lambda job: cached.run(
            job,
            truth_curve,
            dataset.coded,
            dataset.coded,
            known,
            seed=SEED,
            seconds=_OF_TRUTH * len(gold_cases(dataset)),
        ),
        LANE,
        dataset,
        background=True,
    )
