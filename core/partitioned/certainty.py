"""Annotation certainty over partitions: each case has its own draws, seeded by its ID, as in memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..certainty.top_sets import CertaintyResult
from ..errors import NotApplicableError
from ..evaluation.sweep_table import reliability_sweep
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.plackett_luce.trust import MixturePlackettLuce
from ..plausibility.protocol import PlausibilityModel
from ..runtime.chunks import CancelToken
from ..runtime.executors import Executor, LocalExecutor
from ..thresholds import CERTAIN_LEVELS
from .dataset import Partition, PartitionedDataset


@dataclass(slots=True)
class MeanCertainty:
    """Means over the cases of the partitions that were added.

    Attributes
    ----------
    max_top : int
    n_cases : int
    sums, squares : ndarray, shape (max_top,)
        Sums of certainties, and of their squared Monte Carlo errors; NaN if there are fewer classes.
    below : dict of float to int
        Number of cases whose top-1 certainty is below each of the levels.
    """

    max_top: int
    n_cases: int
    sums: np.ndarray
    squares: np.ndarray
    below: dict[float, int]

    @classmethod
    def of_none(cls, max_top: int, levels: Sequence[float] = CERTAIN_LEVELS) -> "MeanCertainty":
        """Return empty means, before any partition is added."""
        return cls(max_top, 0, np.zeros(max_top), np.zeros(max_top), dict.fromkeys(levels, 0))

    def add(self, found: CertaintyResult) -> None:
        """Add the cases of a partition."""
        self.n_cases += len(found.cases)
        self.sums += found.certainty.sum(axis=0)
        self.squares += (found.se**2).sum(axis=0)
        for level in self.below:
            self.below[level] += found.n_below(level)

    def mean(self, top: int = 1) -> float | None:
        """Return the mean certainty, as `CertaintyResult.mean`."""
        total = self.sums[top - 1]
        return None if np.isnan(total) else float(total / self.n_cases)

    def mean_se(self, top: int = 1) -> float | None:
        """Return the Monte Carlo error of the mean, as `CertaintyResult.mean_se`."""
        total = self.squares[top - 1]
        return None if np.isnan(total) else float(np.sqrt(total) / self.n_cases)


def certainties(
    model: PlausibilityModel,
    data: PartitionedDataset,
    reliabilities: Sequence[float],
    *,
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    runner: Executor | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[tuple[CertaintyResult, ...]]:
    """Compute the certainties of each partition's cases at each reliability, bit for bit those in memory.

    Parameters
    ----------
    model : PlausibilityModel
        Model whose cases do not depend on each other.
    data : PartitionedDataset
    reliabilities : sequence of float
        Values of γ > 0.
    n_draws, max_top, seed
        Arguments of `core.evaluation.sweep_table.reliability_sweep`.
    runner : Executor, optional
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The model estimates raters from all cases.
    """
    if isinstance(model, MixturePlackettLuce | OrdinalTruth):
        raise NotApplicableError(
            f"Could not use {model.name} with partitioned data: it estimates rater parameters from all cases at "
            "once. Choose another model."
        )
    parts = [part for part in data.partitions if part.n_cases]
    shared = (data, model, tuple(reliabilities), n_draws, max_top, seed)
    return (runner or LocalExecutor()).each(certainty_of_partition, parts, shared, token, progress)


def certainty_of_partition(
    part: Partition,
    data: PartitionedDataset,
    model: PlausibilityModel,
    reliabilities: tuple[float, ...],
    n_draws: int,
    max_top: int,
    seed: int,
) -> tuple[CertaintyResult, ...]:
    """Compute the certainties of one partition at each reliability.

    Parameters
    ----------
    part : Partition
    data, model, reliabilities, n_draws, max_top, seed
        Arguments of `certainties`.
    """
    dataset = data.dataset(part)
    found = reliability_sweep(model, dataset, reliabilities, n_draws=n_draws, max_top=max_top, seed=seed)
    return found.certainty
