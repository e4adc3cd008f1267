"""Long work in the background."""

import gc
import threading
import time
import weakref

import pytest

from core.errors import Cancelled, InputError
from core.runtime.chunks import map_chunks
from core.runtime.jobs import Job, JobBoard
from core.runtime.result_cache import Remembered
from tests.speed import scaled

PATIENCE = 20


@pytest.fixture
def runner():
    return JobBoard(workers=1, kept=3)


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
    assert runner.get(job.key) is job
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
    assert running.wait(PATIENCE) and running.state == "done"


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


def test_a_waiting_job_says_how_many_are_before_it_the_running_one_too(runner, gate):
    running = runner.submit("holds", holding(gate))
    assert gate[0].wait(PATIENCE)
    waiting = [runner.submit(str(number), lambda job: None) for number in range(3)]
    assert runner.position(running) == 0
    assert [runner.position(job) for job in waiting] == [1, 2, 3]
    gate[1].set()
    assert all(job.wait(PATIENCE) for job in waiting)
    assert [runner.position(job) for job in waiting] == [0, 0, 0]


def test_only_the_last_finished_jobs_are_kept(runner):
    jobs = []
    for number in range(10):
        jobs.append(runner.submit(str(number), lambda job, number=number: number))
        assert jobs[-1].wait(PATIENCE)
    kept = [job for job in jobs if runner.get(job.key) is job]
    assert kept == jobs[-len(kept) :]
    assert len(kept) <= 4
    assert runner.get(jobs[0].key) is None
    assert runner.get("no such job") is None


def test_looking_at_a_job_keeps_it(runner):
    """Of a job that a screen polls and others that nobody asks for, the others go, though they are younger."""
    watched = runner.submit("watched", lambda job: "kept")
    ignored = runner.submit("ignored", lambda job: None)
    assert ignored.wait(PATIENCE)
    for number in range(10):
        assert runner.get(watched.key) is watched
        assert runner.submit(str(number), lambda job: None).wait(PATIENCE)
    assert runner.get(watched.key).result == "kept"
    assert runner.get(ignored.key) is None


def test_waiting_and_running_jobs_are_never_forgotten(runner, gate):
    running = runner.submit("holds", holding(gate))
    waiting = [runner.submit(str(number), lambda job: None) for number in range(8)]
    assert runner.get(running.key) is running
    assert all(runner.get(job.key) is job for job in waiting)
    gate[1].set()
    assert waiting[-1].wait(PATIENCE)


def test_finished_jobs_whose_results_are_soon_there_again_are_discarded(gate):
    runner = JobBoard(workers=2)
    found = {}
    for soon in (True, False):
        found[soon] = runner.ended(soon, "read", Remembered(7, lambda soon=soon: soon))
    computed = runner.submit("computed", lambda job: 8)
    assert computed.wait(PATIENCE)
    running = runner.submit("holds", holding(gate))
    running.remembered = Remembered(9, lambda: True)
    other = runner.submit("other", lambda job: 9)
    assert other.wait(PATIENCE)
    runner.discard(lambda job: job.title == "other" or job is running)
    assert runner.get(other.key) is None
    assert runner.get(True) is None
    assert (runner.get(False), runner.get(computed.key), runner.get(running.key)) == (found[False], computed, running)


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


def test_whoever_asks_at_the_same_moment_gets_one_job():
    for round_ in range(30):
        board, ran, found = JobBoard(), [], []
        ready = threading.Barrier(8)

        def ask(board=board, ran=ran, found=found, ready=ready):
            ready.wait(PATIENCE)
            found.append(board.join("key", "title", lambda job: ran.append(1), session=threading.current_thread().name))

        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found[0].wait(PATIENCE)
        assert len({job.id for job in found}) == 1 and ran == [1], round_


def test_sessions_take_turns_and_light_work_of_a_session_goes_first(gate):
    board, order = JobBoard(workers=1), []
    board.submit("holds", holding(gate), session="a")
    assert gate[0].wait(PATIENCE)
    told = [("a", 1), ("a", 3), ("a", 1), ("b", 3), ("b", 1), ("c", 2)]
    jobs = [
        board.submit(f"{who}{cost}", lambda job: order.append(job.title), session=who, cost=cost) for who, cost in told
    ]
    gate[1].set()
    assert all(job.wait(PATIENCE) for job in jobs)
    assert order == ["b1", "c2", "a1", "b3", "a1", "a3"]


def test_heavy_work_leaves_a_place_for_light_work(gate):
    board = JobBoard(workers=2)
    heavy = [board.submit("heavy", holding(gate), session=who, cost=3) for who in "ab"]
    assert gate[0].wait(PATIENCE)
    light = board.submit("light", lambda job: 1, session="c")
    assert light.wait(PATIENCE)
    assert [job.state for job in heavy] == ["running", "waiting"]


