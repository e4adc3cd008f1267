"""Trust in each rater, which takes a chain over all cases: its price is shown, and it is estimated when asked for."""

from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.jobs import Job
from core.plausibility.plackett_luce.rater_trust import RaterTrust
from core.plausibility.protocol import PlausibilityModel
from core.text import markdown, plural
from pages.shared.cache import datasets as cached
from pages.shared.kit import expected, job_progress, plausibility_models

TITLE = "Trust in each rater"


def is_needed(model: PlausibilityModel) -> bool:
    """Whether a model trusts each rater differently, and must know how far."""
    return hasattr(model, "trusted")


def default_model(dataset: Dataset) -> PlausibilityModel | None:
    """The model that estimates trust on these data, with its default prior; None where none does."""
    models = [plausibility_models.made(name) for name in plausibility_models.offered(dataset)]
    return next((model for model in models if is_needed(model)), None)


def known(view: Dataset, model: PlausibilityModel) -> RaterTrust | None:
    """The trusts where they have been estimated; nothing is started."""
    return cached.known_result(_key(view, model), TITLE, view)


def in_hand(view: Dataset, model: PlausibilityModel) -> PlausibilityModel | None:
    """The model with its trusts; None where it needs some that nobody asked for yet."""
    if not is_needed(model):
        return model
    found = known(view, model)
    return None if found is None else replace(model, trusted=found)


def or_default(dataset: Dataset, model: PlausibilityModel) -> PlausibilityModel:
    """The model, or the one that a page opens with where its trusts have not been estimated."""
    view = plausibility_models.data_for(model.name, dataset, quietly=True)
    found = in_hand(view, model)
    return plausibility_models.made(plausibility_models.offered(dataset)[0]) if found is None else found


def asked_for(view: Dataset, model: PlausibilityModel, n_reliabilities: int = 1) -> PlausibilityModel | None:
    """The model with its trusts; until they are there, None, and what they cost with a button that starts them."""
    if not is_needed(model):
        return model
    found = known(view, model)
    wanted = f"_trust_wanted-{view.content_digest}-{plausibility_models.job_key(view, model)}"
    if found is None and not st.session_state.get(wanted):
        _offer(view, model, n_reliabilities, wanted)
        return None
    if found is None:
        found = job_progress.result_of(_key(view, model), TITLE, _work(view, model), of=view)
    return None if found is None else replace(model, trusted=found)


def _offer(view: Dataset, model: PlausibilityModel, n_reliabilities: int, wanted: str) -> None:
    method = plausibility_models.method(model.name)
    with st.container(border=True, key="trust_offer"):
        st.markdown(
            f"**{method.title} estimates how far each rater can be trusted, from all {plural(view.n_cases, 'case')} "
            "together.** It does not start until you ask for it; other pages stay usable meanwhile."
        )
        seconds = job_progress.result_of(
            ("price", *_key(view, model), n_reliabilities),
            "Estimating how long it takes",
            lambda job: model.expected_seconds(
                view.coded,
                reliability=model.default_reliability,
                n_draws=plausibility_models.N_DRAWS,
                n_reliabilities=n_reliabilities,
            ),
        )
        if seconds is None:
            return
        at = f", plausibilities at {n_reliabilities:,} reliabilities included" if n_reliabilities > 1 else ""
        st.markdown(markdown(f"It takes {duration(seconds)} on this computer{at}; afterwards the trusts are kept."))
        st.button(
            "Estimate the trust in each rater",
            type="primary",
            icon=":material/play_arrow:",
            on_click=st.session_state.__setitem__,
            args=(wanted, True),
            key="start_trust",
        )


def duration(seconds: float) -> str:
    """A length of time for people, rounded up."""
    if seconds <= 5:
        return "a few seconds"
    if seconds < 90:
        return f"about {5 * int(-(-seconds // 5))} seconds"
    return f"about {int(-(-seconds // 60))} minutes"


def _key(view: Dataset, model: PlausibilityModel) -> tuple:
    return plausibility_models.job_key(view, model, "trust")


def _work(view: Dataset, model: PlausibilityModel):
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
