"""Errors of predicted scores if the score of each case is uncertain.

Each draw takes a score of every case from its posterior (`core.plausibility.gaussian`) and measures all predictors
against it; the mean over draws is reported with their 2.5% and 97.5% quantiles. The sampling of cases is a second
source of error: a Bayesian bootstrap over cases joins both [Rubin, The Bayesian bootstrap, Annals of Statistics 9
(1981), doi:10.1214/aos/1176345338].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..options import check_whole
from ..plausibility.gaussian import GaussianPosterior, GaussianScores
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds
from ..text import exact, number, probability
from ..thresholds import CLEARLY_AHEAD
from .score_predictions import ScorePredictions

METRICS = ("absolute", "root_squared", "bias", "right_side")
_STREAM = "score errors"
_CHUNK = 256
_ENDS = (0.025, 0.975)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScoreErrors(Result):
    """Errors of predictors over plausible truths.

    Attributes
    ----------
    reliability : float
        γ.
    predictors : tuple of str
    metrics : tuple of str
        Names from `METRICS`: mean absolute error, root mean squared error and bias (predicted less plausible), in units
        of the scores, and the share on the correct side of the threshold, if there is one.
    mean, low, high : ndarray, shape (n_predictors, n_metrics)
        Mean and interval over plausible truths.
    total_low, total_high : ndarray, shape (n_predictors, n_metrics)
        Interval over plausible truths and over the sampling of cases.
    point : ndarray, shape (n_predictors, n_metrics)
        Metrics against the mean plausible scores, taken as certain.
    n_cases : ndarray of int64, shape (n_predictors,)
        Number of cases that each predicts; its errors are over these.
    better : ndarray, shape (n_predictors, n_predictors)
        P(the absolute error of the row is lower than that of the column), over both sources, on the cases that both
        predict; NaN if there are none, and with itself.
    """

    reliability: float
    predictors: tuple[str, ...]
    metrics: tuple[str, ...]
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    total_low: np.ndarray
    total_high: np.ndarray
    point: np.ndarray
    n_cases: np.ndarray
    better: np.ndarray

    TABLES = ("errors",)

    def _columns(self, table: str, most: int | None) -> Columns:
        n, m = self.mean.shape
        columns: dict = {"predictor": [name for name in self.predictors for _ in range(m)]}
        columns |= {"metric": list(self.metrics) * n, "n_cases": np.repeat(self.n_cases, m)}
        for name in ("mean", "low", "high", "total_low", "total_high", "point"):
            columns[name] = getattr(self, name).ravel()
        return columns


def score_errors(
    dataset: Dataset,
    model: GaussianScores,
    predictions: Sequence[ScorePredictions],
    *,
    reliability: float,
    n_draws: int = 1000,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> ScoreErrors:
    """Compute errors of predictors over plausible truths at one γ.

    Parameters
    ----------
    dataset : Dataset
        Dataset of scores.
    model : GaussianScores
    predictions : sequence of ScorePredictions
        Predictions matched to the dataset.
    reliability : float
        γ.
    n_draws : int
        Number of plausible truths of all cases.
    seed : int
        Seed; the draws of a case depend only on it and on the case.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    InputError
        No predictor is given, one is matched to other data, or a number is out of its range.
    """
    check_whole(n_draws, "The number of draws", 2)
    if not predictions:
        raise InputError("Could not evaluate predictions: none were given.", "Add a predictor.")
    for one in predictions:
        if one.cases != dataset.cases:
            raise InputError(f"Could not use {one.name}: it predicts other cases.", "Use predictions for these cases.")
    posterior = model.posterior(dataset, reliability)
    guess = np.array([one.score for one in predictions])
    sums = _Sums(len(predictions), n_draws)
    cases = np.flatnonzero(np.isfinite(guess).any(axis=0))
    for start in range(0, len(cases), _CHUNK):
        if token is not None:
            token.check()
        some = cases[start : start + _CHUNK]
        seeds = case_seeds(seed, [dataset.cases[case] for case in some], _STREAM)
        truth, weight = _drawn(posterior, some, seeds, n_draws)
        sums.add(guess[:, some], truth, weight, model.threshold)
        if progress is not None:
            progress((start + len(some)) / len(cases))
    point = _against_point(guess, posterior.m, model.threshold)
    n_metrics = len(METRICS) if model.threshold is not None else len(METRICS) - 1
    names = tuple(one.name for one in predictions)
    return _result(float(reliability), names, METRICS[:n_metrics], sums, point, np.isfinite(guess).sum(axis=1))


def errors_verdict(errors: Sequence[ScoreErrors]) -> str:
    """State which predictor clearly has the smallest absolute error, at every γ or at some. Not escaped.

    Parameters
    ----------
    errors : sequence of ScoreErrors
        Errors of the same predictors, at one γ each.
    """
    names = errors[0].predictors
    if len(names) == 1:
        return (
            f"The mean error of {names[0]} is {number(float(errors[0].mean[0, 0]))} at γ = "
            f"{exact(errors[0].reliability)}"
        )
    best = [int(one.mean[:, 0].argmin()) for one in errors]
    ahead = [float(np.nanmin(np.append(each.better[one], np.inf))) for each, one in zip(errors, best, strict=True)]
    if not np.isfinite(ahead).any():
        return "Cannot compare the errors of predictors: no two of them predict the same case"
    if len({one for one, sure in zip(best, ahead, strict=True) if sure >= CLEARLY_AHEAD}) > 1:
        return "The predictor with the smallest error depends on γ"
    least, one = min(ahead), names[best[int(np.argmin(ahead))]]
    if least < CLEARLY_AHEAD or len(set(best)) > 1:
        return (
            f"No predictor clearly has the smallest error: {one} is better than another predictor with only "
            f"{probability(least)} probability"
        )
    always = "at every γ" if len(errors) > 1 else f"at γ = {exact(errors[0].reliability)}"
    return f"{one} has the smallest error {always}, with at least {probability(least)} probability"


def _result(reliability, predictors, metrics, sums: "_Sums", point: np.ndarray, n_cases: np.ndarray) -> ScoreErrors:
    over_draws, over_both = (values[:, : len(metrics)] for values in sums.means())
    low, high = np.quantile(over_draws, _ENDS, axis=-1)
    total_low, total_high = np.quantile(over_both, _ENDS, axis=-1)
    return ScoreErrors(
        reliability,
        predictors,
        metrics,
        over_draws.mean(axis=-1),
        low,
        high,
        total_low,
        total_high,
        point[:, : len(metrics)],
        n_cases,
        sums.better(),
    )


def _drawn(
    posterior: GaussianPosterior, cases: np.ndarray, seeds: np.ndarray, n_draws: int
) -> tuple[np.ndarray, np.ndarray]:
    """Draw plausible scores of some cases and their bootstrap weights, both of shape (n_cases, n_draws)."""
    truth, weight = np.empty((len(cases), n_draws)), np.empty((len(cases), n_draws))
    for place, seed in enumerate(seeds):
        rng = np.random.default_rng(int(seed))
        truth[place] = rng.standard_t(2 * posterior.a[cases[place]], n_draws)
        weight[place] = rng.standard_exponential(n_draws)
    return posterior.m[cases, None] + posterior.scale[cases, None] * truth, weight


def _measured(error: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the values to average over cases for each metric: |e|, e², e, and whether the side is correct."""
    return np.stack([np.abs(error), error**2, error, right])


