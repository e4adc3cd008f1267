"""One rater model in detail: its raters, its cases, prevalence, and soft labels to take away."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.figures import models as figures
from core.figures import rater_models as rater_figures
from core.models.catalogue import NOT_TRUTH, Fitted
from core.models.explain import explain
from core.models.rater_summary import rater_summary
from core.models.result import RaterModelFit
from core.models.soft_labels import soft_labels
from core.text import markdown, number, plotly, plural, shorten, with_interval
from pages.shared import widgets

MOST_ROWS = 500
MOST_CODES = 6
_SHARE = {"format": "%.2f", "min_value": 0, "max_value": 1}


def raters(shown: Fitted, theme) -> None:
    """Accuracy with intervals, bias, spam and adversarial signs; one rater's confusion matrix."""
    fit = shown.fit
    summary = rater_summary(shown.dataset, fit)
    widgets.heading("Raters", "confusion matrix")
    least = int(np.nanargmin(np.where(np.isnan(summary.accuracy), np.inf, summary.accuracy)))
    title = (
        f"Least accurate: {plotly(shorten(fit.raters[least], 24))}, "
        f"{with_interval(float(summary.accuracy[least]), float(summary.low[least]), float(summary.high[least]))}"
    )
    draw = rater_figures.sensitivity_specificity if len(fit.classes) == 2 else rater_figures.accuracy_by_rater
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(draw(fit, theme, title), "rater_accuracy", "Accuracy of every rater with its interval")
    frame = _rater_frame(fit, summary)
    if not summary.from_uncertainty:
        st.caption("Intervals take the true classes as known, and so are too short; those of the fit follow.")
    st.caption("Choose a row to see that rater's confusion matrix.")
    bars = {name: st.column_config.ProgressColumn(**_SHARE) for name in ("accuracy", "answers depend on the truth")}
    two = {f"right on {name}": st.column_config.NumberColumn(format="%.3f") for name in fit.classes[:2]}
    ends = {name: st.column_config.NumberColumn(format="%.3f") for name in ("ci_low", "ci_high", "bias")}
    chosen = st.dataframe(
        frame,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [0]}},
        column_config=bars | two | ends,
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
    if "new_rater" in fit.parameters:
        _new_rater(fit)


def _rater_frame(fit: RaterModelFit, summary) -> pd.DataFrame:
    most = np.nanargmax(np.abs(np.nan_to_num(summary.bias)), axis=1)
    flags = np.where(
        summary.adversarial,
        "worse than chance",
        np.where(summary.dependence < 0.1, "answers hardly depend on truth", ""),
    )
    frame = pd.DataFrame(
        {
            "rater": fit.raters,
            "annotations": summary.n_annotations,
            "accuracy": summary.accuracy,
            "ci_low": summary.low,
            "ci_high": summary.high,
        }
    )
    if len(fit.classes) == 2:
        for code, name in enumerate(fit.classes):
            frame[f"right on {name}"] = fit.confusion[:, code, code]
    frame["answers depend on the truth"] = summary.dependence
    frame["leans to"] = [fit.classes[code] for code in most]
    frame["bias"] = summary.bias[np.arange(len(most)), most]
    frame["sign"] = flags
    return frame


def _new_rater(fit: RaterModelFit) -> None:
    widgets.heading("A rater not seen yet", "hierarchical")
    mean, low, high = (fit.parameters[name] for name in ("new_rater", "new_rater_low", "new_rater_high"))
    rows = [
        {"true class": name}
        | {
            f"answers {other}": with_interval(float(mean[i, j]), float(low[i, j]), float(high[i, j]))
            for j, other in enumerate(fit.classes)
        }
        for i, name in enumerate(fit.classes)
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, key="new_rater")


