"""Certainty against reliability: what the raters' word is worth changes how sure the truth is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.annotations.dataset import Dataset
from core.certainty.top_sets import CertaintyResult, annotation_certainty
from core.chunks import CancelToken
from core.plausibility.protocol import PlausibilityModel


@dataclass(frozen=True, slots=True, eq=False)
class SweepTable:
    """Annotation certainty of every case at every reliability.

    Attributes
    ----------
    reliabilities : tuple of float
    certainty : tuple of CertaintyResult
        One for each reliability, in their order.
    """

    reliabilities: tuple[float, ...]
    certainty: tuple[CertaintyResult, ...]

    def mean(self, top: int = 1) -> np.ndarray:
        """Mean certainty over cases, shape (n_reliabilities,); NaN where there are fewer classes than ``top``."""
        return np.array([np.nan if (m := result.mean(top)) is None else m for result in self.certainty])


def reliability_sweep(
    model: PlausibilityModel,
    dataset: Dataset,
    reliabilities: Sequence[float],
    *,
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> SweepTable:
    """Annotation certainty of all cases at each reliability.

    Parameters
    ----------
    reliabilities : sequence of float
        Values of γ > 0.
    token, progress
        See `core.chunks.map_chunks`; progress runs over all reliabilities.
    """
    results = []
    for place, reliability in enumerate(reliabilities):
        results.append(
            annotation_certainty(
                model,
                dataset,
                reliability=reliability,
                n_draws=n_draws,
                max_top=max_top,
                seed=seed,
                token=token,
                progress=_part(progress, place, len(reliabilities)),
            )
        )
    return SweepTable(tuple(float(reliability) for reliability in reliabilities), tuple(results))


def _part(progress: Callable[[float], None] | None, place: int, parts: int) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((place + share) / parts)
