"""Review: cases that nobody is sure of, read blind first, then beside the panel; nothing is ever overwritten."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import NotFoundError
from core.review.reviewer_session import Desk
from core.review.sessions import Session
from core.review.store import ReviewStore
from core.text import markdown
from pages.shared.cache import access
from pages.shared.kit import navigation, plausibility_models, reliability_slider, scores, state, trusted_raters, widgets
from pages.shared.review import after as review_after
from pages.shared.review import assigned as review_assigned
from pages.shared.review import decisions as review_decisions
from pages.shared.review import presses as review_presses
from pages.shared.review import session as review_session
from pages.shared.review import start as review_start


def _page() -> None:
    review_session.style()
    review_presses.catch_up()
    widgets.require_data()
    dataset = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    title = st.empty()
    title.title("Which cases need another opinion?")
    if error := st.session_state.pop("review_error", None):
        st.error(markdown(error), icon=":material/error:")
    if not state.selection().everything:
        st.caption("A review is of all annotations, whatever is selected.")
    store = access.store()
    name = review_start.reviewer(store, dataset)
    people = state.people_of(dataset)
    model = _model(people)
    if model is None:
        return
    reliability = reliability_slider.in_use(people, model)
    if name is None:
        review_start.awaits(store, dataset, people, model, reliability)
        return
    desk = Desk(store, dataset, name)
    session = _session(store, dataset, name)
    if session is None or not desk.progress(session).done:  # said until the first case is done
        review_start.kept_for_it()
    if session is not None:
        review_session.show(title, desk, session, model, reliability)
        return
    review_start.named(name)
    review, decided, given, shown, away = widgets.tabs(
        ["Review", "Decisions", "Assignments", "What reviews show", "Export"], review_session.TABS
    )
    if review.open:
        with review:
            review_start.begin(desk, dataset, model, reliability)
    if decided.open:
        with decided:
            review_decisions.show(desk)
    if given.open:
        with given:
            review_assigned.overview(desk)
    if shown.open:
        with shown:
            review_after.figures(store, dataset, model, reliability)
    if away.open:
        with away:
            review_after.take_away(store, dataset)


def _model(dataset: Dataset):
    """The plausibility model as chosen; of scores the one with the prior of all of them, None until that is there."""
    if dataset.kind != "score":
        return trusted_raters.or_default(dataset, plausibility_models.as_chosen(dataset))
    widgets.forget_split()
    found = scores.model(dataset, st.session_state.get("threshold"), blind=True)
    return None if found is None else found[0]


def _session(store: ReviewStore, dataset: Dataset, name: str) -> Session | None:
    """The session in hand, where it is this reviewer's and of this dataset."""
    chosen = st.session_state.get("review_session")
    if chosen is None:
        return None
    try:
        session = store.session(chosen)
    except NotFoundError:  # its dataset was forgotten
        session = None
    if session is None or session.reviewer != name or session.dataset != dataset.digest:
        st.session_state.pop("review_session")
        return None
    return session


navigation.through_app()
_page()
review_presses.drawn()
