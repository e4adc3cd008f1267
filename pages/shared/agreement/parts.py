"""Agreement by class, by case, and over time."""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.intervals import Coefficient
from core.agreement.over_time import PERIODS
from core.annotations.dataset import Dataset
from core.errors import InputError
from core.extremes import clearly_least
from core.figures import agreement as figures
from core.figures import agreement_parts as more_figures
from core.text import markdown, number, plotly, plural, shorten, with_interval
from pages.shared.cache import agreement as cached_agreement
from pages.shared.kit import widgets

MOST_ROWS = 500


def by_class(view: Dataset, theme) -> None:
    """Given one annotation of a class, how probably a second one is of it too."""
    widgets.heading("Class by class", "specific agreement")
    found = cached_agreement.by_class(view)
    known = [(name, one) for name, one in zip(view.classes, found, strict=True) if one.value is not None]
    if not known:
        st.write("No case has two annotations.")
        return
    widgets.plot(
        more_figures.named_forest(
            view.classes,
            found,
            theme,
            _least_agreed_on(known),
            "P(second annotation is of it, given the first)",
        ),
        "by_class",
        "Specific agreement of each class with its interval",
    )
    if len(known) > more_figures.MOST_LINES:
        st.caption(f"The {more_figures.MOST_LINES} classes least agreed on, of {len(known):,}.")
    frame = pd.DataFrame(
        {
            "class": view.classes,
            "agreement": [one.value for one in found],
            "ci_low": [one.ci_low for one in found],
            "ci_high": [one.ci_high for one in found],
            "cases": [one.n_cases for one in found],
            "answers": [one.n_annotations for one in found],
            "note": [one.note for one in found],
        }
    )
    widgets.download(frame, "Classes", "agreement_by_class", "by_class_table")


def _least_agreed_on(known: list[tuple[str, Coefficient]]) -> str:
    """The class that is clearly agreed on least, where there is one."""
    least = clearly_least(*([getattr(one, end) for _, one in known] for end in ("value", "ci_low", "ci_high")))
    if least is None and len(known) > 1:
        return "No class is clearly the least agreed on"
    name, one = known[least or 0]
    said = f"{plotly(shorten(name, 40))}, {with_interval(one.value, one.ci_low, one.ci_high)}"
    return f"Agreement on {said}" if least is None else f"Least agreed on: {said}"


def cases(view: Dataset, theme) -> None:
    """How many cases have which agreement, and those with least."""
    _, agreement, per_case = cached_agreement.agreement(view)
    left, right = st.columns(2, gap="large")
    usable = np.isfinite(agreement)
    full = int((agreement[usable] == 1).sum())
    with left:
        widgets.plot(
            figures.case_agreement_histogram(
                agreement, theme, f"All raters agree in {full:,} of {plural(int(usable.sum()), 'case')}"
            ),
            "case_agreement",
            "Histogram of the agreement of cases",
        )
        widgets.plot(
            figures.annotations_per_case(
                per_case, theme, f"{number(per_case.mean(), 1)} annotations a case on average"
            ),
            "per_case",
            "Histogram of annotations per case",
        )
    with right:
        st.markdown("**Least agreement first**; choose a row to open the case")
        order = np.argsort(np.where(usable, agreement, np.inf), kind="stable")[:MOST_ROWS]
        order = order[usable[order]]
        frame = pd.DataFrame(
            {
                "case": [view.cases[case] for case in order],
                "agreement": agreement[order],
                "annotations": per_case[order].astype(int),
            }
        )
        widgets.open_case_table(frame, "least_agreement", shares=("agreement",), height=520)
    whole = pd.DataFrame({"case": view.cases, "agreement": agreement, "annotations": per_case.astype(int)})
    widgets.download(whole, "Agreement of every case", "agreement_by_case", "case_agreement_table")


def over_time(view: Dataset, theme) -> None:
    """Windows of cases by the date of their first annotation."""
    if view.time is None:
        st.info("These annotations have no dates. Choose their column when you open the file.", icon=":material/block:")
        return
    by = st.segmented_control(
        "Windows",
        ["period", *PERIODS, "cases"],
        default="period",
        required=True,
        format_func={
            "period": "What suits",
            "week": "Weeks",
            "month": "Months",
            "quarter": "Quarters",
            "year": "Years",
            "cases": "Equal numbers of cases",
        }.get,
        key="windows",
        persist_state="session",
    )
    try:
        found = cached_agreement.over_time(view, by)
    except InputError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    known = [w for w in found.windows if w.coefficients[0].value is not None]
    title = "Agreement over time"
    if len(known) > 1:
        ends = (window.coefficients[0] for window in (known[0], known[-1]))
        first, last = (with_interval(one.value, one.ci_low, one.ci_high) for one in ends)
        title = f"SPA was {first} in {plotly(known[0].label)} and is {last} in {plotly(known[-1].label)}"
    widgets.plot(more_figures.agreement_over_time(found, theme, title), "over_time", "Agreement by window of time")
    if not found.n_undated:
        st.caption("n: cases with two annotations or more.")
    else:
        st.caption(f"{plural(found.n_undated, 'case')} without a date left out. n: cases with two annotations or more.")
    rows = [
        {
            "window": window.label,
            "coefficient": one.name,
            "value": one.value,
            "ci_low": one.ci_low,
            "ci_high": one.ci_high,
            "cases": one.n_cases,
            "answers": one.n_annotations,
            "note": one.note,
        }
        for window in found.windows
        for one in window.coefficients
    ]
    widgets.download(pd.DataFrame(rows), "Windows", "agreement_over_time", "over_time_table")
