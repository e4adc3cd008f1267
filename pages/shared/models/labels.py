"""Sets of labels on the Models page: the truth of every label, with a trust in the raters that labels share."""

import numpy as np
import streamlit as st

from core.annotations.dataset import Dataset
from core.evaluation.set_metrics import set_metrics
from core.evaluation.set_predictions import SetPredictions, known_sets
from core.models.dawid_skene import DawidSkene
from core.models.label_dependence import with_label_dependence
from core.models.label_fits import LabelFits, fit_labels
from core.models.tempering import dependence_note, doubt_note
from core.runtime.jobs import Job
from core.text import markdown, plural, probability, with_interval
from pages.shared.kit import columns, job_progress, widgets

SEED = 0
_RESAMPLES = 400
_OWN, _SHARED = "Each label alone", "Shared by all labels"


def show(dataset: Dataset) -> None:
    """Every label at once: how frequent it is, and what is shared of each rater."""
    st.caption(
        "Each label is two classes, named or not, fitted by Dawid-Skene. Shared, a rater who overlooks or names too "
        "much on some labels is expected to do so on the others, as far as few annotations leave it open."
    )
    shared = st.segmented_control(
        "Trust in a rater", [_SHARED, _OWN], default=_SHARED, required=True, key="label_trust", persist_state="session"
    )
    shares = shared == _SHARED
    found = _fitted(dataset, shares)
    if found is None:
        return
    if not found.converged:
        st.warning("Not all labels have converged: their numbers may still move.", icon=":material/warning:")
    left, right = st.columns([2, 3], gap="medium")
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
    _by_gold(dataset, found)
    mean = float(found.set_probability.mean())
    follows = "" if found.none is None else f", “{markdown(found.none)}” where no other applies"
    likeliest = (
        f"The likeliest set of a case has all labels right with a mean probability of {probability(mean)}, labels "
        f"taken as independent given the annotations{follows}; n = {plural(len(found.cases), 'case')}."
    )
    st.caption(" ".join((likeliest, *_worth(dataset, found))))


def _fitted(dataset: Dataset, shares: bool) -> LabelFits | None:
    """The fit of every label at the β of all; None while it is computed, with that on screen."""
    content = dataset.coded

    def work(job: Job) -> LabelFits:
        model = with_label_dependence(
            content, DawidSkene(), seed=SEED, token=job.token, progress=lambda share: job.report(0.8 * share)
        )
        return fit_labels(
            content, model, shared=shares, token=job.token, progress=lambda share: job.report(0.8 + 0.2 * share)
        )

    key = (dataset.content_digest, "labels at their β", shares, SEED)
    return job_progress.result_of(key, "Fitting every label", work, of=dataset)


def _worth(dataset: Dataset, found: LabelFits) -> tuple[str, ...]:
    """How many independent annotations those of a case are worth, by held-out annotations of all labels."""
    settings = found.fits[0].settings
    return (*dependence_note(dataset, settings["beta"]), *doubt_note(settings["doubt"]))


def _by_gold(dataset: Dataset, found: LabelFits) -> None:
    """The likeliest sets against the known ones, where there are some; the fit does not use them."""
    gold = known_sets(dataset)
    if gold is None:
        return
    seen = np.diff(dataset.case_ptr) > 0
    own = SetPredictions("fit", dataset.cases, dataset.classes, found.applies, seen, ())
    if not (own.predicted & gold.predicted).any():
        return
    measured = set_metrics(dataset, [own], reliability=1.0, gold=gold, n_draws=_RESAMPLES)
    values = zip(measured.mean[0], measured.total_low[0], measured.total_high[0], strict=True)
    said = dict(zip(measured.metrics, (with_interval(*one) for one in values), strict=True))
    st.markdown(
        f"Against the known sets of {plural(int(measured.n_cases[0]), 'case')}, which the fit does not use, the "
        f"likeliest sets have a Jaccard of **{said['jaccard']}** and are the very set on **{said['exact']}** of cases."
    )
