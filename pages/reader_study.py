"""Reader study: whether readers decide better in one modality than in another, and how large a next study must be."""

from contextlib import suppress
from dataclasses import asdict, astuple
from pathlib import PurePath
from shlex import quote

import numpy as np
import streamlit as st

from core.analyses.study import STUDY, ModalityOptions, SizeOptions, analyse, headline
from core.annotations.dataset import Dataset
from core.errors import PluralityError
from core.runtime.jobs import Job
from core.studies.files import StudyReading, read_study
from core.studies.study import ReadingStudy
from core.text import markdown, typed
from pages.shared.cache import access, sign_in, visit
from pages.shared.kit import blocks, job_progress, navigation, own_predictions, provenance, state, studies, widgets

WHAT = (
    "iMRMC files, or tables with one row per reading (columns reader, case, modality, score and optionally truth). "
    "If a file has no reader or modality column, the file name is used instead."
)


def _first() -> None:
    """Take in a study before any data are open: its readings become the dataset in use."""
    if not sign_in.may("manager"):  # before anything is read
        st.info("Open data that are shared with you, or ask a manager to add a study.", icon=":material/info:")
        return
    contents = _uploaded("study_files")
    if not contents:
        st.caption("No reader study yet. Add files to compare modalities.")
        return
    try:
        found = read_study(list(contents.items()))
        name = PurePath(next(iter(contents))).stem
        state.use(studies.open_readings(found.study, name, contents))
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return
    st.rerun()


def _card(n_files: int, dataset: Dataset) -> None:
    """Add further files to those in use, or remove them; unfolded while a file is missing."""
    offered: object = ()
    with suppress(PluralityError):
        offered = studies.sources(dataset)
    may_change = access.may_change(visit.data)
    if not may_change and not n_files:
        st.caption("No reader study yet.")
        return
    with st.expander("Reader study files", expanded=not (n_files and offered)):
        contents = _uploaded("study_files") if may_change else {}
        if [studies.add(name, content) for name, content in contents.items()].count(True):
            st.rerun()
        if n_files:
            st.markdown(f"In use: {markdown(', '.join(name for name, _ in studies.files()))}.")
            if may_change and not contents:
                st.button("Remove files", on_click=studies.remove, key="no_study")
        elif not contents:
            st.caption("No reader study yet. Add files to compare modalities.")


def _truth(dataset: Dataset) -> StudyReading | None:
    """Return the study with its truth, chosen if there are several sources; None while something is missing."""
    try:
        offered = studies.sources(dataset)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if len(offered) > 1:
                st.segmented_control(
                    "Truth", offered, default=offered[0], required=True, format_func=studies.SOURCES.get,
                    key="study_truth", persist_state="session",
                )  # fmt: skip
            found = studies.reading(dataset)
            if found is not None and (found.choices or visit.choice["study_positive"]):
                found = _condition(found, dataset)
    except PluralityError as error:
        st.error(markdown(error), icon=":material/error:")
        return None
    if found is None or found.choices:
        st.info("Choose the class that means “condition present”.", icon=":material/info:")
        return None
    if not offered:
        st.info(
            "The true class of the cases is unknown. Add a table with the columns case and truth, or open the "
            "annotations of a panel (two classes) and add the study to them.",
            icon=":material/info:",
        )
        return None
    return found


def _condition(found: StudyReading, dataset: Dataset) -> StudyReading | None:
    """Ask for the class with the condition, which no name tells."""
    visit.study_classes = choices = found.choices or visit.study_classes
    st.selectbox(
        "Class that means “condition present”", choices, index=None, placeholder="Choose a class", key="study_positive",
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


MOST_CHOICES = 20  # of thresholds in a list


def _threshold(place, study: ReadingStudy, measure: str) -> float | None:
    """Return the score from which on a case is positive; None if none is needed or chosen."""
    if measure == "auc":
        return None
    scores = np.unique(study.scores[~np.isnan(study.scores)]).tolist()
    if len(scores) == 2:
        return scores[1]
    label, key = "Lowest positive score", f"study_threshold-{study.digest}"
    if len(scores) <= MOST_CHOICES:
        return place.selectbox(
            label, scores[1:], index=None, placeholder="Choose a score", format_func=typed, key=key, width=220
        )
    return place.number_input(label, min(scores), max(scores), None, key=key, width=220)


def _options(study: ReadingStudy) -> ModalityOptions | None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        found = blocks.controls(STUDY.part("modalities"))
        threshold = _threshold(st, study, found.measure)
    if found.measure != "auc" and threshold is None:
        st.info("Choose the lowest score that counts as positive.", icon=":material/info:")
        return None
    return ModalityOptions(**asdict(found) | {"threshold": threshold})


def _size(study: ReadingStudy, options: ModalityOptions) -> SizeOptions:
    with st.container(horizontal=True):
        effect = st.number_input("Difference to find", 0.01, 0.5, 0.05, 0.01, key="study_effect", width=160)
        power = st.number_input("Power", 0.5, 0.99, 0.8, 0.05, key="study_power", width=160)
    return SizeOptions(**asdict(options), effect=float(effect), power=float(power))


def _command(options: ModalityOptions) -> str:
    source = visit.choice["study_truth"]
    line = "python -m core study " + " ".join(quote(name) for name, _ in studies.files())
    more = {"panel": " --panel PANEL", "gold": " --truth GOLD"}.get(source or "", "")
    if positive := visit.choice["study_positive"]:
        more += f" --positive {quote(positive)}"
    if options.threshold is not None:
        more += f" --measure {options.measure} --threshold {typed(options.threshold)}"
    return line + more


def _page() -> None:
    title = st.empty()
    title.title("Do readers perform better in one modality?")
    whole = state.whole()
    if whole is None:
        _first()
        return
    _card(len(studies.files()), whole.dataset)
    if not studies.files():
        return
    found = _truth(whole.dataset)
    if found is None:
        return
    if found.notes:
        st.caption(markdown(" ".join(found.notes)))
    study, part = found.study, STUDY.part("modalities")
    verdict = part.applicable(study)
    if not verdict.possible:
        st.info(f"Cannot compare modalities: {markdown(verdict.reason)}.", icon=":material/block:")
        return
    options = _options(study)
    if options is None:
        return

    def work(job: Job):
        return analyse(study, options, job.token, job.report)

    analysed = job_progress.result_of(("study", study.digest, *astuple(options)), "Reader study", work)
    if analysed is None:
        return
    title.title(markdown(headline(analysed)))
    settings = {**asdict(options), "digest of the study": study.digest}
    provenance.show(whole.dataset, ["study"], "", settings, "study", line=_command(options))
    for part, tab in zip(STUDY.parts, widgets.tabs([part.title for part in STUDY.parts], "study_tabs"), strict=True):
        if tab.open:
            with tab:
                own = _size(study, options) if part.name == "size" else options
                blocks.show(part.blocks(part.answer(study, own, analysed), study, own))


navigation.through_app()
_page()
