"""A server that nobody uses gives back memory: results that are on disk need not be held as well."""

import sys
from contextlib import suppress
from importlib import import_module

import anyio
import anyio.to_thread

from core import logs
from pages.shared.cache import streamlit_private

_LOOK = 2.0  # seconds
_CACHED = "pages.shared.cache.datasets"  # with all that pages need: the first session loads it


async def give_back_when_alone() -> None:
    """Whenever the last session has ended and nothing is at work, discard what can be read again.

    For as long as the server runs, in its event loop. A session that has lost its connection has ended once Streamlit
    does not wait for it any more.
    """
    used, failed = False, None
    n_unfinished = 0
    while True:
        await anyio.sleep(_LOOK)
        try:
            somebody = streamlit_private.count_sessions() > 0
            n_before, (n_unfinished, at_work) = n_unfinished, _jobs(await _cached())
            used |= somebody or at_work or n_unfinished < n_before  # a job that was held for long ends in the end
            if used and not somebody and not at_work:
                used = False
                if (cached := await _cached()) is not None:
                    await anyio.to_thread.run_sync(cached.give_back_memory)
        except Exception as error:  # it goes on serving, with more memory than it needs; said once
            if type(error) is not failed:
                failed = type(error)
                with suppress(Exception):
                    logs.log_error("give_back_failed", error)


async def _cached():
    """Return the module of results and jobs, fully loaded; None while the first session is still importing it."""
    if _CACHED not in sys.modules:
        return None
    return await anyio.to_thread.run_sync(import_module, _CACHED)  # waits for the session's import


def _jobs(cached) -> tuple[int, bool]:
    """How many have not ended, and whether any runs or waits; what is held begins only when somebody is there again."""
    jobs = [] if cached is None else cached.jobs().unfinished()
    return len(jobs), any(job.state != "paused" for job in jobs)
