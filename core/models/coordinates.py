"""All parameters of a fit on one line without bounds, and what becomes of the fit along it."""

import numpy as np

from .em import Point, expect
from .em_model import Problem
from .reparametrise import SimplexRows
from .result import RaterModelFit
from .tempering import point_of

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
        """Prevalence, shape (n_classes,), and confusion matrices, shape (n_raters, n_classes, n_classes)."""
        prevalence = self._prevalence.at(coordinates[: self._split])[0]
        return prevalence, self._chart.theta(coordinates[self._split :]).transpose(0, 2, 1)

    def point(self, coordinates: np.ndarray) -> Point:
        """The parameters there as the step E takes them."""
        prevalence, confusion = self.tables(coordinates)
        with np.errstate(divide="ignore"):
            log_theta = np.log(confusion.transpose(0, 2, 1)).reshape(-1, prevalence.size)
            return Point(np.log(prevalence), np.ascontiguousarray(log_theta))

    def score(self, coordinates: np.ndarray) -> np.ndarray:
        """Derivative of the log-likelihood and log prior, by Fisher's identity from one step E."""
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
        """Of the score, the prevalence and the confusion matrices by one coordinate: central differences."""
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
