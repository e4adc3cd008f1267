"""Accuracy of raters with the uncertainty about the truth, from drawn truths instead of one posterior.

Each draw takes a rater model by its weight in the average, β by its posterior, one true class for every case, and then
a Beta draw of each rater's accuracy from what is correct by these classes, with all raters of the draw as the prior.
An interval from one posterior at a fixed β
counts raters who share mistakes as witnesses for each other, and is too narrow.
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from ..annotations.counts import raters_per_case
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..models.average import LEAST_DOUBT, AveragedModels, member_posteriors
from ..models.result import Spread, Uncertainty
from ..models.smoothed_vote import SmoothedVote
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import number

N_DRAWS = 300
_FEWEST_DRAWS, _MOST_DRAWN = 100, 30_000_000  # draws, and annotations over all draws, where raters are judged
_PRIOR = 0.5  # Jeffreys
_ROW_SIZE, _LEAST = 2.0, 1e-3  # annotations that the averaged row of a confusion matrix counts for; per class at least
_POOL_SIZE, _POOL_RATERS = 10.0, 10.0
_RHO = 1 / 201, 1 / 2  # between raters who are all alike and raters about whom their pool says little


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AccuracyDraws(Result):
    """Accuracy and wrong annotations of every rater over draws of the truth; arrays of shape (n_raters,).

    Attributes
    ----------
    raters : tuple of str
    n : ndarray of int64
        Annotations that are judged.
    mean, low, high : ndarray
        Accuracy; NaN for a rater without such annotations.
    wrong, wrong_low, wrong_high : ndarray
        Expected number of wrong annotations among these, and its interval.
    total, total_low, total_high : float
        Total of all raters together.
    right : ndarray of int32, shape (n_draws, n_raters)
        Annotations that are correct by the truth of each draw.
    pool : ndarray, shape (n_draws, 2)
        Correct and wrong annotations that all raters together add to each, see `pool_of`.
    level : float
        Confidence level of the intervals.
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
    right: np.ndarray
    pool: np.ndarray
    level: float

    TABLES = ("raters",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("n", "mean", "low", "high", "wrong", "wrong_low", "wrong_high")
        return {"rater": self.raters[:most], **{name: getattr(self, name)[:most] for name in names}}

    def chance_at_least(self, bound: float | np.ndarray) -> np.ndarray:
        """Compute P(accuracy ≥ bound) of each rater, the mean over draws; NaN for a rater without annotations.

        Parameters
        ----------
        bound : float, or ndarray of shape (n_raters,)
        """
        from scipy.special import betaincc

        found = betaincc(self.right + self.pool[:, :1], self.n - self.right + self.pool[:, 1:], bound).mean(axis=0)
        return np.where(self.n > 0, found, np.nan)

    @property
    def sentence(self) -> str:
        """Sentence on how many annotations are expected to be wrong."""
        return (
            f"Expected number of wrong annotations: {number(self.total, 0)} ({number(self.total_low, 0)} to "
            f"{number(self.total_high, 0)}) of {int(self.n.sum()):,}."
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
        Average of the models of ``dataset``; its vote, which knows no raters, is left out.
    dataset : Dataset
        Dataset of single classes.
    cases : ndarray of int64, optional
        Positions of the cases whose annotations are judged; all by default.
    n_draws : int
    level : float
        Confidence level of the intervals, 0 to 1.
    seed : int
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        No rater model can be used.
    Cancelled
    """
    if not averaged.members:
        raise NotApplicableError("Cannot determine rater accuracy: no rater model suits these data.")
    judged = np.ones(dataset.n_annotations, bool)
    if cases is not None:
        judged = np.isin(dataset.case_of_annotation, cases)
    case, rater, answer = dataset.case_of_annotation[judged], dataset.rater[judged], dataset.answer[judged]
    n = np.bincount(rater, minlength=dataset.n_raters)
    rng = np.random.default_rng(seed)
    rows = []
    for times, probability in _components(averaged, dataset, n_draws, rng, token):
        rows += [
            np.bincount(rater, answer == truth[case], dataset.n_raters)
            for truth in _truths(times, probability, dataset.cases, dataset.classes, rng, token)
        ]
    return _summary(dataset.raters, n, np.array(rows), level, rng, _by_annotations(dataset))


def _truths(times: int, probability: np.ndarray, cases, classes, rng: np.random.Generator, token):
    """Draw the true class of every case; the same draws in whatever order cases and classes are listed."""
    place, by_name = _rank(cases), np.argsort(classes)
    upto = probability[:, by_name].cumsum(axis=1)
    for _ in range(times):
        if token is not None:
            token.check()
        yield by_name[(rng.random(len(upto))[place, None] * upto[:, -1:] >= upto[:, :-1]).sum(axis=1)]


def _rank(names) -> np.ndarray:
    """Return the position of each name when they are sorted."""
    order = np.argsort(names)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank


def _by_annotations(dataset: Dataset) -> np.ndarray:
    """Return raters in the order of their annotations, which is the same whatever their names and places are."""
    what = _rank(dataset.cases)[dataset.case_of_annotation] * dataset.n_classes + _rank(dataset.classes)[dataset.answer]
    order = np.lexsort((what, dataset.rater))
    ends = np.searchsorted(dataset.rater[order], np.arange(dataset.n_raters + 1)).tolist()
    own = what[order].astype(">i8")  # the bytes of such numbers are in their order
    return np.array(sorted(range(dataset.n_raters), key=lambda rater: own[ends[rater] : ends[rater + 1]].tobytes()))


def prevalence_interval(
    averaged: AveragedModels, dataset: Dataset, *, level: float = 0.95, seed: int = 0, token: CancelToken | None = None
) -> Spread:
    """Compute the interval of the share of each class among cases like these, shape (n_classes,).

    It covers the uncertainty about the model, β, the truth of each case, and the choice of cases.

    Parameters
    ----------
    averaged : AveragedModels
        Average of the models of ``dataset``.
    dataset : Dataset
    level, seed, token
        See `accuracy_draws`.

    Raises
    ------
    Cancelled
    """
    rng, answered = np.random.default_rng(seed), np.diff(dataset.case_ptr) > 0
    n_by_vote = int(rng.binomial(N_DRAWS, averaged.vote_share))
    cases, by_name, rank = np.array(dataset.cases)[answered], np.argsort(dataset.classes), _rank(dataset.classes)
    shares = []
    by_vote = ((n_by_vote, SmoothedVote().fit(dataset).class_probability),)
    members = _components(averaged, dataset, N_DRAWS - n_by_vote, rng, token, doubt=None)
    for times, probability in chain(members, by_vote):
        shares += [
            rng.dirichlet((np.bincount(truth, minlength=dataset.n_classes) + _PRIOR)[by_name])[rank]
            for truth in _truths(times, probability[answered], cases, dataset.classes, rng, token)
        ]
    return _spread(np.array(shares), level)


def _spread(drawn: np.ndarray, level: float) -> Spread:
    low, high = np.quantile(drawn, ((1 - level) / 2, (1 + level) / 2), axis=0)
    return Spread(drawn.std(axis=0, ddof=1), low, high)


def uncertainty_of(
    averaged: AveragedModels, dataset: Dataset, *, level: float = 0.95, seed: int = 0, token: CancelToken | None = None
) -> Uncertainty | None:
    """Compute intervals of an average's prevalence, accuracies and confusion matrices; None if it is only the vote.

    Each draw takes a model, β and the truth of every case as in `accuracy_draws`, and then rows of confusion matrices
    by the annotations on these truths, with the averaged row as the prior, worth `_ROW_SIZE` annotations.

    Parameters
    ----------
    averaged : AveragedModels
        Average of the models of ``dataset``.
    dataset : Dataset
    level, seed, token
        See `accuracy_draws`.

    Raises
    ------
    Cancelled
    """
    if not averaged.members:
        return None
    prevalence = prevalence_interval(averaged, dataset, level=level, seed=seed, token=token)
    rng, fit, n_classes = np.random.default_rng(seed), averaged.fit, dataset.n_classes
    n_draws = _draws_for(dataset)
    truths = drawn_truths(averaged, dataset, n_draws, rng, token)
    spreads: dict[int, tuple[Spread, Spread]] = {}
    rows, rank = np.arange(n_draws)[:, None] * n_classes**2, _rank(dataset.classes)
    by_name = np.argsort(dataset.classes)
    for rater in _by_annotations(dataset).tolist():
        if token is not None:
            token.check()
        mean = fit.confusion[rater]
        own = np.flatnonzero(dataset.rater == rater)
        cell = rows + truths[:, dataset.case_of_annotation[own]].astype(np.int64) * n_classes + dataset.answer[own]
        counts = np.bincount(cell.ravel(), minlength=n_draws * n_classes**2).reshape(n_draws, n_classes, n_classes)
        shape = counts + _ROW_SIZE * mean + _LEAST
        matrix = rng.standard_gamma(shape[:, by_name][:, :, by_name])[:, rank][:, :, rank]
        matrix /= matrix.sum(axis=2, keepdims=True)
        right = matrix[:, range(n_classes), range(n_classes)] @ fit.prevalence
        spreads[rater] = (
            _around(_spread(right, level), np.diag(mean) @ fit.prevalence),
            _around(_spread(matrix, level), mean),
        )
    in_order = [spreads[rater] for rater in range(dataset.n_raters)]
    accuracy, confusion = (_stacked(list(each)) for each in zip(*in_order, strict=True))
    method = "draws of models and truths"
    return Uncertainty(method, level, prevalence, accuracy, confusion, n_replicates=n_draws, seed=seed)


def _stacked(spreads: list[Spread]) -> Spread:
    return Spread(*(np.array([getattr(one, end) for one in spreads]) for end in ("sd", "low", "high")))


def drawn_truths(
    averaged: AveragedModels, dataset: Dataset, n_draws: int, rng: np.random.Generator, token: CancelToken | None = None
) -> np.ndarray:
    """Draw a model, β and the true class of every case, int16 of shape (n_draws, n_cases), in the order of models.

    Parameters
    ----------
    averaged : AveragedModels
        Average of the models of ``dataset``, with members.
    dataset : Dataset
    n_draws : int
    rng : numpy.random.Generator
    token : CancelToken, optional

    Raises
    ------
    Cancelled
    """
    components, named = _components(averaged, dataset, n_draws, rng, token), (dataset.cases, dataset.classes)
    return np.array([one.astype(np.int16) for times, p in components for one in _truths(times, p, *named, rng, token)])


def _around(spread: Spread, estimate: np.ndarray) -> Spread:
    """Widen an interval to contain its estimate, which shrinks rare classes further than the draws do."""
    return Spread(spread.sd, np.minimum(spread.low, estimate), np.maximum(spread.high, estimate))


def _draws_for(dataset: Dataset) -> int:
    return int(np.clip(_MOST_DRAWN // max(dataset.n_annotations, 1), _FEWEST_DRAWS, N_DRAWS))


def judging_draws(
    averaged: AveragedModels, dataset: Dataset, *, level: float = 0.95, seed: int = 0, token: CancelToken | None = None
) -> AccuracyDraws | None:
    """Return the draws that judge raters, on cases of two raters or more; None if no rater model can be used.

    Parameters
    ----------
    averaged : AveragedModels
        Average of the models of ``dataset``.
    dataset : Dataset
        Dataset of single classes by identified raters.
    level, seed, token
        See `accuracy_draws`.
    """
    cases = np.flatnonzero(raters_per_case(dataset) > 1)
    if not averaged.members or not cases.size:
        return None
    n_draws = _draws_for(dataset)
    return accuracy_draws(averaged, dataset, cases=cases, n_draws=n_draws, level=level, seed=seed, token=token)


def _summary(
    raters: tuple[str, ...],
    n: np.ndarray,
    right: np.ndarray,
    level: float,
    rng: np.random.Generator,
    order: np.ndarray,
) -> AccuracyDraws:
    """Summarise accuracies and wrong annotations from the correct ones in each draw, shape (n_draws, n_raters)."""
    pool = np.array([pool_of(each, n) for each in right])
    a, b = right + pool[:, :1], n - right + pool[:, 1:]
    accuracy = np.where(n > 0, rng.beta(a[:, order], b[:, order])[:, np.argsort(order)], np.nan)
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
        right.astype(np.int32),
        pool,
        level,
    )


def pool_of(right: np.ndarray, n: np.ndarray) -> tuple[float, float]:
    """Fit a beta distribution to the accuracies of all raters by moments: m s and (1 − m) s.

    m is the share of annotations that is correct. Of ``right ~ BetaBinomial(n, m s, (1 − m) s)`` the variance is
    ``n m (1 − m) (1 + (n − 1) ρ)`` with ``ρ = 1 / (s + 1)``; `_POOL_RATERS` further raters have the ρ of `_POOL_SIZE`.

    Parameters
    ----------
    right, n : ndarray of int, shape (n_raters,)
        Number of correct annotations, and of all that are judged.
    """
    some = n > 0
    r, n = right[some], n[some].astype(float)
    total = n.sum()
    m = (r.sum() + _PRIOR) / (total + 2 * _PRIOR)
    weight = 1 - n / total
    excess = float((n * (r / n - m) ** 2).sum()) / (m * (1 - m)) - weight.sum()
    room = float((weight * (n - 1)).sum())
    usual = room / n.size * _POOL_RATERS
    rho = (excess + usual / (_POOL_SIZE + 1)) / (room + usual) if room > 0 else 1 / (_POOL_SIZE + 1)
    size = 1 / float(np.clip(rho, *_RHO)) - 1
    return m * size, (1 - m) * size


def _components(
    averaged: AveragedModels,
    dataset: Dataset,
    n_draws: int,
    rng: np.random.Generator,
    token,
    doubt: float | None = LEAST_DOUBT,
):
    """Yield the number of draws and the class probabilities of each member at each β."""
    weights = np.array([each.weight for each in averaged.members])
    parts = [[weight for _, weight in each.beta.points] for each in averaged.members]
    shares = np.concatenate([weight * np.array(part) for weight, part in zip(weights, parts, strict=True)])
    shares = shares.round(4)  # the same number of draws of each on every processor
    times = iter(rng.multinomial(n_draws, shares / shares.sum()).tolist())
    for member in averaged.members:
        for _, probability in member_posteriors(member, dataset, token, doubt=doubt):
            if count := next(times):
                yield count, probability
