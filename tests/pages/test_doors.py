"""Who may talk to the server, asked without one: the doors around every request."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit import config
from streamlit.web.server import server_util

from pages.shared.shell import doors

OPEN = "PLURALITY_ANYBODY_WHO_REACHES_THIS_COMPUTER_MAY_READ_AND_ERASE"


@pytest.fixture
def option():
    """Sets options of the server for one test."""
    before = {}

    def put(name, value):
        before.setdefault(name, config.get_option(name))
        config.set_option(name, value)

    yield put
    for name, value in before.items():
        config.set_option(name, value)


def scope(kind="http", path="/", server=("127.0.0.1", 8501), **headers):
    told = {"host": "localhost:8501"} | {name.replace("_", "-"): said for name, said in headers.items()}
    lines = [(name.encode(), said.encode()) for name, said in told.items() if said is not None]
    return {"type": kind, "path": path, "server": server, "headers": lines}


def sent(given):
    """What the doors send, and whether they let through."""
    messages, through = [], []

    async def inside(scope, receive, send):
        through.append(scope)

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        messages.append(message)

    with ThreadPoolExecutor(1) as apart:  # in this thread a browser's loop may be running
        apart.submit(asyncio.run, doors.Doors(inside)(given, receive, send)).result()
    return messages, bool(through)


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_own_pages_pass_and_those_of_other_sites_are_refused(kind, option, monkeypatch):
    option("server.allowedHosts", ["localhost", "127.0.0.1"])
    monkeypatch.setattr(server_util.net_util, "get_external_ip", lambda: pytest.fail("looked up its address outside"))
    for headers in ({}, {"origin": "http://localhost:8501"}, {"sec_fetch_site": "same-origin"}):
        assert sent(scope(kind, **headers)) == ([], True)
    for headers in (
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": ""},
        {"host": "evil.example"},
        {"host": None},
        {"host": "localhost@evil.example"},
        {"sec_fetch_site": "cross-site", "sec_fetch_mode": "cors"},
    ):
        messages, through = sent(scope(kind, **headers))
        assert not through, headers
        assert messages[0].get("status", messages[0].get("code")) in (403, 1008)
    doubled = scope(kind, origin="http://localhost:8501")
    doubled["headers"].append((b"origin", b"http://evil.example"))
    assert not sent(doubled)[1]


@pytest.mark.parametrize("path", ["/_stcore/metrics", "//_stcore/metrics", "/base/_stcore/agent/interact"])
def test_what_nobody_needs_is_closed(path):
    assert not sent(scope(path=path))[1]


def test_without_sign_in_other_computers_are_refused_however_the_server_was_bound(option, monkeypatch):
    option("server.allowedHosts", ["*"])
    from_elsewhere = scope(server=("10.0.0.5", 8501), host="ward.example")
    assert not sent(from_elsewhere)[1]
    monkeypatch.setenv(OPEN, "1")
    assert sent(from_elsewhere)[1]


@pytest.mark.parametrize("address", ["0.0.0.0", "", None, "10.0.0.5", "::", "ward.example"])
def test_a_server_that_would_listen_to_others_without_sign_in_does_not_start(option, monkeypatch, address):
    option("server.address", address)
    option("server.allowedHosts", ["localhost"])
    with pytest.raises(SystemExit, match="nobody would have to sign in"):
        doors.check_address()
    monkeypatch.setenv(OPEN, "1")
    with pytest.raises(SystemExit, match="would refuse everybody there"):
        doors.check_address()
    option("server.allowedHosts", ["ward.example"])
    doors.check_address()


@pytest.mark.parametrize("address", ["localhost", "127.0.0.1", "127.0.0.5", "::1"])
def test_a_server_of_this_computer_starts(option, address):
    option("server.address", address)
    doors.check_address()


def test_readiness_names_what_hinders_and_nothing_else(home, monkeypatch):
    assert doors._faults() == []
    (home / "reviews.sqlite3").write_bytes(b"no database " * 500)
    assert doors._faults() == ["reviews"]
    monkeypatch.setenv("PLURALITY_HOME", str(home / "reviews.sqlite3" / "below"))
    assert "home" in doors._faults()
