"""The report card of a file: what will be used, what was left out and why, and what the data allow."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.capabilities import verdicts
from core.annotations.dataset import Dataset
from core.annotations.reading import Reading
from core.annotations.write import long_table
from core.text import markdown, plural
from pages.shared import widgets


def as_understood(reading: Reading) -> None:
    """The first answers, and why the columns were taken for what they are."""
    report = reading.report
    reasons = [f"{role}: {why}" for role, why in report.mapping.why.items()]
    if notes := [*report.notes, *reasons]:
        st.caption(markdown(" · ".join(notes)))
    first = reading.dataset
    table = long_table(first, range(min(first.n_cases, 20))).head(20)
    st.markdown("**The first twenty answers, as understood**")
    st.dataframe(table, hide_index=True, height=36 * min(11, len(table) + 1) + 2, key="understood")


def counts(reading: Reading) -> None:
    """Sizes, rows used and left out, missing tokens, warnings."""
    dataset, report = reading.dataset, reading.report
    columns = st.columns(4)
    columns[0].metric("Cases", f"{dataset.n_cases:,}", border=True)
    columns[1].metric("Raters", f"{dataset.n_raters:,}" if dataset.raters_identified else "not named", border=True)
    columns[2].metric("Answers", f"{dataset.n_annotations:,}", border=True)
    columns[3].metric("Classes", f"{dataset.n_classes:,}" if dataset.kind != "score" else "scores", border=True)
    st.markdown(
        f"The file has {plural(report.n_rows, 'row')}: **{report.n_kept:,} used, {len(report.dropped):,} left out**."
    )
    if report.missing:
        tokens = ", ".join(f"{count:,} × {token or 'empty'}" for token, count in sorted(report.missing.items()))
        st.markdown(f"Treated as no answer: {markdown(tokens)}.")
    for warning in report.warnings:
        st.warning(markdown(warning), icon=":material/warning:")


def card(dataset: Dataset) -> None:
    """Answers per case, density, repeats, and whether raters are connected through their cases."""
    per_case = np.diff(dataset.case_ptr)
    density = dataset.n_annotations / max(1, dataset.n_cases * dataset.n_raters)
    parts = [
        f"{per_case.mean():.1f} answers a case (from {per_case.min():,} to {per_case.max():,})",
        f"{min(1.0, density):.0%} of all pairs of a case and a rater are answered" if dataset.raters_identified else "",
        f"{int((dataset.gold >= 0).sum()):,} cases of known class" if dataset.gold is not None else "",
        f"{len(set(dataset.case_group)):,} groups of cases" if dataset.case_group is not None else "",
        "risk levels known" if dataset.class_risk is not None else "",
        "with dates" if dataset.time is not None else "",
    ]
    st.caption(" · ".join(part for part in parts if part))


def left_out(reading: Reading) -> None:
    """Rows with their reasons, and what is impossible with these data."""
    dataset, report = reading.dataset, reading.report
    if report.dropped:
        with st.expander(f"The {plural(len(report.dropped), 'row')} left out, with their reasons"):
            table = pd.DataFrame(report.dropped, columns=["line", "reason"])
            st.dataframe(table.head(200), hide_index=True, key="dropped")
            widgets.download(table, "All of them", "left_out", "dropped_table")
    for verdict in verdicts(dataset):
        if not verdict.possible:
            st.markdown(f":material/block: **{verdict.title}** is not possible: {verdict.reason}.")
