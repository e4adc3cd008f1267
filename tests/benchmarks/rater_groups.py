"""Share of studies without differences between groups of raters in which a group is named; to be at most 5%.

python -m tests.benchmarks.rater_groups [studies]
"""

import sys

import numpy as np

from core.raters.groups import review_groups
from tests.core.raters.groups_simulated import simulated


def named(studies: int, **how) -> float:
    """Share of studies in which any group is named."""
    found = [review_groups(*simulated(1_000 + seed, **how), n_resamples=20) for seed in range(studies)]
    return float(np.mean([any(one.named for one in each.groups) for each in found]))


def main(studies: int = 400) -> None:
    """Print the share with its Monte Carlo error, without differences and with one."""
    for words, how in (
        ("scores, no difference", {}),
        ("classes, no difference", {"kind": "class"}),
        ("scores, one group 0.5 higher", {"shift": 0.5}),
        ("scores, one group with a view of its own", {"apart": 1.0}),
    ):
        share = named(studies, n=80, n_raters=40, **how)
        print(f"{words}: {share:.3f} ± {np.sqrt(share * (1 - share) / studies):.3f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
