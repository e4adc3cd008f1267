"""Draw the whole page anew from a part of it that looks by the clock."""

from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def draw_anew() -> NoReturn:
    """Run the page again, and send all of it.

    What a browser has already is sent as a reference, by what it said it had when it asked. A part that asks by the
    clock may have asked before the run before this one ended, and the browser discards at that end what the run did
    not show: a reference to it ends the connection for good.
    """
    if (context := get_script_run_ctx()) is not None:
        context.cached_message_hashes = frozenset()
    st.rerun()
