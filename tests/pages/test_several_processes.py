"""What another process of the server does to a dataset holds in this one: opened, renamed, kept, erased."""

import os
import subprocess
import sys
import threading
import time
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

from core import library
from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.runtime import locks
from core.runtime.jobs import Job, JobBoard
from core.runtime.locks import ComputeLock, begin_running, end_running
from core.runtime.work import WorkService
from pages.shared.cache import datasets as cached
from pages.shared.cache.datasets import Registry

pytestmark = pytest.mark.skipif(os.name != "posix", reason="several processes need a system with locks of files")


@pytest.fixture
def processes(monkeypatch):
    """The open datasets of two processes, and what the second one was told to let go."""
    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1")
    gone = []
    yield Registry(10**9, lambda digest: None), Registry(10**9, gone.append), gone
    end_running()


def small():
    return Dataset.from_classes("small", ["1", "2"], ["ann", "bob"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])


def test_what_one_opens_the_other_finds(processes):
    one, other, _ = processes
    assert other.get(small().digest) is None
    one.add(Reading(small(), None, None))
    assert other.get(small().digest).dataset.digest == small().digest


def test_what_one_renames_has_its_new_name_in_the_other(processes):
    _, other, gone = processes
    library.keep(small())
    other.add(Reading(small(), None, None))
    assert other.get(small().digest).dataset.name == "small"
    library.rename(small().digest, "renamed")
    assert other.get(small().digest) is None, "it is read from the disk again"
    assert library.reopen(small().digest).name == "renamed"
    assert gone == []


def test_what_one_erases_the_other_lets_go_of_without_being_asked(processes):
    one, other, gone = processes
    one.add(Reading(small(), None, None))
    assert other.get(small().digest) is not None
    library.keep(small())
    library.forget(small().digest)
    other.look_at_all()
    assert gone == [small().digest]
    assert other.get(small().digest) is None


OTHER = """
import sys
import time
import numpy as np
from core.annotations.dataset import Dataset
from core.runtime.locks import ComputeLock, begin_running
from core.runtime.result_cache import fleeting_results
begin_running()
data = Dataset.from_classes("small", ["1", "2"], ["ann", "bob"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])
lease = ComputeLock(data.content_digest, ("slow", sys.argv[1]))
print(lease.acquire(), flush=True)
lease.publish_progress(0.25, "chain 2 of 4", time.time() - 30)
for line in sys.stdin:
    if line == "end\\n":
        break
    print(lease.is_awaited(), flush=True)
assert fleeting_results().put(data, ("slow", sys.argv[1]), np.array([7.0]), "address")
lease.release()
"""


@pytest.fixture
def name():
    """Of what is computed, in this test alone: results stay in memory."""
    return uuid.uuid4().hex


@pytest.fixture
def other(processes, name):
    """Another process, which computes something until it is told to end or is killed."""
    cached.results()
    begin_running()  # as a server does, before anybody asks for anything
    with child(OTHER, name) as process:
        assert process.stdout.readline() == "True\n"
        yield process


@contextmanager
def child(script, *arguments):
    """A process, killed in the end."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], cwd=Path(__file__).resolve().parents[2], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def asked(work, name, board=None):
    """The same asked of this process, as a page does."""
    what = ("slow", name)
    door = WorkService(board or cached.jobs(), cached.results(), "address")
    elsewhere = ComputeLock(small().content_digest, what).is_elsewhere

    def storing(job):
        job.remembered = door.compute(job, small(), what, lambda: work(job), job)
        return job.remembered.result

    return (board or cached.jobs()).join(name, "Slow", storing, cost=3, elsewhere=elsewhere)


def until(claim):
    """Wait until something is so."""
    end = time.monotonic() + 10
    while not claim():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_awaited(other):
    """Whether the other process sees that somebody waits for it."""
    other.stdin.write("?\n")
    other.stdin.flush()
    return other.stdout.readline() == "True\n"


def test_what_another_process_computes_is_waited_for_and_not_computed_again(other, name):
    computed = []
    job = asked(computed.append, name)
    assert not job.wait(0.5), "it waits"
    other.stdin.write("end\n")
    other.stdin.flush()
    assert job.wait(30)
    assert (job.state, job.result, job.remembered.result, computed) == ("done", [7.0], [7.0], [])


def test_where_the_other_process_is_killed_this_one_computes(other, name):
    job = asked(lambda job: "of this one", name)
    assert not job.wait(0.3)
    other.kill()
    assert job.wait(30)
    assert (job.state, job.result) == ("done", "of this one")
    assert ComputeLock(small().content_digest, ("slow", name)).acquire(), "the lease was given back"


def test_who_waits_for_another_process_can_cancel(other, name):
    job = asked(lambda job: "of this one", name)
    assert not job.wait(0.3)
    job.cancel()
    assert job.wait(10) and job.state == "cancelled"


def test_who_waits_sees_how_far_it_is_there_and_holds_no_place_of_others_here(other, name):
    """It is seen at once, although all places here are taken, and the time that is left is that of the other's work."""
    board, may_end = JobBoard(workers=1), threading.Event()
    board.join("here", "Of this process", lambda job: may_end.wait(20), cost=3)
    behind = board.join("behind", "Behind it", lambda job: "done", cost=3)
    job = asked(lambda job: "of this one", name, board)
    until(lambda: job.progress == 0.25)
    assert (job.state, job.message, board.position(job), board.position(behind)) == ("running", "chain 2 of 4", 0, 1)
    assert 85 < job.seconds_left() < 100
    may_end.set()
    assert behind.wait(10), "who waits for another process is in nobody's way"
    other.kill()
    until(lambda: job.finished)
    assert job.result == "of this one"


