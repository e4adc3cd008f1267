"""Classifiers under uncertain truth, as a part of the Reliability page."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import RISK_LEVELS, Dataset
from core.evaluation.choice import verdict
from core.evaluation.gold_accuracy import gold_accuracy
from core.evaluation.metrics import PointScores, first_metric, metric_names
from core.evaluation.sweep_table import SweepTable
from core.figures import classifiers as figures
from core.models.gold import gold_cases
from core.text import exact, markdown
from pages.shared.kit import columns, own_predictions, predictions, widgets

TOP = predictions.TOP
_FIELDS = ("mean", "sd", "ci_low", "ci_high", "min", "max", "point", "case_se", "total_se", "n_cases")


def show(sweep: SweepTable, view: Dataset, classifiers, opened: float, theme) -> None:
    """Whether the choice of a classifier survives, its metric against reliability, and who beats whom."""
    metrics = metric_names(TOP)
    metric = st.segmented_control(
        "Metric",
        metrics,
        default=first_metric(TOP, view.n_classes),
        required=True,
        format_func=figures.metric_title,
        key="metric",
        help=widgets.explained("top3 accuracy"),
        persist_state="session",
    )
    st.subheader(markdown(verdict(sweep.reliabilities, sweep.evaluation, metric)), anchor=False)
    lines(sweep.reliabilities, sweep.evaluation, metric, theme)
    _by_gold(view, classifiers, metric)
    frame = _values(sweep, metric)
    with st.expander("The numbers, with the error from which cases are in the data, and both together"):
        st.dataframe(frame, hide_index=True, key="metric_table", column_config=_columns())
    widgets.download(frame, "Metric", "metric", "metric")
    reliability = (
        st.select_slider(
            "At γ =",
            sweep.reliabilities,
            value=min(sweep.reliabilities, key=lambda value: abs(np.log(value / opened))),
            key="at_reliability",
        )
        if len(sweep.reliabilities) > 1
        else sweep.reliabilities[0]
    )
    evaluation = sweep.evaluation[sweep.reliabilities.index(reliability)]
    _better(evaluation, metric)
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            figures.draws_histogram(evaluation, metric, theme, f"Over plausible truths at γ = {exact(reliability)}"),
            "metric_draws",
            "Histogram of the metric over draws",
        )
    with right:
        widgets.plot(
            figures.metric_per_case(evaluation, metric, theme, f"Per case at γ = {exact(reliability)}"),
            "metric_cases",
            "Sorted metric per case",
        )
    _downloads(sweep, evaluation, metric)
    if evaluation.by_risk is not None:
        _by_risk(evaluation, metric)


def lines(reliabilities: tuple[float, ...], evaluations, metric: str, theme, scores: PointScores | None = None) -> None:
    """The metric of each classifier against reliability; while it is computed at the first reliabilities alone."""
    widgets.plot(
        figures.metric_against_reliability(
            reliabilities,
            evaluations,
            metric,
            theme,
            "Line: mean over plausible truths · band: 95% of them · ×: against the point estimate",
            scores,
        ),
        "metric_lines",
        "Metric of each classifier against reliability",
    )


def _by_gold(view: Dataset, classifiers, metric: str) -> None:
    """How often each classifier is right by gold, beside what plausible truths say."""
    if not len(gold_cases(view)):
        return
    top = TOP if metric != metric_names(TOP)[0] else 1
    found = gold_accuracy(view, classifiers, top)
    if not found.n.any():
        return
    widgets.heading(f"Top-{top} accuracy by gold", "gold")
    frame = found.to_frame()
    config = {"right_by_gold": st.column_config.NumberColumn("right by gold", format=columns.TWO)}
    shown, pictures = columns.with_pictures(frame, ("right_by_gold", "ci_low", "ci_high", "95% interval"))
    config |= columns.ends() | columns.counts(n_gold="cases with gold")
    st.dataframe(shown, hide_index=True, column_config=config | pictures, key="gold_accuracy")
    if words := found.words():
        st.markdown(markdown(words))
    widgets.download(frame, "Accuracy by gold", "gold_accuracy", "gold_accuracy_table")


def _values(sweep: SweepTable, metric: str) -> pd.DataFrame:
    """The metric with its intervals, one line for each reliability and classifier."""
    rows = [
        {
            "reliability": reliability,
            "classifier": name,
            **{field: getattr(evaluation.values[name][metric], field) for field in _FIELDS},
        }
        for reliability, evaluation in zip(sweep.reliabilities, sweep.evaluation, strict=True)
        for name in evaluation.classifiers
    ]
    return pd.DataFrame(rows)


def _columns() -> dict:
    """What the columns of the values are called on screen."""
    config = {"reliability": st.column_config.NumberColumn("reliability γ", format="%g")} | columns.ends()
    config |= columns.fine("mean", "sd", "min", "max", "point") | columns.counts(n_cases="cases")
    for name, label in (("case_se", "SE of the cases"), ("total_se", "SE in all")):
        config[name] = st.column_config.NumberColumn(label, format="%.4f")
    return config


def _downloads(sweep: SweepTable, evaluation, metric: str) -> None:
    place = evaluation.metrics.index(metric)
    by_draw = pd.DataFrame(evaluation.by_draw[:, place].T, columns=list(evaluation.classifiers))
    widgets.download(by_draw, "Metric of every draw", "metric_draws", "metric_draws")
    by_case = pd.DataFrame(evaluation.by_case[:, :, place], columns=list(evaluation.classifiers))
    by_case.insert(0, "case", list(sweep.certainty[0].cases), allow_duplicates=True)
    widgets.download(by_case, "Metric of every case", "metric_cases", "metric_cases")


def _better(evaluation, metric: str) -> None:
    widgets.heading("P(row is better than column)", "better")
    place = evaluation.metrics.index(metric)
    names = list(evaluation.classifiers)
    frame = pd.DataFrame(evaluation.better[:, :, place], columns=names)
    frame.index = pd.Index(names)
    st.dataframe(
        frame,
        column_config=columns.fine(*names),
        placeholder="–",
        key="better",
    )
    st.caption(
        f"Over {evaluation.by_draw.shape[-1]:,} common draws of the truth and over which cases were sampled. 1.000 is "
        "rounded, not certainty."
    )
    frame.insert(0, "better", names, allow_duplicates=True)
    widgets.download(frame, "P(better)", "better", "better")


def _by_risk(evaluation, metric: str) -> None:
    place = evaluation.metrics.index(metric)
    frame = pd.DataFrame(
        [
            {"classifier": name}
            | {
                f"{level} risk (n {evaluation.n_by_risk[number, code]:,})": evaluation.by_risk[number, code, place]
                for code, level in enumerate(RISK_LEVELS)
            }
            for number, name in enumerate(evaluation.classifiers)
        ]
    )
    widgets.heading("By expected risk of the case", "risk")
    st.dataframe(frame, hide_index=True, column_config=columns.fine(*frame.columns[1:]), key="by_risk")


def add_predictions(view: Dataset) -> None:
    """Take in a file of predictions for this session, and say what does not match."""
    own_predictions.add(
        view,
        "Add predictions of classifiers",
        "CSV, TSV or Parquet: one row per case and class (case, class, score or rank, perhaps classifier), or one "
        "row per case with a column for each class; or a matrix of scores in the order of the cases and classes",
        _ties_and_gaps,
    )


def _ties_and_gaps(one) -> str:
    tied, short = one.n_tied(TOP), one.n_short(TOP)
    words = f"; {tied:,} with tied scores at place {TOP}, taken in expectation" if tied else ""
    return words + (f"; {short:,} with fewer than {TOP} classes, the missing places are misses" if short else "")
