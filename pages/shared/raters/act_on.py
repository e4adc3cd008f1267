"""Raters to act on: what is acceptable, who is below it, and what would change without a rater."""

from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.rater_codes import with_codes
from core.errors import PluralityError
from core.models.catalogue import fit_request
from core.models.gold import gold_cases
from core.raters.acceptable import default_judge
from core.raters.following import can_follow
from core.raters.influence import Influence, influence
from core.raters.monitoring import RaterTable, default_request
from core.raters.one_class import FALSE_DISCOVERIES
from core.raters.to_act_on import ToActOn, raters_to_act_on
from core.text import markdown, number, percent, plural
from pages.shared.kit import job_progress, state, widgets

_RATES = (0.01, 0.05, 0.1, 0.2)
_JUDGES = {"gold": "Gold", "model": "The model"}


def settings(view: Dataset) -> dict:
    """What is acceptable, and by whom it is judged."""
    n_gold = len(gold_cases(view))
    judge = None
    if n_gold:
        judge = st.segmented_control(
            f"Accuracy by (gold: {plural(n_gold, 'case')})",
            list(_JUDGES),
            default=default_judge(view),
            required=True,
            format_func=_JUDGES.get,
            key=f"raters_judge-{view.digest}",
            persist_state="session",
        )
    acceptable = st.number_input(
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
    return {"acceptable": acceptable, "judged_by": judge}


def false_discoveries() -> float:
    """How many of those flagged as below what is acceptable may be acceptable after all."""
    return st.select_slider(
        "False discoveries among those flagged",
        _RATES,
        value=FALSE_DISCOVERIES,
        format_func=percent,
        key="false_discoveries",
        help=widgets.explained("acceptable"),
        persist_state="session",
        width=260,
    )


def found(view: Dataset, table: RaterTable, key: tuple, asked: dict) -> ToActOn | None:
    """Everything that speaks against the raters; None while it is computed."""
    return job_progress.result_of(
        (view.content_digest, "act on", table.model, key, tuple(asked.items())),
        "Raters against what is acceptable",
        lambda job: raters_to_act_on(with_codes(table, view), **asked, token=job.token),
        of=view,
    )


def without(view: Dataset, table: RaterTable, act: ToActOn, rater: str) -> None:
    """What changes if a rater is left out, and a button that makes it the selection.

    Of ordered classes only if something speaks against the rater: to read higher or lower is no reason to leave.
    """
    if act.following is not None and act.raters.index(rater) not in act.flagged():
        return
    widgets.heading("Without this rater")
    asked = default_request(view)
    fit = job_progress.result_of(
        (view.content_digest, "model", asked),
        f"Fitting {asked.title}",
        lambda job: fit_request(asked, view.coded, token=job.token, progress=job.report),
        of=view,
    )
    if fit is None:
        return
    try:
        change = influence(view, fit.fit, [rater])
    except PluralityError as error:
        st.caption(markdown(error))
        return
    st.markdown(_words(change))
    st.button(
        "Leave this rater out",
        icon=":material/person_remove:",
        on_click=_exclude,
        args=(rater,),
        help="A selection of annotations: it is said above every page, and one click brings everything back.",
        key="exclude_rater",
    )


def _words(change: Influence) -> str:
    def moved(pair) -> str:
        values = ["–" if one.value is None else number(one.value) for one in pair]
        return f"{values[0]} → {values[1]}"

    get = "gets" if change.n_changed == 1 else "get"
    words = (
        f"Of {plural(change.n_cases, 'case')} with {plural(change.n_annotations, 'annotation')} of this rater, "
        f"{change.n_changed:,} {get} another most probable class. Percent agreement {moved(change.percent)}, "
        f"Krippendorff α {moved(change.alpha)}"
    )
    if change.n_without:
        have = "case has" if change.n_without == 1 else "cases have"
        words += f"; {change.n_without:,} {have} no other annotation"
    if change.gold is not None:
        words += f"; right by gold {number(change.gold[0])} → {number(change.gold[1])} of {change.n_gold:,}"
    return f"{words}."


def _exclude(rater: str) -> None:
    chosen, whole = state.selection(), state.whole()
    kept = chosen.raters or (whole.dataset.raters if whole is not None else ())
    state.choose(replace(chosen, raters=tuple(name for name in kept if name != rater)))
