"""The top of the Agreement page: the coefficients that suit the answers, what each assumes, and which to quote."""

from collections import Counter

import pandas as pd
import streamlit as st

from core.agreement.bands import BEYOND_CHANCE, SCALES, bands
from core.agreement.intervals import Coefficient
from core.agreement.probability import SPA_WEIGHTINGS
from core.agreement.suitable import Suitable
from core.figures import agreement as figures
from core.figures import agreement_parts as more_figures
from core.text import markdown, number, plural, with_interval
from pages.shared import widgets

MOST_ORDERED = 20
DIVERGE = 0.15
SCALE_NAMES = {"landis_koch": "Landis and Koch", "fleiss": "Fleiss", "altman": "Altman"}
ASSUMES = {
    "percent": ("percent agreement", "nothing; but chance alone can make it high when one class is common."),
    "spa": ("spa", "each answer of a case was as likely to be asked for, whatever the others said."),
    "spa_corrected": ("spa corrected", "as SPA; chance is agreement between different cases."),
    "cohen_kappa": ("cohen kappa", "two raters, each guessing by their own shares of the classes."),
    "scott_pi": ("scott pi", "two raters who guess by the same shares of the classes."),
    "conger_kappa": ("conger kappa", "every rater guesses by their own shares of the classes."),
    "gwet_ac": ("gwet ac", "chance agreement happens on hard cases only; steady where one class is common."),
    "brennan_prediger": ("brennan-prediger", "guesses fall on every class of the list alike."),
    "fleiss_kappa": ("fleiss kappa", "raters are exchangeable and guess by the classes' average shares."),
    "krippendorff_alpha": ("krippendorff alpha", "as Fleiss κ, with gaps; corrected for small samples."),
    "icc_1": ("icc", "each score may come from any rater: all differences between raters count as error."),
    "icc_1k": ("icc", "as ICC(1), for the mean of k scores."),
    "icc_2": ("icc", "the same raters scored all cases and are a sample: level differences count as error."),
    "icc_2k": ("icc", "as ICC(2,1), for the mean of k scores."),
    "icc_3": ("icc", "only these raters matter, and their different levels do not count as error."),
    "icc_3k": ("icc", "as ICC(3,1), for the mean of k scores."),
    "leave_one_out_top1": ("leave-one-out", "the others together are the yardstick for each rater."),
    "mean_average_overlap": ("average overlap", "first places count more than later ones."),
}


def show(found: Suitable, theme) -> None:
    """Forest on the left, what each assumes on the right, benchmarks and the whole table below."""
    main = _main(found)
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.plot(
            figures.forest(main, theme, "Agreement with its 95 % interval"),
            "forest",
            "Coefficients of agreement with their intervals",
        )
    with right:
        common = _common(main)
        words = "; ".join(["What each assumes", *common])
        st.caption(f"{markdown(words)}; {plural(main[-1].n_cases, 'case')} with two answers or more")
        for one in main:
            _line(one, common)
        if words := _apart(main):
            st.info(words, icon=":material/call_split:")
    _benchmarks(main, theme)
    with st.expander("All coefficients as a table, and those left out"):
        frame = _frame(found.coefficients)
        st.dataframe(frame, hide_index=True, key="coefficients")
        widgets.download(frame, "Coefficients", "agreement", "agreement")
        for left_out in found.left_out:
            st.markdown(f":material/block: Left out: **{markdown(left_out.what)}**, because {markdown(left_out.why)}.")


def _main(found: Suitable) -> list[Coefficient]:
    """One line for each coefficient: SPA in its usual weighting."""
    return [one for one in found.coefficients if one.name != "spa" or one.weights == SPA_WEIGHTINGS[0]]


def _common(main: list[Coefficient]) -> list[str]:
    """Remarks that most coefficients share, to be said once."""
    parts = Counter(part for one in main for part in one.note.split("; ") if part)
    return [part for part, times in parts.items() if times > max(1, len(main) // 2)]


def _line(one: Coefficient, common: list[str]) -> None:
    term, words = ASSUMES[one.name]
    value = with_interval(one.value, one.ci_low, one.ci_high)
    note = "; ".join(part for part in one.note.split("; ") if part and part not in common)
    remark = f" *{markdown(note)}*" if note else ""
    title = markdown(figures.title_of(one))
    st.caption(f"**{title}** {value}: {words}{remark}", help=widgets.explained(term))


def _apart(main: list[Coefficient]) -> str | None:
    """Why kappa and AC1 differ, where they do: one class is common."""
    values = {one.name: one.value for one in reversed(main)}
    kappa, ac = values.get("fleiss_kappa"), values.get("gwet_ac")
    if kappa is None or ac is None or ac - kappa < DIVERGE:
        return None
    return (
        f"Fleiss κ ({number(kappa)}) and Gwet AC1 ({number(ac)}) differ because some classes are much "
        "commoner than others: κ then counts much of the agreement as chance. Quote both, with the percent agreement."
    )


def _benchmarks(main: list[Coefficient], theme) -> None:
    """What word the number deserves, as probabilities."""
    able = [one for one in main if one.name in BEYOND_CHANCE and one.value is not None]
    if not able:
        return
    with st.expander("In words: how probable is each benchmark, given the interval"):
        left, right = st.columns(2)
        titles = [figures.title_of(one) for one in able]
        place = left.selectbox(
            "Coefficient", range(len(able)), index=len(able) - 1, format_func=titles.__getitem__, key="band_of"
        )
        scale = right.selectbox("Scale", list(SCALES), format_func=SCALE_NAMES.get, key="band_scale")
        found = bands(able[place], scale)
        if found[0].probability is None:
            st.info(found[0].note)
            return
        best = max(found, key=lambda band: band.probability)
        widgets.plot(
            more_figures.band_bar(
                found, theme, f"{titles[place]} is {best.name} with probability {best.probability:.2f}"
            ),
            "bands",
            "Probability of each word of the scale",
        )
        st.caption(
            "Scales are conventions, not measurements: the same κ means different things at different prevalences. "
            "Probabilities are those of a normal distribution around the estimate, cut at -1 and 1."
        )


def _frame(coefficients) -> pd.DataFrame:
    frame = pd.DataFrame([{name: getattr(one, name) for name in one.__slots__} for one in coefficients])
    frame.insert(0, "coefficient", [figures.title_of(one) for one in coefficients])
    return frame
