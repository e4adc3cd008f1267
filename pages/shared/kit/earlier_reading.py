"""The question whether what is kept of data that an earlier version read in another way is brought over."""

import streamlit as st

from core import read_anew
from core.errors import PluralityError
from core.ingest.read_files import Reading
from core.text import markdown, plural
from pages.shared.cache import datasets as cached
from pages.shared.kit import state

_SINCE = (
    "Plurality now sorts classes by value, recognises scales in words, and treats codes such as #N/A as missing. "
    "This file therefore gives a different dataset than before."
)


def ask(reading: Reading | None) -> None:
    """Ask once whether what is kept under earlier readings is brought over; nothing if nothing is kept.

    Parameters
    ----------
    reading : Reading or None
        All of the dataset in use, by the names in its file.
    """
    if reading is None:
        return
    if found := cached.kept_before(reading):
        words = "; ".join(one.words for one in found)
        said = f"**Reuse what you saved when an older version read this file?** Found: {words}."
        _question(said, _SINCE, ("Bring over", "Keep separate"), [one.digest for one in found], reading)
    elif (now := cached.read_now(reading)) is not None:
        said = f"**Update this dataset?** {markdown(read_anew.differences(reading.dataset, now.dataset))}"
        why = "Reviews, predictions, settings and access rights stay."
        _question(said, why, ("Update dataset", "Keep as saved"), [reading.dataset.digest], now)


def _question(said: str, why: str, labels: tuple[str, str], earlier: list[str], reading: Reading) -> None:
    with st.container(border=True, key="earlier_reading"):
        st.markdown(said)
        st.caption(why)
        with st.container(horizontal=True):
            st.button(labels[0], type="primary", key="bring_over", on_click=_bring, args=(earlier, reading))
            st.button(labels[1], key="leave_apart", on_click=_leave, args=(earlier, reading.dataset.digest))


def _bring(earlier: list[str], reading: Reading) -> None:
    n_left = 0
    try:
        for digest in earlier:
            n_left += cached.bring_over(digest, reading)[1]
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
        return
    if st.session_state.get("data") in earlier:
        state.use(reading.dataset.digest)
    left = f" {plural(n_left, 'review step remains', 'review steps remain')} in the earlier record." if n_left else ""
    st.toast(f"Reviews and settings were copied.{left}", icon=":material/check:")


def _leave(earlier: list[str], present: str) -> None:
    try:
        for digest in earlier:
            cached.leave_apart(digest, present)
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
