"""Classes that raters confuse, and two of them merged in a dataset of its own."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.agreement.guideline import merge_classes
from core.analyses.guideline import GUIDELINE
from core.annotations.dataset import MISSING_TIME, Dataset
from core.raters.groups import RaterFacts
from core.text import utc
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import blocks, groups, state

_SINCE = "Compares disagreement on cases first annotated on or after this date with disagreement on earlier cases."
_VERSION = "Compares disagreement on cases in this group with disagreement on all other cases."


def show(view: Dataset) -> None:
    """Pairs of classes, before and after a new guideline, with what makes one class of two."""
    whole, part = state.whole(), GUIDELINE.part("pairs")
    can_merge = whole is not None and whole.dataset.kind == "class" and view.n_classes > 2
    if part.applicable(view).possible:
        part = part.with_options(facts=groups.facts(view) or RaterFacts(), **_new_guideline(view))
    blocks.answer(part, view, {"guideline_merge": lambda pair: _merging(view, *pair)} if can_merge else None)


def _new_guideline(view: Dataset) -> dict[str, Any]:
    """Ask from which date, or for which group of cases, a new guideline holds."""
    versions = sorted(set(view.case_group or ()) - {""})
    if len(versions) > 1:
        version = st.selectbox(
            "New guideline in", versions, None, key="guideline_version", width=220, placeholder="Group of cases",
            help=_VERSION,
        )  # fmt: skip
        if version is not None:
            return {"version": version}
    known = () if view.time is None else view.time[view.time != MISSING_TIME]
    if not len(known):
        return {}
    first, last = (utc(float(end)).date() for end in (known.min(), known.max()))
    since = st.date_input(
        "New guideline from", None, first, last, format="YYYY-MM-DD", key="guideline_since", width=220, help=_SINCE
    )
    if since is None:
        return {}
    return {"since": int(datetime(since.year, since.month, since.day, tzinfo=UTC).timestamp())}


def _merging(view: Dataset, first: str, second: str) -> None:
    """Offer to merge the pair that is shown, or other classes."""
    names, key = view.classes, f"{first}-{second}"
    with st.container(horizontal=True, vertical_alignment="bottom", key="merging"):
        one = st.selectbox("Merge", names, names.index(first), key=f"merge_first-{key}", width=220)
        place = names.index(one)
        near = names[max(place - 1, 0) : place + 2] if view.ordinal else names
        rest = [name for name in near if name != one]
        other = rest.index(second) if second in rest else None
        two = st.selectbox("with", rest, other, key=f"merge_second-{key}-{one}", width=220)
        st.button(
            "Merge classes",
            icon=":material/merge:",
            on_click=_merge,
            args=(one, two),
            key="merge",
            disabled=two is None,
        )
    ordered = " Ordered classes can be merged only with their neighbours." if view.ordinal else ""
    st.caption(
        f"Saves a new dataset with the classes merged. The current dataset and its reviews do not change.{ordered}"
    )


def _merge(first: str, second: str) -> None:
    """Switch to the dataset in which both classes are merged (callback)."""
    with visit.error_in("data_error"):
        reading = cached.open_dataset(visit.data)
        merged = merge_classes(reading.dataset, first, second)
        state.use(cached.bring(replace(reading, dataset=merged.renamed(f"{merged.name}, {first} with {second}"))))
