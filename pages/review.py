"""Review: uncertain cases, read blind first and then with the panel's annotations; nothing is ever overwritten."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import NotFoundError
from core.review.reviewer_session import Desk
from core.review.sessions import Session
from core.text import markdown
from pages.shared.cache import access, visit
from pages.shared.kit import navigation, plausibility_models, reliability_slider, scores, state, trusted_raters, widgets
from pages.shared.review import after as review_after
from pages.shared.review import assigned as review_assigned
from pages.shared.review import decisions as review_decisions
from pages.shared.review import presses as review_presses
from pages.shared.review import session as review_session
from pages.shared.review import start as review_start


def _page() -> None:
    review_session.style()
    review_session.warn_before_end()
    review_presses.catch_up()
    widgets.require_data()
    dataset = state.whole().dataset  # reviews belong to the whole dataset, whatever is selected
    store, name = access.store(), visit.reviewer
    desk = Desk(store, dataset, name) if name else None
    begun = _begin(desk)
    if error := visit.review_error:
        st.error(markdown(error), icon=":material/error:")
    if not state.selection().everything:
        st.caption("A review always includes all annotations, even if you selected some of them.")
    if desk is None:
        review_start.ask_name(store, dataset)
    people = state.people_of(dataset)
    model = _model(people)
    if model is None:
        return
    settings = reliability_slider.in_use(people, model, waits=desk is None)
    reliability = settings.reliability
    if desk is None:
        review_start.awaits(store, dataset, people, model, settings)
        return
    if begun is None or not begun.progress.done:  # said until the first case is done
        review_start.kept_for_it()
    if begun is not None:
        review_session.show(begun, model, reliability)
        return
    review_start.named(name)
    _tabs(desk, model, reliability)


def _begin(desk: Desk | None) -> review_session.SessionOnScreen | None:
    """Draw the heading of the page, and return the current session, if any."""
    session = None if desk is None else _session(desk)
    if session is not None:
        return review_session.begin(desk, session)
    st.title("Which cases need another opinion?")
    return None


def _tabs(desk: Desk, model, reliability: float) -> None:
    review, decided, given, shown, away = widgets.tabs(
        ["Review", "Decisions", "Assignments", "What reviews show", "Export"], review_session.TABS
    )
    if review.open:
        with review:
            review_start.begin(desk, desk.dataset, model, reliability)
    if decided.open:
        with decided:
            review_decisions.show(desk)
    if given.open:
        with given:
            review_assigned.overview(desk)
    if shown.open:
        with shown:
            review_after.figures(desk.store, desk.dataset, model, reliability)
    if away.open:
        with away:
            review_after.take_away(desk.store, desk.dataset)


def _model(dataset: Dataset):
    """Return the chosen plausibility model; for scores, with the prior of all of them, or None until it is known."""
    if dataset.kind != "score":
        return trusted_raters.or_default(dataset, plausibility_models.as_chosen(dataset))
    widgets.forget_split()
    found = scores.model(dataset, visit.threshold, blind=True)
    return None if found is None else found[0]


def _session(desk: Desk) -> Session | None:
    """Return the current session if it belongs to this reviewer and this dataset."""
    chosen = visit.review_session
    if chosen is None:
        return None
    try:
        session = desk.store.session(chosen)
    except NotFoundError:  # its dataset was forgotten
        session = None
    if session is None or session.reviewer != desk.reviewer or session.dataset != desk.dataset.digest:
        del visit.review_session
        return None
    return session


navigation.through_app()
_page()
review_presses.drawn()
