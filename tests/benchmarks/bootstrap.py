"""Speed of 1,000 resamples of all agreement coefficients. Run: python tests/benchmarks/bootstrap.py.

Targets on two cores: everything but Cohen and Conger in 0.1 s at 500 distinct count vectors and 0.8 s at 5,000;
everything on a million annotations in 7 CPU seconds. Collapsing the cases counts.
"""

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.agreement.bootstrap import bootstrap
from core.agreement.differences import compare
from core.agreement.probability import SPA_WEIGHTINGS
from core.annotations.counts import ClassCounts, class_counts
from tests.benchmarks.engine import dataset

REPEATS = 5


def counts_with(n_vectors: int, n_cases: int, n_classes: int) -> ClassCounts:
    """Cases of 2 to 9 annotations with exactly so many distinct count vectors."""
    rng = np.random.default_rng(0)
    vectors: dict[tuple[int, ...], None] = {}
    while len(vectors) < n_vectors:
        shares = rng.dirichlet(np.full(n_classes, 0.5))
        vectors[tuple(rng.multinomial(rng.integers(2, 10), shares))] = None
    table = np.array(list(vectors))
    which = np.append(np.arange(n_vectors), rng.integers(0, n_vectors, n_cases - n_vectors))
    case, code = np.nonzero(table[which])
    ptr = np.searchsorted(case, np.arange(n_cases + 1)).astype(np.int64)
    return ClassCounts(ptr, code.astype(np.int32), table[which][case, code].astype(np.int64), n_classes)


def report(title: str, work: Callable[[], object]) -> None:
    """One line: wall and CPU seconds, median and extremes."""
    work()
    wall, cpu = [], []
    for _ in range(REPEATS):
        started = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - started[0])
        cpu.append(time.process_time() - started[1])
    cells = "".join(f"{np.median(taken):9.3f} ({min(taken):.3f} to {max(taken):.3f})" for taken in (wall, cpu))
    print(f"{title:<62}{cells}", flush=True)


def main() -> None:
    """Print the table."""
    print(f"{'1,000 resamples, all six weightings of SPA':<62}{'wall s':>9}{'':>18}{'CPU s':>9}")
    for n_vectors, n_classes in ((500, 5), (5000, 8)):
        for n_cases in (4 * n_vectors, 200_000):
            counts = counts_with(n_vectors, n_cases, n_classes)
            title = f"{n_vectors:,} vectors of {n_cases:,} cases, {n_classes} classes"
            report(title, lambda counts=counts: bootstrap(counts, spa_weightings=SPA_WEIGHTINGS))
            report(f"{title}, ordinal alpha", lambda counts=counts: bootstrap(counts, metric="ordinal"))
    data = dataset()
    counts = class_counts(data)
    report("a million annotations, without Conger", lambda: bootstrap(counts, spa_weightings=SPA_WEIGHTINGS))
    report("a million annotations, everything", lambda: bootstrap(data, spa_weightings=SPA_WEIGHTINGS))
    halves = data.select(raters=data.raters[:500]), data.select(raters=data.raters[500:])
    names = ["fleiss_kappa", "krippendorff_alpha"]
    report("two halves of the raters compared, Fleiss and alpha", lambda: compare(*halves, names=names))
    print(f"highest resident memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
