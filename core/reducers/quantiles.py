"""Reducer that keeps the mean and quantiles of each named class's plausibility."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..plausibility.protocol import CaseDraws


@dataclass(frozen=True, slots=True, eq=False)
class PlausibilityQuantiles:
    """Means and quantiles of plausibilities in CSR by case.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_cases + 1,)
    class_code : ndarray of int32, shape (n_entries,)
        Codes of classes; -1 is all never-named classes together.
    mean : ndarray, shape (n_entries,)
    quantile : ndarray, shape (n_probabilities, n_entries)
    probabilities : tuple of float
    """

    ptr: np.ndarray
    class_code: np.ndarray
    mean: np.ndarray
    quantile: np.ndarray
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Reducer that computes means and quantiles over draws.

    Parameters
    ----------
    probabilities : tuple of float
        Probabilities of the quantiles, 0 to 1.
    """

    probabilities: tuple[float, ...] = (0.025, 0.5, 0.975)

    def init(self, n_cases: int, n_draws: int) -> list:
        """Return an empty state; the number of named classes differs between cases."""
        return []

    def update(self, state: list, place: int, case: int, draws: CaseDraws) -> None:
        """Summarise one case.

        Parameters
        ----------
        state : list
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.
        """
        values = np.column_stack([draws.share, draws.rest])
        codes = np.append(draws.classes, np.int32(-1)).astype(np.int32)
        state.append((codes, values.mean(axis=0), _quantiles(values, self.probabilities)))

    def merge(self, states: Sequence[list]) -> list:
        """Merge cases of consecutive chunks in one list."""
        return [entry for state in states for entry in state]

    def result(self, state: list) -> PlausibilityQuantiles:
        """Return the summaries in CSR."""
        sizes = [len(codes) for codes, _, _ in state]
        return PlausibilityQuantiles(
            ptr=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            class_code=np.concatenate([codes for codes, _, _ in state]),
            mean=np.concatenate([mean for _, mean, _ in state]),
            quantile=np.concatenate([quantile for _, _, quantile in state], axis=1),
            probabilities=self.probabilities,
        )


def _quantiles(values: np.ndarray, probabilities: Sequence[float]) -> np.ndarray:
    """Compute each column's quantiles by linear interpolation of order statistics, (n_probabilities, n_columns)."""
    ordered = np.sort(values, axis=0)
    position = np.asarray(probabilities) * (len(values) - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, len(values) - 1)
    return ordered[below] + (position - below)[:, None] * (ordered[above] - ordered[below])
