"""Facts of raters, from a file that stays in this session: they are personal data, and nothing of them is saved."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.raters.groups import RaterFacts, facts_of_file
from core.text import listed, markdown
from pages.shared.kit import own_predictions, presentation, widgets

_FACTS = "_rater_facts"


def facts(view: Dataset) -> RaterFacts | None:
    """Facts of the raters that this session has brought; None if there are none for these raters."""
    found = st.session_state.get(_FACTS)
    if found is None or presentation.on():
        return None
    try:
        return facts_of_file(*found, view.raters)
    except PluralityError:
        return None


def ask(view: Dataset) -> RaterFacts | None:
    """Ask for a file of facts on raters; return None, with a message, while there is none."""
    upload = widgets.file_uploader(
        "Facts about raters", key="rater_facts",
        help="A table with one row per rater, or annotations with extra columns about their raters. Plurality does "
             "not save this file.",
    )  # fmt: skip
    if upload is not None and not own_predictions.tried(upload):
        return None
    if upload is not None:
        st.session_state[_FACTS] = (upload.name, upload.getvalue())
    if _FACTS not in st.session_state:
        st.caption("No facts about raters yet. Add a table of raters to compare groups of raters.")
        return None
    name, content = st.session_state[_FACTS]
    try:
        found = facts_of_file(name, content, view.raters)
    except PluralityError as error:
        st.info(markdown(error), icon=":material/block:")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Facts: {markdown(listed(found.names))}.")
        if upload is None:
            st.button("Remove facts", on_click=_remove, key="no_rater_facts", type="tertiary")
    return found


def _remove() -> None:
    st.session_state.pop(_FACTS, None)
