"""The eighteen difficulty models on caries, and three on a large design in which no two cases are alike.

Run: python tests/benchmarks/difficulty.py caries [TAG ...] or large [TAG ...]. CPU seconds are of tuning and drawing
alone. Targets for 4 x (1,000 + 1,000) on caries: ABC 2, AB 10, A 30, all 300 CPU seconds; the mode 2 seconds each.
Large, 4 x (2,000 + 2,000): ABC, AB and A 60 CPU minutes together.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core import Dataset, load_sample
from core.models.difficulty.density import DifficultyDensity, Specification
from core.models.difficulty.model import DifficultyModel
from core.models.difficulty.names import TAGS
from core.models.difficulty.paper_score import paper_score
from core.models.difficulty.summary import summarise
from core.models.loo import PaperScore
from core.models.nuts.fitting import fit_by_nuts
from core.models.nuts.result import BayesianFit
from core.models.result import RaterModelFit

N_CASES, N_RATERS, PER_CASE = 800, 164, 10


def design(rng: np.random.Generator) -> Dataset:
    """800 cases with ten of 164 raters each, unequally busy; annotations still to come."""
    busy = rng.dirichlet(np.full(N_RATERS, 2.0))
    rater = np.concatenate([rng.choice(N_RATERS, PER_CASE, replace=False, p=busy) for _ in range(N_CASES)])
    case = np.repeat(np.arange(N_CASES), PER_CASE)
    names = ([f"{kind}{number}" for number in range(count)] for kind, count in (("c", N_CASES), ("r", N_RATERS)))
    return Dataset.from_classes("large", *names, ["no", "yes"], case, rater, np.zeros(case.size, int))


def large() -> tuple[Dataset, float, np.ndarray]:
    """Annotations by model AB: data, prevalence, and P(right on a new case) by rater and true class."""
    rng = np.random.default_rng(2024)
    empty = design(rng)
    alpha = np.stack([rng.normal(2.0, 1.0, N_RATERS), rng.normal(1.0, 1.0, N_RATERS)], axis=1)
    alpha[:, 1] = np.maximum(alpha[:, 1], 0.05 - alpha[:, 0])
    density = DifficultyDensity(empty, Specification("AB", cooperative=False))
    theta = np.concatenate(([np.log(0.35 / 0.65)], alpha.T.ravel()))
    answer = density.simulate(theta, 7)
    data = Dataset.from_classes(
        "large", empty.cases, empty.raters, empty.classes, empty.case_of_annotation, empty.rater, answer
    )
    right = np.diagonal(summarise(density, theta[None], "truth", 0.95).confusion, axis1=1, axis2=2)
    return data, 0.35, right


def row(tag: str, found: BayesianFit) -> str:
    """Prevalence, leave-one-out per case and as in the paper, checks, and convergence."""
    share, spread = found.fit.prevalence[1], found.fit.uncertainty
    raters, votes = found.checks
    words = [
        f"{tag:6s} π {share:.4f}" + (f" ± {spread.prevalence.sd[1]:.4f}" if spread else ""),
        f"elpd {found.loo.elpd:.1f} ± {found.loo.se:.1f}, k high {found.loo.n_high_k}",
        f"as in the paper {found.paper.elpd:.1f} ± {found.paper.se:.1f}, k high {found.paper.n_high_k}",
        f"raters {raters.headline:.3f} {'fails' if raters.fails else 'passes'}",
        f"votes {votes.headline:.3f} {'fails' if votes.fails else 'passes'}",
    ]
    told = found.diagnostics
    if told is not None:
        words.append(f"R-hat {told.rhat_max:.4f}, ESS {told.ess_bulk_min:.0f}, divergent {told.n_divergent}")
    return " | ".join(words)


def run(data: Dataset, tag: str, n_draws: int) -> tuple[BayesianFit, RaterModelFit]:
    """Print one row, with times and how far the mode is from the draws; the two fits."""
    began = time.process_time()
    at_mode = DifficultyModel(tag).fit(data).fit
    mode_seconds = time.process_time() - began
    density = DifficultyModel(tag).density(data)
    if density.ndim == 0:
        found = DifficultyModel(tag).fit(data, method="nuts", seed=1)
        print(row(tag, found), flush=True)
        return found, at_mode
    score_seconds = []

    def score(draws: np.ndarray) -> PaperScore:
        began = time.process_time()
        found = paper_score(density, draws)
        score_seconds.append(time.process_time() - began)
        return found

    found = fit_by_nuts(density, summarise, density.dataset, n_draws=n_draws, n_tune=n_draws, seed=1, score=score)
    apart = np.abs(at_mode.class_probability - found.fit.class_probability)[:, 1]
    print(
        f"{row(tag, found)} | mode {mode_seconds:.2f} s, draws {found.cpu_seconds:.1f}, score as in the paper"
        f" {score_seconds[0]:.2f} CPU s | P(z) of mode off by {apart.mean():.4f} on average, {apart.max():.3f} at most",
        flush=True,
    )
    return found, at_mode


def on_caries(tags: list[str]) -> None:
    """A table of the models."""
    data = load_sample("caries")
    total = 0.0
    for tag in tags or TAGS:
        total += run(data, tag, 1000)[0].cpu_seconds
    print(f"all: {total:.1f} CPU s")


def on_large(tags: list[str]) -> None:
    """Convergence and recovery where patterns do not collapse."""
    from scipy.stats import spearmanr

    data, prevalence, right = large()
    accuracy = right @ [1 - prevalence, prevalence]
    for tag in tags or ["ABC", "AB", "A"]:
        found, at_mode = run(data, tag, 2000)
        for name, fit in (("draws", found.fit), ("mode", at_mode)):
            rank = spearmanr(fit.accuracy(), accuracy)[0]
            print(f"  {name}: π {fit.prevalence[1]:.4f} (true {prevalence}), rank correlation of accuracy {rank:.3f}")
        low, high = found.fit.uncertainty.accuracy.low, found.fit.uncertainty.accuracy.high
        covered = ((low <= accuracy) & (accuracy <= high)).mean()
        print(f"  95% intervals of accuracy that hold the truth: {covered:.3f}", flush=True)


if __name__ == "__main__":
    part, *chosen = sys.argv[1:] or ["caries"]
    {"caries": on_caries, "large": on_large}[part](chosen)
