"""Several processes of one server share a home folder: what one opened, keeps or erases is so for all of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import belongings, library
from core.annotations.dataset import Dataset
from core.runtime.files import running_folder, sweep_drafts, unkept_folder
from core.runtime.locks import begin_running, end_running
from core.runtime.result_cache import fleeting_results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="several processes need a system with locks of files")
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def several(monkeypatch, home):
    monkeypatch.setenv("PLURALITY_SEVERAL_PROCESSES", "1")
    yield
    end_running()


@pytest.fixture
def process():
    """Starts another process, which runs a script until its input ends; gives it after its first line."""
    started = []

    def start(script):
        child = subprocess.Popen(
            [sys.executable, "-c", f"import sys\n{script}\nprint('there', flush=True)\nsys.stdin.read()"],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(child)
        assert child.stdout.readline() == "there\n"
        return child

    yield start
    for child in started:
        child.kill()
        child.communicate()


SERVES = "from core.runtime.locks import begin_running\nbegin_running()"


def small():
    return Dataset.from_classes("small", ["1", "2"], ["ann", "bob"], ["x", "y"], [0, 0, 1], [0, 1, 0], [0, 1, 1])


def test_what_is_not_kept_outlives_the_process_that_brought_it_and_not_the_last_one(process):
    first = process(SERVES)
    begin_running()
    library.set_aside(small(), None, None)
    first.kill()
    first.wait()
    second = process(SERVES)
    assert library.fetch_aside(small().digest)[0].digest == small().digest
    end_running()
    assert library.fetch_aside(small().digest) is not None, "another process still serves"
    second.kill()
    second.wait()
    begin_running()
    assert library.fetch_aside(small().digest) is None, "nobody served in between"
    assert fleeting_results()._folder().parent == unkept_folder()


def test_the_last_that_ends_leaves_nothing(home):
    begin_running()
    library.set_aside(small(), None, None)
    running_folder().mkdir()
    end_running()
    assert [path.name for path in home.iterdir() if path.is_dir()] == []


def test_the_start_of_a_second_process_touches_nothing_of_the_first(process, home):
    """Neither what it hands to its workers nor what it is just writing."""
    process(
        "from core.runtime.files import running_folder\n(running_folder() / 'work').mkdir(parents=True)\n"
        "(running_folder() / 'work' / 'x.data').write_text('1')"
    )
    library.sweep()
    assert [path.name for path in home.glob(".running-*/work/*")] == ["x.data"]


def test_the_folder_of_a_killed_process_goes_at_the_next_start(process, home):
    gone = process("from core.runtime.files import running_folder\nrunning_folder().mkdir(parents=True)")
    gone.kill()
    gone.wait()
    sweep_drafts(home)
    assert list(home.glob(".running-*")) == []


def test_two_processes_lose_nothing_of_what_belongs_to_a_dataset(process):
    library.keep(small())
    adds = "from core import belongings\nfor n in range(25): belongings.add_selection({!r}, f'{} {{n}}', '')"
    children = [
        subprocess.Popen([sys.executable, "-c", adds.format(small().digest, name)], cwd=ROOT) for name in ("a", "b")
    ]
    assert [child.wait(timeout=60) for child in children] == [0, 0]
    assert len(belongings.selections_of(small().digest)) == 50


def test_a_dataset_has_another_stamp_after_each_change_and_none_where_it_is_nowhere():
    digest = small().digest
    assert library.stamp(digest) is None
    library.set_aside(small(), None, None)
    seen = [library.stamp(digest)]
    library.keep(small())
    seen.append(library.stamp(digest))
    library.rename(digest, "other")
    seen.append(library.stamp(digest))
    library.forget(digest)
    assert len({*seen, library.stamp(digest)}) == 4
    assert library.stamp(digest) is None
