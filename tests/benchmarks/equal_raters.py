"""How often somebody is named among equal raters, as siding with the majority less often than their peers.

`python -m tests.benchmarks.equal_raters [panels]` prints the share of simulated panels in which `below_peers` names
anybody, for panels of 2, 3 and 5 raters, 50 to 500 cases, 2 and 4 classes, even and rare; it is to be 5% at most. Then
the power: how often it names the one rater whose annotations are right less often.
"""

import sys
from itertools import product

import numpy as np

from core.annotations.dataset import Dataset
from core.certainty.explain import below_peers
from core.raters.flags import FALSE_ALARMS

RATERS, CASES, CLASSES = (2, 3, 5), (50, 150, 500), (2, 4)
ACCURACIES = (0.4, 0.8)
RARE = 0.05  # share of all classes but the first together, where they are rare


def panel(rng, n_raters, n_cases, n_classes, rare=False, accuracy=0.8, poor=None):
    """Annotations of raters who are right equally often; errors fall by how common the classes are, as people err."""
    share = np.full(n_classes, 1 / n_classes)
    if rare:
        share = np.array([1 - RARE, *np.full(n_classes - 1, RARE / (n_classes - 1))])
    right = np.full(n_raters, accuracy)
    if poor is not None:
        right[0] = poor
    truth = rng.choice(n_classes, n_cases, p=share)
    case, rater = np.divmod(np.arange(n_cases * n_raters), n_raters)
    guess = rng.choice(n_classes, case.size, p=share)
    answer = np.where(rng.random(case.size) < right[rater], truth[case], guess)
    sizes = zip("crk", (n_cases, n_raters, n_classes), strict=True)
    names = [[f"{letter}{place}" for place in range(size)] for letter, size in sizes]
    return Dataset.from_classes("simulated", *names, case, rater, answer)


def share_named(rng, panels, *design, rater=None, **how):
    """Share of panels in which anybody is named, or a rater of that place."""
    found = (below_peers(panel(rng, *design, **how), FALSE_ALARMS).named for _ in range(panels))
    return sum(bool(named.any() if rater is None else named[rater]) for named in found) / panels


def main(panels=1000):
    """Print both tables."""
    rng = np.random.default_rng(45)
    print(f"{'raters':>6} {'cases':>6} {'classes':>7} {'rare':>5} {'right':>6} {'named':>7} {'poor one':>9}")
    for n_raters, n_cases, n_classes, rare, accuracy in product(RATERS, CASES, CLASSES, (False, True), ACCURACIES):
        design, how = (n_raters, n_cases, n_classes), {"rare": rare, "accuracy": accuracy}
        equal = share_named(rng, panels, *design, **how)
        power = share_named(rng, max(panels // 10, 1), *design, **how, poor=accuracy / 4, rater=0)
        said = f"{n_raters:6} {n_cases:6} {n_classes:7} {rare!s:>5} {accuracy:6} {equal:7.1%} {power:9.0%}"
        print(said, flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
