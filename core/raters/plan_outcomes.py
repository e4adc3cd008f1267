"""Outcomes of plans: further annotations by new raters like the present ones, on the present cases or on new ones.

Each plan is carried out in worlds that the data could come from (`core.raters.plan_world`), the same for all plans, so
that their gains are compared in pairs. Every rater asked is a new one, with the confusion matrix of one of the present
raters, drawn again for each. So there is always a rater to ask, also in crossed data in which everybody has annotated
everything. The most likely class is compared with the world's truth. It comes from two steps of EM, because the
parameters are unknown when a plan is carried out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, LimitError
from ..models.design import design
from ..models.result import RaterModelFit
from ..options import check_level, check_whole
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken, map_chunks
from ..text import plural
from ..thresholds import UNCERTAIN_BELOW
from .plan_world import (
    CountsCache,
    ExtendedData,
    Measure,
    World,
    counts_cache,
    counts_of,
    drawn_world,
    fitted_posterior,
    world_of_truth,
)

KINDS = ("new_raters", "new_cases", "least_certain")
QUANTITIES = ("certainty", "uncertain", "agreement", "right")
MOST_CELLS = 20_000_000  # Largest raters × classes × classes, and cases × classes, of one world.


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan of further annotations.

    Attributes
    ----------
    kind : str
        "new_raters": ``n`` of them annotate every case. "new_cases": ``n`` cases like the present ones, with ``each``
        annotations. "least_certain": ``each`` more annotations on the ``n`` cases of the least certainty.
    n : int
    each : int
        Annotations per case; ignored for new raters.
    """

    kind: str
    n: int
    each: int = 1

    @property
    def title(self) -> str:
        """Plan in words."""
        if self.kind == "new_raters":
            return f"{plural(self.n, 'new rater')} on every case"
        if self.kind == "new_cases":
            return f"{plural(self.n, 'more case')}, {plural(self.each, 'annotation')} each"
        return f"{plural(self.each, 'more annotation')} on the {plural(self.n, 'least certain case')}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlanOutcomes(Result):
    """Outcome of each plan; arrays have axes plan, quantity, and the first plan is none.

    Attributes
    ----------
    plans : tuple of Plan or None
    n_annotations, n_cases : ndarray of int64, shape (n_plans,)
        Number of further annotations, and of cases afterwards.
    value, low, high : ndarray, shape (n_plans, 4)
        Median over worlds and interval of `QUANTITIES`: mean certainty of cases, share of cases below certainty 0.9
        or with one annotation, width of the 95% interval of SPA, share of cases whose most likely class is correct.
    gain, gain_low, gain_high : ndarray, shape (n_plans, 4)
        Median and interval of the difference from no plan, within worlds.
    level : float
    n_worlds, seed : int
    """

    plans: tuple[Plan | None, ...]
    n_annotations: np.ndarray
    n_cases: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    gain: np.ndarray
    gain_low: np.ndarray
    gain_high: np.ndarray
    level: float
    n_worlds: int
    seed: int

    TABLES = ("plans",)

    def _columns(self, table: str, most: int | None) -> Columns:
        found: dict[str, Any] = {
            "plan": ["none" if plan is None else plan.title for plan in self.plans[:most]],
            "annotations": self.n_annotations[:most],
            "cases": self.n_cases[:most],
        }
        for place, quantity in enumerate(QUANTITIES):
            for end, values in (
                ("", self.value), ("_low", self.low), ("_high", self.high),
                ("_gain", self.gain), ("_gain_low", self.gain_low), ("_gain_high", self.gain_high),
            ):  # fmt: skip
                found[f"{quantity}{end}"] = values[:most, place]
        return found


