"""Uploaded files read by a process of their own: the same as here, bounded, and ended with whoever waits for it."""

import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from functools import cache

import psutil
import pytest

from core.errors import Cancelled, InputError
from core.ingest import uploads
from core.ingest.formats.detect import open_source
from core.ingest.formats.raw_table import Dropped
from core.runtime import workers
from core.runtime.chunks import CancelToken
from core.runtime.encoding import from_bytes, to_bytes
from core.runtime.jobs import JobBoard
from core.runtime.workers import NO_DATA, WorkerPool
from tests.core.ingest.bombs import BOMBS
from tests.core.ingest.shapes import RECORDS, TABLES, delimited, json_bytes, nested_parquet_bytes, workbook_bytes
from tests.speed import scaled

SMALL = [("a.csv", b"case,rater,class\n1,a,x\n1,b,y\n2,a,x\n")]
POSIX = pytest.mark.skipif(os.name != "posix", reason="signals")


@cache
def long_file():
    """A file that takes seconds to read."""
    rows = b"".join(b"case%d,r%d,c%d\n" % (n, n % 7, n % 3) for n in range(2_000_000))
    return [("a.csv", b"case,rater,class\n" + rows)]


@pytest.fixture
def pool(tmp_path):
    pool = WorkerPool(1, lambda: tmp_path, preparing=uploads.prepare)
    yield pool
    pool.close()


def files():
    rng = random.Random(0)
    for name, rows in TABLES.items():
        yield f"{name}.csv", delimited(rows)
        yield f"{name}.xlsx", workbook_bytes(rows)
    for name, records in RECORDS.items():
        yield f"{name}.json", json_bytes(records, rng)
        if (content := nested_parquet_bytes(records)) is not None:
            yield f"{name}.parquet", content
    yield "odd.json", b'[{"case": "\\ud800", "rater": "a", "class": "x"}, {"case": "2", "rater": "a", "class": "y"}, 1]'


def outcome(work):
    try:
        source = work()
    except InputError as error:
        return str(error), error.line
    tables = [
        (
            question.name,
            question.mapping,
            question.raw.table.to_pydict(),
            question.raw.line.tolist(),
            question.raw.dropped,
        )
        for question in source.questions
    ]
    return source.format, source.notes, tables, source.side.gold, source.side.cases


def test_each_shape_comes_back_as_it_is_read_here():
    """By the way that results go between processes; that a process does it is tested below."""
    n_read = 0
    for named in files():
        here = outcome(lambda named=named: open_source([named]))
        try:
            written = to_bytes(open_source([named]), NO_DATA, compress=False)
        except InputError:
            continue
        assert outcome(lambda written=written: from_bytes(written, NO_DATA)) == here, named[0]
        n_read += 1
    assert n_read > 40


@pytest.mark.parametrize("reason", ["no answer", "half \ud800"])
def test_many_dropped_rows_come_back_as_one_table(reason):
    rows = tuple(Dropped(n, f"record {n}: {reason}") for n in range(5_000))
    written = to_bytes(rows, NO_DATA, compress=False)
    assert from_bytes(written, NO_DATA) == rows
    assert all(type(row) is Dropped for row in from_bytes(written, NO_DATA))
    if reason == "no answer":
        assert len(written) < 50 * len(rows)


def test_read_uses_the_process_that_was_prepared_and_ends_it(pool, tmp_path):
    pool.prepare()
    (process,) = pool.workers()
    told = []
    found = pool.read(uploads.open_files, SMALL, has_header=None, format=None, progress=told.append)
    assert outcome(lambda: found) == outcome(lambda: open_source(SMALL))
    assert not psutil.pid_exists(process) and not pool.workers()
    assert not list(tmp_path.iterdir())


def test_read_raises_the_errors_of_reading_with_their_line(pool):
    with pytest.raises(InputError, match="is never closed") as here:
        open_source([("a.csv", b'case,rater,class\n1,2,"\n')])
    with pytest.raises(InputError) as apart:
        pool.read(uploads.open_files, [("a.csv", b'case,rater,class\n1,2,"\n')], has_header=None, format=None)
    assert str(apart.value) == str(here.value) and apart.value.line == here.value.line


def begun(pool, ended, token=None):
    """A long reading in a thread; returns it and its process once that is at work."""

    def run():
        try:
            pool.read(uploads.open_files, long_file(), token=token, has_header=None, format=None)
        except Exception as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: any(worker.calls for worker in pool._apart))
    return thread, next(iter(pool._apart)).process.pid


def until(what):
    deadline = time.monotonic() + scaled(30)
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_a_cancelled_reading_ends_its_process_and_leaves_no_file(pool, tmp_path):
    token, ended = CancelToken(), []
    thread, process = begun(pool, ended, token)
    token.cancel()
    thread.join(scaled(10))
    assert isinstance(ended[0], Cancelled)
    assert not psutil.pid_exists(process)
    assert not list(tmp_path.iterdir())


