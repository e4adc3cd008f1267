"""Forecast of how many more annotations, by whom and on which cases, reach a target certainty or precision.

Worlds that the data could come from are drawn: the truth, and confusion matrices of every rater. In each
the plan is carried out: cases are chosen, raters asked, their annotations drawn, and the quantity is worked out from
what there is by then. The spread over worlds is the uncertainty of the forecast: of parameters, of the truth of the
cases, and of the annotations. Whatever the fit, raters have full confusion matrices here: the mistakes of models that
spread them evenly do not forecast annotations.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError, NotFoundError
from ..models.design import design
from ..models.result import RaterModelFit
from ..options import check_level, check_whole
from ..result_base import Result
from ..runtime.chunks import CancelToken, map_chunks
from .plan_world import (
    MORE_IS_BETTER,
    POLICIES,
    QUANTITIES,
    CountsCache,
    ExtendedData,
    Measure,
    World,
    carried_out,
    counts_cache,
    counts_of,
    drawn_world,
    next_cases,
    world_of_truth,
)


@dataclass(frozen=True, slots=True)
class Goal:
    """Target of a plan.

    Attributes
    ----------
    quantity : str
        "certainty": mean annotation certainty of cases under Dirichlet counts. Widths of intervals: "agreement" (SPA),
        "accuracy" (of ``rater``), "prevalence" (of ``name``, a class).
    target : float
        Least certainty, or largest width.
    name : str
        The rater or the class; else empty.
    """

    quantity: str
    target: float
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Forecast(Result):
    """Forecast of a plan; arrays of shape (n_steps + 1,), the first without further annotations.

    Attributes
    ----------
    goal : Goal
    policy : str
        One of `core.raters.plan_world.POLICIES`.
    extra : ndarray of int64
        Further annotations.
    value, low, high : ndarray
        Median over worlds, and the interval that a carried-out plan should end in.
    now : float
        In the data.
    needed, needed_low, needed_high : int or None
        Further annotations until the target is met: median and interval. None where that many worlds do not meet it
        within the budget.
    share_met : float
        Worlds that meet the target within the budget.
    first_cases : tuple of str
        Whom to ask about first, as many as the first step takes; empty for new cases.
    by_rater : ndarray, shape (n_raters,)
        Mean number of further annotations of each rater, of the whole budget.
    level : float
    n_worlds, seed : int
    notes : tuple of str
    """

    goal: Goal
    policy: str
    extra: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    now: float
    needed: int | None
    needed_low: int | None
    needed_high: int | None
    share_met: float
    first_cases: tuple[str, ...]
    by_rater: np.ndarray
    level: float
    n_worlds: int
    seed: int
    notes: tuple[str, ...]

    TABLES = ("steps",)
    COLUMNS = ("extra", "value", "low", "high")


def forecast(
    dataset: Dataset,
    fit: RaterModelFit,
    goal: Goal,
    *,
    policy: str = "random",
    budget: int = 1000,
    n_steps: int = 10,
    raters: Sequence[str] | None = None,
    per_case: int = 3,
    reliability: float = 1.0,
    interval_level: float = 0.95,
    level: float = 0.9,
    n_worlds: int = 200,
    seed: int = 0,
    truths: np.ndarray | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Forecast:
    """Carry a plan out in simulated worlds.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    fit : RaterModelFit
        Fit of these data.
    goal : Goal
    policy : str
        "random" present cases, "least_certain" or "largest_gain" (`core.certainty.next_opinion`) first, or "new_cases"
        of the same kind with ``per_case`` annotations each. Cases are chosen again at every step.
    budget, n_steps : int
        Further annotations at most, in how many steps.
    raters : sequence of str, optional
        Raters who are asked, in their present proportions; for a rater's accuracy only that rater, else all.
    per_case : int
    reliability : float
        γ of the certainty, and of the gain, under Dirichlet counts with the learned prior.
    interval_level, level : float
        Confidence levels of the intervals whose width is forecast, and of the forecast; 0 to 1.
    n_worlds, seed, truths, token, progress
        See `core.raters.plan_outcomes.plan_outcomes`.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes or anonymous, no case has two, or nobody can be asked anything.
    InputError, NotFoundError
        A parameter is out of range, the fit is of other data, or there is no such rater or class.
    LimitError
        The tables would not fit.
    """
    _check(dataset, fit, goal, policy, budget, n_steps, per_case, n_worlds, level, interval_level)
    extra = np.unique(np.linspace(0, budget, n_steps + 1).astype(np.int64))
    data = design("Planning", dataset, bool(fit.settings.get("use_gold")))
    patterns = counts_cache(dataset, reliability)
    setting = data, fit, policy, extra, _shares(dataset, goal, raters), per_case, patterns
    measure = Measure(goal.quantity, _place(dataset, goal), interval_level, patterns)
    values, n_asked = _carried_out(setting, measure, n_worlds, seed, truths, token, progress)
    return _summed_up(dataset, fit, goal, policy, extra, patterns, measure, values, n_asked, level, seed)


def _carried_out(
    setting: tuple, measure: Measure, n_worlds: int, seed: int, truths, token: CancelToken | None, progress
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the quantity after each step, shape (n_worlds, n_steps + 1), and how often each rater was asked."""
    data, fit, policy, extra, share, per_case, patterns = setting
    dataset = data.dataset

    def one(number: int) -> tuple[np.ndarray, np.ndarray]:
        own = int(np.random.SeedSequence([seed, number]).generate_state(1)[0])
        world = drawn_world(data, fit, own) if truths is None else world_of_truth(dataset, truths[number], own)
        values, asked = np.empty(extra.size), np.zeros(dataset.n_raters, np.int64)
        for step, at in enumerate(carried_out(dataset, world, policy, extra, share, per_case, patterns, own + 1)):
            if token is not None:
                token.check()
            values[step] = measure.of(at, world)
            if step == extra.size - 1:
                asked = np.bincount(at.rater, minlength=dataset.n_raters)
        return values, asked

    results = list(map_chunks(one, list(range(n_worlds)), token=token, progress=progress))
    n_asked = np.array([asked for _, asked in results])
    if not n_asked.any():
        raise NotApplicableError(
            "Cannot plan more annotations: these raters have annotated every case. Choose other raters or add cases."
        )
    return np.array([found for found, _ in results]), n_asked


