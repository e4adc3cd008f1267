"""Parts of a page that are drawn independently, and redraws of the whole page from a part that runs by the clock."""

import time
from collections.abc import Callable
from functools import wraps
from typing import NoReturn

import streamlit as st

from pages.shared.cache import streamlit_private

# Between looks by the clock, for each of which a browser goes through its whole page: five a second take a third of a
# core, which what is looked for would lack. Most of that time a look waits on the server, which costs nothing.
LOOK_SECONDS = 0.5
NEWS_SECONDS, _GLANCE_SECONDS = 0.4, 0.01


def part(run_every: float | None = None) -> Callable[[Callable], Callable]:
    """Return a decorator for a function that draws a part of a page, redrawn independently as in `st.fragment`.

    The part has a container of its own. Before a part is drawn again, Streamlit discards its elements that were not
    sent to the browser yet, including the place of the part itself. Elements after that place at the same level would
    then reach the browser with an index that is too high, and end the page: "Bad delta path index".

    Parameters
    ----------
    run_every : float, optional
        Seconds after which it is redrawn automatically.
    """

    def of(draw: Callable) -> Callable:
        drawn = st.fragment(run_every=run_every)(draw)

        @wraps(draw)
        def alone(*given):
            with st.container():
                drawn(*given)

        return alone

    return of


def place_of_part():
    """Return a place outside a part that the part fills, in a container of its own for the same reason."""
    return st.container().empty()


def await_news(has_news: Callable[[], bool]) -> None:
    """Wait, in a part that looks by the clock, for news that are about to come: else they would wait for the next look.

    A press of a person ends it.
    """
    until = time.monotonic() + NEWS_SECONDS
    while not has_news() and time.monotonic() < until and not streamlit_private.is_interrupted():
        time.sleep(_GLANCE_SECONDS)


def draw_anew() -> NoReturn:
    """Run the page again, and send all of it.

    What a browser has already is sent as a reference, by what it said it had when it asked. A part that asks by the
    clock may have asked before the run before this one ended, and the browser discards at that end what the run did
    not show: a reference to it ends the connection for good.
    """
    streamlit_private.send_all_again()
    st.rerun()
