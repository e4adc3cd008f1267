"""Soft labels on the Reliability page: the job that computes plausibilities of all cases."""

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, SweepOptions
from core.certainty.plausibilities import Plausibilities, plausibilities
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, expected, job_progress, plausibility_models


def show(inputs: Inputs, options: SweepOptions) -> None:
    """Plausibilities at the γ that the data open with, to download."""
    dataset, model, reliability = inputs.dataset, inputs.settings.plausibility, inputs.settings.reliability

    def work(job: Job) -> Plausibilities:
        return cached.run(
            job, plausibilities, dataset.coded, model, dataset.coded, reliability=reliability,
            n_draws=options.n_draws, seed=options.seed, seconds=expected.of_draws(dataset, model, 1),
        )  # fmt: skip

    key = plausibility_models.job_key(dataset, model, "plausibilities", reliability)
    found = job_progress.result_of(key, "Plausibilities", work, of=dataset)
    if found is not None:
        blocks.show(RELIABILITY.part("plausibilities").blocks(found, inputs, options))
