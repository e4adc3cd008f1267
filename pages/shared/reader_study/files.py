"""Files of a reader study on screen: they are added, listed and removed, and their truth is chosen."""

from contextlib import suppress
from pathlib import PurePath

import streamlit as st

from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.studies.files import StudyReading, read_study
from core.text import markdown
from pages.shared.cache import access, sign_in
from pages.shared.kit import own_predictions, state, studies, widgets

WHAT = (
    "iMRMC files, or tables with one row per reading (columns reader, case, modality, score and optionally truth). "
    "If a file has no reader or modality column, its name is used instead"
)


def first() -> None:
    """Take in a study before any data are open: its readings become the dataset in use."""
    if not sign_in.may("manager"):  # before anything is read
        st.info("Open data that are shared with you, or ask a manager to add a study.", icon=":material/info:")
        return
    contents = _uploaded("study_files")
    if not contents:
        st.caption("No reader study yet. Add its files to compare modalities.")
        return
    try:
        found = read_study(list(contents.items()))
        name = PurePath(next(iter(contents))).stem
        state.use(studies.open_readings(found.study, name, contents))
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return
    st.rerun()


def card(n_files: int, dataset: Dataset) -> None:
    """Add further files to those in use, or remove them; unfolded while a file is missing."""
    offered: object = ()
    with suppress(PluralityError):
        offered = studies.sources(dataset)
    may_change = access.may_change(st.session_state["data"])
    if not may_change and not n_files:
        st.caption("No reader study yet.")
        return
    with st.expander("Files of the reader study", expanded=not (n_files and offered)):
        contents = _uploaded("study_files") if may_change else {}
        if [studies.add(name, content) for name, content in contents.items()].count(True):
            st.rerun()
        if n_files:
            st.markdown(f"In use: {markdown(', '.join(name for name, _ in studies.files()))}.")
            if may_change and not contents:
                st.button("Remove files", on_click=studies.remove, key="no_study")
        elif not contents:
            st.caption("No reader study yet. Add its files to compare modalities.")


def truth(dataset: Dataset) -> StudyReading | None:
    """Return the study with its truth, chosen if there are several sources; None while something is missing."""
    try:
        offered = studies.sources(dataset)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if len(offered) > 1:
                st.segmented_control(
                    "Truth", offered, default=offered[0], required=True, format_func=studies.SOURCES.get,
                    key=studies.SOURCE, persist_state="session",
                )  # fmt: skip
            found = studies.reading(dataset)
            if found is not None and (found.choices or st.session_state.get(studies.POSITIVE)):
                found = _condition(found, dataset)
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return None
    if found is None or found.choices:
        st.info("Choose the class that means “condition present”.", icon=":material/info:")
        return None
    if not offered:
        st.info(
            "The true class of the cases is unknown. Add a table with the columns case and truth, or open a "
            "panel's annotations with two classes and add the study there.",
            icon=":material/info:",
        )
        return None
    return found


def _condition(found: StudyReading, dataset: Dataset) -> StudyReading | None:
    """Ask for the class with the condition, which no name tells."""
    key = "_study_classes"
    choices = found.choices or st.session_state.get(key, ())
    st.session_state[key] = choices
    st.selectbox(
        "Class that means “condition present”", choices, index=None, placeholder="Choose a class", key=studies.POSITIVE,
        persist_state="session", width=280,
    )  # fmt: skip
    return studies.reading(dataset)


def _uploaded(key: str) -> dict[str, bytes]:
    """Return uploaded files that a separate process could read; none while one is being tried."""
    uploads = widgets.file_uploader(WHAT, key=key, accept_multiple_files=True)
    tried = [own_predictions.tried(upload) for upload in uploads]  # all of them at once
    if not all(tried):
        return {}
    return {upload.name: upload.getvalue() for upload in uploads}
