"""How often drift is found, how soon, and how often stable raters are suspected. Run: python tests/benchmarks/drift.py

For each size of a fall of accuracy, 25 data sets of 40 raters with about 200 annotations each, of whom 8 fall in the
middle half of the time: share found, the delay in annotations after the fall until the chart crosses its limit,
crossings before the fall, and how often the interval of the change holds it. False alarms are those of raters who do
not fall, beside others who do and in data sets where nobody does, against the stated rate. CUSUM and EWMA; 90 CPU
seconds.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.raters.drift import drift_of
from core.raters.leave_one_rater_out import panel_of

N_RATERS, N_CLASSES, PER_CASE, N_CASES = 40, 4, 5, 1600
FALLS = (0.1, 0.2, 0.35)


def simulate(seed: int, fall: float, n_fallen: int, n_cases: int = N_CASES, n_raters: int = N_RATERS):
    """Raters of accuracy 0.7 to 0.9 on cases in order of time; the first ``n_fallen`` lose ``fall`` at a moment each.

    Returns the data, and the times of the falls, shape (n_fallen,).
    """
    rng = np.random.default_rng([seed, int(1000 * fall), n_fallen])
    accuracy = rng.uniform(0.7, 0.9, n_raters)
    moment = rng.uniform(0.25, 0.75, n_fallen) * n_cases
    truth = rng.integers(N_CLASSES, size=n_cases)
    rater = rng.random((n_cases, n_raters)).argsort(axis=1)[:, :PER_CASE]
    case = np.repeat(np.arange(n_cases), PER_CASE)
    now = accuracy[rater]
    for j in range(n_fallen):
        now[(rater == j) & (np.arange(n_cases)[:, None] >= moment[j])] -= fall
    right = rng.random(rater.shape) < now
    wrong = (truth[:, None] + rng.integers(1, N_CLASSES, rater.shape)) % N_CLASSES
    names = [[str(i) for i in range(n)] for n in (n_cases, n_raters, N_CLASSES)]
    answer = np.where(right, truth[:, None], wrong).ravel()
    return Dataset.from_classes("simulated", *names, case, rater.ravel(), answer, time=case * 3600), moment * 3600


def judged(seed: int, fall: float, n_fallen: int, kind: str, rate: float):
    """Drift of every rater of one data set, and the times of the falls."""
    data, moment = simulate(seed, fall, n_fallen)
    panel = panel_of(data, DawidSkene("none").fit(data))
    return [drift_of(panel, j, kind=kind, false_alarm=rate, n_orders=999) for j in range(N_RATERS)], moment


def found(fall: float, kind: str, rate: float, n_datasets: int = 25) -> str:
    """One line of the table."""
    delays, early, held, alarms, stable = [], 0, 0, 0, 0
    n_fallen = 8
    for seed in range(n_datasets):
        drifts, moment = judged(seed, fall, n_fallen, kind, rate)
        for j, drift in enumerate(drifts):
            if j >= n_fallen:
                stable += 1
                alarms += drift.alarm is not None
            elif drift.alarm is not None:
                at = int(np.searchsorted(drift.time, moment[j]))
                early += drift.alarm < at
                delays.append(drift.alarm - at + 1)
                held += drift.change_low <= at <= drift.change_high
    after = [delay for delay in delays if delay > 0]
    n = n_datasets * n_fallen
    middle = np.quantile(after, [0.5, 0.25, 0.75]) if after else [np.nan] * 3
    return (
        f"fall {fall:.2f}, {kind}, rate {rate}: {len(delays)}/{n} = {len(delays) / n:.2f} found, {early} before the "
        f"fall, delay {middle[0]:.0f} annotations ({middle[1]:.0f} to {middle[2]:.0f}), interval of the change holds "
        f"it in {held / max(len(delays), 1):.2f}; stable raters beside them {alarms}/{stable} = {alarms / stable:.3f}"
    )


def alarms_of_stable(kind: str, rates: tuple[float, ...], n_datasets: int) -> dict[float, tuple[int, int]]:
    """Stable raters whose chart crosses its limit, of how many, at each rate."""
    counted = dict.fromkeys(rates, 0)
    for seed in range(1000, 1000 + n_datasets):
        drifts, _ = judged(seed, 0.0, 0, kind, 0.05)
        for rate in rates:
            counted[rate] += sum(drift.p <= rate for drift in drifts)
    return {rate: (alarms, n_datasets * N_RATERS) for rate, alarms in counted.items()}


if __name__ == "__main__":
    started = time.process_time()
    for kind in ("cusum", "ewma"):
        for fall in FALLS:
            print(found(fall, kind, 0.05), flush=True)
        for rate, (alarms, n) in alarms_of_stable(kind, (0.01, 0.05, 0.1), 100).items():
            print(f"nobody falls, {kind}, rate {rate}: {alarms}/{n} = {alarms / n:.4f}", flush=True)
    print(f"{time.process_time() - started:.0f} CPU s")
