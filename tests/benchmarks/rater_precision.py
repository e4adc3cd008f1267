"""How often the intervals of rater models hold the truth. Run: python tests/benchmarks/rater_precision.py [data sets].

Prints, by setting and method, the share of 95% intervals that hold: prevalence, accuracy of raters, and entries of
confusion matrices, apart where they stand on a bound. 1,000 data sets take about 5 CPU minutes; the tests run fewer.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.models.em_model import EmModel
from core.models.one_coin import ClassConditional, OneCoin
from core.models.precision import precision_of
from core.models.tap import TAP


@dataclass(frozen=True)
class Setting:
    """Raters and cases that data are simulated from."""

    title: str
    model: EmModel
    prevalence: tuple[float, ...]
    confusion: np.ndarray
    n_cases: int
    per_case: int
    method: str = "observed information"


def knowing(accuracy: list[float], guess: list[float]) -> np.ndarray:
    """Confusion matrices of raters who know or guess, shape (n_raters, n_classes, n_classes)."""
    a = np.array(accuracy)[:, None, None]
    return a * np.eye(len(guess)) + (1 - a) * np.array(guess)


EVEN3 = [1 / 3] * 3
BINARY = np.array(
    [[[s, 1 - s], [1 - r, r]] for s, r in ((0.9, 0.7), (0.85, 0.8), (0.95, 0.6), (0.8, 0.9), (0.7, 0.75))]
)
THREE = knowing([0.6, 0.7, 0.65, 0.8, 0.55, 0.75], [0.5, 0.3, 0.2])
FEW = knowing(list(np.linspace(0.3, 0.9, 30)), [0.5, 0.5])
SETTINGS = (
    Setting("two classes, 5 raters on all of 500 cases", DawidSkene("none"), (0.7, 0.3), BINARY, 500, 5),
    Setting("three classes, 4 of 6 raters on 600 cases", DawidSkene("none"), (0.5, 0.3, 0.2), THREE, 600, 4),
    Setting(
        "near perfect, 3 of 5 raters on 200 cases",
        DawidSkene("none"),
        (0.5, 0.3, 0.2),
        knowing([0.97, 0.95, 0.96, 0.9, 0.93], EVEN3),
        200,
        3,
    ),
    Setting("one-coin", OneCoin("none"), (0.5, 0.3, 0.2), knowing([0.6, 0.7, 0.8, 0.5, 0.4], EVEN3), 300, 3),
    Setting(
        "class-conditional", ClassConditional("none"), (0.5, 0.3, 0.2), knowing([0.6, 0.7, 0.8, 0.5], EVEN3), 400, 4
    ),
    Setting("t-a-p", TAP("none"), (0.5, 0.3, 0.2), THREE, 400, 4),
    Setting("common t-a-p", TAP(raters="common"), (0.5, 0.3, 0.2), THREE[:1].repeat(6, axis=0), 300, 3),
    Setting("30 unlike raters with 16 annotations each, pooled", DawidSkene("pooled"), (0.6, 0.4), FEW, 120, 4),
    Setting("two classes", DawidSkene("none"), (0.7, 0.3), BINARY, 500, 5, "case bootstrap"),
    Setting("t-a-p", TAP("none"), (0.5, 0.3, 0.2), THREE, 400, 4, "case bootstrap"),
)


def simulate(setting: Setting, seed: int) -> Dataset:
    """One data set."""
    rng = np.random.default_rng([seed, len(setting.title)])
    n_classes, n_raters = len(setting.prevalence), len(setting.confusion)
    truth = rng.choice(n_classes, setting.n_cases, p=setting.prevalence)
    order = rng.random((setting.n_cases, n_raters)).argsort(axis=1)[:, : setting.per_case]
    share = setting.confusion.cumsum(axis=2)[order, truth[:, None]]
    answer = (rng.random((*order.shape, 1)) > share[:, :, :-1]).sum(axis=2)
    case = np.repeat(np.arange(setting.n_cases), setting.per_case)
    names = ([str(i) for i in range(n)] for n in (setting.n_cases, n_raters, n_classes))
    return Dataset.from_classes("simulated", *names, case, order.ravel(), answer.ravel())


def coverage(setting: Setting, n_datasets: int, first: int = 0) -> dict[str, tuple[int, int]]:
    """How many intervals hold the truth, of how many, by what they are of."""
    truth = {
        "prevalence": np.array(setting.prevalence),
        "accuracy": np.einsum("jkk,k->j", setting.confusion, setting.prevalence),
        "confusion": setting.confusion,
    }
    held = dict.fromkeys(("prevalence", "accuracy", "confusion", "on a bound"), (0, 0))
    for seed in range(first, first + n_datasets):
        data = simulate(setting, seed)
        fit = setting.model.fit(data)
        found = precision_of(setting.model, data, fit, method=setting.method, n_replicates=100, seed=seed)
        bound = (fit.confusion * fit.evidence[:, :, None] < 0.5) | (
            (1 - fit.confusion) * fit.evidence[:, :, None] < 0.5
        )
        for name, value in truth.items():
            spread = getattr(found, name)
            inside = (spread.low <= value) & (value <= spread.high)
            known = np.isfinite(spread.sd)
            for part, which in (
                ((name, known & ~bound), ("on a bound", known & bound)) if name == "confusion" else ((name, known),)
            ):
                held[part] = held[part][0] + int(inside[which].sum()), held[part][1] + int(which.sum())
    return held


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for setting in SETTINGS:
        started = time.process_time()
        held = coverage(setting, n // 5 if setting.method == "case bootstrap" else n)
        shares = ", ".join(f"{name} {a / b:.3f} of {b:,}" for name, (a, b) in held.items() if b)
        print(f"{setting.title}, {setting.method}: {shares} ({time.process_time() - started:.0f} CPU s)", flush=True)
