"""For administrators of a server: who is signed in, with a way to end it, and the record of access."""

import time

import pandas as pd
import streamlit as st

from core.settings import current_settings
from core.tables import to_csv
from core.text import markdown, plural
from pages.shared.cache import access, sign_in

_SHOWN = 200  # lines of the record
_SESSIONS = 50


def sections() -> None:
    """Draw both for an administrator who signed in; nothing for anybody else."""
    if sign_in.person() is None or not sign_in.may("administrator"):
        return
    _sessions()
    _record()


def _sessions() -> None:
    st.subheader("Open sessions", anchor=False)
    found = access.open_sign_ins()
    st.caption(f"{plural(len(found), 'sign-in')}. Ending a session closes it in all tabs at the next click.")
    for one in found[:_SESSIONS]:
        who, when, end = st.columns([3, 4, 2], vertical_alignment="center")
        who.text(f"{one.name}, {one.role}")
        when.text(f"Last used {_moment(one.used)}, ends by {_moment(one.until)}")
        end.button("End session", key=f"end-{one.which}", on_click=access.end_sign_in, args=(one.which, one.name))


def _record() -> None:
    st.subheader("Record of access", anchor=False)
    lines, faults = access.access_record()
    if faults:
        st.error(f"The access record is incomplete: {markdown(faults[0])}.", icon=":material/error:")
    days = current_settings().access_days
    st.caption(
        f"{plural(len(lines), 'line')}, kept for {plural(days, 'day')}. The table shows the latest {_SHOWN} lines, "
        "the file contains all. Check them with the command plurality access."
    )
    table = pd.DataFrame(
        [(line.time, line.who, line.what, line.dataset, ", ".join(line.details)) for line in reversed(lines)],
        columns=["at", "who", "what", "dataset", "details"],
    )
    st.dataframe(table.head(_SHOWN), hide_index=True, key="access_record")
    st.download_button(
        "Download the record",
        lambda: to_csv(table),
        file_name="access.csv",
        mime="text/csv",
        icon=":material/download:",
        type="tertiary",
        on_click="ignore",
        key="take_access_record",
    )


def _moment(seconds: float) -> str:
    return time.strftime("%d %b %H:%M UTC", time.gmtime(seconds))
