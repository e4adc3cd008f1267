"""A server that nobody uses gives back memory: results that are on disk need not be held as well."""

import anyio
import anyio.to_thread
from streamlit import runtime

from core import logs

_LOOK = 2.0  # seconds


async def give_back_when_alone() -> None:
    """Whenever the last session has ended and nothing is at work, discard what can be read again.

    For as long as the server runs, in its event loop. A session that has lost its connection has ended once Streamlit
    does not wait for it any more.
    """
    used = False
    while True:
        await anyio.sleep(_LOOK)
        try:
            if runtime.exists() and _sessions():
                used = True
            elif used and not _at_work():
                used = False
                await anyio.to_thread.run_sync(_give_back)
        except Exception as error:  # it goes on serving, with more memory than it needs
            logs.log_error("give_back_failed", error)


def _sessions() -> int:
    """How many there are, and the end of those that Streamlit does not wait for any more.

    Unasked, it would look for these only when another one loses its connection, and hold all that is in their state
    until then.
    """
    manager = runtime.get_instance()._session_mgr
    for _, ended in manager._session_storage._cache.expire():
        ended.session.shutdown()
    return len(manager.list_sessions())


def _at_work() -> bool:
    """Whether anything runs or waits for its turn; what is held begins only when somebody is there again."""
    from pages.shared.cache.datasets import jobs  # with all that pages need, which the session has loaded

    return any(job.state != "held" for job in jobs().unfinished())


def _give_back() -> None:
    from pages.shared.cache.datasets import give_back_memory

    give_back_memory()
