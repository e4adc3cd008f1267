"""Reader studies as pages read them, kept while they are in use."""

import hashlib
from collections.abc import Mapping, Sequence

import streamlit as st

from core.annotations.dataset import Dataset
from core.studies.files import StudyReading, read_study
from core.version import __version__


def study_of(
    files: Sequence[tuple[str, bytes]], truth: Mapping[str, str] | None, panel: Dataset | None, positive: str
) -> StudyReading:
    """Read the study in files once for each truth; see `core.studies.files.read_study`.

    Parameters
    ----------
    files : sequence of (str, bytes)
    truth : mapping of str to str, optional
    panel : Dataset, optional
    positive : str
    """
    content = tuple((name, hashlib.blake2b(file, digest_size=16).hexdigest()) for name, file in files)
    known = None if truth is None else tuple(sorted(truth.items()))
    of = "" if panel is None else panel.digest
    return _read(content, known, of, positive, __version__, files, truth, panel)


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(
    content: tuple, known: tuple | None, of: str, positive: str, version: str, _files, _truth, _panel
) -> StudyReading:
    return read_study(_files, truth=_truth, panel=_panel, positive=positive)
