"""Access to the server before requests reach Streamlit: ASGI, around every request and websocket.

Streamlit compares the host of a websocket only, and looks up its own address outside when a page of another origin
knocks.
"""

import hmac
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import ExitStack, asynccontextmanager, suppress
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.to_thread
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from streamlit import config

from core import logs
from core.errors import PluralityError, install_command
from core.people import Person, SignedOutError, person_of, sign_out
from core.review.store import open_store, there_is_a_store
from core.runtime.locks import begin_running, hold_home
from core.settings import MEGABYTE, close_home, current_settings, private_files
from pages.shared.cache import offered, operations, sign_in
from pages.shared.cache.streamlit_private import (
    claims_of_session,
    get_secrets_auth_section,
    is_authlib_installed,
    is_host_allowed,
    read_old_cookies,
    sign_in_cookie,
)
from pages.shared.shell import rest, stranger

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_CLOSED = ("/_stcore/metrics", "/_stcore/agent")  # what a proxy may show its administrators, and what nobody asked for
_FILES = ("/media/",)
_UPLOADS = "/_stcore/upload_file/"
_SENDS = ("PUT", "POST")
_OF_PEOPLE = (*_FILES, _UPLOADS)
_SIGN_OUT = "/auth/logout"
_OF_THE_PAGE = "/static/"  # its fonts lie in a folder called media
_HEADERS = (b"host", b"origin", b"sec-fetch-site", b"sec-fetch-mode", b"sec-fetch-dest")
_OF_MACHINES = ("/healthz", "/readyz", "/metrics")
_AROUND_A_FILE = 64 * 1024  # bytes of its name and of the borders in the request
_LOOK, _HOLD = 0.02, 1.0  # seconds
_loading = threading.Event()
_private = ExitStack()
_OPEN_SETTING = "PLURALITY_ANYBODY_WHO_REACHES_THIS_COMPUTER_MAY_READ_AND_ERASE"


class Doors:
    """Middleware that refuses other host names, pages of other sites, and, without sign-in, other computers."""

    def __init__(self, app: Callable[..., Awaitable[None]]):
        self._app = app

    async def __call__(self, scope: dict[str, Any], receive: Callable, send: Callable) -> None:
        """One request or websocket."""
        if scope["type"] in ("http", "websocket") and (why := refusal(scope) or await _above_the_day(scope)):
            operations.refused(scope["type"])
            await _refuse(scope, receive, send, why)
        elif scope["type"] == "http" and is_hidden(scope):
            await Response("File not found", HTTPStatus.NOT_FOUND)(scope, receive, send)
        elif scope["type"] == "http" and (page := stranger.answer(scope)) is not None:
            await page(scope, receive, send)
        else:
            await _loaded(scope)
            if scope["type"] == "http" and scope["path"].endswith(_SIGN_OUT):
                _sign_out(scope)
            await self._app(scope, receive, send)


async def _loaded(scope: dict[str, Any]) -> None:
    """One of several processes lets people wait until all that pages need is loaded.

    A browser that is refused asks again after four seconds, and fifty that begin at once would load it against each
    other.
    """
    if scope["type"] in ("http", "websocket") and scope["path"] not in _OF_MACHINES:
        while _loading.is_set():
            await anyio.sleep(_LOOK)


def refusal(scope: dict[str, Any]) -> str:
    """Return why a request is refused; empty if it is not.

    Parameters
    ----------
    scope : dict
        ASGI scope of the request.
    """
    headers: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        headers.setdefault(name.lower(), []).append(value)
    host, origin, site, mode, into = (_one(headers.get(name)) for name in _HEADERS)
    path = "/" + scope["path"].lstrip("/")
    if any(part in path for part in _CLOSED):
        return "This address is not available."
    if not is_here(_address(scope)) and not (sign_in.is_on() or current_settings().open_to_anybody):
        return "Without sign-in, this server accepts connections only from its own computer."
    if host is None or not is_host_allowed(host):
        return "This host name is not allowed. The administrator can add it to server.allowedHosts."
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        return "Could not connect: this server accepts no connections from pages of other sites."
    if site == "cross-site" and (mode != "navigate" or into not in (None, "document")):
        return "Could not load the address: this server sends nothing to pages of other sites."
    if sign_in.is_on() and ((_is_among(path, _OF_PEOPLE) and _person(scope) is None) or _is_strange_session(scope)):
        return "Sign in first."
    return _not_theirs(scope, path) or _too_large(scope, headers) if _UPLOADS in path else ""


