"""What all tests share: kernels from the one cache, a home folder that is nobody's own, and what a run may take."""

import os
from collections import Counter

import pytest
from hypothesis import settings

from core.settings import prepare_numba_cache

prepare_numba_cache()  # before PLURALITY_HOME is changed, so that tests and the app compile each kernel once

# The first example compiles kernels, and workers share the cores: no example fails for its time.
settings.register_profile("plurality", deadline=None)
settings.load_profile("plurality")

# Seconds of all workers together that each kind of test may take, about twice what it took on two cores; beyond it
# the run fails in CI.
BUDGETS = {"core": 3000, "pages": 1500, "browser": 3600}
LONGEST = [f"tests/browser/test_{name}.py" for name in ("journey", "story", "axe", "models", "review_page")]
MOST_REPEATED_PRESSES = 10  # in CI; a press without effect is one that a user would have made in vain
_spent = dict.fromkeys(BUDGETS, 0.0)
_repeated: Counter[str] = Counter()


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder of its own for every test."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PLURALITY_HOME", str(folder))
    return folder


@pytest.fixture(scope="session", autouse=True)
def compiled_by_all():
    """Of several workers every other compiles the kernels from the end, so that they meet in the middle."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        from core.warmup import PARTS, warm_up

        warm_up(PARTS[::-1] if int(worker.removeprefix("gw")) % 2 else PARTS)


def pytest_collection_modifyitems(items):
    """The browser's files come first, the longest of them before the others: no worker waits for the last one."""
    items.sort(key=lambda item: _place(item.nodeid.split("::")[0]))


def _place(file: str) -> int:
    if not file.startswith("tests/browser/"):
        return len(LONGEST) + 1
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)


def pytest_runtest_logreport(report):
    """Count the seconds of each kind of test, and the presses that were made again."""
    kind = report.nodeid.split("/")[1] if report.nodeid.count("/") else ""
    if kind in _spent:
        _spent[kind] += report.duration
    if report.when == "teardown":
        words = [what for name, what in report.user_properties if name == "repeated press"]
        _repeated.update(f"{report.nodeid}: {one}" for one in words)


def _faults() -> list[str]:
    over = [f"tests/{kind} is over its budget" for kind, seconds in _spent.items() if seconds > BUDGETS[kind]]
    if _repeated.total() > MOST_REPEATED_PRESSES:
        over.append(f"{_repeated.total()} presses were made again")
    return over


def pytest_terminal_summary(terminalreporter):
    """Say what each kind took of its budget, and which presses were made again."""
    for kind, seconds in _spent.items():
        if seconds:
            terminalreporter.write_line(f"tests/{kind}: {seconds:.0f} s of {BUDGETS[kind]} s")
    if _spent["browser"]:
        terminalreporter.write_line(f"presses made again: {_repeated.total()}, {MOST_REPEATED_PRESSES} at most")
    for words, times in _repeated.items():
        terminalreporter.write_line(f"  {times} x {words}")
    for fault in _faults():
        terminalreporter.write_line(f"fails in CI: {fault}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail in CI where a kind of test is over its budget, or presses were made again too often."""
    if _faults() and os.environ.get("CI") and session.exitstatus == 0:
        session.exitstatus = 1
