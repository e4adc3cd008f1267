"""Expectation-maximisation for models in which the truth of a case is one hidden class.

The step E is the same for all of them; the step M is the model's own, from expected counts with the pseudo-counts of
its prior added. What is maximised is the log-likelihood plus the log prior, and it never falls.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ._kernels import log_prior
from .design import UNWEIGHTED, Design
from .stopping import StoppingRule

_SHARED_CELLS, _PARTS = 50_000, 4  # from so many numbers on, raters are shared among threads


class Chart(Protocol):
    """Unbounded coordinates of a model's rater parameters around a fit; those on a bound stay fixed."""

    start: np.ndarray

    def theta(self, coordinates: np.ndarray) -> np.ndarray:
        """Return P(annotated | true) at ``coordinates``, shape (n_raters, n_classes, n_classes): annotated, true."""
        ...

    def score(self, coordinates: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Compute the derivative of Σ counts · ln θ, counts of the shape of θ."""
        ...


class Family(Protocol):
    """Family of rater parameters; arrays have axes rater, annotated class, true class."""

    @property
    def name(self) -> str:
        """Name of its method, or of its numbers of raters."""
        ...

    @property
    def one_by_one(self) -> bool:
        """True if each rater is maximised without the others; all parameters then have an axis of raters first."""
        ...

    def maximise(self, counts: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Return the θ that maximises Σ counts · ln θ within the model, and its parameters by name."""
        ...

    def chart(self, theta: np.ndarray, parameters: dict[str, np.ndarray], counts: np.ndarray) -> Chart:
        """Return coordinates around a fit.

        Parameters
        ----------
        theta : ndarray, shape (n_raters, n_classes, n_classes)
            Rater, annotated class, true class.
        parameters : dict of str to ndarray
            Those of the fit, by name.
        counts : ndarray, shape as ``theta``
            Expected annotations.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Prior:
    """Pseudo-counts.

    Attributes
    ----------
    cases : ndarray, shape (n_classes,)
    answers : ndarray, shape (n_classes, n_classes) or (n_raters, n_classes, n_classes)
        Annotated class, true class; of every rater or of each.
    """

    cases: np.ndarray
    answers: np.ndarray

    def log_density(self, point: "Point") -> float:
        """Compute the log prior up to a constant; 0 · ln 0 = 0."""
        shape = -1, point.log_prevalence.size, point.log_prevalence.size
        found = log_prior(*(np.ascontiguousarray(part).reshape(shape) for part in (self.answers, point.log_theta)))
        some = self.cases > 0
        return found + float((self.cases[some] * point.log_prevalence[some]).sum())

    def drawn(self, rng: np.random.Generator, n_raters: int) -> "Prior":
        """Draw random pseudo-counts around these, with weights from Exp(1) for single pseudo-annotations."""
        every = np.broadcast_to(self.answers, (n_raters, *self.answers.shape[-2:]))
        return Prior(rng.standard_gamma(self.cases), rng.standard_gamma(every))


def no_prior(n_classes: int) -> Prior:
    """Return the empty prior of maximum likelihood."""
    return Prior(np.zeros(n_classes), np.zeros((n_classes, n_classes)))


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """State of a climb: ln π, (n_classes,), and ln θ, (n_raters * n_classes annotated, n_classes)."""

    log_prevalence: np.ndarray
    log_theta: np.ndarray
    parameters: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Summit:
    """End of a climb.

    Attributes
    ----------
    point : Point
    log_likelihood : float
    objective : list of float
        By iteration.
    converged : bool
    cases_of : ndarray, shape (n_classes,)
        Expected cases of each class.
    counts : ndarray, shape (n_raters * n_classes, n_classes)
        Expected annotations by (rater and annotation, true class).
    posterior : ndarray, shape (n_cases, n_classes)
        See `core.models.design.Design.room_for_posterior`.
    """

    point: Point
    log_likelihood: float
    objective: list[float]
    converged: bool
    cases_of: np.ndarray
    counts: np.ndarray
    posterior: np.ndarray


def expect(
    data: Design,
    point: Point,
    posterior: np.ndarray | None = None,
    weight: np.ndarray = UNWEIGHTED,
    token: CancelToken | None = None,
) -> tuple[float, np.ndarray, np.ndarray]:
    """Compute log-likelihood, expected cases by class, and annotations by (cell, class); fills ``posterior``.

    Parameters
    ----------
    data : Design
    point : Point
    posterior : ndarray of float64, shape (n_cases, n_classes), optional
        Filled with the class probabilities.
    weight : ndarray of float64, shape (n_cases,), optional
        Weight of each case; 1 by default.
    token : CancelToken, optional
    """
    return data.expected(point.log_theta, point.log_prevalence, posterior, weight, token)


def maximise(family: Family, prior: Prior, cases_of: np.ndarray, counts: np.ndarray) -> Point:
    """Run the M step.

    Parameters
    ----------
    family : Family
    prior : Prior
    cases_of : ndarray, shape (n_classes,)
        Expected cases of each class.
    counts : ndarray, shape (n_raters * n_classes, n_classes)
        Expected annotations by (rater and annotation, true class).
    """
    n_classes = cases_of.size
    mass = cases_of + prior.cases
    by_rater = counts.reshape(-1, n_classes, n_classes)
    log_theta = np.empty(by_rater.shape)

    def one(part: tuple[int, int]) -> dict[str, np.ndarray]:
        raters = slice(*part)
        answers = prior.answers if prior.answers.ndim == 2 else prior.answers[raters]
        theta, parameters = family.maximise(by_rater[raters] + answers)
        with np.errstate(divide="ignore"):
            np.log(theta, out=log_theta[raters])
        return parameters

    if family.one_by_one and counts.size >= _SHARED_CELLS:
        found = list(map_chunks(one, chunk_ranges(len(by_rater), max(1, -(-len(by_rater) // _PARTS)))))
        parameters = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
    else:  # most climbs are of small data, where sharing costs more than the step
        parameters = one((0, len(by_rater)))
    with np.errstate(divide="ignore"):
        return Point(np.log(mass / mass.sum()), log_theta.reshape(-1, n_classes), parameters)


def climb(
    data: Design,
    family: Family,
    prior: Prior,
    start: np.ndarray | Point,
    stopping: StoppingRule,
    *,
    weight: np.ndarray = UNWEIGHTED,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Summit:
    """Run EM until the stopping rule is satisfied.

    Parameters
    ----------
    data : Design
    family : Family
    prior : Prior
    start : ndarray, shape (n_cases, n_classes), or Point
        Class probabilities, or parameters.
    stopping : StoppingRule
    weight : ndarray, shape (n_cases,), optional
        Weight of a case.
    token, progress
        See `core.runtime.chunks.map_chunks`.
    """
    if isinstance(start, Point):
        _, cases_of, counts = expect(data, start, weight=weight, token=token)
    else:
        cases_of, counts = data.counted(start)
    objective: list[float] = []
    converged = False
    for iteration in range(stopping.max_iterations):
        point = maximise(family, prior, cases_of, counts)
        log_likelihood, cases_of, counts = expect(data, point, weight=weight, token=token)
        objective.append(log_likelihood + prior.log_density(point))
        if progress is not None:
            progress((iteration + 1) / stopping.max_iterations)
        if len(objective) > 1 and stopping.satisfied(objective[-2], objective[-1]):
            converged = True
            break
    posterior = data.room_for_posterior()
    log_likelihood, cases_of, counts = expect(data, point, posterior if len(posterior) else None, weight, token)
    return Summit(point, log_likelihood, objective, converged, cases_of, counts, posterior)
