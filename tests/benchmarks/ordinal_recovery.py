"""Do 95% intervals of severity, spread, slip and prevalence hold what panels were made with? By NUTS and at the mode.

Run: python tests/benchmarks/ordinal_recovery.py [panels]; 200 take about 6 processor minutes. Raters are drawn from the
prior, so the intervals by NUTS hold 95% where the sampler is right; those at the mode come from a short chain of their
own, or on larger data from the joint information.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.ordering import with_class_order
from core.models.nuts.sampler import sample_many
from core.models.ordinal import Ordinal
from core.models.ordinal_density import NAMES
from tests.core.models.calibration import ordinal

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


def _held(low: np.ndarray, truth: np.ndarray, high: np.ndarray) -> np.ndarray:
    return np.stack([(low <= truth) & (truth <= high), high - low])


if __name__ == "__main__":
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print(f"{n} panels of {SIZE}")
    for name, (share, width) in coverage(n).items():
        print(f"  {name:20s} hold {share:.3f}   mean width {width:.3f}")