def test_a_waiting_job_ends_at_once_when_it_is_cancelled(runner, gate):
    runner.submit("holds", holding(gate))
    waiting = runner.submit("waits", lambda job: 1)
    waiting.cancel()
    assert waiting.finished and waiting.state == "cancelled" and isinstance(waiting.error, Cancelled)


def counting(steps, may_go):
    """Work of 300 steps that can be seen."""

    def work(job):
        for step in range(300):
            job.token.check()
            assert may_go.wait(PATIENCE)
            time.sleep(0.001)
            steps.append(step)
        return len(steps)

    return work


@pytest.fixture
def watched():
    """A board of one worker, whom it takes for connected, and a job of a session with the steps that it has done."""
    here, steps, may_go = {"a"}, [], threading.Event()
    board = JobBoard(workers=1, is_connected=here.__contains__, unseen=0.0, given_up=60.0)
    job = board.join("key", "long", counting(steps, may_go), session="a")
    may_go.set()
    until(lambda: steps)
    return board, here, job, steps


def until(what):
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_what_nobody_looks_at_gives_its_place_away_and_goes_on_from_where_it_was(watched):
    board, here, job, steps = watched
    here.clear()
    board.beat()
    until(lambda: job.state == "paused")
    done = len(steps)
    here.add("b")
    assert board.submit("other", lambda job: "done", session="b").wait(PATIENCE)
    assert (job.state, len(steps)) == ("paused", done) and 0 < done < 300
    assert board.join("key", "long", None, session="b") is job
    assert job.wait(PATIENCE)
    assert (job.state, job.result, steps) == ("done", 300, list(range(300)))


def test_a_blip_holds_nothing(watched):
    board, here, job, _ = watched
    board._unseen = 5.0
    here.clear()
    board.beat()
    here.add("a")
    board.beat()
    assert job.wait(PATIENCE) and job.state == "done"


def test_a_board_looks_at_its_jobs_only_while_there_are_any_and_is_then_let_go_of(gate, monkeypatch):
    monkeypatch.setattr("core.runtime.jobs._BEAT", 0.01)

    def two_jobs_after_one_another():
        here = {"a"}
        board = JobBoard(workers=1, is_connected=here.__contains__, unseen=0.0)
        assert board.join("first", "first", lambda job: 1, session="a").wait(PATIENCE)
        until(lambda: board._watching is None)
        assert board.join("first", "first", None, session="a").state == "done" and board._watching is None
        job = board.join("second", "second", holding(gate), session="a")
        here.clear()
        until(lambda: job.token.paused)
        here.add("a")
        gate[1].set()
        assert job.wait(PATIENCE)
        return weakref.ref(board)

    alive = two_jobs_after_one_another()
    until(lambda: gc.collect() >= 0 and alive() is None)


def test_what_was_held_can_be_cancelled_at_once_and_ends_after_its_time(watched):
    board, here, job, _ = watched
    here.clear()
    board.beat()
    until(lambda: job.state == "paused")
    board._given_up = 0.0
    before = time.monotonic()
    board.beat()
    assert job.wait(scaled(1.0)) and time.monotonic() - before < scaled(1.0)
    assert job.state == "cancelled"


def test_with_nobody_left_a_job_is_cancelled_and_with_somebody_it_is_not(gate):
    board = JobBoard()
    job = board.join("key", "long", holding(gate), session="a")
    board.watch("key", "a")
    board.watch("key", "b/models")
    board.leave("key", "a")
    assert not job.token.cancelled
    board.leave("key", "b/models")
    assert job.token.cancelled and board.get("key") is None


def test_chunks_of_what_is_heavier_stand_back():
    light, opening, heavy = (Job("test", cost=cost).token.priority for cost in (1, 2, 3))
    assert light == 0 < opening < heavy


def test_what_one_session_cancelled_is_started_anew_for_another_and_stays_cancelled_for_the_first(runner, gate):
    first = runner.join("key", "title", holding(gate), session="ada")
    assert gate[0].wait(PATIENCE)
    runner.cancel("key", "ada")
    gate[1].set()
    assert first.wait(PATIENCE) and first.state == "cancelled"
    assert runner.join("key", "title", lambda job: 1, session="ada") is first
    may_end = threading.Event()
    anew = runner.join("key", "title", lambda job: may_end.wait(PATIENCE) and 2, session="bob")
    assert anew is not first
    assert runner.join("key", "title", lambda job: 3, session="bob") is anew
    assert runner.join("key", "title", lambda job: 3, session="ada") is first
    may_end.set()
    assert anew.wait(PATIENCE) and anew.result == 2
    assert runner.join("key", "title", lambda job: 3, session="ada") is anew


