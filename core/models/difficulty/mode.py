"""Maximum of the posterior, by ascent from several starts, and the grid that is fine enough there."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...runtime.chunks import CancelToken
from .density import DifficultyDensity
from .nodes import NodeCounts, refined

TOLERANCE = 1e-6
MOST_WHITENED = 500
_SAME_MODE = 0.1
_STEP = 1e-4
_WIDEST_SD = 3.0


def at_its_mode(density: DifficultyDensity, token: CancelToken | None = None) -> DifficultyDensity:
    """Return the density with its mode, with nodes doubled until no log probability moves by more than 1e-6 there.

    Raises
    ------
    LimitError
        The data need a finer grid than memory allows.
    Cancelled
    """
    token = token or CancelToken()
    mode, arrived = highest_from(density, starting_points(density), token)
    while True:

        def at(counts: NodeCounts, density=density, mode=mode) -> np.ndarray:
            return replace(density, node_counts=counts).probabilities(mode[None], token=token)[0]

        counts = refined(density.node_counts, at, density.patterns.longest, TOLERANCE)
        if counts == density.node_counts:
            return replace(density, mode=mode, arrived=arrived)
        density = replace(density, node_counts=counts)
        mode, arrived = highest_from(density, [mode], token)


def whitened(density: DifficultyDensity, token: CancelToken | None = None) -> DifficultyDensity:
    """Return the density on coordinates in which its curvature at the mode is that of a standard normal.

    Above 500 parameters that takes longer than it saves.
    """
    if not 0 < density.ndim <= MOST_WHITENED:
        return density
    sd, vector = principal_spread(density.value_and_gradient, density.mode, token or CancelToken())
    return replace(density, scale=np.ascontiguousarray((vector * sd) @ vector.T))


def principal_spread(density: "Density", mode: np.ndarray, token: CancelToken) -> tuple[np.ndarray, np.ndarray]:
    """Compute standard deviations along principal axes, shape (ndim,), and the axes, one per column, at a mode.

    The curvature comes from differences of gradients.

    Parameters
    ----------
    density : callable
        Value and gradient.
    mode : ndarray, shape (ndim,)
    token : CancelToken
    """
    curvature = np.empty((mode.size, mode.size))
    for d in range(mode.size):
        token.check()
        step = np.zeros(mode.size)
        step[d] = _STEP
        above, below = (density(mode + sign * step)[1] for sign in (1, -1))
        curvature[d] = (below - above) / (2 * _STEP)
    value, vector = np.linalg.eigh((curvature + curvature.T) / 2)
    return 1 / np.sqrt(np.maximum(value, 1 / _WIDEST_SD**2)), vector


def highest_from(density: DifficultyDensity, starts: list[np.ndarray], token: CancelToken) -> tuple[np.ndarray, bool]:
    """Find the best maximum from ``starts``, and whether it is one; a later one must be higher by 0.1.

    Parameters
    ----------
    density : DifficultyDensity
    starts : list of ndarray, each of shape (ndim,)
        At least one.
    token : CancelToken
    """
    if density.ndim == 0:
        return np.zeros(0), True

    def watched(theta: np.ndarray) -> tuple[float, np.ndarray]:
        token.check()
        return density.value_and_gradient(theta)

    best, height, arrived = starts[0], -np.inf, False
    for start in starts:
        place, value, done = ascend(watched, start)
        if value > height + _SAME_MODE:
            best, height, arrived = place, value, done
    return best, arrived


def starting_points(density: DifficultyDensity) -> list[np.ndarray]:
    """Return starts: raters by the vote, raters by the prior, and the latter with a rare positive class."""
    share, right = vote_accuracy(density)
    expected = np.broadcast_to([2.0, 1.0], right.shape)
    return [
        coordinates(density, share, np.log(right) - np.log1p(-right)),
        coordinates(density, 0.5, expected),
        coordinates(density, share / 3, expected),
    ]


def vote_accuracy(density: DifficultyDensity) -> tuple[float, np.ndarray]:
    """Average positive annotations per case; compute specificity and sensitivity against them, (n_alpha, 2).

    Four pseudo-answers for each, three of them right, keep all strictly between 0 and 1.
    """
    dataset = density.dataset
    positive = dataset.answer == density.specification.positive
    size = np.diff(dataset.case_ptr)
    share = np.bincount(dataset.case_of_annotation, positive, dataset.n_cases)[size > 0] / size[size > 0]
    of_answer = np.repeat(share, size[size > 0])
    rater = dataset.rater if density.on.ability else np.zeros_like(dataset.rater)
    right = np.empty((density.n_alpha, 2))
    for z, (truth, agrees) in enumerate(((1 - of_answer, ~positive), (of_answer, positive))):
        total = np.bincount(rater, truth, density.n_alpha)
        right[:, z] = (np.bincount(rater, truth * agrees, density.n_alpha) + 3) / (total + 4)
    return float(np.clip(share.mean() if share.size else 0.5, 0.01, 0.99)), right


def coordinates(density: DifficultyDensity, prevalence: float, alpha: np.ndarray) -> np.ndarray:
    """Return the point of this prevalence and these α, moved into the range of cooperative raters if necessary.

    Parameters
    ----------
    density : DifficultyDensity
    prevalence : float
        Prevalence of the positive class, above 0 and below 1.
    alpha : ndarray, shape (n_alpha, 2)
        Logits of specificity and sensitivity.

    Returns
    -------
    ndarray, shape (ndim,)
    """
    if density.ndim == 0:
        return np.zeros(0)
    logit = np.log(prevalence) - np.log1p(-prevalence)
    cooperative = density.specification.cooperative
    if not density.on.bias:
        own = alpha.mean(axis=1)
        return np.concatenate(([logit], _inverse_softplus(own) if cooperative else own))
    own = _inverse_softplus(alpha.sum(axis=1)) if cooperative else alpha[:, 1]
    return np.concatenate(([logit], alpha[:, 0], own))


def _inverse_softplus(own: np.ndarray) -> np.ndarray:
    return np.log(np.expm1(np.maximum(own, 0.1)))


_MEMORY = 12
_SUFFICIENT, _CURVATURE = 1e-4, 0.9
_MOST_TRIALS = 50

Density = Callable[[np.ndarray], tuple[float, np.ndarray]]


def ascend(density: Density, start: np.ndarray, most_steps: int = 2000) -> tuple[np.ndarray, float, bool]:
    """Find the maximum of a function, its value there, and whether the search has finished.

    Limited-memory BFGS (Nocedal 1980, doi:10.1090/S0025-5718-1980-0572855-7) on vectors alone. The library's own goes
    through small matrices whose linear algebra runs in threads: on a busy machine they wait for each other, and a
    search of 20 milliseconds takes seconds.

    Parameters
    ----------
    density : callable
        Value, ``-inf`` if there is none, and gradient.
    start : ndarray, shape (ndim,)
    most_steps : int
    """
    place, (value, gradient) = start, density(start)
    steps: deque[tuple[np.ndarray, np.ndarray, float]] = deque(maxlen=_MEMORY)
    for _ in range(most_steps):
        if np.abs(gradient).max(initial=0.0) < 1e-5:
            return place, value, True
        direction = _direction(gradient, steps)
        found = _along(
            density, place, value, gradient, direction, 1.0 if steps else 1 / float(np.linalg.norm(gradient))
        )
        if found is None:
            if not steps:
                return place, value, value > -np.inf
            steps.clear()  # once more along the gradient, from which the memory may have led astray
            continue
        moved, risen, new_gradient = found
        step, change = moved - place, gradient - new_gradient
        if step @ change > 1e-14 * (change @ change):
            steps.append((step, change, 1 / (step @ change)))
        done = risen - value <= 1e-13 * (1 + abs(risen))
        place, value, gradient = moved, risen, new_gradient
        if done:
            return place, value, True
    return place, value, False


def _direction(gradient: np.ndarray, steps: deque) -> np.ndarray:
    """Multiply the gradient by the inverse curvature from the last steps."""
    direction, factors = gradient.copy(), []
    for step, change, scale in reversed(steps):
        factors.append(scale * (step @ direction))
        direction -= factors[-1] * change
    if steps:
        step, change, scale = steps[-1]
        direction /= scale * (change @ change)
    for step, change, scale in steps:
        direction += (factors.pop() - scale * (change @ direction)) * step
    return direction


def _along(
    density: Density, place: np.ndarray, value: float, gradient: np.ndarray, direction: np.ndarray, length: float
) -> tuple[np.ndarray, float, np.ndarray] | None:
    """Find a point on the line that rises enough and is flatter (weak Wolfe conditions, by bisection), or None."""
    slope, low, high, best = gradient @ direction, 0.0, np.inf, None
    if slope <= 0:
        return None
    for _ in range(_MOST_TRIALS):
        point = place + length * direction
        trial, by_place = density(point)
        if not trial >= value + _SUFFICIENT * length * slope:
            high = length
        else:
            best = point, trial, by_place
            if by_place @ direction <= _CURVATURE * slope:
                return best
            low = length
        length = 2 * length if high == np.inf else (low + high) / 2
    return best
