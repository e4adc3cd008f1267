"""Raters of scores: who scores higher or lower than the others, and whose scores scatter."""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.applicable_coefficients import ApplicableCoefficients
from core.analyses.agreement import AGREEMENT
from core.annotations.dataset import Dataset
from core.certainty.score_trust import score_digits
from core.figures import scores as figures
from core.figures.agreement import title_of
from core.models.gold import gold_cases
from core.raters.following import Following
from core.raters.score_drift import ScoreDrifts, score_drifts
from core.raters.score_gold import score_gold
from core.raters.score_raters import ScoreRaters
from core.text import markdown, number, percent, plotly, plural, shorten, with_interval
from pages.shared.cache import analyses
from pages.shared.kit import columns, provenance, widgets
from pages.shared.kit import scores as kit

_SCORES, _CLASSES = "Scores", "Two classes, by a threshold"


def as_scores() -> bool:
    """Whether scores count as they are here; else as two classes, with what classes allow: flags, planning."""
    return (
        st.segmented_control(
            "Scores count as",
            [_SCORES, _CLASSES],
            default=_SCORES,
            required=True,
            key="raters_scores_as",
            persist_state="session",
        )
        == _SCORES
    )


def show(dataset: Dataset, title, theme) -> None:
    """The page. ``title`` is the place of its first sentence."""
    following = kit.following(dataset)
    if following is None or (raters := following.scores) is None:
        return
    digits = score_digits(float(np.nanmedian(raters.severity_high - raters.severity_low)))
    who, said = following.who().removesuffix("."), list(raters.sentences(digits))
    # Whose scale runs the other way, and who is severe, are findings; that nobody fails to follow the cases is none.
    first, *rest = [who, *said] if following.n_flagged and not raters.against.any() else [said[0], who, *said[1:]]
    title.title(markdown(first))
    for sentence in rest:
        st.markdown(f"{markdown(sentence)}.")
    left, right = st.columns(2, gap="large")
    with left:
        n = int(raters.severe.sum())
        words = f"{plural(n, 'rater')} clearly above or below" if n else "Nobody clearly above or below"
        widgets.plot(figures.severities(raters, theme, words), "severity", "Severity of each rater with its interval")
    with right:
        n = int(raters.erratic.sum())
        words = f"{plural(n, 'rater')} clearly more scattered" if n else "Nobody clearly more scattered"
        widgets.plot(figures.spreads(raters, theme, words), "spread", "Spread of each rater with its interval")
    st.caption(
        "Severity: how far a rater scores above the average rater on the same cases, dotted at 0 · spread: standard "
        "deviation of a rater's scores about the score of the case and the rater's own level, dotted at the median "
        "rater · with the others: correlation of a rater's scores with the mean of the others' over cases; where it is "
        "clearly below 0, the direction differs · follows: correlation with the case's own score, shrunk towards all "
        "raters · lost: scores, less those of the average rater that tell as much · crosses: clear, with a probability "
        "of 5% at most that any rater like the others is among them."
    )
    if not raters.converged:
        st.warning("The variances had not settled when the search ended: take intervals with care.")
    _numbers(raters, following, digits)
    if len(gold_cases(dataset)):
        _against_gold(dataset, digits, theme)
    _over_time(dataset, raters, digits, theme)
    _beside(raters, analyses.result(AGREEMENT.part("coefficients"), dataset), digits)
    provenance.show(
        dataset, ["score raters"], "raters FILE", {"level": raters.level, "raters": "severity and spread"}, "raters"
    )


def _numbers(raters: ScoreRaters, following: Following, digits: int) -> None:
    frame = raters.to_frame()
    frame["follows"], frame["P(acceptable)"], frame["lost"] = following.rates.value, following.chance, following.lost
    frame["clear"] = [
        " and ".join(word for word, is_so in zip(("severity", "spread", "direction"), clear, strict=True) if is_so)
        for clear in zip(raters.severe, raters.erratic, raters.against, strict=True)
    ]
    shown = frame.iloc[following.order()]
    names = {
        "severity_low": "95% from",
        "severity_high": "to",
        "spread_low": "95% from ",
        "spread_high": "to ",
        "with_others": "with the others",
        "with_others_low": "95% from  ",
        "with_others_high": "to  ",
    }
    st.dataframe(
        shown,
        hide_index=True,
        key="score_raters",
        column_config={
            **{name: kit.column(names.get(name), digits) for name in frame.columns[2:8]},
            **{name: kit.column(names.get(name), 2) for name in frame.columns[8:11]},
            **columns.numbers("follows", "P(acceptable)"),
            **columns.counts(n="scores", lost="scores lost"),
        },
    )
    alone = int(np.isnan(raters.severity).sum())
    if alone:
        share = "shares" if alone == 1 else "share"
        st.caption(f"{plural(alone, 'rater')} {share} no case with anybody, or too few for anything to be said.")
    widgets.download(pd.DataFrame(frame), "Raters", "score_raters", "score_raters_file")


