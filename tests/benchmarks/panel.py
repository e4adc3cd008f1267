"""Worth of a panel of AI raters, by simulation: bias and coverage for each way to know the truth.

Six AI raters correct on 80% share mistakes by a normal copula, people are correct on 80% independently. Without sharing
the panel counts as six, with a correlation of 0.5 of the normal variables as about 2.4.

    python -m tests.benchmarks.panel [studies] [cases] [classes]
"""

import sys

import numpy as np

from core.machines.panel import TRUTHS, panel_worth
from tests.core.machines.panel_simulated import simulated

LARGE = 200_000


def true_values(shared: float, n_classes: int) -> tuple[float, float]:
    """Effective number, and accuracy of the vote, on very many cases."""
    dataset, ai = simulated(12_345, LARGE, shared, n_classes, n_people=1)
    found = panel_worth(dataset, ai, truth="gold", n_resamples=20)
    return found.n_effective.value, found.vote.value


def main(studies: int = 40, n: int = 600, n_classes: int = 2) -> None:
    """Print a line for each amount of sharing and each truth."""
    for shared in (0.0, 0.5):
        effective, vote = true_values(shared, n_classes)
        print(f"shared {shared}: true n_eff {effective:.2f}, vote {vote:.3f}")
        for truth in TRUTHS:
            found = [panel_worth(*simulated(seed, n, shared, n_classes), truth=truth) for seed in range(studies)]
            numbers = np.array([one.n_effective for one in found])
            votes = np.array([one.vote for one in found])
            members = np.mean([member.accuracy.value for one in found for member in one.members])
            inside = [
                ((each[:, 1] <= true) & (true <= each[:, 2])).mean()
                for each, true in ((numbers, effective - 0.02), (votes, vote))
            ]
            people = np.mean([one.people_effective.value for one in found])
            print(
                f"  {truth:9} n_eff {numbers[:, 0].mean():.2f} (covered {inside[0]:.2f}), "
                f"vote {votes[:, 0].mean():.3f} (covered {inside[1]:.2f}), accuracy {members:.3f}, "
                f"people {people:.2f} of 3",
                flush=True,
            )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
