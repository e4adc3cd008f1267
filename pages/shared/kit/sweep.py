"""The sweep over reliabilities as a job that Home, the Reliability page and the guided story share."""

from core.annotations.dataset import Dataset
from core.evaluation.metrics import TOP, PointScores
from core.evaluation.sweep_table import SweepTable, growing_sweep, reliability_sweep
from core.reducers.top_draws import can_keep
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, job_progress, plausibility_models, predictions

TITLE = "Sweep over reliabilities"
ASKED = {"n_draws": plausibility_models.N_DRAWS, "max_top": TOP, "seed": plausibility_models.SEED}


def reliabilities(name: str, opened: float) -> tuple[float, ...]:
    """Return the reliabilities of a page's first sweep: those of a model by default, and the γ at which pages open."""
    return tuple(sorted({*plausibility_models.method(name).reliability.sweep, float(opened)}))


def sweep(
    view: Dataset, model, reliabilities: tuple[float, ...], classifiers, title: str = TITLE, lane: str = "pages"
) -> SweepTable | None:
    """Return the sweep; None while it is computed and the screen shows the progress."""
    key, work = _key_and_work(view, model, reliabilities, classifiers)
    return job_progress.result_of(key, title, work, lane, view)


def so_far(view: Dataset, model, reliabilities: tuple[float, ...], classifiers) -> SweepTable | PointScores | None:
    """Return the reliabilities that a running sweep has done; before the first, scores against the point estimate."""
    key, _ = _key_and_work(view, model, reliabilities, classifiers)
    job = cached.known(key)
    return None if job is None or job.state != "running" else cached.partial(job, view)


def sweep_job(view: Dataset, model, reliabilities: tuple[float, ...], classifiers, *, background: bool = False) -> Job:
    """Return the job that computes the sweep, without showing it; ``background`` if nothing waits for it yet."""
    key, work = _key_and_work(view, model, reliabilities, classifiers)
    return cached.job(key, TITLE, work, of=view, background=background)


def parts(view: Dataset, model, n: int):
    """Return the function that gives the reduced draws of one of ``n`` reliabilities, see `cached.parts`."""
    return cached.parts(view, model, expected.of_draws(view, model, n), **ASKED)


def _key_and_work(view: Dataset, model, reliabilities: tuple[float, ...], classifiers):
    who = tuple((one.name, predictions.fingerprint(one)) for one in classifiers)
    seconds = expected.of_draws(view, model, len(reliabilities))
    part_of = parts(view, model, len(reliabilities))

    def work(job: Job) -> SweepTable:
        how = {**ASKED, "token": job.token}
        if not can_keep(view.n_cases, plausibility_models.N_DRAWS, TOP):
            told = {"classifiers": classifiers, "seconds": seconds}
            return cached.run(job, reliability_sweep, view.coded, model, view.coded, reliabilities, **told, **ASKED)

        def part(reliability: float, told):
            return part_of(reliability, job, told)

        def scored(scores: PointScores) -> None:
            job.partial = scores

        how |= {"classifiers": classifiers, "progress": job.report, "told": scored}
        for table in growing_sweep(model, view.coded, reliabilities, part, **how):
            job.partial = table
        return job.partial

    return plausibility_models.job_key(view, model, "sweep", reliabilities, who), work