def test_who_tries_again_what_they_cancelled_joins_what_another_has_under_way(runner, gate):
    first = runner.join("key", "title", lambda job: 1, session="ada")
    assert first.wait(PATIENCE)
    runner.remove("key")
    holds = runner.submit("holds", holding(gate))
    first = runner.join("key", "title", lambda job: 1, session="ada")
    runner.cancel("key", "ada")
    assert first.state == "cancelled" and holds.state == "running"
    anew = runner.join("key", "title", lambda job: 2, session="bob")
    runner.again("key", "ada")
    assert runner.join("key", "title", lambda job: 3, session="ada") is anew and not anew.finished
    gate[1].set()
    assert anew.wait(PATIENCE) and anew.result == 2


def test_who_tries_again_what_they_cancelled_alone_starts_it_anew(runner, gate):
    runner.submit("holds", holding(gate))
    first = runner.join("key", "title", lambda job: 1, session="ada")
    runner.cancel("key", "ada")
    runner.again("key", "ada")
    anew = runner.join("key", "title", lambda job: 2, session="ada")
    gate[1].set()
    assert anew is not first and anew.wait(PATIENCE) and anew.result == 2


def test_what_failed_or_ended_itself_as_cancelled_is_not_started_again_by_whoever_asks(runner):
    """Or a page would ask for ever."""

    def gives_up(job):
        raise Cancelled("by itself")

    job = runner.join("key", "title", gives_up, session="ada")
    assert job.wait(PATIENCE) and job.state == "cancelled"
    assert runner.join("key", "title", gives_up, session="bob") is job


@pytest.fixture
def order_of():
    """A board, what began on it in its order, and a way to join it."""
    board, order = JobBoard(workers=3), []

    def join(title, session="ada", cost=1, **more):
        return board.join(title, title, lambda job: order.append(title), session=session, cost=cost, **more)

    return board, order, join


def test_what_nobody_waits_for_begins_when_the_page_is_drawn_and_has_the_light_work_that_it_asked_for(order_of, gate):
    board, order, join = order_of
    board.drawing("ada", True)
    marks = join("marks", cost=2, background=True)
    asked = board.join("asked", "asked", holding(gate), session="ada")
    assert gate[0].wait(PATIENCE) and marks.state == "waiting"
    board.drawing("ada", False)
    assert marks.state == "waiting"
    gate[1].set()
    assert asked.wait(PATIENCE)
    assert marks.state == "waiting"  # the page is about to be drawn with what it asked for
    board.drawing("ada", True)
    assert marks.state == "waiting"
    board.drawing("ada", False)
    assert marks.wait(PATIENCE) and order == ["marks"]


def test_what_nobody_waits_for_begins_also_where_no_page_is_drawn_any_more(order_of, monkeypatch):
    monkeypatch.setattr("core.runtime.jobs._REDRAWN", 0.05)
    _, order, join = order_of
    assert join("asked").wait(PATIENCE)
    assert join("marks", background=True).wait(PATIENCE) and order == ["asked", "marks"]


def test_what_another_session_waits_for_or_asks_for_at_last_begins_at_once(order_of):
    board, order, join = order_of
    for session in ("ada", "bob"):
        board.drawing(session, True)
    marks = join("marks", cost=2, background=True)
    assert join("marks", session="bob", background=True) is marks and marks.state == "waiting"
    assert join("marks", session="cyd", background=True).wait(PATIENCE)
    curve = join("curve", cost=3, background=True)
    assert curve.state == "waiting"
    assert join("curve").wait(PATIENCE) and order == ["marks", "curve"]


def test_what_one_session_cancels_goes_on_for_others_who_look_at_it(runner, gate):
    job = runner.join("key", "title", holding(gate, "done"), session="ada")
    assert gate[0].wait(PATIENCE)
    runner.watch("key", "ada")
    assert runner.join("key", "title", None, session="bob") is job
    runner.cancel("key", "ada")
    mine = runner.join("key", "title", None, session="ada")
    assert mine is not job and mine.finished and mine.state == "cancelled" and mine.token.cancelled
    runner.watch("key", "ada")  # as a page does that draws what was cancelled
    assert runner.join("key", "title", None, session="bob") is job and not job.token.cancelled
    runner.again("key", "ada")
    assert runner.join("key", "title", None, session="ada") is job
    runner.cancel("key", "ada")
    gate[1].set()
    assert job.wait(PATIENCE) and job.result == "done"
    assert runner.join("key", "title", None, session="ada") is job


def test_the_last_who_looks_at_what_another_has_cancelled_ends_it(runner, gate):
    job = runner.join("key", "title", holding(gate), session="ada")
    runner.join("key", "title", None, session="bob")
    for session in ("ada", "bob"):
        runner.watch("key", session)
    runner.cancel("key", "ada")
    runner.watch("key", "ada")
    assert not job.token.cancelled
    runner.leave("key", "bob")
    assert job.token.cancelled


def test_what_only_a_closed_tab_looks_at_besides_is_cancelled(gate):
    board = JobBoard(workers=1, is_connected=lambda session: session != "gone")
    job = board.join("key", "title", holding(gate), session="gone")
    board.join("key", "title", None, session="ada")
    board.cancel("key", "ada")
    assert job.token.cancelled
