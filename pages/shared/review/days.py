"""Days by which a list is filtered; the default range ends today."""

from datetime import UTC, date, datetime, timedelta

import streamlit as st


def asked(label: str, key: str, **limits: date) -> tuple[int | None, int | None]:
    """Draw a field for the first and the last day; return their range in seconds since 1970-01-01 UTC.

    Parameters
    ----------
    label : str
    key : str
    **limits
        The earliest and the latest day that the field takes, as `streamlit.date_input` calls them.
    """
    days = st.date_input(label, (), key=key, **limits)
    if len(days) == 1:
        st.caption(f"From {days[0].isoformat()} onwards. The last day is optional.")
    return span(days)


def span(days: tuple[date, ...]) -> tuple[int | None, int | None]:
    """Return the first second of the first day and the end of the last; None as the end without a last day."""
    starts = [int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) for day in days]
    last = starts[1] + int(timedelta(days=1).total_seconds()) if len(starts) > 1 else None
    return (starts[0] if starts else None), last
