"""Review: cases that nobody is sure of, read blind first, then beside the panel; nothing is ever overwritten."""

import streamlit as st

from core.errors import PluralityError
from core.review.desk import Desk
from core.review.store import open_store
from core.text import markdown, plural
from pages.shared import menu, plausibility, review_after, review_case, review_start, state, widgets


def _page() -> None:
    widgets.require_data()
    dataset = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    title = st.empty()
    title.title("Which cases need another opinion?")
    if error := st.session_state.pop("review_error", None):
        st.error(markdown(error), icon=":material/error:")
    if dataset.kind == "score":
        st.info("A review chooses among classes, and scores have none.", icon=":material/block:")
        return
    store = open_store()
    name = review_start.reviewer()
    if name is None:
        st.caption("Write your name to begin. It stands beside every opinion that you record.")
        return
    desk = Desk(store, dataset, name)
    names = plausibility.offered(dataset)
    wanted = st.session_state.get("model")
    model = plausibility.MODELS[wanted if wanted in names else names[0]]()
    reliability = float(st.session_state.get("reliability") or model.default_reliability)
    session = _session(store, dataset, name)
    if session is not None:
        title.title(markdown(f"{session.title}: {plural(len(session.cases), 'case')}"))
        review_case.show(desk, session, dataset, model, reliability)
        return
    review, shown, away = st.tabs(["Review", "What reviews show", "Take away"], key="review_tabs", on_change="rerun")
    with review:
        review_start.begin(desk, dataset, model, reliability)
    if shown.open:
        with shown:
            review_after.figures(store, dataset)
    if away.open:
        with away:
            review_after.take_away(store, dataset)


def _session(store, dataset, name: str):
    """The session in hand, where it is this reviewer's and of this dataset."""
    chosen = st.session_state.get("review_session")
    if chosen is None:
        return None
    try:
        session = store.session(chosen)
    except PluralityError:
        session = None
    if session is None or session.reviewer != name or session.dataset != dataset.digest:
        st.session_state.pop("review_session")
        return None
    return session


menu.through_app()
_page()
