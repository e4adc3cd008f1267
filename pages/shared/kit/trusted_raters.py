"""What a model learns of raters from all cases, before the plausibilities of any case.

Trust in each rater takes a chain over all cases: its price is shown, and it is estimated when asked for. The ordinal
model of raters takes a moment and is fitted without a question.
"""

from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.models.result import RaterModelFit
from core.plausibility.plackett_luce.rater_trust import RaterTrust
from core.plausibility.protocol import PlausibilityModel
from core.runtime.jobs import Job
from core.text import markdown, plural
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import expected, job_progress, plausibility_models

TITLE = "Weight of each rater"
FIT_TITLE = "Ordinal model of raters"


def is_needed(model: PlausibilityModel) -> bool:
    """Return True if a model must learn about raters first: each rater's reliability, or their use of a scale."""
    return is_asked_for(model) or hasattr(model, "fitted")


def is_asked_for(model: PlausibilityModel) -> bool:
    """Return True if that takes too long to start unasked: a reliability for each rater."""
    return hasattr(model, "trusted")


def default_model(dataset: Dataset) -> PlausibilityModel | None:
    """Return the model that estimates rater reliability on these data, with its default prior, or None."""
    models = [plausibility_models.made(name, dataset) for name in plausibility_models.offered(dataset)]
    return next((model for model in models if is_asked_for(model)), None)


def known(view: Dataset, model: PlausibilityModel) -> RaterTrust | RaterModelFit | None:
    """Return the estimated rater reliabilities, or the fit, if they are known; starts nothing."""
    return cached.known_result(_key(view, model), _title(model), view)


def in_hand(view: Dataset, model: PlausibilityModel) -> PlausibilityModel | None:
    """Return the model with its rater reliabilities; None if it needs some that were not requested yet."""
    if not is_needed(model):
        return model
    return _with(model, known(view, model))


def _with(model: PlausibilityModel, found: RaterTrust | RaterModelFit | None) -> PlausibilityModel | None:
    if found is None:
        return None
    return replace(model, **{"trusted" if is_asked_for(model) else "fitted": found})


def _title(model: PlausibilityModel) -> str:
    return TITLE if is_asked_for(model) else FIT_TITLE


def or_default(dataset: Dataset, model: PlausibilityModel) -> PlausibilityModel:
    """Return the model, or the first one that needs nothing of raters while its own needs are not computed.

    Quick computations are started, and the page is redrawn when they are done.
    """
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    found = in_hand(view, model)
    if found is not None:
        return found
    if not is_asked_for(model):
        job = cached.job(_key(view, model), _title(model), _work(view, model), "opening", view, background=True)
        if not job.finished:
            job_progress.redraw_after(job)
    others = (plausibility_models.made(name, dataset) for name in plausibility_models.offered(dataset))
    return next(other for other in others if not is_needed(other))


def is_awaited(dataset: Dataset, wanted: PlausibilityModel, used: PlausibilityModel) -> bool:
    """Return True if a page uses another model only until a quick fit for the wanted one is computed; see `or_default`.

    Parameters
    ----------
    dataset : Dataset
    wanted, used : PlausibilityModel
    """
    if wanted.name == used.name or not is_needed(wanted) or is_asked_for(wanted):
        return False
    view = plausibility_models.data_for(wanted.name, dataset, quietly=True)
    job = cached.known(_key(view, wanted))
    return job is not None and job.state not in ("failed", "cancelled")


def asked_for(view: Dataset, model: PlausibilityModel, n_reliabilities: int = 1) -> PlausibilityModel | None:
    """Return the model with its rater reliabilities; until then, None, with their cost and a button to start."""
    if not is_needed(model):
        return model
    found = known(view, model)
    wanted = f"_trust_wanted-{view.content_digest}-{plausibility_models.job_key(view, model)}"
    if found is None and is_asked_for(model) and not visit.flag[wanted]:
        _offer(view, model, n_reliabilities, wanted)
        return None
    if found is None:
        found = job_progress.result_of(_key(view, model), _title(model), _work(view, model), of=view)
    return _with(model, found)


def _offer(view: Dataset, model: PlausibilityModel, n_reliabilities: int, wanted: str) -> None:
    method = plausibility_models.method(model.name)
    with st.container(border=True, key="trust_offer"):
        st.markdown(
            f"**{method.title} estimates how much each rater should count, using all "
            f"{plural(view.n_cases, 'case')}.** The computation starts when you press the button. You can use other "
            "pages while it runs."
        )
        seconds = job_progress.result_of(
            ("price", *_key(view, model), n_reliabilities),
            "Estimating the computing time",
            lambda job: model.expected_seconds(
                view.coded,
                reliability=model.default_reliability,
                n_draws=plausibility_models.N_DRAWS,
                n_reliabilities=n_reliabilities,
            ),
        )
        if seconds is None:
            return
        at = f", including plausibilities at {n_reliabilities:,} values of γ" if n_reliabilities > 1 else ""
        st.markdown(markdown(f"This takes {duration(seconds)} on this computer{at}. The result is saved."))
        st.button(
            "Estimate the weight of each rater",
            type="primary",
            icon=":material/play_arrow:",
            on_click=visit.flag.__setitem__,
            args=(wanted, True),
            key="start_trust",
        )


def duration(seconds: float) -> str:
    """Return a length of time as text, rounded up."""
    if seconds <= 5:
        return "a few seconds"
    if seconds < 90:
        return f"about {5 * int(-(-seconds // 5))} seconds"
    return f"about {int(-(-seconds // 60))} minutes"


def _key(view: Dataset, model: PlausibilityModel) -> tuple:
    return plausibility_models.job_key(view, model, "trust")


def _work(view: Dataset, model: PlausibilityModel):
    def fit(job: Job) -> RaterModelFit:
        return cached.run(job, type(model).fit, view.coded, model, view.coded, seconds=expected.of_fits(view))

    if not is_asked_for(model):
        return fit

    def work(job: Job) -> RaterTrust:
        return cached.run(
            job,
            type(model).fit,
            view.coded,
            model,
            view.coded,
            reliability=model.default_reliability,
            n_draws=plausibility_models.N_DRAWS,
            seed=plausibility_models.SEED,
            seconds=expected.LONG,
        ).raters

    return work