def test_who_takes_over_waits_for_its_turn_and_begins_at_nothing(other, name):
    board, may_end, began = JobBoard(workers=1), threading.Event(), []
    board.join("here", "Of this process", lambda job: may_end.wait(20), cost=3)
    job = asked(lambda job: began.append((job.progress, job.message, job.seconds_left())), name, board)
    until(lambda: job.progress == 0.25)
    other.kill()
    until(lambda: board.position(job) == 1)
    assert (job.state, began, job.progress, job.message) == ("waiting", [], 0.0, "")
    may_end.set()
    assert job.wait(10) and began == [(0.0, "", None)]


def test_work_goes_on_for_another_process_that_waits_and_not_for_one_that_looks_away(other, name):
    here = {"somebody"}
    board = JobBoard(is_connected=here.__contains__, unseen=0.0)
    job = asked(lambda job: "of this one", name, board)
    board.watch(name, "somebody")
    until(lambda: is_awaited(other))
    here.clear()
    until(lambda: job.state == "paused")
    assert not is_awaited(other)
    here.add("somebody")
    until(lambda: is_awaited(other))
    job.cancel()
    assert job.wait(10)
    assert not is_awaited(other)


WAITS = """
import sys
from core.runtime.locks import ComputeLock, begin_running
begin_running()
lease = ComputeLock(*sys.argv[1:2], ("slow", sys.argv[2]))
lease.wait()
print(lease.read_progress(), flush=True)
for line in sys.stdin:
    print(lease.read_progress(), flush=True)
"""


def test_what_another_process_waits_for_goes_on_when_everybody_here_has_gone_or_cancelled(processes, name):
    """And it is told how far it is."""
    board, may_end = JobBoard(is_connected=lambda session: False, unseen=0.0), threading.Event()

    def work(job):
        job.report(0.5, "half")
        while not may_end.wait(0.01):
            job.token.check()
        return "done"

    cached.results()
    begin_running()
    with child(WAITS, small().content_digest, name) as waiting:
        assert waiting.stdout.readline() == "None\n", "it waits first, or a beat would hold the job"
        job = asked(work, name, board)
        until(lambda: job.progress == 0.5)
        board.beat()
        board.cancel(name, "")
        board.leave(name, "")
        board.beat()
        waiting.stdin.write("?\n")
        waiting.stdin.flush()
        assert waiting.stdout.readline().startswith("(0.5, 'half', ")
        assert job.state == "running" and not job.token.cancelled
    until(lambda: job.state == "paused" or board.beat())
    board.remove(name)
    assert job.wait(10) and job.state == "cancelled"


def test_a_job_that_stands_still_holds_nobody_up(processes, name):
    """Nobody looks at it: meanwhile another process may compute the same."""
    of, lease, seen = (small(), ("slow", name)), ComputeLock(small().content_digest, ("slow", name)), []
    job = Job("Slow")

    def parked():
        seen.append(lease.acquire())
        lease.release()

    job.token.wait_while_paused = parked
    with WorkService(cached.jobs(), cached.results(), "address")._alone(job, *of, job) as known:
        assert known is None and not lease.acquire()
        job.token.wait_while_paused()
        assert seen == [True] and not lease.acquire(), "taken again as soon as it goes on"
    assert lease.acquire() and job.token.wait_while_paused is parked
    lease.release()


def test_who_locks_a_file_that_was_just_given_back_has_nothing(processes, monkeypatch):
    """Its owner removes it while another waits for its lock, and a third makes it anew."""
    first, second, third = (ComputeLock("content", ("asked",)) for _ in range(3))
    assert first.acquire()
    lock = locks.fcntl.flock

    def late(handle, how):
        monkeypatch.setattr(locks.fcntl, "flock", lock)
        first.release()
        assert third.acquire()
        lock(handle, how)

    monkeypatch.setattr(locks.fcntl, "flock", late)
    assert not second.acquire()
    third.release()
    assert second.acquire()
    second.release()
