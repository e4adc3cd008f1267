"""By what raters are judged: the model or gold, what is acceptable, and how often flags may be wrong."""

from dataclasses import replace

import streamlit as st

from core.analyses.raters import AssessedOptions
from core.analyses.raters.table import DEFAULT_MODEL, takes_average
from core.annotations.dataset import Dataset
from core.methods import methods
from core.models.average import METHOD as AVERAGE
from core.models.catalogue import Fitted
from core.models.gold import gold_cases, note_of_one_class
from core.models.rater_methods import RaterModelMethod
from core.models.result import RaterModelFit
from core.raters.accuracy_threshold import default_judge
from core.raters.flags import FALSE_ALARMS
from core.raters.following import can_follow
from core.raters.monitoring import default_request
from core.raters.one_class import FALSE_DISCOVERIES
from core.text import markdown, percent, plural
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import widgets

_RATES = (0.01, 0.05, 0.1, 0.2)
_JUDGES = {"gold": "Gold", "model": "The model"}


def choose(view: Dataset) -> tuple[AssessedOptions, RaterModelFit | None]:
    """Draw the settings, which apply to all pages; return them, and the posterior of a Models fit if one judges."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        model, fit = _model(view)
        options = replace(AssessedOptions(), model=model, judged_by=_judge(view), acceptable=_acceptable(view))
        with st.popover("Error rates", icon=":material/tune:", key="error_rates"):
            alarms = _rate("False alarms across all raters", FALSE_ALARMS, "false_alarms", "signs")
            discoveries = _rate(
                "False discoveries among flagged raters", FALSE_DISCOVERIES, "false_discoveries", "acceptable"
            )
    return replace(options, false_alarms=alarms, fdr=discoveries), fit


def _model(view: Dataset) -> tuple[object, RaterModelFit | None]:
    drawn = {f"{one.title}, posterior": one for one in _drawn(view)}
    titles = {
        method.name: method.title
        for method in methods(RaterModelMethod).values()
        if "em" in method.ways and (view.ordinal or "order" not in method.needs)
    }
    names = [DEFAULT_MODEL, *titles, *drawn]
    default = AVERAGE.title if takes_average(view, AssessedOptions()) else titles[default_request(view).model]
    chosen = st.selectbox(
        "Rater model",
        names,
        format_func=lambda name: f"{default} (default)" if name == DEFAULT_MODEL else titles.get(name, name),
        key="raters_model",
        help=widgets.explained("rater models"),
        persist_state="session",
        width=340,
    )
    if chosen in drawn:
        return drawn[chosen].request, drawn[chosen].fit
    return (chosen if chosen in names else DEFAULT_MODEL), None


def _drawn(view: Dataset) -> list[Fitted]:
    """Posteriors of this session's Models page that tell the same classes of the same cases."""
    found = []
    for key in visit.models_asked:
        job = cached.known(key)
        if job is None or job.state != "done" or key[0] != view.content_digest:
            continue
        one: Fitted = cached.result(job, view)
        same = one.fit.classes == view.classes and one.dataset.content_digest == view.content_digest
        if one.request.way == "nuts" and same and one.request.method.is_truth and one.fit.converged:
            found.append(one)
    return found


def _judge(view: Dataset) -> str | None:
    n_gold = len(gold_cases(view))
    if not n_gold:
        return None
    return st.segmented_control(
        f"Reference for accuracy ({plural(n_gold, 'case has', 'cases have')} gold)",
        list(_JUDGES),
        default=default_judge(view),
        required=True,
        format_func=_JUDGES.get,
        key=f"raters_judge-{view.digest}",
        help=markdown(note_of_one_class(view)) or None,
        persist_state="session",
    )


def _acceptable(view: Dataset) -> float | None:
    return st.number_input(
        "Acceptable correlation" if can_follow(view) else "Acceptable accuracy",
        0.0,
        1.0,
        value=None,
        step=0.05,
        placeholder="from the data",
        key="acceptable",
        help=widgets.explained("follows" if can_follow(view) else "acceptable"),
        persist_state="session",
        width=200,
    )


def _rate(label: str, default: float, key: str, term: str) -> float:
    return st.select_slider(
        label,
        _RATES,
        value=default,
        format_func=percent,
        key=key,
        help=widgets.explained(term),
        persist_state="session",
        width=260,
    )
