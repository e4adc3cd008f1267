"""Heavy work in processes that last: the same numbers, cancelled in time, and nothing left behind."""

import io
import os
import signal
import threading
import time
import zipfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from core.agreement.bootstrap import bootstrap
from core.certainty.held_out_readers import held_out_curve
from core.certainty.top_sets import annotation_certainty
from core.errors import Cancelled, InputError, NotApplicableError
from core.evaluation.sweep_table import sweep_part
from core.ingest.read_files import read
from core.models.choose import choose
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.runtime._lasting_worker import _Calls
from core.runtime.chunks import CancelToken
from core.runtime.encoding import NotStorableError, to_bytes
from core.runtime.jobs import JobBoard
from core.runtime.processes import WorkerError
from core.runtime.workers import LOADED, WorkerPool, error_of
from tests.speed import scaled

ROWS = "case,rater,rank,class\n" + "".join(
    f"{case},{'ab'[r % 2]}{r},{rank},{'xyzw'[(case + rank + (case * r % 7 == 1)) % 4]}\n"
    for case in range(20)
    for r in range(3)
    for rank in (1, 2)
)
LONG = {"reliability": 1.0, "n_draws": 20_000_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def pool(folder):
    pool = WorkerPool(1, lambda: folder)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def rankings():
    return read(ROWS.encode()).dataset.coded


@pytest.fixture(scope="module")
def classes(rankings):
    return rankings.as_classes()[0].coded


def written(result, data):
    """What a result is written as, by file; an archive holds the time besides."""
    with zipfile.ZipFile(io.BytesIO(to_bytes(result, data))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_what_a_worker_computes_is_the_same_to_the_bit(pool, rankings, classes):
    asked = [
        (held_out_curve, rankings, (rankings, PlackettLuce(), (1.0, 2.0)), {"n_draws": 40}),
        (sweep_part, rankings, (PlackettLuce(), rankings, 1.5), {"n_draws": 50}),
        (choose, classes, (classes,), {"seed": 3}),
        (bootstrap, classes, (classes,), {"n_replicates": 50}),
    ]
    for function, data, arguments, options in asked:
        here = function(*arguments, **options)
        assert written(pool.call(function, data, *arguments, **options), data) == written(here, data), function
    assert len(pool.workers()) == 1


def test_progress_is_told_and_the_errors_of_a_function_are_its_own(pool, rankings, classes):
    told, here, asked = [], [], (rankings, PlackettLuce(), (1.0, 2.0, 3.0))
    held_out_curve(*asked, n_draws=4, progress=here.append)
    pool.call(held_out_curve, rankings, *asked, n_draws=4, progress=told.append)  # it ends before it is asked how far
    assert told[-1] == here[-1]
    pool.call(held_out_curve, rankings, *asked, n_draws=40_000, progress=here.append)
    assert here[4:] == sorted(here[4:]) and 0 < here[4] < 1
    with pytest.raises(InputError, match="two different values of γ; got 1") as found:
        pool.call(held_out_curve, rankings, rankings, PlackettLuce(), (1.0,))
    assert found.value.remedy == "Add another value of γ."
    alone = classes.select(raters=[classes.raters[0]]).coded
    with pytest.raises(NotApplicableError):
        pool.call(held_out_curve, alone, alone, DirichletCounts())


def test_what_is_no_function_of_this_package_is_refused_before_it_is_sent(pool, rankings):
    with pytest.raises(NotStorableError):
        pool.call(np.sum, rankings, rankings)
    with pytest.raises(NotStorableError):
        pool.call(held_out_curve, rankings, rankings, threading.Lock())


def begun(pool, data, token, ended):
    """A call that takes an hour, in a thread; returns when the worker has it."""

    def run():
        try:
            pool.call(annotation_certainty, data, PlackettLuce(), data, **LONG, token=token)
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not any(worker.calls for worker in pool._workers):
        assert thread.is_alive(), ended
        time.sleep(0.01)
    return thread


def test_a_cancelled_call_ends_within_a_second_and_leaves_no_file(pool, folder, rankings):
    """The quickest of three tries: a busy machine only adds to what cancelling takes, and never to every one."""
    seconds = []
    while not seconds or (min(seconds) >= scaled(1.0) and len(seconds) < 3):
        token, ended = CancelToken(), []
        thread = begun(pool, rankings, token, ended)
        asked = time.monotonic()
        token.cancel()
        thread.join(scaled(10))
        seconds.append(time.monotonic() - asked)
        assert isinstance(ended[0], Cancelled)
    assert min(seconds) < scaled(1.0), seconds
    assert not [path for path in folder.iterdir() if path.suffix in (".call", ".result")]
    assert pool.call(bootstrap, rankings.as_classes()[0].coded, rankings.as_classes()[0].coded, n_replicates=9)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_worker_that_is_killed_is_an_error_with_words_and_the_next_call_has_another(pool, rankings, classes):
    ended = []
    thread = begun(pool, rankings, CancelToken(), ended)
    os.kill(pool.workers()[0], signal.SIGKILL)
    thread.join(scaled(10))
    assert isinstance(ended[0], WorkerError) and "stopped before it finished" in str(ended[0])
    assert pool.call(bootstrap, classes, classes, n_replicates=9)


class Panic(BaseException):
    """As a compiled library raises that has come to its end; no Exception."""


def test_work_that_ends_in_what_is_no_exception_is_an_error_with_words(capfd):
    """Who asked would wait for ever; the worker goes on, and its log says where it was."""
    calls, said = _Calls.__new__(_Calls), []
    calls.tokens, calls.told, calls.saying = {"1": CancelToken()}, {}, threading.RLock()
    calls.say = lambda **message: said.append(message)

    def panics(path):
        raise Panic("the end of the compiled part")

    calls._dataset = panics
    calls.do("1", "data", "asked", "given")
    (answer,) = said
    assert answer["call"] == "1" and calls.tokens == {}
    words = str(error_of(answer["error"]))
    assert "Panic (the end of the compiled part). Please report this." in words
    assert "panics" in capfd.readouterr().err


def alive(process):
    state = Path(f"/proc/{process}/stat")
    return state.exists() and state.read_text().rsplit(")", 1)[1].split()[0] not in "ZX"


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes")
def test_what_nobody_looks_at_ends_its_process_and_begins_again_when_somebody_does(pool, rankings):
    here = {"ada"}
    board = JobBoard(workers=1, is_connected=here.__contains__, unseen=0.0, given_up=60.0)

    def work(job):
        return pool.call(annotation_certainty, rankings, PlackettLuce(), rankings, **LONG, token=job.token)

    job = board.join("key", "long", work, session="ada")
    until(lambda: any(worker.calls for worker in pool._workers))
    process = pool.workers()[0]
    here.clear()
    board.beat()
    until(lambda: job.state == "paused")
    until(lambda: not alive(process))
    here.add("ada")
    board.beat()
    until(lambda: pool.workers() and pool.workers()[0] != process)
    job.cancel()
    assert job.wait(2.0) and job.state == "cancelled"


def until(what):
    deadline = time.monotonic() + 20
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_worker_without_work_ends_and_forgotten_data_are_erased(folder, classes):
    pool = WorkerPool(1, lambda: folder / "other", idle=0.05)
    pool.call(bootstrap, classes, classes, n_replicates=9)
    until(lambda: not pool.workers())
    until(lambda: [path.suffix for path in (folder / "other").iterdir()] == [".data"])
    pool.forget([classes.digest])
    assert not list((folder / "other").iterdir())
    pool.close()
    with pytest.raises(Cancelled):  # a job that was waiting when the server stopped
        pool.call(bootstrap, classes, classes, n_replicates=9)
    assert not list((folder / "other").iterdir())


def test_a_worker_can_be_there_before_it_is_needed(folder, classes):
    """Only one, which takes the first call, and which ends like others where none comes."""
    pool = WorkerPool(2, lambda: folder / "prepared", idle=1.0)
    try:
        pool.prepare()
        first = pool.workers()
        pool.prepare()
        assert pool.workers() == first and len(first) == 1
        pool.call(bootstrap, classes, classes, n_replicates=9)
        assert pool.workers() == first
        until(lambda: not pool.workers())
        pool.prepare()
        assert len(pool.workers()) == 1 and pool.workers() != first
    finally:
        pool.close()
    pool.prepare()
    assert not pool.workers()


def test_while_somebody_is_there_one_worker_stays_and_one_whose_work_was_given_up_has_a_successor(
    folder, classes, rankings
):
    here = [True]
    pool = WorkerPool(2, lambda: folder / "wanted", idle=0.2, wanted=lambda: bool(here))
    try:
        pool.call(bootstrap, classes, classes, n_replicates=9)
        (first,) = pool.workers()
        time.sleep(0.5)  # more than twice as long as it may have nothing to do
        here.clear()  # for a moment, as a browser that connects again
        time.sleep(0.05)
        here.append(True)
        time.sleep(0.3)
        assert pool.workers() == [first]
        token = GivenUp()
        asked = partial(pool.call, annotation_certainty, rankings, PlackettLuce(), rankings, **LONG, token=token)
        calling = threading.Thread(target=until_cancelled, args=(asked,))
        calling.start()
        until(lambda: any(worker.calls for worker in pool._workers))
        token.paused = True
        calling.join(20)
        assert not calling.is_alive()
        until(lambda: not alive(first))
        assert len(pool.workers()) == 1 and pool.workers() != [first]
        here.clear()
        until(lambda: not pool.workers())
    finally:
        pool.close()


class GivenUp(CancelToken):
    """Of work that nobody looks at any more, and that does not go on."""

    paused = False

    def check(self):
        if self.paused:
            raise Cancelled("Given up.")


def until_cancelled(work):
    with suppress(Cancelled):
        work()


@pytest.mark.parametrize("ready", (True, False))
def test_a_worker_that_is_there_before_has_its_kernels(folder, ready, monkeypatch):
    """Where they are compiled; on a first start others compile them."""
    monkeypatch.setattr("core.runtime.workers.compiled", lambda: ready)
    said = []
    monkeypatch.setattr("core.runtime.workers._Worker.say", lambda worker, **message: said.append(message))
    pool = WorkerPool(1, lambda: folder / "loads")
    pool.prepare()
    pool.close()
    assert said == ([{"load": LOADED}] if ready else [])


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells what a process has loaded")
def test_a_worker_comes_after_all_else_and_loads_what_it_is_told(folder, classes):
    pool = WorkerPool(1, lambda: folder / "behind")
    try:
        pool.prepare()
        (worker,) = pool._workers
        place = Path(f"/proc/{worker.process.pid}")
        worker.say(load=["reading"])
        until(lambda: "llvmlite" in (place / "maps").read_text())
        assert os.getsid(worker.process.pid) == worker.process.pid
        assert os.getpriority(os.PRIO_PROCESS, worker.process.pid) >= 10
        if (group := place / "autogroup").exists():
            assert int(group.read_text().split()[-1]) == 2
    finally:
        pool.close()
