"""The first start on a computer, on the page itself: what is compiled, how far it is, and the page when it is ready."""

import threading
from collections.abc import Sequence
from functools import cache

import streamlit as st

from core.runtime.first_start import PARTS
from pages.shared.cache import datasets as cached
from pages.shared.cache import streamlit_private, visit
from pages.shared.kit.redraw import LOOK_SECONDS, await_news, draw_anew, part
from pages.shared.shell.loading import load_modules

# What a page computes with; a page without data computes nothing, and samples are read without machine code.
_NEEDS = {
    "home": ("draws", "points", "summaries", "others", "agreement", "raters"),
    "upload": ("reading",),
    "agreement": ("agreement",),
    "models": ("models",),
    "raters": ("raters",),
    "ai_rater": ("agreement", "models"),
    "reader_study": ("models", "kinds"),
    "cases": ("draws", "points", "summaries"),
    "review": ("draws", "points", "summaries"),
    "reliability": ("draws", "points", "summaries", "others"),
    "labels": ("draws", "points", "summaries", "models"),
    "report": PARTS,
}


def waits(parts: Sequence[str]) -> bool:
    """Return True if data are open, or requested, whose kernels are still being compiled."""
    return bool(visit.data) and bool(cached.preparation().missing(parts))


def shown(title: str, name: str) -> bool:
    """Return True while the page must wait for its kernels, with its heading and a note until it opens automatically.

    Parameters
    ----------
    title, name : str
        Title of the page, and name of its file in ``pages/``.
    """
    parts = _NEEDS.get(name, ())
    if not waits(parts):
        return False
    st.title(title)
    _note(parts)
    _load_meanwhile(name)
    return True


@cache
def _load_meanwhile(name: str) -> None:
    """Import the modules of the page in the meantime."""
    threading.Thread(target=load_modules, args=(("kit", name),), name="loading", daemon=True).start()


@part(LOOK_SECONDS)
def _note(parts: Sequence[str]) -> None:
    preparation = cached.preparation()
    missing = before = preparation.missing(parts)
    if streamlit_private.is_run_of_fragment():
        await_news(lambda: preparation.missing(parts) != before)
        missing = preparation.missing(parts)
    if not missing:
        draw_anew()
    st.info(
        "Setting up Plurality. This takes about a minute, once per version. The page then opens automatically.",
        icon=":material/construction:",
    )
    st.progress(
        1 - len(missing) / len(parts),
        text=f"{len(parts) - len(missing)} of {len(parts)} parts of this page are ready",
    )
