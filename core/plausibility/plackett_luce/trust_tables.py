"""Blocks of all cases in flat arrays, so that one kernel iterates over cases, and their random streams."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...annotations.dataset import Dataset
from ...runtime.seeds import case_seeds, stream_keys
from ._attention_kernels import same_ranking, scattered_start
from .blocks import case_blocks, ranking_entries
from .gibbs import PlackettLuce
from .popularity import class_popularity


@dataclass(frozen=True, slots=True, eq=False)
class TrustTables:
    """Distinct rankings of all cases, one case after the other, and the ranking of each annotation.

    ``*_at`` have shape (n_cases + 1,) and contain the place at which a case's part begins; within it, pointers start at
    0.

    Attributes
    ----------
    ranking_at, rater_ptr, block_at, block_ptr, member_at, member : ndarray of int64
        See `CaseBlocks`.
    case_ptr : ndarray of int64, shape (n_cases + 1,)
    which : ndarray of int64, shape (n_annotations,)
        Index of the distinct ranking of its case that each annotation has.
    rater : ndarray of int64, shape (n_annotations,)
    log_guess : ndarray of float64, shape (n_annotations,)
        Ln p(b | g), as a guess by popularity.
    place_at : ndarray of int64, shape (n_cases + 1,)
        Place at which λ of a case begins: its named classes, then the sum of the others if there are any.
    n_named, n_rest : ndarray of int64, shape (n_cases,)
    classes : tuple of ndarray of int32
        Classes named on each case.
    n_raters : int
    """

    ranking_at: np.ndarray
    rater_ptr: np.ndarray
    block_at: np.ndarray
    block_ptr: np.ndarray
    member_at: np.ndarray
    member: np.ndarray
    case_ptr: np.ndarray
    which: np.ndarray
    rater: np.ndarray
    log_guess: np.ndarray
    place_at: np.ndarray
    n_named: np.ndarray
    n_rest: np.ndarray
    classes: tuple[np.ndarray, ...]
    n_raters: int

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.classes)

    def part(self, case: int) -> tuple[np.ndarray, ...]:
        """Return the arrays of one case for `replay`: rater_ptr, block_ptr, member, which, rater."""
        own = slice(self.case_ptr[case], self.case_ptr[case + 1])
        return (
            self.rater_ptr[self.ranking_at[case] : self.ranking_at[case + 1]],
            self.block_ptr[self.block_at[case] : self.block_at[case + 1]],
            self.member[self.member_at[case] : self.member_at[case + 1]],
            self.which[own],
            self.rater[own],
        )

    def shared(self) -> tuple[np.ndarray, ...]:
        """Return the arrays of all cases for `advance_cases`, up to ``rater``."""
        return (
            self.ranking_at,
            self.rater_ptr,
            self.block_at,
            self.block_ptr,
            self.member_at,
            self.member,
            self.case_ptr,
            self.which,
            self.rater,
        )


def trust_tables(dataset: Dataset) -> TrustTables:
    """Convert a dataset of rankings or single classes to flat arrays, with popularity fitted to all of them.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    """
    entries = ranking_entries(dataset)
    blocks = [case_blocks(dataset, case, entries) for case in range(dataset.n_cases)]
    which = [same_ranking(*entries, first, last) for first, last in pairwise(dataset.case_ptr.tolist())]
    n_named = np.array([len(part.classes) for part in blocks], np.int64)
    n_rest = np.array([part.n_rest for part in blocks], np.int64)
    return TrustTables(
        _starts([len(part.rater_ptr) for part in blocks]),
        _joined([part.rater_ptr for part in blocks]),
        _starts([len(part.block_ptr) for part in blocks]),
        _joined([part.block_ptr for part in blocks]),
        _starts([len(part.member) for part in blocks]),
        _joined([part.member for part in blocks]),
        dataset.case_ptr.astype(np.int64),
        _joined(which),
        dataset.rater.astype(np.int64),
        class_popularity(dataset).log_likelihood,
        _starts(n_named + (n_rest > 0)),
        n_named,
        n_rest,
        tuple(part.classes for part in blocks),
        dataset.n_raters,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """Sources of the random numbers of one chain.

    Attributes
    ----------
    case_seed : ndarray of uint32, shape (n_cases,)
        Seeds for λ. The first chain has those of `PlackettLuce`: with every u = 1 its draws are identical.
    key : ndarray of uint64, shape (n_annotations,)
        Keys for u, from case ID and position of the rater (and a number, if a rater annotated a case again).
    trust : int
        Seed for a.
    scattered : bool
        True if the chain starts with random u instead of all 1.
    """

    case_seed: np.ndarray
    key: np.ndarray
    trust: int
    scattered: bool

    def start(self) -> np.ndarray:
        """Return the first u of every annotation, bool, shape (n_annotations,)."""
        attends = np.ones(len(self.key), np.bool_)
        if self.scattered:
            scattered_start(self.key, attends)
        return attends


def chain_streams(dataset: Dataset, seed: int, name: str, chain: int) -> Streams:
    """Create the streams of chain 0, 1, ...; every second chain starts with random u.

    Parameters
    ----------
    dataset : Dataset
    seed : int
    name : str
        Name of the model.
    chain : int
        Number of the chain, from 0.
    """
    stream = PlackettLuce.name if chain == 0 else f"{name} {chain}"
    names, raters = [], dataset.rater.tolist()
    for case, (first, last) in enumerate(pairwise(dataset.case_ptr.tolist())):
        seen: dict[int, int] = {}
        for rater in raters[first:last]:
            seen[rater] = seen.get(rater, 0) + 1
            names.append((dataset.cases[case], str(rater), str(seen[rater])))
    return Streams(
        case_seeds(seed, dataset.cases, stream),
        stream_keys(seed, names, f"{name} u {chain}"),
        int(stream_keys(seed, [(str(dataset.n_raters),)], f"{name} a {chain}")[0]),
        chain % 2 == 1,
    )


def _starts(lengths) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(parts).astype(np.int64) if parts else np.empty(0, np.int64)
