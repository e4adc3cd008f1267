"""How wide the columns of the worklist are: all of them are seen beside a case on a screen 1280 pixels wide."""

import streamlit as st

MOST = 328  # of the pane of 341 pixels a scroll bar takes 12


def widths(longest: int, narrow: bool, reviewed: bool) -> dict:
    """The columns by their names, without the expected class within `MOST`.

    ``longest`` is the length of the longest id, ``narrow`` says that there are more than three columns.
    """
    case, certainty, review = min(max(24 + 8 * longest, 50), 78 if narrow else 112), 78 if narrow else 92, 64
    return {
        "case": st.column_config.TextColumn(width=case),
        "certainty": st.column_config.ProgressColumn(format="%.2f", min_value=0, max_value=1, width=certainty),
        "most plausible": st.column_config.TextColumn(
            width=MOST - certainty - case - (review if reviewed else 0),
            help="“or”: no class is likelier to come first than all others together",
        ),
        "review": st.column_config.TextColumn(width=review),
        "within one": st.column_config.NumberColumn(
            format="%.2f", width=74, help="Probability that the true class is at most one from the median"
        ),
        "expected": st.column_config.TextColumn(
            width=92, help="Where the true class stands: its 95% interval, before it the mean where classes are numbers"
        ),
    }
