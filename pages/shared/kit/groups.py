"""Facts of raters, from a file that stays in this session: they are personal data, and nothing of them is saved."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.ingest.formats.raw_table import RawTable
from core.raters.groups import RaterFacts, facts_of_table
from core.text import listed, markdown, shorten
from pages.shared.cache import datasets as cached
from pages.shared.kit import job_progress, presentation, state, widgets

_FACTS = "_rater_facts"  # raters of the data that the file was read for, and their facts


def facts(view: Dataset) -> RaterFacts | None:
    """Facts of the raters that this session has brought; None if there are none for these raters."""
    raters, found = st.session_state.get(_FACTS) or ((), None)
    place_of = {rater: place for place, rater in enumerate(raters)}
    if found is None or presentation.on() or not set(view.raters) <= place_of.keys():
        return None
    places = [place_of[rater] for rater in view.raters]
    return replace(found, values=tuple(tuple(values[place] for place in places) for values in found.values))


def take(raters: Sequence[str], table: RawTable, column: str | None) -> None:
    """Take the facts that the opened file itself has on its raters; nothing if it has none."""
    st.session_state.pop(_FACTS, None)
    with suppress(PluralityError):
        st.session_state[_FACTS] = (tuple(raters), facts_of_table("", table, raters, column or ""))


def ask(view: Dataset) -> RaterFacts | None:
    """Ask for a file of facts on raters; return None, with a message, while there is none."""
    upload = widgets.file_uploader(
        "Facts about raters", key="rater_facts",
        help="A table with one row per rater, or annotations with extra columns about their raters. Plurality does "
             "not save this file.",
    )  # fmt: skip
    if upload is not None:
        whole = state.whole().dataset  # whatever is selected
        key, title = ("side", upload.file_id, "facts", whole.digest), f"Reading {shorten(upload.name, 60)}"
        read = job_progress.result_of(key, title, lambda job: cached.read_facts(job, upload, whole.raters))
        if read is None:
            return None
        st.session_state[_FACTS] = (whole.raters, read)
    found = facts(view)
    if found is None:
        st.caption("No facts about raters yet. Add a table of raters to compare groups of raters.")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Facts: {markdown(listed(found.names))}.")
        if upload is None:
            st.button("Remove facts", on_click=_remove, key="no_rater_facts", type="tertiary")
    return found


def _remove() -> None:
    st.session_state.pop(_FACTS, None)
