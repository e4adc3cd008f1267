"""Classifiers under uncertain truth: metrics averaged over plausible truths, with their uncertainty.

Each draw is a possible truth of the whole dataset; a metric is averaged over cases per draw [Stutz et al., eq. 7-12].
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..plausibility.protocol import CaseDraws
from ..reducers.metrics import Metrics, MetricState, score_case
from ..result_base import Columns, Result, named, rows
from ..runtime.chunks import CancelToken

METRIC_NAMES = ("top1_accuracy", "top{k}_accuracy", "set_accuracy_{k}", "overlap_{k}", "average_overlap_{k}")
PointScores = dict[str, dict[str, float]]  # Scores against the point estimate, by classifier and metric.
N_BOOTSTRAP = 1000
TOP = 3  # Length of the lists that pages and reports compare.
SAME_SHARE = 1e-7


@dataclass(frozen=True, slots=True, repr=False)
class MetricValue(Result):
    """One metric of one classifier.

    Attributes
    ----------
    mean, sd, ci_low, ci_high, min, max : float
        Statistics over draws; the extremes grow with their number. ``sd`` is NaN for a single draw.
    point : float
        Standard metric, against the point estimate of the plausibilities.
    case_se : float
        Standard error from the sampling of cases (bootstrap over cases), a second source of uncertainty; NaN below two
        cases.
    total_se : float
        Standard error from both sources.
    n_cases : int
        Number of predicted cases; all values are NaN if it is 0.
    """

    mean: float
    sd: float
    ci_low: float
    ci_high: float
    min: float
    max: float
    point: float
    case_se: float
    total_se: float
    n_cases: int

    TABLES = ("metric",)
    COLUMNS = ("mean", "sd", "ci_low", "ci_high", "min", "max", "point", "case_se", "total_se", "n_cases")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evaluation(Result):
    """Evaluation of all classifiers at one reliability.

    Attributes
    ----------
    classifiers, metrics : tuple of str
    values : dict
        ``values[classifier][metric]`` is a `MetricValue`.
    by_draw : ndarray, shape (n_classifiers, n_metrics, n_draws)
        Mean over cases per draw; NaN for a classifier that predicts none.
    by_case : ndarray, shape (n_cases, n_classifiers, n_metrics)
        Mean over draws per case; NaN without a prediction.
    by_risk : ndarray, shape (n_classifiers, 3, n_metrics), or None
        Means over draws and over cases of low, medium and high expected risk; NaN if there are none.
    n_by_risk : ndarray of int64, shape (n_classifiers, 3), or None
    better : ndarray, shape (n_classifiers, n_classifiers, n_metrics)
        P(row better than column) on cases like those that both predict, ties one half: over draws of the truth and over
        the sampling of cases; NaN if they share no case.
    better_for_these : ndarray, shape (n_classifiers, n_classifiers, n_metrics)
        P(row better than column) on these cases only: over draws of the truth.
    """

    classifiers: tuple[str, ...]
    metrics: tuple[str, ...]
    values: dict[str, dict[str, MetricValue]]
    by_draw: np.ndarray
    by_case: np.ndarray
    by_risk: np.ndarray | None
    n_by_risk: np.ndarray | None
    better: np.ndarray
    better_for_these: np.ndarray | None = None

    TABLES = ("metrics", "better")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "metrics":
            each = [(name, metric) for name in self.classifiers for metric in self.metrics]
            return {
                "classifier": [name for name, _ in each],
                "metric": [metric for _, metric in each],
                **rows([self.values[name][metric] for name, metric in each], MetricValue.COLUMNS),
            }
        first, second = np.triu_indices(len(self.classifiers), 1)
        pairs = np.repeat(first, len(self.metrics)), np.repeat(second, len(self.metrics))
        found: dict[str, Any] = {
            "classifier": named(self.classifiers, pairs[0]),
            "other_classifier": named(self.classifiers, pairs[1]),
            "metric": list(self.metrics) * len(first),
            "p_better": self.better[first, second].ravel(),
        }
        if self.better_for_these is not None:
            found["p_better_for_these"] = self.better_for_these[first, second].ravel()
        return found


def metric_names(top: int) -> tuple[str, ...]:
    """Return the names of the metrics for k = ``top``."""
    return tuple(name.format(k=top) for name in METRIC_NAMES)


def first_metric(top: int, n_classes: int) -> str:
    """Choose the metric that a page opens with: top-1 if lists of ``top`` contain half of the classes, else top-k."""
    return metric_names(top)[0 if n_classes < 2 * top else 1]


def evaluate(state: MetricState, reducer: Metrics, point: np.ndarray, seed: int = 0) -> Evaluation:
    """Convert the state of the reducer to numbers with errors.

    Parameters
    ----------
    state : MetricState
    reducer : Metrics
        Reducer that made the state; its classifiers have names.
    point : ndarray, shape (n_cases, n_classifiers, n_metrics)
        Scores against the point estimate, from `point_scores`.
    seed : int
        Seed of the bootstrap over cases.
    """
    names = tuple(classifier.name for classifier in reducer.classifiers)
    metrics = metric_names(reducer.top)
    n = state.n.sum(axis=1)
    by_draw = np.full((len(names), *state.total.shape[2:]), np.nan)
    np.divide(state.total.sum(axis=1), n[:, None, None], out=by_draw, where=n[:, None, None] > 0)
    rng = np.random.default_rng(seed)
    scores = mean_scores(np.where(np.isfinite(state.per_case), point, np.nan), names, metrics)
    values: dict[str, dict[str, MetricValue]] = {}
    for number, name in enumerate(names):
        per_case = state.per_case[:, number]
        seen = np.isfinite(per_case[:, 0])
        case_se = bootstrap_se(per_case[seen], rng)
        values[name] = {}
        for place, metric in enumerate(metrics):
            draws = by_draw[number, place]
            low, high = np.quantile(draws, [0.025, 0.975])
            sd = float(draws.std(ddof=1)) if draws.size > 1 else float("nan")
            values[name][metric] = MetricValue(
                float(draws.mean()),
                sd,
                float(low),
                float(high),
                float(draws.min()),
                float(draws.max()),
                scores[name][metric],
                float(case_se[place]),
                float(np.hypot(sd, case_se[place])),
                int(n[number]),
            )
    return Evaluation(
        names, metrics, values, by_draw, state.per_case, *_by_risk(state, reducer), *_better(state, reducer, len(names))
    )


def point_scores(
    reducer: Metrics,
    ptr: np.ndarray,
    class_code: np.ndarray,
    share: np.ndarray,
    n_classes: int,
    token: CancelToken | None = None,
) -> np.ndarray:
    """Score every classifier on one plausibility vector per case, ties by expectation.

    Parameters
    ----------
    reducer : Metrics
        Reducer with the classifiers.
    ptr, class_code, share : ndarray
        Plausibilities in CSR by case; classes that are absent tie at 0.
    n_classes : int
    token : CancelToken, optional
        Token that is checked before each case.

    Returns
    -------
    ndarray, shape (n_cases, n_classifiers, n_metrics)
        NaN where a classifier does not predict a case.

    Raises
    ------
    Cancelled
        The token was raised.
    """
    n_cases = len(ptr) - 1
    scores = np.full((n_cases, len(reducer.classifiers), len(METRIC_NAMES)), np.nan)
    for case in range(n_cases):
        if token is not None:
            token.check()
        lists = [slice(classifier.ptr[case], classifier.ptr[case + 1]) for classifier in reducer.classifiers]
        if all(own.start == own.stop for own in lists):
            continue
        entries = slice(ptr[case], ptr[case + 1])
        draws, weights = _point_as_draws(class_code[entries], share[entries], n_classes, reducer.top)
        for number, (classifier, own) in enumerate(zip(reducer.classifiers, lists, strict=True)):
            if own.start < own.stop:
                found = score_case(draws, classifier.class_code[own], classifier.group[own], reducer.top)
                scores[case, number] = found @ weights
    return scores


def mean_scores(point: np.ndarray, classifiers: tuple[str, ...], metrics: tuple[str, ...]) -> PointScores:
    """Average the scores of `point_scores` over the cases that a classifier predicts: the standard metrics.

    Parameters
    ----------
    point : ndarray, shape (n_cases, n_classifiers, n_metrics)
        NaN where a classifier does not predict a case.
    classifiers, metrics : tuple of str
        Names, in the order of the array.

    Returns
    -------
    dict
        ``found[classifier][metric]``; NaN if no case is predicted.
    """
    found: PointScores = {}
    for number, name in enumerate(classifiers):
        seen = point[np.isfinite(point[:, number, 0]), number]
        found[name] = {
            metric: float(seen[:, place].mean()) if len(seen) else float("nan") for place, metric in enumerate(metrics)
        }
    return found


def tied_orders(share: np.ndarray, n_rest: int, top: int) -> tuple[np.ndarray, np.ndarray]:
    """Return orders of the first ``top`` places, with weights, that give the expectation over all orders of ties.

    Values are tied if they differ by at most 1e-7, the convergence of the estimate. Never-named classes have share 0.
    Every class has every place as often as over all orders, which is enough for all metrics: a tie within the first
    places is rotated, and the kernel handles a tie across the last place, as it does never-named classes.

    Parameters
    ----------
    share : ndarray, shape (n_named,)
        Point estimate of the classes that somebody named.
    n_rest : int
        Number of classes that nobody named.
    top : int
        Number of places.

    Returns
    -------
    orders : ndarray of int32, shape (n_orders, top)
        Places in ``share``; its size for a class of the tie across the last place; -1 if there are fewer classes.
    weights : ndarray, shape (n_orders,)
    """
    within, across = _tie_blocks(share, n_rest, top)
    found: list[tuple[int, ...]] = [()]
    for block in within:
        rotations = [(*block[first:], *block[:first]) for first in range(len(block))]
        found = [order + rotation for order in found for rotation in rotations]
    n_first = len(found[0])
    orders = np.full((len(found), top), len(share) if across is not None else -1, np.int32)
    orders[:, len(share) + n_rest :] = -1
    orders[:, :n_first] = found
    return orders, np.full(len(found), 1 / len(found))


def _tie_blocks(share: np.ndarray, n_rest: int, top: int) -> tuple[list[list[int]], list[int] | None]:
    """Find ties within the first places, and the named classes of the tie across the last place, None without one.

    Classes that nobody named are in that tie if the named ones with a share above 0 do not fill the first places.
    """
    blocks: list[list[int]] = []
    for place in np.argsort(-share, kind="stable").tolist():
        if blocks and share[blocks[-1][0]] - share[place] <= SAME_SHARE:
            blocks[-1].append(place)
        else:
            blocks.append([place])
    within: list[list[int]] = []
    n_first = 0
    for block in blocks:
        with_rest = n_rest > 0 and share[block[-1]] <= SAME_SHARE
        if n_first == top:
            return within, None
        if with_rest or n_first + len(block) > top:
            return within, block
        within.append(block)
        n_first += len(block)
    return within, [] if n_rest > 0 and n_first < top else None


def _point_as_draws(
    class_code: np.ndarray, share: np.ndarray, n_classes: int, top: int
) -> tuple[CaseDraws, np.ndarray]:
    """Make one draw for each order of a plausibility vector; the tie across the last place is in the rest."""
    n_rest = n_classes - len(class_code)
    orders, weights = tied_orders(share, n_rest, top)
    across = _tie_blocks(share, n_rest, top)[1]
    tied = np.zeros(n_classes, bool)
    if across is not None:
        with_rest = n_rest > 0 and (not across or share[across[-1]] <= SAME_SHARE)
        tied[:] = with_rest
        tied[class_code] = False
        tied[class_code[across]] = True
    told_apart = np.flatnonzero(~tied).astype(np.int32)
    place = np.append(np.searchsorted(told_apart, class_code), [len(told_apart), -1]).astype(np.int32)
    n_orders = len(orders)
    return CaseDraws(
        told_apart,
        np.empty((n_orders, 0)),
        np.empty(n_orders),
        place[orders],
        int(tied.sum()),
        1.0,
        float(n_orders),
        0,
    ), weights


def bootstrap_se(per_case: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Bootstrap the standard error of means over cases, shape (n_metrics,).

    One resample at a time, because a matrix takes 160 MB for 20,000 cases.

    Parameters
    ----------
    per_case : ndarray, shape (n_cases, n_metrics)
    rng : Generator
    """
    n_cases = len(per_case)
    if n_cases < 2:
        return np.full(per_case.shape[1], np.nan)
    means = np.empty((N_BOOTSTRAP, per_case.shape[1]))  # one by one: all resamples of 20,000 cases take 160 MB
    for resample in range(N_BOOTSTRAP):
        means[resample] = np.bincount(rng.integers(n_cases, size=n_cases), minlength=n_cases) @ per_case / n_cases
    return means.std(axis=0, ddof=1)


