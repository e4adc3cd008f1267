"""Whether intervals of raters' accuracy hold, and flags stay silent. Run: python tests/benchmarks/rater_monitoring.py

By setting: coverage of 95% intervals, alone and shrunk, when raters come from a Beta pool; root mean squared errors of
both; the share of honest data sets in which anybody is flagged, against the stated 5%; and how often careless raters,
spammers, and raters who repeat themselves are found. Coverage of the models' own intervals: `rater_precision.py`.
"""

import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.models.em_model import EmModel
from core.models.one_coin import OneCoin
from core.raters.accuracy import accuracies_of
from core.raters.leave_one_rater_out import panel_of
from core.raters.monitoring import monitor


@dataclass(frozen=True)
class Setting:
    """Raters from Beta(a, b) on cases of evenly likely classes; mistakes fall as each class is often mistaken for."""

    title: str
    n_raters: int
    n_cases: int
    per_case: int
    n_classes: int
    pool: tuple[float, float]
    model: EmModel


SETTINGS = (
    Setting("20 raters, 5 of them on each of 400 cases, 4 classes", 20, 400, 5, 4, (8, 3), DawidSkene("none")),
    Setting("20 raters, 3 of them on each of 400 cases, 2 classes", 20, 400, 3, 2, (12, 3), OneCoin("none")),
    Setting("60 raters with about 20 annotations each, 3 classes", 60, 300, 4, 3, (8, 3), OneCoin("pooled")),
    Setting("12 raters on 400 cases, 20 classes", 12, 400, 5, 20, (14, 6), OneCoin("pooled")),
    Setting("5 raters on all of 200 cases, 3 classes", 5, 200, 5, 3, (8, 3), OneCoin("none")),
)
KINDS = ("careless", "spam", "streaks", "fast")


def simulate(setting: Setting, seed: int, odd: str = ""):
    """One data set with times, and the accuracy of each rater; with ``odd`` rater 0 is of that kind."""
    rng = np.random.default_rng([seed, len(setting.title), sum(map(ord, odd))])
    n_raters, n_classes = setting.n_raters, setting.n_classes
    accuracy = rng.beta(*setting.pool, n_raters)
    truth = rng.integers(n_classes, size=setting.n_cases)
    spread = rng.dirichlet(np.full(n_classes, 1.0), n_classes) * (1 - np.eye(n_classes))
    spread /= spread.sum(axis=1, keepdims=True)
    rater = rng.random((setting.n_cases, n_raters)).argsort(axis=1)[:, : setting.per_case].ravel()
    case = np.repeat(np.arange(setting.n_cases), setting.per_case)
    mistaken = (rng.random((case.size, 1)) > spread.cumsum(axis=1)[truth[case]][:, :-1]).sum(axis=1)
    answer = np.where(rng.random(case.size) < accuracy[rater], truth[case], mistaken)
    pace = rng.lognormal(3.5, 0.4, n_raters)
    if odd == "fast":
        pace[0] /= 30
    gap = rng.lognormal(0, 0.6, case.size) * pace[rater]
    time = np.zeros(case.size)
    for j in range(n_raters):
        own = rng.permutation(np.flatnonzero(rater == j))
        time[own] = gap[own].cumsum()
        if odd and j == 0:
            blind = rng.random(own.size) < (0.4 if odd == "careless" else 1.0 if odd == "spam" else 0.0)
            favourites = rng.choice(n_classes, 2)
            answer[own[blind]] = favourites[rng.integers(2, size=int(blind.sum()))]
            if odd == "streaks":
                for before, here in pairwise(own):
                    if rng.random() < 0.3:
                        answer[here] = answer[before]
    names = [[str(i) for i in range(n)] for n in (setting.n_cases, n_raters, n_classes)]
    seconds = (1_700_000_000 + time).astype(np.int64)
    return Dataset.from_classes("simulated", *names, case, rater, answer, time=seconds), accuracy


def coverage(setting: Setting, n_datasets: int, first: int = 0) -> dict[str, float]:
    """Share of intervals that hold the accuracy, alone and shrunk, both errors, and how many intervals there were."""
    held = {"alone": [], "shrunk": []}
    errors = {"alone": [], "shrunk": []}
    for seed in range(first, first + n_datasets):
        data, truth = simulate(setting, seed)
        found = accuracies_of(panel_of(data, setting.model.fit(data)))
        for name, value, low, high in (
            ("alone", found.alone, found.alone_low, found.alone_high),
            ("shrunk", found.shrunk, found.low, found.high),
        ):
            held[name].extend((low <= truth) & (truth <= high))
            errors[name].extend((value - truth) ** 2)
    return {
        **{name: float(np.mean(each)) for name, each in held.items()},
        **{f"error {name}": float(np.sqrt(np.mean(each))) for name, each in errors.items()},
        "n": len(held["alone"]),
    }


def flagged(setting: Setting, n_datasets: int, odd: str = "", first: int = 0) -> tuple[int, int, dict[str, int]]:
    """Data sets in which an honest rater is flagged, in which rater 0 is, and flags by rule (and whose)."""
    honest = own = 0
    rules: dict[str, int] = {}
    for seed in range(first, first + n_datasets):
        flags = monitor(simulate(setting, seed, odd)[0], model=setting.model).flags
        honest += any(flag.rater > 0 or not odd for flag in flags)
        own += any(flag.rater == 0 for flag in flags)
        for flag in flags:
            key = f"{flag.rule}{' of rater 0' if odd and flag.rater == 0 else ''}"
            rules[key] = rules.get(key, 0) + 1
    return honest, own, rules


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    for setting in SETTINGS:
        started = time.process_time()
        found = coverage(setting, n)
        print(f"{setting.title}: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()), flush=True)
        honest, _, rules = flagged(setting, n)
        print(f"  honest: anybody flagged in {honest}/{n} data sets {rules}", flush=True)
        for odd in KINDS:
            honest, own, rules = flagged(setting, n // 8, odd)
            print(f"  {odd}: rater 0 flagged in {own}/{n // 8}, others in {honest} {rules}", flush=True)
        print(f"  {time.process_time() - started:.0f} CPU s", flush=True)
