"""Trust per rater in mixture Plackett-Luce. Run: python tests/benchmarks/rater_trust.py [skin|published|calibration].

`skin`: rank correlation of trust with the share of first choices that are the generator's truth, and who is lowest; at
γ = 1, where trusts are estimated and held, and at 3.
`published`: 1,947 generated cases of 419 classes at γ = 3, chain and all draws; target 120 CPU s.
`calibration`: a_j is drawn from its prior, u, λ and rankings from the model, a_j again from the posterior: its rank
among independent draws is uniform. At γ = 2 every ranking stands twice with one u: only data in which both copies of
every ranking are alike are kept, which leaves ranks uniform. Many replications are one dataset, with their own raters.
"""

import csv
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from scipy import stats

from core.annotations.dataset import Dataset
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.plausibility.plackett_luce.trust import MixturePlackettLuce
from core.plausibility.plackett_luce.trust_chain import ChainPlan, run_chain
from core.plausibility.plackett_luce.trust_tables import chain_streams, trust_tables

N_DRAWS, SPACING, N_BURN = 15, 20, 400
N_REPLICATIONS = 20_000


@dataclass(frozen=True)
class Design:
    """Raters ``raters`` annotate every one of ``cases`` cases, with ``sizes`` the blocks of each rater's rankings."""

    sizes: tuple[tuple[int, ...], ...]
    cases: int
    popularity: tuple[float, ...]
    prior: tuple[float, float]
    concentration: float
    copies: int

    @property
    def raters(self) -> int:
        """Number of raters."""
        return len(self.sizes)


DESIGNS = {
    "single classes": Design(((1,),) * 3, 4, (0.6, 0.3, 0.1), (4.0, 2.0), 0.9, 1),
    "ties and orders": Design(((2,), (1, 1), (1,)), 4, (0.5, 0.3, 0.1, 0.1), (3.0, 2.0), 1.2, 1),
    "never named": Design(((1,), (1,), (2, 1)), 3, (0.3, *(0.1,) * 7), (3.0, 2.0), 2.0, 1),
    "every ranking twice": Design(((1,),) * 3, 4, (0.6, 0.3, 0.1), (4.0, 2.0), 0.9, 2),
}


def simulate(design: Design, n: int, rng: np.random.Generator) -> tuple[np.ndarray, list[list[np.ndarray]]]:
    """a of shape (n, raters), and the ranked classes of each case and rater in order, each of shape (n, n_ranked)."""
    n_classes = len(design.popularity)
    trust, orders, n_kept = [], [], 0
    while n_kept < n:
        size = n if design.copies == 1 else 200_000
        a = rng.beta(*design.prior, (size, design.raters))
        alike, named = np.ones(size, bool), []
        for _ in range(design.cases):
            lam = rng.dirichlet(np.full(n_classes, design.concentration / n_classes), size)
            for rater, sizes in enumerate(design.sizes):
                looks = rng.random(size) < a[:, rater]
                rates = np.maximum(np.where(looks[:, None], lam, design.popularity), 1e-300)
                copies = [
                    np.argsort(rng.exponential(size=rates.shape) / rates, axis=1)[:, : sum(sizes)]
                    for _ in range(design.copies)
                ]
                for other in copies[1:]:
                    alike &= (other == copies[0]).all(axis=1)
                named.append(copies[0])
        trust.append(a[alike])
        orders.append([order[alike] for order in named])
        n_kept += int(alike.sum())
    together = [np.concatenate(parts)[:n] for parts in zip(*orders, strict=True)]
    return np.concatenate(trust)[:n], together


def as_dataset(design: Design, orders: list[np.ndarray]) -> Dataset:
    """Every replication with cases and raters of its own; tied classes stand in one block, without their order."""
    n = len(orders[0])
    case, rater, length, entry, rank = [], [], [], [], []
    for place, order in enumerate(orders):
        number, who = divmod(place, design.raters)
        case.append(np.arange(n) * design.cases + number)
        rater.append(np.arange(n) * design.raters + who)
        length.append(np.full(n, order.shape[1]))
        entry.append(order.ravel())
        rank.append(np.tile(np.repeat(np.arange(len(design.sizes[who])), design.sizes[who]), n))
    return Dataset.from_rankings(
        "calibration",
        [str(i) for i in range(n * design.cases)],
        [str(j) for j in range(n * design.raters)],
        [str(k) for k in range(len(design.popularity))],
        np.concatenate(case),
        np.concatenate(rater),
        np.concatenate([[0], np.cumsum(np.concatenate(length))]),
        np.concatenate(entry),
        np.concatenate(rank).astype(float),
    )


