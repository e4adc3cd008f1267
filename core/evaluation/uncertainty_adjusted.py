"""Uncertainty-adjusted metrics of one classifier at one reliability [Stutz et al., eq. 7-12].

For several classifiers or reliabilities use `core.evaluation.sweep_table.reliability_sweep`: draws are then made once.
"""

from ..annotations.dataset import Dataset
from ..plausibility.protocol import PlausibilityModel
from .metrics import MetricValue, metric_names
from .predictions import Predictions
from .sweep_table import reliability_sweep


def ua_topk_accuracy(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, *, k: int = 3, **sampling
) -> MetricValue:
    """How often the top-1 class of a plausible truth is among the classifier's first k.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
    predictions : Predictions
        Matched to the dataset.
    k : int
        Length of the list; at most the model's depth.
    sampling
        ``reliability`` (the model's default where not given), ``n_draws``, ``seed``.
    """
    return _metric(model, dataset, predictions, k, 1, sampling)


def ua_set_accuracy(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, *, k: int = 3, **sampling
) -> MetricValue:
    """How often the classifier's first k are the k most plausible classes; parameters as `ua_topk_accuracy`.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Of a kind that the model takes.
    predictions : Predictions
        Matched to the dataset.
    k : int
        Length of the list; at most the model's depth.
    **sampling
        ``reliability`` (the model's default where not given), ``n_draws``, ``seed``.
    """
    return _metric(model, dataset, predictions, k, 2, sampling)


def ua_average_overlap(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, *, k: int = 3, **sampling
) -> MetricValue:
    """Mean overlap of both lists over their first 1 to k places; parameters as `ua_topk_accuracy`.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Of a kind that the model takes.
    predictions : Predictions
        Matched to the dataset.
    k : int
        Length of the list; at most the model's depth.
    **sampling
        ``reliability`` (the model's default where not given), ``n_draws``, ``seed``.
    """
    return _metric(model, dataset, predictions, k, 4, sampling)


def _metric(
    model: PlausibilityModel, dataset: Dataset, predictions: Predictions, k: int, place: int, sampling: dict
) -> MetricValue:
    reliability = sampling.pop("reliability", model.default_reliability)
    sweep = reliability_sweep(model, dataset, [reliability], classifiers=[predictions], max_top=k, **sampling)
    return sweep.evaluation[0].values[predictions.name][metric_names(k)[place]]
