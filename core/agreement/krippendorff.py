"""Krippendorff's alpha under four metrics, of classes and of scores, with the linearised interval of Gwet (2014).

Krippendorff, Content Analysis (2004). DOI of the coefficient's review: 10.1080/19312450709336664. All is written in
distances δ; agreement weights 1 − δ/max δ give the same alpha and the same error, for any scale of δ.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..annotations._kernels import count_classes
from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ..checked import checked
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
from .coefficient_methods import CoefficientMethod
from .formulas import Draws, Formula, alpha, alpha_of_many
from .intervals import Coefficient, undefined
from .linearised import NO_PAIR, Features, as_counts, warn_rare_classes, with_error
from .ranges import distance_of, least_beyond_chance
from .weights import Weights, class_labels, resolve_weights

METRICS = ("nominal", "ordinal", "interval", "ratio")
MOST_RATIO_VALUES = 20_000


def _distances(distance: np.ndarray | None) -> Draws:
    """Return the comparison of two draws by a distance of the classes, or by equality."""
    return Draws(1.0, -1.0) if distance is None else Draws(0.0, 1.0, distance, least=1e-12)


_ALPHA = Formula(
    alpha, lambda q, weights: _distances(distance_of(weights)), "annotations", alpha_of_many, of_pairs=True
)


@dataclass(frozen=True, slots=True, eq=False)
class Squares:
    """Comparison of two draws by (x − y)², in closed form.

    Attributes
    ----------
    values : ndarray of float64, shape (n_classes,) or (n_classes, n_resamples)
    """

    values: np.ndarray

    def mean(self, share: np.ndarray) -> Any:
        """Compute `core.agreement.formulas.Draws.mean`: twice the variance."""
        away = self._away(share)
        return 2 * (share * away * away).sum(axis=0)

    def to_all(self, share: np.ndarray) -> np.ndarray:
        """Compute `core.agreement.formulas.Draws.to_all`: (x − μ)² + σ²."""
        squares = np.square(self._away(share))
        return squares + (share * squares).sum(axis=0)

    def _away(self, share: np.ndarray) -> np.ndarray:
        return self.values - (share * self.values).sum(axis=0)


@dataclass(frozen=True, slots=True, eq=False)
class Ratios:
    """Comparison of two draws by ((x − y)/(x + y))², over every two values without an array of them.

    Attributes
    ----------
    values : ndarray of float64, shape (n_classes,)
    """

    values: np.ndarray

    def mean(self, share: np.ndarray) -> Any:
        """Compute `core.agreement.formulas.Draws.mean`."""
        return share @ self.to_all(share)

    def to_all(self, share: np.ndarray) -> np.ndarray:
        """Compute `core.agreement.formulas.Draws.to_all`."""
        return ratio_expected(self.values, share)


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """Comparison of two annotations in alpha.

    Attributes
    ----------
    called : str
        Metric or weights, as results name them.
    metric : str
        One of `METRICS`.
    values : ndarray of float64, shape (n_classes,), or None
        The numbers of the classes; None for "nominal".
    distance : ndarray of float64, shape (n_classes, n_classes), or None
        By weights, at most 1; None is 1 for any two classes that differ, or that of the values.
    """

    called: str
    metric: str = "nominal"
    values: np.ndarray | None = None
    distance: np.ndarray | None = None

    @property
    def draws(self) -> Draws:
        """Comparison of two draws if classes have no numbers."""
        return _distances(self.distance)

    def alike(self, pooled: np.ndarray) -> bool:
        """Return True if all annotations are the same, from the number of each class."""
        used = np.flatnonzero(pooled)
        return used.size < 2 or (self.values is not None and bool(np.ptp(self.values[used]) == 0))

    def on(self, pooled: np.ndarray) -> tuple["Metric", Draws | Squares | Ratios]:
        """Return the metric with its values ranked or scaled for these annotations, and the comparison of two draws."""
        if self.values is None:
            return self, self.draws
        if self.metric == "ratio":
            return self, Ratios(self.values)
        values = midranks(np.argsort(self.values, kind="stable"), pooled) if self.metric == "ordinal" else self.values
        values = scaled(values, pooled)
        return replace(self, values=values), Squares(values)

    def within(self, counts: ClassCounts, n: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """Compute per case the sum of distances over ordered pairs of its annotations, over their number less one.

        Parameters
        ----------
        counts : ClassCounts
        n, pairs : ndarray, shape (n_cases,)
            Annotations of each, and ordered pairs of equal ones.
        """
        csr = counts.ptr, counts.class_code, counts.count
        if self.values is not None:
            total = (ratio_spread if self.metric == "ratio" else spread)(*csr, self.values)
        else:
            total = n * (n - 1) - pairs if self.distance is None else paired(*csr, self.distance)
        return total / np.maximum(n - 1, 1)


@checked
def krippendorff_alpha(
    data: ClassCounts | Dataset,
    level: float = 0.95,
    metric: str = "nominal",
    labels: Sequence[float] | None = None,
    weights: Weights = None,
) -> Coefficient:
    """Compute alpha over cases with two annotations or more, for any number of raters, with gaps.

    Parameters
    ----------
    data : ClassCounts or Dataset
        Data of classes, or a dataset of scores.
    level : float
        Confidence level of the interval, 0 to 1.
    metric : str
        One of `METRICS`. "ordinal" counts the annotations between two values; it is not the family "ordinal" of
        weights. Scores take all but "nominal".
    labels : sequence of float, length n_classes, optional
        Numbers of the classes, for "interval", "ratio" and weights; 1, 2, ... if omitted. The
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
    _check_metric(metric)
    if isinstance(data, Dataset) and data.kind == "score":
        if weights is not None or metric == "nominal":
            raise NotApplicableError(f"Alpha for scores needs one of these metrics: {', '.join(METRICS[1:])}.")
        counts, values = _scores(data, metric)
        return _alpha(counts, Metric(f"{metric} metric", metric, values), level, "score")
    counts = as_counts(data)
    found = _alpha(counts, metric_of_classes(counts.n_classes, metric, labels, weights), level, "class")
    return warn_rare_classes(found, counts)


