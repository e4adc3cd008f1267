"""Krippendorff's alpha under four metrics, of classes and of scores, with the linearised interval of Gwet (2014).

Krippendorff, Content Analysis (2004). DOI of the coefficient's review: 10.1080/19312450709336664. All is written in
distances δ; agreement weights 1 − δ/max δ give the same alpha and the same error, for any scale of δ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import count_classes
from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import InputError, LimitError, NotApplicableError, OptionError
from ..methods import AS_IS, ONE_CLASS
from ..text import exact
from ._kernels import (
    agreeing_pairs,
    class_shares,
    paired,
    ratio_expected,
    ratio_spread,
    spread,
    weighted_answers,
)
from .coefficient_methods import coefficient_method
from .intervals import Coefficient, undefined, with_t_interval
from .linearised import NO_PAIR, as_counts, total_of, warn_rare_classes
from .ranges import distance_of, least_beyond_chance
from .weights import Weights, class_labels, resolve_weights

METRICS = ("nominal", "ordinal", "interval", "ratio")
MOST_RATIO_VALUES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """What alpha needs of the cases with two annotations or more; arrays of shape (n_usable,).

    Attributes
    ----------
    within : ndarray of float64
        Sum of δ over the ordered pairs of a case.
    across : ndarray of float64
        Sum over the annotations of a case of the mean δ to all annotations.
    expected : float
        Mean δ of two draws, with replacement, from all annotations.
    """

    within: np.ndarray
    across: np.ndarray
    expected: float


def krippendorff_alpha(
    data: ClassCounts | Dataset,
    level: float = 0.95,
    metric: str = "nominal",
    labels: Sequence[float] | None = None,
    weights: Weights = None,
) -> Coefficient:
    """Alpha over cases with two annotations or more, for any number of raters, with gaps.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Of classes, or a dataset of scores.
    level : float
        Of the interval, 0 to 1.
    metric : str
        One of `METRICS`. "ordinal" counts the annotations between two values; it is not the family "ordinal" of
        weights. Scores take all but "nominal".
    labels : sequence of float, length n_classes, optional
        The numbers that classes stand for, for "interval", "ratio" and weights; 1, 2, ... where none are given. The
        order of the classes for "ordinal" is that of their labels.
    weights : str or ndarray, optional
        Agreement weights instead of a metric, δ = 1 − w: see `core.agreement.weights.weight_matrix`.

    Raises
    ------
    InputError
        Labels that cannot be used; negative numbers for "ratio".
    NotApplicableError
        Rankings; scores with "nominal" or with weights.
    LimitError
        "ratio" of more than `MOST_RATIO_VALUES` different values.

    Notes
    -----
    ``α = 1 − (1 − 1/N) D_o / D_e``, ``D_o`` the mean over annotations of the mean δ to the others of the case and
    ``D_e`` that of two draws with replacement. The interval takes the metric as given: the ordinal metric, which
    depends on the data, adds a little that is left out. It is cut at 1 and at the least alpha
    (`core.agreement.ranges`).
    """
    if metric not in METRICS:
        raise OptionError(f"metric must be one of {', '.join(METRICS)}, not {metric!r}")
    values: np.ndarray | None
    if isinstance(data, Dataset) and data.kind == "score":
        if weights is not None or metric == "nominal":
            raise NotApplicableError(f"Scores are no classes: alpha of scores takes {', '.join(METRICS[1:])}.")
        counts, values = _scores(data, metric)
        return _alpha(counts, values, f"{metric} metric", None, metric, level, "score")
    counts = as_counts(data)
    how, matrix, values = _metric_of_classes(counts.n_classes, metric, labels, weights)
    return warn_rare_classes(_alpha(counts, values, how, matrix, metric, level, "class"), counts)


def _alpha(
    counts: ClassCounts,
    values: np.ndarray | None,
    how: str,
    matrix: np.ndarray | None,
    metric: str,
    level: float,
    what: str,
) -> Coefficient:
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable = n >= 2
    times = counts.times[usable] if counts.times.size else counts.times
    m, n_total = int(total_of(usable, counts.times)), int(total_of(n[usable], times))
    if m == 0:
        return undefined("krippendorff_alpha", how, NO_PAIR)
    _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, n, 2, counts.n_classes, counts.times)
    pi = pooled / n_total
    if _all_alike(values, pooled):
        why = f"only one {what} was used; raw agreement is 1"
        return undefined("krippendorff_alpha", how, why, m, n_total)
    if values is None:
        found = _of_classes(counts, n, pairs, pi, matrix)
    else:
        found = _of_values(counts, n, values, pooled, pi, metric)
    if found.expected <= 1e-12 and matrix is not None:
        why = "the weights make all classes that were used agree"
        return undefined("krippendorff_alpha", how, why, m, n_total)
    value, variance = _linearised(n[usable], found.within[usable], found.across[usable], found.expected, times)

    def least() -> float:
        return least_beyond_chance(n[usable], 1 - found.expected, distance_of(matrix), own=True)

    return with_t_interval("krippendorff_alpha", how, value, variance, m - 1, m, n_total, level, least)


def alpha_by_distance(
    counts: ClassCounts, distance: np.ndarray | None, how: str, level: float, what: str
) -> Coefficient:
    """Alpha by any distance between two classes, for what is no class but a set of them.

    Parameters
    ----------
    counts : ClassCounts
    distance : ndarray of float64, shape (n_classes, n_classes), or None
        Symmetric, 0 on the diagonal, at most 1; None is 1 for any two that differ.
    how, what : str
        What the distance and the classes are called.
    level : float
        Of the interval, 0 to 1.
    """
    matrix = None if distance is None else 1.0 - distance
    found = _alpha(counts, None, how, matrix, "nominal", level, what)
    return warn_rare_classes(found, counts)


def alpha_and_deviations(counts: ClassCounts) -> tuple[float, np.ndarray] | None:
    """Nominal alpha, and what each case with two annotations or more adds to its variance; None where it is undefined.

    Parameters
    ----------
    counts : ClassCounts

    Returns
    -------
    alpha : float
    deviation : ndarray of float64, shape (n_usable_cases,)
        The variance is the sum of their squares over m (m − 1).
    """
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable = n >= 2
    _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, n, 2, counts.n_classes, counts.times)
    if not usable.any() or np.count_nonzero(pooled) < 2:
        return None
    found = _of_classes(counts, n, pairs, pooled / n[usable].sum(), None)
    return _deviations(n[usable], found.within[usable], found.across[usable], found.expected, counts.times)


def _metric_of_classes(
    n_classes: int, metric: str, labels: Sequence[float] | None, weights: Weights
) -> tuple[str, np.ndarray | None, np.ndarray | None]:
    """How alpha of classes is called, its weights, None for identity, and the numbers of its classes, None for none."""
    name, matrix = resolve_weights(weights, n_classes, labels)
    if metric == "nominal":
        return "nominal" if matrix is None else f"{name} weights", matrix, None
    if weights is not None:
        raise OptionError("alpha takes a metric or weights, not both")
    values = class_labels(n_classes, labels, at_least_zero=metric == "ratio")
    if metric == "ratio":
        _check_ratio(values)
    return f"{metric} metric", matrix, values


def _linearised(
    n: np.ndarray, within: np.ndarray, across: np.ndarray, expected: float, times: np.ndarray
) -> tuple[float, float]:
    """Alpha and its variance: with w = 1 − δ this is Gwet's, and every term of his is one of δ here."""
    m = int(times.sum()) if times.size else n.size
    alpha, deviation = _deviations(n, within, across, expected, times)
    return alpha, total_of(np.square(deviation), times) / (m * (m - 1)) if m > 1 else 0.0


