"""The reducer that keeps mean, standard deviation and some draws of the plausibility of every class."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..plausibility.protocol import CaseDraws

Kept = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, slots=True)
class KeepPlausibilities:
    """Keeps moments and the first draws, over all classes.

    Parameters
    ----------
    n_classes : int
    n_kept : int
        Number of draws per case.
    """

    n_classes: int
    n_kept: int = 0

    def init(self, n_cases: int, n_draws: int) -> list[Kept]:
        """Return the state before the first case."""
        return []

    def update(self, state: list[Kept], place: int, case: int, draws: CaseDraws) -> None:
        """Keep one case.

        Parameters
        ----------
        state : list
            Result so far.
        place, case : int
            Place of the case among the requested ones, and in the dataset.
        draws : CaseDraws
        """
        mean, square = np.empty((2, self.n_classes))
        n_rest, shape = draws.n_rest, draws.rest_shape
        if n_rest:
            # One of T parts of a symmetric Dirichlet: mean 1/T, second moment (a + 1) / (T (T a + 1)).
            mean[:] = draws.rest.mean() / n_rest
            square[:] = (draws.rest**2).mean() * (shape + 1) / (n_rest * (n_rest * shape + 1))
        mean[draws.classes] = draws.share.mean(axis=0)
        square[draws.classes] = (draws.share**2).mean(axis=0)
        n_kept = min(self.n_kept, draws.n_draws)
        kept = np.empty((n_kept, self.n_classes))
        if n_kept:
            if n_rest:
                unnamed = np.setdiff1d(np.arange(self.n_classes), draws.classes)
                kept[:, unnamed] = draws.rest[:n_kept, None] * _parts(draws.seed, shape, n_kept, n_rest)
            kept[:, draws.classes] = draws.share[:n_kept]
        state.append((mean, np.sqrt(np.maximum(square - mean**2, 0.0)), kept))

    def merge(self, states: Sequence[list[Kept]]) -> list[Kept]:
        """Join the cases of consecutive chunks."""
        return [case for state in states for case in state]

    def result(self, state: list[Kept]) -> Kept:
        """Return means and standard deviations, (n_cases, n_classes), and draws, (n_cases, n_kept, n_classes)."""
        means, sds, kept = zip(*state, strict=True)
        return np.array(means), np.array(sds), np.array(kept)


def _parts(seed: int, shape: float, n: int, n_parts: int) -> np.ndarray:
    """Draw from a symmetric Dirichlet, in logs because its shape may be tiny; shape (n, n_parts)."""
    rng = np.random.default_rng(seed)
    logs = np.log(rng.standard_gamma(shape + 1, (n, n_parts))) + np.log1p(-rng.random((n, n_parts))) / shape
    parts = np.exp(logs - logs.max(axis=1, keepdims=True))
    return parts / parts.sum(axis=1, keepdims=True)
