"""Conger's and Cohen's kappa of many resamples: chance is made of each rater's own class shares in the resample."""

import numpy as np

from ..annotations.counts import ClassCounts
from ._bootstrap_kernels import quadratic_forms
from ._kernels import agreeing_pairs, paired
from .replicates import CoefficientOptions, agreement_of_draws, beyond
from .weighted_totals import Totals
from .weights import resolve_weights


class RaterKappa:
    """One kappa as a `core.agreement.resampling.Statistic`.

    Parameters
    ----------
    name : str
        Of one of `core.agreement.cohen_conger.METHODS`, which are the same for two raters.
    counts : ClassCounts
        One case for each distinct vector, in the order of the pool.
    case_ptr, rater, answer : ndarray
        Annotations by case, in the order of the pool; see `core.annotations.dataset.Dataset`.
    n_raters : int
    how : CoefficientOptions
    """

    needs_cases = True
    n_values = 1

    def __init__(
        self,
        name: str,
        counts: ClassCounts,
        case_ptr: np.ndarray,
        rater: np.ndarray,
        answer: np.ndarray,
        n_raters: int,
        how: CoefficientOptions,
    ):
        weights, self.matrix = resolve_weights(how.weights, counts.n_classes, how.labels)
        self.labels = ((name, weights),)
        self.shape = n_raters, counts.n_classes
        n, pairs = agreeing_pairs(counts.ptr, counts.count)
        alike = pairs if self.matrix is None else paired(counts.ptr, counts.class_code, counts.count, self.matrix) - n
        some = np.flatnonzero(n >= 2)
        self.totals = Totals(n.size)
        self.totals.add("usable", some, np.ones(some.size))
        self.totals.add("agreement", some, (alike / np.maximum(n * (n - 1), 1))[some])
        self.totals.close()
        self.table = Totals(case_ptr.size - 1)
        cell = rater * np.int64(counts.n_classes) + answer
        case = np.repeat(np.arange(case_ptr.size - 1), np.diff(case_ptr))
        self.table.add("table", case, np.ones(case.size), cell, n_raters * counts.n_classes)
        self.table.close()
        self.n_sums = self.table.n_sums

    def __call__(self, vector_weight: np.ndarray, case_weight: np.ndarray) -> np.ndarray:
        """Values of shape (1, n_resamples); see `core.agreement.resampling.Statistic`."""
        sums = self.totals.sums(vector_weight)
        table = self.table.sums(case_weight)["table"].reshape(*self.shape, -1)
        n = table.sum(axis=1)
        classes = np.count_nonzero(table.sum(axis=0), axis=0)
        table /= np.maximum(n, 1)[:, None]
        n_raters = np.count_nonzero(n, axis=0)
        if self.matrix is None:
            own = np.square(table).sum(axis=(0, 1))
        else:
            own = np.zeros(n.shape[1])
            quadratic_forms(self.matrix, table, own)
        with np.errstate(divide="ignore", invalid="ignore"):
            p_e = (agreement_of_draws(table.sum(axis=0), self.matrix) - own) / (n_raters * (n_raters - 1))
            value = np.minimum(beyond((sums["agreement"] / sums["usable"])[0], p_e), 1.0)
        defined = (sums["usable"][0] > 0) & (n_raters >= 2) & (classes >= 2)
        return np.where(defined, value, np.nan)[None]