def _not_theirs(scope: dict[str, Any], path: str) -> str:
    """Say that a file is for the page of somebody else, whose address the person of the request knows."""
    claims = claims_of_session(path.partition(_UPLOADS)[2].partition("/")[0]) if sign_in.is_on() else None
    if claims is None:  # no such page, which Streamlit says
        return ""
    mine = json.loads(sign_in_cookie(HTTPConnection(scope).cookies) or b"{}")
    same = all(mine.get(name) == claims.get(name) for name in ("iss", "sub"))
    return "" if same else "Could not upload the file: the page belongs to another user."


def _is_strange_session(scope: dict[str, Any]) -> bool:
    """Return True if somebody who never signed in asks for a session; `stranger` has the page for them."""
    return scope["type"] == "websocket" and sign_in_cookie(HTTPConnection(scope).cookies) is None


def _too_large(scope: dict[str, Any], headers: dict[bytes, list[bytes]]) -> str:
    """Say why a file is refused before any of it is read; one without a stated length could have any."""
    if scope["type"] != "http" or scope.get("method") not in _SENDS:
        return ""
    length = _one(headers.get(b"content-length"))
    if length is None or not length.isdecimal() or b"transfer-encoding" in headers:
        return "Could not upload the file: the request does not state its length."
    limit = sign_in.upload_limit_mb(_person(scope))
    if int(length) > limit * MEGABYTE + _AROUND_A_FILE:
        return f"Could not upload the file: it is larger than {limit:,} MB."
    return ""


async def _above_the_day(scope: dict[str, Any]) -> str:
    """Say why a file that is small enough is refused: its person has uploaded too much; otherwise record it."""
    if scope["type"] != "http" or scope.get("method") not in _SENDS or _UPLOADS not in "/" + scope["path"].lstrip("/"):
        return ""
    person, length = _person(scope), int(HTTPConnection(scope).headers["content-length"])
    return await anyio.to_thread.run_sync(sign_in.refused_upload, person, length) if person is not None else ""


def is_hidden(scope: dict[str, Any]) -> bool:
    """Return True if a request is for a file that no page has offered to the user; the answer is then "not found".

    Parameters
    ----------
    scope : dict
        ASGI scope of a request that `refusal` accepts.
    """
    path = "/" + scope["path"].lstrip("/")
    if not sign_in.is_on() or not _is_among(path, _FILES):
        return False
    person = _person(scope)
    return person is None or not offered.is_for(person.name, path)


def _is_among(path: str, of: Iterable[str]) -> bool:
    return any(part in path for part in of) and not path.startswith(_OF_THE_PAGE)


def _person(scope: dict[str, Any]) -> Person | None:
    """Return the user whose valid sign-in cookie a request carries; files are requested outside of a session."""
    cookie = sign_in_cookie(HTTPConnection(scope).cookies)
    try:
        return person_of(json.loads(cookie or b"{}"))
    except (SignedOutError, ValueError):
        return None


def _sign_out(scope: dict[str, Any]) -> None:
    """End a sign-in whose browser asks for the sign-out, so that a copy of its cookie is of no use."""
    if _person(scope) is not None:
        sign_out(json.loads(sign_in_cookie(HTTPConnection(scope).cookies) or b"{}"))


def check_address() -> None:
    """End the start of a server that would listen to other computers although nobody signs in.

    Raises
    ------
    SystemExit
        With the reason.
    """
    if sign_in.is_on() and not (get_secrets_auth_section() and is_authlib_installed()):
        raise SystemExit(
            "Could not start Plurality: PLURALITY_SIGN_IN requires sign-in, which is not set up. Set up a provider in "
            f"[auth] of .streamlit/secrets.toml, and install the package Authlib ({install_command('team')})."
        )
    address = config.get_option("server.address")
    if is_here(address):
        return
    where = address or "every address of this computer"
    if not (sign_in.is_on() or current_settings().open_to_anybody):
        raise SystemExit(
            f"Could not start Plurality: it would accept connections at {where} without sign-in. Set up sign-in "
            "([auth] in .streamlit/secrets.toml) or leave server.address at localhost. To let everyone who can connect "
            f"read and delete everything, set {_OPEN_SETTING}=1."
        )
    if all(is_here(name) for name in config.get_option("server.allowedHosts")):
        raise SystemExit(
            f"Could not start Plurality: it would listen on {where} but refuse every connection, because "
            "server.allowedHosts contains only local names. Set STREAMLIT_SERVER_ALLOWED_HOSTS to the host "
            "names that people use to open Plurality."
        )


def is_here(address: str | None) -> bool:
    """Return True if an address or name is this computer's own, which no other computer can reach."""
    return bool(address) and (address in _LOOPBACK or str(address).startswith("127."))


