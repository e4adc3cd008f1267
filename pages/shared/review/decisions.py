"""Decisions found again: by person, state and date, with the history of a case, undo, and export."""

import streamlit as st

from core.errors import PluralityError
from core.review.decisions import Decision, decision_table, decisions, quick_words
from core.review.export import trail_table
from core.review.reviewer_session import Desk, new_token
from core.review.sessions import Queued
from core.review.states import STATES, CaseReview
from core.text import markdown, plural, shorten
from pages.shared.cache import visit
from pages.shared.kit import columns, widgets
from pages.shared.review import days as review_days

_HISTORY = {
    "at": "at (UTC)", "reviewer": "by", "event": "step", "visible": "read", "old": "before", "new": "after",
    "panel": "panel's result", "reason": "reason", "note": "note", "undone": "undone",
}  # fmt: skip
_STEPS = {"second_opinion": "second opinion requested", "arbitration": "sent to arbitration", "adjudication": "decided"}


def show(desk: Desk) -> None:
    """Draw the filtered list: by default the reviewer's own decisions, or everybody's if they have none."""
    dataset = desk.dataset
    reviews = desk.store.cases(dataset.digest)
    if not reviews:
        st.info("No decisions yet. Review cases to record decisions.", icon=":material/hourglass_empty:")
        return
    found, hidden = _open_to(desk, reviews, _chosen(desk, reviews))
    if hidden:
        st.caption(
            f"{plural(hidden, 'decision by another reviewer is', 'decisions by other reviewers are')} hidden, so "
            "that you can still review these cases blind."
        )
        st.toggle("Show these decisions and count the cases as seen", key="decisions_all")
    if not found:
        if not hidden:
            st.info("No decision matches these filters.", icon=":material/search_off:")
        return
    frame = decision_table(dataset, found)
    which = [one.case_id for one in found]
    picked = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_order=[name for name in frame.columns if name != "data"],
        column_config=columns.whole(frame, "decision", "state"),
        height=min(420, 36 * (len(frame) + 1) + 2),
        # A choice is the place of a row: in a list that changed it would be another case, and "Undo" would be of that.
        key=f"decisions-{hash(tuple(which))}",
    )
    quick = f" {quick_words(found)}"
    st.caption(f"{plural(len(found), 'decision')}, latest first. Choose a row to see the history of its case.{quick}")
    if picked.selection.rows:
        del visit.decisions_undone
        _history(desk, reviews[which[picked.selection.rows[0]]])
    elif visit.decisions_undone[0] == dataset.digest:
        _history(desk, reviews[visit.decisions_undone[1]])
    listed = {one.case_id: reviews[one.case_id] for one in found}
    with st.container(horizontal=True):
        widgets.download(frame, "These decisions", "decisions", "decisions_table")
        widgets.download(trail_table(dataset, listed), "Their history", "decisions_history", "decisions_history")


def _chosen(desk: Desk, reviews: dict[str, CaseReview]) -> list[Decision]:
    """Decisions that the filters let through."""
    people = dict.fromkeys(one.reviewer for one in decisions(reviews))
    left, middle, right = st.columns([3, 4, 3])
    names = [desk.reviewer, *(name for name in people if name != desk.reviewer), None]
    at_first = 0 if desk.reviewer in people else names.index(None)
    who = left.selectbox("By", names, at_first, format_func=lambda name: _called(desk, name), key="decisions_by")
    states = middle.multiselect("Cases that are", list(STATES), format_func=STATES.get, key="decisions_states")
    with right:
        span = review_days.asked("Days (UTC)", "decisions_days")
    since, until = (None if end is None else end * 1_000_000 for end in span)
    return decisions(reviews, reviewer=who, states=states, since=since, until=until)


def _called(desk: Desk, name: str | None) -> str:
    if name is None:
        return "Anybody"
    return f"{shorten(name, 40)} (you)" if name == desk.reviewer else shorten(name, 40)


def _open_to(desk: Desk, reviews: dict[str, CaseReview], found: list[Decision]) -> tuple[list[Decision], int]:
    """Return the decisions that this reviewer may see, and the number withheld so that blind reads remain possible."""
    mine = desk.reviewer
    closed = [one for one in found if one.reviewer != mine and mine not in reviews[one.case_id].unblinded]
    if visit.flag["decisions_all"]:
        for one in closed:
            visit.review_seen |= {(desk.dataset.digest, one.case_id)}
        return found, 0
    return [one for one in found if one not in closed], len(closed)


def _history(desk: Desk, review: CaseReview) -> None:
    """Every step on a case, and what this reviewer can do about it."""
    widgets.heading(f"Case {markdown(shorten(review.case_id, 60))}")
    known = review if desk.reviewer in review.unblinded else review.seen_by(desk.reviewer)
    frame = trail_table(desk.dataset, {review.case_id: known})
    frame["event"] = [_STEPS.get(event, event) for event in frame["event"]]
    shown = frame[list(_HISTORY)].rename(columns=_HISTORY)
    st.dataframe(
        shown,
        hide_index=True,
        column_config=columns.whole(shown, "step", "before", "after", "panel's result"),
        key="decision_history",
    )
    with st.container(horizontal=True):
        if _can_undo(desk, review):
            st.button("Undo my last step", icon=":material/undo:", on_click=_undo, args=(desk, review),
                      key="decision_undo")  # fmt: skip
        st.button("Open the case", icon=":material/open_in_full:", on_click=_open, args=(desk, review.case_id),
                  key="decision_open")  # fmt: skip


def _can_undo(desk: Desk, review: CaseReview) -> bool:
    if not any(event.reviewer == desk.reviewer for event in review.events):
        return False
    try:
        desk.follows(desk.draft(review.case_id, "undo"))
    except PluralityError:
        return False
    return True


def _undo(desk: Desk, review: CaseReview) -> None:
    with visit.error_in("review_error"):
        desk.send(desk.draft(review.case_id, "undo"), seen=review.version, token=new_token())
        visit.decisions_undone = (desk.dataset.digest, review.case_id)  # what follows from it stays on screen


def _open(desk: Desk, case_id: str) -> None:
    with visit.error_in("review_error"):
        visit.review_session = desk.start("Viewed again", [Queued(case_id)]).id
        visit.review_case = case_id
