"""Pseudo-counts: prior information on raters before their annotations are counted."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..runtime.chunks import CancelToken
from ._strength_kernels import add_rises
from .design import Design
from .em import Family, Point, Prior, Summit, climb, no_prior
from .reparametrise import expit, logit
from .stopping import StoppingRule

Smoothing = Literal["none", "diagonal", "pooled", "empirical"]
POOL_STRENGTH = 10.0
NO_SHRINKAGE = (
    "Maximum likelihood without shrinkage: estimates for raters with few annotations go to 0 or 1, and class "
    "probabilities are overconfident."
)
_NEVER = 1e-100
_POOL = StoppingRule(200, 1e-8)
# Of the strengths, Gamma(2, 0.1): mode 10, which few raters leave alone and many overrule.
_STRENGTH_SHAPE, _STRENGTH_RATE = 2.0, 0.1
_SAME_STRENGTH, _TRACE = 1e-3, 1e-3
_FURTHEST = 4.0
_SURE = 1e-9
_ROUNDS, _STEPS_A_ROUND, _STRENGTH_STEPS, _ABILITY_STEPS, _SETTLED = 12, 10, 4, 8, 1e-2


def default_smoothing(dataset: Dataset) -> Smoothing:
    """Return the pool for all data: without it, a confusion that a rater never made excludes a class."""
    return "pooled"


def diagonal_prior(n_classes: int) -> Prior:
    """Return the mode under Dirichlet(3) on the prevalence and rows with 2.5 K on the diagonal and 1 + 1/K off it.

    The 1/K keep every probability above 0, so that one annotation cannot rule a class out.
    """
    own = np.eye(n_classes) * (2.5 * n_classes - 1)
    return Prior(np.full(n_classes, 2.0), own + (1 - np.eye(n_classes)) / n_classes)


def pooled_prior(
    data: Design, family: Family, token: CancelToken | None, *, per_row: bool, popular: bool = False
) -> Prior:
    """Return 10 pseudo-annotations spread like those of all raters taken as one, who is fitted first.

    Parameters
    ----------
    data : Design
    family : Family
        Family of one rater.
    token : CancelToken, optional
    per_row : bool
        10 for each true class, for models with parameters of their own for each; else 10 in all, spread over true
        classes by their prevalence.
    popular : bool
        The one rater has one annotation more on each true class, spread like all annotations. Guesses of the pool may
        run to 0, and with them those of every rater: a single annotation would then rule out all other classes.
    """
    top = pooled_summit(data, family, token)
    n_classes = data.dataset.n_classes
    prevalence = np.exp(top.point.log_prevalence)
    pool = np.exp(top.point.log_theta).reshape(n_classes, n_classes)
    pool[pool < _NEVER] = 0.0  # dying cells of the pool would underflow to 0 · ln 0 in the penalty
    if popular:
        mass, named = prevalence * data.dataset.n_annotations, data.dataset.annotations_of_classes + 1.0
        pool = (mass * pool + (named / named.sum())[:, None]) / (mass + 1)
    return Prior(np.zeros(n_classes), POOL_STRENGTH * (pool if per_row else pool * prevalence))


def pooled_summit(data: Design, family: Family, token: CancelToken | None) -> Summit:
    """Fit all raters taken as one, by maximum likelihood.

    Parameters
    ----------
    data : Design
    family : Family
    token : CancelToken, optional
    """
    return climb(data.as_one_rater(), family, no_prior(data.dataset.n_classes), data.start, _POOL, token=token)


def empirical_prior(data: Design, family: Family, token: CancelToken | None) -> Prior:
    """Estimate pseudo-counts s_z m_jz of rows from Dirichlet(s_z m_jz), together with the truth.

    m_jz is the row of all raters together with the odds of being right multiplied by one factor of rater j
    (`rater_rows`): what a rater's annotations on one class say of them is believed of other classes too. The row of all
    is itself shrunk to one rate of being right and mistakes by the popularity of classes (`pool_rows`); s_z maximises
    the Dirichlet-multinomial likelihood of the expected annotations of raters on class z (`strength`). All are
    estimated between climbs of ten steps at most, until no rater's pseudo-counts of a class move by more than 1%. The
    mode under pseudo-counts s m is the mean (s m + n)/(s + n) of the Dirichlet posterior, which is the probability of a
    rater's next annotation.

    Parameters
    ----------
    data : Design
    family : Family
    token : CancelToken, optional

    Returns
    -------
    Prior
        No pseudo-cases, and pseudo-annotations of each rater.
    """
    n_classes = data.dataset.n_classes
    popularity = data.dataset.annotations_of_classes + 1.0
    at: np.ndarray | Point = data.start
    counts = data.counted(data.start)[1]
    prior: Prior | None = None
    strengths: np.ndarray | None = None
    able = Ability(np.zeros(data.dataset.n_raters), 1.0)
    for _ in range(_ROUNDS):
        by_rater = counts.reshape(-1, n_classes, n_classes)
        pool = np.ascontiguousarray(pool_rows(by_rater.sum(axis=0).T, popularity / popularity.sum()).T)
        rows, able = rater_rows(by_rater, pool, able)
        strengths = strength(by_rater, rows, strengths, _STRENGTH_STEPS)
        found = Prior(np.zeros(n_classes), strengths * rows)
        if prior is not None:
            moved = np.abs(found.answers - prior.answers).sum(axis=1) / prior.answers.sum(axis=1)
            if moved.max() <= _SETTLED:
                break
        prior = found
        top = climb(data, family, prior, at, StoppingRule(_STEPS_A_ROUND, 1e-8), token=token)
        counts, at = top.counts, top.point
    assert prior is not None  # there is at least one round
    return prior


@dataclass(frozen=True, slots=True, eq=False)
class Ability:
    """Log factors of raters on the pool's odds of being right, shape (n_raters,), and their variance."""

    log_factor: np.ndarray
    variance: float


