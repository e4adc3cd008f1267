"""One rater model in detail: its raters, its cases, prevalence, and soft labels to export."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.extremes import clearly_least, clearly_most
from core.figures import models as figures
from core.figures import rater_models as rater_figures
from core.models.catalogue import Fitted
from core.models.comparison import most_moved
from core.models.expected_class import class_values, expected_class, in_class_names, within_one, without_shared_words
from core.models.explain import explain
from core.models.hierarchical import METHOD as HIERARCHICAL
from core.models.ordinal import METHOD as ORDINAL
from core.models.ordinal import NAMES as SCALES
from core.models.ordinal import severity_sentence
from core.models.rater_summary import RaterSummary, leaning, rater_summary
from core.models.result import RaterModelFit
from core.text import markdown, number, percent, percent_range, plotly, plural, shorten, with_interval
from pages.shared.kit import columns, widgets
from pages.shared.models import jobs as models_jobs

MOST_ROWS = 500
MOST_CODES = 6
SPAM = 0.1
ENOUGH = 10
_TOLD_APART = 0.005  # standard deviation of an effect over cases
_RATER_HELP = {
    "dependence": st.column_config.ProgressColumn(
        "follows the truth",
        help="0: the annotations have nothing to do with the truth, as of somebody who guesses; 1: they are settled by "
        "it. Root of the score of Raykar and Yu (2012); with two classes |sensitivity + specificity - 1|.",
        format="%.2f",
        min_value=0,
        max_value=1,
    ),
    "leans to": st.column_config.TextColumn(
        help="The class that stands too often among the rater's annotations, by the most, for the cases they saw, "
        "given the other raters."
    ),
    "bias": st.column_config.NumberColumn(
        help="Share of that class among the rater's annotations, less its share among the true classes of the "
        "same cases.",
        format="%+.3f",
    ),
    "sign": st.column_config.TextColumn(
        "flag", width=130, help="What to look into before this rater's annotations are used."
    ),
}


def extremes(summary: RaterSummary) -> tuple[int | None, int | None]:
    """Who is clearly the least and the most accurate, or None; of raters with `ENOUGH` annotations, if two have."""
    chosen = _compared(summary)
    ends = [part[chosen] for part in (summary.accuracy, summary.low, summary.high)]
    least, most = clearly_least(*ends), clearly_most(*ends)
    return None if least is None else int(chosen[least]), None if most is None else int(chosen[most])


def _compared(summary: RaterSummary) -> np.ndarray:
    known = np.isfinite(summary.accuracy)
    enough = known & (summary.n_annotations >= ENOUGH)
    return np.flatnonzero(enough if enough.sum() >= 2 else known)


def _least_right(shown: Fitted, summary: RaterSummary) -> str:
    """Who is clearly least often right, with the interval."""
    least, _ = extremes(summary)
    model = plotly(models_jobs.label(shown))
    if least is None:
        several = len(_compared(summary)) > 1
        return (
            f"No rater is clearly least often right by {model}" if several else f"How often raters are right by {model}"
        )
    ends = with_interval(float(summary.accuracy[least]), float(summary.low[least]), float(summary.high[least]))
    return f"Least often right by {model}: {plotly(shorten(shown.fit.raters[least], 40))}, {ends}"


def raters(shown: Fitted, theme) -> None:
    """Accuracy with intervals, bias, spam and adversarial flags; one rater's confusion matrix."""
    fit = shown.fit
    summary = rater_summary(shown.dataset, fit)
    widgets.heading("Raters", "confusion matrix")
    title = _least_right(shown, summary)
    draw = rater_figures.sensitivity_specificity if len(fit.classes) == 2 else rater_figures.accuracy_by_rater
    left, right = st.columns(2, gap="large")
    with left:
        widgets.plot(
            draw(fit, theme, title), "rater_accuracy", "How often each rater is right by the model, with intervals"
        )
    frame = _rater_frame(fit, summary)
    if said := severity_sentence(fit):
        st.markdown(markdown(said), help=widgets.explained(ORDINAL))
    if not summary.from_uncertainty:
        st.caption("Intervals take the true classes as known, and so are too short; those of the fit follow.")
    st.caption(
        "Choose a row to see that rater's confusion matrix. Accuracy, by gold where there is some, is on Raters."
    )
    drawn, pictures = columns.with_pictures(frame, ("right by matrix", "ci_low", "ci_high", "95% interval"))
    config = (
        columns.numbers("right by matrix")
        | columns.ends()
        | columns.numbers(*(f"right on {c}" for c in fit.classes[:2]))
        | columns.counts("annotations")
    )
    first = ["rater", "sign"]  # a flag at the right edge would be cut
    chosen = st.dataframe(
        drawn[first + [name for name in drawn if name not in first]],
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        selection_default={"selection": {"rows": [0]}},
        column_config=config | _RATER_HELP | pictures,
        key="rater_table",
    )
    widgets.download(frame, "Raters", "raters", "raters")
    rater = chosen.selection.rows[0] if chosen.selection.rows else 0
    with right:
        title = f"Annotations of {plotly(shorten(fit.raters[rater], 40))}, given the true class"
        widgets.plot(
            figures.confusion_heatmap(fit, rater, theme, title), "confusion", "Confusion matrix of the chosen rater"
        )
        if len(fit.classes) > figures.MOST_CLASSES:
            st.caption(f"The {figures.MOST_CLASSES} classes that this rater met most, of {len(fit.classes):,}.")
    if "new_rater" in fit.parameters:
        _new_rater(fit)


