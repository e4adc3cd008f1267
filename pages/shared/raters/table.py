"""The table of raters: found, filtered, sorted and turned over page by page, so that only what is seen is sent."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.figures import cells
from core.models.rater_summary import leaning
from core.raters.acceptable import Acceptable
from core.raters.flags import NEUTRAL, RULES, SHORT
from core.raters.following import Following
from core.raters.monitoring import RaterTable
from core.raters.rates import Rates
from core.raters.to_act_on import ToActOn
from pages.shared.kit import columns, presentation, widgets
from pages.shared.kit import style as look

PAGE = 50
# What the table opens with, the most important first, as far as 1,280 pixels go; its menu shows the other columns too.
_FIRST = (
    "rater", "flags", "accuracy", "follows", "interval", "P(acceptable)", "expected wrong", "lost", "reads higher",
    "annotations", "classes off", "right by gold", "with others",
)  # fmt: skip
_SHARES = ("with themselves", "blind reads agree")
_MOST_FIRST = 9
_NEVER_QUITE = ("accuracy", "follows", "right by gold", "with others", "P(acceptable)", "P(spam)", "P(adversarial)")
_SHORT = {title: SHORT[rule] for rule, title in RULES.items()}
_NEUTRAL = {SHORT[rule] for rule in NEUTRAL}
_SORTED_BY = {
    "ci_low": "interval, lower end",
    "ci_high": "interval, upper end",
    "blind ci_low": "blind reads agree, lower end",
    "blind ci_high": "blind reads agree, upper end",
    "gave the previous answer": "gave the previous annotation",
    "repeats answers": "repeats annotations",
    "lost": "annotations lost",
}
_NUMBERS = ("bias", "spread", "P(spam)", "P(adversarial)", "p of drift", "bits of classes used", "bits of the cases")


def frame_of(table: RaterTable, act: ToActOn, blind: Rates | None) -> pd.DataFrame:
    """One row for each rater; columns in which nothing is known are left out."""
    judged = act.acceptable
    unknown = np.full(len(table.raters), np.nan)
    flags: list[list[str]] = [[] for _ in table.raters]
    for flag in act.flags:
        flags[flag.rater].append(flag.title)
    found = {
        "rater": table.raters,
        "flags": ["; ".join(each) for each in flags],
        "annotations": table.n_annotations,
        "cases": table.n_cases,
        **(_accurate(judged) if act.following is None else _follows(act.following)),
        "right by gold": judged.gold.value,
        "gold annotations": np.where(judged.gold.n > 0, judged.gold.n, np.nan),
        "with others": table.agreement.value,
        **(_by_class(table) if judged.own_classes else {}),
        "P(spam)": table.spam,
        "P(adversarial)": unknown if judged.why or not judged.own_classes else table.adversarial,
        "seconds": table.tempo.seconds,
        "gave the previous answer": table.tempo.repeated,
        "repeats answers": table.repeats,
        "with themselves": table.with_self.value,
        "bits of classes used": table.entropy,
        "bits of the cases": table.entropy_of_cases,
        "p of drift": table.p_drift if judged.own_classes else unknown,
    }
    if blind is not None:
        found |= {
            "blind reads agree": blind.value,
            "blind ci_low": blind.low,
            "blind ci_high": blind.high,
            "blind cases": blind.n,
        }
    return pd.DataFrame(found).dropna(axis=1, how="all")


def _accurate(judged: Acceptable) -> dict:
    return {
        "expected wrong": judged.expected_wrong,
        "accuracy": judged.accuracy.value,
        "ci_low": judged.accuracy.low,
        "ci_high": judged.accuracy.high,
        "P(acceptable)": judged.chance,
        "judged annotations": judged.accuracy.n,
    }


def _follows(found: Following) -> dict:
    return {
        "lost": found.lost,
        "follows": found.rates.value,
        "ci_low": found.rates.low,
        "ci_high": found.rates.high,
        "P(acceptable)": found.chance,
        "judged cases": found.rates.n,
        "reads higher": found.reading("severity"),
        "reads higher, from": found.reading("severity_low"),
        "reads higher, to": found.reading("severity_high"),
        "spread": found.reading("spread"),
        "spread, from": found.reading("spread_low"),
        "spread, to": found.reading("spread_high"),
    }


def _by_class(table: RaterTable) -> dict:
    """What compares with the class of a case: how far off, and to which class a rater leans."""
    leans = leaning(table.bias)
    return {
        "classes off": table.distance.value,
        "classes off, from": table.distance.low,
        "classes off, to": table.distance.high,
        "leans to": [table.classes[code] if code >= 0 else "" for code in leans],
        "bias": np.where(leans >= 0, table.bias[np.arange(len(leans)), leans], np.nan),
    }


def show(frame: pd.DataFrame, chosen_key: str, *, ranked: bool, acceptable: float | None = None) -> None:
    """The table with its filter and pages; a click on a row keeps that rater under ``chosen_key``.

    Where raters must not be ranked, it opens by how much they did, and not by what they cost. Intervals are drawn on
    one axis for all rows, with a mark at the accuracy that is ``acceptable``.
    """
    find, only, by, down = st.columns([4, 2, 3, 2], vertical_alignment="bottom")
    words = find.text_input("Find a rater", key="raters_find", placeholder="part of a name, a flag or a class")
    flagged = only.toggle("Flagged only", key="raters_flagged")
    sort = by.selectbox(
        "Sorted by",
        frame.columns,
        index=_first_order(frame, ranked),
        format_func=lambda name: _SORTED_BY.get(name, name),
        key="raters_sort",
    )
    falling = down.toggle("Largest first", value=True, key="raters_falling")
    shown = chosen_rows(frame, words, flagged, sort, falling)
    n_pages = max(1, -(-len(shown) // PAGE))
    page = 1
    with st.container(horizontal=True, vertical_alignment="center"):
        controls = not presentation.on()  # an audience is told of nothing that is hidden
        n_seen = len(shown) if controls else min(len(shown), PAGE)
        choose = " Choose a row to see that rater." if controls else ""
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
    part = shown.iloc[(page - 1) * PAGE : page * PAGE]
    part = drawn(part, acceptable)
    chosen = st.dataframe(
        part,
        hide_index=True,
        on_select="rerun",
        selection_mode="single-row",
        column_order=[name for name in _FIRST if name in part][:_MOST_FIRST],
        column_config=_config(),
        key="raters_table",
    )
    if chosen.selection.rows and chosen.selection.rows[0] < len(part):
        st.session_state[chosen_key] = part["rater"].iloc[chosen.selection.rows[0]]
    widgets.download(frame, "Raters", "raters", "raters_monitor")


def drawn(part: pd.DataFrame, acceptable: float | None) -> pd.DataFrame:
    """The rows as the screen shows them: flags in few words, the interval as a picture, 1.00 of nothing below 1."""
    part = part.assign(flags=[_short(said) for said in part["flags"]])
    judged = next((name for name in ("accuracy", "follows") if name in part), None)
    if judged is not None:
        ends = (part[name].to_numpy(float) for name in (judged, "ci_low", "ci_high"))
        flagged = np.array([not set(said) <= _NEUTRAL for said in part["flags"]], bool)
        part = part.assign(interval=cells.intervals(*ends, look.theme(), mark=acceptable, flagged=flagged))
    shares = [name for name in _NEVER_QUITE if name in part]
    return part.assign(**{name: columns.never_quite(part[name].to_numpy(float)) for name in shares})


def _short(titles: str) -> list[str]:
    """Flags of a row in few words each."""
    return [_SHORT.get(one, one) for one in titles.split("; ") if one]


def _config() -> dict:
    """Heads, widths and digits on screen; files keep the names and digits of the frame."""
    bar = partial(st.column_config.ProgressColumn, format=columns.TWO, min_value=0, max_value=1)
    return (
        columns.numbers(*_NUMBERS)
        | columns.shares(*_SHARES)
        | columns.ends()
        | columns.ends("blind ci_low", "blind ci_high")
        | columns.counts("cases", "seconds", "judged annotations", "gold annotations", "blind cases")
        | {
            "rater": st.column_config.TextColumn(width=76),
            "flags": st.column_config.ListColumn(width=178, help="In few words; the evidence stands below the table."),
            "accuracy": st.column_config.NumberColumn(
                format=columns.TWO, width=72, help="By gold or by the model, shrunk towards all raters."
            ),
            "interval": st.column_config.ImageColumn(
                "95% interval", width=186, help="Up to 1, on one axis for all; dashed: acceptable; crosses: flagged."
            ),
            "follows": st.column_config.NumberColumn(
                format=columns.TWO, width=72, help="Correlation with the case, shrunk towards all raters."
            ),
            "lost": st.column_config.NumberColumn(
                format="accounting",
                step=1,
                width=72,
                help="Annotations lost: n, less those of the average rater that tell as much.",
            ),
            "reads higher": st.column_config.NumberColumn(
                format="%+.2f", width=92, help="Classes higher than the average rater; does not count against them."
            ),
            "P(acceptable)": bar(width=98, help="Probability that what raters are judged by is acceptable or better."),
            "expected wrong": st.column_config.NumberColumn(
                format="accounting", step=1, width=105, help="Annotations expected to be wrong."
            ),
            "annotations": st.column_config.NumberColumn(
                "n", format="accounting", step=1, width=56, help="Annotations."
            ),
            "classes off": st.column_config.NumberColumn(
                format=columns.TWO, width=84, help="Mean distance from the true class by the others, in classes."
            ),
            "right by gold": bar("by gold", width=92, help="Share right of the annotations on cases with gold."),
            "with others": bar("agreement", width=92, help="Pairs with annotations of other raters that agree."),
            "gave the previous answer": st.column_config.NumberColumn(
                "gave the previous annotation", format=columns.TWO
            ),
            "repeats answers": st.column_config.NumberColumn("repeats annotations", format=columns.TWO),
        }
    )


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
