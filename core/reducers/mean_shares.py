"""Reducer that keeps the mean plausibility of each class of every case, and one draw of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..plausibility.protocol import CaseDraws


@dataclass(frozen=True, slots=True, eq=False)
class MeanShares:
    """Plausibilities of all cases in CSR: means over draws, and the complete last draw.

    A class drawn again from a draw of its own has the class probabilities of the mean, so the means replace any number
    of independent draws of the truth.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_cases + 1,)
        Classes that somebody named on case ``i`` are ``ptr[i]`` to ``ptr[i + 1]``.
    class_code : ndarray of int32, shape (n_named,)
        Codes of these classes, ascending in each case.
    share : ndarray of float64, shape (n_named,)
        Mean plausibility of each.
    rest : ndarray of float64, shape (n_cases,)
        Mean plausibility of all classes together that nobody named.
    n_rest : ndarray of int64, shape (n_cases,)
        Number of classes that nobody named.
    last_share, last_rest : ndarray of float64
        Values of ``share`` and ``rest`` in the last draw.
    rest_shape : ndarray of float64, shape (n_cases,)
        Shape of the symmetric Dirichlet that splits ``last_rest`` over those classes.
    """

    ptr: np.ndarray
    class_code: np.ndarray
    share: np.ndarray
    rest: np.ndarray
    n_rest: np.ndarray
    last_share: np.ndarray
    last_rest: np.ndarray
    rest_shape: np.ndarray

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return len(self.rest)


@dataclass(frozen=True, slots=True)
class KeepMeans:
    """Reducer that keeps means over draws, and the last draw."""

    def init(self, n_cases: int, n_draws: int) -> list[tuple]:
        """Return a state without cases."""
        return []

    def update(self, state: list[tuple], place: int, case: int, draws: CaseDraws) -> None:
        """Keep one case.

        Parameters
        ----------
        state : list
            State so far; changed in place.
        place, case : int
            Position of the case among the requested ones, and in the dataset.
        draws : CaseDraws
        """
        state.append(
            (
                draws.classes,
                draws.share.mean(axis=0),
                draws.share[-1].copy(),
                (draws.rest.mean(), draws.rest[-1], draws.n_rest, draws.rest_shape),
            )
        )

    def merge(self, states: Sequence[list[tuple]]) -> list[tuple]:
        """Merge cases of consecutive chunks."""
        return [case for state in states for case in state]

    def result(self, state: list[tuple]) -> MeanShares:
        """Join the cases in one result."""
        classes, means, lasts, rests = zip(*state, strict=True)
        ptr = np.concatenate([[0], np.cumsum([len(one) for one in classes])]).astype(np.int64)
        rest, last_rest, n_rest, rest_shape = np.array(rests, np.float64).T.copy()
        return MeanShares(
            ptr,
            np.concatenate(classes).astype(np.int32),
            np.concatenate(means).astype(np.float64),
            rest,
            n_rest.astype(np.int64),
            np.concatenate(lasts).astype(np.float64),
            last_rest,
            rest_shape,
        )
