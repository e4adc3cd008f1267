"""Resamples of cases with replacement; each has its own seed, so that results do not depend on how work is divided."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..runtime.seeds import case_seeds
from ._bootstrap_kernels import distinct_vectors, draw_resamples

_CELLS = 1 << 21
_MOST_AT_ONCE = 128
_DRAWS_PER_BINOMIAL = 8  # what a binomial costs, in draws of one case


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Cases to draw from, sorted by what distinguishes them.

    Attributes
    ----------
    order : ndarray of int64, shape (n_cases,)
        Cases, those of one vector side by side.
    start : ndarray of int64, shape (n_vectors + 1,)
        Where in ``order`` the cases of each distinct vector stand.
    """

    order: np.ndarray
    start: np.ndarray

    @property
    def n_cases(self) -> int:
        """Number of cases of a resample."""
        return len(self.order)

    @property
    def vector_of(self) -> np.ndarray:
        """Vector of each case of ``order``."""
        return np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))


class Statistic(Protocol):
    """Protocol of a statistic of every resample."""

    needs_cases: bool
    """True if it needs weights of single cases, not only of vectors."""
    n_sums: int
    """Number of sums that it stores per resample."""
    n_values: int

    @property
    def labels(self) -> Sequence[tuple[str, str]]:
        """Name and weights of each value."""

    def __call__(self, vector_weight: np.ndarray, case_weight: np.ndarray) -> np.ndarray:
        """Compute values of shape (n_values, n_resamples) from weights of shape (n_vectors or n_cases, n_resamples)."""


def pool_of(number: np.ndarray, place: np.ndarray | None = None) -> Pool:
    """Pool cases to draw from.

    Parameters
    ----------
    number : ndarray of int64, shape (n_cases,)
        Number of the vector of each case; a negative number leaves a case out.
    place : ndarray, shape (n_cases,), optional
        Order of the cases of one vector; that of the data if omitted.
    """
    order = np.argsort(number, kind="stable") if place is None else np.lexsort((place, number))
    order = order[np.count_nonzero(number < 0) :]
    start = np.append(0, np.cumsum(np.bincount(number[order]) if order.size else []))
    return Pool(order, start.astype(np.int64))


def vector_numbers(counts: ClassCounts) -> np.ndarray:
    """Return the distinct count vector of each case; −1 if it has no annotation.

    Of comparisons, a vector and the same backwards are one, and vectors are numbered by their content: otherwise,
    resamples would depend on the names of the items.
    """
    number, _ = distinct_vectors(counts.ptr, counts.class_code, counts.count)
    if counts.mirrored:
        table = np.zeros((counts.n_cases, counts.n_classes), np.int64)
        table[np.repeat(np.arange(counts.n_cases), np.diff(counts.ptr)), counts.class_code] = counts.count
        table[table[:, 0] < table[:, -1]] = table[table[:, 0] < table[:, -1], ::-1]
        _, number = np.unique(table, axis=0, return_inverse=True)
        number = number.reshape(-1)
    number[np.diff(counts.ptr) == 0] = -1
    _, number[number >= 0] = np.unique(number[number >= 0], return_inverse=True)
    return number


def _places_by_content(data: ClassCounts | Dataset) -> np.ndarray | None:
    """Return places of cases of comparisons that do not depend on names; None for other data.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data; only in a dataset do cases of one count vector differ, by their raters.
    """
    if not isinstance(data, Dataset) or not data.compares:
        return None
    own = np.bincount(data.rater, minlength=data.n_raters)[data.rater]
    last = data.n_classes - 1
    found = []
    for start, stop in pairwise(data.case_ptr.tolist()):
        n, answer = own[start:stop].tolist(), data.answer[start:stop].tolist()
        backwards = [last - one for one in answer]
        found.append(max(sorted(zip(n, one, strict=True)) for one in (answer, backwards)))
    rank = {one: place for place, one in enumerate(sorted({tuple(one) for one in found}))}
    return np.array([rank[tuple(one)] for one in found], np.int64)


def pool_of_data(data: ClassCounts | Dataset, counts: ClassCounts) -> Pool:
    """Pool the annotated cases of data with these counts."""
    return pool_of(vector_numbers(counts), _places_by_content(data))


def resample(
    pool: Pool,
    statistics: Sequence[Statistic],
    n_replicates: int,
    seed: int,
    stream: str,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[np.ndarray]:
    """Compute each statistic on the same resamples.

    Parameters
    ----------
    pool : Pool
    statistics : sequence of Statistic
    n_replicates : int
        Number of resamples.
    seed : int
    stream : str
        Names what is drawn: two pools of one seed and different streams are independent.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Returns
    -------
    list of ndarray of float64, shape (n_replicates, n_values)
        One for each statistic.
    """
    n_vectors = len(pool.start) - 1
    needs_cases = any(one.needs_cases for one in statistics)
    one_by_one = pool.n_cases < _DRAWS_PER_BINOMIAL * n_vectors
    vector_of = pool.vector_of if one_by_one else np.zeros(0, np.int64)
    seeds = case_seeds(seed, [str(number) for number in range(n_replicates)], stream)
    held = max(n_vectors, *(one.n_sums for one in statistics), (pool.n_cases // 4) * needs_cases)
    size = int(np.clip(_CELLS // max(1, held), 2, _MOST_AT_ONCE))

    def one(chunk: tuple[int, int]) -> list[np.ndarray]:
        mine = np.resize(seeds[slice(*chunk)], max(2, chunk[1] - chunk[0]))  # sums of one column round differently
        vector_weight = np.empty((n_vectors, mine.size), np.int32)
        case_weight = np.empty((pool.n_cases if needs_cases else 0, mine.size), np.uint8)
        draw_resamples(mine, pool.start, vector_of, one_by_one, vector_weight, case_weight)
        return [statistic(vector_weight, case_weight) for statistic in statistics]

    found = [np.empty((n_replicates, one.n_values)) for one in statistics]
    chunks = chunk_ranges(n_replicates, size)
    for (first, last), values in zip(chunks, map_chunks(one, chunks, token=token, progress=progress), strict=True):
        for kept, new in zip(found, values, strict=True):
            kept[first:last] = new.T[: last - first]
    return found


def pick(ptr: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return row pointers of some rows of a CSR, and the places of their entries; a negative row is empty."""
    size = np.where(rows >= 0, ptr[rows + 1] - ptr[rows], 0)
    picked = np.append(0, np.cumsum(size)).astype(np.int64)
    return picked, np.arange(picked[-1]) + np.repeat(ptr[rows] - picked[:-1], size)
