"""What the agreement rests on: selections side by side, how precise it is, and how the annotations were collected."""

import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import NotApplicableError
from core.figures import agreement_parts as figures
from core.text import markdown, number, plural, with_interval
from pages.shared import cached_agreement, widgets

_BUYS = 500


def warn_of_adaptive_collection(view: Dataset) -> None:
    """Where cases that disagreed early were given more answers, all agreement is off, and the first two are not."""
    found = cached_agreement.adaptive(view)
    if not found.warn:
        return
    more = "more" if found.difference > 0 else "less"
    first, every = found.first_two[1], found.everything[1]
    st.warning(
        f"Cases whose first two answers disagreed were {more} often given a third answer "
        f"({found.more_disagree / found.n_disagree:.0%} against {found.more_agree / found.n_agree:.0%}). Agreement of "
        "all answers is then that of a mixture of cases nobody chose. From the first two answers of each case alone, α "
        f"is {with_interval(first.value, first.ci_low, first.ci_high)}, from all "
        f"{with_interval(every.value, every.ci_low, every.ci_high)}: quote the first.",
        icon=":material/warning:",
    )


def precision(view: Dataset, theme) -> None:
    """What precision there is, and what more annotations would buy."""
    widgets.heading("What more annotations would buy", "precision")
    try:
        curves = cached_agreement.precision(view)
    except NotApplicableError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    now = curves[0].points[0]
    bought = {curve.how: point for curve in curves for point in curve.points if point.extra == _BUYS}
    words = {how: number(point.width_range[1], 3) for how, point in bought.items()}
    widgets.plot(
        figures.precision_figure(
            curves,
            theme,
            f"The interval of SPA is {number(now.width_range[1], 3)} wide; {_BUYS} more answers make it "
            f"{words['new_cases']} on new cases, {words['present_cases']} on the present ones",
        ),
        "precision",
        "Width of the interval against annotations added",
    )
    for note in dict.fromkeys(curve.note for curve in curves if curve.note):
        st.caption(markdown(note[0].upper() + note[1:] + "."))
    st.caption(
        "Raters are taken as interchangeable and new cases as like the present ones. More answers on the present cases "
        "cannot make up for having seen few cases."
    )
    rows = [
        {
            "on": curve.how,
            "added": point.extra,
            "cases": point.n_cases,
            "annotations": point.n_annotations,
            "se_low": point.se_range[0],
            "se_high": point.se_range[1],
            "width_low": point.width_range[0],
            "width_high": point.width_range[1],
        }
        for curve in curves
        for point in curve.points
    ]
    widgets.download(pd.DataFrame(rows), "Precision", "precision", "precision_table")
    found = cached_agreement.adaptive(view)
    if found.difference is not None and not found.warn:
        st.caption(
            f"Cases whose first two answers agreed and disagreed were given a third one about equally often "
            f"({found.more_agree:,} of {found.n_agree:,}, {found.more_disagree:,} of "
            f"{plural(found.n_disagree, 'case')}), so the answers that are missing do no harm."
        )
