"""What is known of each rater, and what speaks against them: one answer for Raters, Home and Models."""

from core.analyses.raters import RATERS, AssessedOptions
from core.analyses.raters.table import AssessedRaters, look, takes_average
from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.models.result import RaterModelFit
from core.raters.monitoring import RaterTable
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, opening

MOST_ANNOTATIONS = 300_000  # above, it is worked out only if somebody asks
_DEFAULT = AssessedOptions()


def judged(
    view: Dataset, options: AssessedOptions = _DEFAULT, fit: RaterModelFit | None = None
) -> AssessedRaters | None:
    """Return the raters with their flags; None while that is computed.

    Parameters
    ----------
    view : Dataset
        Data of single classes.
    options : AssessedOptions
    fit : RaterModelFit, optional
        Fit that judges raters in place of one that is computed.
    """
    part, content = RATERS.part("raters"), view.coded

    def looked(job: Job) -> RaterTable:
        if fit is not None:
            return look(content, options, fit=with_codes(fit, view), token=job.token, progress=job.report)
        return cached.run(job, look, content, content, options, seconds=part.work.seconds(content))

    key = (view.content_digest, "monitor", options.model, options.false_alarms, options.seed)
    table = job_progress.result_of(key, part.work.title, looked, of=view)
    if table is None:
        return None
    known = opening.choice(view) if fit is None and takes_average(view, options) else None
    averaged = None if known is None else known.averaged
    return job_progress.result_of(
        (view.content_digest, part.compute, options, averaged is not None),
        "Comparing raters with the acceptable accuracy",
        lambda job: part.answer(
            content, options, table=with_codes(table, view), averaged=with_codes(averaged, view), token=job.token
        ),
        of=view,
    )


def is_open(view: Dataset, options: AssessedOptions = _DEFAULT) -> bool:
    """Return True while rater models are still being scored whose average will judge the raters.

    Parameters
    ----------
    view : Dataset
        Data of single classes.
    options : AssessedOptions
    """
    job = opening.choice_job(view) if takes_average(view, options) else None
    return job is not None and not job.finished
