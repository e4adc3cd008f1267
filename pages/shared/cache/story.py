"""Datasets without names for a presentation, kept by content and version."""

from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.version import __version__


@st.cache_resource(max_entries=8, show_spinner=False)
def _without_names(digest: str, names: str, machines: tuple[str, ...], version: str, _dataset: Dataset) -> Dataset:
    from core.annotations.rater_codes import without_names

    return without_names(_dataset, machines)


def without_names(reading: Reading, machines: tuple[str, ...] = ()) -> Reading:
    """Return the dataset with numbered raters, those of ``machines`` as AI raters."""
    dataset = reading.dataset
    veiled = _without_names(dataset.content_digest, dataset.names_digest, machines, __version__, dataset)
    return replace(reading, dataset=veiled)
