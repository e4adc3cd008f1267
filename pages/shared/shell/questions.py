"""The switch between the questions of an upload, on every page."""

import streamlit as st

from core.analyses.questions import QUESTIONS
from core.text import shorten
from pages.shared.cache import datasets as cached
from pages.shared.kit import state


def switch() -> None:
    """Draw the switch of the question in use, with a link to compare all of them; nothing if there is only one."""
    address = st.session_state["data"]
    found = cached.questions(address)
    if address not in found.values():
        return
    names, key = list(found), f"question_in_use-{address}"
    st.selectbox(
        "Question",
        names,
        index=list(found.values()).index(address),
        format_func=lambda name: shorten(name, 40),
        key=key,
        label_visibility="collapsed",
        width=240,
        on_change=lambda: state.use(found[st.session_state[key]]),
    )
    st.button(
        "Compare questions", icon=":material/stacks:", type="tertiary", on_click=_compare, key="compare_questions"
    )


def _compare() -> None:
    st.session_state["agreement_tabs"] = QUESTIONS.title
    st.session_state["go_to"] = "agreement"
