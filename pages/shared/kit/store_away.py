"""A database of reviews that does not answer: said once on a page, which comes back by itself when it answers again."""

import time

import streamlit as st

from core.errors import PluralityError
from core.review.review_errors import StoreError
from core.text import markdown, number
from pages.shared.cache import access, visit
from pages.shared.kit.redraw import draw_anew, part

_EVERY = 5.0  # seconds


def show(error: PluralityError) -> None:
    """Say what is wrong; of a database that is away once a page."""
    if not (isinstance(error, StoreError) and error.trouble in ("unreachable", "locked")):
        st.error(markdown(error), icon=":material/error:")
    elif not visit.store_away:
        visit.store_away = True
        st.error(f"{markdown(error)} This page tries again every {number(_EVERY, 0)} seconds.", icon=":material/error:")


def look_again() -> None:
    """At the end of a run: the part of the page that looks whether the database answers again."""
    if visit.store_away:
        _look(time.monotonic())


@part(_EVERY)
def _look(drawn: float) -> None:
    if time.monotonic() - drawn > _EVERY / 2 and access.store_answers():
        draw_anew()
