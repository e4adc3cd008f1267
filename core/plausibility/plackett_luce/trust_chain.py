"""One chain of mixture Plackett-Luce over all cases: cases in chunks given a, then a given u."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...annotations.dataset import Dataset
from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ...runtime.numba_setup import STATE_WORDS, thread_generator
from ._trust_kernels import advance_cases
from .trust_prior import START, PriorClimb
from .trust_tables import Streams, TrustTables

CHUNK_CASES = 512


@dataclass(frozen=True, slots=True, eq=False)
class ChainPlan:
    """Plan of a chain: reliability, prior shapes, numbers of sweeps and depth.

    Attributes
    ----------
    reliability : float
        Reliability γ.
    shapes : tuple of (float, ndarray, float)
        Prior shape of a named class, of the sum of the never-named (by case), and of each of these.
    n_burn, n_kept : int
        Number of sweeps that are discarded, and that are kept after them.
    depth : int
        Number of first places that draws distinguish.
    """

    reliability: float
    shapes: tuple[float, np.ndarray, float]
    n_burn: int
    n_kept: int
    depth: int


def run_chain(
    plan: ChainPlan,
    tables: TrustTables,
    streams: Streams,
    prior: tuple[float, float] | None,
    climb: PriorClimb | None,
    attended: np.ndarray,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    """Run one chain over all cases: (λ, u) of cases in chunks given a, then a given u.

    Parameters
    ----------
    plan : ChainPlan
    tables : TrustTables
    streams : Streams
    prior : tuple of two float, optional
        A and B of Beta(A, B).
    climb : PriorClimb, optional
        Search for the prior during the burn-in, if ``prior`` is omitted.
    attended : ndarray of float64, shape (n_annotations,)
        Array to which P(u = 1 | ·) of the kept sweeps is added.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Returns
    -------
    ndarray, shape (n_sweeps + 1, n_raters)
        Values of a before each sweep and after the last.
    """
    n_sweeps = plan.n_burn + plan.n_kept
    n, rng = per_rater(tables), np.random.default_rng(streams.trust)
    advance = _sweeps(plan, tables, streams, attended, token)
    trust = np.empty((n_sweeps + 1, tables.n_raters))
    a, b = climb.prior if climb is not None else prior or START
    trust[0] = 0.5 if streams.scattered else a / (a + b)
    for sweep in range(n_sweeps):
        counts = advance(sweep, trust[sweep : sweep + 1])
        if climb is not None and sweep < plan.n_burn:
            climb.take(sweep, counts)
            a, b = climb.prior
        trust[sweep + 1] = rng.beta(a + counts, b + (n - counts))
        if progress is not None:
            progress((sweep + 1) / n_sweeps)
    return trust


def _sweeps(
    plan: ChainPlan, tables: TrustTables, streams: Streams, attended: np.ndarray, token: CancelToken | None
) -> Callable[[int, np.ndarray], np.ndarray]:
    """Return a function that takes all cases through one sweep given a, and counts annotations with u = 1 by rater."""
    states = np.empty((tables.n_cases, STATE_WORDS), np.uint32)
    lam, attends = np.empty(tables.place_at[-1]), streams.start()
    shared, chunks = tables.shared(), chunk_ranges(tables.n_cases, CHUNK_CASES)

    def advance(sweep: int, trust: np.ndarray) -> np.ndarray:
        def one(chunk: tuple[int, int]) -> np.ndarray:
            counts = np.zeros(tables.n_raters, np.int64)
            advance_cases(
                *chunk,
                thread_generator(),
                states,
                streams.case_seed,
                *shared,
                streams.key,
                tables.log_guess,
                tables.place_at,
                tables.n_named,
                tables.n_rest,
                *plan.shapes,
                plan.reliability,
                trust,
                sweep,
                plan.n_burn,
                plan.depth,
                lam,
                attends,
                attended,
                counts,
            )
            return counts

        return sum(map_chunks(one, chunks, token=token), np.zeros(tables.n_raters, np.int64))

    return advance


def per_rater(tables: TrustTables) -> np.ndarray:
    """Count annotations of each rater, shape (n_raters,)."""
    return np.bincount(tables.rater, minlength=tables.n_raters)


def case_work(dataset: Dataset) -> np.ndarray:
    """Estimate the relative cost of each case, shape (n_cases,): annotations and named classes."""
    entries = np.diff(dataset.entries()[0])
    return 1.0 + np.diff(dataset.case_ptr) + np.bincount(dataset.case_of_annotation, entries, dataset.n_cases)
