"""What all tests share: kernels from the one cache, a home folder that is nobody's own, and what a run may take."""

import gc
import importlib
import itertools
import json
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

from core.settings import one_thread_a_library, prepare_numba_cache
from tests.speed import scaled

one_thread_a_library()  # as in a server, before numpy is loaded
prepare_numba_cache()  # before PLURALITY_HOME is changed, so that tests and the app compile each kernel once

# The first example compiles kernels, and workers share the cores: no example fails for its time.
settings.register_profile("plurality", deadline=None, max_examples=50)
settings.load_profile("plurality")
# Hypothesis would parse each module of the project for constants to draw, in each worker.
vars(providers)["_get_local_constants"] = lambda: providers._local_constants

# What each kind of test may take on a fast machine, of all workers together, about twice what it took on two cores;
# beyond it the run fails in CI. Processor seconds, which a busy machine does not make many more of; of the browser,
# where other processes do the work, seconds.
BUDGETS = {"core": 2400, "pages": 1500, "browser": 3600}
# The longest files, those of the browser, which mostly wait, between those that compute.
LONGEST = [
    f"tests/{file}.py"
    for file in (
        "pages/test_pages",
        "core/analyses/test_contract",
        "browser/test_journey",
        "core/test_golden",
        "pages/test_imitated",
        "browser/test_story",
        "browser/test_axe",
        "pages/test_deployed",
        "core/test_wheel",
        "browser/test_review",
        "browser/test_models",
        "core/plausibility/plackett_luce/test_gibbs",
        "browser/test_plausibilities",
        "pages/test_downloads",
        "browser/test_selection",
        "core/plausibility/plackett_luce/test_trust",
        "browser/test_upload",
        "pages/test_one_choice_of_settings",
        "browser/test_review_page",
        "core/runtime/test_worker",
        "core/models/difficulty/test_covariates",
        "browser/test_review_together",
        "core/test_deployment",
        "pages/test_losses",
        "browser/test_agreement",
    )
]
MOST_COMPILING = scaled(600)  # seconds
MOST_REPEATED_PRESSES = 10  # in CI; a press without effect is one that a user would have made in vain
MOST_SECOND_TRIES = 1  # in CI, of browser tests that failed and then passed: a race to be found, not to be hidden
_numbers = itertools.count()
_UNTIL = pytest.StashKey[float]()  # processor seconds of this worker until the last report
_spent = dict.fromkeys(BUDGETS, 0.0)
_repeated: Counter[str] = Counter()
_second_tries: dict[str, str] = {}
_checked: set[int] = set()  # figures, by the hash of their JSON


def pytest_addoption(parser):
    parser.addoption("--record-screens", action="store_true", help="Record anew what pages say and what exports hold.")


@pytest.fixture(scope="session")
def homes(tmp_path_factory):
    """Where the home folders of the tests are; each is made by who first needs it."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def home(homes, monkeypatch):
    """A home folder of its own for every test."""
    folder = homes / str(next(_numbers))
    monkeypatch.setenv("PLURALITY_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def known_results(tmp_path_factory):
    """Gives a home folder the results that other tests and workers have computed, found by what they are of.

    Where pages show what is known without asking for it, only tests that ask for the same share a ``folder``.
    """
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def know(home, folder="results"):
        shared = base / folder
        shared.mkdir(exist_ok=True)
        home.mkdir(exist_ok=True)
        with suppress(OSError):  # where there are no links, they are computed again
            (home / "results").symlink_to(shared, target_is_directory=True)

    return know


@pytest.fixture(scope="session", autouse=True)
def compiled_by_all(tmp_path_factory):
    """The kernels are compiled once, as at a first start: each of two workers takes a part, and the others wait."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if not worker:
        return
    from core.runtime.first_start import CHILDREN, compiled, mark
    from core.warmup import warm_up

    if compiled():
        return
    shared = tmp_path_factory.getbasetemp().parent
    for number, parts in enumerate(CHILDREN):
        if number % int(os.environ["PYTEST_XDIST_WORKER_COUNT"]) == int(worker.removeprefix("gw")):
            warm_up(parts)
            (shared / f"compiled-{number}").touch()
    until = time.monotonic() + MOST_COMPILING  # a worker that died leaves its part to whoever needs it
    while time.monotonic() < until and len(list(shared.glob("compiled-*"))) < len(CHILDREN):
        time.sleep(0.2)
    if len(list(shared.glob("compiled-*"))) == len(CHILDREN):
        mark().touch()


@pytest.fixture(scope="session", autouse=True)
def drawn_here():
    """Draw chains in the process of the test: the draws are the same, and starting a child costs more than they do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.models.nuts.sampler.run_workers", _run_here)
        yield


@pytest.fixture
def in_children(monkeypatch):
    """Draw chains in child processes, as Plurality does, but in one for all chains."""
    from core.runtime.processes import run_workers

    monkeypatch.setattr("core.models.nuts.sampler.run_workers", run_workers)
    monkeypatch.setattr("core.models.nuts.sampler.MAX_CHILDREN", 1)


def _run_here(works, *, token=None, progress=None):
    """Do what the child processes of ``core.runtime.processes.run_workers`` do, one after the other."""
    from core.models.nuts.child import draw_all
    from core.runtime.chunks import CancelToken

    watch, found, total = token or CancelToken(), [], sum(work.total for work in works)
    watch.done = 0  # counted up by each draw
    for work in works:
        watch.check()
        if progress is not None:
            progress(watch.done, total)
        found.append(draw_all(json.loads(json.dumps(work.settings)), work.arrays, watch))
    if progress is not None:
        progress(total, total)
    return found


@pytest.fixture
def checked_figures(monkeypatch):
    """Every figure is made with plotly's checks, too, and has to be the same: as it is made, and as a page sends it."""
    import plotly.io

    from core.figures import theme

    fast, sent = theme.unchecked, plotly.io.to_json

    def made(data, layout):
        figure = fast(data, layout)
        _check(figure.to_json(), lambda: theme.PlainFigure(data=data, layout=layout).to_json())
        return figure

    def sent_checked(spec, **options):
        told = sent(spec, **options)
        _check(told, lambda: sent(theme.PlainFigure(spec), **options))
        return told

    monkeypatch.setattr(theme, "unchecked", made)
    monkeypatch.setattr(plotly.io, "to_json", sent_checked)


