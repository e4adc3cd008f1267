"""Accuracy of every rater with its interval, from their own annotations, and shrunk towards the mean of all raters.

The likelihood of a rater's accuracy is that of their annotations given the annotations of the others (`Panel`). Alone
it is read under an even prior. Shrunk, accuracies come from a Beta distribution of the pool, whose mean m and size s
have the priors uniform and 1/(1 + s)² (s/(1 + s) uniform); both are integrated over, not plugged in. With few raters
the pool is itself uncertain, and the intervals say so. With known truth this is the hierarchical Beta-binomial model of
Gelman et al., Bayesian Data Analysis, 3rd ed., section 5.3, with another prior for the size.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..models.reparametrise import expit, logit
from ..result_base import Result
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ._accuracy_kernels import likelihood_grids
from .leave_one_rater_out import Panel

N_POINTS = 121
_CELLS = 400
_EDGES = np.linspace(-8.0, 8.0, 401)  # logits, of the pool's own grid
_N_MEAN, _N_SIZE = 17, 13
_STEPS = (4, 4, 1)  # of the pool's grid: coarse while the pool is being looked for


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Accuracies(Result):
    """Accuracy of every rater; arrays of shape (n_raters,), NaN if nobody else annotated any of their cases.

    Attributes
    ----------
    n_judged : ndarray of int64
        Annotations that the others, or gold classes, say something about.
    alone, alone_low, alone_high : ndarray
        Mean and equal-tailed interval under an even prior.
    shrunk, low, high : ndarray
        Mean and equal-tailed interval under the pool; as ``alone`` if there is only one rater.
    level : float
    pool_mean, pool_size : float or None
        Posterior means of m and (on the log scale) s: what the pool is worth, in annotations.
    below_others : ndarray
        P(a new rater of the pool of the others would do as badly or worse), by this rater's own number of annotations.
    edges : ndarray, shape (n_raters, n_cells + 1)
        Accuracies that part each rater's own cells.
    density_alone, density : ndarray, shape (n_raters, n_cells)
        Posterior probability of each cell, under an even prior and under the pool.
    """

    n_judged: np.ndarray
    alone: np.ndarray
    alone_low: np.ndarray
    alone_high: np.ndarray
    shrunk: np.ndarray
    low: np.ndarray
    high: np.ndarray
    level: float
    pool_mean: float | None
    pool_size: float | None
    below_others: np.ndarray
    edges: np.ndarray
    density_alone: np.ndarray
    density: np.ndarray

    TABLES = ("raters",)
    COLUMNS = ("n_judged", "alone", "alone_low", "alone_high", "shrunk", "low", "high", "below_others")

    def chance_below(self, accuracy: np.ndarray, shrunk: bool = True) -> np.ndarray:
        """Compute P(a rater's accuracy is below a bound of their own, (n_raters,)), under the pool or an even prior."""
        mass = self.density if shrunk else self.density_alone
        found = np.array([_below(x, p, at) for x, p, at in zip(self.edges, mass, accuracy, strict=True)])
        return np.where(self.n_judged > 0, found, np.nan)


def accuracies_of(
    panel: Panel,
    level: float = 0.95,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Accuracies:
    """Estimate the accuracy of every rater of a panel.

    Parameters
    ----------
    panel : Panel
    level : float
        Confidence level of the intervals, 0 to 1.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.
    """
    dataset = panel.dataset
    chunks = chunk_ranges(dataset.n_raters, max(1, dataset.n_raters // 64))

    def grids(chunk: tuple[int, int]):
        return likelihood_grids(panel.right, panel.wrong, panel.judged, panel.order, panel.rater_ptr, *chunk, N_POINTS)

    found = list(map_chunks(grids, chunks, token=token, progress=progress))
    points = expit(np.concatenate([logit for logit, _ in found]))
    values = np.concatenate([value for _, value in found])
    n_judged = np.bincount(dataset.rater, panel.judged, dataset.n_raters).astype(np.int64)
    return shrink(points, values, n_judged, level)


def shrink(points: np.ndarray, values: np.ndarray, n_judged: np.ndarray, level: float) -> Accuracies:
    """Compute posteriors of accuracies, under an even prior and under the pool, from likelihoods on grids.

    Parameters
    ----------
    points : ndarray, shape (n_raters, n_points)
        Accuracies, ascending, each rater on a grid of their own.
    values : ndarray, shape (n_raters, n_points)
        Ln of the likelihood there, less its largest.
    n_judged : ndarray of int64, shape (n_raters,)
        Annotations that say something of the rater's accuracy; a rater with none is left out of the pool.
    level : float
        Confidence level of the intervals, 0 to 1.
    """
    n_raters = len(points)
    seen = n_judged > 0
    edges = _own_edges(points)
    likelihood = _likelihood(points, values, edges)
    alone = likelihood * np.diff(edges, axis=1)
    alone /= alone.sum(axis=1, keepdims=True)
    density, pool_mean, pool_size = alone, None, None
    below = np.full(n_raters, np.nan)
    if seen.sum() > 1:
        pool = _pool(points[seen], values[seen])
        density = alone.copy()
        density[seen] = pool.masses(likelihood[seen], edges[seen])
        pool_mean, pool_size = pool.mean, pool.size
    centres = (edges[:, 1:] + edges[:, :-1]) / 2
    if pool_mean is not None:
        below[seen] = _as_badly(centres[seen], alone[seen], pool)
    ends = ((1 - level) / 2, (1 + level) / 2)
    alone_low, alone_high = (np.where(seen, quantile(edges, alone, q), np.nan) for q in ends)
    low, high = (np.where(seen, quantile(edges, density, q), np.nan) for q in ends)
    return Accuracies(
        n_judged,
        np.where(seen, (alone * centres).sum(axis=1), np.nan),
        alone_low,
        alone_high,
        np.where(seen, (density * centres).sum(axis=1), np.nan),
        low,
        high,
        level,
        pool_mean,
        pool_size,
        below,
        edges,
        alone,
        density,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Posterior of the pool on points of (mean, size).

    ``others``, shape (n_raters, n_hyper), are the weights of the points with a rater left out. ``prior``, shape
    (n_hyper, n_edges), holds the Beta distribution functions at `_EDGES`.
    """

    mean: float
    size: float
    others: np.ndarray
    prior: np.ndarray

    def masses(self, likelihood: np.ndarray, edges: np.ndarray) -> np.ndarray:
        """Compute posterior probabilities of each rater's cells; the prior of a rater is the pool of the others."""
        reached = self.others @ self.prior
        at = logit(np.clip(edges, 1e-9, 1 - 1e-9))
        mass = np.array([np.diff(np.interp(x, _EDGES, row)) for x, row in zip(at, reached, strict=True)])
        mass = np.maximum(mass, 1e-300) * likelihood
        return mass / mass.sum(axis=1, keepdims=True)


def even_mass(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Compute the probability of each point, equally spaced on the logit scale, under an even prior; rows sum to 1."""
    mass = np.exp(values) * points * (1 - points)
    return mass / mass.sum(axis=1, keepdims=True)


def _own_edges(points: np.ndarray) -> np.ndarray:
    """Return edges of equal cells on the logit scale, over the part in which the likelihood is not negligible."""
    low, high = (np.clip(logit(points[:, end]), _EDGES[0], _EDGES[-1]) for end in (0, -1))
    high = np.maximum(high, low + 1e-6)
    return expit(low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _CELLS + 1))


def _likelihood(points: np.ndarray, values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Compute L in the middle of each cell, by linear interpolation of ln L between logits."""
    at = logit(points)
    middle = logit(edges)
    middle = (middle[:, 1:] + middle[:, :-1]) / 2
    return np.exp(np.array([np.interp(x, xs, ys) for x, xs, ys in zip(middle, at, values, strict=True)]))


def _pool(points: np.ndarray, values: np.ndarray) -> _Pool:
    averages = {step: _averages(points, values, _EDGES[::step]) for step in (4, 1)}
    mean_range, size_range = (-6.0, 6.0), (-2.0, 9.0)
    for step in _STEPS:
        logit_mean, log_size = (np.linspace(*ends, n) for ends, n in ((mean_range, _N_MEAN), (size_range, _N_SIZE)))
        means, sizes = np.repeat(expit(logit_mean), _N_SIZE), np.tile(log_size, _N_MEAN)
        prior = _distribution(means, np.exp(sizes), _EDGES[::step])
        # The mass of the ends lies in the outermost cells.
        cells = np.diff(prior, axis=1, prepend=0.0, append=1.0)
        cells[:, 1] += cells[:, 0]
        cells[:, -2] += cells[:, -1]
        marginal = np.log(np.maximum(averages[step] @ cells[:, 1:-1].T, 1e-300))
        # Uniform mean and s/(1 + s), in the coordinates logit m and ln s.
        joint = marginal.sum(axis=0) + np.log(means * (1 - means)) + sizes - 2 * np.log1p(np.exp(sizes))
        weight = np.exp(joint - joint.max()).reshape(_N_MEAN, _N_SIZE)
        mean_range, size_range = _narrow(logit_mean, weight.sum(axis=1)), _narrow(log_size, weight.sum(axis=0))
    weight = weight.ravel() / weight.sum()
    others = np.log(np.maximum(weight, 1e-300)) - marginal
    others = np.exp(others - others.max(axis=1, keepdims=True))
    others /= others.sum(axis=1, keepdims=True)
    return _Pool(float(weight @ means), float(np.exp(weight @ sizes)), others, prior)


def _averages(points: np.ndarray, values: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """Compute the mean of L over each cell of the pool's grid, (n_raters, n_edges − 1), also if L is in one cell."""
    edges = expit(logits)
    found = np.empty((len(points), edges.size - 1))
    for rater, (x, y) in enumerate(zip(points, np.exp(values), strict=True)):
        area = np.concatenate([[0.0], np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x))])
        inside = np.interp(edges, x, area)
        # Beyond its points the likelihood is negligible, or flat where they reach the ends of the scale.
        before, after = (x[0] - np.minimum(edges, x[0])) * y[0], (np.maximum(edges, x[-1]) - x[-1]) * y[-1]
        found[rater] = np.diff(inside - before + after) / np.diff(edges)
    return found


def _distribution(mean: np.ndarray, size: np.ndarray, logits: np.ndarray) -> np.ndarray:
    """Compute Beta(m s, (1 − m) s) distribution functions at some logits, shape (n_hyper, n_edges)."""
    from scipy.special import betainc

    return betainc((mean * size)[:, None], ((1 - mean) * size)[:, None], expit(logits)[None])


def _narrow(at: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Find the ends of the points with relevant weight, one step further out."""
    some = np.flatnonzero(weight > 1e-5 * weight.max())
    return float(at[max(some[0] - 1, 0)]), float(at[min(some[-1] + 1, at.size - 1)])


def _as_badly(points: np.ndarray, alone: np.ndarray, pool: _Pool) -> np.ndarray:
    """Compute the Beta-binomial tail at the rater's effective numbers of annotations, over the pool of the others."""
    mean = (alone * points).sum(axis=1)
    variance = np.maximum((alone * points**2).sum(axis=1) - mean**2, 1e-12)
    # Beta(x + 1, n − x + 1) has this mean and variance: n and x as if the truth were known.
    n = np.maximum(mean * (1 - mean) / variance - 3, 1)
    x = np.clip(mean * (n + 2) - 1, 0, n)
    reached = pool.others @ pool.prior[:, ::2]
    mass = np.diff(reached, axis=1, prepend=0.0, append=1.0)
    accuracy = expit(np.concatenate([_EDGES[:1], (_EDGES[2::2] + _EDGES[:-2:2]) / 2, _EDGES[-1:]]))
    return binomial_mixture_tail(x, n, accuracy, mass)


def binomial_mixture_tail(x: np.ndarray, n: np.ndarray, accuracy: np.ndarray, mass: np.ndarray) -> np.ndarray:
    """Compute P(X ≤ x) of n trials with a chance of success that is one of several accuracies.

    Parameters
    ----------
    x, n : ndarray, shape (n_raters,)
        Numbers of correct annotations and of all.
    accuracy : ndarray, shape (n_accuracies,)
    mass : ndarray, shape (n_raters, n_accuracies)
        Probability of each of these accuracies for each rater; rows sum to 1.

    Returns
    -------
    ndarray, shape (n_raters,)
    """
    from scipy.special import betainc

    n = np.maximum(n, x + 1e-6)  # all right: the tail is everything
    return (mass * (1 - betainc(x[:, None] + 1, (n - x)[:, None], accuracy))).sum(axis=1)


def _below(edges: np.ndarray, mass: np.ndarray, bound: float) -> float:
    """Compute P(accuracy < bound), with an even distribution within a cell."""
    return float(np.interp(bound, edges, np.concatenate([[0.0], np.cumsum(mass)]))) if np.isfinite(bound) else np.nan


def quantile(edges: np.ndarray, mass: np.ndarray, q: float) -> np.ndarray:
    """Compute the quantile of each row of cells.

    Parameters
    ----------
    edges : ndarray, shape (n_rows, n_cells + 1)
        Ends of the cells, ascending.
    mass : ndarray, shape (n_rows, n_cells)
        Probability of each cell, spread evenly over it; rows sum to 1.
    q : float
        0 to 1.

    Returns
    -------
    ndarray, shape (n_rows,)
    """
    reached = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
    return np.array([np.interp(q, share, edge) for share, edge in zip(reached, edges, strict=True)])


def cell_edges(points: np.ndarray) -> np.ndarray:
    """Return edges of cells around ascending points, with 0 and 1 as the ends; shape (n_rows, n_points + 1)."""
    ends = np.zeros((len(points), 1))
    return np.concatenate([ends, (points[:, 1:] + points[:, :-1]) / 2, ends + 1], axis=1)
