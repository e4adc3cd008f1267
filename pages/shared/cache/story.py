"""What the guided story and a presentation compute, kept by digest, settings and version."""

from dataclasses import replace

import streamlit as st

from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.version import __version__


@st.cache_resource(max_entries=8, show_spinner=False)
def _without_names(digest: str, name: str, version: str, _reading: Reading) -> Reading:
    from core.annotations.anonymous import without_names

    return replace(_reading, dataset=without_names(_reading.dataset))


def without_names(reading: Reading) -> Reading:
    """The dataset with numbered raters."""
    return _without_names(reading.dataset.digest, reading.dataset.name, __version__, reading)


@st.cache_resource(max_entries=4, show_spinner=False)
def _weighs(digest: str, version: str, _view: Dataset):
    from core import story
    from core.models.catalogue import fit_request, request
    from core.raters.acceptable import acceptable_of
    from core.raters.leave_one_rater_out import panel_of
    from core.raters.monitoring import default_request

    judging = fit_request(default_request(_view), _view).fit
    shown = fit_request(request(story.MODEL), _view).fit
    return story.weighs(_view, shown, acceptable_of(panel_of(_view, judging)))


def weighs(view: Dataset):
    """Step three of the story."""
    return _weighs(view.digest, __version__, view)


@st.cache_resource(max_entries=4, show_spinner=False)
def _torn(digest: str, settings: tuple, version: str, _dataset: Dataset, _model, _certainty, _settings: dict):
    from core.story import torn_case

    return torn_case(_model, _dataset, _certainty, **_settings)


def torn(dataset: Dataset, model, certainty, **settings):
    """The case of step four."""
    key = (model.name, *sorted(model.settings().items()), *sorted(settings.items()))
    return _torn(dataset.digest, key, __version__, dataset, model, certainty, settings)