def rater_rows(counts: np.ndarray, pool: np.ndarray, start: Ability) -> tuple[np.ndarray, Ability]:
    """Compute rows of every rater from one number each, and that number.

    The odds of being right on each class are those of the pool times exp(r_j), r_j ~ N(0, σ²), σ² ~ inverse
    gamma(1, 1); mistakes fall as those of the pool. r_j at its mode by Newton's method, σ² by expectation-maximisation
    with the curvature as the variance of r_j.

    Parameters
    ----------
    counts : ndarray, shape (n_raters, n_classes, n_classes)
        Expected annotations: annotated class, true class.
    pool : ndarray, shape (n_classes, n_classes)
        Annotated class, true class; columns sum to 1.
    start : Ability
        Starting point.

    Returns
    -------
    rows : ndarray, shape (n_raters, n_classes, n_classes)
        As ``pool``.
    ability : Ability
    """
    n_raters, n_classes, _ = counts.shape
    if n_classes == 1:
        return np.ones(counts.shape), start
    right, n = np.einsum("jkk->j", counts), counts.sum(axis=1)
    usual = logit(np.clip(np.diag(pool), _SURE, 1 - _SURE))
    factor, variance = start.log_factor, start.variance
    for _ in range(_ABILITY_STEPS):
        rate = expit(usual + factor[:, None])
        curvature = (n * rate * (1 - rate)).sum(axis=1) + 1 / variance
        step = (right - (n * rate).sum(axis=1) - factor / variance) / curvature
        factor = factor + np.clip(step, -1.0, 1.0)
        variance = float((factor**2 + 1 / curvature).sum() + 2.0) / (n_raters + 4.0)
    rate = expit(usual + factor[:, None])
    mistakes = pool * (1 - np.eye(n_classes))
    rows = (mistakes / mistakes.sum(axis=0)) * (1 - rate)[:, None, :]
    rows[:, np.arange(n_classes), np.arange(n_classes)] = rate
    return rows, Ability(factor, variance)


def pool_rows(counts: np.ndarray, popularity: np.ndarray) -> np.ndarray:
    """Compute rows of all raters together, shrunk to a rate of being right and mistakes by popularity.

    Parameters
    ----------
    counts : ndarray, shape (n_classes, n_classes)
        Expected annotations: true class, annotated class.
    popularity : ndarray, shape (n_classes,)
        Share of each class among annotations, all above 0.
    """
    n_classes = len(counts)
    if n_classes == 1:
        return np.ones((1, 1))
    right = (np.trace(counts) + 1.0) / (counts.sum() + 2.0)
    target = np.repeat(popularity[None, :], n_classes, axis=0)
    np.fill_diagonal(target, 0.0)
    target *= (1 - right) / target.sum(axis=1, keepdims=True)
    np.fill_diagonal(target, right)
    weight = strength(counts[:, :, None], target[:, :, None])[0]
    return (counts + weight * target) / (counts.sum(axis=1, keepdims=True) + weight)


def strength(
    counts: np.ndarray, mean: np.ndarray, start: np.ndarray | None = None, most_steps: int = 100
) -> np.ndarray:
    """Estimate the weight of a common mean, in annotations, for several units, by empirical Bayes.

    Counts of a unit are Dirichlet-multinomial with parameters s · mean; s by the fixed point of Minka (2000),
    *Estimating a Dirichlet distribution*, under Gamma(2, 0.1).

    Parameters
    ----------
    counts : ndarray, shape (n_units, n_classes, n_groups)
        At least 0; need not be whole.
    mean : ndarray, shape (n_classes, n_groups) or (n_units, n_classes, n_groups)
        Sums to 1 over classes.
    start : ndarray, shape (n_groups,), optional
        Starting point.
    most_steps : int
        Each is two of the fixed point and a leap to where they lead. It ends earlier where no strength moves by more
        than 0.1%.

    Returns
    -------
    ndarray, shape (n_groups,)
    """
    n_groups = counts.shape[2]
    unit, answer, group = np.nonzero(counts > _TRACE)  # a trace of an annotation costs time and moves nothing
    n, m = counts[unit, answer, group], np.broadcast_to(mean, counts.shape)[unit, answer, group]
    total = counts.sum(axis=1)
    some, of_total = np.nonzero(total)
    total, whole = total[some, of_total], np.ones(some.size)

    def stepped(value: np.ndarray) -> np.ndarray:
        up, down = np.zeros(n_groups), np.zeros(n_groups)
        add_rises(group, n, m, value, up)
        add_rises(of_total, total, whole, value, down)
        return (value * up + _STRENGTH_SHAPE - 1) / (down + _STRENGTH_RATE)

    value = np.full(n_groups, (_STRENGTH_SHAPE - 1) / _STRENGTH_RATE) if start is None else start.copy()
    for _ in range(most_steps):
        one = stepped(value)
        new = _beyond(value, one, stepped(one))
        moved = np.abs(new - value) / value
        value = new
        if moved.max() <= _SAME_STRENGTH:
            break
    return value


def _beyond(first: np.ndarray, second: np.ndarray, third: np.ndarray) -> np.ndarray:
    """Extrapolate a sequence of three whose steps shrink by one factor (Aitken), by four times at most.

    Where the steps do not shrink, its last one.
    """
    step, less = second - first, 2 * second - first - third
    shrinks = (step * less > 0) & (np.abs(less) < np.abs(step))
    end = np.where(shrinks, first + step**2 / np.where(shrinks, less, 1.0), third)
    return np.clip(end, third / _FURTHEST, third * _FURTHEST)
