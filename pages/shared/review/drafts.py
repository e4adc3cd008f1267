"""Drafts: what somebody who signed in has typed on a case and not recorded, saved for when their session ends.

They are saved as a field is left and whenever the case is drawn, per person and case, and forgotten once recorded.
"""

import json
from typing import Any

import streamlit as st

from pages.shared.cache import access

_SAVED = "review_drafts"  # per case, as saved
_FORM = ("chosen", "score", "confidence", "reason", "note", "whom", "doing")
_TYPED = ("score", "note")  # without one of these nothing is saved


def take_up(case: str) -> None:
    """Put what was typed on a case in an earlier session back into its forms.

    Parameters
    ----------
    case : str
        The case in its review session (`CaseOnScreen.place`).
    """
    saved = st.session_state.setdefault(_SAVED, {})
    if case not in saved:
        typed = access.drafts(st.session_state["data"]).get(case, {})
        saved[case] = json.dumps(typed)
        for key, value in typed.items():
            st.session_state.setdefault(key, value)


def keep(case: str) -> None:
    """Save what is typed on a case now, if it differs from what is saved."""
    saved = st.session_state.setdefault(_SAVED, {})
    typed = _typed(case)
    if (text := json.dumps(typed)) != saved.get(case, "{}"):
        access.keep_draft(st.session_state["data"], case, typed)
        saved[case] = text


def kept(case: str) -> dict[str, Any]:
    """Return options by which a field is saved as soon as it is left, also if the session is over by then."""
    return {"on_change": keep, "args": (case,)}


def _typed(case: str) -> dict[str, Any]:
    of_case = [key for key in map(str, st.session_state) if key.endswith(f"-{case}")]
    form = {key: st.session_state[key] for key in of_case if key.partition("-")[0] in _FORM}
    form = {key: value for key, value in form.items() if value not in (None, "")}
    return form if any(key.partition("-")[0] in _TYPED for key in form) else {}
