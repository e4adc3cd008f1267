"""P(correct) on screen: of the leading class of a case, and why it differs from certainty."""

import numpy as np
import streamlit as st

from core.analyses.cases.case import OneCase
from core.annotations.dataset import Dataset
from core.certainty.label_p_correct import LabelsCorrect
from core.certainty.p_correct import PCorrect, why_they_differ
from core.models.gold import gold_cases
from core.text import markdown, plural, probability
from pages.shared.cache import datasets as cached
from pages.shared.cache import visit
from pages.shared.kit import job_progress, opening, state, widgets


def known(dataset: Dataset) -> PCorrect | None:
    """Return P(correct) of every case; None while it is computed (the page is redrawn then), and if it cannot be."""
    classes = _classes(dataset)
    if (job := opening.correct_at_work(classes)) is not None:
        job_progress.redraw_after(job)
    return opening.correct(classes)


def of_labels(dataset: Dataset) -> LabelsCorrect:
    """Return P(correct) of every label as far as it is known; the page is redrawn when more of it is."""
    found, jobs = opening.correct_of_labels(dataset)
    for job in jobs:
        job_progress.redraw_after(job)
    return found


def calibration(dataset: Dataset) -> None:
    """Draw the way to both numbers compared with gold; nothing without gold."""
    if gold_cases(_classes(dataset)).size:
        words = "Compare P(correct) and certainty with gold"
        st.button(words, on_click=_open_calibration, type="tertiary", icon=":material/verified:", key="to_calibration")


def _open_calibration() -> None:
    """Open the tab of calibration on Models (callback)."""
    visit.go_to = "models"
    widgets.open_tab("model_tabs", "Calibration")


def _classes(dataset: Dataset) -> Dataset:
    return cached.class_view(dataset, state.split(dataset))[0]


def say(dataset: Dataset, case: int, one: OneCase) -> None:
    """P(correct) of the leading class, that it is being computed, or nothing; and why it differs from certainty.

    Parameters
    ----------
    dataset : Dataset
    case : int
    one : OneCase
    """
    found, classes = known(dataset), _classes(dataset)
    leading = int(one.certainty.top_class()[0])
    if found is None:
        if opening.correct_at_work(classes) is not None:
            st.caption("P(correct): computing …", help=widgets.explained("p correct"))
        return
    if leading < 0:
        return
    said = probability(float(found.probability[case, leading]))
    n, n_used = (np.diff(data.case_ptr)[case] for data in (dataset, classes))
    of_all = plural(int(n), "annotation")
    used = "" if n_used == n else f" Based on {n_used:,} of {of_all}: tied first choices are left out."
    absent = dataset.kind == "set" and leading == 0
    of = f"that “{classes.classes[1]}” does not apply" if absent else f"of “{classes.classes[leading]}”"
    st.caption(f"P(correct) {markdown(of)}: {said}.{used}", help=widgets.explained("p correct"))
    if one.n_votes > 1:
        certainty, hide = float(one.certainty.certainty[0, 0]), visit.flag["hide_names"]
        if why := why_they_differ(found, classes, case, leading, certainty, hide_names=hide):
            st.markdown(markdown(f"This is {why}"))
