"""Who may talk to the server, asked without one: the doors around every request."""

import asyncio
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit import config
from streamlit.web.server import server_util

from core.people import Person
from pages.shared.cache import datasets
from pages.shared.shell import doors

SHARED = Path(doors.__file__).parents[1]
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


@pytest.mark.parametrize(
    ("signed_in", "cookie", "passes"),
    [(False, None, True), (True, None, False), (True, "forged", False), (True, "of a session that is over", True)],
)
def test_a_stranger_gets_no_session_and_whose_session_is_over_reads_why(monkeypatch, signed_in, cookie, passes):
    monkeypatch.setattr(doors.sign_in, "is_on", lambda: signed_in)
    monkeypatch.setattr(doors, "sign_in_cookie", lambda cookies: b"{}" if "over" in cookies.get("c", "") else None)
    asked = scope("websocket", path="/_stcore/stream", cookie=cookie and f"c={cookie}")
    assert sent(asked)[1] is passes
    assert sent(scope(path="/_stcore/health", cookie=cookie and f"c={cookie}"))[1]


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
    with pytest.raises(SystemExit, match="without sign-in"):
        doors.check_address()
    monkeypatch.setenv(OPEN, "1")
    with pytest.raises(SystemExit, match="but refuse every connection"):
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


def test_one_of_several_processes_lets_people_wait_until_it_has_loaded():
    doors._loading.set()
    try:
        with ThreadPoolExecutor(2) as apart:
            waiting = [apart.submit(sent, scope(kind)) for kind in ("http", "websocket")]
            for path in ("/healthz", "/readyz", "/metrics"):  # the proxy keeps it in service
                assert sent(scope(path=path)) == ([], True)
            time.sleep(0.1)
            assert not any(one.done() for one in waiting)
            doors._loading.clear()
            assert [one.result(10) for one in waiting] == [([], True)] * 2
    finally:
        doors._loading.clear()


@pytest.mark.parametrize("several", [True, False])
def test_a_process_of_several_loads_all_before_the_first_page_and_opens_also_where_that_fails(several, monkeypatch):
    begun, asked = [], threading.Event()

    def load():
        begun.append(doors._loading.is_set())
        asked.wait(10)
        raise OSError

    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1" if several else "")
    monkeypatch.setattr(datasets, "load_early", load)
    monkeypatch.setattr(threading, "excepthook", lambda told: None)
    for owner, name in (
        (doors, "begin_running"),
        (doors, "_end"),
        (doors.offered, "begin"),
        (doors.operations, "begin"),
    ):
        monkeypatch.setattr(owner, name, lambda: None)

    async def lives():
        async with doors.lifespan(None):
            held = doors._loading.is_set()
            asked.set()
            async with asyncio.timeout(20):  # a limit outside would wait for this thread all the same
                while doors._loading.is_set():
                    await asyncio.sleep(0.01)
            return held

    with ThreadPoolExecutor(1) as apart:
        assert apart.submit(asyncio.run, lives()).result(30) is several
    assert begun == [True] * several
    files = list(SHARED.rglob("*.py"))
    names = {".".join(file.relative_to(SHARED.parents[1]).with_suffix("").parts) for file in files}
    assert not several or {name.removesuffix(".__init__") for name in names} <= sys.modules.keys()
    assert len(files) > 100


def test_what_is_loaded_before_the_first_page_is_not_loaded_after_it(monkeypatch):
    for thread in threading.enumerate():
        if thread.name == "warm-up":  # of a page of another test, a second ago
            thread.join()
    kernels = []
    monkeypatch.setattr(datasets, "_loaded", threading.Event())
    monkeypatch.setattr(datasets, "_load_kernels", lambda: kernels.append(1))
    monkeypatch.setattr(datasets, "_WARM_UP_DELAY", 0.0)
    monkeypatch.setattr(datasets, "compiled", lambda: False)  # they would have to be compiled first
    datasets.load_early()
    assert not kernels
    assert not datasets._loaded.is_set()
    monkeypatch.setattr(datasets, "compiled", lambda: True)
    datasets.load_early()
    assert kernels == [1]
    datasets.preparation.clear()
    datasets.preparation().wait()
    time.sleep(0.1)
    assert kernels == [1]