def _against_gold(dataset: Dataset, digits: int, theme) -> None:
    """How far each rater lies from the known scores."""
    widgets.heading("Against gold")
    found = score_gold(dataset)
    st.markdown(f"{markdown(found.words(digits))}.")
    widgets.plot(figures.biases(found, theme, "Score less the known score"), "bias", "Bias of each rater against gold")
    frame = found.to_frame()
    names = {
        "bias_low": "95% from",
        "bias_high": "to",
        "error": "mean error",
        "error_low": "95% from ",
        "error_high": "to ",
    }
    st.dataframe(
        frame,
        hide_index=True,
        key="score_gold",
        column_config={
            **{name: kit.column(names.get(name), digits) for name in frame.columns[2:]},
            **columns.counts(n="scores on gold cases"),
        },
    )
    widgets.download(frame, "Raters against gold", "score_gold", "score_gold_file")


def _over_time(dataset: Dataset, raters: ScoreRaters, digits: int, theme) -> None:
    """Whether the severity of a rater changed, and when; the clearest first."""
    widgets.heading("Over time")
    if dataset.time is None:
        st.info("These scores have no dates, so nothing can be said over time.", icon=":material/block:")
        return
    found = score_drifts(dataset, raters, level=raters.level)
    names = [one for one, drift in zip(found.raters, found.each, strict=True) if drift is not None]
    if not names:
        st.info("No rater has enough dated scores beside others to be followed over time.", icon=":material/block:")
        return
    n = int(found.alarm.sum())
    changed = f"The severity of {plural(n, 'rater')} changed" if n else "No rater's severity clearly changed"
    st.markdown(
        f"{changed}, with a probability of {percent(found.false_alarms)} at most that any rater who stayed the same is "
        "among them. Each score counts by how far it lies above the others of its case, so cases that change are no "
        "drift; that all raters moved together cannot be seen."
    )
    first = found.raters[int(np.nanargmin(found.p))]
    rater = st.selectbox("Rater", names, index=names.index(first), key="score_drift_rater", width=320)
    _drift(found, found.raters.index(rater), digits, theme)
    if found.n_undated:
        st.caption(f"{plural(found.n_undated, 'score')} without a date left out.")
    widgets.download(found.to_frame(), "Raters over time", "score_drift", "score_drift_file")


def one_over_time(dataset: Dataset, raters: ScoreRaters | None, place: int, digits: int, theme) -> None:
    """Whether the severity of one rater of ordered classes changed, among all raters."""
    if raters is None:
        return
    found = score_drifts(dataset, raters, level=raters.level)
    if found.each[place] is None:
        st.info("Too few dated annotations beside others to follow this rater over time.", icon=":material/block:")
        return
    _drift(found, place, digits, theme)


def _drift(found: ScoreDrifts, place: int, digits: int, theme) -> None:
    """One rater's severity over time, and how it changed."""
    drift, rater = found.each[place], found.raters[place]
    title = plotly(shorten(rater, 24) + found.words(place, digits).removeprefix(rater))
    widgets.plot(figures.severity_over_time(drift, theme, title), "score_drift", "Severity of a rater over time")
    if drift.before is not None and drift.after is not None:
        parts = (number(end, digits) for part in (drift.before, drift.after) for end in part)
        st.markdown(
            "Above the others by {} ({} to {}) before, by {} ({} to {}) since.".format(*parts)
            + f" A stable rater would stray as far with probability {_at_most(drift.p)}."
        )


def _at_most(p: float) -> str:
    return "below .001" if p < 0.001 else f"{number(p, 3)} at most"


def _beside(raters: ScoreRaters, suitable: ApplicableCoefficients, digits: int) -> None:
    """What the variances say together, and the intraclass correlation of Agreement."""
    widgets.heading("What a score is made of")
    parts = (("cases", raters.between_cases), ("raters", raters.between_raters), ("the rest", raters.median_spread))
    said = ", ".join(f"{name} {kit.written(value, digits)}" for name, value in parts)
    st.markdown(f"Standard deviations: {said} (of the median rater).")
    best = suitable.quoted
    if best.value is None:
        return
    said = with_interval(best.value, best.ci_low, best.ci_high)
    st.markdown(
        f"{markdown(title_of(best))} = {said}, n = {plural(best.n_cases, 'case')}: the share of what varies in a score "
        "that comes from the case. All coefficients stand on Agreement.",
        help=widgets.explained(best.name),
    )
