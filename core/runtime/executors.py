"""Run the same work on many items and add the results; they are the same to the bit on every runner."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np

from .chunks import CancelToken, map_chunks

Joined = TypeVar("Joined")


class Executor(ABC):
    """Runner of the same work on several items: in this process, or on a cluster (`core.runtime.cluster`)."""

    def each(
        self,
        work: Callable[..., Any],
        items: Sequence[Any],
        shared: tuple[Any, ...] = (),
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Iterator[Any]:
        """Yield the results of ``work(item, *shared)`` in the order of items, with few of them in memory at a time.

        Parameters
        ----------
        work : callable
            Function of a module, so that other processes can load it.
        items : sequence
        shared : tuple
            Further arguments of every call.
        token, progress
            See `core.runtime.chunks.map_chunks`.
        """
        return self._each(work, list(items), shared, token or CancelToken(), progress)

    @abstractmethod
    def _each(self, work, items, shared, token, progress) -> Iterator[Any]: ...

    def total(
        self,
        work: Callable[..., tuple],
        items: Sequence[Any],
        shared: tuple[Any, ...] = (),
        token: CancelToken | None = None,
    ) -> tuple:
        """Add the results, tuples of numbers and arrays, in the order of `reduction_steps`, with few of them in memory.

        Parameters
        ----------
        work, items, shared, token
            See `each`.
        """
        return ordered_reduce(self.each(work, items, shared, token), add_results)


class LocalExecutor(Executor):
    """Threads of this process, as a runner."""

    def _each(self, work, items, shared, token, progress) -> Iterator[Any]:
        return map_chunks(partial(_called, work, shared), items, token=token, progress=progress)


def _called(work: Callable[..., Any], shared: tuple[Any, ...], item: Any) -> Any:
    return work(item, *shared)


def ordered_reduce(results: Iterable[Joined], join: Callable[[Joined, Joined], Joined]) -> Joined:
    """Join results with their neighbours as `reduction_steps` says; keep at most one for each of its levels.

    Each takes part in as many joins as the tree has levels, so that joining results that grow costs n ln n, not n².

    Parameters
    ----------
    results : iterable
        Results to join, at least one.
    join : callable
        Function of two neighbours in their order.
    """
    waiting: list[tuple[int, Joined]] = []  # results by their level, as the digits of a binary number
    for result in results:
        level = 0
        while waiting and waiting[-1][0] == level:
            result = join(waiting.pop()[1], result)
            level += 1
        waiting.append((level, result))
    _, whole = waiting.pop()
    while waiting:
        whole = join(waiting.pop()[1], whole)
    return whole


def add_results(one: tuple, other: tuple) -> tuple:
    """Return the sum of two results, element by element; arrays of the first are overwritten if possible."""
    found = []
    for left, right in zip(one, other, strict=True):
        if isinstance(left, np.ndarray) and left.flags.writeable:
            left += right
            found.append(left)
        else:
            found.append(left + right)
    return tuple(found)


def reduction_steps(n_items: int) -> list[tuple[int, int]]:
    """List which results are added, in a valid order: the second to the first, until the first is the sum of all.

    Neighbours first, then neighbours of those: the order of `Executor.total` of every runner.
    """
    steps, stack, levels = [], list[int](), [0] * n_items
    for item in range(n_items):
        stack.append(item)
        while len(stack) > 1 and levels[stack[-2]] == levels[stack[-1]]:
            other = stack.pop()
            steps.append((stack[-1], other))
            levels[stack[-1]] += 1
    while len(stack) > 1:
        other = stack.pop()
        steps.append((stack[-1], other))
    return steps


def branches_of(n_items: int, least: int) -> list[slice]:
    """Group neighbours that are added first, in at least ``least`` groups if there are as many items.

    Sums of the groups, added in the order of `reduction_steps`, equal the sum of all items in that order: each group
    but the last is a branch of the tree.
    """
    size = 1
    while 2 * size * least <= n_items:
        size *= 2
    return [slice(first, first + size) for first in range(0, n_items, size)]
