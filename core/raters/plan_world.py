"""Simulation of further annotations: the next cases, the outcome of a plan in one world, and its estimates."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..agreement.probability import spa
from ..annotations.counts import ClassCounts, rater_case_pairs
from ..annotations.dataset import Dataset
from ..certainty.first_place import first_place
from ..certainty.next_opinion import next_opinion
from ..models.dawid_skene import FullRows
from ..models.design import Design, design
from ..models.em import Point, Prior, climb, no_prior
from ..models.majority import cells
from ..models.reparametrise import expit, logit
from ..models.result import RaterModelFit
from ..models.smoothing import POOL_STRENGTH
from ..models.stopping import StoppingRule
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.learned_counts import learned_counts
from ._accuracy_kernels import likelihood_grids
from ._planning_kernels import ask
from .accuracy import N_POINTS, cell_edges, even_mass, quantile
from .leave_one_rater_out import spread_of

POLICIES = ("random", "least_certain", "largest_gain", "new_cases")


@dataclass(frozen=True, slots=True, eq=False)
class CountsCache:
    """Cache of certainty and gain of cases by their counts, under Dirichlet counts.

    Attributes
    ----------
    n_classes : int
    reliability : float
    alpha : float
    """

    n_classes: int
    reliability: float
    alpha: float = DirichletCounts().alpha
    _certainty: dict[bytes, float] = field(default_factory=dict)
    _gain: dict[bytes, float] = field(default_factory=dict)

    def certainty(self, counts: np.ndarray) -> np.ndarray:
        """Return the probability of the most plausible class of each case, counts of shape (n_cases, n_classes)."""

        def of(patterns: np.ndarray) -> list[float]:
            found = []
            for pattern in patterns:
                named = pattern[pattern > 0]
                n_rest = self.n_classes - named.size
                found.append(float(first_place(self.reliability * named + self.alpha, self.alpha, n_rest).max()))
            return found

        return self._look_up(counts, self._certainty, of)

    def gain(self, counts: np.ndarray) -> np.ndarray:
        """Return how much more often a choice with one more opinion is correct, by case."""

        def of(patterns: np.ndarray) -> list[float]:
            cases = np.repeat(np.arange(len(patterns)), patterns.sum(axis=1))
            answer = np.concatenate([np.repeat(np.arange(self.n_classes), pattern) for pattern in patterns])
            names = [str(i) for i in range(len(patterns))], ["one"], [str(k) for k in range(self.n_classes)]
            every = Dataset.from_classes("patterns", *names, cases, np.zeros(cases.size, np.int32), answer)
            return next_opinion(DirichletCounts(self.alpha), every, reliability=self.reliability).gain.tolist()

        return self._look_up(counts, self._gain, of)

    def _look_up(self, counts: np.ndarray, known: dict[bytes, float], of) -> np.ndarray:
        # The order of classes does not matter, so cases with equal sorted counts are equal.
        patterns, place = np.unique(-np.sort(-counts, axis=1), axis=0, return_inverse=True)
        keys = [pattern.tobytes() for pattern in patterns]
        missing = [i for i, key in enumerate(keys) if key not in known]
        if missing:
            known.update(zip((keys[i] for i in missing), of(patterns[missing]), strict=True))
        return np.array([known[key] for key in keys])[place.ravel()]


def counts_cache(dataset: Dataset, reliability: float) -> CountsCache:
    """Return an empty cache with the prior that pages learn from the same data."""
    return CountsCache(dataset.n_classes, reliability, learned_counts(dataset).model.alpha)


def next_cases(
    policy: str, counts: np.ndarray, open_cases: np.ndarray, n: int, patterns: CountsCache, rng: np.random.Generator
) -> np.ndarray:
    """Choose the next ``n`` cases (fewer if fewer are open), in order; ties in random order.

    Parameters
    ----------
    policy : str
        One of `POLICIES` except "new_cases".
    counts : ndarray of int, shape (n_cases, n_classes)
    open_cases : ndarray of int
        Positions of the cases that a rater can still annotate.
    n : int
    patterns : CountsCache
    rng : numpy.random.Generator
        Generator that orders ties.
    """
    shuffled = rng.permutation(open_cases)
    if policy == "least_certain":
        shuffled = shuffled[np.argsort(patterns.certainty(counts[shuffled]), kind="stable")]
    elif policy == "largest_gain":
        shuffled = shuffled[np.argsort(-patterns.gain(counts[shuffled]), kind="stable")]
    return shuffled[:n]


_LEAST = 0.5  # annotations or cases of each class that are added
_REFIT = StoppingRule(100, 1e-7)
_TOWARDS_FIT = StoppingRule(2, 1e-7)


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Parameters and truth; ``theta`` has axes rater, true class, annotated class, ``truth`` is by case."""

    theta: np.ndarray
    prevalence: np.ndarray
    truth: np.ndarray


