"""Sets of labels on the Models page: the truth of every label, with a trust in the raters that labels share."""

import streamlit as st

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.models.label_fits import LabelFits, fit_labels
from core.text import number, plural
from pages.shared.kit import columns, job_progress, widgets

_OWN, _SHARED = "Each label alone", "Shared by all labels"


def show(dataset: Dataset) -> None:
    """Every label at once: how frequent it is, and what is shared of each rater."""
    widgets.heading("All labels at once")
    st.caption(
        "Each label is two classes, named or not, fitted by Dawid-Skene. Shared, a rater who overlooks or names too "
        "much on some labels is expected to do so on the others, as far as few annotations leave it open."
    )
    shared = st.segmented_control(
        "Trust in a rater", [_SHARED, _OWN], default=_SHARED, required=True, key="label_trust", persist_state="session"
    )
    shares = shared == _SHARED
    found: LabelFits | None = job_progress.result_of(
        (dataset.content_digest, "labels", shares),
        "Fitting every label",
        lambda job: fit_labels(dataset.coded, DawidSkene(), shared=shares, token=job.token, progress=job.report),
        of=dataset,
    )
    if found is None:
        return
    if not found.converged:
        st.warning("Not all labels have converged: their numbers may still move.", icon=":material/warning:")
    left, right = st.columns(2, gap="large")
    with left:
        labels = found.to_frame("labels")
        st.dataframe(
            labels[["label", "prevalence", "converged"]],
            hide_index=True,
            column_config=columns.shares("prevalence"),
            key="label_fits",
        )
        widgets.download(labels, "Labels", "labels", "labels_table")
        widgets.download(found.to_frame("cases"), "Labels of every case", "labels_by_case", "labels_cases")
    with right:
        raters = found.to_frame("raters")
        st.dataframe(
            raters[["rater", "n_annotations", "accuracy", *(["without", "with"] if shares else [])]],
            hide_index=True,
            column_config=columns.shares("accuracy")
            | columns.counts(n_annotations="annotations")
            | {
                "without": st.column_config.NumberColumn("odds, absent", format=columns.TWO),
                "with": st.column_config.NumberColumn("odds, present", format=columns.TWO),
            },
            key="label_raters",
        )
        widgets.download(raters, "Raters over all labels", "label_raters", "label_raters_table")
    if shares:
        st.caption(
            "Odds of being right on whether a label applies, as a multiple of what all raters together have: below 1 "
            "where it is present is overlooking, below 1 where it is absent is naming too much. Without intervals."
        )
    mean = float(found.set_probability.mean())
    st.caption(
        f"The likeliest set of a case has all labels right with a mean probability of {number(mean)}, labels taken as "
        f"independent given the annotations; n = {plural(len(found.cases), 'case')}."
    )