def _alpha(counts: ClassCounts, metric: Metric, level: float, what: str) -> Coefficient:
    cases, chance, alike = _cases(counts, metric)
    if cases.n.size == 0:
        return undefined("krippendorff_alpha", metric.called, NO_PAIR)

    def least() -> float:
        return least_beyond_chance(cases.n, 1 - chance, metric.distance, own=True)

    why = f"only one {what} was used; raw agreement is 1" if alike else "the weights treat all classes used as equal"
    return with_error("krippendorff_alpha", metric.called, _ALPHA, cases, chance, level, least, why)


def _cases(counts: ClassCounts, metric: Metric) -> tuple[Features, float, bool]:
    """Compute contributions of cases with two annotations or more to alpha, chance, and whether all are equal."""
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable = n >= 2
    n_paired, times = n[usable], counts.times[usable] if counts.times.size else counts.times
    _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, n, 2, counts.n_classes, counts.times)
    every = np.ones(n_paired.size, bool)
    if metric.alike(pooled):
        return Features(np.zeros(n_paired.size), n_paired, every, 0.0, times), 0.0, True
    metric, draws = metric.on(pooled)
    total = pooled.sum()
    share = pooled / total
    chance = float(draws.mean(share))
    to_chance = weighted_answers(counts.ptr, counts.class_code, counts.count, draws.to_all(share))[usable]
    to_chance -= chance * n_paired
    to_chance *= 2 / total
    return Features(metric.within(counts, n, pairs)[usable], n_paired, every, to_chance, times), chance, False


def alpha_by_distance(
    counts: ClassCounts, distance: np.ndarray | None, how: str, level: float, what: str
) -> Coefficient:
    """Compute alpha by any distance between two classes, for sets of classes.

    Parameters
    ----------
    counts : ClassCounts
    distance : ndarray of float64, shape (n_classes, n_classes), or None
        Symmetric, 0 on the diagonal, at most 1; None is 1 for any two that differ.
    how, what : str
        Names of the distance and of the classes.
    level : float
        Confidence level of the interval, 0 to 1.
    """
    return warn_rare_classes(_alpha(counts, Metric(how, distance=distance), level, what), counts)


def alpha_and_deviations(counts: ClassCounts) -> tuple[float, np.ndarray] | None:
    """Compute nominal alpha, and each case's contribution to its variance; None if it is undefined.

    Parameters
    ----------
    counts : ClassCounts

    Returns
    -------
    alpha : float
    deviation : ndarray of float64, shape (n_usable_cases,)
        The variance is the sum of their squares over m (m − 1).
    """
    cases, chance, alike = _cases(counts, Metric("nominal"))
    if alike:
        return None
    sums = cases.sums(chance)
    return float(_ALPHA(sums)), cases.adds(_ALPHA.derivatives(sums), sums.rated)


