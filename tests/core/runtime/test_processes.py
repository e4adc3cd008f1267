"""Children of another kind than the real one, each with one way to go wrong."""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from core.errors import Cancelled
from core.runtime import processes
from core.runtime.chunks import CancelToken
from core.runtime.jobs import JobBoard
from core.runtime.processes import Work, WorkerError, run_workers
from tests.speed import scaled

ROOT = Path(__file__).resolve().parents[3]
POSIX = os.name == "posix"
GOOD = """
import sys, json, numpy as np
folder = sys.argv[1]
job = json.load(open(folder + "/job.json"))
arrays = np.load(folder + "/arrays.npz")
print(json.dumps({"done": 3}), flush=True)
np.savez(folder + "/result.npz", twice=2 * arrays["x"], seen=np.array(job["seen"]))
print(json.dumps({"done": 5, "finished": True}), flush=True)
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    """Let children be a given script, and their folders lie where nothing else does."""
    folders = tmp_path / "temporary"
    folders.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folders))

    def use(script):
        path = tmp_path / "child.py"
        path.write_text(script)
        monkeypatch.setattr(processes, "COMMAND", (sys.executable, str(path)))
        return folders

    return use


def work(**settings):
    return Work({"seen": 7, **settings}, {"x": np.arange(3.0)}, total=5)


def children_alive():
    """Processes, zombies included, that this one has started and not waited for."""
    listed = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "pid=,comm="], capture_output=True, text=True, check=False
    )
    return [line for line in listed.stdout.splitlines() if not line.strip().endswith("ps")]


def fails(message):
    with pytest.raises(WorkerError, match=message) as caught:
        run_workers([work()])
    return caught


def test_results_of_all_children_come_back_in_order(child):
    folders = child(GOOD)
    told = []
    found = run_workers([work(), work(seen=8)], progress=lambda done, total: told.append((done, total)))
    assert [int(part["seen"]) for part in found] == [7, 8]
    np.testing.assert_array_equal(found[1]["twice"], [0, 2, 4])
    assert told[-1] == (10, 10) and told == sorted(told)
    assert not list(folders.iterdir())


@pytest.mark.skipif(not POSIX, reason="signals")
@pytest.mark.parametrize(
    ("number", "message"), [(9, "was stopped before it finished.*memory"), (11, r"crashed \(signal 11\)")]
)
def test_a_child_that_a_signal_ends_is_told_apart_and_leaves_nothing(child, number, message):
    before = children_alive()
    folders = child(f"import os; os.kill(os.getpid(), {number})")
    fails(message)
    assert not list(folders.iterdir())
    assert children_alive() == before


def test_one_child_that_dies_takes_the_others_along(child):
    folders = child(
        "import json, sys, os, time\n"
        "if json.load(open(sys.argv[1] + '/job.json'))['seen'] == 8: os._exit(4)\n"
        "sys.stdin.read()"
    )
    before, began = children_alive(), time.monotonic()
    with pytest.raises(WorkerError, match="ended with code 4"):
        run_workers([work(), work(seen=8)])
    assert time.monotonic() - began < scaled(5)
    assert not list(folders.iterdir()) and children_alive() == before


def test_what_a_child_says_of_its_end_is_the_message(child):
    child('import json; print(json.dumps({"error": "No chain could start."})); raise SystemExit(1)')
    assert str(fails("^No chain could start.$").value)


def test_the_last_line_of_a_traceback_is_in_the_message(child):
    child("raise RuntimeError('the sampler is out of order')")
    fails("ended with code 1.*RuntimeError: the sampler is out of order")


@pytest.mark.parametrize("words", ["Segmentation fauIt", "[1, 2]", '{"done": "many"}', "x" * 200_000])
def test_rubbish_is_no_message(child, words):
    child(f"import time; print({words!r}, flush=True); time.sleep(60)")
    fails("wrote an unexpected line")


def test_a_silent_child_is_given_up(child, monkeypatch):
    monkeypatch.setattr(processes, "SILENCE", 0.5)
    folders = child("import time; time.sleep(60)")
    fails("seconds and was stopped. Try again when the computer is less busy")
    assert not list(folders.iterdir())


def test_a_child_that_ends_without_a_word_has_no_result(child):
    child("pass")
    fails("ended without a result")


@pytest.mark.parametrize("content", ["b''", "b'PK rubbish'"])
def test_a_broken_result_is_told(child, content):
    child(
        f"import sys; open(sys.argv[1] + '/result.npz', 'wb').write({content}); print('{{\"finished\": true}}')",
    )
    fails("Could not read the result")


def test_a_command_that_is_not_there_is_told(child, monkeypatch):
    folders = child(GOOD)
    monkeypatch.setattr(processes, "COMMAND", ("/no/such/python",))
    fails("Could not start a worker process")
    assert not list(folders.iterdir())


def test_a_job_that_cannot_be_written_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    fails("Could not write the job to .*not there")


@pytest.mark.skipif(not POSIX, reason="limits of file size")
def test_a_disk_that_is_full_for_the_job_leaves_nothing(child):
    import resource

    folders = child(GOOD)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        with pytest.raises(WorkerError, match=r"Could not write.*File too large\. Free up disk space"):
            run_workers([Work({}, {"x": np.zeros(10_000)}, 1)])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(folders.iterdir())


@pytest.mark.parametrize("stubborn", [False, True])
def test_cancelling_takes_less_than_a_second_even_where_the_child_does_not_listen(child, stubborn):
    listening = "while True: time.sleep(1)" if stubborn else "sys.stdin.read()"
    folders = child(
        "import signal, sys, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"print('{{\"done\": 1}}', flush=True)\n{listening}"
    )
    before, token, told = children_alive(), CancelToken(), threading.Event()
    ended = []

    def run():
        with pytest.raises(Cancelled):
            run_workers([work(), work()], token=token, progress=lambda done, _: done == 2 and told.set())
        ended.append(time.monotonic())

    thread = threading.Thread(target=run)
    thread.start()
    assert told.wait(20)
    asked = time.monotonic()
    token.cancel()
    thread.join(10)
    assert ended[0] - asked < 1.0
    assert not list(folders.iterdir()) and children_alive() == before


def test_a_child_finds_the_package_and_uses_one_thread_wherever_the_app_was_started(child, monkeypatch, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "core.py").write_text("raise SystemExit('the wrong one')")
    monkeypatch.chdir(elsewhere)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    child(
        "import os, sys, core, numpy as np\n"
        "np.savez(sys.argv[1] + '/result.npz', root=np.array(core.__path__[0]), home=os.environ['NUMBA_CACHE_DIR'],\n"
        "         threads=np.array([os.environ[name + '_NUM_THREADS'] for name in ('OMP', 'MKL', 'OPENBLAS')]))\n"
        "print('{\"finished\": true}')"
    )
    (found,) = run_workers([work()])
    assert str(found["root"]) == str(processes._ROOT / "core")
    assert list(found["threads"]) == ["1", "1", "1"]
    assert str(found["home"]) == os.environ["NUMBA_CACHE_DIR"]


LONG = """
import sys, json, time, numpy as np
folder = sys.argv[1]
for step in range(1, 5):
    time.sleep(0.3)
    print(json.dumps({"done": step}), flush=True)