@dataclass(slots=True, eq=False)
class ExtendedData:
    """Data with further annotations. Cases beyond those of the dataset are new.

    Attributes
    ----------
    dataset : Dataset
    counts : ndarray of int64, shape (n_cases, n_classes)
    case, rater, answer : ndarray
        Case, rater and class of further annotations, in order.
    """

    dataset: Dataset
    counts: np.ndarray
    case: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rater: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))
    answer: np.ndarray = field(default_factory=lambda: np.empty(0, np.int32))

    def as_dataset(self) -> Dataset:
        """Return all annotations as one dataset, without times."""
        old = self.dataset
        new = [f"new case {i + 1}" for i in range(len(self.counts) - old.n_cases)]
        return Dataset.from_classes(
            old.name,
            [*old.cases, *new],
            old.raters,
            old.classes,
            np.concatenate([old.case_of_annotation, self.case]),
            np.concatenate([old.rater, self.rater]),
            np.concatenate([old.answer, self.answer]),
        )


def drawn_world(data: Design, fit: RaterModelFit, seed: int) -> World:
    """Draw parameters and truth that the data could come from, by the weighted likelihood bootstrap.

    Cases are weighted by Exp(1); all raters together are fitted to them as one, and then each rater, with ten
    pseudo-annotations of that pool for each class, which are weighted too. So the pool is drawn as well: with a fixed
    pool, forecasts would be too confident. The truth is drawn given these parameters. Newton & Raftery (1994), DOI
    10.1111/j.2517-6161.1994.tb01956.x.

    Parameters
    ----------
    data : Design
    fit : RaterModelFit
        Fit of these data, from which the fits start.
    seed : int
    """
    rng = np.random.default_rng(seed)
    dataset = data.dataset
    n_classes = dataset.n_classes
    weight = rng.standard_exponential(dataset.n_cases)
    weight /= weight.mean()
    start, rows = fit.class_probability, FullRows()
    one = climb(data.as_one_rater(), rows, no_prior(n_classes), start, _REFIT, weight=weight)
    pool = np.exp(one.point.log_theta).reshape(n_classes, n_classes)
    prior = Prior(np.zeros(n_classes), POOL_STRENGTH * pool).drawn(rng, dataset.n_raters)
    top = climb(data, rows, prior, start, _REFIT, weight=weight)
    theta = np.exp(top.point.log_theta).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
    prevalence = np.exp(top.point.log_prevalence)
    truth = (rng.random((dataset.n_cases, 1)) > top.posterior.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return World(np.ascontiguousarray(theta), prevalence / prevalence.sum(), truth)


def world_of_truth(dataset: Dataset, truth: np.ndarray, seed: int) -> World:
    """Draw parameters given the true class of every case, as a model drew it: rows of raters around those of all.

    Parameters
    ----------
    dataset : Dataset
    truth : ndarray of int, shape (n_cases,)
    seed : int
    """
    rng, n_classes = np.random.default_rng(seed), dataset.n_classes
    cell = (dataset.rater.astype(np.int64) * n_classes + truth[dataset.case_of_annotation]) * n_classes + dataset.answer
    counts = np.bincount(cell, minlength=dataset.n_raters * n_classes**2).reshape(-1, n_classes, n_classes)
    pool = counts.sum(axis=0) + _LEAST
    theta = rng.standard_gamma(counts + POOL_STRENGTH * pool / pool.sum(axis=1, keepdims=True))
    theta /= theta.sum(axis=2, keepdims=True)
    prevalence = rng.dirichlet(np.bincount(truth, minlength=n_classes) + _LEAST)
    return World(theta, prevalence, truth.astype(np.int64))


def counts_of(dataset: Dataset) -> np.ndarray:
    """Count how often each class was named on each case, int64, shape (n_cases, n_classes)."""
    key = dataset.case_of_annotation.astype(np.int64) * dataset.n_classes + dataset.answer
    counts = np.bincount(key, minlength=dataset.n_cases * dataset.n_classes)
    return counts.reshape(dataset.n_cases, dataset.n_classes)


def carried_out(
    dataset: Dataset,
    world: World,
    policy: str,
    extra: np.ndarray,
    share: np.ndarray,
    per_case: int,
    patterns: CountsCache,
    seed: int,
) -> Iterator[ExtendedData]:
    """Yield the data after each number of further annotations; the same object each time.

    Cases are chosen again at every step, and within a step each case is used once before any is used again; new cases
    are complete. If no rater can be asked any more, the data stay the same in the remaining steps.

    Parameters
    ----------
    dataset : Dataset
    world : World
    policy : str
        One of `core.raters.plan_world.POLICIES`.
    extra : ndarray of int, shape (n_steps,)
        Numbers of further annotations, ascending.
    share : ndarray, shape (n_raters,)
        Distribution of the further annotations over raters; sums to 1.
    per_case : int
        Number of annotations of a new case.
    patterns : CountsCache
    seed : int
    """
    rng = np.random.default_rng(seed)
    n_new_cases = int(extra[-1]) // per_case if policy == "new_cases" else 0
    n_cases, budget = dataset.n_cases + n_new_cases, int(extra[-1])
    truth = np.concatenate([world.truth, rng.choice(dataset.n_classes, n_new_cases, p=world.prevalence)])
    extended = ExtendedData(dataset, counts_of(dataset))
    head, link = np.full(n_cases, -1, np.int64), np.full(budget, -1, np.int64)
    new_rater, new_answer = np.empty(budget, np.int32), np.empty(budget, np.int32)
    new_case = np.empty(budget, np.int64)
    room = _room(dataset, share)
    n = 0
    for wanted in extra:
        while n < wanted:
            if policy == "new_cases":
                cases = _opened(extended, min((int(wanted) - n) // per_case, n_cases - len(extended.counts)), per_case)
            else:
                cases = next_cases(policy, extended.counts, np.flatnonzero(room > 0), int(wanted) - n, patterns, rng)
            if cases.size == 0:
                break
            before = n
            whom = world.theta, share, dataset.case_ptr, dataset.rater
            n, asked = ask(np.uint32(rng.integers(2**32)), cases, truth, *whom, head, link, new_rater, new_answer, n)
            new_case[before:n] = cases[asked >= 0]
            np.add.at(extended.counts, (new_case[before:n], new_answer[before:n]), 1)
            if policy != "new_cases":
                room[cases] -= 1
            elif n == before:
                break
        extended.case, extended.rater, extended.answer = new_case[:n], new_rater[:n], new_answer[:n]
        yield extended


def _opened(extended: ExtendedData, n_cases: int, per_case: int) -> np.ndarray:
    """Open new cases without annotations, each as often as it is to be annotated."""
    opened = len(extended.counts)
    none = np.zeros((n_cases, extended.dataset.n_classes), np.int64)
    extended.counts = np.concatenate([extended.counts, none])
    return np.repeat(np.arange(opened, opened + n_cases), per_case)


def _room(dataset: Dataset, share: np.ndarray) -> np.ndarray:
    """Count how many raters could still annotate each case."""
    case, rater = rater_case_pairs(dataset)
    return int((share > 0).sum()) - np.bincount(case[share[rater] > 0], minlength=dataset.n_cases)


def log_posterior(extended: ExtendedData, world: World) -> np.ndarray:
    """Compute ln P(true class and annotations) of every case under the world's parameters, (n_cases, n_classes)."""
    data = extended.as_dataset()
    log_theta = np.log(np.maximum(world.theta, 1e-300)).transpose(0, 2, 1).reshape(-1, data.n_classes)
    found = np.tile(np.log(np.maximum(world.prevalence, 1e-300)), (data.n_cases, 1))
    cell = cells(data)
    for k in range(data.n_classes):
        found[:, k] += np.bincount(data.case_of_annotation, log_theta[cell, k], data.n_cases)
    return found


def fitted_posterior(extended: ExtendedData, world: World) -> np.ndarray:
    """Compute class probabilities from two steps of EM from the world's parameters, shape (n_cases, n_classes).

    When a plan is carried out, parameters are unknown and are fitted to all annotations. A drawn θ = θ̂ + ε has in
    addition the error ε of the draw. With E ε = 0 and class probabilities q(θ̂ + ε) ≈ q(θ̂) + εᵀ ∇q, the mean over
    draws of the variance of q between cases is Var q(θ̂) + E Var(εᵀ ∇q): larger than that of the fit, so that a width
    computed from it is too small. Each step of EM multiplies ε by the share of information that is missing (Dempster,
    Laird & Rubin 1977, DOI 10.1111/j.2517-6161.1977.tb01600.x), so two leave little of it if most cases are clear. The
    prior is the smoothing of the fit, with the mean confusion matrix of the world's raters as the pool.
    """
    data = design("Planning", extended.as_dataset())
    n_classes = data.dataset.n_classes
    n = np.bincount(data.dataset.rater, minlength=data.dataset.n_raters)
    pool = np.einsum("jkl,j->lk", world.theta, n / n.sum())
    log_theta = np.log(np.maximum(world.theta, 1e-300)).transpose(0, 2, 1).reshape(-1, n_classes)
    start = Point(np.log(np.maximum(world.prevalence, 1e-300)), log_theta)
    return climb(data, FullRows(), Prior(np.zeros(n_classes), POOL_STRENGTH * pool), start, _TOWARDS_FIT).posterior


QUANTITIES = ("certainty", "agreement", "accuracy", "prevalence")
MORE_IS_BETTER = ("certainty",)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """Quantity of data and parameters.

    Attributes
    ----------
    quantity : str
    place : int
        Index of the rater or the class.
    level : float
        Confidence level of the interval whose width it is.
    patterns : CountsCache
    """

    quantity: str
    place: int
    level: float
    patterns: CountsCache

    def of(self, extended: ExtendedData, world: World) -> float:
        """Compute the value; 1, the widest, for the width of an interval that cannot be estimated."""
        if self.quantity == "certainty":
            return float(self.patterns.certainty(extended.counts).mean())
        if self.quantity == "agreement":
            found = spa(_csr(extended.counts), level=self.level)
            return 1.0 if found.ci_low is None or found.ci_high is None else found.ci_high - found.ci_low
        if self.quantity == "prevalence":
            return self._prevalence(fitted_posterior(extended, world)[extended.counts.sum(axis=1) > 0])
        return self._accuracy(extended, world, log_posterior(extended, world))

    def _prevalence(self, posterior: np.ndarray) -> float:
        """Compute the width of the normal interval on the logit scale, from the information on one class."""
        from scipy.special import ndtri

        q = posterior[:, self.place]
        p = float(np.clip(q.mean(), 1e-6, 1 - 1e-6))
        information = float(((q - p) ** 2).sum())  # Standard error of the logit.
        if information < 1e-9:
            return 1.0
        half, at = float(ndtri((1 + self.level) / 2)) / np.sqrt(information), logit(np.asarray(p))
        return float(expit(at + half) - expit(at - half))

    def _accuracy(self, extended: ExtendedData, world: World, log_joint: np.ndarray) -> float:
        """Compute the width of the interval of a rater's accuracy under an even prior (`core.raters.accuracy`)."""
        data = extended.as_dataset()
        rows = np.flatnonzero(data.rater == self.place)
        cases, answer = data.case_of_annotation[rows], data.answer[rows]
        own = np.zeros_like(log_joint)
        log_theta = np.log(np.maximum(world.theta[self.place], 1e-300)).T
        np.add.at(own, cases, log_theta[answer])
        p = _normalised(log_joint[cases] - own[cases])
        n_others = extended.counts[cases].sum(axis=1) - np.bincount(cases, minlength=len(own))[cases]
        n = np.bincount(data.rater, minlength=data.n_raters)
        pool = np.einsum("jkl,j,k->kl", world.theta, n.astype(float), world.prevalence)
        spread = spread_of(pool)
        right = p[np.arange(rows.size), answer]
        wrong = np.einsum("ak,ka->a", p, spread[:, answer])
        ptr = np.array([0, rows.size])
        grid, values = likelihood_grids(right, wrong, n_others > 0, np.arange(rows.size), ptr, 0, 1, N_POINTS)
        points = expit(grid)
        mass = even_mass(points, values)
        low, high = (quantile(cell_edges(points), mass, q)[0] for q in ((1 - self.level) / 2, (1 + self.level) / 2))
        return float(high - low)


def _csr(counts: np.ndarray) -> ClassCounts:
    case, code = np.nonzero(counts)
    ptr = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))]).astype(np.int64)
    return ClassCounts(ptr, code.astype(np.int32), counts[case, code].astype(np.int64), counts.shape[1])


def _normalised(log_joint: np.ndarray) -> np.ndarray:
    p = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
