"""Dawid & Skene (1979): a confusion matrix for every rater, by expectation-maximisation.

``z_i ~ Cat(π)``, ``y_n ~ Cat(θ[rater n, z of case n])``. The Stan user's guide, section 7.4, prints ``θ_{j, π_z[i]}``;
the index is the case's true class, ``θ_{j, z[i]}``. DOI of the original: 10.2307/2346806.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from core.annotations.counts import class_counts
from core.annotations.dataset import Dataset
from core.chunks import CancelToken, chunk_ranges, map_chunks
from core.errors import NotApplicableError
from core.models._kernels import count_from, expect_and_count, vote_shares
from core.models.majority import cells, normalised
from core.models.result import RaterModelFit
from core.models.sizes import check_size

Smoothing = Literal["none", "diagonal", "pooled"]
POOL_STRENGTH = 10.0
CHUNK_CASES = 65_536
_CHUNKED_TABLE = 2_000_000
_NEVER = 1e-100


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When to stop: the objective grows by less than ``tolerance`` of its size, or after ``max_iterations``."""

    max_iterations: int = 2000
    tolerance: float = 1e-10

    def satisfied(self, before: float, now: float) -> bool:
        """Whether the last step was small enough."""
        return now - before <= self.tolerance * (1.0 + abs(now))


@dataclass(frozen=True, slots=True)
class Restarts:
    """What random starts found, aligned to the vote start.

    Attributes
    ----------
    best : RaterModelFit
        The fit with the highest objective among the random starts and the vote start.
    objectives : tuple of float
        Final objective of each random start.
    differs : bool
        True where a random start beats the vote start: the likelihood has more than one mode.
    n_changed : int
        Cases whose most probable class is another one in the best fit.
    """

    best: RaterModelFit
    objectives: tuple[float, ...]
    differs: bool
    n_changed: int


