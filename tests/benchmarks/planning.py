"""Whether forecasts of plans hold. Run: python tests/benchmarks/planning.py [data sets]

Data are simulated, a model is fitted, and a plan is forecast. Then the plan is carried out with the parameters and the
truth that the data came from, and what it leads to is worked out from a fit of all annotations. Prints, by quantity and
policy, the share of 90% intervals of the forecast that hold it half way and at the end of the budget, and how often
the number of annotations that the target needs may lie in its interval. 100 data sets take about 10 CPU minutes.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.raters.plan_world import Measure, World, carried_out, counts_cache
from core.raters.planning import Goal, forecast

N_RATERS, N_CLASSES, N_CASES, PER_CASE, BUDGET = 12, 3, 250, 3, 300
PREVALENCE = np.array([0.5, 0.3, 0.2])
PLANS = (
    (Goal("certainty", 0.78), "random"),
    (Goal("certainty", 0.78), "least_certain"),
    (Goal("certainty", 0.78), "largest_gain"),
    (Goal("certainty", 0.7), "new_cases"),
    (Goal("agreement", 0.09), "random"),
    (Goal("agreement", 0.08), "new_cases"),
    (Goal("accuracy", 0.16, "0"), "random"),
    (Goal("prevalence", 0.12, "0"), "random"),
    (Goal("prevalence", 0.11, "0"), "new_cases"),
)


def simulate(seed: int) -> tuple[Dataset, World]:
    """Data and the world they came from."""
    rng = np.random.default_rng(seed)
    sure = rng.uniform(0.5, 0.9, (N_RATERS, N_CLASSES, 1))
    theta = (1 - sure) * rng.dirichlet(np.ones(N_CLASSES), (N_RATERS, N_CLASSES)) + sure * np.eye(N_CLASSES)
    truth = rng.choice(N_CLASSES, N_CASES, p=PREVALENCE)
    rater = rng.random((N_CASES, N_RATERS)).argsort(axis=1)[:, :PER_CASE].ravel()
    case = np.repeat(np.arange(N_CASES), PER_CASE)
    below = theta[rater, truth[case]].cumsum(axis=1)
    answer = (rng.random((case.size, 1)) > below[:, :-1]).sum(axis=1)
    names = [[str(i) for i in range(n)] for n in (N_CASES, N_RATERS, N_CLASSES)]
    return Dataset.from_classes("simulated", *names, case, rater, answer), World(theta, PREVALENCE.copy(), truth)


def carried(data: Dataset, world: World, goal: Goal, policy: str, extra: np.ndarray, seed: int) -> np.ndarray:
    """What the plan leads to at every step, from fits of all annotations."""
    share = np.bincount(data.rater, minlength=N_RATERS).astype(float)
    if goal.quantity == "accuracy":
        share *= np.arange(N_RATERS) == int(goal.name)
    patterns = counts_cache(data, 1.0)
    place = {"accuracy": 0, "prevalence": 0}.get(goal.quantity, -1)
    measure = Measure(goal.quantity, place, 0.95, patterns)
    values = []
    for at in carried_out(data, world, policy, extra, share / share.sum(), 3, patterns, seed):
        known = world
        if goal.quantity in ("accuracy", "prevalence"):
            fit = DawidSkene("pooled").fit(at.as_dataset())
            known = World(fit.confusion, fit.prevalence, world.truth)
        values.append(measure.of(at, known))
    return np.array(values)


def holds(goal: Goal, policy: str, n_datasets: int, n_worlds: int = 100, first: int = 0) -> dict[str, tuple[int, int]]:
    """How often intervals of the forecast hold what comes, of how many."""
    counted = {"half way": 0, "at the end": 0, "needed": 0}
    for seed in range(first, first + n_datasets):
        data, world = simulate(seed)
        fit = DawidSkene("pooled").fit(data)
        told = forecast(data, fit, goal, policy=policy, budget=BUDGET, n_steps=6, n_worlds=n_worlds, seed=seed)
        came = carried(data, world, goal, policy, told.extra, 10_000 + seed)
        inside = (told.low <= came) & (came <= told.high)
        counted["half way"] += int(inside[3])
        counted["at the end"] += int(inside[-1])
        met = came >= goal.target if goal.quantity == "certainty" else came <= goal.target
        step = int(np.argmax(met)) if met.any() else None
        lowest = np.inf if told.needed_low is None else told.needed_low
        highest = np.inf if told.needed_high is None else told.needed_high
        if step is None:
            counted["needed"] += int(np.isinf(highest))
        else:  # it came between two steps: the interval has to reach into them
            counted["needed"] += int(lowest <= told.extra[step] and highest >= told.extra[max(step - 1, 0)])
    return {name: (count, n_datasets) for name, count in counted.items()}


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for goal, policy in PLANS:
        started = time.process_time()
        found = ", ".join(f"{name} {a / b:.3f}" for name, (a, b) in holds(goal, policy, n).items())
        print(f"{goal.quantity}, {policy}: {found} of {n} ({time.process_time() - started:.0f} CPU s)", flush=True)
