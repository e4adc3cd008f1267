"""A process that keeps a child at work: begun anew where it is killed, ended with its parent; its code is handed on."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from core.errors import NotApplicableError
from core.runtime import chunks
from core.runtime.supervisor import restart_on_exit

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import ctypes, os, signal, sys, time
from core.runtime.supervisor import restart_on_exit

def wait():
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
    print(os.getpid(), flush=True)
    time.sleep(60)

def orphan():
    if not os.fork():
        time.sleep(0.2)
        os._exit(3)
    wait()

def refuse():
    sys.exit("no address")

def fail():
    raise ValueError("what it was")

def die():
    print(os.getpid(), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

def end():
    pass

if sys.argv[1] == "orphan":  # as the first process of a container, it inherits what others leave behind
    ctypes.CDLL(None).prctl(36, 1)
print("code", restart_on_exit(globals()[sys.argv[1]]), flush=True)
"""
FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks")


@pytest.fixture
def parent():
    started = []

    def start(work):
        command, pipe = [sys.executable, "-c", SCRIPT, work], subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, encoding="utf-8"))
        return started[-1]

    yield start
    for one in started:
        one.kill()
        one.communicate()


def gone(process):
    """Whether a process ends within five seconds; one that nobody waits for is there as a zombie."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        try:
            if (Path("/proc") / str(process) / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            time.sleep(0.01)
        except OSError:
            return True
    return False


ORPHAN = pytest.param("orphan", marks=pytest.mark.skipif(sys.platform != "linux", reason="asks the kernel of Linux"))


@FORKS
@pytest.mark.parametrize("work", ["wait", ORPHAN])
def test_a_killed_child_is_begun_anew_until_the_parent_is_asked_to_end(parent, work):
    one = parent(work)
    first = int(one.stdout.readline())
    os.kill(first, signal.SIGKILL)
    second = int(one.stdout.readline())
    assert second != first
    time.sleep(0.4)  # what a child left behind ends meanwhile
    assert [child.pid for child in psutil.Process(one.pid).children()] == [second]
    one.send_signal(signal.SIGTERM)
    assert one.communicate(timeout=10) == ("code 7\n", "process_killed\n")


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux does it")
def test_a_child_ends_with_its_parent(parent):
    one = parent("wait")
    child = int(one.stdout.readline())
    one.kill()
    assert gone(child)


@FORKS
@pytest.mark.parametrize(
    ("work", "code", "said"), [("end", 0, ""), ("refuse", 1, "no address\n"), ("fail", 1, "ValueError: what it was\n")]
)
def test_a_child_that_ends_by_itself_is_not_begun_anew(parent, work, code, said):
    told, errors = parent(work).communicate(timeout=10)
    assert told == f"code {code}\n"
    assert errors.endswith(said) and bool(errors) == bool(said)


@FORKS
def test_children_that_are_killed_one_after_another_are_given_up(parent):
    told = parent("die").communicate(timeout=20)[0].splitlines()
    assert told[-1] == "code -9" and len(set(told[:-1])) == 10


def test_threads_of_the_pool_end_and_begin_again():
    def work(chunk):
        return chunk + 1

    assert list(chunks.map_chunks(work, [1, 2, 3])) == [2, 3, 4]
    chunks.rest()
    assert not [one for one in threading.enumerate() if one.name.startswith("chunk")]
    assert list(chunks.map_chunks(work, [1, 2, 3])) == [2, 3, 4]


def test_a_system_that_does_not_fork_is_told(monkeypatch):
    monkeypatch.delattr(os, "fork", raising=False)
    with pytest.raises(NotApplicableError, match="streamlit run"):
        restart_on_exit(print)
