"""Raters on the Agreement page: pairwise, and each against the others."""

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement.by_rater import OVERALL, AgreementByRater
from core.agreement.krippendorff import KRIPPENDORFF_ALPHA
from core.agreement.pairs import METHOD as PAIRS
from core.agreement.pairs import cases_of_disagreement, pair_coefficients
from core.annotations.dataset import Dataset
from core.errors import LimitError
from core.extremes import clearly_least
from core.figures import agreement as figures
from core.figures import agreement_parts as more_figures
from core.methods import can_use, method_named
from core.text import markdown, plotly, plural, shorten, with_interval
from pages.shared.cache import agreement as cached_agreement
from pages.shared.kit import columns, widgets

MOST_RATERS = 40
MOST_ROWS = 500
MOST_LISTED = 2000


def pairs(view: Dataset, theme) -> None:
    """The matrix, similar raters together; a click on a cell lists the cases where the two differ."""
    verdict = can_use(PAIRS, view)
    if not verdict.possible:
        st.info(f"Not possible: {markdown(verdict.reason)}.", icon=":material/block:")
        return
    left, right = st.columns([2, 5], vertical_alignment="bottom")
    coefficient = left.selectbox(
        "Coefficient",
        pair_coefficients(),
        format_func=lambda name: method_named("coefficient", name).title,
        key="pair_coefficient",
        help=widgets.explained(PAIRS),
        persist_state="session",
    )
    shown = view
    if view.n_raters > MOST_RATERS:
        busiest = np.argsort(-np.bincount(view.rater, minlength=view.n_raters), kind="stable")[:MOST_RATERS]
        shown = view.select(raters=[view.raters[code] for code in np.sort(busiest)])
        right.caption(f"The {MOST_RATERS} raters with most annotations, of {view.n_raters:,}.")
    try:
        matrix, order = cached_agreement.pairs(shown, coefficient)
    except LimitError as error:
        st.info(markdown(error), icon=":material/block:")
        return
    if (matrix.n[np.triu_indices(len(matrix.raters), 1)] >= figures.FEW_PAIRS).any():
        _heatmap(matrix, order, f"pairs-{coefficient}-{shown.digest}", theme)
    else:
        st.info(f"No two raters share {figures.FEW_PAIRS} annotations or more: no two can be compared here.")
    _two(shown, matrix)
    rows = [
        (
            matrix.raters[i],
            matrix.raters[j],
            matrix.value[i, j],
            *(matrix.interval(i, j) or (None, None)),
            matrix.n[i, j],
        )
        for i in range(len(matrix.raters))
        for j in range(i + 1, len(matrix.raters))
    ]
    frame = pd.DataFrame(rows, columns=["rater", "other rater", coefficient, "ci_low", "ci_high", "n"])
    widgets.download(frame, "Pairs", "pairs", "pairs")


def _heatmap(matrix, order: np.ndarray, key: str, theme) -> None:
    """The matrix; a click on a cell chooses the two raters below."""
    clicked = widgets.plot(
        figures.pair_heatmap(matrix, order, theme, "Raters who agree stand side by side"),
        key,
        "Matrix of agreement between every two raters",
        on_select="rerun",
        selection_mode="points",
    )
    _say_what_is_shown(matrix)
    points = clicked.selection.points
    now = tuple(points[0]["customdata"]) if points else None
    # A click counts once: the boxes below can be changed afterwards.
    if now is not None and st.session_state.get("pair_clicked") != (key, now):
        st.session_state["pair_first"], st.session_state["pair_second"] = (matrix.raters[code] for code in now)
    st.session_state["pair_clicked"] = (key, now)


def _say_what_is_shown(matrix) -> None:
    """What a cell holds, and how many pairs of raters met too seldom to be compared."""
    n = matrix.n[np.triu_indices(len(matrix.raters), 1)]
    seldom = int((n < figures.FEW_PAIRS).sum())
    words = "Choose a cell to see the cases where two raters differ; the interval stands in the hover."
    if seldom:
        words += (
            f" {seldom:,} of {plural(len(n), 'pair')} of raters share fewer than {figures.FEW_PAIRS} annotations "
            "and have no colour."
        )
    st.caption(words)


