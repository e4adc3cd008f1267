"""Reviews in addition to the annotations on the Cases page: state of a case, decisions, reviewers and times."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.review.events import Event
from core.review.export import time_of
from core.review.opinions import REASONS
from core.review.states import SETTLED, STATES, CaseReview
from core.text import markdown, percent, plural
from pages.shared.cache import visit

_SHORT = {"read": "read", "second_opinion": "asked", "arbitration": "disputed", "adjudicated": "decided"}
_COLOURS = {"closed": "green", "adjudicated": "green", "arbitration": "orange", "second_opinion": "orange"}


def state_of(whole: Dataset, review: CaseReview | None) -> str:
    """Return the state of a case in a word, for the worklist; empty if the user may still read the case blind."""
    if review is None:
        return ""
    name = visit.reviewer
    may_know = name is None or name in review.unblinded or (whole.digest, review.case_id) in visit.review_seen
    state = review.state if may_know else review.seen_by(name).state
    return "" if state == "open" else _SHORT.get(state, STATES[state])


def show(whole: Dataset, review: CaseReview | None, case_id: str) -> None:
    """Show the reviewers' opinions on a case and its outcome, and that an opinion submitted now is open."""
    visit.review_seen |= {(whole.digest, case_id)}
    if review is not None and review.events:
        with st.container(border=True, key="case_review"):
            _review(review)
    name = visit.reviewer
    if name and (review is None or (review.read_by(name) is None and name not in review.unblinded)):
        st.caption(
            f":material/visibility: {markdown(name)}, you can see the annotations here. If you review this case later, "
            "your opinion will be recorded as open, not blind."
        )


def _review(review: CaseReview) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Review**", width="content")
        st.badge(STATES[review.state], icon=":material/flag:", color=_COLOURS.get(review.state, "gray"))
        if review.adjudication is not None:
            st.markdown(_told("Decided", review.adjudication), width="stretch")
    for read in review.reads:
        first = f", at first {markdown(read.first.words())}" if read.first != read.opinion else ""
        st.markdown(f"{markdown(read.reviewer)}: **{markdown(read.opinion.words())}** ({read.visible}{first})")
    last = review.events[-1]
    decided = "Reviewers' opinions are not counted as annotations." if review.state in SETTLED else ""
    latest = "" if review.version == 1 else "the last "
    st.caption(
        f"{plural(review.version, 'review step')}, {latest}by {markdown(last.reviewer)} on {_when(last)}. "
        f"{decided}".strip()
    )


def _told(verb: str, event: Event) -> str:
    parts = [f"{verb}: **{markdown(event.opinion.words())}**, by {markdown(event.reviewer)}, {_when(event)}"]
    parts += [f"{percent(event.confidence)} sure"] if event.confidence is not None else []
    parts += [REASONS[event.reason]] if event.reason else []
    parts += [f"“{markdown(event.note)}”"] if event.note.strip() else []
    return " · ".join(parts)


def _when(event: Event) -> str:
    return f"{time_of(event.at)[:16].replace('T', ' ')} UTC"
