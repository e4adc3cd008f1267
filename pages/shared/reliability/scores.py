"""Reliability of scores: how well they are known against γ, and predictors over plausible truths."""

import streamlit as st

from core.analyses.inputs import Inputs
from core.analyses.reliability import RELIABILITY, SweepOptions
from core.analyses.reliability import scores as analysis
from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.evaluation.score_errors import ScoreErrors, score_errors
from core.plausibility.gaussian import METHOD, GaussianScores
from core.runtime.jobs import Job
from core.text import exact, typed
from pages.shared.cache import datasets as cached
from pages.shared.kit import (
    blocks,
    job_progress,
    own_predictions,
    plausibility_models,
    predictions,
    provenance,
    reliability_slider,
    scores,
    widgets,
)
from pages.shared.reliability import anchors

_PER_CASE = 1e-4  # seconds, of 1,000 draws of a case


def show(dataset: Dataset, title) -> None:
    """Draw the page. ``title`` is the place of its first sentence."""
    left, middle, more = reliability_slider.places()
    at = scores.threshold(middle)
    found = scores.model(dataset, at)
    if found is None:
        return
    model, prior = found
    opened = reliability_slider.opens(dataset, model)
    default = sorted({*METHOD.reliability.sweep, opened})
    chosen = left.pills(
        "Values of γ",
        sorted({0.3, 0.5, 5.0, 10.0, *METHOD.reliability.choices, opened}),
        default=default,
        selection_mode="multi",
        format_func=exact,
        key=f"reliabilities-{METHOD.name}-{typed(opened)}",
        help=widgets.explained("reliability"),
        persist_state="session",
    )
    with more.popover("More", key="more_reliability"):
        scores.about_prior(prior)
    reliability_slider.marks(dataset, model)
    if not chosen:
        st.info("Choose at least one value of γ.")
        return
    predictors = predictions.classifiers(dataset)
    inputs = Inputs(dataset, predictions=predictors, settings=AnalysisSettings(model, opened))
    options = SweepOptions(tuple(sorted(chosen)), plausibility_models.N_DRAWS, plausibility_models.SEED)
    trust = RELIABILITY.part("scores").answer(inputs, options)
    title.title(analysis.finding(trust))
    _provenance(dataset, model, options, bool(predictors))
    names = ["Certainty", *(["Predictors"] if predictors else []), "How γ is chosen"]
    tabs = dict(zip(names, widgets.tabs(names, "reliability_tabs"), strict=True))
    if tabs["Certainty"].open:
        with tabs["Certainty"]:
            blocks.show(RELIABILITY.part("scores").blocks(trust, inputs, options))
    if predictors and tabs["Predictors"].open:
        with tabs["Predictors"]:
            errors = _errors(inputs, model, options)
            if errors is not None:
                blocks.show(RELIABILITY.part("predictors").blocks(errors, inputs, options))
    if tabs["How γ is chosen"].open:
        with tabs["How γ is chosen"]:
            anchors.show(dataset, model)
    own_predictions.add_classifiers(dataset)


def _provenance(dataset: Dataset, model: GaussianScores, options: SweepOptions, judged: bool) -> None:
    values = list(options.reliabilities)
    given = scores.settings(model, values[0]) | {"reliabilities": values}
    given.pop("reliability")
    more = plausibility_models.SAMPLING if judged else {}
    line = f"sweep {METHOD.name} FILE --reliabilities {','.join(f'{typed(value)}' for value in values)}"
    provenance.show(dataset, [METHOD.name], line, given | more, "reliability")


def _errors(inputs: Inputs, model: GaussianScores, options: SweepOptions) -> tuple[ScoreErrors, ...] | None:
    """Return the errors at every γ, with each on screen as soon as it is computed."""
    dataset, values = inputs.dataset, options.reliabilities

    def work(job: Job) -> tuple[ScoreErrors, ...]:
        done = []
        for place, value in enumerate(values):
            done.append(
                cached.run(
                    job, score_errors, dataset.coded, dataset.coded, model, inputs.predictions, reliability=value,
                    n_draws=options.n_draws, seed=options.seed, seconds=_PER_CASE * dataset.n_cases,
                )
            )  # fmt: skip
            job.report((place + 1) / len(values))
        return tuple(done)

    who = tuple((one.name, predictions.fingerprint(one)) for one in inputs.predictions)
    key = plausibility_models.job_key(dataset, model, "score errors", values, who)
    return job_progress.result_of(key, "Errors of predictors", work, of=dataset)