def _rater_frame(fit: RaterModelFit, summary) -> pd.DataFrame:
    leans = leaning(summary.bias)
    flags = np.where(
        summary.adversarial,
        "worse than chance",
        np.where(summary.dependence < SPAM, "uninformative", ""),
    )
    frame = pd.DataFrame(
        {
            "rater": fit.raters,
            "annotations": summary.n_annotations,
            "right by matrix": summary.accuracy,
            "ci_low": summary.low,
            "ci_high": summary.high,
        }
    )
    if len(fit.classes) == 2:
        for code, name in enumerate(fit.classes):
            frame[f"right on {name}"] = fit.confusion[:, code, code]
    frame["dependence"] = summary.dependence
    frame["leans to"] = [fit.classes[code] if code >= 0 else "" for code in leans]
    frame["bias"] = np.where(leans >= 0, summary.bias[np.arange(len(leans)), leans], np.nan)
    frame["sign"] = flags
    if SCALES[0] in fit.parameters:
        at = frame.columns.get_loc("ci_high") + 1
        shown = [f"{name}{end}" for name in SCALES for end in ("", "_low", "_high")]
        for place, name in enumerate(shown):
            frame.insert(at + place, name, fit.parameters[name])
    return frame


def _new_rater(fit: RaterModelFit) -> None:
    widgets.heading("A rater not seen yet", HIERARCHICAL)
    mean, low, high = (fit.parameters[name] for name in ("new_rater", "new_rater_low", "new_rater_high"))
    rows = [
        {"true class": name}
        | {
            f"gives {other}": with_interval(float(mean[i, j]), float(low[i, j]), float(high[i, j]))
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
    name = models_jobs.label(shown)
    widgets.heading("Cases" if every else f"Cases where {name} and the majority vote differ")
    top = fit.class_probability.max(axis=1)
    chosen = np.flatnonzero(answered if every else differ)
    order = chosen[np.argsort(top[chosen] if every else -top[chosen], kind="stable")]
    if not len(order):
        st.write("The model and the votes name the same class on every case.")
        return
    said = "least certain first" if every else "most certain first"
    n_tied = int((by_vote[order] < 0).sum())
    ties = f", {n_tied:,} of them tied in the majority vote" if n_tied else ""
    st.caption(f"{plural(len(order), 'case')}{ties}, {said}. Choose a row to see why, and to open the case.")
    frame = _case_frame(shown, vote, order[:MOST_ROWS], by_vote, by_model)
    chances = [name for name in ("probability", "within one class") if name in frame]
    found = st.dataframe(
        _in_class_names(fit, frame).assign(
            **{name: columns.never_quite(frame[name].to_numpy(float)) for name in chances}
        ),
        hide_index=True,
        height=min(420, 35 * (len(frame) + 1) + 3),
        on_select="rerun",
        selection_mode="single-row",
        column_config=columns.shares("share of votes", "probability")
        | {"by vote": "by majority vote"}
        | _effect_columns(fit),
        key="differ",
    )
    if found.selection.rows:
        _why(shown, int(order[found.selection.rows[0]]))
    widgets.download(
        lambda: _case_frame(shown, vote, order, by_vote, by_model), "Cases", "model_cases", "model_cases_table",
        n_rows=len(order),
    )  # fmt: skip
    _effects(shown, name, theme)


def _effects(shown: Fitted, name: str, theme) -> None:
    """Each effect of the cases against their probability, where two digits tell cases apart."""
    for effect in shown.fit.effects:
        if effect.mean.std() == 0:
            continue
        if effect.mean.std() < _TOLD_APART:
            st.caption(f"By {markdown(name)} no case differs from another in {effect.name}, to two digits.")
            continue
        widgets.plot(
            rater_figures.effect_against_probability(
                shown.fit,
                effect,
                np.diff(shown.dataset.case_ptr),
                theme,
                f"{effect.name.capitalize()} of cases by {plotly(name)}",
            ),
            f"effect-{effect.name}",
            f"{effect.name} of every case against its probability",
        )


def _effect_columns(fit: RaterModelFit) -> dict:
    """Each effect beside the ends of its interval."""
    config = {
        "expected class": st.column_config.NumberColumn(
            help="Mean of the class probabilities, "
            + (
                "in the numbers of the classes."
                if class_values(without_shared_words(fit.classes)) is not None
                else "the lowest class being 1."
            ),
            format="%.2f",
        ),
        "expected class low": st.column_config.Column("95% from"),
        "expected class high": st.column_config.Column("to"),
        "within one class": st.column_config.NumberColumn(
            help="Probability that the true class is at most one away from the median class.", format="%.2f"
        ),
    }
    for effect in fit.effects:
        config[effect.name] = st.column_config.NumberColumn(format="%.2f")
        for end, words in (("low", "95% from"), ("high", "to")):
            config[f"{effect.name} {end}"] = st.column_config.NumberColumn(words, format="%.2f")
    return config


def _in_class_names(fit: RaterModelFit, frame: pd.DataFrame) -> pd.DataFrame:
    """The expected class in the numbers of the classes, and the ends of its interval by name; files count from 1."""
    if "expected class" not in frame:
        return frame
    ends = {f"expected class {end}": frame[f"expected class {end}"].astype(int) for end in ("low", "high")}
    named = {name: [shorten(fit.classes[place - 1], 24) for place in places] for name, places in ends.items()}
    numbers = without_shared_words(fit.classes)  # of "BI-RADS 0" and its like, as on Cases
    return frame.assign(**{"expected class": in_class_names(numbers, frame["expected class"].to_numpy())}, **named)


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
    if shown.dataset.ordinal and shown.dataset.n_classes > 2:
        scale = expected_class(fit.class_probability[order])
        frame["expected class"] = scale.mean
        frame["expected class low"], frame["expected class high"] = scale.spread.low, scale.spread.high
        frame["within one class"] = within_one(fit.class_probability[order])
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
    same = [one for one in fitted if one.fit.classes == shown.fit.classes]
    kept = [one for one in same if one.request.method.is_truth]
    fits = {models_jobs.label(one): one.fit for one in kept}
    raw = _raw_share(shown.dataset)
    order = most_moved(shown.fit, vote)
    codes = np.sort(order[:MOST_CODES]).tolist()
    if len(shown.fit.classes) == 2:
        codes = [1]
    code = int(order[0]) if len(codes) > 1 else codes[0]
    spread = None if shown.fit.uncertainty is None else shown.fit.uncertainty.prevalence
    ends = f" ({percent_range(spread.low[code], spread.high[code], 1)})" if spread is not None else ""
    title = (
        f"“{plotly(shorten(shown.fit.classes[code], 40))}”: {percent(vote.prevalence[code], 1)} of cases by majority "
        "vote, "
        f"{percent(shown.fit.prevalence[code], 1)}{ends} by {plotly(models_jobs.label(shown))}"
    )
    widgets.plot(
        figures.prevalence_by_model({"Majority vote": vote, **fits}, raw, theme, title, codes),
        "prevalence",
        "Prevalence by majority vote and by model",
    )
    if len(kept) < len(same):
        st.caption("Difficulty ABDE, the baseline without parameters, is left out.")
    if len(codes) < len(shown.fit.classes) > 2:
        st.caption(f"The {len(codes):,} classes most moved, of {len(shown.fit.classes):,}.")
    frame = pd.DataFrame({"class": shown.fit.classes, "share of annotations": raw, "Majority vote": vote.prevalence})
    for title, fit in fits.items():
        frame[title] = fit.prevalence
        if fit.uncertainty is not None:
            frame[f"{title} ci_low"] = fit.uncertainty.prevalence.low
            frame[f"{title} ci_high"] = fit.uncertainty.prevalence.high
    widgets.download(frame, "Prevalence", "prevalence", "prevalence_table")


def _named(classes: tuple[str, ...], code: int) -> str:
    return "tied" if code < 0 else classes[code]


def _raw_share(dataset: Dataset) -> np.ndarray:
    return np.bincount(dataset.answer, minlength=dataset.n_classes) / max(1, dataset.n_annotations)
