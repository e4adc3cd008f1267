"""What the guided story and a presentation compute, kept by the content of the data, settings and version."""

from dataclasses import replace

import streamlit as st

from core.analysis_settings import AnalysisSettings
from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.version import __version__
from pages.shared.cache.remembered import known_of_content, of_content


@st.cache_resource(max_entries=8, show_spinner=False)
def _without_names(digest: str, names: str, machines: tuple[str, ...], version: str, _dataset: Dataset) -> Dataset:
    from core.annotations.rater_codes import without_names

    return without_names(_dataset, machines)


def without_names(reading: Reading, machines: tuple[str, ...] = ()) -> Reading:
    """Return the dataset with numbered raters, those of ``machines`` as AI raters."""
    dataset = reading.dataset
    veiled = _without_names(dataset.content_digest, dataset.names_digest, machines, __version__, dataset)
    return replace(reading, dataset=veiled)


def weighs(view: Dataset, settings: AnalysisSettings):
    """Step three of the story, of data by raters without names."""
    from core import story
    from core.models.catalogue import fit_request
    from core.raters.accuracy_threshold import judge_accuracy
    from core.raters.leave_one_rater_out import panel_of
    from core.raters.monitoring import default_request
    from core.raters.truth_draws import judging_draws

    panel = panel_of(view, fit_request(default_request(view), view).fit)
    averaged = settings.average(view)
    draws = None if averaged is None else judging_draws(averaged, view)
    judged = judge_accuracy(panel, averaged=None if draws is None else averaged.fit, draws=draws)
    return story.weighs(view, settings.rater_model.title, settings.weigh(view), judged)


def torn(dataset: Dataset, certainty, model, reliability: float, n_draws: int, seed: int):
    """Return the case of step four."""
    from core.story import torn_case

    asked = {"reliability": reliability, "n_draws": n_draws, "seed": seed}
    key = _torn_key(model, reliability, n_draws, seed)
    return of_content(dataset, key, lambda content: torn_case(model, content, certainty, **asked))


def known_torn(dataset: Dataset, model, reliability: float, n_draws: int, seed: int):
    """Return the case of step four if it is known, otherwise None; computes nothing."""
    return known_of_content(dataset, _torn_key(model, reliability, n_draws, seed))


def _torn_key(model, reliability: float, n_draws: int, seed: int) -> tuple:
    return ("torn", model.name, *sorted(model.settings().items()), reliability, n_draws, seed)
