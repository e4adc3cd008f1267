"""The question whether what is kept of data that an earlier version read in another way is brought over."""

import streamlit as st

from core.annotations.ordering import order_in_words
from core.errors import PluralityError
from core.ingest.read_files import Reading
from core.text import markdown
from pages.shared.cache import access
from pages.shared.cache import datasets as cached
from pages.shared.kit import presentation, state


def ask(reading: Reading) -> None:
    """Ask once of each earlier reading under which something is kept; nothing where nothing is.

    Parameters
    ----------
    reading : Reading
        All of the dataset in use, by the names in its file.
    """
    if presentation.on():
        return
    for found in cached.kept_before(reading):
        said = f"**Bring over what was saved under an earlier reading of this file?** Found: {found.words}."
        _question(said, _SINCE, ("Bring over", "Keep separate"), found.digest, reading)
    now = cached.order_now(reading)
    if now is not None:
        before, after = (markdown(order_in_words(one.classes)) for one in (reading.dataset, now.dataset))
        said = f"**Sort the classes of this dataset?** Saved order: {before}. Order now: {after}."
        why = "Reviews, predictions, settings and access stay with it."
        _question(said, why, ("Sort classes", "Keep order"), reading.dataset.digest, now)


_SINCE = (
    "Plurality now sorts classes by value, recognises scales in words, and counts codes such as #N/A as missing. "
    "So this file makes another dataset than before."
)


def _question(said: str, why: str, labels: tuple[str, str], earlier: str, reading: Reading) -> None:
    with st.container(border=True, key=f"earlier-{earlier}"):
        st.markdown(said)
        st.caption(why)
        with st.container(horizontal=True):
            st.button(labels[0], type="primary", key=f"bring_over-{earlier}", on_click=_bring, args=(earlier, reading))
            st.button(labels[1], key=f"leave-{earlier}", on_click=_leave, args=(earlier, reading))


def _bring(earlier: str, reading: Reading) -> None:
    try:
        cached.bring_over(earlier, reading)
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
        return
    if st.session_state.get("data") == earlier:
        state.use(reading.dataset.digest)
    st.toast("Reviews and settings brought over.", icon=":material/check:")


def _leave(earlier: str, reading: Reading) -> None:
    try:
        access.leave_as_read(reading.dataset.digest if reading.earlier else earlier, earlier)
    except PluralityError as error:
        st.session_state["data_error"] = str(error)