def _deviations(
    n: np.ndarray, within: np.ndarray, across: np.ndarray, expected: float, times: np.ndarray
) -> tuple[float, np.ndarray]:
    """Alpha, and what each case adds to its variance before it is squared."""
    m, total = int(times.sum()) if times.size else n.size, total_of(n, times)
    mean_n = total / m
    own = within / ((n - 1) * mean_n) / expected
    observed = total_of(own, times) / m
    alpha = 1 - (1 - 1 / total) * observed
    excess = (n - mean_n) / mean_n
    kappa_i = 1 - own + (1 - 1 / total) * observed * excess
    influence = kappa_i - 2 * observed * (n - across / expected) / mean_n
    return alpha, influence - (1 - observed)


def _of_classes(
    counts: ClassCounts, n: np.ndarray, pairs: np.ndarray, pi: np.ndarray, matrix: np.ndarray | None
) -> Distances:
    if matrix is None:
        within, mean = n * (n - 1) - pairs, 1 - pi
    else:
        distance = 1 - matrix
        within, mean = paired(counts.ptr, counts.class_code, counts.count, distance), distance @ pi
    return Distances(within, weighted_answers(counts.ptr, counts.class_code, counts.count, mean), float(pi @ mean))


def _of_values(
    counts: ClassCounts, n: np.ndarray, values: np.ndarray, pooled: np.ndarray, pi: np.ndarray, metric: str
) -> Distances:
    if metric == "ratio":
        return _ratio(counts, values, pi)
    return _squared(counts, n, _midranks(values, pooled) if metric == "ordinal" else values, pi)


