"""Long work in the background."""

import gc
import threading
import time
import weakref

import pytest

from core.chunks import map_chunks
from core.errors import Cancelled, InputError
from core.jobs import Job, JobRunner

PATIENCE = 20


@pytest.fixture
def runner():
    return JobRunner(kept=3)


@pytest.fixture
def gate():
    """Two events: the work has begun, and it may end."""
    begun, may_end = threading.Event(), threading.Event()
    yield begun, may_end
    may_end.set()


def holding(gate, result=None):
    begun, may_end = gate

    def work(job):
        begun.set()
        assert may_end.wait(PATIENCE)
        return result

    return work


def test_work_is_done_with_its_result(runner):
    job = runner.submit("sum", lambda job: 1 + 1)
    assert job.wait(PATIENCE)
    assert (job.state, job.result, job.error, job.progress, job.finished) == ("done", 2, None, 1.0, True)
    assert runner.get(job.id) is job
    assert job.title == "sum"


@pytest.mark.parametrize("error", [InputError("no column"), SystemExit(3), KeyboardInterrupt(), MemoryError()])
def test_whatever_the_work_raises_fails_that_job_and_the_next_still_runs(runner, error):
    def work(job):
        raise error

    failed, after = runner.submit("fails", work), runner.submit("after", lambda job: "fine")
    assert failed.wait(PATIENCE) and after.wait(PATIENCE)
    assert (failed.state, failed.error, failed.result) == ("failed", error, None)
    assert after.result == "fine"


def test_a_job_cancelled_while_it_waits_never_starts(runner, gate):
    running, ran = runner.submit("holds", holding(gate)), []
    waiting = runner.submit("waits", lambda job: ran.append(1))
    assert gate[0].wait(PATIENCE)
    assert (running.state, waiting.state) == ("running", "waiting")
    waiting.cancel()
    gate[1].set()
    assert waiting.wait(PATIENCE)
    assert waiting.state == "cancelled" and ran == []
    assert isinstance(waiting.error, Cancelled)
    assert running.state == "done"


def test_a_job_cancelled_while_it_runs_stops_at_its_next_chunk(runner):
    seen = threading.Event()

    def work(job):
        def chunk(number):
            seen.set()
            time.sleep(0.001)
            return number

        return list(map_chunks(chunk, list(range(100_000)), token=job.token, progress=job.report))

    job = runner.submit("long", work)
    assert seen.wait(PATIENCE)
    job.cancel()
    assert job.wait(PATIENCE)
    assert job.state == "cancelled"
    assert job.result is None and 0 <= job.progress < 1


def test_work_that_ignores_its_cancelled_token_has_no_result(runner, gate):
    job = runner.submit("deaf", holding(gate, "too late"))
    assert gate[0].wait(PATIENCE)
    job.cancel()
    gate[1].set()
    assert job.wait(PATIENCE)
    assert (job.state, job.result) == ("cancelled", None)


def test_progress_stays_within_0_and_1_and_a_message_stays_until_the_next():
    job = Job("test")
    job.report(-3, "reading")
    assert (job.progress, job.message) == (0, "reading")
    job.report(7)
    assert (job.progress, job.message) == (1, "reading")
    job.report(0.5, "fitting")
    assert (job.progress, job.message) == (0.5, "fitting")


def test_the_time_left_is_what_the_share_done_leaves():
    job = Job("test")
    assert job.seconds_left() is None
    job.state, job.started = "running", time.monotonic() - 30
    assert job.seconds_left() is None
    job.report(0.75)
    assert job.seconds_left() == pytest.approx(10, abs=0.5)
    job.report(0.01)
    assert job.seconds_left() is None
    job.report(1)
    assert job.seconds_left() == 0
    job.state = "done"
    assert job.seconds_left() is None


def test_jobs_run_one_after_the_other_in_the_order_of_their_coming(runner):
    order, at_once = [], []

    def work(number):
        def run(job):
            at_once.append(number)
            assert len(at_once) == 1
            time.sleep(0.002)
            order.append(at_once.pop())

        return run

    jobs = [runner.submit(str(number), work(number)) for number in range(6)]
    assert all(job.wait(PATIENCE) for job in jobs)
    assert [job.state for job in jobs] == ["done"] * 6
    assert order == list(range(6))


def test_a_waiting_job_says_how_many_wait_before_it(runner, gate):
    running = runner.submit("holds", holding(gate))
    assert gate[0].wait(PATIENCE)
    waiting = [runner.submit(str(number), lambda job: None) for number in range(3)]
    assert runner.position(running) == 0
    assert [runner.position(job) for job in waiting] == [0, 1, 2]
    gate[1].set()
    assert all(job.wait(PATIENCE) for job in waiting)
    assert [runner.position(job) for job in waiting] == [0, 0, 0]


def test_only_the_last_finished_jobs_are_kept(runner):
    jobs = []
    for number in range(10):
        jobs.append(runner.submit(str(number), lambda job, number=number: number))
        assert jobs[-1].wait(PATIENCE)
    kept = [job for job in jobs if runner.get(job.id) is job]
    assert kept == jobs[-len(kept) :]
    assert len(kept) <= 4
    assert runner.get(jobs[0].id) is None
    assert runner.get("no such job") is None


def test_looking_at_a_job_keeps_it(runner):
    """Of a job that a screen polls and others that nobody asks for, the others go, though they are younger."""
    watched = runner.submit("watched", lambda job: "kept")
    ignored = runner.submit("ignored", lambda job: None)
    assert ignored.wait(PATIENCE)
    for number in range(10):
        assert runner.get(watched.id) is watched
        assert runner.submit(str(number), lambda job: None).wait(PATIENCE)
    assert runner.get(watched.id).result == "kept"
    assert runner.get(ignored.id) is None


def test_waiting_and_running_jobs_are_never_forgotten(runner, gate):
    running = runner.submit("holds", holding(gate))
    waiting = [runner.submit(str(number), lambda job: None) for number in range(8)]
    assert runner.get(running.id) is running
    assert all(runner.get(job.id) is job for job in waiting)
    gate[1].set()
    assert waiting[-1].wait(PATIENCE)


def test_work_that_has_ended_is_let_go_of(runner):
    """What a closure holds, for example a dataset, must not stay in memory until the next job comes."""

    class Data:
        pass

    data = Data()
    alive = weakref.ref(data)
    job = runner.submit("holds data", lambda job, data=data: None)
    assert job.wait(PATIENCE)
    del data
    deadline = time.monotonic() + 5
    while alive() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.005)
    assert alive() is None


def test_waiting_for_a_job_gives_up_after_its_time(runner, gate):
    job = runner.submit("holds", holding(gate))
    assert job.wait(0.01) is False
    assert not job.finished
