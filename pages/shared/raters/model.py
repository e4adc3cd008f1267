"""By which model raters are judged: the default, any other, or a posterior that was drawn on the Models page."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.methods import methods
from core.models.catalogue import Fitted, Request, em_model, request
from core.raters.monitoring import RaterTable, default_request, monitor
from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, widgets

SEED = 0
USUAL = "usual"
_TITLE = "Looking at the raters"


def choose(view: Dataset) -> str | Request:
    """The select box; the choice stays on all pages."""
    drawn = {_label(one): one for one in _drawn(view)}
    titles = {
        method.name: method.title
        for method in methods("rater model").values()
        if "em" in method.ways and (view.ordinal or "order" not in method.needs)
    }
    options = [USUAL, *titles, *drawn]
    usual = titles[default_request(view).model]
    chosen = st.selectbox(
        "Judged by",
        options,
        format_func=lambda name: f"{usual} (default)" if name == USUAL else titles.get(name, name),
        key="raters_model",
        help=widgets.explained("rater models"),
        persist_state="session",
        width=340,
    )
    if chosen in drawn:
        return drawn[chosen].request
    return chosen if chosen in options else USUAL


def monitored(view: Dataset, chosen: str | Request, false_alarms: float) -> RaterTable | None:
    """The raters as that model sees them; None while it is worked out."""
    options = {"false_alarms": false_alarms, "seed": SEED}
    content, key = view.coded, (view.content_digest, "monitor", false_alarms, SEED)
    if chosen == USUAL or isinstance(chosen, Request):
        fit = None
        if chosen != USUAL:
            fit = with_codes(next(one.fit for one in _drawn(view) if one.request == chosen), view)
            key = (*key, chosen)
        return job_progress.result_of(
            key,
            _TITLE,
            lambda job: monitor(content, model=fit, **options, token=job.token, progress=job.report),
            of=view,
        )

    def work(job: Job) -> RaterTable:
        model = em_model(request(chosen))
        return monitor(content, model=model, **options, token=job.token, progress=job.report)

    return job_progress.result_of((*key, chosen), _TITLE, work, of=view)


def _drawn(view: Dataset) -> list[Fitted]:
    """Posteriors of this session's Models page that tell the same classes of the same cases."""
    found = []
    for key in st.session_state.get("_models_asked", ()):
        job = cached.known(key)
        if job is None or job.state != "done" or key[0] != view.content_digest:
            continue
        one: Fitted = cached.result(job, view)
        same = one.fit.classes == view.classes and one.dataset.content_digest == view.content_digest
        if one.request.way == "nuts" and same and one.request.method.is_truth and one.fit.converged:
            found.append(one)
    return found


def _label(one: Fitted) -> str:
    return f"{one.title}, posterior"
