"""How a result came about: a paragraph for a paper, its settings, and the command that gives it again."""

import json
from shlex import quote

import streamlit as st

from core.annotations.dataset import Dataset
from core.annotations.samples import SAMPLES
from core.report.methods import methods_text
from core.version import __version__
from pages.shared import state


def show(dataset: Dataset, parts: list[str], command: str, settings: dict, key: str) -> None:
    """A popover beside a result.

    Parameters
    ----------
    dataset : Dataset
        What the result is of, selection and all.
    parts : list of str
        Keys of `core.report.methods.SENTENCES`.
    command : str
        With FILE in the place of the file.
    settings : dict
        What else was chosen.
    key : str
    """
    with st.popover("Methods and settings", icon=":material/menu_book:", type="tertiary", key=f"methods-{key}"):
        st.markdown("**For a paper**")
        st.code(methods_text(parts), language=None, wrap_lines=True)
        chosen = state.selection()
        whole = {
            "data": _source(),
            "digest": dataset.digest,
            "select": chosen.to_text(),
            **settings,
            "version": __version__,
        }
        st.markdown("**Settings**")
        st.code(json.dumps(whole, indent=1, ensure_ascii=False), language="json")
        more = f" --select {quote(chosen.to_text())}" if not chosen.everything else ""
        threshold = st.session_state.get("threshold")
        if dataset.kind == "score" and threshold is not None:
            more += f" --threshold {threshold:g}"
        st.markdown("**The same on the command line**")
        line = "python -m core " + command.replace("FILE", quote(_source())) + more
        st.code(line, language="bash", wrap_lines=True)


def _source() -> str:
    address = st.session_state["data"]
    return address if any(sample.name == address for sample in SAMPLES) else state.whole().dataset.name
