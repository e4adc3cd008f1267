"""Classifiers under uncertain truth by whole rankings and by probabilities, averaged over plausible truths.

UGT names Kendall's tau and Spearman's footrule, and a target of j classes within the first k [Stutz et al., section
2.4]; distances between probabilities and plausibilities take the truth as the distribution that it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..options import check_whole
from ..plausibility.protocol import PlausibilityModel
from ..reducers.list_metrics import N_FURTHER, ListMetrics, ListState
from ..reducers.protocol import reduce_draws
from ..runtime.chunks import CancelToken
from ..runtime.executors import Executor
from .metrics import bootstrap_se
from .predictions import Predictions


@dataclass(frozen=True, slots=True)
class FurtherMetric:
    """A metric of rankings or probabilities.

    Attributes
    ----------
    name, title : str
    exactly : str
        What it is, with its range.
    larger_is_better : bool
    """

    name: str
    title: str
    exactly: str
    larger_is_better: bool


@dataclass(frozen=True, slots=True)
class FurtherValue:
    """One metric of one classifier.

    Attributes
    ----------
    mean, sd, ci_low, ci_high : float
        Mean, standard deviation and interval over draws of the truth.
    case_se, total_se : float
        Standard error from the choice of cases, and from cases and truth together.
    n_cases : int
        Predicted cases.
    p_best : float
        Share of draws on which it is the best of all classifiers, on the cases that all predict; NaN for one alone.
    """

    mean: float
    sd: float
    ci_low: float
    ci_high: float
    case_se: float
    total_se: float
    n_cases: int
    p_best: float


@dataclass(frozen=True, slots=True, eq=False)
class FurtherMetrics:
    """Further metrics of all classifiers at one reliability.

    Attributes
    ----------
    reliability : float
        γ.
    metrics : tuple of FurtherMetric
    values : dict
        ``values[metric][classifier]``, a `FurtherValue`; a classifier without probabilities has none of distances.
    """

    reliability: float
    metrics: tuple[FurtherMetric, ...]
    values: dict[str, dict[str, FurtherValue]]


def metrics_of(top: int, target: int) -> tuple[FurtherMetric, ...]:
    """Return what is computed for lists of ``top`` classes and a target of ``target``."""
    leading = "the leading class is" if target == 1 else f"the {target} leading classes are all"
    return (
        FurtherMetric(
            f"kendall_tau_{top}",
            f"Kendall's tau at {top}",
            f"Agreement on the order of the first {top} classes, −1 to 1; later classes count as tied.",
            True,
        ),
        FurtherMetric(
            f"footrule_{top}",
            f"Spearman's footrule at {top}",
            f"Similarity of the first {top} places: 1 for identical lists, 0 for the most different ones.",
            True,
        ),
        FurtherMetric(
            f"top{target}_within_top{top}",
            f"Top-{target} target within top-{top} list",
            f"How often {leading} among the first {top} predicted classes.",
            True,
        ),
        FurtherMetric("cross_entropy", "Cross entropy", "In nats, 0 or more; lower is better.", False),
        FurtherMetric("jensen_shannon", "Jensen-Shannon divergence", "In bits, 0 to 1; lower is better.", False),
        FurtherMetric(
            "manhattan", "Manhattan distance", "Sum of absolute differences, 0 to 2; lower is better.", False
        ),
    )


def further_metrics(
    model: PlausibilityModel,
    dataset: Dataset,
    classifiers: Sequence[Predictions],
    *,
    reliability: float,
    top: int = 3,
    target: int = 1,
    n_draws: int = 1000,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> FurtherMetrics:
    """Score rankings and probabilities of classifiers against plausible truths.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    classifiers : sequence of Predictions
        Matched to the dataset.
    reliability : float
        γ > 0.
    top, target : int
        k and j ≤ k; both end at the number of classes.
    n_draws, seed, token, progress, runner
        See `core.reducers.protocol.reduce_draws`.

    Raises
    ------
    InputError
        k or j is below 1, or j above k.
    """
    check_whole(top, "The length of the lists, k,", 1)
    check_whole(target, "The size of the target, j,", 1)
    if target > top:
        raise InputError(
            f"Could not use a target of {target} classes: the lists contain only {top} classes.",
            f"Use at most {top} (j ≤ k).",
        )
    top = min(top, dataset.n_classes)
    target = min(target, top)
    depth = getattr(model, "depth", None)
    if depth is not None and depth < top:
        model = replace(model, depth=top)  # type: ignore[type-var]
    known = tuple(one.probabilities(dataset.n_classes) for one in classifiers)
    reducer = ListMetrics(tuple(classifiers), known, dataset.n_classes, top, target)
    how: dict[str, Any] = {"n_draws": n_draws, "seed": seed, "token": token, "progress": progress, "runner": runner}
    (state,) = reduce_draws(model, dataset, [reducer], reliability=reliability, **how)
    metrics = metrics_of(top, target)
    return FurtherMetrics(float(reliability), metrics, _values(state, metrics, [one.name for one in classifiers], seed))


def _values(
    state: ListState, metrics: tuple[FurtherMetric, ...], names: list[str], seed: int
) -> dict[str, dict[str, FurtherValue]]:
    rng = np.random.default_rng(seed)
    found: dict[str, dict[str, FurtherValue]] = {metric.name: {} for metric in metrics}
    best = _best(state, metrics)
    for number, name in enumerate(names):
        n = int(state.n[number])
        if not n:
            continue
        per_case = state.per_case[:, number]
        errors = bootstrap_se(per_case[np.isfinite(per_case[:, 0])], rng)
        for place, metric in enumerate(metrics):
            draws = state.total[number, place] / n
            if not np.isfinite(draws).all():
                continue
            sd = float(draws.std(ddof=1)) if draws.size > 1 else float("nan")
            low, high = np.quantile(draws, [0.025, 0.975])
            error = float(errors[place])
            found[metric.name][name] = FurtherValue(
                float(draws.mean()),
                sd,
                float(low),
                float(high),
                error,
                float(np.hypot(sd, error)),
                n,
                float(best[number, place]),
            )
    return found


def _best(state: ListState, metrics: tuple[FurtherMetric, ...]) -> np.ndarray:
    """Compute the share of draws in which each classifier is the best, ties shared; (n_classifiers, n_metrics)."""
    shares = np.full((len(state.n), N_FURTHER), np.nan)
    for place, metric in enumerate(metrics):
        able = np.flatnonzero(np.isfinite(state.common[:, place]).all(axis=1) & (state.n_common > 0))
        if len(able) < 2:
            continue
        values = np.round(state.common[able, place] * (1 if metric.larger_is_better else -1), 9)
        first = values == values.max(axis=0)
        shares[able, place] = (first / first.sum(axis=0)).mean(axis=1)
    return shares
