"""From one case to the next: buttons with their keys, and what a worklist highlights."""

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset

CLICKED, _ANCHOR = "_worklist_clicked", "_worklist_anchor"


def opened_elsewhere(case_id: str) -> str:
    """The last case that was opened by anything but a click in the worklist.

    A part of the worklist's key: its highlight follows Next and the address, while a click keeps its sorting.
    """
    if st.session_state.get(CLICKED) != case_id:
        st.session_state[CLICKED], st.session_state[_ANCHOR] = None, case_id
    return st.session_state.setdefault(_ANCHOR, case_id)


def buttons(place, dataset: Dataset, order: np.ndarray | None, case: int) -> None:
    """Previous and Next in an order of cases, which may lack this one.

    Parameters
    ----------
    place : container
    dataset : Dataset
    order : ndarray of int or None
        Cases; None while nobody knows them.
    case : int
    """
    found = np.flatnonzero(order == case) if order is not None else []
    at = int(found[0]) if len(found) else None
    before = dataset.cases[order[at - 1]] if at else None
    after = dataset.cases[order[at + 1]] if at is not None and at + 1 < len(order) else None
    if at is None and order is not None:  # the case is not among those found: the first of them comes next
        after = dataset.cases[order[0]]
    place.button(
        "Previous",
        icon=":material/chevron_left:",
        on_click=_go,
        args=(before,),
        disabled=before is None,
        shortcut="P",
        key="previous",
    )
    place.button(
        "Next",
        icon=":material/chevron_right:",
        on_click=_go,
        args=(after,),
        disabled=after is None,
        shortcut="N",
        key="next",
    )


def _go(case_id: str) -> None:
    st.session_state["case"] = case_id
