"""Simulation-based calibration of the Bayesian rater models, the long version.

Run: python tests/benchmarks/calibration_nuts.py [fits per model] [part of a model's name]; 1,000 of a model take
some 2 processor minutes, of GLAD 11 and of nominal difficulty 55.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from tests.core.models.calibration import (
    RANKED,
    dawid_skene,
    difficulty,
    hierarchical,
    nominal,
    ordinal,
    p_uniform,
    ranks,
)

MODELS = {
    "dawid-skene": dawid_skene,
    "dawid-skene, 60 cases, 3 raters": lambda rng: dawid_skene(rng, 60, 3, 3),
    "hierarchical": hierarchical,
    "ordinal": ordinal,
    "ordinal, 60 cases, 3 raters": lambda rng: ordinal(rng, 60, 3, 5),
    "GLAD": nominal(True),
    "GLAD, 80 cases, 4 raters": nominal(True, 80, 4, 3),
    "nominal difficulty": nominal(False),
    "nominal difficulty, 80 cases, 4 raters": nominal(False, 80, 4, 3),
    "ABC": difficulty("ABC"),
    "AB": difficulty("AB"),
    "A": difficulty("A"),
}

if __name__ == "__main__":
    n_fits = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    for name, make in ((name, make) for name, make in MODELS.items() if wanted in name):
        # Chains of these mix slowly where the variance of abilities is small: 400 draws were worth 36 at worst.
        longer = {"n_draws": 1000, "n_tune": 400} if "GLAD" in name or "nominal" in name else {}
        found, divergent = ranks(make, n_fits, seed=7, **longer)
        print(f"{name}: {n_fits:,} fits, {divergent:.2%} of draws diverged")
        for what, rank in found.items():
            print(f"  {what:28s} p = {p_uniform(rank):.4f}  {np.bincount(rank, minlength=RANKED + 1)}")
