"""Precision of the parameters of a fit by expectation-maximisation.

All parameters of a fit are on one line without bounds (`Coordinates`). Standard errors come from the observed
information, minus the second derivative of what was maximised: the score comes from the step E (Fisher's identity) and
is differentiated numerically; Louis (1982) takes the same matrix apart analytically. Errors of other quantities follow
by the delta method. Or they come from refits to resampled cases, each climbing from the fit and aligned to it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..options import check_level, check_whole
from ..runtime.chunks import CancelToken, map_chunks
from .em import Point, climb, expect
from .em_model import EmModel, Problem
from .reparametrise import SimplexRows, expit, logit
from .restarts import alignment
from .result import RaterModelFit, Spread, Uncertainty, right_in_all
from .stopping import StoppingRule
from .tempering import point_of, tempered_posterior

_STEP = 1e-4


class Coordinates:
    """Coordinates of prevalence and raters around a fit.

    Attributes
    ----------
    start : ndarray, shape (n_parameters,)
        The fit itself.
    moved : tuple of ndarray of bool
        Which prevalences, shape (n_classes,), and entries of confusion matrices, shape (n_raters, n_classes,
        n_classes), any coordinate moves; the others stand on a bound or have no evidence.
    row_mass : ndarray, shape (n_raters, n_classes)
        Annotations behind each row of a confusion matrix, one whose case is of class k with probability q counting
        q², with the pseudo-counts of the prior.
    """

    def __init__(self, problem: Problem, fit: RaterModelFit):
        self._problem = problem
        point = point_of(fit)
        n_classes = len(fit.classes)
        _, cases_of, counts = expect(problem.data, point)
        by_rater = counts.reshape(-1, n_classes, n_classes) + problem.prior.answers
        theta = fit.confusion.transpose(0, 2, 1)
        self._prevalence = SimplexRows(fit.prevalence[None], (cases_of + problem.prior.cases)[None])
        self._chart = problem.family.chart(theta, fit.parameters, by_rater)
        self._split = self._prevalence.start.size
        self.start = np.concatenate([self._prevalence.start, self._chart.start])
        aside = self.start + np.random.default_rng(0).uniform(0.5, 1, self.start.size)
        here, there = self.tables(self.start), self.tables(aside)
        self.moved = (here[0] != there[0], here[1] != there[1])
        self.row_mass = self._certain_rows(fit) + problem.prior.answers.sum(axis=-2)

    def tables(self, coordinates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return prevalence, shape (n_classes,), and confusion matrices, shape (n_raters, n_classes, n_classes)."""
        prevalence = self._prevalence.at(coordinates[: self._split])[0]
        return prevalence, self._chart.theta(coordinates[self._split :]).transpose(0, 2, 1)

    @property
    def chart(self) -> Any:
        """The raters' coordinates, as the family of the model has them."""
        return self._chart

    def of_raters(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the part of the coordinates that belongs to raters."""
        return coordinates[self._split :]

    def point(self, coordinates: np.ndarray) -> Point:
        """Return the parameters in the form of the E step."""
        prevalence, confusion = self.tables(coordinates)
        with np.errstate(divide="ignore"):
            log_theta = np.log(confusion.transpose(0, 2, 1)).reshape(-1, prevalence.size)
            return Point(np.log(prevalence), np.ascontiguousarray(log_theta))

    def score(self, coordinates: np.ndarray) -> np.ndarray:
        """Compute the derivative of the log-likelihood and log prior, by Fisher's identity from one E step."""
        _, cases_of, counts = expect(self._problem.data, self.point(coordinates))
        prior, n_classes = self._problem.prior, cases_of.size
        prevalence = self._prevalence.at(coordinates[: self._split])
        by_rater = counts.reshape(-1, n_classes, n_classes) + prior.answers
        return np.concatenate(
            [
                self._prevalence.score(prevalence, (cases_of + prior.cases)[None]),
                self._chart.score(coordinates[self._split :], by_rater),
            ]
        )

    def derivatives(self, place: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Differentiate the score, the prevalence and the confusion matrices by one coordinate: central differences."""
        ends = []
        for sign in (1, -1):
            at = self.start.copy()
            at[place] += sign * _STEP
            ends.append((self.score(at), *self.tables(at)))
        return tuple((up - down) / (2 * _STEP) for up, down in zip(*ends, strict=True))

    def _certain_rows(self, fit: RaterModelFit) -> np.ndarray:
        data = self._problem.data.dataset
        mass = np.zeros((data.n_raters, data.n_classes))
        squared = fit.class_probability**2
        for k in range(data.n_classes):
            mass[:, k] = np.bincount(data.rater, squared[data.case_of_annotation, k], data.n_raters)
        return mass


# Information on a logit below this is a standard error above 30: nothing is known of that direction.
_NOTHING = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Errors:
    """Standard errors, NaN if unknown, and parameter draws.

    Attributes
    ----------
    prevalence : ndarray, shape (n_classes,)
    accuracy : ndarray, shape (n_raters,)
    confusion : ndarray, shape (n_raters, n_classes, n_classes)
    """

    prevalence: np.ndarray
    accuracy: np.ndarray
    confusion: np.ndarray


def information_errors(
    at: Coordinates,
    n_draws: int,
    seed: int,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Errors, np.ndarray]:
    """Compute errors by the delta method, and normal draws of the coordinates, shape (n_draws, n_parameters).

    Parameters
    ----------
    at : Coordinates
        Coordinates of the fit.
    n_draws, seed : int
        Number and seed of the normal draws.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    NotApplicableError
        The fit is not a maximum.
    """
    n = at.start.size
    prevalence, confusion = at.tables(at.start)
    by_prevalence, by_confusion = np.zeros((n, prevalence.size)), np.zeros((n, confusion.size))
    curvature = np.zeros((n, n))
    columns = map_chunks(at.derivatives, list(range(n)), token=token, progress=progress)
    for place, (of_score, of_prevalence, of_confusion) in enumerate(columns):
        curvature[place], by_prevalence[place], by_confusion[place] = of_score, of_prevalence, of_confusion.ravel()
    information, directions = np.linalg.eigh(-(curvature + curvature.T) / 2)
    if n and information[0] < -max(10 * _NOTHING, 1e-6 * information[-1]):
        raise NotApplicableError("Could not determine precision: the fit is not at a maximum.")
    known = information > _NOTHING
    diagonal = np.einsum("pjkk->pjk", by_confusion.reshape(n, *confusion.shape))
    by_accuracy = diagonal @ prevalence + by_prevalence @ np.einsum("jkk->kj", confusion)

    def error(by: np.ndarray) -> np.ndarray:
        along = directions.T @ by
        variance = (along[known] ** 2 / information[known, None]).sum(axis=0)
        lost = (np.abs(along[~known]) > 1e-4).any(axis=0)
        return np.where(lost, np.nan, np.sqrt(variance))

    found = Errors(error(by_prevalence), error(by_accuracy), error(by_confusion).reshape(confusion.shape))
    # the symmetric root, which depends neither on the signs of directions nor on their choice among equals
    root = (directions[:, known] / np.sqrt(information[known])) @ directions[:, known].T
    return found, at.start + np.random.default_rng(seed).standard_normal((n_draws, n)) @ root


_REFIT = StoppingRule(500, 1e-9)
_STREAM = 1994  # apart from data that somebody simulated by the same seed: weights drawn alike would follow the truth


def bootstrap_errors(
    problem: Problem,
    fit: RaterModelFit,
    n_replicates: int,
    seed: int,
    keep: bool,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Errors, list[np.ndarray]]:
    """Compute standard deviations over replicates and, if ``keep``, the class probabilities of every case under each.

    Cases with an annotation are drawn with replacement, and pseudo-annotations of a prior weighted at random: otherwise
    a fit that leans on its prior would look the more precise for it. With weights from Exp(1) on cases too this is
    the weighted likelihood bootstrap of Newton & Raftery (1994), whose spread is that of a posterior. A row that a
    replicate has no evidence for stays at the fit.

    Parameters
    ----------
    problem : Problem
        Fitted data.
    fit : RaterModelFit
    n_replicates : int
        2 or more.
    seed : int
    keep : bool
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Errors, list of ndarray of float32, each of shape (n_cases, n_classes))
        The list is empty if nothing is kept.
    """
    start = point_of(fit)

    def one(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        return _refit(problem, fit, start, np.random.default_rng([_STREAM, seed, number]), keep)

    sums: list[tuple[np.ndarray, np.ndarray]] = []
    posteriors: list[np.ndarray] = []
    # Sums of deviations from the fit, so that nothing cancels and no replicate need be kept.
    centre = (fit.prevalence, fit.accuracy(), fit.confusion)
    for found in map_chunks(one, list(range(n_replicates)), token=token, progress=progress):
        away = [value - at for value, at in zip(found[:3], centre, strict=True)]
        new = [(value, value**2) for value in away]
        sums = new if not sums else [(a + c, b + d) for (a, b), (c, d) in zip(sums, new, strict=True)]
        if found[3] is not None:
            posteriors.append(found[3])
    n = n_replicates
    errors = [np.sqrt(np.maximum(square - total**2 / n, 0) / (n - 1)) for total, square in sums]
    return Errors(*errors), posteriors


def _refit(
    problem: Problem, fit: RaterModelFit, start: Point, rng: np.random.Generator, keep: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Fit one replicate: prevalence, accuracy and confusion, aligned to the fit and, if ``keep``, P(class) of cases."""
    data, n_classes = problem.data, len(fit.classes)
    rated = np.diff(data.dataset.case_ptr) > 0
    weight = np.zeros(rated.size)
    weight[rated] = rng.multinomial(int(rated.sum()), np.full(int(rated.sum()), 1 / rated.sum()))
    prior = problem.prior.drawn(rng, data.dataset.n_raters)
    top = climb(data, problem.family, prior, start, _REFIT, weight=weight)
    prevalence = np.exp(top.point.log_prevalence)
    confusion = np.exp(top.point.log_theta).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
    order = alignment(fit.class_probability, top.posterior)
    evidence = top.counts.reshape(-1, n_classes, n_classes).sum(axis=1)[:, order]
    prevalence, confusion = prevalence[order], confusion[:, order]
    unseen = (evidence <= 1e-9) & (problem.prior.answers.sum() == 0)
    confusion = np.where(unseen[:, :, None], fit.confusion, confusion)
    posterior = problem.posterior(top)[:, order].astype(np.float32) if keep else None
    return prevalence, right_in_all(prevalence, confusion), confusion, posterior


Method = Literal["observed information", "case bootstrap"]
MOST_PARAMETERS = 600
MOST_KEPT = 20_000_000
N_REPLICATES = 200
_SMOOTHED = (
    "The pseudo-annotations of smoothing count as evidence here, so intervals are too narrow for raters who have few "
    "annotations and differ from the others."
)


def precision_of(
    model: EmModel,
    dataset: Dataset,
    fit: RaterModelFit,
    *,
    method: Method | None = None,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Uncertainty:
    """Compute standard errors and intervals of a fit of ``dataset`` by ``model``.

    Intervals are normal on the logit scale. A probability on its bound (less than half an annotation expected) has
    Wilson's interval on the evidence of its row, where an annotation whose case is of that class with probability q
    counts q²; if the truth is far from the bound, that interval is too short. Intervals are around what is estimated:
    under smoothing that is the smoothed value, and at a mode that mode.

    Parameters
    ----------
    model : EmModel
    dataset : Dataset
    fit : RaterModelFit
    method : {"observed information", "case bootstrap"}, optional
        Not given: the information up to `MOST_PARAMETERS` parameters where the fit is a maximum, else the bootstrap.
    level : float
        Confidence level of the intervals, 0 to 1.
    n_replicates, seed : int
        Number and seed of bootstrap replicates, or of parameter draws for class probabilities by the information.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The method is "observed information" and the fit is not a maximum; or as `EmModel.fit`.
    InputError
        The level, the method or the number of replicates is out of range.
    """
    _check(method, level, n_replicates)
    problem = model.problem(dataset, token)
    at = Coordinates(problem, fit)
    how, errors, posteriors, notes = _errors(problem, fit, at, method, n_replicates, seed, token, progress)
    return Uncertainty(
        how,
        level,
        *_spreads(at, fit, errors, int((np.diff(dataset.case_ptr) > 0).sum()), level),
        _quantiles(posteriors, level) if posteriors else None,
        n_replicates,
        seed,
        (*_notes(problem, fit), *notes),
    )


def _errors(
    problem: Problem,
    fit: RaterModelFit,
    at: Coordinates,
    method: Method | None,
    n_replicates: int,
    seed: int,
    token: CancelToken | None,
    progress: Callable[[float], None] | None,
) -> tuple[str, Errors, list[np.ndarray], tuple[str, ...]]:
    """Return the method, its errors and class probabilities, and why it differs from the first one tried."""
    keep = fit.class_probability.size * n_replicates <= MOST_KEPT
    notes: tuple[str, ...] = ()
    if method == "observed information" or (method is None and at.start.size <= MOST_PARAMETERS):
        try:
            errors, draws = information_errors(at, n_replicates, seed, token, progress)
            return "observed information", errors, _posteriors(problem, at, draws) if keep else [], notes
        except NotApplicableError as error:
            if method is not None:
                raise
            notes = (f"{error} The bootstrap was used instead.",)
    return "case bootstrap", *bootstrap_errors(problem, fit, n_replicates, seed, keep, token, progress), notes


def _check(method: str | None, level: float, n_replicates: int) -> None:
    check_level(level)
    if method not in (None, "observed information", "case bootstrap"):
        raise InputError(f"Unknown method {method!r}.", "Use “observed information” or “case bootstrap”.")
    check_whole(n_replicates, "The number of replicates", 20)


def _notes(problem: Problem, fit: RaterModelFit) -> tuple[str, ...]:
    notes = () if fit.converged else ("The fit has not converged, so its precision is unknown.",)
    if problem.prior.answers.any():
        return (*notes, _SMOOTHED)
    return notes


def _spreads(
    at: Coordinates, fit: RaterModelFit, errors: Errors, n_rated: int, level: float
) -> tuple[Spread, Spread, Spread]:
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    moved_prevalence, moved = at.moved
    mass = np.broadcast_to(at.row_mass[:, :, None], fit.confusion.shape)
    cases = np.full(len(fit.classes), float(n_rated))
    prevalence = _intervals(fit.prevalence, errors.prevalence, moved_prevalence, cases, z)
    confusion = _intervals(fit.confusion, errors.confusion, moved, mass, z)
    # What stands on a bound adds the variance of its Wilson interval to the accuracy.
    fixed = ~np.einsum("jkk->jk", moved)
    added = np.where(fixed, (np.einsum("jkk->jk", confusion.sd) * fit.prevalence) ** 2, 0)
    added[:, fit.prevalence < 1e-12] = 0
    sd = np.sqrt(errors.accuracy**2 + added.sum(axis=1))
    accuracy = fit.accuracy()
    inside = (accuracy > 1e-9) & (accuracy < 1 - 1e-9)
    effective = at.row_mass.sum(axis=1)
    return prevalence, _intervals(accuracy, sd, inside, effective, z), confusion


def _intervals(p: np.ndarray, sd: np.ndarray, moved: np.ndarray, n: np.ndarray, z: float) -> Spread:
    """Compute intervals: normal on the logit scale if a parameter moves ``p``, else Wilson's on ``n``, or NaN."""
    inside = moved & (p > 0) & (p < 1)
    unknown = inside & np.isnan(sd)
    safe = np.where(inside, p, 0.5)
    half = z * np.where(inside & ~unknown, sd, 0) / (safe * (1 - safe))
    low, high = expit(logit(safe) - half), expit(logit(safe) + half)
    seen = np.where(n > 1e-9, n, np.nan)
    centre = (p + z * z / (2 * seen)) / (1 + z * z / seen)
    width = z * np.sqrt(p * (1 - p) / seen + z * z / (4 * seen * seen)) / (1 + z * z / seen)
    low, high = (np.where(unknown, np.nan, end) for end in (low, high))
    return Spread(
        np.where(inside, sd, np.sqrt(centre * (1 - centre) / (seen + z * z))),
        np.where(inside, low, np.clip(centre - width, 0, None)),
        np.where(inside, high, np.clip(centre + width, None, 1)),
    )


def _posteriors(problem: Problem, at: Coordinates, draws: np.ndarray) -> list[np.ndarray]:
    return [
        tempered_posterior(problem.data, at.point(coordinates), *problem.shown_at).astype(np.float32)
        for coordinates in draws
    ]


def _quantiles(posteriors: list[np.ndarray], level: float) -> Spread:
    every = np.array(posteriors)
    low, high = np.quantile(every, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Spread(every.std(axis=0, ddof=1, dtype=np.float64), low.astype(np.float64), high.astype(np.float64))
