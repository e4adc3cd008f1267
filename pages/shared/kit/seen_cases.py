"""Cases whose annotations were on screen outside a review: an opinion on them afterwards is not blind."""

import streamlit as st

_SEEN = "review_seen"


def mark(digest: str, case_id: str) -> None:
    """Record that the annotations on a case are on screen."""
    st.session_state.setdefault(_SEEN, set()).add((digest, case_id))


def seen(digest: str, case_id: str) -> bool:
    """Return True if the annotations on a case were on screen in this session."""
    return (digest, case_id) in st.session_state.get(_SEEN, ())