def routes() -> list[Route]:
    """Return the routes of health checks, for a proxy or a supervisor and without names or counts, and of numbers.

    Numbers are for signed-in administrators, for clients with the token, and, without sign-in, for this computer.
    """
    answers = (_lives, _ready, _metrics)
    return [*(Route(path, answer) for path, answer in zip(_OF_MACHINES, answers, strict=True)), *stranger.routes()]


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[None]:
    """Run the application, and clean up when the server ends (SIGTERM), except for what was kept.

    The server is ended by the signal itself once this is over, so that nothing else of Python's is run at its exit.
    """
    _private.enter_context(private_files())  # until the process ends
    _close_home()
    begin_running()
    offered.begin()
    operations.begin()
    operations.started()
    if old_secret := current_settings().old_cookie_secret:
        read_old_cookies(old_secret)
    if current_settings().several_processes:
        _loading.set()
        threading.Thread(target=_load, name="loading", daemon=True).start()
    async with anyio.create_task_group() as beside:
        beside.start_soon(rest.give_back_when_alone)
        beside.start_soon(_hold_home)
        yield None
        beside.cancel_scope.cancel()
    await anyio.to_thread.run_sync(_end)


async def _hold_home() -> None:
    """Say for as long as the server runs that it uses its home folder, so that no backup is put back under it."""
    while True:
        with suppress(OSError):  # `/readyz` says that it cannot be written
            await anyio.to_thread.run_sync(hold_home)
        await anyio.sleep(_HOLD)


def _close_home() -> None:
    """Close the home folder to other users of the computer; of what an earlier version left open, say how much."""
    n_closed, n_open = close_home()
    if n_closed:
        logs.log_warning("home_closed_to_other_users", files=n_closed)
    if n_open:
        logs.log_warning("home_open_to_other_users", files=n_open)


def _load() -> None:
    """All that pages need: many sessions at once would load it against each other."""
    try:
        from pages.shared.shell.loading import load  # seconds, in which the server answers already

        load()
    finally:  # what cannot be loaded says so where it is needed
        _loading.clear()


def _end() -> None:
    from pages.shared.cache.datasets import end  # with all that pages need, which the first session has loaded by now

    end()


def middleware() -> list[Middleware]:
    """Return the middleware around the application."""
    return [Middleware(Doors)]


async def _lives(request: Request) -> JSONResponse:
    return JSONResponse({"alive": True})


async def _ready(request: Request) -> JSONResponse:
    faults = await anyio.to_thread.run_sync(_faults)
    status = HTTPStatus.SERVICE_UNAVAILABLE if faults else HTTPStatus.OK
    return JSONResponse({"ready": not faults, "faults": faults}, status_code=status)


async def _metrics(request: Request) -> Response:
    if not may_read_numbers(request.scope):
        return JSONResponse({"refused": "Only administrators can see these numbers."}, status_code=HTTPStatus.FORBIDDEN)
    content = await anyio.to_thread.run_sync(_numbers)
    return Response(content, media_type="text/plain; version=0.0.4; charset=utf-8")


def _numbers() -> bytes:
    from pages.shared.cache.datasets import jobs, results  # as at the end

    return operations.metrics([job.state for job in jobs().unfinished()], results().bytes)


def may_read_numbers(scope: dict[str, Any]) -> bool:
    """Return True if a request may read the server's numbers.

    Parameters
    ----------
    scope : dict
        ASGI scope of the request.
    """
    settings = current_settings()
    said = HTTPConnection(scope).headers.get("authorization", "")
    if settings.metrics_token and hmac.compare_digest(said.encode(), f"Bearer {settings.metrics_token}".encode()):
        return True
    if not sign_in.is_on():
        return is_here(_address(scope)) and not settings.open_to_anybody
    person = _person(scope)
    return person is not None and person.may_act_as("administrator")


def _faults() -> list[str]:
    """Return the kinds of faults that prevent work, without anything that a stranger should not read."""
    found = []
    home = current_settings().home
    try:
        home.mkdir(parents=True, exist_ok=True)
        probe = home / ".ready"
        probe.touch()
        probe.unlink(missing_ok=True)
    except OSError:
        found.append("home")
    try:
        if there_is_a_store():
            open_store().look()
    except PluralityError:
        found.append("reviews")
    return found


def _one(values: Iterable[bytes] | None) -> str | None:
    """Return the header's value; for a duplicate header, a value that nothing allows."""
    found = [value.decode("latin-1") for value in values or ()]
    return None if not found else found[0] if len(found) == 1 else "twice"


def _address(scope: dict[str, Any]) -> str:
    """Where the connection arrived; a socket in the file system or a test has no address and is here."""
    server = scope.get("server")
    return str(server[0]) if server and server[1] is not None else "localhost"


async def _refuse(scope: dict[str, Any], receive: Callable, send: Callable, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": ""})
        return
    response = JSONResponse({"refused": why}, status_code=HTTPStatus.FORBIDDEN)
    await response(scope, receive, send)