@pytest.mark.parametrize(
    ("role", "method", "headers", "passes"),
    [
        ("reviewer", "PUT", {"content_length": str(20 * 2**20)}, True),
        ("reviewer", "PUT", {"content_length": str(21 * 2**20)}, False),
        ("reviewer", "POST", {"content_length": str(21 * 2**20)}, False),
        ("reviewer", "DELETE", {}, True),
        ("reviewer", "PUT", {}, False),
        ("reviewer", "PUT", {"content_length": "1", "transfer_encoding": "chunked"}, False),
        ("manager", "PUT", {"content_length": str(21 * 2**20)}, True),
        ("manager", "PUT", {"content_length": str(1025 * 2**20)}, False),
    ],
)
def test_upload_is_refused_before_it_is_read_when_it_is_above_the_limit_of_the_role(
    monkeypatch, role, method, headers, passes
):
    monkeypatch.setattr(doors.sign_in, "is_on", lambda: True)
    monkeypatch.setattr(doors, "_person", lambda scope: Person("ann", role, 0.0))
    asked = scope(path="/_stcore/upload_file/session/file", **headers) | {"method": method}
    assert sent(asked)[1] is passes


def test_upload_is_refused_into_the_page_of_another_person(monkeypatch):
    monkeypatch.setattr(doors.sign_in, "is_on", lambda: True)
    monkeypatch.setattr(doors, "_person", lambda scope: Person("ann", "manager", 0.0))
    monkeypatch.setattr(doors, "sign_in_cookie", lambda cookies: b'{"iss": "i", "sub": "ann"}')
    pages = {"hers": {"iss": "i", "sub": "ann", "exp": 1}, "his": {"iss": "i", "sub": "bob"}, "a stranger's": {}}
    monkeypatch.setattr(doors, "claims_of_session", pages.get)
    for method in ("PUT", "DELETE"):
        passes = {
            page: sent(scope(path=f"/_stcore/upload_file/{page}/file", content_length="9") | {"method": method})[1]
            for page in (*pages, "gone")
        }
        assert passes == {"hers": True, "his": False, "a stranger's": False, "gone": True}


@pytest.mark.parametrize(("role", "passes"), [("reviewer", [True, True, False]), ("manager", [True, True, True])])
def test_upload_is_refused_when_its_person_has_uploaded_the_limit_of_a_day(monkeypatch, role, passes):
    monkeypatch.setenv("PLURALITY_UPLOADS_PER_DAY", "2")
    monkeypatch.setattr(doors.sign_in, "is_on", lambda: True)
    monkeypatch.setattr(doors, "_person", lambda scope: Person("ann", role, 0.0))
    asked = scope(path="//_stcore/upload_file/session/file", content_length=str(20 * 2**20)) | {"method": "PUT"}
    answers = [sent(asked) for _ in passes]
    assert [through for _, through in answers] == passes
    if role == "reviewer":
        assert b"your upload limit of 40 MB per 24 hours" in answers[-1][0][1]["body"]
        assert sent(asked | {"method": "DELETE"})[1], "what was uploaded can be removed"
        monkeypatch.setattr(doors, "_person", lambda scope: Person("bob", role, 0.0))
        assert sent(asked)[1], "another person has a limit of their own"


@pytest.mark.parametrize(
    ("signed_in", "person", "path", "hidden"),
    [
        (False, None, "/media/of-ann.csv", False),
        (True, None, "/media/of-ann.csv", True),
        (True, "ann", "/media/of-ann.csv", False),
        (True, "ann", "media/of-ann.csv", False),
        (True, "bob", "/media/of-ann.csv", True),
        (True, None, "/static/media/font.woff2", False),
        (True, None, "/healthz", False),
    ],
)
def test_a_file_is_hidden_from_all_but_those_on_whose_pages_it_is(monkeypatch, signed_in, person, path, hidden):
    monkeypatch.setattr(doors.sign_in, "is_on", lambda: signed_in)
    monkeypatch.setattr(doors, "_person", lambda scope: person and SimpleNamespace(name=person))
    monkeypatch.setattr(doors.offered, "is_for", lambda name, path: f"of-{name}" in path)
    assert doors.is_hidden(scope(path=path)) == hidden