@dataclass(frozen=True, slots=True)
class DawidSkene:
    """Dawid-Skene by EM in log space.

    Parameters
    ----------
    smoothing : {"none", "diagonal", "pooled"}, optional
        "none" is maximum likelihood. "diagonal" is the posterior mode under Dirichlet(3) on the prevalence and
        Dirichlet rows with 2.5 K on the diagonal and 1 off it. "pooled" adds 10 pseudo-annotations per rater and true
        class, spread like the confusion matrix of all raters taken as one. Not given: "none" where the median rater has
        at least 10 K annotations, else "pooled".
    stopping : StoppingRule
    """

    smoothing: Smoothing | None = None
    stopping: StoppingRule = StoppingRule()

    def fit(
        self,
        dataset: Dataset,
        *,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> RaterModelFit:
        """The fit from the soft vote shares (ties split, never to the lowest class).

        Raises
        ------
        NotApplicableError
            The answers are not single classes, are anonymous, or every case has at most one.
        LimitError
            The tables would not fit.
        """
        problem = _Problem(dataset, self._smoothing_for(dataset), token)
        fit = problem.maximise(problem.vote, self.stopping, progress)
        return replace(fit, settings={**fit.settings, "start": "vote"})

    def restarts(
        self,
        dataset: Dataset,
        fit: RaterModelFit,
        n_restarts: int,
        *,
        seed: int = 0,
        token: CancelToken | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> Restarts:
        """Random starts, each aligned to the vote start's classes, run to the end and compared by the objective.

        Parameters
        ----------
        fit : RaterModelFit
            The vote start's fit of the same data.
        n_restarts : int
        seed : int
        """
        problem = _Problem(dataset, self._smoothing_for(dataset), token)

        def one(number: int) -> RaterModelFit:
            rng = np.random.default_rng([seed, number])
            start = rng.dirichlet(np.ones(dataset.n_classes), size=dataset.n_cases)
            # A start between the votes and noise reaches other modes without mixing up the classes altogether.
            mixed = rng.uniform() * problem.vote
            found = problem.maximise(mixed + (1 - mixed.sum(axis=1, keepdims=True)) * start, self.stopping)
            order = _alignment(fit.class_probability, found.class_probability)
            if (order != np.arange(dataset.n_classes)).any():
                found = problem.maximise(np.ascontiguousarray(found.class_probability[:, order]), self.stopping)
            return replace(found, settings={**found.settings, "start": f"restart {number + 1} of {n_restarts}"})

        best, objectives = fit, []
        for found in map_chunks(one, list(range(n_restarts)), token=token, progress=progress):
            objectives.append(found.objective[-1])
            if found.objective[-1] > best.objective[-1] + 1e-6 * (1 + abs(best.objective[-1])):
                best = found
        n_changed = int((best.class_probability.argmax(1) != fit.class_probability.argmax(1)).sum())
        return Restarts(best, tuple(objectives), best is not fit, n_changed)

    def _smoothing_for(self, dataset: Dataset) -> Smoothing:
        return self.smoothing or default_smoothing(dataset)


def default_smoothing(dataset: Dataset) -> Smoothing:
    """No smoothing where the median rater has at least 10 K annotations, else the pool."""
    per_rater = np.bincount(dataset.rater, minlength=dataset.n_raters)
    return "none" if np.median(per_rater) >= 10 * dataset.n_classes else "pooled"


class _Problem:
    """One dataset made ready for EM: cells, votes, and the pseudo-counts of the prior."""

    def __init__(self, dataset: Dataset, smoothing: Smoothing, token: CancelToken | None):
        check_size("Dawid-Skene", dataset)
        if not dataset.raters_identified:
            raise NotApplicableError("The answers are anonymous, so the accuracy of a rater cannot be estimated.")
        if dataset.n_annotations == 0 or np.diff(dataset.case_ptr).max() < 2:
            raise NotApplicableError(
                "Not estimable: no case has two annotations, so accuracy and truth cannot be told apart."
            )
        self.dataset, self.smoothing, self.token = dataset, smoothing, token
        counts = class_counts(dataset)
        self.vote = vote_shares(counts.ptr, counts.class_code, counts.count, dataset.n_classes)
        n_classes = dataset.n_classes
        self.cell = cells(dataset)
        self.n_cells = dataset.n_raters * n_classes
        self.prevalence_prior = 2.0 if smoothing == "diagonal" else 0.0
        self.theta_prior = np.zeros((n_classes, n_classes))  # axes: answered class, true class, as in the kernel
        if smoothing == "diagonal":
            np.fill_diagonal(self.theta_prior, 2.5 * n_classes - 1)
        elif smoothing == "pooled":
            self.theta_prior = POOL_STRENGTH * self._pool()
        size = CHUNK_CASES if self.n_cells * n_classes <= _CHUNKED_TABLE else max(1, dataset.n_cases)
        self.chunks = chunk_ranges(dataset.n_cases, size)

    def _pool(self) -> np.ndarray:
        one_rater = replace(self.dataset, raters=("all",), rater=np.zeros_like(self.dataset.rater))
        fit = _Problem(one_rater, "none", self.token).maximise(self.vote, StoppingRule(200, 1e-8))
        pool = np.ascontiguousarray(fit.confusion[0].T)
        pool[pool < _NEVER] = 0.0  # dying cells of the pool would underflow to 0 · ln 0 in the penalty
        return pool

    def maximise(
        self, start: np.ndarray, stopping: StoppingRule, progress: Callable[[float], None] | None = None
    ) -> RaterModelFit:
        """EM from given class probabilities, shape (n_cases, n_classes), until the stopping rule is satisfied."""
        n_classes = self.dataset.n_classes
        posterior = np.empty((self.dataset.n_cases, n_classes))
        cases_of, counts = count_from(self.dataset.case_ptr, self.cell, start, self.n_cells)
        objective: list[float] = []
        converged = False
        for iteration in range(stopping.max_iterations):
            log_prevalence, log_theta = self._maximisation(cases_of, counts)
            log_likelihood, cases_of, counts = self._expectation(log_prevalence, log_theta, posterior, keep=False)
            objective.append(log_likelihood + self._log_prior(log_prevalence, log_theta))
            if progress is not None:
                progress((iteration + 1) / stopping.max_iterations)
            if len(objective) > 1 and stopping.satisfied(objective[-2], objective[-1]):
                converged = True
                break
        log_likelihood, cases_of, counts = self._expectation(log_prevalence, log_theta, posterior, keep=True)
        confusion = np.exp(log_theta).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
        _, evidence = normalised(counts, self.dataset)
        prevalence = np.exp(log_prevalence)
        return RaterModelFit(
            model="dawid-skene",
            method="em",
            cases=self.dataset.cases,
            raters=self.dataset.raters,
            classes=self.dataset.classes,
            prevalence=prevalence,
            confusion=np.ascontiguousarray(confusion),
            evidence=evidence,
            class_probability=posterior,
            n_annotations=np.bincount(self.dataset.rater, minlength=self.dataset.n_raters),
            log_likelihood=log_likelihood,
            objective=tuple(objective),
            converged=converged,
            settings={"smoothing": self.smoothing, "max_iterations": stopping.max_iterations},
            notes=_remarks(prevalence, confusion, converged),
        )

    def _expectation(
        self, log_prevalence: np.ndarray, log_theta: np.ndarray, posterior: np.ndarray, keep: bool
    ) -> tuple[float, np.ndarray, np.ndarray]:
        total, cases_of, counts = 0.0, np.zeros(log_prevalence.size), np.zeros(log_theta.shape)

        def one(chunk: tuple[int, int]):
            return expect_and_count(
                self.dataset.case_ptr, self.cell, log_theta, log_prevalence, *chunk, posterior, keep
            )

        for part in map_chunks(one, self.chunks, token=self.token):
            total += part[0]
            cases_of += part[1]
            counts += part[2]
        return total, cases_of, counts

    def _maximisation(self, cases_of: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        n_classes = cases_of.size
        mass = cases_of + self.prevalence_prior
        by_rater = counts.reshape(-1, n_classes, n_classes) + self.theta_prior
        total = by_rater.sum(axis=1, keepdims=True)
        theta = np.full(by_rater.shape, 1.0 / n_classes)
        np.divide(by_rater, total, out=theta, where=total > 0)
        with np.errstate(divide="ignore"):
            return np.log(mass / mass.sum()), np.log(theta).reshape(-1, n_classes)

    def _log_prior(self, log_prevalence: np.ndarray, log_theta: np.ndarray) -> float:
        value = 0.0
        if self.prevalence_prior:
            value += self.prevalence_prior * float(log_prevalence.sum())
        used = self.theta_prior > 0  # 0 · ln 0 = 0
        if used.any():
            n_classes = log_prevalence.size
            by_rater = log_theta.reshape(-1, n_classes, n_classes)
            value += float((self.theta_prior[used] * by_rater[:, used]).sum())
        return value


def _alignment(reference: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Order of ``other``'s classes that agrees best with ``reference``."""
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(reference.T @ other, maximize=True)[1]


def _remarks(prevalence: np.ndarray, confusion: np.ndarray, converged: bool) -> tuple[str, ...]:
    remarks = []
    if not converged:
        remarks.append("Not converged: the numbers may still move. Allow more iterations.")
    if len(prevalence) > 1:
        accuracy = np.einsum("jkk,k->j", confusion, prevalence)
        if float(np.median(accuracy)) < 1 / len(prevalence):
            remarks.append("The typical rater is worse than chance in this fit: the classes may have changed places.")
    return tuple(remarks)