def _check(told, checked):
    """That a figure says what the same one says that plotly has checked; of each that was drawn before it is known."""
    if (seen := hash(told)) not in _checked:
        assert _said(json.loads(told)) == _said(json.loads(checked()))
        _checked.add(seen)


def _said(part):
    """Without what is empty, which says nothing."""
    if isinstance(part, list):
        return [_said(each) for each in part]
    if isinstance(part, dict):
        return {name: said for name, each in part.items() if (said := _said(each)) not in ({}, [])}
    return part


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """No garbage is looked for while tests are imported, nor later among what they brought: it stays to the end."""
    gc.disable()
    try:
        _import_own_part(session)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _import_own_part(session):
    """Each of several workers imports another part of the tests first: what it has rewritten, the others read."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    here = Path(__file__).parent
    asked = [Path(session.config.rootpath, path).resolve() for path in session.config.args]
    if not worker or sys.dont_write_bytecode or not {here, here.parent}.intersection(asked):
        return
    files = sorted(here.rglob("test_*.py"))
    first = int(worker.removeprefix("gw")) * len(files) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    for file in files[first:] + files[:first]:
        with suppress(Exception, pytest.skip.Exception):  # collecting it will say so
            importlib.import_module(".".join(file.relative_to(here.parent).with_suffix("").parts))


def pytest_xdist_auto_num_workers(config):
    """Two workers more than there are cores: what the browser's tests wait is time for the others."""
    return (os.cpu_count() or 1) + 2


def pytest_collection_modifyitems(items):
    """The longest files come first, then what is left of the browser's: no worker waits for the last one."""
    items.sort(key=lambda item: _place(item.nodeid.split("::")[0]))
    if os.environ.get("CI"):
        for item in items:
            if item.nodeid.startswith("tests/browser/"):
                item.add_marker(pytest.mark.flaky(reruns=1))


def _place(file: str) -> int:
    if file in LONGEST:
        return LONGEST.index(file)
    return len(LONGEST) + (not file.startswith("tests/browser/"))


def pytest_collection_finish(session):
    """Tests begin: what came before is nobody's."""
    session.config.stash[_UNTIL] = _processor_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    """A report says what its part of the test took of the processor, children that have ended included."""
    report = yield
    until = _processor_seconds()
    report.processor_seconds = until - item.config.stash[_UNTIL]
    item.config.stash[_UNTIL] = until
    return report


def _processor_seconds() -> float:
    return sum(os.times()[:4])


def pytest_runtest_logreport(report):
    """Count the seconds of each kind of test, the presses that were made again, and the tests that were tried again."""
    if report.outcome == "rerun":
        _second_tries[report.nodeid] = report.longreprtext
    kind = report.nodeid.split("/")[1] if report.nodeid.count("/") else ""
    if kind in _spent:
        _spent[kind] += report.duration if kind == "browser" else getattr(report, "processor_seconds", 0.0)
    if report.when == "teardown":
        words = [what for name, what in report.user_properties if name == "repeated press"]
        _repeated.update(f"{report.nodeid}: {one}" for one in words)


def _budget(kind: str) -> float:
    """Seconds that a kind of test may take on this machine."""
    return scaled(BUDGETS[kind], time.perf_counter if kind == "browser" else time.process_time)


def _faults() -> list[str]:
    over = [f"tests/{kind} is over its budget" for kind, seconds in _spent.items() if seconds > _budget(kind)]
    if _repeated.total() > MOST_REPEATED_PRESSES:
        over.append(f"{_repeated.total()} presses were made again")
    if len(_second_tries) > MOST_SECOND_TRIES:
        over.append(f"{len(_second_tries)} browser tests had to be tried again")
    return over


def pytest_terminal_summary(terminalreporter):
    """Say what each kind took of its budget, which presses were made again, and which tests, with why."""
    for kind, seconds in _spent.items():
        if seconds:
            of = "" if kind == "browser" else "processor "
            terminalreporter.write_line(f"tests/{kind}: {seconds:.0f} {of}s of {_budget(kind):.0f} {of}s")
    if _spent["browser"]:
        terminalreporter.write_line(f"presses made again: {_repeated.total()}, {MOST_REPEATED_PRESSES} at most")
    for words, times in _repeated.items():
        terminalreporter.write_line(f"  {times} x {words}")
    for test, why in _second_tries.items():
        terminalreporter.write_line(f"tried again: {test}", yellow=True)
        terminalreporter.write_line(why)
    for fault in _faults():
        terminalreporter.write_line(f"fails in CI: {fault}", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Fail in CI where a kind of test is over its budget, or presses or tests were made again too often."""
    if _faults() and os.environ.get("CI") and session.exitstatus == 0:
        session.exitstatus = 1
