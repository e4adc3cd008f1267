"""Chunks of cases, the unit of work: one shared thread pool that does light work first, a cancel token, and progress.

Kernels release the GIL, so threads over chunks use all cores; numba's own parallel loops would abort the process when
two sessions enter at once.
"""

import heapq
import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeVar

from ..errors import Cancelled

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
_inside = threading.local()
_N_CORES = os.cpu_count() or 1


class CancelToken:
    """Flag that the user sets and that the work checks between chunks.

    Attributes
    ----------
    priority : float
        Seconds by which the work's chunks are queued behind those of others, so that light work goes before heavy work,
        which still makes progress.
    """

    def __init__(self, priority: float = 0.0) -> None:
        self._event = threading.Event()
        self.priority = priority

    def cancel(self) -> None:
        """Ask the work to stop at the next chunk."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """True once somebody asked to stop."""
        return self._event.is_set()

    def check(self) -> None:
        """Raise `Cancelled` if somebody asked to stop."""
        if self.cancelled:
            raise Cancelled("Cancelled. Nothing was changed.")


def chunk_ranges(n_cases: int, size: int) -> list[tuple[int, int]]:
    """List half-open ranges ``[start, stop)`` of at most ``size`` cases that cover ``n_cases`` in order."""
    return [(start, min(start + size, n_cases)) for start in range(0, n_cases, size)]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=_N_CORES, thread_name_prefix="chunk")


def rest() -> None:
    """End the threads of the pool if nothing is running; the next work starts them again.

    A process must do so before it forks: its child would wait for threads that it does not have.
    """
    _pool().shutdown()
    _pool.cache_clear()


class _Line:
    """Queue entry for the pool, ordered by the time when it was added plus its delay."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[tuple[float, int, Future[Any], Callable[[], Any]]] = []
        self._number = itertools.count()

    def submit(self, priority: float, work: Callable[[], Any]) -> Future[Any]:
        """Queue a piece of work; each thread that becomes free takes the first one in the queue."""
        future: Future[Any] = Future()
        with self._lock:
            heapq.heappush(self._waiting, (time.monotonic() + priority, next(self._number), future, work))
        _pool().submit(self._take)
        return future

    def _take(self) -> None:
        with self._lock:
            _, _, future, work = heapq.heappop(self._waiting)
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)


_line = _Line()


@contextmanager
def in_line() -> Iterator[None]:
    """Do chunks in this thread only for the duration of a block, because it is one of many threads that work."""
    before = getattr(_inside, "chunk", False)
    _inside.chunk = True
    try:
        yield
    finally:
        _inside.chunk = before


def map_chunks(
    work: Callable[[Chunk], Result],
    chunks: list[Chunk],
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Result]:
    """Yield the results of ``work`` over ``chunks`` in their order, computed by all cores.

    At most two chunks per core are under way or waiting to be taken, so memory does not grow with the number of chunks.
    Inside a chunk's own work the call runs in line: a pool that waits for itself would stand still.

    Parameters
    ----------
    work : callable
        Called with one chunk. Must not touch the screen.
    chunks : list
        What to work on, in the order of the results.
    token : CancelToken, optional
        Checked before each chunk; if it is set, `Cancelled` is raised.
    progress : callable, optional
        Called with the share done, 0 to 1, in the caller's thread.
    """
    if getattr(_inside, "chunk", False) or len(chunks) < 2:
        for done, chunk in enumerate(chunks, 1):
            if token is not None:
                token.check()
            yield work(chunk)
            _tell(progress, done / len(chunks))
        return
    token = token or CancelToken()

    def guarded(chunk: Chunk) -> Result:
        token.check()
        with in_line():
            return work(chunk)

    waiting = iter(chunks)
    running: deque[Future[Any]] = deque()
    try:
        for chunk in waiting:
            running.append(_line.submit(token.priority, partial(guarded, chunk)))
            if len(running) >= 2 * _N_CORES:
                break
        done = 0
        while running:
            result = running.popleft().result()
            done += 1
            token.check()
            for chunk in waiting:
                running.append(_line.submit(token.priority, partial(guarded, chunk)))
                break
            yield result
            _tell(progress, done / len(chunks))
    finally:
        for future in running:
            future.cancel()


def beside(work: Callable[..., Result], *arguments: Any) -> "Future[Result]":
    """Compute one short piece of work in a thread of its own while the caller continues.

    Parameters
    ----------
    work : callable
    *arguments
        Arguments of ``work``; if it can be cancelled, a token is among them.

    Returns
    -------
    Future
    """
    one = ThreadPoolExecutor(1, f"beside-{getattr(work, '__name__', 'work')}")
    found = one.submit(work, *arguments)
    one.shutdown(wait=False)
    return found


def _tell(progress: Callable[[float], None] | None, share: float) -> None:
    if progress is not None:
        progress(share)
