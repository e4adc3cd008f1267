"""Reducer that keeps the first classes of every draw, which is all that metrics of classifiers need."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..plausibility.protocol import CaseDraws
from .metrics import risk_bin

MOST_BYTES = 80_000_000


@dataclass(frozen=True, slots=True, eq=False)
class TopDraws:
    """First classes of every draw of every case; also a plausibility model that returns these draws.

    Attributes
    ----------
    top : ndarray of uint8 or uint16, shape (n_cases, n_draws, depth)
        Values of `CaseDraws.top` plus 1.
    ptr : ndarray of int64, shape (n_cases + 1,)
    classes : ndarray of int32, shape (n_named,)
        Classes that somebody named on case ``i`` are ``ptr[i]`` to ``ptr[i + 1]``.
    n_rest : ndarray of int32, shape (n_cases,)
        Number of classes that nobody named.
    risk_bin : ndarray of int8, shape (n_cases,)
        Risk bin of each case, see `core.reducers.metrics.risk_bin`; 0 if classes have no levels.
    """

    top: np.ndarray
    ptr: np.ndarray
    classes: np.ndarray
    n_rest: np.ndarray
    risk_bin: np.ndarray

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """Yield the saved draws, without shares.

        Parameters
        ----------
        dataset, reliability, n_draws, seed
            Arguments of `core.plausibility.protocol.PlausibilityModel.draws`; ignored, because the saved draws were
            made with them.
        cases : range, optional
            Positions of cases; all if omitted.
        """
        nothing = np.empty(0)
        for case in range(len(self.top)) if cases is None else cases:
            classes = self.classes[self.ptr[case] : self.ptr[case + 1]]
            top = self.top[case].astype(np.int32) - 1
            rest = np.zeros(len(top))
            yield case, CaseDraws(classes, nothing, rest, top, int(self.n_rest[case]), 1.0, float(len(top)), 0)


@dataclass(frozen=True, slots=True, eq=False)
class KeepTop:
    """Reducer that keeps the first classes of every draw.

    Parameters
    ----------
    class_risk : ndarray of int8, shape (n_classes,), or None
        Risk level of each class; with levels, the bin of each case's expected risk is kept, too.
    """

    class_risk: np.ndarray | None = None

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
        where = 0 if self.class_risk is None else risk_bin(draws, self.class_risk)
        narrow = np.uint8 if len(draws.classes) + 1 < 256 else np.uint16
        state.append(((draws.top + 1).astype(narrow), draws.classes, draws.n_rest, where))

    def merge(self, states: Sequence[list[tuple]]) -> list[tuple]:
        """Merge cases of consecutive chunks."""
        return [case for state in states for case in state]

    def result(self, state: list[tuple]) -> TopDraws:
        """Join the cases in one result."""
        tops, classes, n_rest, bins = zip(*state, strict=True)
        ptr = np.concatenate([[0], np.cumsum([len(one) for one in classes])]).astype(np.int64)
        return TopDraws(
            np.stack(tops),
            ptr,
            np.concatenate(classes).astype(np.int32),
            np.array(n_rest, np.int32),
            np.array(bins, np.int8),
        )


def can_keep(n_cases: int, n_draws: int, depth: int) -> bool:
    """Return True if the first classes of all draws are few enough to be kept.

    Parameters
    ----------
    n_cases, n_draws : int
    depth : int
        Number of first classes of a draw.
    """
    return n_cases * n_draws * depth <= MOST_BYTES
