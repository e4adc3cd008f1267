"""Limits of time that scale with the machine: what is too long on a fast one may be little on another."""

import time
from collections.abc import Callable
from functools import cache

_REFERENCE = 0.065  # seconds of the work below on the machine on which the limits were set
_N_TRIES = 3


@cache
def slowness(clock: Callable[[], float]) -> float:
    """Times that this machine takes of the reference's time, at least 1, by the quickest of a few tries.

    Parameters
    ----------
    clock : {time.perf_counter, time.process_time}
        By the first a machine with a quota of processor time counts as slow, as one with a slow processor does.
    """
    return max(1.0, min(_seconds(clock) for _ in range(_N_TRIES)) / _REFERENCE)


def scaled(seconds: float, clock: Callable[[], float] = time.perf_counter) -> float:
    """A limit on this machine, for what takes ``seconds`` at most on a fast one."""
    return seconds * slowness(clock)


def _seconds(clock: Callable[[], float]) -> float:
    """Seconds of a fixed piece of work of the interpreter."""
    began, total = clock(), 0
    for number in range(1_500_000):
        total += number * number % 7
    return clock() - began
