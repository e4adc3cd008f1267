"""Bootstrap over cases of all agreement coefficients together, with common resamples.

Efron & Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13. A resample is as many cases as there are
with an annotation, drawn with replacement, each with all its annotations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import OptionError
from ..options import check_level, check_whole
from ..result_base import Columns, Result, rows
from ..runtime.chunks import CancelToken
from .bootstrap_sample import BootstrapSample, CoefficientOptions, chosen
from .coefficient_methods import formulas
from .intervals import Coefficient, few_cases
from .linearised import as_counts, warn_rare_classes
from .probability import SPA_WEIGHTINGS
from .resampling import pool_of_data, resample
from .weights import Weights

_AT_1 = 1 - 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BootstrapResult(Result):
    """Coefficients with errors from resampling the cases.

    Attributes
    ----------
    coefficients : tuple of Coefficient
        The value is that of the data; the error is the standard deviation of the replicates and the interval their
        percentiles.
    replicates : ndarray of float64, shape (n_replicates, n_coefficients)
        One row for each resample; NaN if a coefficient is undefined on it.
    n_undefined, n_at_1 : ndarray of int64, shape (n_coefficients,)
        Number of replicates that are undefined, and that are 1.
    level : float
        Confidence level of the intervals.
    """

    coefficients: tuple[Coefficient, ...]
    replicates: np.ndarray
    n_undefined: np.ndarray
    n_at_1: np.ndarray
    level: float

    TABLES = ("coefficients", "replicates")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "coefficients":
            counts = {"n_undefined": self.n_undefined, "n_at_1": self.n_at_1}
            return {**rows(self.coefficients, Coefficient.COLUMNS), **counts}
        shown = self.replicates[:most]
        each = [(one.name, one.weights) for one in self.coefficients] * len(shown)
        return {
            "replicate": np.repeat(np.arange(len(shown)), len(self.coefficients)),
            "name": [name for name, _ in each],
            "weights": [weights for _, weights in each],
            "value": shown.ravel(),
        }

    def position(self, name: str, weights: str | None = None) -> int:
        """Return the place of a coefficient; the first of that name if weights are omitted."""
        for place, one in enumerate(self.coefficients):
            if one.name == name and weights in (None, one.weights):
                return place
        raise OptionError(f"Unknown coefficient {name!r}{f' with the weights {weights!r}' if weights else ''}")


@checked
def bootstrap(
    data: ClassCounts | Dataset,
    *,
    n_replicates: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1],
    weights: Weights = None,
    labels: Sequence[float] | None = None,
    metric: str | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> BootstrapResult:
    """Compute every coefficient of `core.agreement.coefficients.agreement_table` on the same resamples of the cases.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data of single classes. Cohen's, Scott's and Conger's coefficients need a dataset with raters who are
        identified.
    n_replicates : int
        Number of resamples.
    seed : int
        Seed; a replicate depends only on it and on the number of the replicate, not on the chosen coefficients.
    level : float
        Confidence level of the intervals, 0 to 1.
    names : sequence of str, optional
        Names from `core.agreement.bootstrap_sample.resampled`; all that the data allow if omitted.
    spa_weightings, weights, labels, metric
        See `core.agreement.coefficients.agreement_table`.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Returns
    -------
    BootstrapResult
        Coefficients in the order of `agreement_table`.

    Raises
    ------
    NotApplicableError
        The data do not allow a coefficient.
    InputError
        Weights or labels are invalid.
    LimitError
        Weights or a metric that would not fit into memory.

    Notes
    -----
    Chance-corrected SPA takes annotations of different cases as chance; two copies of a case in a resample are such.
    """
    check_whole(n_replicates, "n_replicates", 2)
    check_whole(seed, "The seed")
    check_level(level)
    how = CoefficientOptions(tuple(spa_weightings), weights, labels, metric)
    counts = as_counts(data)
    pool = pool_of_data(data, counts)
    side = BootstrapSample(data, counts, chosen(data, names), how, pool, np.arange(counts.n_cases))
    return _result(side, resample(pool, side.statistics, n_replicates, seed, "agreement", token, progress), level)


def _result(side: BootstrapSample, found: list[np.ndarray], level: float) -> BootstrapResult:
    replicates = side.in_order(found)
    replicates.flags.writeable = False
    n_at_1 = (replicates >= _AT_1).sum(axis=0)
    why = side.why_undefined() if np.isnan(side.observed).any() else {}
    coefficients = tuple(
        why[label] if label in why else _with_percentiles(side, place, replicates[:, place], int(n_at_1[place]), level)
        for place, label in enumerate(side.labels)
    )
    return BootstrapResult(coefficients, replicates, np.isnan(replicates).sum(axis=0), n_at_1, level)


def _with_percentiles(
    side: BootstrapSample, place: int, replicates: np.ndarray, n_at_1: int, level: float
) -> Coefficient:
    se, low, high, note = percentiles(replicates, side.n_cases, level)
    if n_at_1:
        have = "has" if n_at_1 == 1 else "have"
        at_1 = f"{n_at_1:,} of {len(replicates):,} resamples {have} the value 1"
        note = "; ".join(filter(None, (note, at_1)))
    name, weights = side.labels[place]
    value = float(side.observed[place])
    found = Coefficient(name, weights, value, se, low, high, side.n_cases, side.n_annotations, note)
    return warn_rare_classes(found, side.counts, formulas()[name].few_of_others)


def percentiles(
    replicates: np.ndarray, n_cases: int, level: float
) -> tuple[float | None, float | None, float | None, str]:
    """Compute the error, both ends of the percentile interval, and a note; None if resampling shows nothing.

    Parameters
    ----------
    replicates : ndarray, shape (n_replicates,)
        NaN where undefined.
    n_cases : int
        Number of cases that were resampled.
    level : float
        Confidence level of the interval, 0 to 1.
    """
    known = replicates[~np.isnan(replicates)]
    missing = replicates.size - known.size
    note = f"the value is undefined in {missing:,} of {replicates.size:,} resamples" if missing else ""
    if n_cases < 2:
        return None, None, None, "no interval: there is only one case"
    if missing > (1 - level) * replicates.size or known.size < 2:
        return None, None, None, f"no interval: {note}"
    se = float(known.std(ddof=1))
    if se < 1e-12:
        return se, None, None, "no interval: the value is the same in every resample"
    low, high = (float(end) for end in np.quantile(known, ((1 - level) / 2, (1 + level) / 2)))
    return se, low, high, "; ".join(filter(None, (few_cases(n_cases), note)))
