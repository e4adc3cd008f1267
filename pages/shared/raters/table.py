"""The table of raters: found by name or by trouble, drawn with its intervals, and several selected at once."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analyses.raters.table import AssessedRaters, shown
from core.analyses.schema import SHARES
from core.figures import cells
from core.raters.flags import NEUTRAL, RULES, SHORT
from core.runtime.identity_cache import cache_by_identity
from pages.shared.kit import blocks, columns, presentation, widgets
from pages.shared.kit import style as look

PAGE = 500
_MOST_HEIGHT = 640
INTERVAL, _MOST_FLAGS = 150, 184  # pixels of a picture, and of flags
# What the table opens with, the most important first, as far as 1,280 pixels go; its menu shows the other columns too.
_FIRST = (
    "rater", "flags", "accuracy", "follows", "interval", "right by gold", "expected wrong", "lost", "reads higher",
    "annotations", "P(acceptable)", "classes off", "with others",
)  # fmt: skip
_MOST_FIRST = 6

_SHORT = {title: SHORT[rule] for rule, title in RULES.items()}
_NEUTRAL = {SHORT[rule] for rule in NEUTRAL}
_ENDS = ("interval, lower end", "interval, upper end")
# Heads, widths and explanations for the room that there is.
_OWN: dict[str, dict] = {
    "rater": {"width": 70},
    "accuracy": {"width": 72, "help": "Measured against gold or estimated by the model, then shrunk towards "
                                      "the mean of all raters."},
    "follows": {"label": "correlation", "width": 88, "help": "Correlation with the case score, shrunk towards the "
                                                                    "mean of all raters."},
    "lost": {"label": "annotations lost", "width": 112, "help": "n minus the number of annotations by an average "
                                  "rater that give the same information."},
    "P(acceptable)": {"width": 98, "help": "Probability that the rater meets the acceptable accuracy."},
    "expected wrong": {"width": 105, "help": "Expected number of wrong annotations."},
    "annotations": {"label": "n", "width": 56, "help": "Annotations."},
    "classes off": {"width": 84, "help": "Mean number of classes between an annotation and the true class, as "
                                         "judged by the other raters."},
    "right by gold": {"label": "by gold", "width": 92, "help": "Share of correct annotations on cases with gold."},
    "with others": {
        "label": "agreement", "width": 92, "help": "How often the rater's annotations agree with those of other raters."
    },
    _ENDS[0]: {"label": "95% from"}, _ENDS[1]: {"label": "to"},
    "blind reads agree, lower end": {"label": "95% from"}, "blind reads agree, upper end": {"label": "to"},
}  # fmt: skip


@cache_by_identity
def displayed(found: AssessedRaters) -> pd.DataFrame:
    """Return the table in the order of the data with its column heads, without columns that have no values."""
    heads = {column.name: column.shown for column in found.shown_columns}
    frame = shown(found).iloc[np.argsort(found.order())][list(heads)].reset_index(drop=True)
    frame["gold_n"] = frame["gold_n"].where(frame["gold_n"] > 0)
    if not found.table.blind.n.any():
        frame = frame.drop(columns="blind_n")
    return frame.dropna(axis=1, how="all").rename(columns=heads)


def show(found: AssessedRaters) -> list[str]:
    """Draw the table with its filters; return the raters of the selected rows.

    Intervals are drawn on one axis for all rows, with a mark at what is acceptable.
    """
    frame = displayed(found)
    find, kinds = st.columns([2, 5], vertical_alignment="bottom")
    words = find.text_input("Find a rater", key="raters_find", placeholder="Part of a name, flag or class")
    rows = chosen_rows(by_trouble(frame, found.ranked), words, _chosen_kinds(kinds, frame))
    shares = [column.shown for column in found.shown_columns if column.unit in SHARES]
    part = drawn(_page(rows, len(frame)), found.act.judged.acceptable, shares)
    left_out = {name for name in ("right by gold",) if name in frame and 2 * frame[name].count() < len(frame)}
    left_out |= set() if frame["flags"].any() else {"flags"}
    first = [name for name in _FIRST if name in part and name not in left_out]
    chosen = st.dataframe(
        part,
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        column_order=first[:_MOST_FIRST],
        column_config=_config(found, frame["flags"]),
        height=min(35 * (len(part) + 1) + 3, _MOST_HEIGHT),
        placeholder="–",
        key="raters_table",
    )
    return [part["rater"].iloc[row] for row in chosen.selection.rows if row < len(part)]


def _chosen_kinds(place: DeltaGenerator, frame: pd.DataFrame) -> list[str]:
    """Draw one chip per kind of trouble with its number of raters; return the chosen kinds."""
    counts = Counter(kind for said in frame["flags"] for kind in set(_short(said)))
    return widgets.kinds(place, "Flags", counts, "raters_kinds", label_visibility="collapsed") if counts else []


def _page(rows: pd.DataFrame, n_all: int) -> pd.DataFrame:
    """Return the rows of the chosen page, under a line that counts raters."""
    n_pages = max(1, -(-len(rows) // PAGE))
    page, controls = 1, not presentation.on()  # an audience is told of nothing that is hidden
    with st.container(horizontal=True, vertical_alignment="center"):
        n_seen = len(rows) if controls else min(len(rows), PAGE)
        st.caption(f"{n_seen:,} of {n_all:,} raters", width="content")
        if n_pages > 1 and controls:
            page = st.number_input(
                f"Page of {n_pages:,}",
                1,
                n_pages,
                key=f"raters_page-{n_pages}",
                width=130,
                label_visibility="collapsed",
            )
            st.caption(f"Page of {n_pages:,}", width="content")
    return rows.iloc[(page - 1) * PAGE : page * PAGE]


def drawn(part: pd.DataFrame, acceptable: float | None, shares: Iterable[str]) -> pd.DataFrame:
    """Return the rows as on screen: short flags, the interval as a picture, whole counts and per cents."""
    flagged = _flagged(part["flags"])
    part = part.assign(flags=[_short(said) for said in part["flags"]])
    judged = next((name for name in ("accuracy", "follows") if name in part), None)
    if judged is not None:
        ends = (part[name].to_numpy(float) for name in (judged, *_ENDS))
        part = part.assign(
            interval=cells.intervals(*ends, look.theme(), mark=acceptable, flagged=flagged, width=INTERVAL)
        )
    return columns.in_percent(columns.rounded(part, ("expected wrong", "lost")), shares)


def _short(titles: str) -> list[str]:
    """Return the flags of a row in few words each."""
    return [_SHORT.get(one, one) for one in titles.split("; ") if one]


def _config(found: AssessedRaters, flags: Iterable[str]) -> dict:
    """Heads, widths and digits on screen; files keep the names and digits of the frame."""
    shown = {column.shown: column for column in found.shown_columns}
    chips = max((sum(6 * len(flag) + 20 for flag in _short(said)) for said in flags), default=0)
    return {name: blocks.column_config(column, **_OWN.get(name, {})) for name, column in shown.items()} | {
        "flags": st.column_config.ListColumn(
            width=min(chips + 16, _MOST_FLAGS), help="Select a row to see the evidence."
        ),
        "interval": st.column_config.ImageColumn(
            "95% interval",
            width=INTERVAL + columns.PADDING,
            help="All rows share one axis, which ends at 1. Dashed line: acceptable. Crosses: flagged.",
        ),
        "reads higher": st.column_config.NumberColumn(
            "rates higher",
            format="%+.2f",
            width=92,
            help="By how many classes the rater annotates higher than the average rater. This does not count against "
            "the rater.",
        ),
    }


def by_trouble(frame: pd.DataFrame, ranked: bool) -> pd.DataFrame:
    """Return the rows with flagged raters first, and the lowest accuracy first among these and among the others.

    Unknown values are last. If raters must not be ranked, their number of annotations replaces accuracy.
    """
    measure = next((name for name in ("accuracy", "follows") if ranked and name in frame), "annotations")
    rows = frame.sort_values(measure, ascending=measure != "annotations", kind="stable")
    return rows.iloc[np.argsort(~_flagged(rows["flags"]), kind="stable")]


def _flagged(titles: Iterable[str]) -> np.ndarray:
    """Return which rows have a flag against the rater, bool."""
    return np.array([not set(_short(said)) <= _NEUTRAL for said in titles], bool)


def chosen_rows(frame: pd.DataFrame, words: str, kinds: Sequence[str]) -> pd.DataFrame:
    """Return rows with the words in their name, flags or class, and one of the kinds of flags if any is chosen."""
    kept = np.ones(len(frame), bool)
    if words := words.casefold().strip():
        kept = np.zeros(len(frame), bool)
        for column in frame.columns.intersection(["rater", "flags", "leans to"]):
            kept |= frame[column].str.casefold().str.contains(words, regex=False).to_numpy(bool)
    if kinds:
        kept &= np.array([not set(kinds).isdisjoint(_short(said)) for said in frame["flags"]], bool)
    return frame[kept]
