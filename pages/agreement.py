"""Agreement: how much do the raters agree, beyond chance, two by two, and on which cases."""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.probability import SPA_WEIGHTINGS
from core.annotations.capabilities import can_use
from core.figures import agreement as figures
from core.text import number, plural, with_interval
from pages.shared import cached, look, menu, widgets

MOST_RATERS = 40
DIVERGE = 0.15
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
}


def _sentence(table) -> str:
    percent, alpha = table[0], table[-1]
    if percent.value is None:
        return f"Agreement cannot be computed: {percent.note.removeprefix('undefined: ')}"
    beyond = with_interval(alpha.value, alpha.ci_low, alpha.ci_high)
    if alpha.value is None:
        return f"Raters agree on {percent.value:.0%} of pairs; beyond chance it is {alpha.note}"
    n_cases = plural(alpha.n_cases, "case")
    return f"Raters agree on {percent.value:.0%} of pairs; beyond chance {beyond}, n = {n_cases}"


def _apart(main) -> str | None:
    """Why kappa and AC1 differ, where they do: one class is common."""
    values = {row.name: row.value for row in main}
    kappa, ac = values.get("fleiss_kappa"), values.get("gwet_ac")
    if kappa is None or ac is None or ac - kappa < DIVERGE:
        return None
    return (
        f"Fleiss κ ({number(kappa)}) and Gwet AC1 ({number(ac)}) differ because some classes are much "
        "commoner than others: κ then counts much of the agreement as chance. Quote both, with the percent agreement."
    )


def _coefficients(table) -> pd.DataFrame:
    return pd.DataFrame([{name: getattr(row, name) for name in row.__slots__} for row in table])


def _top(table, theme) -> None:
    main = [row for row in table if row.name != "spa" or row.weights == SPA_WEIGHTINGS[0]]
    left, right = st.columns([3, 2], gap="large")
    with left:
        widgets.plot(
            figures.forest(main, theme, "Agreement with its 95 % interval"),
            "forest",
            "Coefficients of agreement with their intervals",
        )
    with right:
        st.caption(f"What each assumes, over {plural(main[0].n_cases, 'case')} with two answers or more")
        for row in main:
            term, words = ASSUMES[row.name]
            value = with_interval(row.value, row.ci_low, row.ci_high)
            remark = f" *{row.note}*" if row.note else ""
            title = figures.COEFFICIENT_TITLES[row.name]
            st.caption(f"**{title}** {value}: {words}{remark}", help=widgets.explained(term))
        if apart := _apart(main):
            st.info(apart, icon=":material/call_split:")
    with st.expander("All coefficients as a table, with SPA in its six weightings"):
        frame = _coefficients(table)
        st.dataframe(frame, hide_index=True, key="coefficients")
        widgets.download(frame, "Coefficients", "agreement", "agreement")


def _raters(view, theme) -> None:
    widgets.heading("Raters two by two", "pair matrix")
    verdict = can_use("pairs", view)
    if not verdict.possible:
        st.info(f"Not possible: {verdict.reason}.", icon=":material/block:")
        return
    shown = view
    if view.n_raters > MOST_RATERS:
        busiest = np.argsort(-np.bincount(view.rater, minlength=view.n_raters), kind="stable")[:MOST_RATERS]
        shown = view.select(raters=[view.raters[code] for code in np.sort(busiest)])
        st.caption(f"The {MOST_RATERS} raters with most answers, of {view.n_raters:,}.")
    matrix = cached.pairs(shown)
    widgets.plot(
        figures.pair_heatmap(matrix, theme, "Share of pairs of answers that agree, with their number"),
        "pairs",
        "Matrix of agreement between every two raters",
    )
    share = matrix.share
    rows = [
        (matrix.raters[i], matrix.raters[j], share[i, j], *(matrix.interval(i, j) or (None, None)), matrix.n[i, j])
        for i in range(len(matrix.raters))
        for j in range(i + 1, len(matrix.raters))
    ]
    frame = pd.DataFrame(rows, columns=["rater", "other rater", "agreement", "ci_low", "ci_high", "n"])
    widgets.download(frame, "Pairs", "pairs", "pairs")


def _cases(view, agreement, per_case, theme) -> None:
    widgets.heading("Cases")
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
            figures.annotations_per_case(per_case, theme, f"{per_case.mean():.1f} annotations a case on average"),
            "per_case",
            "Histogram of annotations per case",
        )
    with right:
        st.markdown("**Least agreement first**; choose a row to open the case")
        order = np.argsort(np.where(usable, agreement, np.inf), kind="stable")[:500]
        order = order[usable[order]]
        frame = pd.DataFrame(
            {
                "case": [view.cases[case] for case in order],
                "agreement": agreement[order],
                "annotations": per_case[order].astype(int),
            }
        )
        chosen = st.dataframe(
            frame,
            hide_index=True,
            height=min(520, 36 * (len(frame) + 1)),
            on_select="rerun",
            selection_mode="single-row",
            column_config={"agreement": st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1)},
            key="least_agreement",
        )
        if chosen.selection.rows:
            st.session_state["case"] = frame["case"].iloc[chosen.selection.rows[0]]
            st.switch_page("pages/cases.py")


def _page() -> None:
    dataset = widgets.require_data().dataset
    theme = look.theme()
    title = st.empty()
    title.title("How much do the raters agree?")
    view = widgets.class_view(dataset, "agreement")
    table, agreement, per_case = cached.agreement(view)
    title.title(_sentence(table))
    _top(table, theme)
    _raters(view, theme)
    _cases(view, agreement, per_case, theme)


menu.through_app()
_page()
