"""Coverage of the 95% intervals of paired comparisons, and whether probabilities of orders come true.

python -m tests.benchmarks.comparisons [sets]
"""

import sys
from itertools import pairwise

import numpy as np

from core.models.comparisons import fit_comparisons
from tests.core.models.test_comparisons import simulated

DESIGNS = {
    "8 items, 10 raters, 300 comparisons": (8, 10, 300, 1.0, 0.5),
    "8 items, 10 raters, 60 comparisons": (8, 10, 60, 1.0, 0.5),
    "20 items, 30 raters, 1,500 comparisons": (20, 30, 1500, 1.0, 0.5),
    "20 items, 30 equal raters, 1,500 comparisons": (20, 30, 1500, 1.0, 0.0),
    "6 items far apart, 5 raters, 200 comparisons": (6, 5, 200, 3.0, 0.3),
    "30 items, 300 raters, 900 comparisons": (30, 300, 900, 1.0, 0.5),
}
_BINS = (0.5, 0.7, 0.9, 0.97, 1.0)


def measure(
    n_items: int, n_raters: int, n: int, spread: float, rater_spread: float, sets: int
) -> dict[str, np.ndarray]:
    """Return which intervals cover, and the stated probability and truth of each pair, of all sets."""
    found: dict[str, list[np.ndarray]] = {"strength": [], "discrimination": [], "side": [], "stated": [], "true": []}
    for seed in range(sets):
        rng = np.random.default_rng([seed, n])
        strength, a = rng.normal(0, spread, n_items), rng.normal(1, rater_spread, n_raters)
        fit = fit_comparisons(simulated(seed, n, strength, a, side=0.2), n_draws=500)
        kept = [int(item.split()[1]) for item in fit.items]
        whole = strength[kept] * a.mean()
        target = whole - whole.mean()
        found["strength"].append((fit.low <= target) & (target <= fit.high))
        scaled = a / a.mean()
        found["discrimination"].append((fit.discrimination_low <= scaled) & (scaled <= fit.discrimination_high))
        if fit.side is not None:
            found["side"].append(np.array([fit.side_low <= 0.2 <= fit.side_high]))
        one, other = np.triu_indices(len(kept), 1)
        above = fit.above[one, other]
        found["stated"].append(np.maximum(above, 1 - above))
        found["true"].append((whole[one] > whole[other]) == (above > 0.5))
    return {name: np.concatenate(parts) for name, parts in found.items()}


def main(sets: int = 200) -> None:
    """Print coverage and calibration of each design."""
    for title, design in DESIGNS.items():
        found = measure(*design, sets)
        covered = ", ".join(f"{name} {found[name].mean():.3f}" for name in ("strength", "discrimination", "side"))
        print(f"{title}\n  covered by 95%: {covered}", flush=True)
        for low, high in pairwise(_BINS):
            own = (found["stated"] >= low) & (found["stated"] <= high)
            if own.any():
                stated, true = found["stated"][own].mean(), found["true"][own].mean()
                print(f"  P(above) stated {stated:.3f}, true {true:.3f}, pairs {own.sum():,}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