def plan_outcomes(
    dataset: Dataset,
    fit: RaterModelFit,
    plans: Sequence[Plan],
    *,
    reliability: float = 1.0,
    level: float = 0.9,
    n_worlds: int = 100,
    seed: int = 0,
    truths: np.ndarray | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> PlanOutcomes:
    """Carry plans out in simulated worlds, and compare them with no plan.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes by identified raters.
    fit : RaterModelFit
        Fit of these data.
    plans : sequence of Plan
    reliability : float
        γ of the certainty, under Dirichlet counts with the learned prior.
    level : float
        Confidence level of the intervals over worlds, 0 to 1.
    n_worlds, seed : int
    truths : ndarray of int, shape (n_worlds, n_cases), optional
        True classes of each world (`core.raters.truth_draws.drawn_truths`); drawn from ``fit`` if omitted.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError, InputError
        The annotations are not single classes of identified raters, a parameter is out of range, or the fit belongs to
        other data.
    LimitError
        A plan needs too much memory.
    """
    _check(dataset, fit, plans, level, n_worlds)
    data = design("Planning", dataset, bool(fit.settings.get("use_gold")))
    patterns = counts_cache(dataset, reliability)

    def one(number: int) -> tuple[np.ndarray, np.ndarray]:
        if token is not None:
            token.check()
        own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        world = drawn_world(data, fit, own) if truths is None else world_of_truth(dataset, truths[number], own)
        return _in_world(dataset, world, plans, patterns, own)

    results = list(map_chunks(one, list(range(n_worlds)), token=token, progress=progress))
    values, ((n_annotations, n_cases), *_) = np.array([found for found, _ in results]), [size.T for _, size in results]
    ends = [0.5, (1 - level) / 2, (1 + level) / 2]
    value, low, high = np.quantile(values, ends, axis=0, method="weibull")
    gain, gain_low, gain_high = np.quantile(values - values[:, :1], ends, axis=0, method="weibull")
    return PlanOutcomes(
        (None, *plans), n_annotations, n_cases, value, low, high, gain, gain_low, gain_high, level, n_worlds, seed
    )  # fmt: skip


def _in_world(
    dataset: Dataset, world: World, plans: Sequence[Plan], patterns: CountsCache, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute `QUANTITIES` after no plan and after each, and the further annotations and the cases afterwards."""
    measure = Measure("agreement", -1, 0.95, patterns)
    found, size = np.empty((len(plans) + 1, len(QUANTITIES))), np.empty((len(plans) + 1, 2), np.int64)
    for place, plan in enumerate((None, *plans)):
        at, by_then = _carried_out(dataset, world, plan, patterns, np.random.default_rng([seed, place]))
        found[place] = _measured(at, by_then, patterns, measure)
        size[place] = at.case.size, len(at.counts)
    return found, size


def _carried_out(
    dataset: Dataset, world: World, plan: Plan | None, patterns: CountsCache, rng: np.random.Generator
) -> tuple[ExtendedData, World]:
    """Return the data and the world with the new cases and raters of the plan."""
    counts = counts_of(dataset)
    if plan is None:
        return ExtendedData(dataset, counts), world
    if plan.kind == "new_cases":
        case = np.repeat(np.arange(dataset.n_cases, dataset.n_cases + plan.n), plan.each)
        rater = np.tile(np.arange(plan.each), plan.n)
        truth = np.concatenate([world.truth, rng.choice(dataset.n_classes, plan.n, p=world.prevalence)])
        counts = np.concatenate([counts, np.zeros((plan.n, dataset.n_classes), np.int64)])
    else:
        truth = world.truth
        which, n = np.arange(dataset.n_cases), plan.n
        if plan.kind == "least_certain":
            shuffled = rng.permutation(which)
            which, n = shuffled[np.argsort(patterns.certainty(counts[shuffled]), kind="stable")][: plan.n], plan.each
        case, rater = np.repeat(which, n), np.tile(np.arange(n), which.size)
    n_new = int(rater.max(initial=-1)) + 1
    like = rng.choice(dataset.n_raters, n_new, p=_weight(dataset))
    theta = np.concatenate([world.theta, world.theta[like]])
    own = theta[dataset.n_raters + rater, truth[case]]
    answer = (rng.random((case.size, 1)) > own.cumsum(axis=1)[:, :-1]).sum(axis=1).astype(np.int32)
    np.add.at(counts, (case, answer), 1)
    extended = ExtendedData(
        _with_raters(dataset, n_new), counts, case.astype(np.int64), (dataset.n_raters + rater).astype(np.int32), answer
    )
    return extended, World(theta, world.prevalence, truth)


def _weight(dataset: Dataset) -> np.ndarray:
    """Return the probability of each present rater as the model of a new rater, by their numbers of annotations."""
    n = np.bincount(dataset.rater, minlength=dataset.n_raters).astype(float)
    return n / n.sum()


def _with_raters(dataset: Dataset, n_new: int) -> Dataset:
    taken, names = set(dataset.raters), list[str]()
    number = 0
    while len(names) < n_new:
        number += 1
        if (name := f"new rater {number}") not in taken:
            names.append(name)
    return Dataset.from_classes(
        dataset.name,
        dataset.cases,
        [*dataset.raters, *names],
        dataset.classes,
        dataset.case_of_annotation,
        dataset.rater,
        dataset.answer,
    )


def _measured(at: ExtendedData, world: World, patterns: CountsCache, measure: Measure) -> tuple[float, ...]:
    annotated = at.counts.sum(axis=1) > 0
    certainty = patterns.certainty(at.counts[annotated])
    one = at.counts[annotated].sum(axis=1) == 1  # pages do not call the certainty of such a case known
    right = fitted_posterior(at, world).argmax(axis=1) == world.truth
    return (
        float(certainty.mean()),
        float(((certainty < UNCERTAIN_BELOW) | one).mean()),
        measure.of(at, world),
        float(right[annotated].mean()),
    )


def _check(dataset: Dataset, fit: RaterModelFit, plans: Sequence[Plan], level: float, n_worlds: int) -> None:
    dataset.check_kind("class", "Cannot make a plan")
    dataset.check_raters("Cannot make a plan")
    if (fit.raters, fit.classes, fit.cases) != (dataset.raters, dataset.classes, dataset.cases):
        raise InputError(
            "Could not use the fit: it was made with different cases, raters or classes.",
            "Fit the model to these data.",
        )
    check_whole(n_worlds, "The number of simulated datasets", 20)
    check_level(level, "The level")
    for plan in plans:
        if plan.kind not in KINDS:
            raise InputError(f"Unknown plan {plan.kind!r}.", f"Use one of {', '.join(KINDS)}.")
        if plan.n < 1 or plan.each < 1:
            raise InputError(
                f"Could not use the plan “{plan.title}”: its size and annotations per case must be at least "
                f"1; got {plan.n} and {plan.each}.",
                "Use larger numbers.",
            )
        n_raters = dataset.n_raters + (plan.n if plan.kind == "new_raters" else plan.each)
        n_cases = dataset.n_cases + (plan.n if plan.kind == "new_cases" else 0)
        if max(n_raters * dataset.n_classes, n_cases) * dataset.n_classes > MOST_CELLS:
            raise LimitError(
                f"Could not simulate the plan “{plan.title}”: it needs too much memory.", "Plan fewer cases or raters."
            )
