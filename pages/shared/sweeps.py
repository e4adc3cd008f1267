"""The sweep over reliabilities as a job that the Reliability page and the guided story share."""

import hashlib

from core.annotations.dataset import Dataset
from core.evaluation.sweep_table import SweepTable, reliability_sweep
from core.jobs import Job
from pages.shared import cached, classifier_view, jobs_ui, plausibility


def sweep(view: Dataset, model, reliabilities: tuple[float, ...], classifiers, title: str) -> SweepTable | None:
    """The sweep, or None while it is worked out and the screen says so."""
    key, work = _key_and_work(view, model, reliabilities, classifiers)
    return jobs_ui.result_of(key, title, work)


def sweep_job(view: Dataset, model, reliabilities: tuple[float, ...], classifiers) -> Job:
    """The same job without a word on screen."""
    key, work = _key_and_work(view, model, reliabilities, classifiers)
    return cached.job(key, "Sweep over reliabilities", work)


def _key_and_work(view: Dataset, model, reliabilities: tuple[float, ...], classifiers):
    who = tuple((predictions.name, _fingerprint(predictions)) for predictions in classifiers)

    def work(job: Job) -> SweepTable:
        return reliability_sweep(
            model,
            view,
            reliabilities,
            classifiers=classifiers,
            n_draws=plausibility.N_DRAWS,
            max_top=classifier_view.TOP,
            seed=plausibility.SEED,
            token=job.token,
            progress=lambda share: job.report(share),
        )

    return plausibility.job_key(view, model, "sweep", reliabilities, who), work


def _fingerprint(predictions) -> str:
    """By content: a corrected file has the same name and often the same length."""
    found = hashlib.blake2b(digest_size=16)
    for array in (predictions.ptr, predictions.class_code, predictions.group):
        found.update(array.tobytes())
    return found.hexdigest()
