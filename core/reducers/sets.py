"""The reducer behind annotation certainty: how often the most frequent top-j set comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..options import check_whole
from ..plausibility.protocol import CaseDraws
from ._kernels import commonest_sets, set_keys


@dataclass(frozen=True, slots=True, eq=False)
class TopSetState:
    """One row per case.

    Attributes
    ----------
    frequency, with_rest, ess : ndarray, shapes (n_cases, max_top), (n_cases, max_top), (n_cases,)
    ceiling : ndarray, shape (n_cases, max_top)
        Largest frequency that the set can have: below 1 where it holds never-named classes, which are exchangeable.
    members : ndarray of int32, shape (n_cases, max_top, max_top)
        Class codes of the most frequent set of j classes; -1 where a member is a never-named class, or beyond j.
    """

    frequency: np.ndarray
    members: np.ndarray
    with_rest: np.ndarray
    ess: np.ndarray
    ceiling: np.ndarray


@dataclass(frozen=True, slots=True)
class TopSets:
    """Frequencies of top-1 to top-``max_top`` sets over the draws of each case.

    Parameters
    ----------
    max_top : int
        Largest set; must not exceed the depth to which never-named classes are split.
    """

    max_top: int = 3

    def __post_init__(self) -> None:
        check_whole(self.max_top, "The largest set", 1)

    def init(self, n_cases: int, n_draws: int) -> TopSetState:
        """Empty rows."""
        return TopSetState(
            np.empty((n_cases, self.max_top)),
            np.empty((n_cases, self.max_top, self.max_top), np.int32),
            np.empty((n_cases, self.max_top)),
            np.empty(n_cases),
            np.empty((n_cases, self.max_top)),
        )

    def update(self, state: TopSetState, place: int, case: int, draws: CaseDraws) -> None:
        """Count one case's sets.

        Parameters
        ----------
        state : TopSetState
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Of the case.

        Raises
        ------
        InputError
            Sets larger than the draws or 64 bits can tell apart.
        """
        depth = draws.top.shape[1]
        if depth < self.max_top:
            raise InputError(
                f"Sets of {self.max_top} classes were asked for, but the draws tell only {depth} never-named classes "
                "apart.",
                f"Give the plausibility model a depth of {self.max_top}.",
            )
        if (len(draws.classes) + 1) ** self.max_top >= 2**63:
            raise InputError(
                f"There are too many sets of {self.max_top} of {len(draws.classes):,} named classes.",
                "Ask for smaller sets.",
            )
        n_named = len(draws.classes)
        keys, with_rest = set_keys(draws.top, n_named, self.max_top)
        keys.sort(axis=1)  # here and not in a kernel, where each sort is compiled anew
        frequency, members, ceiling = commonest_sets(keys, draws.n_rest, n_named)
        state.frequency[place] = frequency
        state.members[place] = np.append(draws.classes, -1)[members]
        state.with_rest[place] = with_rest
        state.ess[place] = draws.ess
        state.ceiling[place] = ceiling

    def merge(self, states: Sequence[TopSetState]) -> TopSetState:
        """Rows of consecutive chunks under one another."""
        return TopSetState(
            *(
                np.concatenate([getattr(state, name) for state in states])
                for name in ("frequency", "members", "with_rest", "ess", "ceiling")
            )
        )

    def result(self, state: TopSetState) -> TopSetState:
        """The rows themselves; `core.certainty` gives them errors and names."""
        return state
