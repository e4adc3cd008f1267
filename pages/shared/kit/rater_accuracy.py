"""How accurate raters are, as the Raters page has it: one answer for Home and Models."""

from core.annotations.dataset import Dataset
from core.raters.flags import FALSE_ALARMS
from core.raters.monitoring import RaterTable, monitor
from core.raters.to_act_on import ToActOn, raters_to_act_on
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, job_progress

SEED = 0
MOST_ANNOTATIONS = 300_000  # above, it is worked out only if somebody asks


def judged(view: Dataset) -> tuple[RaterTable, ToActOn] | None:
    """The raters and what speaks against them; None while that is worked out.

    Parameters
    ----------
    view : Dataset
        Of single classes.
    """

    def work(job: Job) -> tuple[RaterTable, ToActOn]:
        options = {"false_alarms": FALSE_ALARMS, "seed": SEED, "seconds": expected.of_monitoring(view)}
        table = cached.run(job, monitor, view.coded, view.coded, **options)
        return table, raters_to_act_on(table, token=job.token)

    key = (view.content_digest, "raters to act on", FALSE_ALARMS, SEED)
    return job_progress.result_of(key, "Evaluating the raters", work, of=view)
