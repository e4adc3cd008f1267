"""Point estimates of Plackett-Luce plausibilities: the posterior mode, and maximum likelihood on request.

The maximum of the likelihood gives classes that nobody named exactly 0, and is guaranteed to be inside the simplex only
if the named classes are strongly connected by "ranked above". The mode under Dirichlet(1.1), the never-named classes as
one coordinate, always exists.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...annotations.dataset import Dataset
from ...result_base import Result
from ..protocol import check_sampling
from ._mode_kernels import maximise
from .blocks import CaseBlocks, case_blocks, ranking_entries

MODE_PSEUDO_COUNT = 0.1
_TOLERANCE = 1e-9
_MOST_STEPS = 3_000
_SIDE_BY_SIDE = 1_000  # Number of cases whose rankings are in memory at the same time.
_NONE = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PointEstimates(Result):
    """One plausibility vector per case, in CSR over the classes named there.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_cases + 1,)
    class_code : ndarray of int32, shape (n_entries,)
    share : ndarray of float64, shape (n_entries,)
    rest : ndarray of float64, shape (n_cases,)
        Plausibility of all never-named classes together.
    converged, interior : ndarray of bool, shape (n_cases,)
        ``interior`` is False if the maximum is on the boundary of the simplex, which never happens with pseudo-counts.
    """

    ptr: np.ndarray
    class_code: np.ndarray
    share: np.ndarray
    rest: np.ndarray
    converged: np.ndarray
    interior: np.ndarray


def plackett_luce_mode(dataset: Dataset, *, reliability: float = 1.0, cases: range | None = None) -> PointEstimates:
    """Compute the mode of Dirichlet(1.1) × likelihood^γ of each case.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings or single classes.
    reliability : float
        Reliability γ > 0, how much each annotation counts.
    cases : range, optional
        Positions of cases; all by default.
    """
    return _points(dataset, reliability, cases, MODE_PSEUDO_COUNT, with_rest=True)


def plackett_luce_ml(dataset: Dataset, *, cases: range | None = None) -> PointEstimates:
    """Compute the maximum likelihood of each case; at the boundary (``interior`` False) the limit of EM."""
    return _points(dataset, 1.0, cases, 0.0, with_rest=False)


def strongly_connected(cases: Sequence[CaseBlocks]) -> np.ndarray:
    """Return True for cases in which every named class reaches every other by "ranked strictly above".

    Parameters
    ----------
    cases : sequence of CaseBlocks

    Returns
    -------
    ndarray of bool, shape (n_cases,)
        True also if fewer than two classes are named.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first = np.cumsum([0, *(len(blocks.classes) for blocks in cases)])
    above, below = [_NONE], [_NONE]
    for start, blocks in zip(first, cases, strict=False):
        for rater in range(len(blocks.multiplicity)):
            left = np.ones(len(blocks.classes), bool)
            for block in range(blocks.rater_ptr[rater], blocks.rater_ptr[rater + 1]):
                here = blocks.member[blocks.block_ptr[block] : blocks.block_ptr[block + 1]]
                left[here] = False
                rest = np.flatnonzero(left)
                above.append(start + np.repeat(here, len(rest)))
                below.append(start + np.tile(rest, len(here)))
    rows, columns = np.concatenate(above), np.concatenate(below)
    # One graph contains all cases, with no edges between them; an entry that occurs twice is one edge.
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(first[-1], first[-1]))
    part = connected_components(graph.astype(bool).tocsr(), directed=True, connection="strong")[1]
    return np.array([(part[one:other] == part[one:other][:1]).all() for one, other in pairwise(first)], bool)


def _points(
    dataset: Dataset, reliability: float, cases: range | None, pseudo: float, *, with_rest: bool
) -> PointEstimates:
    check_sampling(reliability, n_draws=1)
    entries = ranking_entries(dataset)
    cases = range(dataset.n_cases) if cases is None else cases
    ptr, codes, shares = [0], [], []
    rest, converged, interior = np.zeros(len(cases)), np.ones(len(cases), bool), np.ones(len(cases), bool)
    for first in range(0, len(cases), _SIDE_BY_SIDE):
        together = [case_blocks(dataset, case, entries) for case in cases[first : first + _SIDE_BY_SIDE]]
        if not pseudo:
            interior[first : first + _SIDE_BY_SIDE] = strongly_connected(together)
        for place, blocks in enumerate(together, first):
            n_named = len(blocks.classes)
            n_places = n_named + (1 if with_rest and blocks.n_rest else 0)
            if n_named:
                share, converged[place] = maximise(
                    blocks.rater_ptr,
                    blocks.block_ptr,
                    blocks.member,
                    blocks.weight(reliability),
                    n_places,
                    pseudo,
                    _TOLERANCE,
                    _MOST_STEPS,
                )
                shares.append(share[:n_named])
                rest[place] = share[n_named] if n_places > n_named else 0.0
            else:
                rest[place] = 1.0
            codes.append(blocks.classes)
            ptr.append(ptr[-1] + n_named)
    return PointEstimates(
        np.array(ptr, np.int64),
        np.concatenate(codes) if codes else np.empty(0, np.int32),
        np.concatenate(shares) if shares else np.empty(0),
        rest,
        converged,
        interior,
    )