def log_popular(design: Design, dataset: Dataset) -> np.ndarray:
    """Ln p(b | g) of every annotation for the design's own g."""
    from core.plausibility.plackett_luce.likelihood import log_likelihood

    known: dict[str, float] = {}
    values = []
    for annotation in range(dataset.n_annotations):
        blocks = dataset.blocks_of(annotation)
        if str(blocks) not in known:
            known[str(blocks)] = log_likelihood(blocks, np.array(design.popularity))
        values.append(known[str(blocks)])
    return np.array(values)


def calibrate(design: Design, n_replications: int, seed: int = 0, reliability: float | None = None) -> np.ndarray:
    """P-values of chi-square on the ranks of a_j among its draws, one for each rater of the design."""
    trust, orders = simulate(design, n_replications, np.random.default_rng(seed))
    dataset = as_dataset(design, orders)
    tables = replace(trust_tables(dataset), log_guess=log_popular(design, dataset))
    model = MixturePlackettLuce(concentration=design.concentration, n_burn=N_BURN, trust_prior=design.prior)
    gamma = float(design.copies) if reliability is None else reliability
    chain = run_chain(
        ChainPlan(gamma, model.shapes(tables), model.n_burn, N_DRAWS * SPACING, model.depth),
        tables,
        chain_streams(dataset, seed, "calibration", 0),
        design.prior,
        None,
        np.zeros(dataset.n_annotations),
    )
    drawn = chain[N_BURN + SPACING :: SPACING].reshape(N_DRAWS, n_replications, design.raters)
    ranks = (drawn < trust).sum(axis=0)
    counts = [np.bincount(column, minlength=N_DRAWS + 1) for column in ranks.T]
    return stats.chisquare(counts, axis=1).pvalue


def true_accuracy(dataset: Dataset) -> np.ndarray:
    """Share of each rater's first choices that are the truth of the `skin` generator; tied first choices by parts."""
    with (SAMPLE_FOLDER / "skin" / "truth.csv").open(encoding="utf-8", newline="") as file:
        truth = dict(list(csv.reader(file))[1:])
    right = np.empty(dataset.n_annotations)
    for annotation in range(dataset.n_annotations):
        first = [dataset.classes[k] for k in dataset.blocks_of(annotation)[0]]
        right[annotation] = (truth[dataset.cases[dataset.case_of_annotation[annotation]]] in first) / len(first)
    return np.bincount(dataset.rater, right) / np.bincount(dataset.rater)


def skin() -> None:
    """Trust against true accuracy."""
    dataset = load_sample("skin")
    accuracy = true_accuracy(dataset)
    print("true accuracy", " ".join(f"{r} {x:.2f}" for r, x in zip(dataset.raters, accuracy, strict=True)))
    for concentration in (0.1, 0.3, 1.0):
        for reliability in (1.0, 3.0):
            start = time.process_time()
            fit = MixturePlackettLuce(concentration, trust_at=None).fit(dataset, reliability=reliability, n_draws=2000)
            trust = fit.raters
            order = " ".join(f"{dataset.raters[j]} {trust.mean[j]:.3f}" for j in np.argsort(trust.place))
            print(
                f"concentration {concentration}, γ {reliability:g}: rank correlation "
                f"{stats.spearmanr(trust.mean, accuracy)[0]:.3f}, prior {fit.prior[0]:.2f} {fit.prior[1]:.2f}, "
                f"R-hat to {trust.rhat.max():.3f}, ESS from {trust.ess.min():.0f}, "
                f"{time.process_time() - start:.1f} CPU s\n  {order}",
                flush=True,
            )


def published() -> None:
    """Seconds of the chain and of all draws on data of the published shape."""
    from sweep import generated

    dataset, model = generated(1947), MixturePlackettLuce()
    model.fit(generated(5), reliability=3.0, n_draws=10)
    expected = model.expected_seconds(dataset, reliability=3.0)
    start, wall = time.process_time(), time.perf_counter()
    model = model.prepare(dataset, reliability=3.0, n_draws=1000, seed=0)
    middle = time.process_time()
    for _ in model.draws(dataset, reliability=3.0, n_draws=1000, seed=0):
        pass
    end = time.process_time()
    print(
        f"chain {middle - start:.1f} CPU s, draws {end - middle:.1f}, {time.perf_counter() - wall:.1f} s wall; "
        f"expected {expected:.1f} s with every core at work"
    )


def calibration() -> None:
    """A table of all designs."""
    print(f"{N_REPLICATIONS:,} replications a design, ranks among {N_DRAWS} draws, {SPACING} sweeps apart")
    for name, design in DESIGNS.items():
        start = time.perf_counter()
        p_values = " ".join(f"{p:.4f}" for p in calibrate(design, N_REPLICATIONS))
        print(f"{name:<24}{p_values:<28}{time.perf_counter() - start:>7.1f} s", flush=True)


PARTS = {"skin": skin, "published": published, "calibration": calibration}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
