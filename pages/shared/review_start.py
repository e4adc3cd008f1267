"""Before a review: who reviews, which cases come, and sessions to go on with."""

import numpy as np
import streamlit as st

from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.certainty.next_opinion import next_opinion
from core.certainty.risk import expected_risk
from core.errors import PluralityError
from core.review import worklist
from core.review.desk import Desk
from core.review.filters import Filter, matching
from core.review.sessions import Session
from core.review.states import STATES
from core.text import markdown, plural
from pages.shared import cached, jobs_ui, plausibility, predictions, widgets

QUEUES = {
    "certainty": "Lowest certainty first",
    "gain": "Largest gain from one more opinion",
    "split": "The panel is split",
    "risk": "High risk in doubt",
    "classifier": "A classifier against a certain panel",
    "single": "Only one rater so far",
}
SIZES = (5, 10, 20, 50)


def reviewer() -> str | None:
    """Who reviews; asked once."""
    name = st.text_input(
        "Your name, as it will stand in the record", key="reviewer", max_chars=200, width=360, persist_state="session"
    )
    return name.strip() or None


def begin(desk: Desk, dataset: Dataset, model, reliability: float) -> None:
    """Choose a queue and start a session, or go on with an earlier one."""
    asked = desk.asked()
    if asked:
        queued = [worklist.Queued(case, f"{how} second opinion") for case, how in asked.items()]
        with st.container(border=True):
            st.markdown(f"**You are asked for a second opinion on {plural(len(asked), 'case')}.**")
            st.button(
                "Review them now", type="primary", key="start_asked", on_click=_start,
                args=(desk, "second opinions", queued),
            )  # fmt: skip
    widgets.heading("A new session", "review queue")
    left, right = st.columns([4, 2], vertical_alignment="bottom")
    offered = _offered(dataset)
    name = left.selectbox("Which cases first", offered, format_func=QUEUES.get, key="queue", persist_state="session")
    size = right.select_slider("How many", SIZES, value=10, key="session_size", persist_state="session")
    wanted = _filter(dataset)
    queue = _queue(name, dataset, model, reliability)
    if queue is not None:
        try:
            among = matching(dataset, wanted, desk.store.cases(dataset.digest))
            cases = queue.batch(dataset, size, among)
        except PluralityError as error:
            st.error(markdown(error), icon=":material/error:")
            return
        if not cases:
            st.info("No open case is in this queue.", icon=":material/done_all:")
        else:
            st.button(
                f"Start with {plural(len(cases), 'case')}", type="primary", icon=":material/play_arrow:",
                on_click=_start, args=(desk, QUEUES[name], cases), key="start_session",
            )  # fmt: skip
    _earlier(desk)


def _start(desk: Desk, title: str, cases) -> None:
    try:
        st.session_state["review_session"] = desk.start(title, cases).id
    except PluralityError as error:
        st.session_state["review_error"] = str(error)


def _earlier(desk: Desk) -> None:
    sessions = desk.sessions()
    if not sessions:
        return
    widgets.heading("Earlier sessions")
    for session in sessions[:8]:
        progress = desk.progress(session)
        with st.container(horizontal=True, vertical_alignment="center", border=True):
            st.markdown(
                f"**{markdown(session.title)}** · {progress.done} of {plural(progress.total, 'case')} done",
                width="stretch",
            )
            word = "Go on" if progress.current else "See the list"
            st.button(word, key=f"resume-{session.id}", on_click=_resume, args=(session,))


def _resume(session: Session) -> None:
    st.session_state["review_session"] = session.id


def _offered(dataset: Dataset) -> list[str]:
    names = ["certainty", "gain", "split"]
    if dataset.class_risk is not None and (dataset.class_risk >= 0).all():
        names.append("risk")
    if predictions.classifiers(dataset):
        names.append("classifier")
    if (np.diff(dataset.case_ptr) == 1).any():
        names.append("single")
    return names


def _filter(dataset: Dataset) -> Filter:
    with st.expander("Only some cases"):
        named = st.selectbox("On which this class was named", [None, *dataset.classes], key="filter_class",
                             format_func=lambda name: "any" if name is None else name)  # fmt: skip
        rater = pair = None
        if dataset.raters_identified:
            rater = st.selectbox("That this rater answered", [None, *dataset.raters], key="filter_rater",
                                 format_func=lambda name: "any" if name is None else name)  # fmt: skip
            both = st.multiselect(
                "Where these two disagree", dataset.raters, default=_pair(dataset), max_selections=2, key="filter_pair"
            )
            pair = tuple(both) if len(both) == 2 else None
        states = st.multiselect(
            "In these states (none chosen: all that are open)",
            list(STATES),
            format_func=STATES.get,
            key="filter_states",
        )
    return Filter(named=named, rater=rater, pair=pair, states=tuple(states) or None)


def _pair(dataset: Dataset) -> list[str]:
    """The two raters chosen last in the agreement matrix."""
    pair = st.session_state.get("pair", ())
    return list(pair) if all(name in dataset.raters for name in pair) else []


def _queue(name: str, dataset: Dataset, model, reliability: float) -> worklist.Queue | None:
    view = plausibility.data_for(model.name, dataset, quietly=True)
    if name == "split":
        return worklist.split_panel(class_counts(cached.class_view(dataset, None)[0]), dataset.classes)
    if name == "gain":
        found = jobs_ui.result_of(
            plausibility.job_key(view, model, "next opinion", reliability),
            "Gain from one more opinion",
            lambda job: next_opinion(
                model, view, reliability=reliability, n_draws=plausibility.N_DRAWS, seed=plausibility.SEED,
                token=job.token, progress=job.report,
            ),
        )  # fmt: skip
        return None if found is None else worklist.largest_gain(found)
    result = plausibility.certainty(view, model, reliability)
    if result is None:
        return None
    certainty = result.certainty[:, 0]
    if name == "certainty":
        return worklist.lowest_certainty(certainty)
    if name == "single":
        return worklist.single_rater(dataset, certainty)
    if name == "risk":
        risk = jobs_ui.result_of(
            plausibility.job_key(view, model, "risk", reliability),
            "Risk of all cases",
            lambda job: expected_risk(
                model, view, reliability=reliability, n_draws=plausibility.N_DRAWS, seed=plausibility.SEED,
                token=job.token, progress=job.report,
            ),
        )  # fmt: skip
        return None if risk is None else worklist.risk_times_uncertainty(certainty, risk.expected)
    classifiers = {one.name: one for one in predictions.classifiers(dataset)}
    which = st.selectbox("Classifier", list(classifiers), key="queue_classifier")
    return worklist.classifier_against_panel(certainty, result.top_class(), classifiers[which], dataset.classes)
