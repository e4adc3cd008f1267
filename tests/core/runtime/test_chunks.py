"""Chunks of cases on the shared threads."""

import itertools
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import Cancelled
from core.runtime import chunks
from core.runtime.chunks import CancelToken, beside, chunk_ranges, map_chunks

CORES = os.cpu_count() or 1


@pytest.mark.parametrize(("n_cases", "size"), [(0, 3), (1, 3), (3, 3), (10, 3), (10, 100), (7, 1)])
def test_ranges_cover_every_case_once_in_order_and_keep_to_the_size(n_cases, size):
    ranges = chunk_ranges(n_cases, size)
    assert [case for start, stop in ranges for case in range(start, stop)] == list(range(n_cases))
    assert all(0 < stop - start <= size for start, stop in ranges)


@pytest.mark.parametrize("n_chunks", [0, 1, 2, 50])
def test_results_come_in_the_order_of_the_chunks(n_chunks):
    def work(chunk):
        time.sleep(0.002 * (chunk % 3 == 0))  # the first of each three ends last
        return chunk * chunk

    assert list(map_chunks(work, list(range(n_chunks)))) == [chunk * chunk for chunk in range(n_chunks)]


def test_chunks_run_at_the_same_time():
    """Chunks that wait for each other can only end together (two of them, where there are two cores)."""
    barrier = threading.Barrier(min(CORES, 2), timeout=20)
    assert len(list(map_chunks(lambda _: barrier.wait(), [0, 1]))) == 2


@pytest.mark.parametrize("chunk_list", [[0], [0, 1, 2, 3, 4, 5, 6, 7]], ids=["one chunk", "many"])
def test_an_error_in_a_chunk_reaches_the_caller_as_it_is(chunk_list):
    def work(chunk):
        if chunk == chunk_list[-1]:
            raise ZeroDivisionError("chunk")
        return chunk

    with pytest.raises(ZeroDivisionError, match="chunk"):
        list(map_chunks(work, chunk_list))
    assert list(map_chunks(lambda chunk: chunk, [1, 2, 3])) == [1, 2, 3]


def test_results_before_an_error_are_given():
    def work(chunk):
        if chunk == 3:
            raise KeyError(chunk)
        return chunk

    results = map_chunks(work, list(range(6)))
    assert [next(results), next(results), next(results)] == [0, 1, 2]
    with pytest.raises(KeyError):
        next(results)


@pytest.mark.parametrize("n_chunks", [1, 40])
def test_a_token_cancelled_before_the_start_lets_nothing_run(n_chunks):
    token, ran = CancelToken(), []
    token.cancel()
    with pytest.raises(Cancelled):
        list(map_chunks(ran.append, list(range(n_chunks)), token=token))
    assert ran == []


def test_a_token_cancelled_on_the_way_stops_the_chunks_that_have_not_begun():
    token, ran = CancelToken(), []

    def work(chunk):
        ran.append(chunk)
        if chunk == 2:
            token.cancel()
        return chunk

    with pytest.raises(Cancelled):
        list(map_chunks(work, list(range(500)), token=token))
    assert 3 <= len(ran) <= 3 + 2 * CORES


def test_never_more_than_two_chunks_per_core_are_begun_beyond_what_was_taken():
    """A slow reader of the results holds the work back, so memory does not grow with the number of chunks."""
    begun = []
    results = map_chunks(lambda chunk: begun.append(chunk) or chunk, list(range(200)))
    for taken in range(1, 30):
        next(results)
        time.sleep(0.002)
        assert len(begun) <= taken + 2 * CORES
    results.close()
    time.sleep(0.02)
    assert len(begun) <= 29 + 2 * CORES


def test_an_abandoned_reader_leaves_the_threads_free():
    results = map_chunks(lambda chunk: chunk, list(range(100)))
    next(results)
    results.close()
    assert list(map_chunks(lambda chunk: -chunk, list(range(20)))) == [-chunk for chunk in range(20)]


