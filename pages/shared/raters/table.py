"""The table of raters: found, filtered, sorted and turned over page by page, so that only what is seen is sent."""

import numpy as np
import pandas as pd
import streamlit as st

from core.analyses.raters.table import AssessedRaters, shown
from core.figures import cells
from core.raters.flags import NEUTRAL, RULES, SHORT
from pages.shared.kit import blocks, columns, presentation
from pages.shared.kit import style as look

PAGE = 50
# What the table opens with, the most important first, as far as 1,280 pixels go; its menu shows the other columns too.
_FIRST = (
    "rater", "flags", "accuracy", "follows", "interval", "P(acceptable)", "expected wrong", "lost", "reads higher",
    "annotations", "classes off", "right by gold", "with others",
)  # fmt: skip
_MOST_FIRST = 9
_NEVER_QUITE = ("accuracy", "follows", "right by gold", "with others", "P(acceptable)", "P(spam)", "P(adversarial)")
_SHORT = {title: SHORT[rule] for rule, title in RULES.items()}
_NEUTRAL = {SHORT[rule] for rule in NEUTRAL}
_ENDS = ("interval, lower end", "interval, upper end")
_SORTED_BY = {"lost": "annotations lost"}
# Heads, widths and explanations for the room that there is.
_OWN: dict[str, dict] = {
    "rater": {"width": 76},
    "accuracy": {"width": 72, "help": "Judged by gold or by the model, shrunk towards the mean of all raters."},
    "follows": {"width": 72, "help": "Correlation with the case, shrunk towards the mean of all raters."},
    "lost": {"width": 72, "help": "Annotations lost: n minus the number that an average rater needs for the same "
                                  "information."},
    "P(acceptable)": {"width": 98, "help": "Probability that the rater meets the acceptable accuracy."},
    "expected wrong": {"width": 105, "help": "Expected number of wrong annotations."},
    "annotations": {"label": "n", "width": 56, "help": "Annotations."},
    "classes off": {"width": 84, "help": "Mean distance from the true class in classes, judged by the other raters."},
    "right by gold": {"label": "by gold", "width": 92, "help": "Share of correct annotations on cases with gold."},
    "with others": {
        "label": "agreement", "width": 92, "help": "Share of pairs with other raters' annotations that agree."
    },
    _ENDS[0]: {"label": "95% from"}, _ENDS[1]: {"label": "to"},
    "blind reads agree, lower end": {"label": "95% from"}, "blind reads agree, upper end": {"label": "to"},
}  # fmt: skip


def displayed(found: AssessedRaters) -> pd.DataFrame:
    """Return the table in the order of the data with its column heads, without columns that have no values."""
    heads = {column.name: column.shown for column in found.shown_columns}
    frame = shown(found).iloc[np.argsort(found.order())][list(heads)].reset_index(drop=True)
    frame["gold_n"] = frame["gold_n"].where(frame["gold_n"] > 0)
    if not found.table.blind.n.any():
        frame = frame.drop(columns="blind_n")
    return frame.dropna(axis=1, how="all").rename(columns=heads)


