"""How numbers look in tables: the same headings and digits on every page; downloads keep the plain names.

The formats of cells, in bars as in numbers, always write the zero before the point, which sentences leave out: the
tables are alike in that. Only ``accounting`` separates thousands by a comma whatever the browser's language, as
sentences do; in steps of 1 it has no digits after the point.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

TWO, THREE = "%.2f", "%.3f"
_COUNT = {"format": "accounting", "step": 1}


def numbers(*names: str) -> dict:
    """Columns of numbers with two digits, as in sentences, under their own names."""
    return dict.fromkeys(names, st.column_config.NumberColumn(format=TWO))


def fine(*names: str) -> dict:
    """Columns of small numbers, such as errors and differences, with three digits under their own names."""
    return dict.fromkeys(names, st.column_config.NumberColumn(format=THREE))


def counts(*names: str, **labels: str) -> dict:
    """Columns of whole numbers with separators of thousands, under their own names or the ``labels`` given."""
    said = {**dict.fromkeys(names), **labels}
    return {name: st.column_config.NumberColumn(label, **_COUNT) for name, label in said.items()}


def ends(low: str = "ci_low", high: str = "ci_high", level: int = 95) -> dict:
    """The two columns of an interval."""
    return {
        low: st.column_config.NumberColumn(f"{level}% from", format=TWO),
        high: st.column_config.NumberColumn("to", format=TWO),
    }


def shares(*names: str) -> dict:
    """Columns that run from 0 to 1, as bars."""
    return dict.fromkeys(names, st.column_config.ProgressColumn(format=TWO, min_value=0, max_value=1))


def never_quite(values: np.ndarray) -> np.ndarray:
    """Probabilities for a column of two digits, where one below 1 must not be printed as 1.00: .99 instead."""
    return np.where((values < 1) & (values >= 0.995), 0.99, values)


def as_numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with these columns as numbers, so that what is undefined stays empty and the rest is sorted as such."""
    return frame.astype(dict.fromkeys(names, float))
