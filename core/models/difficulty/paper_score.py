"""Leave-one-annotation-out score of difficulty models, as in table 2 of Han, Adıgüzel & Carpenter.

An annotation has the probability p = π p_1 + (1 - π) p_0 given the prevalence, its rater and the effects of its case;
left out, its density is 1 / E[1 / p] over the posterior of them all. The authors average over draws of the effects.
Here their expectation, given parameters and annotations, is worked out on the grid, which is what their average tends
to: nothing random is added, and importance weights are of parameters alone.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...errors import LimitError
from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..loo import PaperScore, as_in_paper
from ._case_kernels import harmonic_probabilities
from .density import DifficultyDensity
from .nodes import NodeCounts, Nodes, nodes, refined

TOLERANCE = 1e-5
_MOST_REFINEMENTS = 4
_NEVER_EXACT = 10**9  # 1 / p is no polynomial in λ, however few the annotations
_CELLS_A_BLOCK = 4_000_000
_CELLS_A_CHUNK = 2_000_000


def paper_score(density: DifficultyDensity, draws: np.ndarray, token: CancelToken | None = None) -> PaperScore:
    """Compute the score from draws of the posterior.

    Parameters
    ----------
    density : DifficultyDensity
    draws : ndarray, shape (n_draws, ndim)
        On the coordinates of the density.
    token : CancelToken, optional

    Raises
    ------
    InputError
        There are fewer than 100 draws, or the model overflows in one.
    Cancelled
    """
    return as_in_paper(annotation_blocks(density, draws, token))


def annotation_blocks(
    density: DifficultyDensity, draws: np.ndarray, token: CancelToken | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield -ln E[1 / p | draw, the case] of annotations, (n_draws, m), and how many are equal, (m,); in blocks.

    Annotations by one rater of one annotation are alike on cases with the same annotations, without case effects on all
    cases.

    Parameters
    ----------
    density : DifficultyDensity
    draws : ndarray, shape (n_draws, ndim)
        On the coordinates of the density.
    token : CancelToken, optional
    """
    ptr, cell, count = _answers(density)
    grid = _grid(density, ptr, cell, draws.mean(axis=0, keepdims=True))
    per_block = max(1, _CELLS_A_BLOCK // len(draws))
    first = 0
    while first < count.size:
        last = max(first + 1, int(np.searchsorted(ptr, ptr[first] + per_block, side="right")) - 1)
        size = ptr[last] - ptr[first]
        if size:
            of_pattern = np.repeat(count[first:last], np.diff(ptr[first : last + 1]))
            yield _log_probabilities(density, draws, (ptr, cell), grid, (first, last), token), of_pattern
        first = last


def _answers(density: DifficultyDensity) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return patterns whose annotations are scored together: ``ptr``, ``cell`` and ``count``."""
    own, on = density.patterns, density.on
    if on.difficulty or on.discrimination or on.guessing:
        return own.ptr, own.cell, own.count
    times = np.bincount(own.cell, np.repeat(own.count, np.diff(own.ptr))).astype(np.int64)
    cell = np.flatnonzero(times).astype(np.int32)
    return np.arange(cell.size + 1), cell, times[cell]


def _grid(density: DifficultyDensity, ptr: np.ndarray, cell: np.ndarray, mean: np.ndarray) -> Nodes:
    """Return the density's nodes, or more if the expectations at the mean of the draws still move."""

    def at(counts: NodeCounts) -> np.ndarray:
        finer = replace(density, node_counts=counts)
        return _log_probabilities(finer, mean, (ptr, cell), nodes(density.on, counts), (0, ptr.size - 1), None)

    counts = density.node_counts
    for _ in range(_MOST_REFINEMENTS):
        try:
            found = refined(counts, at, _NEVER_EXACT, TOLERANCE)
        except LimitError:  # the grid at hand is good enough for the fit
            break
        if found == counts:
            break
        counts = found
    return nodes(density.on, counts)


def _log_probabilities(
    density: DifficultyDensity,
    draws: np.ndarray,
    answers: tuple[np.ndarray, np.ndarray],
    grid: Nodes,
    patterns: tuple[int, int],
    token: CancelToken | None,
) -> np.ndarray:
    """Compute log probabilities of the annotations of consecutive patterns, shape (n_draws, m)."""
    ptr, cell = answers
    first, last = patterns
    logit, alpha = density.coefficients(draws)
    found = np.empty((len(draws), ptr[last] - ptr[first]))
    size = max(1, _CELLS_A_CHUNK // max(1, grid.table.shape[1] * (2 * density.n_alpha + found.shape[1])))

    def work(chunk: tuple[int, int]) -> None:
        part = slice(*chunk)
        harmonic_probabilities(logit[part], alpha[part], ptr, cell, grid.delta, grid.table, first, last, found[part])

    for _ in map_chunks(work, chunk_ranges(len(draws), size), token=token):
        pass
    return found
