"""The days that a list is filtered by; the first of them alone is said to be open towards today."""

from datetime import UTC, date, datetime, timedelta

import streamlit as st


def asked(label: str, key: str, **limits: date) -> tuple[int | None, int | None]:
    """A field for the first and the last day, and between which seconds since 1970-01-01 UTC they lie.

    Parameters
    ----------
    label : str
    key : str
    **limits
        The earliest and the latest day that the field takes, as `streamlit.date_input` calls them.
    """
    days = st.date_input(label, (), key=key, **limits)
    if len(days) == 1:
        st.caption(f"From {days[0].isoformat()} on, until a last day is chosen too.")
    return span(days)


def span(days: tuple[date, ...]) -> tuple[int | None, int | None]:
    """From the first second of the first day to the end of the last; without a last day there is no end."""
    starts = [int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) for day in days]
    last = starts[1] + int(timedelta(days=1).total_seconds()) if len(starts) > 1 else None
    return (starts[0] if starts else None), last