def metric_of_classes(
    n_classes: int, metric: str, labels: Sequence[float] | None = None, weights: Weights = None
) -> Metric:
    """Build the metric of classes, by its name or by weights.

    Parameters
    ----------
    n_classes : int
    metric, labels, weights
        See `krippendorff_alpha`.
    """
    _check_metric(metric)
    name, matrix = resolve_weights(weights, n_classes, labels)
    if metric == "nominal":
        return Metric("nominal") if matrix is None else Metric(f"{name} weights", distance=distance_of(matrix))
    if weights is not None:
        raise OptionError("alpha takes either a metric or weights; got both")
    values = class_labels(n_classes, labels, at_least_zero=metric == "ratio")
    if metric == "ratio":
        _check_ratio(values)
    return Metric(f"{metric} metric", metric, values)


def midranks(order: np.ndarray, pooled: np.ndarray) -> np.ndarray:
    """Compute the mean rank of the annotations of each class; its squared differences are the ordinal metric.

    Parameters
    ----------
    order : ndarray of int64, shape (n_classes,)
        The classes, ascending.
    pooled : ndarray of float64, shape (n_classes,) or (n_classes, n_resamples)
        Annotations of each.
    """
    ranks = np.empty(pooled.shape)
    ranks[order] = np.cumsum(pooled[order], axis=0) - pooled[order] / 2
    return ranks


def scaled(values: np.ndarray, pooled: np.ndarray) -> np.ndarray:
    """Centre values and scale them to at most 1, without effect on alpha, so that squares do not overflow."""
    share = pooled / pooled.sum()
    values = values - values[np.argmax(pooled)]  # exact for values close to each other
    values = values - share @ values
    values = values / max(float(np.abs(values[pooled > 0]).max(initial=0.0)), np.finfo(float).tiny)
    values[pooled == 0] = 0.0
    return values


def _check_metric(metric: str) -> None:
    if metric not in METRICS:
        raise OptionError(f"`metric` must be one of {', '.join(METRICS)}; got {metric!r}")


def _scores(data: Dataset, metric: str) -> tuple[ClassCounts, np.ndarray]:
    """Count scores by value, and scale the values to at most 1; only ratios need each value once."""
    score = data.score / max(float(np.abs(data.score).max(initial=0.0)), np.finfo(float).tiny)
    if metric == "ratio" and (score < 0).any():
        raise InputError(
            f"Could not use the score {exact(data.score.min())}: it is negative.",
            "The ratio metric needs scores of 0 or more.",
        )
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
            f"The ratio metric allows at most {MOST_RATIO_VALUES:,} different values; these data have "
            f"{values.size:,}. Round the values, or use the interval metric on their logarithms."
        )


METHOD = CoefficientMethod(
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
    plainly="Agreement beyond chance, even if annotations are missing: 0 is chance, 1 is perfect.",
    exactly="1 − D_o/D_e over cases with two or more annotations. The distance is nominal, ordinal, interval or ratio "
    "(Krippendorff 2004).",
    sources=("Krippendorff, Content Analysis (2004)",),
    takes={**ONE_CLASS, "score": AS_IS},
    assumes="like Fleiss κ, but allows missing annotations and is corrected for small samples.",
    formula=_ALPHA,
    place=100,
    beyond_chance=True,
)
KRIPPENDORFF_ALPHA = METHOD.name


def alpha_as_scale_and_names(dataset: Dataset, order: Sequence[str]) -> tuple[Coefficient, Coefficient]:
    """Compute Krippendorff's alpha of ordered classes with the ordinal and with the nominal metric.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    order : sequence of str
        Classes from low to high; annotations of others do not count.
    """
    place = {name: number for number, name in enumerate(order)}
    counts = class_counts(dataset)
    used = np.array([name in place for name in dataset.classes], bool)[counts.class_code]
    ptr = np.concatenate([[0], np.cumsum(used)])[counts.ptr]
    counts = replace(counts, ptr=ptr, class_code=counts.class_code[used], count=counts.count[used])
    labels = [place.get(name, len(place) + code) for code, name in enumerate(dataset.classes)]
    return (
        krippendorff_alpha(counts, metric="ordinal", labels=labels),
        krippendorff_alpha(counts, metric="nominal", labels=labels),
    )