def test_a_call_inside_a_chunk_runs_in_line_and_does_not_stand_still():
    """As many outer chunks as threads, each of which would wait for threads that are all taken."""
    begun = threading.Barrier(min(CORES, 2), timeout=20)

    def inner(chunk):
        return threading.get_ident(), chunk

    def outer(chunk):
        if chunk < min(CORES, 2):
            begun.wait()
        return threading.get_ident(), list(map_chunks(inner, [1, 2, 3]))

    with ThreadPoolExecutor(1) as caller:
        found = caller.submit(lambda: list(map_chunks(outer, list(range(4 * CORES))))).result(timeout=30)
    for thread, results in found:
        assert results == [(thread, 1), (thread, 2), (thread, 3)]


def test_a_cancelled_token_stops_the_chunks_inside_a_chunk():
    token = CancelToken()

    def outer(chunk):
        token.cancel()
        return list(map_chunks(lambda inner: inner, [1, 2], token=token))

    with pytest.raises(Cancelled):
        list(map_chunks(outer, [0, 1, 2]))


@pytest.mark.parametrize("n_chunks", [1, 7])
def test_progress_is_told_in_the_callers_thread_and_reaches_1(n_chunks):
    seen = []
    list(map_chunks(abs, list(range(n_chunks)), progress=lambda share: seen.append((share, threading.get_ident()))))
    assert [share for share, _ in seen] == pytest.approx([(i + 1) / n_chunks for i in range(n_chunks)])
    assert {thread for _, thread in seen} == {threading.get_ident()}


def test_many_callers_share_the_threads_and_keep_their_own_results():
    def caller(number):
        return list(map_chunks(lambda chunk: chunk * number, list(range(40))))

    with ThreadPoolExecutor(8) as callers:
        for number, found in enumerate(callers.map(caller, range(8))):
            assert found == [chunk * number for chunk in range(40)]
    assert chunks._pool() is chunks._pool()


@pytest.mark.parametrize(("priority", "light_first"), [(60.0, True), (0.0, False)])
def test_chunks_of_light_work_go_before_those_of_heavy_work_that_waited_longer(priority, light_first):
    """All threads are held until both have queued; without a priority the order is that of coming."""
    queued, order = threading.Event(), []
    with ThreadPoolExecutor(3) as callers:
        held = [chunks._line.submit(-60.0, lambda: queued.wait(20)) for _ in range(CORES)]
        heavy = callers.submit(
            lambda: list(map_chunks(lambda _: order.append("heavy"), [0, 1], token=CancelToken(priority)))
        )
        until(lambda: len(chunks._line._waiting) == 2)
        light = callers.submit(lambda: list(map_chunks(lambda _: order.append("light"), [0, 1])))
        until(lambda: len(chunks._line._waiting) == 4)
        queued.set()
        assert len(heavy.result(20)) == len(light.result(20)) == 2
        assert all(each.result(20) for each in held)
    assert (order.index("light") < order.index("heavy")) == light_first
    assert (order[-1] == "heavy") == light_first


def until(true):
    """Wait until something is true."""
    for _ in range(2000):
        if true():
            return
        time.sleep(0.01)
    raise AssertionError("never true")


def test_heavy_work_goes_on_beside_light_work_that_never_ends():
    """Its chunks stand back by a time, and not for ever."""
    ended = threading.Event()

    def light():
        for _ in itertools.takewhile(lambda _: not ended.is_set(), itertools.count()):
            list(map_chunks(lambda _: time.sleep(0.002), list(range(4 * CORES))))

    with ThreadPoolExecutor(3) as callers:
        for _ in range(2):
            callers.submit(light)
        try:
            heavy = callers.submit(lambda: list(map_chunks(abs, list(range(20)), token=CancelToken(0.02))))
            assert heavy.result(20) == list(range(20))
        finally:
            ended.set()


def test_the_message_of_a_cancelled_token_is_calm():
    token = CancelToken()
    token.check()
    assert not token.cancelled
    token.cancel()
    with pytest.raises(Cancelled, match="Nothing was changed"):
        token.check()


def test_what_is_worked_out_beside_has_a_thread_of_its_own_and_its_error_comes_where_it_is_asked_for():
    go, where = threading.Event(), []

    def work(number):
        assert go.wait(60)
        where.append(threading.current_thread())
        return 10 // number

    found, wrong = beside(work, 5), beside(work, 0)
    assert not found.done()
    go.set()
    assert found.result(60) == 2
    with pytest.raises(ZeroDivisionError):
        wrong.result(60)
    for thread in where:
        thread.join(60)
    assert threading.current_thread() not in where and not any(thread.is_alive() for thread in where)
