"""Do 95% intervals of severity, spread, slip and prevalence hold what panels were made with? By NUTS and at the mode.

Run: python tests/benchmarks/ordinal_recovery.py [panels]; 200 take about 6 processor minutes. Raters are drawn from the
prior, so the intervals by NUTS hold 95% where the sampler is right; those at the mode come from a short chain of their
own, or on larger data from the joint information.

With a further number, of cases: only the mode, on panels of that many (50 panels of 300 take about 15 processor
seconds), whose slips fall as the annotations of all raters do. That is what the model takes them for. Where slips fall
in shares of their own, which the fit does not know, intervals at 300 cases hold 0.87 to 0.90, and 0.92 to 0.95 where it
is told the shares.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.ordering import with_class_order
from core.models.nuts.sampler import sample_many
from core.models.ordinal import Ordinal
from core.models.ordinal_density import NAMES, OrdinalDensity
from tests.core.models.calibration import complete, ordinal

SIZE = {"n_cases": 60, "n_raters": 6, "n_classes": 5}


def coverage(n_panels: int, seed: int = 0, n_draws: int = 600, n_tune: int = 400) -> dict[str, tuple[float, float]]:
    """Share of the 95% intervals that hold the truth and their mean width, by what they are of and how made."""
    rng = np.random.default_rng(seed)
    densities, truths = zip(*(ordinal(rng, **SIZE) for _ in range(n_panels)), strict=True)
    chains = sample_many(densities, n_draws=n_draws, n_tune=n_tune, seeds=range(n_panels))
    held: dict[str, list] = {}
    for density, truth, chain in zip(densities, truths, chains, strict=True):
        true, drawn = density.quantities(truth[None]), density.quantities(chain.flat())
        for name in (*NAMES, "prevalence"):
            low, high = np.quantile(drawn[name], [0.025, 0.975], axis=0)
            held.setdefault(f"{name}, NUTS", []).append(_held(low, true[name][0], high))
        mode = Ordinal().fit(with_class_order(density.dataset, density.dataset.classes)).parameters
        for name in NAMES:
            held.setdefault(f"{name}, mode", []).append(_held(mode[f"{name}_low"], true[name][0], mode[f"{name}_high"]))
    return {name: tuple(np.concatenate(each, axis=1).mean(axis=1)) for name, each in held.items()}


def own_shares(rng: np.random.Generator, n_cases: int) -> tuple[OrdinalDensity, np.ndarray]:
    """A panel whose slips fall as the annotations of all raters do, and the coordinates behind it."""
    sizes = SIZE | {"n_cases": n_cases}
    density, truth = ordinal(rng, **sizes)
    blank = density
    for _ in range(100):  # the shares of annotations depend on slips, which fall by these shares
        found = blank.quantities(truth[None])
        shares = np.einsum("z,jzk->k", found["prevalence"][0], found["confusion"][0])
        blank = OrdinalDensity(density.dataset, shares / shares.sum())
    answer = blank.simulate(truth, int(rng.integers(2**31)))
    return OrdinalDensity(complete(*sizes.values(), answer), blank.guess), truth


def coverage_at_the_mode(n_panels: int, n_cases: int, seed: int = 0) -> dict[str, tuple[float, float]]:
    """The same of the intervals at the mode alone, on panels of `own_shares`."""
    rng = np.random.default_rng(seed)
    held: dict[str, list] = {name: [] for name in NAMES}
    for density, truth in (own_shares(rng, n_cases) for _ in range(n_panels)):
        true, data = density.quantities(truth[None]), density.dataset
        mode = Ordinal().fit(with_class_order(data, data.classes)).parameters
        for name in NAMES:
            held[name].append(_held(mode[f"{name}_low"], true[name][0], mode[f"{name}_high"]))
    return {name: tuple(np.concatenate(each, axis=1).mean(axis=1)) for name, each in held.items()}


def _held(low: np.ndarray, truth: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.stack([(low <= truth) & (truth <= high), high - low])


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    n_cases = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(f"{n} panels of {SIZE}" + (f", {n_cases} cases" if n_cases else ""))
    for name, (share, width) in (coverage_at_the_mode(n, n_cases) if n_cases else coverage(n)).items():
        print(f"  {name:20s} hold {share:.3f}   mean width {width:.3f}")
