"""Facts of raters and cases, from files that stay in this session: they may be personal data, and none is saved."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.facts import RaterFacts
from core.errors import PluralityError
from core.ingest.formats.raw_table import RawTable
from core.raters.groups import facts_of_table
from core.text import listed, markdown, shorten
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import job_progress, presentation, state, widgets

_HELP = {
    "rater": "A table with one row per rater, or annotations with extra columns about their raters. Plurality does "
    "not save this file.",
    "case": "A table with one row per case, or annotations with extra columns about their cases. Plurality does not "
    "save this file.",
}


def facts(view: Dataset) -> RaterFacts | None:
    """Facts of raters with groups, of what this session has brought; None if there are none for these raters."""
    found = every_fact(view, "rater")
    return None if found is None else found.with_groups


def every_fact(view: Dataset, noun: str) -> RaterFacts | None:
    """Return all facts of raters or cases that this session has brought; None if there are none for these.

    Parameters
    ----------
    view : Dataset
    noun : {"rater", "case"}
    """
    names, found = visit.facts[f"_{noun}_facts"] or ((), None)
    place_of = {name: place for place, name in enumerate(names)}
    if found is None or presentation.on() or not set(_names(view, noun)) <= place_of.keys():
        return None
    places = [place_of[name] for name in _names(view, noun)]
    return replace(found, values=tuple(tuple(values[place] for place in places) for values in found.values))


def take(raters: Sequence[str], table: RawTable, column: str | None) -> None:
    """Take the facts that the opened file itself has on its raters; nothing if it has none."""
    del visit.facts["_rater_facts"]
    with suppress(PluralityError):
        visit.facts["_rater_facts"] = (tuple(raters), facts_of_table("", table, raters, column or ""))


def _names(dataset: Dataset, noun: str) -> tuple[str, ...]:
    return dataset.raters if noun == "rater" else dataset.cases


def ask(view: Dataset) -> RaterFacts | None:
    """Ask for a file of facts on raters; return those with groups, or None, with a message, while there is none."""
    found = ask_for(view, "rater", "to compare groups of raters")
    return None if found is None else found.with_groups


def ask_for(view: Dataset, noun: str, purpose: str) -> RaterFacts | None:
    """Ask for a file of facts on raters or cases; return None, with a message, while there is none.

    Parameters
    ----------
    view : Dataset
    noun : {"rater", "case"}
    purpose : str
        Benefit of the facts, as the end of a sentence.
    """
    upload = widgets.file_uploader(f"Facts about {noun}s", key=f"{noun}_facts", help=_HELP[noun])
    if upload is not None:
        whole = state.whole().dataset  # whatever is selected
        key, title = ("side", upload.file_id, noun, whole.digest), f"Reading {shorten(upload.name, 60)}"
        names = _names(whole, noun)
        read = job_progress.result_of(key, title, lambda job: cached.read_facts(job, upload, names, noun))
        if read is None:
            return None
        visit.facts[f"_{noun}_facts"] = (names, read)
    found = every_fact(view, noun)
    if found is None:
        st.caption(f"No facts about {noun}s yet. Add a file {purpose}.")
        return None
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"Facts: {markdown(listed(found.names))}.")
        if upload is None:
            st.button("Remove facts", on_click=_remove, args=(noun,), key=f"no_{noun}_facts", type="tertiary")
    return found


def _remove(noun: str) -> None:
    del visit.facts[f"_{noun}_facts"]
