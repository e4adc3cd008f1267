"""Metrics of predicted sets of labels if the set of each case is uncertain.

Each draw takes a set of every case: a label applies if its plausibility, from Dirichlet counts of "given or not", is
above one half. Labels are assumed to be independent, except for the one that means that none applies
(`core.certainty.label_sets`). If every annotation names one label, the most likely class of a draw applies. All
classifiers are measured against it. A Bayesian bootstrap over cases adds the second source of error, the sampling of
cases [Rubin (1981), doi:10.1214/aos/1176345338]. Jaccard of two empty sets is 1.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.none_of_these import label_of_none
from ..certainty.label_sets import label_set_certainty
from ..errors import InputError
from ..options import check_whole
from ..plausibility.dirichlet import DirichletCounts
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds
from .set_predictions import SetPredictions

WHOLE = ("jaccard", "exact", "micro_f1", "macro_f1")
PER_LABEL = ("precision", "recall", "f1")
_STREAM = "set metrics"
_ENDS = (0.025, 0.975)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SetMetrics(Result):
    """Metrics of classifiers of sets over plausible truths.

    Attributes
    ----------
    reliability : float
        Reliability γ; infinite if the truth is given as known sets.
    classifiers, labels : tuple of str
    metrics : tuple of str
        ``jaccard`` (mean over cases), ``exact`` (share of cases with the same set), ``micro_f1``, ``macro_f1`` (mean
        over the labels of which it is defined), then precision, recall and F1 of each label, ``"f1 of bus"``.
    mean, low, high : ndarray, shape (n_classifiers, n_metrics)
        Mean and interval over plausible truths; NaN if a metric is undefined because nothing is predicted, or nothing
        applies.
    total_low, total_high : ndarray, shape (n_classifiers, n_metrics)
        Interval over plausible truths and over the sampling of cases.
    n_cases : ndarray of int64, shape (n_classifiers,)
        Number of cases that each predicts and whose truth can be estimated; metrics are over these.
    """

    reliability: float
    classifiers: tuple[str, ...]
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    total_low: np.ndarray
    total_high: np.ndarray
    n_cases: np.ndarray

    TABLES = ("metrics",)

    def _columns(self, table: str, most: int | None) -> Columns:
        n, m = self.mean.shape
        columns: dict = {"classifier": [name for name in self.classifiers for _ in range(m)]}
        columns |= {"metric": list(self.metrics) * n, "n_cases": np.repeat(self.n_cases, m)}
        for name in ("mean", "low", "high", "total_low", "total_high"):
            columns[name] = getattr(self, name).ravel()
        return columns


def set_metrics(
    dataset: Dataset,
    predictions: Sequence[SetPredictions],
    *,
    reliability: float,
    model: DirichletCounts | None = None,
    gold: SetPredictions | None = None,
    n_draws: int = 1000,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> SetMetrics:
    """Compute Jaccard and per-label metrics of classifiers over plausible truths at one γ, or against known sets.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    predictions : sequence of SetPredictions
        Predictions matched to the dataset.
    reliability : float
        Reliability γ; not used if ``gold`` is given.
    model : DirichletCounts, optional
    gold : SetPredictions, optional
        Known sets, read like predictions: the truth of these cases is then certain, and only the sampling of cases is
        uncertain.
    n_draws : int
        Number of plausible truths of all cases.
    seed : int
        Seed; the draws of a case depend only on it and on the case.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The annotations are not sets.
    InputError
        No classifier is given, one is matched to other data, or a number is out of its range.
    """
    check_whole(n_draws, "The number of draws", 2)
    _check(dataset, predictions, gold)
    draw = _drawing(dataset, model or DirichletCounts(), reliability) if gold is None else _known(gold)
    told = np.ones(dataset.n_cases, bool) if gold is None else gold.predicted
    said = np.array([one.predicted & told for one in predictions])
    if not said.any():
        raise InputError("Could not evaluate predictions: none of their cases has gold labels.", "Add gold labels.")
    guess = np.array([one.applies for one in predictions])
    sums = _Sums(len(predictions), dataset.n_classes, n_draws)
    cases = np.flatnonzero(said.any(axis=0))
    seeds = case_seeds(seed, [dataset.cases[case] for case in cases], _STREAM)
    for done, case in enumerate(cases):
        if token is not None:
            token.check()
        rng = np.random.default_rng(int(seeds[done]))
        sums.add(said[:, case], guess[:, case], draw(int(case), rng, n_draws), rng.standard_exponential(n_draws))
        if progress is not None and done % 256 == 0:
            progress(done / len(cases))
    names, at = tuple(one.name for one in predictions), float(reliability if gold is None else "inf")
    return _result(at, names, dataset.classes, sums, said.sum(axis=1))


def _check(dataset: Dataset, predictions: Sequence[SetPredictions], gold: SetPredictions | None) -> None:
    if not predictions:
        raise InputError(
            "Could not evaluate predictions: none were given.",
            "Provide predictions from at least one classifier.",
        )
    for one in (*predictions, *(() if gold is None else (gold,))):
        if one.cases != dataset.cases or one.labels != dataset.classes:
            raise InputError(
                f"Could not use {one.name}: its sets are for different cases or labels.",
                "Use predictions for these cases and labels (in Python, `match_predictions` puts them in order).",
            )


def _drawing(dataset: Dataset, model: DirichletCounts, reliability: float):
    """Return a function from a case to its plausible sets, bool of shape (n_draws, n_labels)."""
    found = label_set_certainty(dataset, model, reliability=reliability)
    if not found.exclusive:
        chance = np.where(found.applies, found.certainty, 1 - found.certainty)
        name = label_of_none(dataset)
        none = None if name is None else dataset.classes.index(name)
        return lambda case, rng, n: _drawn(chance[case], none, rng, n)
    view = dataset.as_classes()[0]

    def classes(case: int, rng: np.random.Generator, n: int) -> np.ndarray:
        votes = np.bincount(view.answer[view.annotations_of(case)], minlength=view.n_classes)
        top = rng.standard_gamma(reliability * votes + model.alpha, (n, view.n_classes)).argmax(axis=1)
        return top[:, None] == np.arange(view.n_classes)

    return classes


def _drawn(chance: np.ndarray, none: int | None, rng: np.random.Generator, n: int) -> np.ndarray:
    """Draw labels independently of each other, and set ``none``, the label that none applies, if no other is drawn."""
    found = rng.random((n, chance.size)) < chance
    if none is not None:
        found[:, none] = False
        found[:, none] = ~found.any(axis=1)
    return found


def _known(gold: SetPredictions):
    return lambda case, rng, n: np.broadcast_to(gold.applies[case], (n, gold.applies.shape[1]))


class _Sums:
    """Sums over cases for each classifier and draw, plain (0) and weighted (1)."""

    def __init__(self, n_classifiers: int, n_labels: int, n_draws: int) -> None:
        self.n = np.zeros((2, n_classifiers, n_draws))
        self.jaccard, self.exact = np.zeros_like(self.n), np.zeros_like(self.n)
        self.hit = np.zeros((2, n_classifiers, n_draws, n_labels))
        self.said, self.true = np.zeros_like(self.hit), np.zeros_like(self.hit)

    def add(self, tells: np.ndarray, guess: np.ndarray, truth: np.ndarray, weight: np.ndarray) -> None:
        """Add one case: ``guess`` of shape (n_classifiers, n_labels), ``truth`` (n_draws, n_labels)."""
        for who in np.flatnonzero(tells):
            both, any_of = truth & guess[who], truth | guess[who]
            union = any_of.sum(axis=1)
            share = np.where(union, both.sum(axis=1) / np.maximum(union, 1), 1.0)
            same = (truth == guess[who]).all(axis=1)
            for kind, w in enumerate((np.ones_like(weight), weight)):
                self.n[kind, who] += w
                self.jaccard[kind, who] += w * share
                self.exact[kind, who] += w * same
                self.hit[kind, who] += w[:, None] * both
                self.said[kind, who] += w[:, None] * guess[who]
                self.true[kind, who] += w[:, None] * truth

    def metrics(self) -> np.ndarray:
        """Compute the metrics, shape (2, n_classifiers, n_metrics, n_draws); NaN if undefined."""
        with np.errstate(invalid="ignore", divide="ignore"):
            f1 = 2 * self.hit / (self.said + self.true)
            per_label = np.stack([self.hit / self.said, self.hit / self.true, f1], axis=-1)
            micro = 2 * self.hit.sum(axis=-1) / (self.said + self.true).sum(axis=-1)
            defined = np.isfinite(f1)
            macro = np.where(defined, f1, 0).sum(axis=-1) / defined.sum(axis=-1)
            whole = np.stack([self.jaccard / self.n, self.exact / self.n, micro, macro], axis=2)
        each = per_label.reshape(*per_label.shape[:3], -1).transpose(0, 1, 3, 2)
        return np.concatenate([whole, each], axis=2)


def _result(reliability: float, names, labels, sums: _Sums, n_cases: np.ndarray) -> SetMetrics:
    over_draws, over_both = sums.metrics()
    metrics = (*WHOLE, *(f"{metric} of {label}" for label in labels for metric in PER_LABEL))
    mean = np.full(over_draws.shape[:2], np.nan)
    ends = np.full((2, 2, *mean.shape), np.nan)
    for who, at in np.ndindex(mean.shape):  # Mean over the truths in which a metric is defined.
        for kind, values in enumerate((over_draws[who, at], over_both[who, at])):
            if (known := values[np.isfinite(values)]).size:
                ends[kind, :, who, at] = np.quantile(known, _ENDS)
                mean[who, at] = known.mean() if kind == 0 else mean[who, at]
    (low, high), (total_low, total_high) = ends
    return SetMetrics(reliability, names, labels, metrics, mean, low, high, total_low, total_high, n_cases)
