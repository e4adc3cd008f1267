"""Reducer for annotation certainty: how often the most frequent top-j set comes first."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..options import check_whole
from ..plausibility.protocol import CaseDraws
from ._kernels import commonest_sets, set_keys


@dataclass(frozen=True, slots=True, eq=False)
class TopSetState:
    """Frequencies of top sets, one row per case.

    Attributes
    ----------
    frequency, with_rest, ess : ndarray, shapes (n_cases, max_top), (n_cases, max_top), (n_cases,)
    ceiling : ndarray, shape (n_cases, max_top)
        Largest frequency that the set can have: below 1 if it contains never-named classes, which are exchangeable.
    members : ndarray of int32, shape (n_cases, max_top, max_top)
        Class codes of the most frequent set of j classes; -1 for a never-named class, and beyond j.
    """

    frequency: np.ndarray
    members: np.ndarray
    with_rest: np.ndarray
    ess: np.ndarray
    ceiling: np.ndarray


@dataclass(frozen=True, slots=True)
class TopSets:
    """Reducer that counts top-1 to top-``max_top`` sets over the draws of each case.

    Parameters
    ----------
    max_top : int
        Largest set; must not exceed the depth to which never-named classes are split.
    """

    max_top: int = 3

    def __post_init__(self) -> None:
        check_whole(self.max_top, "The largest set", 1)

    def init(self, n_cases: int, n_draws: int) -> TopSetState:
        """Return empty rows."""
        return TopSetState(
            np.empty((n_cases, self.max_top)),
            np.empty((n_cases, self.max_top, self.max_top), np.int32),
            np.empty((n_cases, self.max_top)),
            np.empty(n_cases),
            np.empty((n_cases, self.max_top)),
        )

    def update(self, state: TopSetState, place: int, case: int, draws: CaseDraws) -> None:
        """Count the sets of one case.

        Parameters
        ----------
        state : TopSetState
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.

        Raises
        ------
        InputError
            The draws or 64 bits cannot distinguish sets of this size.
        """
        depth = draws.top.shape[1]
        if depth < self.max_top:
            raise InputError(
                f"Cannot count sets of {self.max_top} classes: the draws rank only the first {depth} classes.",
                f"Set the depth of the plausibility model to {self.max_top}.",
            )
        if (len(draws.classes) + 1) ** self.max_top >= 2**63:
            raise InputError(
                f"Cannot count sets of {self.max_top} out of {len(draws.classes):,} classes: there are too many sets.",
                "Use smaller sets.",
            )
        n_named = len(draws.classes)
        keys, with_rest = set_keys(draws.top, n_named, self.max_top)
        keys.sort(axis=1)  # Sort here, because each sort in a kernel is compiled again.
        frequency, members, ceiling = commonest_sets(keys, draws.n_rest, n_named)
        state.frequency[place] = frequency
        state.members[place] = np.append(draws.classes, -1)[members]
        state.with_rest[place] = with_rest
        state.ess[place] = draws.ess
        state.ceiling[place] = ceiling

    def merge(self, states: Sequence[TopSetState]) -> TopSetState:
        """Stack rows of consecutive chunks."""
        return TopSetState(
            *(
                np.concatenate([getattr(state, name) for state in states])
                for name in ("frequency", "members", "with_rest", "ess", "ceiling")
            )
        )

    def result(self, state: TopSetState) -> TopSetState:
        """Return the rows; `core.certainty` adds errors and names."""
        return state
