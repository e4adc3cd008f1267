"""How a result came about: a paragraph for a paper, its settings, and the command that gives it again."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from shlex import quote

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core import library
from core.annotations.dataset import Dataset
from core.annotations.named_selection import Selection
from core.ingest.samples import SAMPLES
from core.report.methods import methods_text
from core.text import shorten, typed
from core.version import __version__
from pages.shared.cache import visit
from pages.shared.kit import state

_COMPLETE = frozenset(sample.name for sample in SAMPLES)


def show(
    dataset: Dataset,
    parts: list[str],
    command: str,
    settings: dict,
    key: str,
    chosen: Selection | None = None,
    line: str = "",
) -> None:
    """Draw a popover next to a result: methods, settings and command.

    Parameters
    ----------
    dataset : Dataset
        Dataset of the result, with its selection.
    parts : list of str
        Keys of `core.report.methods.SENTENCES`.
    command : str
        With FILE in the place of the file.
    settings : dict
        Other settings of the result.
    key : str
    chosen : Selection, optional
        Selection that counts, if it differs from other pages.
    line : str
        The whole command, if it does not read the dataset in use.
    """
    line = line or command_line(dataset, command, chosen)
    whole = {**of_data(), "digest": dataset.digest, **settings}
    page = _of_page()
    page.clear()
    page |= {**whole, "command": line}
    with st.popover("Methods and settings", icon=":material/menu_book:", type="tertiary", key=f"methods-{key}"):
        st.markdown("**For a paper**")
        st.code(methods_text(parts), language=None, wrap_lines=True)
        st.markdown("**Settings**")
        st.code(json.dumps(whole, indent=1, ensure_ascii=False), language="json")
        st.markdown("**On the command line**")
        st.code(line, language=None, wrap_lines=True)
        if _source() not in _COMPLETE and not library.is_kept(visit.data):
            st.caption("Replace FILE with the name of your file, or with the ID of a saved dataset (see Home).")


def command_line(dataset: Dataset, command: str, chosen: Selection | None = None) -> str:
    """Return the command that reproduces a result, from one with FILE in the place of the file.

    Parameters
    ----------
    dataset : Dataset
    command : str
    chosen : Selection, optional
        Same as in `show`.
    """
    chosen = state.counted() if chosen is None else chosen
    more = f" --select {quote(chosen.to_text())}" if not chosen.everything else ""
    every = command.startswith("labels")  # labels of scores are scores, those of sets are sets
    if dataset.kind == "score" and visit.threshold is not None and not every:
        more += f" --threshold {typed(visit.threshold)}"
    whole = state.whole().dataset
    if whole.kind == "set" and not every and not (dataset.kind == "set" and command.startswith("agreement")):
        more += f" --label {quote(state.split(whole))}"
    return "python -m core " + command.replace("FILE", quote(_source())) + more


def of_data() -> dict:
    """Return the origin of all tables of this session: data, digest, selection in words and as options, version."""
    reading = state.current()
    if reading is None:
        return {"version": __version__}
    chosen = state.counted()
    found = {
        "data": _source(),
        "name": reading.dataset.name,
        "digest": reading.dataset.digest,
        "select": chosen.to_text(),
        "selected": chosen.words(state.whole().dataset),
        "version": __version__,
    }
    if reading.dataset.kind == "score" and visit.threshold is not None:
        found["threshold"] = visit.threshold
    if reading.dataset.kind == "set":
        found["label"] = state.split(reading.dataset)
    if reading.dataset.ordinal:
        found["order"] = list(reading.dataset.classes)
    return found


def exported(table: str, more: dict | None = None) -> Callable[[], dict]:
    """Return a callable for the settings of a table when it is written: those of its page, and its own.

    A page says its settings after its tables are drawn, so they are looked up only when somebody takes a table away.
    """
    base, page = of_data(), _of_page()

    def settings() -> dict:
        same = all(page.get(key) == base.get(key) for key in ("data", "select"))
        return {"table": table, "date": _today(), **base, **(page if same else {}), **(more or {})}

    return settings


def file_name(what: str, ending: str, model: str | None = None) -> str:
    """Return the name of an exported file, with data and day, as ``skin_weights_Dawid-Skene_2026-03-01.csv``.

    Parameters
    ----------
    what : str
        The table, or the document.
    ending : str
    model : str, optional
        Model of the table, if tables of several models have the same columns.
    """
    reading = state.whole()  # a selection has the same name
    name = shorten(reading.dataset.name, 60) if reading is not None else ""
    parts = (re.sub(r"[^\w.-]+", "-", part).strip("-.") for part in (name, what, model or "", _today()))
    return "_".join(filter(None, parts)) + f".{ending}"


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def _of_page() -> dict:
    """Return the settings that the page on screen has set; each page has its own."""
    context = get_script_run_ctx()
    return visit.settings_of_pages.setdefault(context.page_script_hash if context is not None else "", {})


def _source() -> str:
    """Return the source for the command line: the name of a sample, the digest of a kept dataset, or a file name."""
    return visit.data if visit.data in _COMPLETE or library.is_kept(visit.data) else state.whole().dataset.name