def cases(shown: Fitted, vote: RaterModelFit, theme) -> None:
    """Cases where the model and the vote differ, or all of them; with effects of cases where the model has them."""
    fit = shown.fit
    by_vote, by_model = vote.top_class(), fit.top_class()
    answered = np.diff(shown.dataset.case_ptr) > 0
    differ = (by_vote != by_model) & answered
    every = st.toggle("All cases", key="all_cases", persist_state="session")
    widgets.heading("Cases" if every else "Cases where the two differ")
    top = fit.class_probability.max(axis=1)
    chosen = np.flatnonzero(answered if every else differ)
    order = chosen[np.argsort(top[chosen] if every else -top[chosen], kind="stable")]
    if not len(order):
        st.write("The model and the votes name the same class on every case.")
        return
    said = "least certain first" if every else "the surest first"
    st.caption(f"{plural(len(order), 'case')}, {said}. Choose a row to see why, and to open the case.")
    frame = _case_frame(shown, vote, order[:MOST_ROWS], by_vote, by_model)
    share = st.column_config.ProgressColumn(**_SHARE)
    found = st.dataframe(
        frame,
        hide_index=True,
        height=min(420, 38 * (len(frame) + 1)),
        on_select="rerun",
        selection_mode="single-row",
        column_config={"share of votes": share, "probability": share},
        key="differ",
    )
    if found.selection.rows:
        _why(shown, int(order[found.selection.rows[0]]))
    widgets.download(_case_frame(shown, vote, order, by_vote, by_model), "Cases", "model_cases", "model_cases_table")
    for effect in fit.effects:
        if effect.mean.std() > 0:
            widgets.plot(
                rater_figures.effect_against_probability(
                    fit,
                    effect,
                    np.diff(shown.dataset.case_ptr),
                    theme,
                    f"{effect.name.capitalize()} of cases against their probability",
                ),
                f"effect-{effect.name}",
                f"{effect.name} of every case against its probability",
            )


def _case_frame(shown: Fitted, vote: RaterModelFit, order: np.ndarray, by_vote, by_model) -> pd.DataFrame:
    fit = shown.fit
    frame = pd.DataFrame(
        {
            "case": [shown.dataset.cases[case] for case in order],
            "by vote": [_named(fit.classes, by_vote[case]) for case in order],
            "share of votes": vote.class_probability[order].max(axis=1),
            "by model": [_named(fit.classes, by_model[case]) for case in order],
            "probability": fit.class_probability[order].max(axis=1),
            "annotations": np.diff(shown.dataset.case_ptr)[order],
        }
    )
    for effect in fit.effects:
        frame[effect.name] = effect.mean[order]
        frame[f"{effect.name} low"], frame[f"{effect.name} high"] = effect.spread.low[order], effect.spread.high[order]
    return frame


def _why(shown: Fitted, case: int) -> None:
    case_id = shown.dataset.cases[case]
    with st.container(border=True):
        if shown.fit.effects:
            st.markdown(f"**{markdown(case_id)}**")
        else:
            reason = explain(shown.dataset, shown.fit, case)
            st.markdown(f"**{markdown(case_id)}**: {markdown(reason.sentence)}")
            moved = ", ".join(
                f"{markdown(rater)} says {markdown(answer)} ({'+' if adds >= 0 else '−'}{number(abs(adds), 1)})"
                for rater, answer, adds in reason.answers[:8]
            )
            if reason.against >= 0 and moved:
                top, other = shown.fit.classes[reason.top], shown.fit.classes[reason.against]
                st.caption(f"Log-odds of {markdown(top)} against {markdown(other)}: {moved}")
        if st.button("Open the case", icon=":material/open_in_new:", key="open_model_case"):
            st.session_state["case"] = case_id
            st.switch_page("pages/cases.py")


