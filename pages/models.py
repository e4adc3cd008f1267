"""Models: who is right and which raters are accurate; majority vote and Dawid-Skene side by side."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.capabilities import can_use
from core.figures import models as figures
from core.models.dawid_skene import DawidSkene, default_smoothing
from core.text import plotly, plural, shorten
from pages.shared import cached, jobs_ui, look, menu, widgets

SMOOTHING = {"none": "None (maximum likelihood)", "diagonal": "Diagonal prior", "pooled": "Pooled raters"}
RESTARTS = (0, 20, 100, 200)
MOST_ROWS = 500


def _settings(view) -> tuple[str, int]:
    usual = default_smoothing(view)
    left, right, _ = st.columns([2, 2, 3])
    smoothing = left.selectbox(
        "Smoothing",
        list(SMOOTHING),
        index=list(SMOOTHING).index(usual),
        format_func=lambda name: SMOOTHING[name] + (" · usual for these data" if name == usual else ""),
        key=f"smoothing-{view.digest}",
        help=widgets.explained("smoothing"),
        persist_state="session",
    )
    restarts = right.selectbox(
        "Restarts beside the vote start",
        RESTARTS,
        key="restarts",
        help=widgets.explained("restarts"),
        persist_state="session",
    )
    return smoothing, restarts


def _fit(view, smoothing: str, restarts: int):
    model = DawidSkene(smoothing)
    key = (view.digest, "dawid-skene", smoothing)
    fit = jobs_ui.result_of(
        key, "Dawid-Skene", lambda job: model.fit(view, token=job.token, progress=lambda share: job.report(share))
    )
    if fit is None or not restarts:
        return fit, None
    found = jobs_ui.result_of(
        (*key, restarts),
        f"{restarts} restarts",
        lambda job: model.restarts(view, fit, restarts, token=job.token, progress=lambda share: job.report(share)),
    )
    return fit, found


def _remarks(fit, found) -> None:
    if fit.converged:
        st.caption(
            f"Converged after {len(fit.objective)} iterations from the votes; "
            f"log-likelihood {fit.log_likelihood:,.3f}; smoothing {fit.settings['smoothing']}."
        )
    for note in fit.notes:
        st.warning(note, icon=":material/warning:")
    if found is None:
        return
    n_best = sum(abs(value - max(found.objectives)) < 1e-4 * (1 + abs(value)) for value in found.objectives)
    if found.differs:
        st.warning(
            f"The likelihood has more than one mode. The best of {len(found.objectives)} restarts (reached "
            f"{plural(n_best, 'time')}) has log-likelihood {found.best.log_likelihood:,.3f} against "
            f"{fit.log_likelihood:,.3f} from the votes, and changes the most probable class of "
            f"{plural(found.n_changed, 'case')}. Below, the start from the votes is shown unless you choose the other.",
            icon=":material/alt_route:",
        )
    else:
        st.caption(f"None of {len(found.objectives)} restarts found a better fit than the start from the votes.")


def _prevalence(vote, fit, theme) -> None:
    widgets.heading("Prevalence", "prevalence")
    gap = np.abs(fit.prevalence - vote.prevalence)
    code = int(gap.argmax())
    title = (
        f"Most moved: {plotly(shorten(fit.classes[code], 24))}, "
        f"{vote.prevalence[code]:.1%} by vote, {fit.prevalence[code]:.1%} by Dawid-Skene"
    )
    widgets.plot(figures.prevalence_bars([vote, fit], theme, title), "prevalence", "Prevalence by vote and by model")
    frame = pd.DataFrame({"class": fit.classes, "majority": vote.prevalence, "dawid_skene": fit.prevalence})
    widgets.download(frame, "Prevalence", "prevalence", "prevalence")


def _raters(vote, fit, theme) -> None:
    widgets.heading("Raters", "confusion matrix")
    frame = pd.DataFrame(
        {
            "rater": fit.raters,
            "annotations": fit.n_annotations,
            "accuracy": fit.accuracy(),
            "agrees with the vote": vote.accuracy(),
        }
    )
    if len(fit.classes) == 2:
        frame[f"right on {fit.classes[0]}"] = fit.confusion[:, 0, 0]
        frame[f"right on {fit.classes[1]}"] = fit.confusion[:, 1, 1]
    left, right = st.columns([3, 4], gap="large")
    with left:
        st.caption("Choose a row to see that rater's confusion matrix.")
        bars = {
            name: st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1)
            for name in frame.columns
            if name not in ("rater", "annotations")
        }
        chosen = st.dataframe(
            frame,
            hide_index=True,
            on_select="rerun",
            selection_mode="single-row",
            selection_default={"selection": {"rows": [0]}},
            column_config=bars,
            key="rater_table",
        )
        widgets.download(frame, "Raters", "raters", "raters")
    rater = chosen.selection.rows[0] if chosen.selection.rows else 0
    with right:
        title = f"{plotly(shorten(fit.raters[rater], 28))}: answers given the class inferred"
        widgets.plot(
            figures.confusion_heatmap(fit, rater, theme, title), "confusion", "Confusion matrix of the chosen rater"
        )
        if len(fit.classes) > figures.MOST_CLASSES:
            st.caption(f"The {figures.MOST_CLASSES} classes that this rater met most, of {len(fit.classes)}.")


def _cases(view, vote, fit) -> None:
    widgets.heading("Cases where the two differ")
    by_vote, by_model = vote.top_class(), fit.top_class()
    answered = np.diff(view.case_ptr) > 0
    differ = np.flatnonzero((by_vote != by_model) & answered)
    top = fit.class_probability.max(axis=1)
    order = differ[np.argsort(-top[differ], kind="stable")][:MOST_ROWS]
    if not len(order):
        st.write("They name the same class on every case.")
    else:
        st.caption(f"{plural(len(differ), 'case')}, the surest first. Choose a row to open the case.")
        frame = pd.DataFrame(
            {
                "case": [view.cases[case] for case in order],
                "majority": [_named(fit.classes, by_vote[case]) for case in order],
                "share of votes": vote.class_probability[order].max(axis=1),
                "dawid-skene": [_named(fit.classes, by_model[case]) for case in order],
                "probability": top[order],
                "annotations": np.diff(view.case_ptr)[order],
            }
        )
        share = st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1)
        chosen = st.dataframe(
            frame,
            hide_index=True,
            height=min(420, 38 * (len(frame) + 1)),
            on_select="rerun",
            selection_mode="single-row",
            column_config={"share of votes": share, "probability": share},
            key="differ",
        )
        if chosen.selection.rows:
            st.session_state["case"] = frame["case"].iloc[chosen.selection.rows[0]]
            st.switch_page("pages/cases.py")
    probabilities = pd.DataFrame(fit.class_probability, columns=list(fit.classes))
    probabilities.insert(0, "case", list(fit.cases), allow_duplicates=True)  # a class may be named "case"
    widgets.download(probabilities, "Class probabilities of all cases", "class_probabilities", "soft")


def _named(classes: tuple[str, ...], code: int) -> str:
    return "tied" if code < 0 else classes[code]


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("Who is right, and which raters are accurate?")
    view = widgets.class_view(dataset, "majority")
    vote = cached.majority(view)
    verdict = can_use("dawid-skene", view)
    if not verdict.possible:
        title.title("Only a majority vote is possible with these data")
        st.info(f"Dawid-Skene is not possible: {verdict.reason}.", icon=":material/block:")
        frame = pd.DataFrame({"class": vote.classes, "prevalence": vote.prevalence})
        st.dataframe(frame, hide_index=True, key="vote_only")
        return
    smoothing, restarts = _settings(view)
    fit, found = _fit(view, smoothing, restarts)
    if fit is None:
        return
    _remarks(fit, found)
    if found is not None and found.differs:
        which = st.segmented_control(
            "Show", ["Start from the votes", "Best restart"], default="Start from the votes", required=True, key="which"
        )
        fit = found.best if which == "Best restart" else fit
    answered = np.diff(view.case_ptr) > 0
    n_differ = int(((vote.top_class() != fit.top_class()) & answered).sum())
    title.title(
        f"Weighing raters by accuracy changes the answer of {n_differ:,} of {plural(int(answered.sum()), 'case')}"
    )
    cases, raters, prevalence, path = st.tabs(
        ["Cases that change", "Raters", "Prevalence", "How the fit came about"], key="model_tabs"
    )
    with cases:
        _cases(view, vote, fit)
    with raters:
        _raters(vote, fit, theme)
    with prevalence:
        _prevalence(vote, fit, theme)
    with path:
        widgets.plot(
            figures.objective_path(fit, theme, "What is maximised never falls"), "path", "Objective by iteration"
        )


menu.through_app()
_page()
