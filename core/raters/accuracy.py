"""Accuracy of every rater with its interval, alone and shrunk towards the pool.

The likelihood of a rater's accuracy is that of their answers given the answers of the others (`Panel`). Alone it is
read under an even prior. Shrunk, accuracies come from a Beta distribution of the pool, whose mean m and size s have the
priors uniform and 1/(1 + s)² (s/(1 + s) uniform); both are integrated over, not plugged in. With few raters the pool is
itself uncertain, and the intervals say so. With known truth this is the hierarchical Beta-binomial model of Gelman et
al., Bayesian Data Analysis, 3rd ed., section 5.3, with another prior for the size.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from core.chunks import CancelToken, chunk_ranges, map_chunks
from core.models.charts import expit
from core.raters._accuracy_kernels import likelihood_grids
from core.raters.panel import Panel

N_POINTS = 81
_N_MEAN, _N_SIZE = 21, 17
_LEVELS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Accuracies:
    """Accuracy of every rater; arrays of shape (n_raters,), NaN where nobody else answered any of their cases.

    Attributes
    ----------
    n_judged : ndarray of int64
        Answers that the others, or known classes, say something about.
    alone, alone_low, alone_high : ndarray
        Mean and equal-tailed interval under an even prior.
    shrunk, low, high : ndarray
        Mean and equal-tailed interval under the pool; as ``alone`` where there is one rater.
    level : float
    pool_mean, pool_size : float or None
        Posterior means of m and (on the log scale) s: what the pool is worth, in answers.
    below_others : ndarray
        P(a new rater of the pool of the others would do as badly or worse), by this rater's own number of answers.
    points, log_likelihood, density : ndarray, shape (n_raters, n_points)
        Accuracies, ln L there, and the posterior probability of each point under the pool.
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
    points: np.ndarray
    log_likelihood: np.ndarray
    density: np.ndarray

    def chance_below(self, accuracy: np.ndarray, shrunk: bool = True) -> np.ndarray:
        """P(a rater's accuracy is below a bound of their own, shape (n_raters,)), under the pool or alone."""
        mass = self.density if shrunk else even_mass(self.points, self.log_likelihood)
        found = np.array([_below(x, p, at) for x, p, at in zip(self.points, mass, accuracy, strict=True)])
        return np.where(self.n_judged > 0, found, np.nan)