def prevalence(fitted: list[Fitted], shown: Fitted, vote: RaterModelFit, theme) -> None:
    """How common each class is, by model with its interval, and by raw shares."""
    widgets.heading("Prevalence", "prevalence")
    fits = {one.title: one.fit for one in fitted if one.fit.classes == shown.fit.classes}
    fits[shown.title] = shown.fit
    raw = _raw_share(shown.dataset)
    gap = np.abs(shown.fit.prevalence - vote.prevalence)
    codes = np.sort(np.argsort(-gap, kind="stable")[:MOST_CODES]).tolist()
    if len(shown.fit.classes) == 2:
        codes = [1]
    code = int(gap.argmax())
    title = (
        f"Most moved: {plotly(shorten(shown.fit.classes[code], 24))}, "
        f"{vote.prevalence[code]:.1%} by vote, {shown.fit.prevalence[code]:.1%} by {plotly(shown.title)}"
    )
    widgets.plot(
        figures.prevalence_by_model({"Majority vote": vote, **fits}, raw, theme, title, codes),
        "prevalence",
        "Prevalence by vote and by model",
    )
    if len(codes) < len(shown.fit.classes) > 2:
        st.caption(f"The {len(codes)} classes most moved, of {len(shown.fit.classes)}.")
    frame = pd.DataFrame({"class": shown.fit.classes, "share of annotations": raw, "Majority vote": vote.prevalence})
    for title, fit in fits.items():
        frame[title] = fit.prevalence
        if fit.uncertainty is not None:
            frame[f"{title} ci_low"] = fit.uncertainty.prevalence.low
            frame[f"{title} ci_high"] = fit.uncertainty.prevalence.high
    widgets.download(frame, "Prevalence", "prevalence", "prevalence_table")


def soft(shown: Fitted) -> None:
    """Class probabilities, log-odds and weights; never only the best class."""
    widgets.heading("Soft labels to train on", "soft labels")
    if shown.request.model in NOT_TRUTH:
        st.info("This model is a baseline without parameters: its probabilities are not offered as labels.")
        return
    if not shown.fit.converged:
        st.warning("The fit has not converged: labels from it may still change.", icon=":material/warning:")
    found = soft_labels(shown.dataset, shown.fit)
    st.write(
        "For training a classifier, probabilities or log-odds do better than the most probable class alone: they say "
        "how sure the panel is."
    )
    for array, label, name in (
        (found.probability, "Class probabilities of all cases", "class_probabilities"),
        (found.log_odds, "Log-odds", "log_odds"),
        (found.weight, "Weights of examples", "weights"),
    ):
        frame = pd.DataFrame(array, columns=list(found.classes))
        frame.insert(0, "case", list(found.cases), allow_duplicates=True)  # a class may be named "case"
        widgets.download(frame, label, name, name)
    shown_rows = pd.DataFrame(found.probability[:20], columns=list(found.classes))
    shown_rows.insert(0, "case", list(found.cases[:20]), allow_duplicates=True)
    if shown_rows.columns.is_unique:
        st.caption("The first twenty cases")
        st.dataframe(shown_rows, hide_index=True, key="soft_rows")


def came_about(shown: Fitted, theme) -> None:
    """What was maximised by iteration, or how the chains went; and all remarks."""
    fit = shown.fit
    if fit.objective:
        st.caption(
            f"{'Converged' if fit.converged else 'Stopped'} after {len(fit.objective)} iterations from the votes; "
            f"log-likelihood {fit.log_likelihood:,.3f}; smoothing {fit.settings.get('smoothing', 'none')}."
        )
        widgets.plot(
            figures.objective_path(fit, theme, "What is maximised never falls"), "path", "Objective by iteration"
        )
    if fit.uncertainty is not None:
        st.caption(f"Intervals by {fit.uncertainty.method}, level {fit.uncertainty.level:.0%}.")
    if shown.bayes is not None:
        rows = [
            {"quantity": name, "mean": float(value.mean), "sd": _one(value.sd), "ci_low": _one(value.low),
             "ci_high": _one(value.high), "R-hat": _one(value.rhat), "ESS": _one(value.ess)}
            for name, value in shown.bayes.quantities.items()
            if np.size(value.mean) == 1
        ]  # fmt: skip
        if rows:
            st.dataframe(pd.DataFrame(rows), hide_index=True, key="quantities")
        st.caption(f"Settings: {markdown(', '.join(f'{k} {v}' for k, v in fit.settings.items()))}")


def explain_restarts(fit: RaterModelFit, found) -> None:
    """Whether other starting points lead elsewhere."""
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


def _one(array) -> float | None:
    return None if array is None else float(array)


def _named(classes: tuple[str, ...], code: int) -> str:
    return "tied" if code < 0 else classes[code]


def _raw_share(dataset: Dataset) -> np.ndarray:
    return np.bincount(dataset.answer, minlength=dataset.n_classes) / max(1, dataset.n_annotations)
