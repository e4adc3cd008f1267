"""What another process of the server does to a dataset holds in this one: opened, renamed, kept, erased."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from core import library
from core.annotations.dataset import Dataset
from core.ingest.read_files import Reading
from core.jobs import Job
from core.results import disk
from core.results.disk import Lease, begin_running, end_running
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
import numpy as np
from core.annotations.dataset import Dataset
from core.results import disk
from core.results.disk import Lease, begin_running, fleeting_results
begin_running()
data = Dataset.from_classes("small", ["1", "2"], ["ann", "bob"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])
lease = Lease(data.content_digest, ("slow", sys.argv[1]))
print(lease.take(), flush=True)
sys.stdin.readline()
assert fleeting_results().put(data, ("slow", sys.argv[1]), np.array([7.0]), "address")
lease.give_back()
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
    child = subprocess.Popen(
        [sys.executable, "-c", OTHER, name], cwd=Path(__file__).resolve().parents[2], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout.readline() == "True\n"
    yield child
    child.kill()
    child.communicate()


def asked(work, name):
    """The same asked of this process, as a page does."""
    return cached.jobs().submit("Slow", cached._storing(work, small(), ("slow", name), "address"))


def test_what_another_process_computes_is_waited_for_and_not_computed_again(other, name):
    computed = []
    job = asked(computed.append, name)
    assert not job.wait(0.5), "it waits"
    other.stdin.write("\n")
    other.stdin.flush()
    assert job.wait(30)
    assert (job.state, job.result, job.remembered.result, computed) == ("done", [7.0], [7.0], [])


def test_where_the_other_process_is_killed_this_one_computes(other, name):
    job = asked(lambda job: "of this one", name)
    assert not job.wait(0.3)
    other.kill()
    assert job.wait(30)
    assert (job.state, job.result) == ("done", "of this one")
    assert Lease(small().content_digest, ("slow", name)).take(), "the lease was given back"


def test_who_waits_for_another_process_can_cancel(other, name):
    job = asked(lambda job: "of this one", name)
    assert not job.wait(0.3)
    job.cancel()
    assert job.wait(10) and job.state == "cancelled"


def test_a_job_that_stands_still_holds_nobody_up(processes, name):
    """Nobody looks at it: meanwhile another process may compute the same."""
    of, lease, seen = (small(), ("slow", name), "address"), Lease(small().content_digest, ("slow", name)), []
    job = Job("Slow")

    def parked():
        seen.append(lease.take())
        lease.give_back()

    job.token.park = parked
    with cached._lease(job, *of) as known:
        assert known is None and not lease.take()
        job.token.park()
        assert seen == [True] and not lease.take(), "taken again as soon as it goes on"
    assert lease.take() and job.token.park is parked
    lease.give_back()


def test_who_locks_a_file_that_was_just_given_back_has_nothing(processes, monkeypatch):
    """Its owner removes it while another waits for its lock, and a third makes it anew."""
    first, second, third = (Lease("content", ("asked",)) for _ in range(3))
    assert first.take()
    lock = disk.fcntl.flock

    def late(handle, how):
        monkeypatch.setattr(disk.fcntl, "flock", lock)
        first.give_back()
        assert third.take()
        lock(handle, how)

    monkeypatch.setattr(disk.fcntl, "flock", late)
    assert not second.take()
    third.give_back()
    assert second.take()
    second.give_back()