def _squared(counts: ClassCounts, n: np.ndarray, values: np.ndarray, pi: np.ndarray) -> Distances:
    """δ = (x − y)² in closed form: 2 n_i Σ (x − mean_i)² within a case, (x − μ)² + σ² to all, 2 σ² expected."""
    values = values - values[np.argmax(pi)]  # exact for values close to each other
    values = values - pi @ values
    values = values / np.abs(values[pi > 0]).max()  # of no consequence for alpha; squares can then be taken
    values[pi == 0] = 0.0
    squares = values * values
    variance = float(pi @ squares)
    away = weighted_answers(counts.ptr, counts.class_code, counts.count, squares) + n * variance
    return Distances(spread(counts.ptr, counts.class_code, counts.count, values), away, 2 * variance)


def _ratio(counts: ClassCounts, values: np.ndarray, pi: np.ndarray) -> Distances:
    """δ = ((x − y)/(x + y))², which has no closed form: every two values, but no array of them."""
    mean = ratio_expected(values, pi)
    away = weighted_answers(counts.ptr, counts.class_code, counts.count, mean)
    return Distances(ratio_spread(counts.ptr, counts.class_code, counts.count, values), away, float(pi @ mean))


def _midranks(values: np.ndarray, pooled: np.ndarray) -> np.ndarray:
    """Mean rank of the annotations of each value: squared differences of these are the ordinal metric."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(values.size)
    ranks[order] = np.cumsum(pooled[order]) - pooled[order] / 2
    return ranks


def _all_alike(values: np.ndarray | None, pooled: np.ndarray) -> bool:
    used = np.flatnonzero(pooled)
    return used.size < 2 or (values is not None and values[used].min() == values[used].max())


def _scores(data: Dataset, metric: str) -> tuple[ClassCounts, np.ndarray]:
    """Scores as counts of values, and the values, scaled to at most 1; ratios need each value once, others do not."""
    score = data.score / max(float(np.abs(data.score).max(initial=0.0)), np.finfo(float).tiny)
    if metric == "ratio" and (score < 0).any():
        raise InputError(f"The score {exact(data.score.min())} is negative.", "Ratios need scores of 0 or more.")
    if metric == "interval":
        codes = np.arange(score.size, dtype=np.int32)
        return ClassCounts(data.case_ptr, codes, np.ones(score.size, np.int64), score.size), score
    values, places = np.unique(score, return_inverse=True)
    codes = places.astype(np.int32)
    if metric == "ratio":
        _check_ratio(values)
        ptr, code, count = count_classes(data.case_ptr, codes, values.size)
        return ClassCounts(ptr, code, count, values.size), values
    return ClassCounts(data.case_ptr, codes, np.ones(codes.size, np.int64), values.size), values


def _check_ratio(values: np.ndarray) -> None:
    if values.size > MOST_RATIO_VALUES:
        raise LimitError(
            f"The ratio metric compares every two of {values.size:,} different values; the limit is "
            f"{MOST_RATIO_VALUES:,}. Round the values, or take the interval metric of their logarithms."
        )


METHOD = coefficient_method(
    "krippendorff_alpha",
    "Krippendorff α",
    krippendorff_alpha,
    lambda asked: [
        krippendorff_alpha(
            asked.counts,
            asked.level,
            metric=asked.metric or "nominal",
            labels=asked.labels,
            weights=asked.weights if asked.metric is None else None,
        )
    ],
    plainly="Agreement beyond chance that copes with missing annotations: 0 is chance, 1 is perfect.",
    exactly="1 − D_o/D_e over cases with two annotations or more; the distance is nominal, ordinal, interval or ratio "
    "(Krippendorff 2004).",
    sources=("Krippendorff, Content Analysis (2004)",),
    takes={**ONE_CLASS, "score": AS_IS},
    assumes="as Fleiss κ, with gaps; corrected for small samples.",
    place=100,
    beyond_chance=True,
)
KRIPPENDORFF_ALPHA = METHOD.name
