"""Accuracy of raters with the uncertainty about the truth, from drawn truths instead of one posterior.

Each draw takes a rater model by its weight in the average, β by its posterior, one true class for every case, and then
a Beta draw of each rater's accuracy from what is correct by these classes. An interval from one posterior at a fixed β
counts raters who share mistakes as witnesses for each other, and is too narrow.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..models.average import LEAST_DOUBT, AveragedModels, member_posteriors
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import number, plural

N_DRAWS = 300
_PRIOR = 0.5  # Jeffreys


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AccuracyDraws(Result):
    """Accuracy and wrong annotations of every rater over draws of the truth; arrays of shape (n_raters,).

    Attributes
    ----------
    raters : tuple of str
    n : ndarray of int64
        Annotations that are judged.
    mean, low, high : ndarray
        Accuracy; NaN of a rater without such annotations.
    wrong, wrong_low, wrong_high : ndarray
        Expected number of wrong annotations among these, and its interval.
    total, total_low, total_high : float
        Of all raters together.
    level : float
        Of the intervals.
    n_draws : int
    """

    raters: tuple[str, ...]
    n: np.ndarray
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    wrong: np.ndarray
    wrong_low: np.ndarray
    wrong_high: np.ndarray
    total: float
    total_low: float
    total_high: float
    level: float
    n_draws: int

    TABLES = ("raters",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("n", "mean", "low", "high", "wrong", "wrong_low", "wrong_high")
        return {"rater": self.raters[:most], **{name: getattr(self, name)[:most] for name in names}}

    @property
    def sentence(self) -> str:
        """Sentence on how many annotations are expected to be wrong."""
        return (
            f"Expected wrong annotations: {number(self.total, 0)} of {plural(int(self.n.sum()), 'annotation')} "
            f"({number(self.total_low, 0)} to {number(self.total_high, 0)})."
        )


def accuracy_draws(
    averaged: AveragedModels,
    dataset: Dataset,
    *,
    cases: np.ndarray | None = None,
    n_draws: int = N_DRAWS,
    level: float = 0.95,
    seed: int = 0,
    token: CancelToken | None = None,
) -> AccuracyDraws:
    """Estimate every rater's accuracy, with the uncertainty about models, about β and about the truth of each case.

    Parameters
    ----------
    averaged : AveragedModels
        Of ``dataset``; its vote, which knows no raters, is left out.
    dataset : Dataset
        Of single classes.
    cases : ndarray of int64, optional
        Positions of the cases whose annotations are judged; all by default.
    n_draws : int
    level : float
        Of the intervals, 0 to 1.
    seed : int
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        No rater model can be used.
    Cancelled
    """
    if not averaged.members:
        raise NotApplicableError("Cannot determine rater accuracy: no rater model can be used.")
    judged = np.ones(dataset.n_annotations, bool)
    if cases is not None:
        judged = np.isin(dataset.case_of_annotation, cases)
    case, rater, answer = dataset.case_of_annotation[judged], dataset.rater[judged], dataset.answer[judged]
    n = np.bincount(rater, minlength=dataset.n_raters)
    rng = np.random.default_rng(seed)
    rows = []
    for times, probability in _components(averaged, dataset, n_draws, rng, token):
        upto = probability.cumsum(axis=1)
        for _ in range(times):
            if token is not None:
                token.check()
            truth = (rng.random((len(upto), 1)) * upto[:, -1:] >= upto[:, :-1]).sum(axis=1)
            rows.append(np.bincount(rater, answer == truth[case], dataset.n_raters))
    return _summary(dataset.raters, n, np.array(rows), level, rng)


def _summary(
    raters: tuple[str, ...], n: np.ndarray, right: np.ndarray, level: float, rng: np.random.Generator
) -> AccuracyDraws:
    """Summarise accuracies and wrong annotations from correct ones in each draw, shape (n_draws, n_raters)."""
    accuracy = np.where(n > 0, rng.beta(right + _PRIOR, n - right + _PRIOR), np.nan)
    wrong, ends = n - right, ((1 - level) / 2, (1 + level) / 2)
    total = wrong.sum(axis=1)
    low, high = np.quantile(accuracy, ends, axis=0)
    wrong_low, wrong_high = np.quantile(wrong, ends, axis=0)
    total_low, total_high = np.quantile(total, ends).tolist()
    return AccuracyDraws(
        raters,
        n,
        accuracy.mean(axis=0),
        low,
        high,
        wrong.mean(axis=0),
        wrong_low,
        wrong_high,
        float(total.mean()),
        total_low,
        total_high,
        level,
        len(right),
    )


def _components(averaged: AveragedModels, dataset: Dataset, n_draws: int, rng: np.random.Generator, token):
    """Return the number of draws, and the class probabilities, of each member at each β."""
    weights = np.array([each.weight for each in averaged.members])
    parts = [[weight for _, weight in each.beta.points] for each in averaged.members]
    shares = np.concatenate([weight * np.array(part) for weight, part in zip(weights, parts, strict=True)])
    times = iter(rng.multinomial(n_draws, shares / shares.sum()).tolist())
    for member in averaged.members:
        for _, probability in member_posteriors(member, dataset, token, doubt=LEAST_DOUBT):
            if count := next(times):
                yield count, probability