def _by_risk(state: MetricState, reducer: Metrics) -> tuple[np.ndarray | None, np.ndarray | None]:
    if reducer.class_risk is None:
        return None, None
    means = np.full(state.total.shape[:3], np.nan)
    np.divide(state.total.mean(axis=3), state.n[:, :, None], out=means, where=state.n[:, :, None] > 0)
    return means, state.n


def _better(state: MetricState, reducer: Metrics, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute P(row better than column), with the sampling of cases and without it, each (n, n, n_metrics)."""
    better, for_these = np.full((2, n, n, len(METRIC_NAMES)), np.nan)
    predicted = np.isfinite(state.per_case[:, :, 0])
    for number, (a, b) in enumerate(reducer.pairs):
        if not (predicted[:, a] & predicted[:, b]).any():
            continue
        gap = state.gap[number]
        gap = np.where(np.abs(gap) < 1e-9, 0.0, gap)  # Sums of equal scores in another order can differ by rounding.
        p = (gap > 0).mean(axis=1) + 0.5 * (gap == 0).mean(axis=1)
        for_these[a, b], for_these[b, a] = p, 1 - p
        both = predicted[:, a] & predicted[:, b]
        p = _with_sampling(gap, state.per_case[both, a] - state.per_case[both, b], p)
        better[a, b], better[b, a] = p, 1 - p
    return better, for_these


def _with_sampling(gap: np.ndarray, per_case: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Compute P(the mean difference over all cases like these is above 0), shape (n_metrics,).

    The difference on a draw, ``gap / n``, varies with the truth. The sampling of cases adds Student's t on n − 1
    degrees of freedom with the standard error of the differences by case. With one case, or cases that all differ
    alike, only the draws count.
    """
    from scipy.special import stdtr

    n = len(per_case)
    if n < 2:
        return p
    se = per_case.std(axis=0, ddof=1) / np.sqrt(n)
    se = np.where(se < 1e-12, 0.0, se)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = stdtr(n - 1, gap / n / se[:, None]).mean(axis=1)
    return np.where(se > 0, share, p)
