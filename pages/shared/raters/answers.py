"""One rater's confusion matrix with intervals and n, against the pool of the others."""

import numpy as np
import pandas as pd
import streamlit as st

from core.annotations.dataset import Dataset
from core.extremes import clearly_most
from core.models.ordinal import METHOD as ORDINAL
from core.models.ordinal import reads, severity_sentence
from core.models.ordinal_density import NAMES
from core.models.result import RaterModelFit
from core.raters.following import Following
from core.raters.monitoring import RaterTable
from core.raters.report_card import ReportCard
from core.text import markdown, percent, percent_with_interval, plural, shorten, with_interval
from pages.shared.kit import columns, opening, widgets

MOST_ROWS = 200
ENOUGH = 5  # annotations on a class, below which nothing is said of it
_SEEN = 0.5  # expected annotations below which a cell is not listed


def frame_of(card: ReportCard) -> pd.DataFrame:
    """One row for each pair of classes that the rater gave, with the pool's share beside it; the commonest first."""
    own, pool = card.own, card.pool
    expected = np.nan_to_num(own.share) * own.n[:, None]
    true, answered = np.nonzero((expected >= _SEEN) | ((np.eye(len(card.classes)) > 0) & (own.n[:, None] >= _SEEN)))
    frame = pd.DataFrame(
        {
            "class by the others": [card.classes[code] for code in true],
            "answered": [card.classes[code] for code in answered],
            "share": own.share[true, answered],
            "ci_low": own.low[true, answered],
            "ci_high": own.high[true, answered],
            "expected answers": own.n[true],
            "share of the pool": pool.share[true, answered],
            "pool from": pool.low[true, answered],
            "pool to": pool.high[true, answered],
            "answers of the pool": pool.n[true],
        }
    )
    order = np.lexsort((-expected[true, answered], true, -own.n[true]))
    return frame.iloc[order].reset_index(drop=True)


def _most_unlike(frame: pd.DataFrame) -> pd.Series | None:
    """The class given for another one that is clearly the furthest above the pool, where there is one."""
    wrong = frame[(frame["class by the others"] != frame["answered"]) & (frame["expected answers"] >= ENOUGH)]
    own, pool = wrong["share"], wrong["share of the pool"]
    above = own - pool
    low = above - np.hypot(own - wrong["ci_low"], wrong["pool to"] - pool)
    high = above + np.hypot(wrong["ci_high"] - own, pool - wrong["pool from"])
    place = 0 if len(wrong) == 1 else clearly_most(above, low, high)
    return None if place is None or not low.iloc[place] > 0 else wrong.iloc[place]


def show(card: ReportCard) -> None:
    """Where the rater differs most, and the table."""
    widgets.heading("Annotations on each class", "confusion matrix")
    frame = frame_of(card)
    if frame.empty:
        st.write("No annotation of this rater is judged by others.")
        return
    if (worst := _most_unlike(frame)) is not None:
        st.markdown(
            f"Most unlike the pool: **{markdown(shorten(worst['answered'], 40))}** where the others find "
            f"{markdown(shorten(worst['class by the others'], 40))}, "
            f"{percent_with_interval(worst['share'], worst['ci_low'], worst['ci_high'])} against "
            f"{percent(worst['share of the pool'])}."
        )
    own = ("share", "ci_low", "ci_high", "95% interval")
    pool = ("share of the pool", "pool from", "pool to", "of the pool, 95%")
    shown, pictures = columns.with_pictures(frame.head(MOST_ROWS), own, pool)
    st.dataframe(
        shown,
        hide_index=True,
        height=min(360, 36 * (len(frame) + 1) + 2),
        column_config=columns.numbers("share", "share of the pool")
        | columns.ends()
        | columns.ends("pool from", "pool to")
        | columns.counts(**{"expected answers": "n", "answers of the pool": "n of the pool"})
        | {"answered": "annotation"}
        | pictures,
        key="rater_answers",
    )
    st.caption(
        f"{plural(len(frame), 'row')}: of the rater's annotations on a class (as the others find it, by probability), "
        "the share that is each class; Wilson's intervals."
    )
    widgets.download(frame, "Annotations by class", "rater_answers", "rater_answers_table")


def follows(found: Following, rater: int) -> None:
    """Of ordered classes: how closely this rater follows the cases, and how they read the scale."""
    if found.why or not np.isfinite(found.rates.value[rater]):
        st.caption(
            f"Cannot determine how this rater follows the cases: {markdown(found.why or 'too few annotations')}."
        )
        return
    st.markdown(
        f"**{markdown(found.raters[rater])}** follows the cases with a correlation of {found.said(rater)}; "
        f"n = {plural(int(found.rates.n[rater]), 'case')}. This rater {found.shift(rater)}.",
        help=widgets.explained("follows"),
    )


def on_the_scale(view: Dataset, table: RaterTable, rater: str, *, by_class: bool) -> None:
    """Of ordered classes: how far off this rater is, and once models are fitted how much higher or lower they read.

    How far off is not said unless the classes of the others are those of their names, ``by_class``.
    """
    off, place = table.distance, table.raters.index(rater)
    if by_class and np.isfinite(off.value[place]):
        ends = [None if np.isnan(end[place]) else float(end[place]) for end in (off.low, off.high)]
        st.markdown(
            f"**{markdown(rater)}** is {with_interval(float(off.value[place]), *ends)} classes off on average, as the "
            f"others see the truth; n = {plural(int(off.n[place]), 'annotation')}."
        )
    found = _ordinal_fit(view)
    if found is not None and rater in found.raters:
        words = reads(found, found.raters.index(rater))
        st.markdown(f"By the ordinal model **{markdown(rater)}** {markdown(words)}.", help=widgets.explained(ORDINAL))


def all_on_the_scale(view: Dataset) -> None:
    """Of ordered classes, once models are fitted: who reads clearly higher or lower than the panel, and all raters."""
    found = _ordinal_fit(view)
    if found is None or not (said := severity_sentence(found)):
        return
    st.markdown(f"By the ordinal model, {markdown(said[0].lower() + said[1:])}", help=widgets.explained(ORDINAL))
    with st.expander("How each rater reads the scale"):
        frame = scale_frame(found)
        shown = columns.counts("annotations") | columns.numbers(*NAMES)
        for name in NAMES:
            shown |= columns.ends(f"{name}_low", f"{name}_high")
        rows = min(360, 36 * (len(frame) + 1) + 2)
        st.dataframe(frame, hide_index=True, height=rows, column_config=shown, key="scale_raters")
        st.caption(
            "Severity: classes that a rater reads higher (lower where negative) than the panel. Spread: how widely, in "
            "classes. Slip: the share of annotations that do not look at the case."
        )
        widgets.download(frame, "Raters on the scale", "scale_raters", "scale_raters_table")


def scale_frame(fit: RaterModelFit) -> pd.DataFrame:
    """Severity, spread and slip of each rater with their intervals, those furthest from the panel first."""
    parts = [f"{name}{end}" for name in NAMES for end in ("", "_low", "_high")]
    frame = pd.DataFrame(
        {"rater": fit.raters, "annotations": fit.n_annotations} | {part: fit.parameters[part] for part in parts}
    )
    order = np.argsort(-np.abs(fit.parameters["severity"]), kind="stable")
    return frame.iloc[order[fit.n_annotations[order] > 0]].reset_index(drop=True)


def _ordinal_fit(view: Dataset) -> RaterModelFit | None:
    judged = opening.choice(view) if view.ordinal else None
    return None if judged is None else next((one.fit for one in judged[0].standings if one.candidate is ORDINAL), None)
