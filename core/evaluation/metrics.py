"""Classifiers under uncertain truth: metrics averaged over plausible truths, with what else they could plausibly be.

Each draw is a possible truth of the whole dataset; a metric is averaged over cases per draw [Stutz et al., eq. 7-12].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.plausibility.protocol import CaseDraws
from core.reducers.metrics import Metrics, MetricState, score_case

METRIC_NAMES = ("top1_accuracy", "top{k}_accuracy", "set_accuracy_{k}", "overlap_{k}", "average_overlap_{k}")
N_BOOTSTRAP = 1000
RISK_BIN_NAMES = ("low", "medium", "high")


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One metric of one classifier.

    Attributes
    ----------
    mean, sd, ci_low, ci_high, min, max : float
        Over draws; the extremes grow with their number.
    point : float
        Against the point estimate of the plausibilities, the usual metric.
    case_se : float
        Standard error from which cases are in the data (bootstrap over cases), a second source of uncertainty.
    total_se : float
        Both sources together.
    n_cases : int
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


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """All classifiers at one reliability.

    Attributes
    ----------
    classifiers, metrics : tuple of str
    values : dict
        ``values[classifier][metric]`` is a `MetricValue`.
    by_draw : ndarray, shape (n_classifiers, n_metrics, n_draws)
        Mean over cases per draw.
    by_case : ndarray, shape (n_cases, n_classifiers, n_metrics)
        Mean over draws per case; NaN where there is no prediction.
    by_risk : ndarray, shape (n_classifiers, 3, n_metrics), or None
        Means over draws and over cases of low, medium and high expected risk; NaN where there are none.
    n_by_risk : ndarray of int64, shape (n_classifiers, 3), or None
    better : ndarray, shape (n_classifiers, n_classifiers, n_metrics)
        P(row better than column) over common draws and the cases that both predict, ties one half; NaN where there is
        no such case.
    """

    classifiers: tuple[str, ...]
    metrics: tuple[str, ...]
    values: dict[str, dict[str, MetricValue]]
    by_draw: np.ndarray
    by_case: np.ndarray
    by_risk: np.ndarray | None
    n_by_risk: np.ndarray | None
    better: np.ndarray


def metric_names(top: int) -> tuple[str, ...]:
    """Names of the metrics for k = ``top``."""
    return tuple(name.format(k=top) for name in METRIC_NAMES)


def evaluate(state: MetricState, reducer: Metrics, point: np.ndarray, seed: int = 0) -> Evaluation:
    """Numbers with errors from what the reducer kept.

    Parameters
    ----------
    state : MetricState
    reducer : Metrics
        The reducer that made it; its classifiers have names.
    point : ndarray, shape (n_cases, n_classifiers, n_metrics)
        Scores against the point estimate, from `point_scores`.
    seed : int
        Of the bootstrap over cases.
    """
    names = tuple(classifier.name for classifier in reducer.classifiers)
    metrics = metric_names(reducer.top)
    n = state.n.sum(axis=1)
    by_draw = state.total.sum(axis=1) / np.maximum(n, 1)[:, None, None]
    rng = np.random.default_rng(seed)
    values: dict[str, dict[str, MetricValue]] = {}
    for number, name in enumerate(names):
        per_case = state.per_case[:, number]
        seen = np.isfinite(per_case[:, 0])
        case_se = _bootstrap_se(per_case[seen], rng)
        values[name] = {}
        for place, metric in enumerate(metrics):
            draws = by_draw[number, place]
            low, high = np.quantile(draws, [0.025, 0.975])
            sd = float(draws.std(ddof=1)) if draws.size > 1 else 0.0
            values[name][metric] = MetricValue(
                float(draws.mean()),
                sd,
                float(low),
                float(high),
                float(draws.min()),
                float(draws.max()),
                float(point[seen, number, place].mean()) if seen.any() else float("nan"),
                float(case_se[place]),
                float(np.hypot(sd, case_se[place])),
                int(n[number]),
            )
    return Evaluation(
        names, metrics, values, by_draw, state.per_case, *_by_risk(state, reducer), _better(state, reducer, len(names))
    )


def point_scores(
    reducer: Metrics, ptr: np.ndarray, class_code: np.ndarray, share: np.ndarray, n_classes: int
) -> np.ndarray:
    """Scores of every classifier on one plausibility vector per case, ties by expectation.

    Parameters
    ----------
    ptr, class_code, share : ndarray
        Plausibilities in CSR by case; classes that are absent tie at 0.

    Returns
    -------
    ndarray, shape (n_cases, n_classifiers, n_metrics)
        NaN where a classifier does not predict a case.
    """
    n_cases = len(ptr) - 1
    scores = np.full((n_cases, len(reducer.classifiers), len(METRIC_NAMES)), np.nan)
    for case in range(n_cases):
        entries = slice(ptr[case], ptr[case + 1])
        n_rest = n_classes - (entries.stop - entries.start)
        orders, weights = tied_orders(share[entries], n_rest, reducer.top)
        draws = CaseDraws(
            class_code[entries],
            np.empty((len(orders), 0)),
            np.empty(len(orders)),
            orders,
            n_rest,
            1.0,
            float(len(orders)),
            0,
        )
        for number, classifier in enumerate(reducer.classifiers):
            own = slice(classifier.ptr[case], classifier.ptr[case + 1])
            if own.start < own.stop:
                found = score_case(draws, classifier.class_code[own], classifier.group[own], reducer.top)
                scores[case, number] = found @ weights
    return scores


def tied_orders(share: np.ndarray, n_rest: int, top: int) -> tuple[np.ndarray, np.ndarray]:
    """All orders of the first ``top`` places that ties allow, with their probabilities.

    Ties are as equal as the estimate's own convergence: 1e-7 apart. Never-named classes have share 0 and come last.

    Returns
    -------
    orders : ndarray of int32, shape (n_orders, top)
        Places in ``share``; its size for a never-named class; -1 where there are fewer classes.
    weights : ndarray, shape (n_orders,)
    """
    n_named = len(share)
    by_share = np.argsort(-share, kind="stable")
    blocks: list[list[int]] = []
    for place in by_share:
        if blocks and share[blocks[-1][0]] - share[place] <= 1e-7:
            blocks[-1].append(int(place))
        else:
            blocks.append([int(place)])
    found: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    for block in blocks:
        room = top - len(found[0][0])
        if room <= 0:
            break
        found = [
            (order + chosen, weight * chance)
            for order, weight in found
            for chosen, chance in _choices(tuple(block), min(room, len(block)))
        ]
    orders = np.full((len(found), top), n_named, np.int32)
    orders[:, n_named + n_rest :] = -1
    for row, (order, _) in enumerate(found):
        orders[row, : len(order)] = order
    return orders, np.array([weight for _, weight in found])


def _choices(block: tuple[int, ...], count: int) -> Sequence[tuple[tuple[int, ...], float]]:
    from itertools import permutations

    if len(block) == 1:
        return [(block, 1.0)]
    orders = list(permutations(block, count))
    return [(order, 1.0 / len(orders)) for order in orders]


def _bootstrap_se(per_case: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    n_cases = len(per_case)
    if n_cases < 2:
        return np.zeros(per_case.shape[1])
    weights = rng.multinomial(n_cases, np.full(n_cases, 1 / n_cases), size=N_BOOTSTRAP)
    return (weights @ per_case / n_cases).std(axis=0, ddof=1)


def _by_risk(state: MetricState, reducer: Metrics) -> tuple[np.ndarray | None, np.ndarray | None]:
    if reducer.class_risk is None:
        return None, None
    means = np.full(state.total.shape[:3], np.nan)
    np.divide(state.total.mean(axis=3), state.n[:, :, None], out=means, where=state.n[:, :, None] > 0)
    return means, state.n


def _better(state: MetricState, reducer: Metrics, n: int) -> np.ndarray:
    better = np.full((n, n, len(METRIC_NAMES)), np.nan)
    predicted = np.isfinite(state.per_case[:, :, 0])
    for number, (a, b) in enumerate(reducer.pairs):
        if not (predicted[:, a] & predicted[:, b]).any():
            continue
        gap = state.gap[number]
        gap = np.where(np.abs(gap) < 1e-9, 0.0, gap)  # sums of equal scores in another order
        p = (gap > 0).mean(axis=1) + 0.5 * (gap == 0).mean(axis=1)
        better[a, b], better[b, a] = p, 1 - p
    return better