class _Sums:
    """Sums over cases for each predictor, metric and draw: plain ones and weighted ones, with their weights."""

    def __init__(self, n_predictors: int, n_draws: int) -> None:
        self.plain = np.zeros((n_predictors, len(METRICS), n_draws))
        self.weighted = np.zeros_like(self.plain)
        self.n = np.zeros(n_predictors)
        self.weight = np.zeros((n_predictors, n_draws))
        self.apart = np.zeros((n_predictors, n_predictors, n_draws))
        self.common = np.zeros((n_predictors, n_predictors), np.int64)

    def add(self, guess: np.ndarray, truth: np.ndarray, weight: np.ndarray, threshold: float | None) -> None:
        """Add some cases: ``guess`` of shape (n_predictors, n_some), the others (n_some, n_draws)."""
        said = np.isfinite(guess)
        absolute = []
        for place, scores in enumerate(guess):
            mine, wanted = scores[said[place], None], truth[said[place]]
            right = np.zeros_like(wanted) if threshold is None else (mine > threshold) == (wanted > threshold)
            values = _measured(mine - wanted, right)
            weights = weight[said[place]]
            self.plain[place] += values.sum(axis=1)
            self.weighted[place] += (values * weights).sum(axis=1)
            self.n[place] += said[place].sum()
            self.weight[place] += weights.sum(axis=0)
            absolute.append(np.abs(scores[:, None] - truth))
        for a in range(len(guess)):
            for b in range(a):
                both = said[a] & said[b]
                difference = ((absolute[a][both] - absolute[b][both]) * weight[both]).sum(axis=0)
                self.apart[a, b] += difference
                self.apart[b, a] -= difference
                self.common[a, b] = self.common[b, a] = self.common[a, b] + both.sum()

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Return metrics of every draw over the cases, and over the weighted cases."""
        found = []
        for sums, total in ((self.plain, self.n[:, None]), (self.weighted, self.weight)):
            mean = sums / total[:, None]
            mean[:, 1] = np.sqrt(mean[:, 1])
            found.append(mean)
        return found[0], found[1]

    def better(self) -> np.ndarray:
        """Return P(row has the lower absolute error than column), ties ½."""
        share = (self.apart < 0).mean(axis=-1) + 0.5 * (self.apart == 0).mean(axis=-1)
        return np.where(self.common > 0, share, np.nan)


def _against_point(guess: np.ndarray, mean: np.ndarray, threshold: float | None) -> np.ndarray:
    """Compute metrics of each predictor against one score per case, shape (n_predictors, n_metrics)."""
    found = []
    for scores in guess:
        said = np.isfinite(scores)
        error, wanted = scores[said] - mean[said], mean[said]
        right = np.zeros_like(wanted) if threshold is None else (scores[said] > threshold) == (wanted > threshold)
        values = _measured(error, right).mean(axis=1)
        values[1] = np.sqrt(values[1])
        found.append(values)
    return np.array(found)