def accuracies_of(
    panel: Panel,
    level: float = 0.95,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Accuracies:
    """Accuracy of every rater of a panel."""
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
    """Posteriors from likelihoods on grids of shape (n_raters, n_points), ``values`` being ln L less its largest."""
    n_raters = len(points)
    seen = n_judged > 0
    alone = even_mass(points, values)
    density, pool_mean, pool_size = alone, None, None
    below = np.full(n_raters, np.nan)
    if seen.sum() > 1:
        pool = _pool(points[seen], values[seen])
        density = alone.copy()
        density[seen] = pool.density
        pool_mean, pool_size = pool.mean, pool.size
        below[seen] = _as_badly(points[seen], alone[seen], pool)
    ends = ((1 - level) / 2, (1 + level) / 2)
    alone_low, alone_high = (np.where(seen, quantile(points, alone, q), np.nan) for q in ends)
    low, high = (np.where(seen, quantile(points, density, q), np.nan) for q in ends)
    return Accuracies(
        n_judged,
        np.where(seen, (alone * points).sum(axis=1), np.nan),
        alone_low,
        alone_high,
        np.where(seen, (density * points).sum(axis=1), np.nan),
        low,
        high,
        level,
        pool_mean,
        pool_size,
        below,
        points,
        values,
        density,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Posterior of the pool on points of (mean, size), and of raters under it.

    ``others`` has shape (n_raters, n_hyper): the weight of each point when the rater is left out.
    """

    mean: float
    size: float
    hyper: np.ndarray
    others: np.ndarray
    density: np.ndarray


def even_mass(points: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Probability of each point under an even prior; rows sum to 1. Points are equally far apart on the logit scale."""
    mass = np.exp(values) * points * (1 - points)
    return mass / mass.sum(axis=1, keepdims=True)


def _pool(points: np.ndarray, values: np.ndarray) -> _Pool:
    log_a, log_b = np.log(points), np.log1p(-points)
    step = log_a[:, 1] - log_b[:, 1] - log_a[:, 0] + log_b[:, 0]
    mean_range, size_range = (-6.0, 6.0), (-2.0, 9.0)
    for _ in range(_LEVELS):
        logit_mean, log_size = (np.linspace(*ends, n) for ends, n in ((mean_range, _N_MEAN), (size_range, _N_SIZE)))
        marginal, prior = _marginals(log_a, log_b, values, step, logit_mean, log_size)
        joint = prior + marginal.sum(axis=0)
        weight = np.exp(joint - joint.max()).reshape(_N_MEAN, _N_SIZE)
        mean_range, size_range = _narrow(logit_mean, weight.sum(axis=1)), _narrow(log_size, weight.sum(axis=0))
    weight = weight.ravel() / weight.sum()
    means, sizes = np.repeat(expit(logit_mean), _N_SIZE), np.tile(log_size, _N_MEAN)
    others = np.log(np.maximum(weight, 1e-300)) - marginal
    others -= others.max(axis=1, keepdims=True)
    log_mass = np.log(np.exp(others).sum(axis=1))
    others = np.exp(others - log_mass[:, None])
    density = np.zeros_like(points)
    shapes = np.exp(sizes)
    for h in np.flatnonzero(weight > 1e-6):
        density += weight[h] * np.exp(
            values + _log_beta(log_a, log_b, means[h], shapes[h]) + np.log(step)[:, None] - marginal[:, h, None]
        )
    density /= density.sum(axis=1, keepdims=True)
    hyper = np.stack([means, shapes])
    return _Pool(float(weight @ means), float(np.exp(weight @ sizes)), hyper, others, density)


def _log_beta(log_a: np.ndarray, log_b: np.ndarray, mean: float, size: float) -> np.ndarray:
    """Log density of Beta(m s, (1 − m) s) on the logit scale."""
    from scipy.special import betaln

    one, two = mean * size, (1 - mean) * size
    return one * log_a + two * log_b - betaln(one, two)


def _marginals(log_a, log_b, values, step, logit_mean, log_size) -> tuple[np.ndarray, np.ndarray]:
    """Ln ∫ L Beta at every (mean, size), shape (n_raters, n_hyper), and the log prior of those points."""
    marginal = np.empty((len(values), logit_mean.size * log_size.size))
    prior = np.empty(marginal.shape[1])
    h = 0
    for x in logit_mean:
        mean = float(expit(x))
        for y in log_size:
            log_density = values + _log_beta(log_a, log_b, mean, float(np.exp(y)))
            best = log_density.max(axis=1)
            marginal[:, h] = best + np.log(np.exp(log_density - best[:, None]).sum(axis=1) * step)
            # Uniform mean and s/(1 + s), in the coordinates logit m and ln s.
            prior[h] = np.log(mean * (1 - mean)) + y - 2 * np.log1p(np.exp(y))
            h += 1
    return marginal, prior


def _narrow(at: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Ends of the points that matter, one step further out."""
    some = np.flatnonzero(weight > 1e-5 * weight.max())
    return float(at[max(some[0] - 1, 0)]), float(at[min(some[-1] + 1, at.size - 1)])


def _as_badly(points: np.ndarray, alone: np.ndarray, pool: _Pool) -> np.ndarray:
    """Beta-binomial tail at the rater's effective numbers of answers, over the pool of the others.

    The share of right answers has the mean of the pool and the variance of a Beta-binomial share; its tail is that of
    the Beta distribution with these two.
    """
    from scipy.special import betainc

    mean = (alone * points).sum(axis=1)
    variance = np.maximum((alone * points**2).sum(axis=1) - mean**2, 1e-12)
    # Beta(x + 1, n − x + 1) has this mean and variance: n and x as if the truth were known.
    n = np.maximum(mean * (1 - mean) / variance - 3, 1)
    x = np.clip(mean * (n + 2) - 1, 0, n)
    keep = np.flatnonzero(pool.others.max(axis=0) > 1e-4)
    weight = pool.others[:, keep] / pool.others[:, keep].sum(axis=1, keepdims=True)
    centre, size = pool.hyper[:, keep]
    size = np.maximum(n[:, None] * (size + 1) / (n[:, None] + size) - 1, 1e-3)
    at = np.minimum((x + 0.5) / n, 1.0)[:, None]
    return (weight * betainc(centre * size, (1 - centre) * size, at)).sum(axis=1)


def _below(points: np.ndarray, mass: np.ndarray, bound: float) -> float:
    """P(accuracy < bound), each point spread over its cell."""
    edges = np.concatenate([[0.0], (points[1:] + points[:-1]) / 2, [1.0]])
    return float(np.interp(bound, edges, np.concatenate([[0.0], np.cumsum(mass)]))) if np.isfinite(bound) else np.nan


def quantile(points: np.ndarray, mass: np.ndarray, q: float) -> np.ndarray:
    """Quantile of each row, each point spread over its cell."""
    edges = np.concatenate(
        [np.zeros((len(points), 1)), (points[:, 1:] + points[:, :-1]) / 2, np.ones((len(points), 1))], axis=1
    )
    reached = np.concatenate([np.zeros((len(points), 1)), np.cumsum(mass, axis=1)], axis=1)
    return np.array([np.interp(q, share, edge) for share, edge in zip(reached, edges, strict=True)])
