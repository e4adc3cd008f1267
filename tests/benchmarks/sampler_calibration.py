"""Simulation-based calibration of Plackett-Luce draws. Run: python tests/benchmarks/sampler_calibration.py.

λ is drawn from the prior, rankings from λ, draws from the posterior: the rank of the true share among independent draws
is then uniform. The prior depends on which classes are named, so only data that name the first ``n_named`` are kept,
which leaves ranks uniform. Orders are drawn in full and cut into blocks whose sizes do not depend on λ.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from scipy import stats

from core.annotations.dataset import Dataset
from core.plausibility.plackett_luce.gibbs import PlackettLuce

N_REPLICATIONS = 100_000
N_DRAWS, SPACING = 15, 16  # ranks 0 to 15 among draws so far apart that they are as good as independent


@dataclass(frozen=True)
class Design:
    """Block sizes of each rater, of ``n_classes`` of which exactly the first ``n_named`` are named."""

    n_classes: int
    n_named: int
    sizes: tuple[tuple[int, ...], ...]
    alpha: float = 1.0


DESIGNS = {
    "one rater, full order": Design(4, 4, ((1, 1, 1, 1),)),
    "ties, all named": Design(3, 3, ((2,), (1,), (1, 2))),
    "ties and unranked": Design(4, 3, ((2, 1), (1,))),
    "two never named": Design(5, 3, ((1,), (2,), (1, 1))),
    "six never named": Design(8, 2, ((1,), (1, 1))),
    "prior of shape 2": Design(5, 4, ((1, 1), (2,), (1,)), 2.0),
    "nine tied": Design(12, 10, ((9,), (1, 1), (1,))),
}


def simulate(design: Design, n_replications: int, rng: np.random.Generator) -> tuple[np.ndarray, list[np.ndarray]]:
    """Shares of every class, shape (n_replications, n_classes), and each rater's ranked classes, in order."""
    n_named, n_rest = design.n_named, design.n_classes - design.n_named
    kept_share, kept_orders, n_kept = [], [], 0
    while n_kept < n_replications:
        n = 20_000
        share = rng.gamma(design.alpha, size=(n, n_named))
        if n_rest:
            split = rng.dirichlet(np.ones(n_rest), n)
            share = np.column_stack([share, rng.gamma(1.0, size=(n, 1)) * split])
        share /= share.sum(axis=1, keepdims=True)
        seen = np.zeros((n, design.n_classes), bool)
        orders = []
        for sizes in design.sizes:
            arrival = rng.exponential(1 / share)
            orders.append(np.argsort(arrival, axis=1)[:, : sum(sizes)])
            np.put_along_axis(seen, orders[-1], True, axis=1)
        keep = (seen == (np.arange(design.n_classes) < n_named)).all(axis=1)
        kept_share.append(share[keep])
        kept_orders.append([order[keep] for order in orders])
        n_kept += int(keep.sum())
    together = [np.concatenate(parts)[:n_replications] for parts in zip(*kept_orders, strict=True)]
    return np.concatenate(kept_share)[:n_replications], together


def as_dataset(design: Design, orders: list[np.ndarray]) -> Dataset:
    """Each replication as a case; classes that are tied stand in one block, without their order."""
    n_cases, n_raters = len(orders[0]), len(orders)
    lengths = np.tile([sum(sizes) for sizes in design.sizes], n_cases)
    rank = np.concatenate([np.repeat(np.arange(len(sizes)), sizes) for sizes in design.sizes])
    return Dataset.from_rankings(
        "calibration",
        [str(case) for case in range(n_cases)],
        [str(rater) for rater in range(n_raters)],
        [str(k) for k in range(design.n_classes)],
        np.repeat(np.arange(n_cases), n_raters),
        np.tile(np.arange(n_raters), n_cases),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(orders, axis=1).ravel(),
        np.tile(rank, n_cases).astype(float),
    )


def calibrate(design: Design, n_replications: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """P-values of chi-square on the ranks of each named class and the rest, and z of "the first class is never-named".

    ``z`` compares how often that is true with the mean of what the draws say; 0 where all are named.
    """
    share, orders = simulate(design, n_replications, np.random.default_rng(seed))
    dataset = as_dataset(design, orders)
    n_named = design.n_named
    truth = share[:, :n_named]
    if design.n_classes > n_named:
        truth = np.column_stack([truth, share[:, n_named:].sum(axis=1)])
    ranks = np.empty(truth.shape, np.int64)
    surprise = np.empty(n_replications)
    model = PlackettLuce(design.alpha)
    for case, draws in model.draws(dataset, reliability=1.0, n_draws=N_DRAWS * SPACING, seed=seed):
        drawn = np.column_stack([draws.share, draws.rest])[SPACING - 1 :: SPACING, : truth.shape[1]]
        ranks[case] = (drawn < truth[case]).sum(axis=0)
        surprise[case] = (share[case].argmax() >= n_named) - (draws.top[:, 0] == n_named).mean()
    counts = [np.bincount(ranks[:, column], minlength=N_DRAWS + 1) for column in range(truth.shape[1])]
    error = surprise.std() / np.sqrt(n_replications)
    return stats.chisquare(counts, axis=1).pvalue, surprise.mean() / error if error > 0 else 0.0


def main() -> None:
    """Print a table of all designs."""
    print(f"{N_REPLICATIONS:,} replications a design, ranks among {N_DRAWS} draws, {SPACING} sweeps apart at least")
    print(f"{'design':<24}{'smallest p':>12}   {'p of each named class, then of the rest':<66}{'z first':>8}{'s':>7}")
    for name, design in DESIGNS.items():
        start = time.perf_counter()
        p_values, z = calibrate(design, N_REPLICATIONS)
        row = " ".join(f"{p:.3f}" for p in p_values)
        print(f"{name:<24}{p_values.min():>12.4f}   {row:<66}{z:>8.2f}{time.perf_counter() - start:>7.1f}")


if __name__ == "__main__":
    main()
