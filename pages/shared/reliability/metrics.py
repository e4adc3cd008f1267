"""Further metrics of classifiers on the Reliability page: their options, and the job that computes them."""

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, MetricOptions
from core.evaluation.further_metrics import FurtherMetrics, further_metrics
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, expected, job_progress, plausibility_models, predictions


def show(inputs: Inputs) -> None:
    """Rankings and probabilities of the classifiers, at the γ that the data open with."""
    part = RELIABILITY.part("metrics")
    options = blocks.controls(part)
    found = _metrics(inputs, options)
    if found is not None:
        blocks.show(part.blocks(found, inputs, options))


def _metrics(inputs: Inputs, options: MetricOptions) -> FurtherMetrics | None:
    dataset, found, model = inputs.dataset, inputs.predictions, inputs.settings.plausibility

    def work(job: Job) -> FurtherMetrics:
        return cached.run(
            job, further_metrics, dataset.coded, model, dataset.coded, found,
            reliability=inputs.settings.reliability, top=options.k, target=min(options.j, options.k),
            n_draws=options.n_draws, seed=options.seed, seconds=expected.of_draws(dataset, model, 1),
        )  # fmt: skip

    who = tuple((one.name, predictions.fingerprint(one)) for one in found)
    key = plausibility_models.job_key(
        dataset, model, "further metrics", inputs.settings.reliability, options.k, options.j, who
    )
    return job_progress.result_of(key, "Further metrics", work, of=dataset)
