"""Calibration of effects of facts of raters and cases.

Run: python tests/benchmarks/covariates.py [studies] [map|nuts] [size]

Parameters are drawn from the prior: ranks of the true effects among draws are then uniform, their intervals contain
them in 95% of studies, and estimates have no bias. In other studies all effects are 0: how often is any called clear?
Chains are short, one per study, and studies without effects are left out. One study takes 2 s to 4 s of a processor by
mode, 5 s to 15 s by chains.
"""

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.models.difficulty.covariates import Probabilities, draw_parameters, fit_covariates
from tests.core.models.calibration import RANKED, p_uniform
from tests.core.models.difficulty.covariate_examples import columns_of, density_of, simulated

SIZES = {"small": (150, 20, 4), "few raters": (100, 10, 3), "many raters": (300, 60, 5)}
LENGTHS = {"map": {}, "nuts": {"n_chains": 1, "n_tune": 300, "n_draws": 500}}
NO_EFFECT = {"prevalence": 0.0, "difficulty": 0.0, "ability": 0.0}
TYPICAL = {"intercept": -0.5, "log_spread": 0.0, "mean": (2.0, 1.5), "log_tau": -0.7}


def calibrate(n, way, size):
    """True effects with their draws: ranks, intervals that contain them, errors, by outcome."""
    rank, inside, error = (defaultdict(list) for _ in range(3))
    for seed in range(n):
        dataset, rater_facts, case_facts, theta = simulated(seed, *size)
        columns = columns_of(rater_facts, case_facts)
        density = density_of(dataset, columns)
        draws = draw_parameters(density, way, seed=seed, **LENGTHS[way])[0]
        draws = draws[np.linspace(0, len(draws) - 1, min(len(draws), 1000)).astype(int)]
        found, truth = Probabilities(density, columns, draws), Probabilities(density, columns, theta[None])
        for one in columns:
            for (_, outcome, drawn), (*_, (true,)) in zip(found.effects(one), truth.effects(one), strict=True):
                name = f"{one.name}, {outcome}"
                rank[name].append(int((drawn[:: len(drawn) // RANKED][:RANKED] < true).sum()))
                low, high = np.quantile(drawn, [0.025, 0.975])
                inside[name].append(low <= true <= high)
                error[name].append(drawn.mean() - true)
    for name, ranks in rank.items():
        off = np.array(error[name])
        print(
            f"  {name:24s} inside {np.mean(inside[name]):.3f}  bias {off.mean():+.4f} ± {off.std() / n**0.5:.4f}  "
            f"ranks p = {p_uniform(np.array(ranks)):.3f}"
        )


def named(n, way, size, change):
    """Share of studies in which any effect is called clear."""
    clear = 0
    for seed in range(n):
        dataset, rater_facts, case_facts, _ = simulated(10_000 + seed, *size, change | TYPICAL)
        clear += any(one.clear for one in fit_covariates(dataset, rater_facts, case_facts, way=way).effects)
    return clear / n


if __name__ == "__main__":
    n_studies = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    method = sys.argv[2] if len(sys.argv) > 2 else "map"
    for title in [sys.argv[3]] if len(sys.argv) > 3 else SIZES:
        print(f"{title}: {n_studies:,} studies by {method}", flush=True)
        calibrate(n_studies, method, SIZES[title])
        if method == "map":
            print(f"  any of four effects clear, none there: {named(n_studies, method, SIZES[title], NO_EFFECT):.3f}")
