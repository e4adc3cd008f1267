"""The real child process, with densities that go wrong in it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled, PluralityError
from core.models.nuts.sampler import sample
from core.runtime import processes
from core.runtime.chunks import CancelToken
from core.runtime.processes import WorkerError
from tests.core.models.nuts.toy import Toy
from tests.speed import scaled

ROOT = processes._ROOT
pytestmark = pytest.mark.usefixtures("in_children")


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """A place of its own for the children's folders."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def toy(fault, note=""):
    return Toy(np.array([1.0, -2.0]), np.array([0.5, 2.0]), fault, note)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("overflows", "Could not start a chain: the posterior density overflows"),
        ("raises later", "Could not compute the model's density: ZeroDivisionError: float division by zero"),
        ("killed", "was stopped before it finished"),
    ],
)
def test_a_wrong_density_is_an_error_and_leaves_nothing(folders, fault, message):
    if fault == "killed" and os.name != "posix":
        pytest.skip("signals")
    with pytest.raises(PluralityError, match=message):
        sample(toy(fault), n_draws=200, n_tune=200, n_chains=1)
    assert not list(folders.iterdir())


def test_what_libraries_print_does_not_disturb(folders):
    chains = sample(toy("chatters"), n_draws=100, n_tune=100, n_chains=1)
    assert chains.draws.shape == (1, 100, 2)


def test_the_child_loads_no_streamlit(folders, tmp_path):
    note = tmp_path / "modules.txt"
    sample(toy("notes modules", str(note)), n_draws=10, n_tune=20, n_chains=1)
    modules = note.read_text().split()
    assert "nutpie" in modules
    assert not [name for name in modules if name.split(".")[0] in ("streamlit", "pages", "app")]


@pytest.mark.skipif(os.name != "posix", reason="limits of file size")
def test_a_disk_that_is_full_for_the_result_is_told(folders):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(WorkerError, match=r"Could not write the result to .*File too large\. Free up disk space"):
            sample(toy("none"), n_draws=5_000, n_tune=100, n_chains=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(folders.iterdir())


def seconds_to_cancel() -> float:
    """From the moment at which a running chain is cancelled until it has ended."""
    token, drawing, ended = CancelToken(), threading.Event(), []

    def run():
        with pytest.raises(Cancelled):
            sample(
                toy("slow"),
                n_draws=100_000,
                n_chains=2,
                token=token,
                progress=lambda _, words: words.endswith("draws") and drawing.set(),
            )
        ended.append(time.monotonic())

    thread = threading.Thread(target=run)
    thread.start()
    assert drawing.wait(60)
    asked = time.monotonic()
    token.cancel()
    thread.join(10)
    return ended[0] - asked


def test_cancelling_a_running_chain_takes_less_than_a_second(folders):
    """The quickest of three at most: other tests of a busy machine can delay one, and quicken none."""
    assert any(seconds_to_cancel() < 1.0 for _ in range(3))
    assert not list(folders.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_the_child_ends_and_tidies_up_when_its_parent_is_killed(folders, tmp_path):
    note = tmp_path / "child.txt"
    script = (
        "import tempfile, numpy as np\n"
        f"tempfile.tempdir = {str(folders)!r}\n"
        "from core.models.nuts.sampler import sample\n"
        "from tests.core.models.nuts.toy import Toy\n"
        f"sample(Toy(np.zeros(2), np.ones(2), 'notes modules', {str(note)!r}), n_draws=10_000_000, n_chains=1)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT)
    try:
        child = int(wait_until(lambda: note.exists() and note.read_text().split())[0])
        assert running(child)
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not running(child))
    wait_until(lambda: not list(folders.iterdir()))


def test_a_folder_that_is_not_the_dashboards_own_is_refused(tmp_path):
    """The worker deletes its folder when its parent is gone, so it must not be given any other."""
    done = subprocess.run(
        [sys.executable, "-m", "core.runtime._worker", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert done.returncode == 1 and "only the dashboard can start this program" in done.stderr
    assert tmp_path.exists()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_signal_to_end_stops_a_running_child(folders):
    """A system that shuts down sends SIGTERM; the child then stops the sampler by itself."""
    token, seen = CancelToken(), threading.Event()

    def stop(_, words):
        if words.endswith("draws") and not seen.is_set():
            seen.set()
            for folder in Path(folders).iterdir():
                job = json.loads((folder / "job.json").read_text())
                assert job["n_draws"] == 100_000
            for process in children():
                os.kill(process, signal.SIGTERM)

    with pytest.raises(WorkerError, match="ended with code 3"):
        sample(toy("slow"), n_draws=100_000, n_chains=1, token=token, progress=stop)


def children():
    """Process ids of this process's own workers."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,args="], capture_output=True, text=True, check=True
    )
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "core.runtime._worker" in line]


def running(process):
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] not in "ZX"


def wait_until(true, seconds=60.0):
    """What was true at last: a file that is written again and again may be empty the next moment."""
    began = time.monotonic()
    while not (found := true()):
        assert time.monotonic() - began < scaled(seconds), "it did not happen in time"
        time.sleep(0.05)
    return found
