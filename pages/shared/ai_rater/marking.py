"""Marks of AI raters: chosen on the page, proposed by name, kept with the dataset."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.machines.joined import joined
from core.machines.marks import Machine, machine_like, matching
from core.text import markdown, plural, shorten
from pages.shared.cache import access, visit
from pages.shared.cache.datasets import machine_answers
from pages.shared.kit import own_predictions, presentation, state, widgets

_FILES = (
    "A table with the columns case and annotation, or case, class and score; JSON grouped by rater; or a log from "
    "promptfoo, Inspect, DeepEval or the lm-evaluation-harness. Case names must match those in the annotations"
)


def first(whole: Dataset) -> None:
    """Draw the choice of AI raters if none is marked; draws nothing in a presentation or without permission.

    Parameters
    ----------
    whole : Dataset
        With all raters, by their names in the file.
    """
    if _may_mark():
        with st.expander("Which raters are AI raters?", expanded=True, icon=":material/smart_toy:"):
            _choice(whole, ())


def bring(dataset: Dataset) -> None:
    """Draw the card that takes an AI rater's annotations from a separate file.

    Parameters
    ----------
    dataset : Dataset
        The annotations that it is compared with, by their names on screen.
    """

    def held(name: str, content: bytes) -> str:
        found, names, notes = joined(dataset, machine_answers(name, content))
        codes = [found.raters.index(one) for one in names]
        n = len(np.unique(found.case_of_annotation[np.isin(found.rater, codes)]))
        return " ".join([f"{', '.join(names)}: {n:,} of {plural(dataset.n_cases, 'case')}.", *notes])

    own_predictions.add(dataset, "Add an AI rater's annotations or probabilities", _FILES, otherwise=held)


def again(whole: Dataset, machines: Sequence[Machine]) -> None:
    """Draw the choice of AI raters folded, and the details of each AI rater.

    Parameters
    ----------
    whole : Dataset
        With all raters, by their names in the file.
    machines : sequence of Machine
        Marked so far.
    """
    if _may_mark():
        with st.popover("AI raters", icon=":material/smart_toy:", key="marking"):
            _choice(whole, machines)


def _may_mark() -> bool:
    return not presentation.on() and access.may_change(visit.data)


def _choice(whole: Dataset, machines: Sequence[Machine]) -> None:
    marked = [machine.name for machine in machines]
    field = f"marked_machines-{'|'.join(marked)}"
    proposed = [one for one in machine_like(whole.raters) if one.name not in marked]
    st.multiselect(
        "Raters that are AI models", whole.raters, default=marked, key=field,
        help=widgets.explained("machine"), on_change=_choose, args=(field,),
    )  # fmt: skip
    if proposed:
        names = ", ".join(shorten(one.name, 24) for one in proposed[:6]) + (" …" if len(proposed) > 6 else "")
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"These look like AI raters: {markdown(names)}.", width="content")
            st.button("Mark them", on_click=_mark, args=((*machines, *proposed),), key="mark_proposed")
    pattern = st.text_input("Mark raters by name (* matches any text)", placeholder="gpt*", key="machine_pattern")
    if pattern.strip():
        more = [name for name in matching(whole.raters, pattern) if name not in marked]
        like = {one.name: one for one in machine_like(more)}
        st.button(
            f"Mark {plural(len(more), 'rater')}", key="mark_matching", disabled=not more,
            on_click=_mark, args=((*machines, *(like.get(name) or Machine(name) for name in more)),),
        )  # fmt: skip
    if machines:
        _details(machines)
    st.caption(
        "Your choice of AI raters is saved with the dataset. Other pages leave out AI raters unless you include them "
        "there. If predictions that you add on the Reliability or Upload page have the same name as an AI rater, they "
        "are used as that rater's probabilities."
    )


def _details(machines: Sequence[Machine]) -> None:
    frame = pd.DataFrame(
        {
            "machine": [one.name for one in machines],
            "family": [one.family for one in machines],
            "version": [one.version for one in machines],
        }
    )
    edited = st.data_editor(
        frame, hide_index=True, disabled=["machine"], key=f"machine_details-{machines}", width="stretch",
        column_config={"machine": "AI rater"},
    )  # fmt: skip
    told = tuple(
        Machine(row.machine, str(row.family or "").strip(), str(row.version or "").strip())
        for row in edited.itertuples()
    )
    if told != tuple(machines):
        _mark(told)
        st.rerun()


def _choose(key: str) -> None:
    known = {one.name: one for one in state.marked_machines()}
    chosen = visit.choices[key]
    like = {one.name: one for one in machine_like(chosen)}
    _mark(tuple(known.get(name) or like.get(name) or Machine(name) for name in chosen))


def _mark(machines: Sequence[Machine]) -> None:
    access.WriteRight(visit.data).mark_machines(machines)
