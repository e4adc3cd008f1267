"""Krippendorff's alpha of many resamples, under its four metrics and by weights.

The disagreement within cases is a weighted sum over count vectors; for the ordinal metric, whose distances depend on
the resample, the sums are those of the coincidence matrix.
"""

from collections.abc import Sequence

import numpy as np

from ..annotations.counts import ClassCounts
from ..errors import LimitError, OptionError
from ..settings import current_settings
from ._bootstrap_kernels import quadratic_forms, unlike_pairs
from ._kernels import agreeing_pairs, paired, ratio_spread, spread
from .krippendorff import METRICS
from .weighted_totals import Totals
from .weights import class_labels


class Alpha:
    """What alpha needs of each count vector, and alpha of resamples of them.

    Parameters
    ----------
    counts : ClassCounts
        One case for each vector.
    metric : str or None
        One of `core.agreement.krippendorff.METRICS`; None takes the weights.
    labels : sequence of float, length n_classes, optional
    weights : str
        What the weights are called.
    matrix : ndarray of float64, shape (n_classes, n_classes), or None
        The weights; None is identity.
    totals : Totals
        Where the sums are added.
    """

    def __init__(
        self,
        counts: ClassCounts,
        metric: str | None,
        labels: Sequence[float] | None,
        weights: str,
        matrix: np.ndarray | None,
        totals: Totals,
    ):
        if metric is not None and metric not in METRICS:
            raise OptionError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}")
        self.metric = metric or "nominal"
        weight = matrix if metric is None else None
        by_weights = weight is not None
        self.how = f"{weights} weights" if by_weights else f"{metric} metric"
        if self.metric == "nominal" and not by_weights:
            self.how = "nominal"
        csr = counts.ptr, counts.class_code, counts.count
        n, pairs = agreeing_pairs(counts.ptr, counts.count)
        self._distance = None
        if self.metric == "nominal":
            self._distance = None if weight is None else 1 - weight
            within = n * (n - 1) - pairs if self._distance is None else paired(*csr, self._distance)
        else:
            values = class_labels(counts.n_classes, labels, at_least_zero=self.metric == "ratio")
        self._least = 1e-12 if by_weights else 0.0
        if self.metric == "ordinal":
            self._order = np.argsort(values, kind="stable")
            row, low, high, product = unlike_pairs(*csr)
            code, which = np.unique(low * counts.n_classes + high, return_inverse=True)
            self._low, self._high = code // counts.n_classes, code % counts.n_classes
            totals.add("coincidences", row, 2 * product / (n[row] - 1), which, code.size)
            return
        if self.metric == "interval":
            used = np.unique(counts.class_code)
            values = values - (values[used].mean() if used.size else 0.0)
            # Of no consequence for alpha; squares can then be taken.
            self._values = values / max(float(np.abs(values[used]).max(initial=0.0)), np.finfo(float).tiny)
            self._values[np.setdiff1d(np.arange(values.size), used)] = 0.0
            within = spread(*csr, self._values)
        elif self.metric == "ratio":
            self._distance = _ratio_distances(values)
            within = ratio_spread(*csr, values)
        totals.add("within", np.arange(n.size), within / np.maximum(n - 1, 1))

    def __call__(self, sums: dict[str, np.ndarray]) -> np.ndarray:
        """Alpha of shape (n_resamples,) from ``sums``, in which "pooled" are the annotations of each class."""
        pooled = sums["pooled"]
        size = pooled.sum(axis=0)
        pi = pooled / size
        if self.metric == "ordinal":
            inside = pooled[self._order]
            ranks = np.empty_like(pooled)
            ranks[self._order] = np.cumsum(inside, axis=0) - inside / 2
            within = (sums["coincidences"] * (ranks[self._low] - ranks[self._high]) ** 2).sum(axis=0)
            expected = _twice_the_variance(pi, ranks)
        else:
            within = sums["within"][0]
            if self.metric == "interval":
                expected = _twice_the_variance(pi, self._values[:, None])
            elif self._distance is None:
                expected = (pi * (1 - pi)).sum(axis=0)
            else:
                expected = np.zeros(size.size)
                quadratic_forms(self._distance, pi[None], expected)
        defined = (np.count_nonzero(pooled, axis=0) >= 2) & (expected > self._least)
        return np.where(defined, 1 - (1 - 1 / size) * (within / size) / expected, np.nan)


def _twice_the_variance(share: np.ndarray, values: np.ndarray) -> np.ndarray:
    away = values - (share * values).sum(axis=0)
    return 2 * (share * away * away).sum(axis=0)


def _ratio_distances(values: np.ndarray) -> np.ndarray:
    limit = current_settings().max_model_cells
    if values.size**2 > limit:
        raise LimitError(
            f"Resampling the ratio metric of {values.size:,} classes needs {values.size**2:,} cells, more than the "
            f"limit of {limit:,}. Take the interval metric of the logarithms."
        )
    total = values[:, None] + values
    return np.divide(values[:, None] - values, total, out=np.zeros_like(total), where=total > 0) ** 2