def _two(view: Dataset, matrix) -> None:
    """Two raters by name, and the cases where they differ."""
    for key, place in (("pair_first", 0), ("pair_second", 1)):
        if st.session_state.get(key) not in matrix.raters:
            st.session_state[key] = matrix.raters[place] if len(matrix.raters) == 2 else None
    left, right, _ = st.columns([2, 2, 3])
    chosen = {"placeholder": "Choose a cell or a rater", "persist_state": "session"}
    first = left.selectbox("Rater", matrix.raters, key="pair_first", **chosen)
    second = right.selectbox("and rater", matrix.raters, key="pair_second", **chosen)
    if first is None or second is None or first == second:
        return
    found = cases_of_disagreement(view, first, second)
    if not found.n:
        st.write("The two never annotated the same case.")
        return
    cases = len(np.unique(found.case))
    st.markdown(
        f"**{markdown(first)}** and **{markdown(second)}** differ on {len(found.case):,} of "
        f"{plural(found.n, 'pair')} of annotations ({plural(cases, 'case')}). Choose a row to open the case."
    )
    frame = pd.DataFrame(
        {
            "case": [view.cases[case] for case in found.case[:MOST_ROWS]],
            f"{first} ": [view.classes[code] for code in found.answer_a[:MOST_ROWS]],  # a rater may be named "case"
            f"{second}  ": [view.classes[code] for code in found.answer_b[:MOST_ROWS]],
        }
    )
    widgets.open_case_table(frame, "disagreements")


def each(view: Dataset, theme) -> None:
    """Each rater with the others, without them, and with themselves."""
    verdict = can_use(PAIRS, view)
    if not verdict.possible:
        st.info(f"Not possible: {markdown(verdict.reason)}.", icon=":material/block:")
        return
    coefficient = st.selectbox(
        "Coefficient, with and without each rater",
        list(OVERALL),
        index=list(OVERALL).index(KRIPPENDORFF_ALPHA),
        format_func=lambda name: method_named("coefficient", name).title,
        key="without_coefficient",
        help=widgets.explained("without the rater"),
        width=320,
        persist_state="session",
    )
    found, own = cached_agreement.by_rater(view, coefficient)
    known = [one for one in found.each if one.value is not None]
    if known:
        widgets.plot(
            more_figures.named_forest(
                found.raters,
                found.each,
                theme,
                _agrees_least(found),
                "share of pairs with others that agree",
            ),
            "by_rater",
            "Agreement of each rater with the others",
        )
        if len(known) > more_figures.MOST_LINES:
            st.caption(f"The {more_figures.MOST_LINES} raters who agree least, of {len(known):,}.")
    frame = _frame_of_each(found, own)
    overall = found.overall
    st.caption(
        f"{method_named('coefficient', coefficient).title} of all raters is "
        f"{with_interval(overall.value, overall.ci_low, overall.ci_high)}. A positive difference: the others agree "
        "better among themselves."
    )
    if own.overall.value is None:
        frame = frame.drop(columns=["with themselves", "cases repeated"])
    else:
        st.caption(
            "Where raters annotated a case again they agree with themselves on "
            f"{with_interval(own.overall.value, own.overall.ci_low, own.overall.ci_high)} of pairs."
        )
    _table_of_each(frame)
    widgets.download(frame, "Raters", "agreement_by_rater", "by_rater_table")


def _agrees_least(found: AgreementByRater) -> str:
    """The rater who clearly agrees least with the others, where there is one."""
    least = clearly_least(*([getattr(one, end) for one in found.each] for end in ("value", "ci_low", "ci_high")))
    if least is None:
        return "No rater clearly agrees least with the others"
    return f"{plotly(shorten(found.raters[least], 40))} agrees least with the others"


def _table_of_each(frame: pd.DataFrame) -> None:
    least = frame.sort_values("with the others").head(MOST_LISTED)
    shown, pictures = columns.with_pictures(least, ("with the others", "ci_low", "ci_high", "95% interval"))
    st.dataframe(
        shown,
        hide_index=True,
        column_config=columns.shares("with themselves")
        | columns.ends()
        | columns.numbers("with the others", "without this rater")
        | columns.fine("difference")
        | columns.counts("cases", "cases repeated", answers="annotations")
        | pictures,
        key="by_rater_table",
    )


def _frame_of_each(found, own) -> pd.DataFrame:
    """One line for each rater: agreement with the others, without them, and with themselves."""
    frame = pd.DataFrame(
        {
            "rater": found.raters,
            "answers": [one.n_annotations for one in found.each],
            "cases": [one.n_cases for one in found.each],
            "with the others": [one.value for one in found.each],
            "ci_low": [one.ci_low for one in found.each],
            "ci_high": [one.ci_high for one in found.each],
            "without this rater": found.without,
            "difference": found.difference,
            "with themselves": [one.value for one in own.each],
            "cases repeated": [one.n_cases for one in own.each],
        }
    )
    return columns.as_numbers(
        frame,
        ("with the others", "ci_low", "ci_high", "without this rater", "difference", "with themselves"),
    )
