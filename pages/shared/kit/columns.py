"""How numbers look in tables: the same headings and digits on every page; downloads keep the plain names.

Only ``accounting`` separates thousands by a comma whatever the browser's language, as sentences do; in steps of 1 it
cuts off what follows the point.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import streamlit as st

from core.figures import cells
from core.text import ROUNDING
from pages.shared.kit import style

TWO, THREE, SIGNED, PERCENT = "%.2f", "%.3f", "%+.3f", "percent"
PADDING = 10  # of a cell, in pixels
_MOST_WORDS = 220  # pixels of a column of words
_MOST_PICTURES = 500  # rows; beyond, the ends are numbers
BAR, SHORT_BAR = 100, 80  # pixels of a bar with its number
COUNT = {"format": "accounting", "step": 1}


def numbers(*names: str) -> dict:
    """Columns of numbers with two digits, as in sentences, under their own names."""
    return dict.fromkeys(names, st.column_config.NumberColumn(format=TWO))


def fine(*names: str) -> dict:
    """Columns of small numbers, such as errors and differences, with three digits under their own names."""
    return dict.fromkeys(names, st.column_config.NumberColumn(format=THREE))


def counts(*names: str, **labels: str) -> dict:
    """Columns of whole numbers with separators of thousands, under their own names or the ``labels`` given."""
    said = {**dict.fromkeys(names), **labels}
    return {name: st.column_config.NumberColumn(label, **COUNT) for name, label in said.items()}


def rounded(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Round expected counts: a grid would cut off what follows the point."""
    return frame.assign(
        **{name: frame[name].round() for name in names if name in frame and frame[name].dtype.kind == "f"}
    )


def whole(frame: pd.DataFrame, *names: str) -> dict:
    """Columns of words as wide as the longest of them, up to a limit: a grid looks at its first rows only."""
    return {name: st.column_config.TextColumn(width=width_of(frame[name], name)) for name in names}


def width_of(words: Iterable[object], head: str) -> int:
    """Width of a column of words, in pixels, up to a limit."""
    return min(7 * max(len(head), *(len(str(text)) for text in words), 0) + 2 * PADDING, _MOST_WORDS)


def ends(low: str = "ci_low", high: str = "ci_high", level: int = 95) -> dict:
    """Return the two columns of an interval."""
    return {
        low: st.column_config.NumberColumn(f"{level}% from", format=TWO),
        high: st.column_config.NumberColumn("to", format=TWO),
    }


def with_pictures(
    frame: pd.DataFrame, *columns: tuple[str, str, str, str], difference: bool = False, width: int = cells.WIDTH
) -> tuple[pd.DataFrame, dict]:
    """Return the table as on screen, with intervals drawn in their rows on one axis, and its columns.

    Parameters
    ----------
    frame : DataFrame
        As it is exported: the ends stay in it, hidden.
    *columns : tuple of str
        Value, low and high end, and the head of the picture.
    difference : bool
        An axis from the least to the greatest end with a dashed line at 0, instead of one up to 1.
    width : int
        Width of a picture, in pixels.
    """
    if len(frame) > _MOST_PICTURES:
        return frame, {}
    shown, config = frame.copy(), {}
    # All columns in one call, so that they share one axis and can be compared across.
    ends = (
        np.concatenate([pd.to_numeric(frame[column[place]], errors="coerce").to_numpy(float) for column in columns])
        for place in range(3)
    )
    axis = {"mark": 0.0, "most": None} if difference else {"most": 1.0}
    drawn = cells.intervals(*ends, style.theme(), **axis, width=width)
    for place, (value, low, high, head) in enumerate(columns):
        own = drawn[place * len(frame) : (place + 1) * len(frame)]
        shown.insert(int(shown.columns.get_loc(value)) + 1, head, own)
        about = "All rows share one axis" + (". Dashed line: 0." if difference else ", which ends at 1.")
        about += " Open point: no interval." if frame[low].isna().any() else ""
        config |= {head: st.column_config.ImageColumn(head, width=width + PADDING, help=about), low: None, high: None}
    return shown, config


def shares(*names: str) -> dict:
    """Columns that run from 0 to 1, as bars."""
    return dict.fromkeys(names, st.column_config.ProgressColumn(format=PERCENT, min_value=0, max_value=1, width=BAR))


def in_percent(frame: pd.DataFrame, names: Iterable[str]) -> pd.DataFrame:
    """Round shares to whole per cents, because a grid would print two more digits."""
    drawn = (name for name in names if name in frame and frame[name].dtype.kind == "f")
    return frame.assign(**{name: np.round(never_quite(frame[name].to_numpy()) + ROUNDING, 2) for name in drawn})


def never_quite(values: np.ndarray) -> np.ndarray:
    """Shares for a column of whole per cents, where one below 1 must not be printed as 100%, nor one above 0 as 0%.

    They are 99% and 1% instead. What is 1 or 0 but for rounding is one of them on every processor.
    """
    short_of_one = np.where((values < 1 - ROUNDING) & (values >= 0.995), 0.99, values)
    return np.where((values > ROUNDING) & (values < 0.005), 0.01, short_of_one)
