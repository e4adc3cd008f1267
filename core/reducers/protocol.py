"""Protocol of reducers, which take draws one case at a time, and the driver that runs them over chunks of cases.

One protocol for the sweep, the single case, threads and cancel: memory grows with what a reducer keeps, never with
cases × draws × classes.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

from ..annotations.dataset import Dataset
from ..plausibility.protocol import CaseDraws
from ..runtime.chunks import CancelToken, chunk_ranges
from ..runtime.executors import Executor, LocalExecutor, ordered_reduce

CHUNK_CASES = 128


class Reducer(Protocol):
    """Protocol of a reducer: it summarises a stream of draws. States of chunks are merged in the order of the cases."""

    def init(self, n_cases: int, n_draws: int) -> Any:
        """Return an empty state for a chunk of ``n_cases`` cases."""

    def update(self, state: Any, place: int, case: int, draws: CaseDraws) -> None:
        """Add one case to the state.

        Parameters
        ----------
        state : Any
            State of the chunk; changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.
        """

    def merge(self, states: Sequence[Any]) -> Any:
        """Merge the states of consecutive chunks."""

    def result(self, state: Any) -> Any:
        """Return the result for the user."""


class DrawSource(Protocol):
    """Source of draws: a `PlausibilityModel`, or saved draws."""

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Yield the position and draws of each case, in order.

        Parameters
        ----------
        dataset : Dataset
        reliability : float
            Reliability γ > 0, how much each annotation counts.
        n_draws, seed : int
        cases : range, optional
            Positions of cases; all by default.
        """


def reduce_draws(
    model: DrawSource,
    dataset: Dataset,
    reducers: Sequence[Reducer],
    *,
    reliability: float,
    n_draws: int,
    seed: int,
    cases: range | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> list[Any]:
    """Compute the results of all reducers in one pass over the draws; each draw is made once.

    The result does not depend on chunks or threads, because each case has its own seed.

    Parameters
    ----------
    model : DrawSource
    dataset : Dataset
    reducers : sequence of Reducer
    reliability : float
        Reliability γ > 0, how much each annotation counts.
    n_draws, seed : int
    cases : range, optional
        Positions of consecutive cases; all if omitted.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    runner : Executor, optional
        Executor of the chunks; this process if omitted.
    """
    cases = range(dataset.n_cases) if cases is None else cases
    # A chain over all cases runs before their draws, which is half of the work.
    if prepare := getattr(model, "prepare", None):
        asked = {"reliability": reliability, "n_draws": n_draws, "seed": seed}
        model = prepare(dataset, **asked, token=token, progress=_half(progress, 0.0))
        progress = _half(progress, 0.5)

    chunks = [cases[first:last] for first, last in chunk_ranges(len(cases), CHUNK_CASES)] or [cases]
    shared = (model, dataset, tuple(reducers), reliability, n_draws, seed)
    found = (runner or LocalExecutor()).each(states_of_chunk, chunks, shared, token, progress)
    states = ordered_reduce(found, partial(_merged, reducers))
    return [reducer.result(state) for reducer, state in zip(reducers, states, strict=True)]


def states_of_chunk(
    part: range,
    model: DrawSource,
    dataset: Dataset,
    reducers: Sequence[Reducer],
    reliability: float,
    n_draws: int,
    seed: int,
) -> list[Any]:
    """Update each reducer with the draws of some consecutive cases, and return the states.

    Parameters
    ----------
    part : range
        Positions of the cases.
    model, dataset, reducers, reliability, n_draws, seed
        Arguments of `reduce_draws`.
    """
    states = [reducer.init(len(part), n_draws) for reducer in reducers]
    stream = model.draws(dataset, reliability=reliability, n_draws=n_draws, seed=seed, cases=part)
    for place, (case, draws) in enumerate(stream):
        for reducer, state in zip(reducers, states, strict=True):
            reducer.update(state, place, case, draws)
    return states


def _half(progress: Callable[[float], None] | None, start: float) -> Callable[[float], None] | None:
    return None if progress is None else lambda share: progress(start + share / 2)


def _merged(reducers: Sequence[Reducer], one: list[Any], other: list[Any]) -> list[Any]:
    return [reducer.merge(both) for reducer, *both in zip(reducers, one, other, strict=True)]
