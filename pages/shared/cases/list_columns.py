"""How wide the columns of the worklist are: all of them are seen beside a case on a screen 1280 pixels wide."""

import streamlit as st

MOST = 328  # of the pane of 341 pixels a scroll bar takes 12
REVIEW, EXPECTED, EXPECTED_BESIDE = 64, 92, 60


def widths(longest: int, *, reviewed: bool, ordered: bool) -> dict:
    """The columns by their names, together within `MOST`; what the most plausible class is called, the case says too.

    ``longest`` is the length of the longest id; there is a column for the review, and one for the expected class.
    """
    expected = EXPECTED_BESIDE if reviewed else EXPECTED
    more = REVIEW * reviewed + expected * ordered
    case, certainty = min(max(24 + 8 * longest, 50), 78 if more else 112), 78 if more else 92
    return {
        "case": st.column_config.TextColumn(width=case),
        "certainty": st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1, width=certainty),
        "most plausible": st.column_config.TextColumn(
            width=MOST - certainty - case - more,
            help="“or”: no class is likelier to come first than all others together",
        ),
        "review": st.column_config.TextColumn(width=REVIEW),
        "expected": st.column_config.TextColumn(
            width=expected,
            help="Where the true class stands: its 95% interval, before it the mean where classes are numbers",
        ),
    }
