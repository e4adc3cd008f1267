"""The reducer that keeps the first classes of every draw: all that metrics of classifiers need of the draws."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..plausibility.protocol import CaseDraws
from .metrics import risk_bin

MOST_BYTES = 80_000_000


@dataclass(frozen=True, slots=True, eq=False)
class TopDraws:
    """The first classes of every draw of every case; a plausibility model whose draws are these.

    Attributes
    ----------
    top : ndarray of uint8 or uint16, shape (n_cases, n_draws, depth)
        `CaseDraws.top` and 1.
    ptr : ndarray of int64, shape (n_cases + 1,)
    classes : ndarray of int32, shape (n_named,)
        Classes that somebody named on case ``i`` are ``ptr[i]`` to ``ptr[i + 1]``.
    n_rest : ndarray of int32, shape (n_cases,)
        How many classes nobody named.
    risk_bin : ndarray of int8, shape (n_cases,)
        See `core.reducers.metrics.risk_bin`; 0 where classes have no levels.
    """

    top: np.ndarray
    ptr: np.ndarray
    classes: np.ndarray
    n_rest: np.ndarray
    risk_bin: np.ndarray

    def draws(
        self, dataset: Dataset, *, reliability: float, n_draws: int, seed: int, cases: range | None = None
    ) -> Iterator[tuple[int, CaseDraws]]:
        """What was kept, as draws without shares.

        Parameters
        ----------
        dataset, reliability, n_draws, seed
            As of `core.plausibility.protocol.PlausibilityModel.draws`; what was kept was drawn with them, and they are
            not looked at.
        cases : range, optional
            Which cases; all where not given.
        """
        nothing = np.empty(0)
        for case in range(len(self.top)) if cases is None else cases:
            classes = self.classes[self.ptr[case] : self.ptr[case + 1]]
            top = self.top[case].astype(np.int32) - 1
            rest = np.zeros(len(top))
            yield case, CaseDraws(classes, nothing, rest, top, int(self.n_rest[case]), 1.0, float(len(top)), 0)


@dataclass(frozen=True, slots=True, eq=False)
class KeepTop:
    """Keeps the first classes of every draw.

    Parameters
    ----------
    class_risk : ndarray of int8, shape (n_classes,), or None
        With levels, the bin of each case's expected risk is kept, too.
    """

    class_risk: np.ndarray | None = None

    def init(self, n_cases: int, n_draws: int) -> list[tuple]:
        """No case yet."""
        return []

    def update(self, state: list[tuple], place: int, case: int, draws: CaseDraws) -> None:
        """Keep one case.

        Parameters
        ----------
        state : list
            What was kept so far.
        place, case : int
            Of the case among those asked for, and in the dataset.
        draws : CaseDraws
        """
        where = 0 if self.class_risk is None else risk_bin(draws, self.class_risk)
        narrow = np.uint8 if len(draws.classes) + 1 < 256 else np.uint16
        state.append(((draws.top + 1).astype(narrow), draws.classes, draws.n_rest, where))

    def merge(self, states: Sequence[list[tuple]]) -> list[tuple]:
        """Cases of consecutive chunks."""
        return [case for state in states for case in state]

    def result(self, state: list[tuple]) -> TopDraws:
        """All of them together."""
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
    """Whether the first classes of all draws are few enough to be kept.

    Parameters
    ----------
    n_cases, n_draws : int
    depth : int
        How many of the first classes of a draw.
    """
    return n_cases * n_draws * depth <= MOST_BYTES
