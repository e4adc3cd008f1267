"""Accuracy of every rater under a pool whose shape is learned from all of them.

The likelihood of a rater's accuracy a is ``Π_n (a right_n + (1 − a) wrong_n)`` by the others' annotations (`Panel`), or
``a^r (1 − a)^(n − r)`` if r of n are correct on gold. The prior is a Beta distribution with the mean of the pool and a
weight of `PSEUDO_ANNOTATIONS` annotations, which counts as `BASE_RATERS` further raters: many raters determine the
distribution of accuracies themselves. With only the Beta distribution, too many honest raters are flagged if they are
similar (500 raters, 40 annotations each, 3 per case, two classes: 0.14 of those flagged at a false discovery rate of
0.05).
"""

import numpy as np

from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ._learned_pool_kernels import learn_pool, likelihoods_at, posteriors
from .leave_one_rater_out import Panel
from .rates import Rates

PSEUDO_ANNOTATIONS = 10.0
BASE_RATERS = 10.0
_CELLS = 500
# Shares have about the same precision in all of these cells.
_EDGES = np.sin(np.linspace(0, np.pi / 2, _CELLS + 1)) ** 2
MIDDLE = np.sin((np.arange(_CELLS) + 0.5) * np.pi / (2 * _CELLS)) ** 2
_SPREAD = 0.04  # Standard deviation of the smoothing of the pool, on the scale of arcsin √accuracy.
_ROUNDS, _STILL = 200, 1e-7
_KERNEL = np.exp(-0.5 * (np.arange(int(3 * _SPREAD / (np.pi / 2 / _CELLS)) + 1) * (np.pi / 2 / _CELLS) / _SPREAD) ** 2)
_KERNEL /= 2 * _KERNEL.sum() - _KERNEL[0]


class LearnedPool:
    """Posteriors of raters' accuracies under the pool.

    Parameters
    ----------
    log_likelihood : ndarray, shape (n_raters, n_cells)
        Log likelihood of each rater at `MIDDLE`.
    n : ndarray of int64, shape (n_raters,)
        Number of annotations that judge each rater; raters with none are not judged.
    """

    def __init__(self, log_likelihood: np.ndarray, n: np.ndarray):
        from scipy.special import betainc

        self.n, self.seen = n, n > 0
        likelihood = log_likelihood[self.seen]
        likelihood = np.exp(likelihood - likelihood.max(axis=1, keepdims=True, initial=-np.inf))
        self.mass = np.empty_like(likelihood)
        if not self.seen.any():
            return
        weight, mean, before = n[self.seen] / n.sum(), 0.7, 0.0
        total = np.zeros(_CELLS)
        for _ in range(30):  # The mean of the base measure is that of the pool.
            base = np.diff(betainc(PSEUDO_ANNOTATIONS * mean, PSEUDO_ANNOTATIONS * (1 - mean), _EDGES))
            base = BASE_RATERS * np.maximum(base, 1e-300)
            if before == 0.0:
                total[:] = base
            learn_pool(likelihood, base, _KERNEL, _ROUNDS, _STILL, total)
            posteriors(likelihood, base, _KERNEL, total, self.mass)
            before, mean = mean, float(np.clip(weight @ (self.mass @ MIDDLE), 0.01, 0.99))
            if abs(mean - before) < 1e-5:
                break

    def rates(self, level: float) -> Rates:
        """Compute posterior means and intervals."""
        columns = [np.full(self.n.size, np.nan) for _ in range(3)]
        if self.seen.any():
            columns[0][self.seen] = self.mass @ MIDDLE
            reached = np.concatenate([np.zeros((len(self.mass), 1)), np.cumsum(self.mass, axis=1)], axis=1)
            for column, end in zip(columns[1:], ((1 - level) / 2, (1 + level) / 2), strict=True):
                column[self.seen] = [np.interp(end, row, _EDGES) for row in reached]
        value, low, high = columns
        return Rates(value, low, high, self.n)

    def mean_over(self, n_annotations: np.ndarray) -> float | None:
        """Compute the mean accuracy over the annotations of those who are judged."""
        if not self.seen.any():
            return None
        return float(np.average(self.mass @ MIDDLE, weights=n_annotations[self.seen]))

    def chance_at_least(self, bound: float) -> np.ndarray:
        """Compute P(accuracy ≥ bound) of each rater, with an even distribution within a cell."""
        found = np.full(self.n.size, np.nan)
        share = np.clip((_EDGES[1:] - bound) / np.diff(_EDGES), 0, 1)
        found[self.seen] = np.clip(self.mass @ share, 0, 1)
        return found


def by_others(panel: Panel, token: CancelToken | None) -> np.ndarray:
    """Compute the log likelihood of every rater on the cells, by the annotations of the others."""
    chunks = chunk_ranges(panel.dataset.n_raters, max(1, panel.dataset.n_raters // 64))

    def of_raters(chunk: tuple[int, int]) -> np.ndarray:
        return likelihoods_at(panel.right, panel.wrong, panel.judged, panel.order, panel.rater_ptr, *chunk, MIDDLE)

    return np.concatenate(list(map_chunks(of_raters, chunks, token=token)))


def on_gold(gold: Rates) -> np.ndarray:
    """Compute the log likelihood of every rater on the cells, by the share of correct annotations on gold."""
    right = np.rint(np.nan_to_num(gold.value) * gold.n)[:, None]
    return right * np.log(MIDDLE) + (gold.n[:, None] - right) * np.log1p(-MIDDLE)
