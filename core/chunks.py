"""Chunks of cases: the unit of work. One shared thread pool, a cancel token, and progress.

Kernels release the GIL, so threads over chunks use all cores; numba's own parallel loops would abort the process when
two sessions enter at once.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from .errors import Cancelled

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
_inside = threading.local()


class CancelToken:
    """A flag that the user raises and the work looks at between chunks."""

    def __init__(self) -> None:
        self._event = threading.Event()

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
            raise Cancelled("Stopped on request. Nothing was changed.")


def chunk_ranges(n_cases: int, size: int) -> list[tuple[int, int]]:
    """Half-open ranges ``[start, stop)`` of at most ``size`` cases that cover ``n_cases`` in order."""
    return [(start, min(start + size, n_cases)) for start in range(0, n_cases, size)]


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=os.cpu_count() or 1, thread_name_prefix="chunk")


def map_chunks(
    work: Callable[[Chunk], Result],
    chunks: list[Chunk],
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Result]:
    """Results of ``work`` over ``chunks`` in their order, computed by all cores.

    At most two chunks per core are under way or waiting to be taken, so memory does not grow with the number of chunks.
    Inside a chunk's own work the call runs in line: a pool that waits for itself would stand still.

    Parameters
    ----------
    work : callable
        Called with one chunk. Must not touch the screen.
    chunks : list
        What to work on, in the order of the results.
    token : CancelToken, optional
        Looked at before each chunk; raises `Cancelled`.
    progress : callable, optional
        Told the share done, 0 to 1, in the caller's thread.
    """
    token = token or CancelToken()
    if getattr(_inside, "chunk", False) or len(chunks) < 2:
        for done, chunk in enumerate(chunks, 1):
            token.check()
            yield work(chunk)
            _tell(progress, done / len(chunks))
        return

    def guarded(chunk: Chunk) -> Result:
        token.check()
        _inside.chunk = True
        try:
            return work(chunk)
        finally:
            _inside.chunk = False

    waiting = iter(chunks)
    running: deque[Future[Any]] = deque()
    try:
        for chunk in waiting:
            running.append(_pool().submit(guarded, chunk))
            if len(running) >= 2 * (os.cpu_count() or 1):
                break
        done = 0
        while running:
            result = running.popleft().result()
            done += 1
            token.check()
            for chunk in waiting:
                running.append(_pool().submit(guarded, chunk))
                break
            yield result
            _tell(progress, done / len(chunks))
    finally:
        for future in running:
            future.cancel()


def _tell(progress: Callable[[float], None] | None, share: float) -> None:
    if progress is not None:
        progress(share)
