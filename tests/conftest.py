"""What all tests share: kernels from the one cache, and a home folder that is nobody's own."""

import os

import pytest
from hypothesis import settings

from core.settings import prepare_numba_cache

prepare_numba_cache()  # before PLURALITY_HOME is changed, so that tests and the app compile each kernel once


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home folder of its own for every test."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PLURALITY_HOME", str(folder))
    return folder


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Group tests for several processes: all of the browser in one, every other file whole."""
    for item in items:
        file = item.nodeid.split("::")[0]
        item.add_marker(pytest.mark.xdist_group("browser" if file.startswith("tests/browser/") else file))


# The first example compiles kernels, and workers share the cores: no example fails for its time.
settings.register_profile("plurality", deadline=None)
settings.load_profile("plurality")

# Seconds that each kind of test may take in all when it runs alone; beyond it the run fails in CI. Of several workers
# each waits for the others too, so theirs may take as many times more.
BUDGETS = {"core": 1200, "pages": 400, "browser": 960}
_spent = dict.fromkeys(BUDGETS, 0.0)


def pytest_runtest_logreport(report):
    """Count the seconds of each kind of test."""
    kind = report.nodeid.split("/")[1] if report.nodeid.count("/") else ""
    if kind in _spent:
        _spent[kind] += report.duration


def _budgets(config) -> dict[str, int]:
    workers = max(1, len(getattr(config.option, "tx", None) or ()))
    return {kind: seconds * workers for kind, seconds in BUDGETS.items()}


def pytest_terminal_summary(terminalreporter, config):
    """Say what each kind took of its budget."""
    for kind, seconds in _spent.items():
        if seconds:
            terminalreporter.write_line(f"tests/{kind}: {seconds:.0f} s of {_budgets(config)[kind]} s")


def pytest_sessionfinish(session):
    """Fail in CI where a kind of test is over its budget."""
    over = [kind for kind, seconds in _spent.items() if seconds > _budgets(session.config)[kind]]
    if over and os.environ.get("CI") and session.exitstatus == 0:
        session.exitstatus = 1