def test_a_reading_whose_session_left_ends_its_process(pool):
    here = {"ada"}
    board = JobBoard(workers=1, is_connected=here.__contains__, unseen=0.0, given_up=60.0)

    def work(job):
        return pool.read(uploads.open_files, long_file(), token=job.token, has_header=None, format=None)

    job = board.join("key", "long", work, session="ada")
    until(lambda: any(worker.calls for worker in pool._apart))
    process = next(iter(pool._apart)).process.pid
    here.clear()
    board.beat()
    until(lambda: not psutil.pid_exists(process))
    job.cancel()
    assert job.wait(scaled(10)) and job.state == "cancelled"


@POSIX
def test_a_killed_reading_is_an_input_error(pool):
    ended = []
    thread, process = begun(pool, ended)
    os.kill(process, signal.SIGKILL)
    thread.join(scaled(20))
    assert isinstance(ended[0], InputError)
    assert str(ended[0]).startswith("Could not read the file. The worker process")
    assert pool.read(uploads.open_files, SMALL, has_header=None, format=None).questions


def test_closing_the_pool_ends_a_reading_under_way(pool):
    ended = []
    thread, process = begun(pool, ended)
    pool.close()
    thread.join(scaled(20))
    assert ended and not psutil.pid_exists(process)
    with pytest.raises(Cancelled):
        pool.read(uploads.open_files, SMALL, has_header=None, format=None)


def test_a_reading_of_too_much_memory_is_stopped(pool, monkeypatch):
    monkeypatch.setattr(workers, "_BYTES_PER_BYTE", 0)
    monkeypatch.setenv("PLURALITY_READING_MB", "5")
    with pytest.raises(
        InputError,
        match=r"Could not read the file: it needed more than 5 MB of memory, the limit for a file of [0-9.]+ MB",
    ):
        pool.read(uploads.open_files, long_file(), has_header=None, format=None)
    assert not pool._apart


def test_a_reading_that_takes_too_long_is_stopped_with_the_limit(pool, monkeypatch):
    monkeypatch.setattr(workers, "_SECONDS", 0.0)
    monkeypatch.setattr(workers, "_SECONDS_PER_MB", 0.001)
    with pytest.raises(InputError, match="seconds of processor time, the limit for"):
        pool.read(uploads.open_files, long_file(), has_header=None, format=None)


def test_a_large_file_may_take_no_more_than_half_of_the_computer(pool, monkeypatch):
    memory = psutil.virtual_memory()._replace(total=1_000 * workers.MEGABYTE)
    monkeypatch.setattr(workers.psutil, "virtual_memory", lambda: memory)
    worker = pool._started()
    try:
        most = [
            workers._Limits(worker, size, CancelToken()).most_bytes // workers.MEGABYTE
            for size in (0, 1 << 20, 1 << 30)
        ]
        assert most == [300, 340, 500]
        monkeypatch.setenv("PLURALITY_READING_MB", "800")
        assert workers._Limits(worker, 1 << 30, CancelToken()).most_bytes == 800 * workers.MEGABYTE
    finally:
        worker.end()


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA bounds what a process may take on Linux only")
def test_limit_memory_refuses_what_is_beyond_before_it_is_taken():
    code = (
        "from core.runtime.processes import limit_memory\n"
        "limit_memory(50 << 20)\n"
        "bytearray(40 << 20)\n"
        "try:\n    bytearray(1 << 30)\nexcept MemoryError:\n    print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "refused\n"


@POSIX
def test_a_small_file_does_not_wait_for_a_prepared_process(pool):
    """Processor seconds of a prepared process for a small file, by those of its start, in one run."""
    ratios = []
    for _ in range(3):
        pool.prepare()
        assert pool._workers[0].prepared.wait(scaled(60))
        started = sum(psutil.Process(pool.workers()[0]).cpu_times()[:2])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        pool.read(uploads.open_files, SMALL, has_header=None, format=None)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        ratios.append((whole - started) / started)
    assert statistics.median(ratios) < 0.25, ratios


@pytest.mark.parametrize("name", ["workbook, a long shared string", "csv, many columns", "parquet, a dictionary"])
def test_a_bomb_is_refused_in_the_same_words_as_here(pool, name):
    bomb = BOMBS[name]()
    with pytest.raises(InputError) as here:
        open_source([bomb])
    with pytest.raises(InputError) as apart:
        pool.read(uploads.open_files, [bomb], has_header=None, format=None)
    assert str(apart.value) == str(here.value)


@pytest.mark.parametrize(
    "content", [b"case,class,score\n1,x,1\n", b"0.1 0.9\n0.5 0.5\n", b'{"ann": {"1": "x"}}', b"\x00\x01", b"PK\x03\x04"]
)
def test_try_predictions_leaves_mistakes_to_the_match(tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    assert uploads.try_predictions([str(tmp_path / "a")], ["a.csv"])