np.savez(folder + "/result.npz", x=np.arange(2))
print(json.dumps({"done": 5, "finished": True}), flush=True)
"""


@pytest.mark.skipif(not POSIX, reason="there is no SIGSTOP on this system")
def test_children_sleep_while_nobody_looks_at_their_work_and_go_on_afterwards(child):
    child(LONG)
    here = {"a"}
    board = JobBoard(is_connected=here.__contains__, unseen=0.0)
    job = board.submit("long", lambda job: run_workers([work()], token=job.token), session="a")
    deadline = time.monotonic() + 20

    def states():
        listed = ["ps", "--ppid", str(os.getpid()), "-o", "stat=,comm="]
        lines = subprocess.run(listed, capture_output=True, text=True, check=False).stdout.splitlines()
        return [line[0] for line in lines if not line.strip().endswith("ps")]

    while not states() and time.monotonic() < deadline:
        time.sleep(0.01)
    here.clear()
    board.beat()
    while "T" not in states() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert "T" in states() and job.state == "paused"
    board.watch(job.key, "a")
    here.add("a")
    assert job.wait(20)
    assert job.state == "done" and job.result[0]["x"].tolist() == [0, 1]


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="of Linux alone")
def test_a_child_stands_back_behind_others_and_further_where_nobody_waits_for_it():
    script = (
        "import os, pathlib\n"
        "from core.runtime.processes import stand_back\n"
        "for far in (False, True):\n"
        "    stand_back(far=far)\n"
        "    print(os.nice(0), pathlib.Path('/proc/self/autogroup').read_text().split()[-1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, start_new_session=True
    )
    (near, near_group), (far, far_group) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert near == min(19, os.nice(0) + 10) and far >= near, done.stderr
    assert (near_group, far_group) in ((2, 10), (0, 0)), "the latter where the file may not be written"


def test_where_others_change_their_place_at_once_it_is_tried_again(monkeypatch):
    tries = []

    def write(path, content):
        tries.append(content)
        if len(tries) < 3:
            raise BlockingIOError

    monkeypatch.setattr(processes.Path, "write_bytes", write)
    monkeypatch.setattr(processes.time, "sleep", lambda seconds: None)
    processes._come_after(2)
    assert tries == [b"2"] * 3
