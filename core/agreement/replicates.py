"""Every coefficient of a resample, from weighted sums over its distinct count vectors.

The formulas are those of the modules that define the coefficients; here each number is an array over resamples, on the
last axis, and what is undefined is NaN.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.counts import ClassCounts
from ..errors import OptionError
from ._bootstrap_kernels import quadratic_forms
from ._kernels import agreeing_pairs, paired
from .coefficients import BRENNAN_PREDIGER, GWET_AC, PERCENT
from .corrected_spa import SPA_CORRECTED
from .krippendorff import KRIPPENDORFF_ALPHA
from .probability import SPA, SPA_WEIGHTINGS
from .replicated_alpha import Alpha
from .weighted_totals import Totals
from .weights import Weights, resolve_weights

_ALL = 1 - 1e-12


@dataclass(frozen=True, slots=True)
class CoefficientOptions:
    """What the coefficients are asked for with; see `core.agreement.coefficients.agreement_table`."""

    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1]
    weights: Weights = None
    labels: Sequence[float] | None = None
    metric: str | None = None

    def __post_init__(self) -> None:
        for weighting in self.spa_weightings:
            if weighting not in SPA_WEIGHTINGS:
                raise OptionError(f"weighting must be one of {', '.join(SPA_WEIGHTINGS)}, not {weighting!r}")


class ByVector:
    """Coefficients that are functions of count vectors, as a `core.agreement.resampling.Statistic`.

    Parameters
    ----------
    counts : ClassCounts
        One case for each distinct vector, in the order of the pool; one without annotations counts for nothing.
    names : sequence of str
        Any of `core.agreement.bootstrap_sample.COEFFICIENTS` but those that take each rater's own margins; SPA has
        one value for each weighting.
    how : CoefficientOptions
    """

    needs_cases = False

    def __init__(self, counts: ClassCounts, names: Sequence[str], how: CoefficientOptions):
        self.names, self.how, self.n_classes = tuple(names), how, counts.n_classes
        self.weights, self.matrix = resolve_weights(how.weights, counts.n_classes, how.labels)
        self.totals, self.sizes = _totals(counts, self.matrix)
        self.alpha = None
        of = {SPA: how.spa_weightings, SPA_CORRECTED: SPA_WEIGHTINGS[:1]}
        if KRIPPENDORFF_ALPHA in names:
            self.alpha = Alpha(counts, how.metric, how.labels, self.weights, self.matrix, self.totals)
            of[KRIPPENDORFF_ALPHA] = (self.alpha.how,)
        self.totals.close()
        self.labels = tuple((name, label) for name in names for label in of.get(name, (self.weights,)))
        self.n_values, self.n_sums = len(self.labels), self.totals.n_sums

    def __call__(self, vector_weight: np.ndarray, case_weight: np.ndarray) -> np.ndarray:
        """Values of shape (n_values, n_resamples); see `core.agreement.resampling.Statistic`."""
        sums = self.totals.sums(vector_weight)
        sums["every"] = sums["pooled"] + sums["single"]
        values = np.empty((self.n_values, vector_weight.shape[1]))
        with np.errstate(divide="ignore", invalid="ignore"):
            for row, (name, label) in enumerate(self.labels):
                values[row] = self._value(name, label, sums)
        return np.where(sums["usable"] > 0, np.minimum(values, 1.0), np.nan)

    def _value(self, name: str, label: str, sums: dict[str, np.ndarray]) -> np.ndarray | float:
        p_a = (sums["agreement"] / sums["usable"])[0]
        if name == PERCENT:
            return p_a
        if name == SPA:
            return self._spa(sums, label)
        if name == SPA_CORRECTED:
            return self._spa_corrected(sums, label)
        if name == KRIPPENDORFF_ALPHA:
            return np.nan if self.alpha is None else self.alpha(sums)
        q, w = self.n_classes, self.matrix
        if name == BRENNAN_PREDIGER:
            return np.nan if q < 2 else beyond(p_a, 1 / q if w is None else float(w.mean()))
        pi = sums["share"] / sums["rated"]
        if name == GWET_AC:
            all_weights = q if w is None else float(w.sum())
            return np.nan if q < 2 else beyond(p_a, (pi * (1 - pi)).sum(axis=0) * (all_weights / (q * (q - 1))))
        used = np.count_nonzero(sums["every"], axis=0)  # Fleiss and Scott
        return np.where(used < 2, np.nan, beyond(p_a, agreement_of_draws(pi, w)))

    def _spa(self, sums: dict[str, np.ndarray], weighting: str) -> np.ndarray:
        n = self.sizes[:, None]
        if weighting == "inv_var_class":
            p = sums["pooled"] / sums["pooled"].sum(axis=0)
            s2, s3 = (p * p).sum(axis=0), (p * p * p).sum(axis=0)
            rho = np.where(s2 < 1, (s3 - s2 * s2) / (s2 - s2 * s2), 0.0)
            weight = n * (n - 1) / (1 + 2 * rho * (n - 2))
        else:
            weight = {"flat": np.ones_like(n), "annotations": n, "annotations_m1": n - 1}.get(weighting, n * (n - 1))
        return (weight * sums["agreement of size"]).sum(axis=0) / (weight * sums["cases of size"]).sum(axis=0)

    def _spa_corrected(self, sums: dict[str, np.ndarray], weighting: str) -> np.ndarray:
        every, size = sums["every"], sums["annotations"][0]
        alike = (every * every).sum(axis=0) - sums["pairs"][0] - size
        p_e = alike / (size * size - sums["squares"][0])
        value = 1 - (1 - self._spa(sums, weighting)) / (1 - p_e)
        return np.where((np.count_nonzero(every, axis=0) >= 2) & (sums["rated"][0] >= 2), value, np.nan)


def _totals(counts: ClassCounts, matrix: np.ndarray | None) -> tuple[Totals, np.ndarray]:
    """The sums that the coefficients are functions of, and the numbers of annotations that cases have."""
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable, all_pairs = n >= 2, np.maximum(n * (n - 1), 1.0)
    alike = pairs if matrix is None else paired(counts.ptr, counts.class_code, counts.count, matrix) - n
    every, some = np.arange(n.size), np.flatnonzero(usable)
    sizes, size = np.unique(n[usable], return_inverse=True)
    totals = Totals(n.size)
    totals.add("rated", every, n >= 1)
    totals.add("usable", every, usable)
    totals.add("annotations", every, n)
    totals.add("squares", every, n * n)
    totals.add("pairs", every, pairs)
    totals.add("agreement", some, (alike / all_pairs)[usable])
    totals.add("cases of size", some, np.ones(some.size), size, sizes.size)
    totals.add("agreement of size", some, (pairs / all_pairs)[usable], size, sizes.size)
    row, code, count = np.repeat(every, np.diff(counts.ptr)), counts.class_code, counts.count
    totals.add("share", row, count / n[row], code, counts.n_classes)
    for name, which in (("pooled", n[row] >= 2), ("single", n[row] < 2)):
        totals.add(name, row[which], count[which], code[which], counts.n_classes)
    return totals, sizes


def beyond(p_a: np.ndarray, p_e: np.ndarray | float) -> np.ndarray:
    """``(p_a − p_e)/(1 − p_e)``, NaN where chance alone makes all agree."""
    return np.where(np.asarray(p_e) < _ALL, (p_a - p_e) / (1 - np.asarray(p_e)), np.nan)


def agreement_of_draws(share: np.ndarray, matrix: np.ndarray | None) -> np.ndarray:
    """Agreement of two draws from the classes, by weight or identity; shares of shape (n_classes, n_resamples)."""
    if matrix is None:
        return (share * share).sum(axis=0)
    total = np.zeros(share.shape[1])
    quadratic_forms(matrix, np.ascontiguousarray(share)[None], total)
    return total
