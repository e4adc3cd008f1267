"""Random starts, because a likelihood of hidden classes has several modes, and votes may not lead to the best."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..result_base import Result
from ..runtime.chunks import CancelToken, map_chunks
from .design import Design
from .result import RaterModelFit


@dataclass(frozen=True, slots=True, repr=False)
class Restarts(Result):
    """Results of random starts, aligned to the majority-vote start.

    Attributes
    ----------
    best : RaterModelFit
        The fit with the highest objective among the random starts and the vote start.
    objectives : tuple of float
        Final objective of each random start.
    differs : bool
        True if a random start beats the vote start: the likelihood has more than one mode.
    n_changed : int
        Cases whose most likely class is another one in the best fit.
    """

    best: RaterModelFit
    objectives: tuple[float, ...]
    differs: bool
    n_changed: int


def random_restarts(
    climb_from: Callable[[np.ndarray], RaterModelFit],
    data: Design,
    fit: RaterModelFit,
    n_restarts: int,
    seed: int,
    token: CancelToken | None,
    progress: Callable[[float], None] | None,
) -> Restarts:
    """Run ``n_restarts`` climbs from starts between the votes and noise, and keep the best; gold stays known.

    Parameters
    ----------
    climb_from : callable
        From class probabilities, shape (n_cases, n_classes), to the fit that they lead to.
    data : Design
    fit : RaterModelFit
        From the votes: what the others are compared with.
    n_restarts, seed : int
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    n_classes = data.dataset.n_classes
    free = np.ones(data.dataset.n_cases, bool)
    if data.known.size:
        free = data.known < 0

    def one(number: int) -> RaterModelFit:
        rng = np.random.default_rng([seed, number])
        noise = rng.dirichlet(np.ones(n_classes), size=data.dataset.n_cases)
        # A start between the votes and noise reaches other modes without mixing up the classes altogether.
        mixed = rng.uniform() * data.start
        found = climb_from(np.where(free[:, None], mixed + (1 - mixed.sum(axis=1, keepdims=True)) * noise, data.start))
        order = alignment(fit.class_probability, found.class_probability)
        if (order != np.arange(n_classes)).any():
            turned = np.where(free[:, None], found.class_probability[:, order], data.start)
            found = climb_from(np.ascontiguousarray(turned))
        return replace(found, settings={**found.settings, "start": f"restart {number + 1} of {n_restarts:,}"})

    best, objectives = fit, []
    for found in map_chunks(one, list(range(n_restarts)), token=token, progress=progress):
        objectives.append(found.objective[-1])
        if found.objective[-1] > best.objective[-1] + 1e-6 * (1 + abs(best.objective[-1])):
            best = found
    n_changed = int((best.class_probability.argmax(1) != fit.class_probability.argmax(1)).sum())
    return Restarts(best, tuple(objectives), best is not fit, n_changed)


def alignment(reference: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Find the order of ``other``'s classes that agrees best with ``reference``, both (n_cases, n_classes)."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(reference.T @ other, maximize=True)[1]
