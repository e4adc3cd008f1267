"""Certainty, risk and classifiers by reliability γ, which determines how certain the truth is.

Draws are made once per case and reliability, and all reducers use them. Their results (`SweepPart`) are enough for the
metrics of any classifier, so that a classifier added later needs no draws.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.first_place import exact_top
from ..certainty.risk import RiskResult, risk_of
from ..certainty.top_sets import CertaintyResult, certainty_of
from ..checked import checked
from ..errors import InputError
from ..options import check_whole
from ..plausibility.protocol import PlausibilityModel
from ..reducers.mean_shares import KeepMeans, MeanShares
from ..reducers.metrics import Metrics
from ..reducers.protocol import Reducer, reduce_draws
from ..reducers.risk import RiskLevels
from ..reducers.sets import TopSets
from ..reducers.top_draws import KeepTop, TopDraws
from ..result_base import Columns, Result, stacked
from ..runtime.chunks import CancelToken, beside
from ..runtime.executors import Executor
from .metrics import Evaluation, MetricValue, PointScores, evaluate, mean_scores, metric_names, point_scores
from .prediction_sets import KeptPlausibilities
from .predictions import Predictions


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SweepTable(Result):
    """Results at every reliability.

    Attributes
    ----------
    reliabilities : tuple of float
    certainty : tuple of CertaintyResult
        Certainty at each reliability, in their order.
    risk : tuple of RiskResult
        Risk at each reliability; empty if the data have no risk levels.
    evaluation : tuple of Evaluation
        Evaluation at each reliability; empty if there are no classifiers.
    """

    reliabilities: tuple[float, ...]
    certainty: tuple[CertaintyResult, ...]
    risk: tuple[RiskResult, ...] = ()
    evaluation: tuple[Evaluation, ...] = ()

    TABLES = ("reliabilities", "cases", "classifiers")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "reliabilities":
            found: dict[str, Any] = {"reliability": np.array(self.reliabilities)}
            for top in range(1, self.certainty[0].certainty.shape[1] + 1 if self.certainty else 1):
                found[f"top{top}"] = [one.mean(top) for one in self.certainty]
                found[f"top{top}_se"] = [one.mean_se(top) for one in self.certainty]
            if self.risk:
                found["expected_risk"] = [float(one.expected.mean()) for one in self.risk]
            return found
        return stacked(self.reliabilities, self.certainty if table == "cases" else self.evaluation)

    def mean(self, top: int = 1) -> np.ndarray:
        """Return mean certainty over cases, shape (n_reliabilities,); NaN if there are fewer classes than ``top``."""
        return np.array([np.nan if (m := result.mean(top)) is None else m for result in self.certainty])

    @property
    def tops(self) -> tuple[int, ...]:
        """Sizes of top sets; certainty of a set of all classes is always 1, so that only top-1 may contain them all."""
        first = self.certainty[0]
        return tuple(top for top in range(1, first.certainty.shape[1] + 1) if top == 1 or top < len(first.classes))


@dataclass(frozen=True, slots=True, eq=False)
class SweepPart:
    """Reduced draws at one reliability, for any classifiers.

    Attributes
    ----------
    certainty : CertaintyResult
    risk : RiskResult or None
        Risk; None if the data have no risk levels.
    top : TopDraws
    means : MeanShares
        Mean plausibilities for prediction sets, see `plausibilities_of`.
    """

    certainty: CertaintyResult
    risk: RiskResult | None
    top: TopDraws
    means: MeanShares


def plausibilities_of(part: SweepPart) -> KeptPlausibilities:
    """Return the reduced draws that prediction sets need, from a part of a sweep."""
    return KeptPlausibilities(
        part.means, part.certainty.certainty[:, 0], None if part.risk is None else part.risk.expected
    )


@checked
def kept_plausibilities(
    model: PlausibilityModel,
    dataset: Dataset,
    reliability: float,
    *,
    n_draws: int = 1000,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> KeptPlausibilities:
    """Reduce the draws at one reliability to those that prediction sets need; only the last draw is kept.

    Parameters
    ----------
    model, dataset, n_draws, seed, token, progress, runner
        Arguments of `reliability_sweep`.
    reliability : float
        γ > 0.
    """
    how: dict[str, Any] = {
        "n_draws": n_draws,
        "seed": seed,
        "token": token,
        "progress": progress,
        "runner": runner,
    }
    certainty, risk, (means,) = _reduced(model, dataset, reliability, 1, (KeepMeans(),), **how)
    return KeptPlausibilities(means, certainty.certainty[:, 0], None if risk is None else risk.expected)


def sweep_part(
    model: PlausibilityModel,
    dataset: Dataset,
    reliability: float,
    *,
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> SweepPart:
    """Reduce the draws at one reliability.

    Parameters
    ----------
    model, dataset, n_draws, max_top, seed, token, progress, runner
        Arguments of `reliability_sweep`.
    reliability : float
        Value of γ, one of those of the sweep.
    """
    how: dict[str, Any] = {
        "n_draws": n_draws,
        "seed": seed,
        "token": token,
        "progress": progress,
        "runner": runner,
    }
    keep = KeepTop(_levels(dataset)), KeepMeans()
    certainty, risk, (top, means) = _reduced(model, dataset, reliability, max_top, keep, **how)
    return SweepPart(certainty, risk, top, means)


def growing_sweep(
    model: PlausibilityModel,
    dataset: Dataset,
    reliabilities: Sequence[float],
    part: Callable[[float, Any], SweepPart],
    *,
    classifiers: Sequence[Predictions] = (),
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    told: Callable[[PointScores], None] | None = None,
) -> Iterator[SweepTable]:
    """Yield the table of `reliability_sweep` after each reliability, from parts that may be saved; the last is equal.

    Parameters
    ----------
    part : callable
        Function that returns the `SweepPart` at a reliability, for the same model, data, draws and seed; called with
        the reliability and a function that takes the progress of the part (None if ``progress`` is).
    model, dataset, reliabilities, classifiers, n_draws, max_top, seed, token, progress
        Arguments of `reliability_sweep`.
    told : callable, optional
        Called from another thread with the scores of the classifiers against the point estimate, as soon as they are
        known and before the first table.

    Raises
    ------
    InputError
        The arguments are refused as in `reliability_sweep`.
    """
    _check(classifiers, dataset)
    metrics = Metrics(tuple(classifiers), max_top, _levels(dataset))
    # The scores are the same at every reliability, so compute them while the first part is drawn.
    point = beside(_point, metrics, model, dataset, token, told) if classifiers else None
    found = SweepTable((), ())
    for place, reliability in enumerate(reliabilities):
        drawn = part(reliability, _part(progress, place, len(reliabilities)))
        evaluation = found.evaluation
        if point is not None:
            own = metrics if metrics.class_risk is None else replace(metrics, risk_bins=drawn.top.risk_bin)
            how: dict[str, Any] = {"reliability": reliability, "n_draws": n_draws, "seed": seed, "token": token}
            evaluation += (evaluate(reduce_draws(drawn.top, dataset, [own], **how)[0], metrics, point.result(), seed),)
        risk = found.risk if drawn.risk is None else (*found.risk, drawn.risk)
        gamma = (*found.reliabilities, float(reliability))
        found = SweepTable(gamma, (*found.certainty, drawn.certainty), risk, evaluation)
        yield found


def _point(
    metrics: Metrics,
    model: PlausibilityModel,
    dataset: Dataset,
    token: CancelToken | None,
    told: Callable[[PointScores], None] | None,
) -> np.ndarray:
    found = point_scores(metrics, *model.point_shares(dataset), dataset.n_classes, token)
    if told is not None:
        told(mean_scores(found, tuple(one.name for one in metrics.classifiers), metric_names(metrics.top)))
    return found


@checked
def reliability_sweep(
    model: PlausibilityModel,
    dataset: Dataset,
    reliabilities: Sequence[float],
    *,
    classifiers: Sequence[Predictions] = (),
    n_draws: int = 1000,
    max_top: int = 3,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
    runner: Executor | None = None,
) -> SweepTable:
    """Compute annotation certainty, risk and metrics of classifiers at each reliability.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    reliabilities : sequence of float
        Values of γ > 0.
    classifiers : sequence of Predictions
        Matched to the dataset.
    n_draws, seed : int
    max_top : int
        Largest set of classes, and the k of the metrics.
    token, progress
        See `core.runtime.chunks.map_chunks`; progress runs over all reliabilities.
    runner : Executor, optional
        Executor that makes the draws of chunks of cases; this process if omitted.

    Raises
    ------
    InputError
        A classifier is matched to other data, or two have the same name.
    """
    check_whole(seed, "The seed", 0)
    check_whole(max_top, "The largest set", 1)
    _check(classifiers, dataset)
    risk = _levels(dataset)
    metrics = Metrics(tuple(classifiers), max_top, risk)
    point = point_scores(metrics, *model.point_shares(dataset), dataset.n_classes) if classifiers else None
    how: dict[str, Any] = {"n_draws": n_draws, "seed": seed, "token": token, "runner": runner}
    further = (metrics,) if classifiers else ()
    certainty, risks, evaluations = [], [], []
    for place, reliability in enumerate(reliabilities):
        told = _part(progress, place, len(reliabilities))
        sure, levels, states = _reduced(model, dataset, reliability, max_top, further, **how, progress=told)
        certainty.append(sure)
        if levels is not None:
            risks.append(levels)
        if point is not None:
            evaluations.append(evaluate(states[0], metrics, point, seed))
    return SweepTable(tuple(map(float, reliabilities)), tuple(certainty), tuple(risks), tuple(evaluations))


def _reduced(
    model: PlausibilityModel,
    dataset: Dataset,
    reliability: float,
    max_top: int,
    further: Sequence[Reducer],
    **how: Any,
) -> tuple[CertaintyResult, RiskResult | None, list[Any]]:
    """Compute certainty and risk at one reliability, and results of further reducers from the same draws."""
    risk = _levels(dataset)
    own: list[Reducer] = [TopSets(max_top)] if risk is None else [TopSets(max_top), RiskLevels(risk)]
    states = reduce_draws(model, dataset, [*own, *further], reliability=reliability, **how)
    certainty = certainty_of(states[0], dataset.cases, _classes(model, dataset), exact_top(model, dataset, reliability))
    return certainty, None if risk is None else risk_of(states[1]), states[len(own) :]


def _classes(model: PlausibilityModel, dataset: Dataset) -> tuple[str, ...]:
    return dataset.classes or getattr(model, "classes", ())  # Scores have the classes of their threshold.


def _levels(dataset: Dataset) -> np.ndarray | None:
    """Return the risk levels of the classes, if every class has one."""
    levels = dataset.class_risk
    return levels if levels is not None and (levels >= 0).all() else None


def _check(classifiers: Sequence[Predictions], dataset: Dataset) -> None:
    names = [classifier.name for classifier in classifiers]
    for classifier in classifiers:
        if len(classifier.ptr) != dataset.n_cases + 1:
            raise InputError(
                f"Could not use {classifier.name}: its predictions are for {len(classifier.ptr) - 1:,} cases, but "
                f"the data have {dataset.n_cases:,}.",
                "Use predictions for these cases (in Python, `match_predictions` puts them in order).",
            )
        if classifier.class_code.size and classifier.class_code.max() >= dataset.n_classes:
            raise InputError(
                f"Could not use {classifier.name}: its predictions contain class number "
                f"{classifier.class_code.max():,}, but the classes are numbered 0 to {dataset.n_classes - 1:,}.",
                "Use predictions for these classes (in Python, `match_predictions` numbers them).",
            )
        if names.count(classifier.name) > 1:
            raise InputError(
                f"Could not compare classifiers: two have the name {classifier.name!r}.",
                "Use a different name for each.",
            )


def _part(progress: Callable[[float], None] | None, place: int, parts: int) -> Callable[[float], None] | None:
    if progress is None:
        return None
    return lambda share: progress((place + share) / parts)


@checked
def ua_topk_accuracy(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, *, k: int = 3, **sampling
) -> MetricValue:
    """Compute how often a plausible truth's top-1 class is among the classifier's first k [Stutz et al., eq. 7-12].

    For several classifiers or reliabilities use `reliability_sweep`: draws are then made once.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
    predictions : Predictions
        Matched to the dataset.
    k : int
        Length of the list; at most the depth of the model.
    sampling
        ``reliability`` (the model's default if omitted), ``n_draws``, ``seed``.
    """
    return _metric(model, dataset, predictions, k, 1, sampling)


@checked
def ua_set_accuracy(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, *, k: int = 3, **sampling
) -> MetricValue:
    """Compute how often the classifier's first k are the k most plausible classes; parameters as `ua_topk_accuracy`.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    predictions : Predictions
        Matched to the dataset.
    k : int
        Length of the list; at most the depth of the model.
    **sampling
        ``reliability`` (the model's default if omitted), ``n_draws``, ``seed``.
    """
    return _metric(model, dataset, predictions, k, 2, sampling)


@checked
def ua_average_overlap(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, *, k: int = 3, **sampling
) -> MetricValue:
    """Compute the mean overlap of both lists over their first 1 to k places; parameters as `ua_topk_accuracy`.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of a kind that the model takes.
    predictions : Predictions
        Matched to the dataset.
    k : int
        Length of the list; at most the depth of the model.
    **sampling
        ``reliability`` (the model's default if omitted), ``n_draws``, ``seed``.
    """
    return _metric(model, dataset, predictions, k, 4, sampling)


def _metric(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, k: int, place: int, sampling: dict
) -> MetricValue:
    reliability = sampling.pop("reliability", model.default_reliability)
    sweep = reliability_sweep(model, dataset, [reliability], classifiers=[predictions], max_top=k, **sampling)
    return sweep.evaluation[0].values[predictions.name][metric_names(k)[place]]
