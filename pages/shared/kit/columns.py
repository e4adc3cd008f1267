"""How numbers look in tables: the same headings and digits on every page; downloads keep the plain names."""

from collections.abc import Sequence

import pandas as pd
import streamlit as st

THREE = "%.3f"


def numbers(*names: str) -> dict:
    """Columns of numbers with three digits under their own names."""
    return dict.fromkeys(names, st.column_config.NumberColumn(format=THREE))


def ends(low: str = "ci_low", high: str = "ci_high", level: int = 95) -> dict:
    """The two columns of an interval."""
    return {
        low: st.column_config.NumberColumn(f"{level} % from", format=THREE),
        high: st.column_config.NumberColumn("to", format=THREE),
    }


def shares(*names: str) -> dict:
    """Columns that run from 0 to 1, as bars."""
    return dict.fromkeys(names, st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1))


def as_numbers(frame: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """The table with these columns as numbers, so that what is undefined stays empty and the rest is sorted as such."""
    return frame.astype(dict.fromkeys(names, float))
