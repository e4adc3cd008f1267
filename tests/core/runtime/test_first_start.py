"""The first start: parts are ready one by one, nothing is done where all is compiled, a failed child blocks nobody."""

import sys
import threading
import time
from importlib.util import find_spec

import pytest

from core import warmup
from core.plausibility._kernels import leading_places
from core.plausibility.plackett_luce._gibbs_kernels import gibbs
from core.runtime import first_start
from core.runtime.first_start import AT_FIRST, CHILDREN, PARTS, Preparation, compiled, mark
from core.runtime.numba_setup import SMALL, SMALL_UNCOMPILED, InterpretedWork

SAYS_ALL = "import sys\nfor part in sys.argv[2:]: print(part, flush=True)"
WAITS_AFTER_THE_FIRST = "import sys\nprint(sys.argv[2], flush=True)\nsys.stdin.read()"
FAILS = "import sys\nsys.exit(3)"


@pytest.fixture(autouse=True)
def kernels(tmp_path, monkeypatch):
    """A folder of kernels in which nothing is compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(InterpretedWork, "most", InterpretedWork.most)  # as it was, after each test
    return tmp_path


def child(monkeypatch, script: str) -> None:
    """Children run this instead of a compiler."""
    monkeypatch.setattr(first_start, "COMMAND", (sys.executable, "-c", script, "worker"))


def test_what_children_say_is_ready_and_in_the_end_all_counts_as_compiled(monkeypatch):
    child(monkeypatch, SAYS_ALL)
    assert not compiled()
    preparation = Preparation()
    assert preparation.wait(timeout=60) and preparation.missing() == []
    deadline = time.monotonic() + 60
    while not compiled() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert compiled()
    child(monkeypatch, FAILS)
    assert Preparation().missing() == []  # nothing to do: no child is asked


def test_a_part_is_ready_before_those_that_come_after_it(monkeypatch):
    child(monkeypatch, WAITS_AFTER_THE_FIRST)
    preparation = Preparation()
    assert preparation.wait([parts[0] for parts in CHILDREN], timeout=60)
    assert preparation.missing(("sampler", "draws", "anchors", "models")) == ["anchors", "models"]
    assert not preparation.wait(timeout=0.1) and not compiled()


def test_until_what_reads_files_is_compiled_more_is_read_as_python(monkeypatch):
    """Else a server would compile, beside its children, what the first sample needs."""
    child(monkeypatch, WAITS_AFTER_THE_FIRST)
    preparation = Preparation()
    assert preparation.wait([parts[0] for parts in CHILDREN], timeout=60) and InterpretedWork.most == SMALL_UNCOMPILED
    preparation._report(["reading"])
    assert InterpretedWork.most == SMALL


def test_a_child_that_fails_leaves_its_parts_to_the_pages_and_nothing_counts_as_compiled(monkeypatch):
    child(monkeypatch, FAILS)
    assert Preparation().wait(timeout=60) and not compiled()


def test_another_kernel_another_mark(kernels, monkeypatch):
    first = mark()
    first.touch()
    assert compiled() and first.parent == kernels
    monkeypatch.setattr(first_start.sys, "version", "another Python")
    assert not compiled()


def test_the_parts_of_the_children_are_those_that_can_be_compiled():
    assert set(PARTS) == set(warmup._PARTS) and sum(map(len, CHILDREN)) == len(PARTS), "each by one of them"


def test_all_parts_leave_the_mark_and_some_of_them_do_not(monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(warmup, "_PARTS", dict.fromkeys(PARTS, lambda: None))
    warmup.warm_up(PARTS[:-1], told.append)
    assert told == list(PARTS[:-1]) and not compiled()
    warmup.warm_up()
    assert compiled()


def test_it_is_begun_once_however_often_it_is_asked_for(monkeypatch):
    child(monkeypatch, SAYS_ALL)
    first_start.begin.cache_clear()
    try:
        assert first_start.begin() is first_start.begin()
        assert first_start.begin().wait(timeout=60)
    finally:
        first_start.begin.cache_clear()


def test_what_is_compiled_of_the_sampler_first_is_what_pages_call():
    warmup._draws()
    assert len(gibbs.signatures) == 1


def test_what_is_compiled_of_the_sampler_beside_it_is_what_it_calls():
    """With one list of types in the folder of kernels, for each processor that it was compiled for."""
    warmup._sampler()
    warmup._draws()
    assert len({types for types, *_ in leading_places._cache._cache_file._load_index()}) == 1


def test_a_child_stands_further_back_after_the_last_part_that_a_first_page_waits_for(monkeypatch, capsys):
    told: list[str] = []
    monkeypatch.setattr(warmup, "_PARTS", {part: lambda part=part: told.append(part) for part in PARTS})
    monkeypatch.setattr(warmup, "stand_back", lambda far=False: told.append("far" if far else "back"))
    monkeypatch.setattr(warmup, "_end_with_the_parent", lambda: None)
    for parts in CHILDREN:
        told.clear()
        warmup.main(parts)
        last = max(parts.index(part) for part in parts if part in AT_FIRST)
        assert told == ["back", *parts[: last + 1], "far", *parts[last + 1 :]]
    assert {part for part in AT_FIRST if any(part in parts for parts in CHILDREN)} == set(AT_FIRST)
    told.clear()
    warmup.main(())
    assert told == [*PARTS]


def test_waiting_ends_at_once_when_the_part_comes(monkeypatch):
    child(monkeypatch, WAITS_AFTER_THE_FIRST)
    preparation = Preparation()
    woken = threading.Event()
    threading.Thread(target=lambda: preparation.wait(("draws",), 60) and woken.set(), daemon=True).start()
    preparation._report(["draws"])
    assert woken.wait(10)


def test_preparation_starts_a_module_that_is_there(monkeypatch):
    """The package that the children load their parts with is not the one that starts them."""
    started = []

    def popen(command, **options):
        started.append(command[command.index("-m") + 1])
        raise OSError

    monkeypatch.setattr(first_start, "compiled", lambda: False)
    monkeypatch.setattr(first_start.subprocess, "Popen", popen)
    assert first_start.Preparation().wait(timeout=20)
    assert set(started) == {"core.warmup"} and find_spec("core.warmup") is not None