def show(found: AssessedRaters, chosen_key: str) -> None:
    """Draw the table with its filter and pages; a click on a row keeps that rater under ``chosen_key``.

    Where raters must not be ranked, it opens by how much they did, and not by what they cost. Intervals are drawn on
    one axis for all rows, with a mark at what is acceptable.
    """
    frame = displayed(found)
    find, only, by, down = st.columns([4, 2, 3, 2], vertical_alignment="bottom")
    words = find.text_input("Find a rater", key="raters_find", placeholder="Part of a name, flag or class")
    flagged = only.toggle("Flagged only", key="raters_flagged")
    sort = by.selectbox(
        "Sorted by",
        frame.columns,
        index=_first_order(frame, found.ranked),
        format_func=lambda name: _SORTED_BY.get(name, name),
        key="raters_sort",
    )
    falling = down.toggle("Largest first", value=True, key="raters_falling")
    rows = chosen_rows(frame, words, flagged, sort, falling)
    n_pages = max(1, -(-len(rows) // PAGE))
    page = 1
    with st.container(horizontal=True, vertical_alignment="center"):
        controls = not presentation.on()  # an audience is told of nothing that is hidden
        n_seen = len(rows) if controls else min(len(rows), PAGE)
        choose = " Choose a row to open that rater." if controls else ""
        st.caption(f"{n_seen:,} of {len(frame):,} raters.{choose}", width="content")
        if n_pages > 1 and controls:
            st.caption("Page", width="content")
            page = st.number_input(
                f"Page of {n_pages:,}",
                1,
                n_pages,
                key=f"raters_page-{n_pages}",
                width=130,
                label_visibility="collapsed",
            )
            st.caption(f"of {n_pages:,}", width="content")
    part = rows.iloc[(page - 1) * PAGE : page * PAGE]
    part = drawn(part, found.act.judged.acceptable)
    chosen = st.dataframe(
        part,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_order=[name for name in _FIRST if name in part][:_MOST_FIRST],
        column_config=_config(found),
        key="raters_table",
    )
    if chosen.selection.rows and chosen.selection.rows[0] < len(part):
        st.session_state[chosen_key] = part["rater"].iloc[chosen.selection.rows[0]]


def drawn(part: pd.DataFrame, acceptable: float | None) -> pd.DataFrame:
    """Return the rows as on screen: short flags, the interval as a picture, whole counts, no value below 1 as 1.00."""
    part = part.assign(flags=[_short(said) for said in part["flags"]])
    judged = next((name for name in ("accuracy", "follows") if name in part), None)
    if judged is not None:
        ends = (part[name].to_numpy(float) for name in (judged, *_ENDS))
        flagged = np.array([not set(said) <= _NEUTRAL for said in part["flags"]], bool)
        part = part.assign(interval=cells.intervals(*ends, look.theme(), mark=acceptable, flagged=flagged))
    shares = [name for name in _NEVER_QUITE if name in part]
    return columns.rounded(part, ("expected wrong", "lost")).assign(
        **{name: columns.never_quite(part[name].to_numpy(float)) for name in shares}
    )


def _short(titles: str) -> list[str]:
    """Return the flags of a row in few words each."""
    return [_SHORT.get(one, one) for one in titles.split("; ") if one]


def _config(found: AssessedRaters) -> dict:
    """Heads, widths and digits on screen; files keep the names and digits of the frame."""
    shown = {column.shown: column for column in found.shown_columns}
    return {name: blocks.column_config(column, **_OWN.get(name, {})) for name, column in shown.items()} | {
        "flags": st.column_config.ListColumn(width=178, help="Short names of flags; the evidence is below the table."),
        "interval": st.column_config.ImageColumn(
            "95% interval", width=186, help="Up to 1, on one axis for all; dashed: acceptable; crosses: flagged."
        ),
        "reads higher": st.column_config.NumberColumn(
            format="%+.2f",
            width=92,
            help="How many classes higher than the average rater. This does not count against the rater.",
        ),
    }


def _first_order(frame: pd.DataFrame, ranked: bool) -> int:
    cost = next((name for name in ("expected wrong", "lost") if ranked and name in frame), "annotations")
    return list(frame.columns).index(cost)


def chosen_rows(frame: pd.DataFrame, words: str, flagged: bool, sort: str, falling: bool) -> pd.DataFrame:
    """Rows that hold the words in their name, flags or class, those with a flag that counts only or not, sorted.

    Unknown values are last.
    """
    kept = np.ones(len(frame), bool)
    if words := words.casefold().strip():
        kept = np.zeros(len(frame), bool)
        for column in frame.columns.intersection(["rater", "flags", "leans to"]):
            kept |= frame[column].str.casefold().str.contains(words, regex=False).to_numpy(bool)
    if flagged:
        kept &= np.array([not set(_short(said)) <= _NEUTRAL for said in frame["flags"]], bool)
    return frame[kept].sort_values(sort, ascending=not falling, kind="stable", na_position="last")
