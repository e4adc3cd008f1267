"""Reader study: whether readers decide better in one modality than in another, and how large a next study must be."""

from dataclasses import asdict, astuple
from shlex import quote

import numpy as np
import streamlit as st

from core.analyses.study import STUDY, ModalityOptions, SizeOptions, analyse, headline
from core.runtime.jobs import Job
from core.studies.study import ReadingStudy
from core.text import markdown, typed
from pages.shared.kit import blocks, job_progress, navigation, provenance, state, studies, widgets
from pages.shared.reader_study import files

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
    source = st.session_state.get(studies.SOURCE)
    line = "python -m core study " + " ".join(quote(name) for name, _ in studies.files())
    more = {"panel": " --panel PANEL", "gold": " --truth GOLD"}.get(source or "", "")
    if positive := st.session_state.get(studies.POSITIVE):
        more += f" --positive {quote(positive)}"
    if options.threshold is not None:
        more += f" --measure {options.measure} --threshold {typed(options.threshold)}"
    return line + more


def _page() -> None:
    title = st.empty()
    title.title("Do readers decide better in one modality?")
    whole = state.whole()
    if whole is None:
        files.first()
        return
    files.card(len(studies.files()), whole.dataset)
    if not studies.files():
        return
    found = files.truth(whole.dataset)
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
