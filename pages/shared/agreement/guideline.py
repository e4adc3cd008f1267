"""Classes that raters confuse, and two of them merged in a dataset of its own."""

from dataclasses import replace

import streamlit as st

from core.agreement.guideline import merge_classes
from core.analyses.guideline import GUIDELINE
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from pages.shared.cache import datasets as cached
from pages.shared.kit import blocks, state


def show(view: Dataset) -> None:
    """Pairs of classes, with what makes one class of two."""
    whole = state.whole()
    can_merge = whole is not None and whole.dataset.kind == "class" and view.n_classes > 2
    after = {"guideline_table": lambda _: _merging(view)} if can_merge else None
    blocks.answer(GUIDELINE.part("pairs"), view, after)


def _merging(view: Dataset) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="merging"):
        first = st.selectbox("Class", view.classes, key="merge_first")
        second = st.selectbox("and class", [name for name in view.classes if name != first], key="merge_second")
        st.button("Merge classes", icon=":material/merge:", on_click=_merge, args=(first, second), key="merge")
    st.caption("Saves the merged classes as a new dataset. This dataset and its reviews do not change.")


def _merge(first: str, second: str) -> None:
    """Switch to the dataset in which both classes are merged (callback)."""
    try:
        reading = cached.open_dataset(st.session_state["data"])
        merged = merge_classes(reading.dataset, first, second)
        state.use(cached.bring(replace(reading, dataset=merged.renamed(f"{merged.name}, {first} with {second}"))))
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
