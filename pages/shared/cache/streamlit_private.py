"""The parts of Streamlit that it does not document, used here alone.

`tests/pages/test_streamlit_private.py` names the version that they were checked with.
"""

import logging
from collections.abc import Callable, Mapping
from typing import Any

from streamlit import logger, runtime
from streamlit.auth_util import encode_provider_token, get_secrets_auth_section, is_authlib_installed
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.media_file_manager import MediaFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState
from streamlit.web.server.starlette import starlette_app_utils, starlette_auth_routes
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME
from streamlit.web.server.starlette.starlette_websocket import _get_signed_cookie_with_chunks, is_host_allowed

__all__ = ["encode_provider_token", "get_secrets_auth_section", "is_authlib_installed", "is_host_allowed"]


def count_connected() -> int:
    """Count the browsers that are connected; 0 without a server."""
    return runtime.get_instance()._session_mgr.num_active_sessions() if runtime.exists() else 0


def claims_of_session(session: str) -> dict[str, Any] | None:
    """Return the claims of the person who opened a session; None if there is no such session.

    Parameters
    ----------
    session : str
    """
    found = runtime.get_instance()._session_mgr.get_session_info(session) if runtime.exists() else None
    return None if found is None else dict(found.session._user_info)


def count_sessions() -> int:
    """Count all sessions, and end those that Streamlit does not wait for any more; 0 without a server.

    Unasked, it would look for these only when another one loses its connection, and hold all that is in their state
    until then.
    """
    if not runtime.exists():
        return 0
    manager = runtime.get_instance()._session_mgr
    for _, ended in manager._session_storage._cache.expire():
        ended.session.shutdown()
    return len(manager.list_sessions())


def write_logs_with(handler: logging.Handler) -> None:
    """Replace the handlers of Streamlit's loggers, which each write by themselves, with the text of errors."""

    def replace(log: logging.Logger) -> None:
        log.handlers = [handler]

    logger.setup_formatter = replace
    logger.update_formatter()


class WatchedFiles(MediaFileManager):
    """Streamlit's manager of files, which says what it forgets."""

    def forgotten(self, file_id: str) -> None:
        """Do nothing; called with each file, or what would make one, that is no longer there."""

    def _get_inactive_file_ids(self) -> set[str]:
        # Streamlit deletes what a press has just made as soon as two runs of anybody have ended, even before the
        # browser has fetched it: then the download is a page that says "not found".
        return {file_id for file_id in super()._get_inactive_file_ids() if not self.is_kept(file_id)}

    def is_kept(self, file_id: str) -> bool:
        """Return True if a file stays although no page shows it."""
        return False

    def _delete_file(self, file_id: str) -> None:
        super()._delete_file(file_id)
        self.forgotten(file_id)

    def _drop_deferred_id(self, file_id: str) -> None:
        super()._drop_deferred_id(file_id)
        self.forgotten(file_id)


def replace_files(make: Callable[[Any], MediaFileManager]) -> None:
    """Let another manager, made for the same storage, take the files that pages show: before the first session."""
    server = runtime.get_instance()
    server._media_file_mgr = make(server.media_file_mgr._storage)


def files() -> MediaFileManager:
    """Return the manager of the files that pages show."""
    return runtime.get_instance().media_file_mgr


def is_interrupted() -> bool:
    """Return True if another run of the page, or of a part of it, was requested since this one began."""
    context = get_script_run_ctx()
    return context is not None and context.script_requests._state is not ScriptRequestType.CONTINUE


def send_all_again() -> None:
    """Let the rest of this run send everything, also what the browser said it has."""
    if (context := get_script_run_ctx()) is not None:
        context.cached_message_hashes = frozenset()


def is_run_of_fragment() -> bool:
    """Return True if this run is of one fragment only."""
    return bool(get_script_run_ctx().fragment_ids_this_run)


def rerun_fragment_after(seconds: float) -> None:
    """Send the message of ``run_every`` once more: the browser resets its clock if the seconds differ."""
    message = ForwardMsg()
    message.auto_rerun.interval = seconds
    message.auto_rerun.fragment_id = ThreadState.get().fragment_id
    get_script_run_ctx().enqueue(message)


def is_history_navigation() -> bool:
    """Return True if the user reached this address by going back or forth in the browser."""
    context = get_script_run_ctx(suppress_warning=True)
    return context is not None and context.is_history_navigation


def sign_in_cookie(cookies: Mapping[str, str]) -> bytes | str | None:
    """Content of the cookie of a sign-in if its signature holds, for requests outside of a session."""
    return _get_signed_cookie_with_chunks(cookies, USER_COOKIE_NAME)


def read_old_cookies(old_secret: str) -> None:
    """Read also cookies that an earlier secret has signed; new ones are signed by the present secret alone.

    Parameters
    ----------
    old_secret : str
    """
    by_one = starlette_app_utils.decode_signed_value

    def by_either(secret: str, name: str, value: str | bytes, *more: Any) -> bytes | None:
        return by_one(secret, name, value, *more) or by_one(old_secret, name, value, *more)

    starlette_app_utils.decode_signed_value = by_either
    starlette_auth_routes.decode_signed_value = by_either
