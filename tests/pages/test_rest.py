"""A server that nobody uses gives back memory, and only then."""

import gc
import sys
import time
import weakref
from importlib import import_module
from threading import Thread
from types import SimpleNamespace

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from streamlit.runtime.memory_session_storage import MemorySessionStorage
from streamlit.runtime.session_manager import SessionInfo

from core.runtime.jobs import Job
from pages.shared.cache import datasets as cached
from pages.shared.cache import streamlit_private
from pages.shared.shell import doors, rest


@pytest.fixture
def server(monkeypatch):
    """What the server says of its sessions and jobs, by which look it is; and the looks at which it gave back."""
    told = SimpleNamespace(sessions=[], states=[], fails=[], gave=[], look=-1)
    told._session_storage = MemorySessionStorage(ttl_seconds=0)
    monkeypatch.setattr(rest, "_LOOK", 0.0)
    monkeypatch.setattr(streamlit_private.runtime, "exists", lambda: True)
    monkeypatch.setattr(streamlit_private.runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=told))

    def list_sessions():
        told.look += 1
        return [None] * told.sessions[told.look] if told.look < len(told.sessions) else []

    def unfinished():
        jobs = [Job("work") for _ in range(told.look < len(told.states) and told.states[told.look] is not None)]
        for job in jobs:
            job.state = told.states[told.look]
        return jobs

    def give_back():
        told.gave.append(told.look)
        if told.look in told.fails:
            raise OSError

    told.list_sessions = list_sessions
    monkeypatch.setattr(cached, "jobs", lambda: SimpleNamespace(unfinished=unfinished))
    monkeypatch.setattr(cached, "give_back_memory", give_back)
    return told


def looked(server, n: int) -> list[int]:
    """At which of the first looks it gave back."""

    async def main():
        async with anyio.create_task_group() as beside:
            beside.start_soon(rest.give_back_when_alone)
            while server.look < n:
                await anyio.sleep(0.001)
            beside.cancel_scope.cancel()

    with start_blocking_portal() as portal:  # in a thread: another test may have left a loop in this one
        portal.call(main)
    return server.gave


def test_it_gives_back_once_each_time_that_the_last_session_has_ended(server):
    server.sessions = [0, 0, 2, 1, 0, 0, 0, 1, 0]
    assert looked(server, 20) == [4, 8]


def test_a_session_that_is_not_waited_for_any_more_ends(server):
    ended = []
    for name in ("one", "two"):
        session = SimpleNamespace(id=name, shutdown=lambda name=name: ended.append(name))
        server._session_storage.save(SessionInfo(None, session))
        looked(server, server.look + 2)
    assert ended == ["one", "two"]


def test_nothing_is_given_back_under_what_is_at_work_or_waits_for_its_turn(server):
    server.sessions = [1]
    server.states = [None, "running", "waiting", "paused", "paused"]
    assert looked(server, 20) == [3, 5], "and once more when what was held has been given up"


def test_a_look_that_fails_ends_neither_the_looks_nor_the_server(server, monkeypatch):
    server.sessions, server.fails = [1, 0, 1, 0, 1, 0], [1, 3]
    logged = []
    monkeypatch.setattr(rest.logs, "log_error", lambda event, error: logged.append((event, type(error))))
    assert looked(server, 20) == [1, 3, 5]
    assert logged == [("give_back_failed", OSError)], "said once"


def test_a_server_begins_to_look_and_ends_it_with_itself(monkeypatch):
    told = []

    async def look():
        told.append("began")
        try:
            await anyio.sleep_forever()
        finally:
            told.append("ended")

    async def main():
        async with doors.lifespan(None):
            await anyio.wait_all_tasks_blocked()
            told.append("serves")
        told.append("over")

    monkeypatch.setattr(rest, "give_back_when_alone", look)
    monkeypatch.setattr(doors, "_end", lambda: told.append("tidies"))
    for place, name in (
        *((doors, "begin_running"), (doors.offered, "begin")),
        *((doors.operations, "begin"), (doors.operations, "started")),
    ):
        monkeypatch.setattr(place, name, lambda: None)
    with start_blocking_portal() as portal:
        portal.call(main)
    assert told == ["began", "serves", "ended", "tidies", "over"]


def test_what_is_on_disk_leaves_memory_and_reads_again(monkeypatch):
    given = []
    monkeypatch.setattr(cached, "trim", lambda: given.append(1))
    dataset = cached.sample("anaesthesia").dataset
    asked = ("rest", 1)
    from core.runtime.result_cache import STORED_FROM

    results = cached.results()
    results.put(dataset, asked, [1, 2], "anaesthesia", STORED_FROM)
    before = results.bytes
    board = cached.jobs()
    reads = board.join(("open", "of a file"), "Reading the file", lambda job: b"content")
    reports = board.join(("report", "of data"), "Report", lambda job: b"content")
    assert reads.wait(20) and reports.wait(20)
    cached.give_back_memory()
    assert given == [1]
    assert board.get(reads.key) is None and board.get(reports.key) is reports, "nobody else can ask for the former"
    assert results.bytes < before
    assert results.look(dataset, asked, "anaesthesia").result == [1, 2]


def test_a_session_that_was_there_when_a_page_was_complete_is_freed_once_nobody_is_there(monkeypatch):
    """A page is taken out of the search for garbage once, and with it whatever is alive by then."""

    class Session:
        pass

    monkeypatch.setattr(cached, "_serves", lambda: True)
    cached._complete_pages.clear()
    try:
        session = Session()
        session.itself = session
        ended = weakref.ref(session)
        cached.page_is_complete("cases")
        kept = gc.get_freeze_count()
        del session
        later = [[] for _ in range(1000)]
        cached.page_is_complete("cases")
        gc.collect()
        assert kept > 10_000 and gc.get_freeze_count() <= kept and len(later) == 1000
        assert ended() is not None
        cached.give_back_memory()
        assert ended() is None and not cached._complete_pages
    finally:
        cached._complete_pages.clear()
        gc.unfreeze()


def test_a_look_while_the_first_session_loads_the_pages_waits_for_it(server, monkeypatch, tmp_path):
    (tmp_path / "loaded_slowly.py").write_text(
        "import threading, time\n"
        "time.sleep(0.3)\n"  # the loop looks meanwhile
        "from types import SimpleNamespace\n"
        "def jobs(): return SimpleNamespace(unfinished=list)\n"
        "def give_back_memory(): gave.append(True)\n"
        "gave = []\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(rest, "_CACHED", "loaded_slowly")
    failed = []
    monkeypatch.setattr(rest.logs, "log_error", lambda *said: failed.append(said))
    server.sessions = [1]
    try:
        session = Thread(target=import_module, args=["loaded_slowly"])
        session.start()
        while "loaded_slowly" not in sys.modules:
            time.sleep(0.001)
        looked(server, 3)
        session.join()
        assert not failed and sys.modules["loaded_slowly"].gave == [True]
    finally:
        sys.modules.pop("loaded_slowly", None)