def _summed_up(
    dataset: Dataset,
    fit: RaterModelFit,
    goal: Goal,
    policy: str,
    extra: np.ndarray,
    patterns: CountsCache,
    measure: Measure,
    values: np.ndarray,
    n_asked: np.ndarray,
    level: float,
    seed: int,
) -> Forecast:
    # One more value like them falls between the r-th and the s-th of n with probability (s - r) / (n + 1).
    ends = np.quantile(values, [0.5, (1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    needed = np.array([_crossing(extra, row, goal) for row in values])
    middle, soonest, latest = (_order_statistic(needed, q) for q in (0.5, (1 - level) / 2, (1 + level) / 2))
    notes: tuple[str, ...] = ()
    if n_asked.sum(axis=1).min() < extra[-1] and policy != "new_cases":
        notes = ("Every available rater annotates every case before the budget is spent.",)
    counts = counts_of(dataset)
    now = ExtendedData(dataset, counts)
    first: tuple[str, ...] = ()
    if policy != "new_cases":
        free = np.flatnonzero((dataset.n_raters - np.diff(dataset.case_ptr)) > 0)
        order = next_cases(policy, counts, free, int(extra[1]), patterns, np.random.default_rng(seed))
        first = tuple(dataset.cases[case] for case in order)
    return Forecast(
        goal,
        policy,
        extra,
        ends[0],
        ends[1],
        ends[2],
        measure.of(now, World(fit.confusion, fit.prevalence, np.empty(0, np.int64))),
        middle,
        soonest,
        latest,
        float(np.isfinite(needed).mean()),
        first,
        n_asked.mean(axis=0),
        level,
        len(values),
        seed,
        notes,
    )


def _check(dataset, fit, goal, policy, budget, n_steps, per_case, n_worlds, level, interval_level) -> None:
    dataset.check_kind("class", "Cannot plan")
    dataset.check_raters("Cannot plan")
    if (fit.raters, fit.classes, fit.cases) != (dataset.raters, dataset.classes, dataset.cases):
        raise InputError(
            "Could not use the fit: it was made with different cases, raters or classes.",
            "Fit the model to these data.",
        )
    if goal.quantity not in QUANTITIES:
        raise InputError(f"Unknown quantity {goal.quantity!r}.", f"Use one of {', '.join(QUANTITIES)}.")
    if policy not in POLICIES:
        raise InputError(f"Unknown policy {policy!r}.", f"Use one of {', '.join(POLICIES)}.")
    check_whole(n_steps, "The number of steps", 1)
    check_whole(per_case, "The number of annotations per case", 1)
    check_whole(budget, "The budget", per_case)
    check_whole(n_worlds, "The number of draws", 20)
    for value, what in ((level, "The level"), (interval_level, "The interval level"), (goal.target, "The target")):
        check_level(value, what)


def _shares(dataset: Dataset, goal: Goal, raters: Sequence[str] | None) -> np.ndarray:
    """Return the distribution of the further annotations over raters; sums to 1."""
    if raters is None and goal.quantity == "accuracy":
        raters = [goal.name]
    unknown = [name for name in raters or () if name not in dataset.raters]
    if unknown:
        raise NotFoundError(f"Could not find the rater {unknown[0]!r} in {dataset.name}.")
    n = np.bincount(dataset.rater, minlength=dataset.n_raters).astype(float)
    if raters is not None:
        chosen = np.isin(np.array(dataset.raters), list(raters))
        n = np.where(chosen, np.maximum(n, 1), 0)
    if n.sum() == 0:
        raise NotApplicableError("Cannot plan more annotations: no rater has annotated anything.")
    return n / n.sum()


def _place(dataset: Dataset, goal: Goal) -> int:
    names = {"accuracy": dataset.raters, "prevalence": dataset.classes}.get(goal.quantity)
    if names is None:
        return -1
    if goal.name not in names:
        raise NotFoundError(f"Could not find the {'rater' if names is dataset.raters else 'class'} {goal.name!r}.")
    return names.index(goal.name)


def _crossing(extra: np.ndarray, values: np.ndarray, goal: Goal) -> float:
    """Find the further annotations until the target is met, linear between steps; infinite if it is not."""
    short = goal.target - values if goal.quantity in MORE_IS_BETTER else values - goal.target
    met = np.flatnonzero(short <= 0)
    if not met.size:
        return np.inf
    step = int(met[0])
    if step == 0:
        return 0.0
    part = short[step - 1] / (short[step - 1] - short[step])
    return float(extra[step - 1] + part * (extra[step] - extra[step - 1]))


def _order_statistic(values: np.ndarray, q: float) -> int | None:
    place = q * (values.size + 1)
    place = int(np.floor(place) if q < 0.5 else np.ceil(place))
    found = float(np.sort(values)[min(max(place, 1), values.size) - 1])
    return int(np.ceil(found)) if np.isfinite(found) else None
