"""What a click on the matrix of raters shows: the cases where two raters differ."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.pairs import cases_of_disagreement
from core.annotations.dataset import Dataset
from core.text import markdown, plural
from pages.shared.cache import visit
from pages.shared.kit import widgets

MOST_ROWS = 500


def choosing(raters: tuple[str, ...], key: str) -> Callable:
    """Return the callable that takes a click on a cell and chooses its two raters below."""

    def clicked(chosen) -> None:
        points = chosen.selection.points
        now = tuple(points[0]["customdata"]) if points else None
        # A click counts once: the boxes below can be changed afterwards.
        if now is not None and visit.pair_clicked != (key, now):
            visit.choice["pair_first"], visit.choice["pair_second"] = (raters[code] for code in now)
        visit.pair_clicked = (key, now)

    return clicked


def two(view: Dataset, raters: tuple[str, ...]) -> None:
    """Draw the choice of two raters by name, and the cases on which they differ."""
    for place, key in enumerate(("pair_first", "pair_second")):
        if visit.choice[key] not in raters:
            visit.choice[key] = raters[place] if len(raters) == 2 else None
    left, right, _ = st.columns([2, 2, 3])
    chosen = {"placeholder": "Choose a cell or a rater", "persist_state": "session"}
    first = left.selectbox("Rater", raters, key="pair_first", **chosen)
    second = right.selectbox("and rater", raters, key="pair_second", **chosen)
    if first is None or second is None or first == second:
        return
    found = cases_of_disagreement(view, first, second)
    if not found.n:
        st.write("These raters have no cases in common.")
        return
    cases = len(np.unique(found.case))
    st.markdown(
        f"**{markdown(first)}** and **{markdown(second)}** disagree on {len(found.case):,} "
        f"of {plural(found.n, 'annotation pair')}, in {plural(cases, 'case')}. Choose a row to open the case."
    )
    frame = pd.DataFrame(
        {
            "case": [view.cases[case] for case in found.case[:MOST_ROWS]],
            f"{first} ": [view.classes[code] for code in found.answer_a[:MOST_ROWS]],  # a rater may be named "case"
            f"{second}  ": [view.classes[code] for code in found.answer_b[:MOST_ROWS]],
        }
    )
    widgets.open_case_table(frame, "disagreements")
