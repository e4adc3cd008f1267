"""Classifiers of sets of labels on the Reliability page: what they are judged against, and the job that judges them."""

from dataclasses import replace

import streamlit as st

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, SweepOptions
from core.analyses.reliability import set_classifiers as analysis
from core.evaluation.set_metrics import SetMetrics, set_metrics
from core.evaluation.set_predictions import known_sets
from core.plausibility.dirichlet import DirichletCounts
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, job_progress, plausibility_models, predictions

_KNOWN, _PLAUSIBLE = "Known sets (gold)", "Plausible truths"
_PER_CASE = 4e-4  # seconds of 1,000 draws of a case and classifier


def show(inputs: Inputs, options: SweepOptions) -> None:
    """How good the sets of each classifier are, as a whole and by label."""
    gold = known_sets(inputs.dataset)
    if gold is not None and _asked_for_gold():
        inputs = replace(inputs, gold=gold)
    elif not isinstance(inputs.settings.plausibility, DirichletCounts):
        st.info("Predicted sets are evaluated with Dirichlet counts: choose this model above.", icon=":material/info:")
        return
    found = _metrics(inputs, options)
    if found is not None:
        blocks.show(RELIABILITY.part("set_classifiers").blocks(found, inputs, options))


def _asked_for_gold() -> bool:
    asked = st.segmented_control(
        "Judged against",
        [_KNOWN, _PLAUSIBLE],
        default=_KNOWN,
        required=True,
        key="sets_against",
        persist_state="session",
    )
    return asked == _KNOWN


def _metrics(inputs: Inputs, options: SweepOptions) -> SetMetrics | None:
    dataset, found, gold, reliability = inputs.dataset, inputs.predictions, inputs.gold, inputs.settings.reliability
    if gold is not None and not any((one.predicted & gold.predicted).any() for one in found):
        st.info("No case has both a prediction and a gold set.", icon=":material/info:")
        return None
    counts = analysis.counts(inputs)

    def work(job: Job) -> SetMetrics:
        return cached.run(
            job, set_metrics, dataset.coded, dataset.coded, found, model=counts, reliability=reliability, gold=gold,
            n_draws=options.n_draws, seed=options.seed, seconds=_PER_CASE * dataset.n_cases * len(found),
        )  # fmt: skip

    who = tuple((one.name, predictions.fingerprint_of(one.applies, one.predicted)) for one in found)
    what = "set metrics" if gold is None else "Set metrics by gold"
    key = plausibility_models.job_key(dataset, counts, what, reliability, who)
    return job_progress.result_of(key, "Predicted sets", work, of=dataset)
