"""What pages compute, remembered by the content of the data, whatever raters and datasets are called."""

import atexit
from collections.abc import Callable
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import library
from core.annotations.dataset import Dataset
from core.ingest.samples import SAMPLES
from core.runtime.locks import begin_running, end_running
from core.runtime.result_cache import Results, fleeting_results, kept_results
from core.settings import MEGABYTE, current_settings
from core.version import code_digest
from pages.shared.cache import visit

_SAMPLES = frozenset(sample.name for sample in SAMPLES)


@st.cache_resource(show_spinner=False)
def results() -> Results:
    """Return the results of this server, without those that an earlier one left half written."""
    begin_running()
    library.sweep()
    kept = kept_results()
    kept.sweep()
    atexit.register(end_running)
    return Results(current_settings().memory_mb * MEGABYTE, kept, fleeting_results(), _is_kept)


def owner() -> str:
    """Return the address of the session's dataset, on whose behalf it computes."""
    return "" if get_script_run_ctx() is None else visit.data


def remembered(work: Callable[..., Any]) -> Callable[..., Any]:
    """Compute once for each content of a dataset and options.

    The function is called with the dataset by raters without names, and must take nothing that holds their names; these
    are put back into what it gives. Options must be hashable. What it gives is shared: nobody may change it.
    """

    @wraps(work)
    def found(dataset: Dataset, *options: Any, **more: Any) -> Any:
        return of_content(dataset, _asked(work, options, more), lambda content: work(content, *options, **more))

    return found


def _asked(work: Callable[..., Any], options: tuple, more: dict[str, Any]) -> tuple:
    return (f"{work.__module__}.{work.__name__}", options, tuple(sorted(more.items())))


def of_content(dataset: Dataset, asked: tuple, work: Callable[[Dataset], Any]) -> Any:
    """Return the result of work that is not a function of its own; ``asked`` identifies it, with all options."""
    return results().of(dataset, (*asked, code_digest()), work, owner())


def known_of_content(dataset: Dataset, asked: tuple) -> Any:
    """Return what `of_content` computed for the same arguments before, or None; computes nothing."""
    known = results().look(dataset, (*asked, code_digest()), owner())
    return None if known is None else known.named(dataset)


def _is_kept(address: str) -> bool:
    return address in _SAMPLES or library.is_kept(address)
