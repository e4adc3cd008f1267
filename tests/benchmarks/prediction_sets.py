"""Prediction sets under an uncertain truth. Run: python tests/benchmarks/prediction_sets.py [REPEATS]

Coverage of the truth and size of sets at α = 0.05, 2,000 cases to calibrate and 2,000 to test, 200 repeats: classes
of normal features (means (0, 0), (1.2, 0), (0.6, 1), sd 0.7, shares 0.4, 0.35, 0.25), λ the true posterior, the
classifier softmax(1.3 ln(share × density) + (0.2, -0.1, -0.1)), the vote argmax λ. Calibrated on the truth, on votes,
on one and ten labels drawn from λ, and on ten with ECDF correction by half of the calibration cases; then the coverage
of the interval of aggregated coverage, and the time of sets at five γ for 1,947 cases of 419 classes, whose
probabilities come as a matrix written by np.savetxt.
About 60 CPU seconds, half of them the draws of the second data.
"""

import io
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.evaluation._set_kernels import draw_labels
from core.evaluation.prediction_sets import (
    KeptPlausibilities,
    corrected_threshold,
    prediction_sets,
    split_threshold,
)
from core.evaluation.predictions import Predictions, open_predictions
from core.evaluation.sweep_table import plausibilities_of, sweep_part
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.reducers.mean_shares import MeanShares

CENTRES = np.array([[0.0, 0.0], [1.2, 0.0], [0.6, 1.0]])
SHARES = np.array([0.4, 0.35, 0.25])
SD = 0.7
TILT = np.array([0.2, -0.1, -0.1])
METHODS = ("truth", "votes", "one label", "ten labels", "ten labels, ECDF")
GAMMAS = (1.0, 2.0, 3.0, 5.0, 10.0)


def simulate(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """True classes, plausibilities (n, 3) and scores of the classifier (n, 3)."""
    truth = rng.choice(3, n, p=SHARES)
    x = CENTRES[truth] + rng.normal(0, SD, (n, 2))
    log_joint = np.log(SHARES) - ((x[:, None] - CENTRES) ** 2).sum(axis=2) / (2 * SD**2)
    return truth, _softmax(log_joint), _softmax(1.3 * (log_joint - np.log(2 * np.pi * SD**2)) + TILT)


def _softmax(values: np.ndarray) -> np.ndarray:
    odds = np.exp(values - values.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def labels_of(plausible: np.ndarray, n_labels: int, seed: int) -> np.ndarray:
    """Labels drawn as prediction sets draw them, shape (n_cases, n_labels)."""
    n, k = plausible.shape
    seeds = np.random.default_rng(seed).integers(0, 2**32, n, dtype=np.uint32)
    codes = np.tile(np.arange(k, dtype=np.int32), n)
    return draw_labels(seeds, np.arange(n + 1) * k, codes, plausible.ravel(), np.zeros(n, np.int64), n_labels)


def study(n_repeats: int, n: int = 2000, alpha: float = 0.05, seed: int = 0) -> dict[str, tuple[float, float, float]]:
    """Coverage of the truth, its standard error over repeats, and mean size, by what calibrates."""
    found = np.empty((n_repeats, len(METHODS), 2))
    for repeat in range(n_repeats):
        rng = np.random.default_rng((seed, repeat))
        truth, plausible, score = simulate(2 * n, rng)
        first, every = slice(n), np.arange(n)
        drawn = np.take_along_axis(score[first], labels_of(plausible[first], 11, int(rng.integers(2**32))), axis=1)
        taus = (
            split_threshold(score[first][every, truth[first]], alpha),
            split_threshold(score[first][every, plausible[first].argmax(axis=1)], alpha),
            split_threshold(drawn[:, 0], alpha),
            split_threshold(drawn[:, :10], alpha),
            corrected_threshold(drawn[: n // 2, :10], drawn[n // 2 :, 10], alpha),
        )
        for row, tau in enumerate(taus):
            inside = score[n:] >= tau
            found[repeat, row] = inside[every, truth[n:]].mean(), inside.sum(axis=1).mean()
    mean, se = found.mean(axis=0), found[:, :, 0].std(axis=0, ddof=1) / np.sqrt(n_repeats)
    return {name: (mean[row, 0], se[row], mean[row, 1]) for row, name in enumerate(METHODS)}


def data_of(plausible: np.ndarray, score: np.ndarray) -> tuple[Dataset, Predictions, KeptPlausibilities]:
    """A dataset of one annotation a case with these plausibilities and scores, whatever the annotation."""
    n, k = plausible.shape
    names = [str(case) for case in range(n)]
    top = plausible.argmax(axis=1)
    dataset = Dataset.from_classes("simulated", names, ["a"], list("xyz"), np.arange(n), np.zeros(n, int), top)
    order = np.argsort(-score, axis=1).astype(np.int32)
    ranked = np.take_along_axis(score, order, axis=1)
    group = np.tile(np.arange(k, dtype=np.int32), n)
    predictions = Predictions("P", np.arange(n + 1) * k, order.ravel(), group, (), ranked.ravel())
    ptr, codes = np.arange(n + 1) * k, np.tile(np.arange(k, dtype=np.int32), n)
    nothing = np.zeros(n)
    means = MeanShares(
        ptr, codes, plausible.ravel(), nothing, np.zeros(n, np.int64), plausible.ravel(), nothing, np.ones(n)
    )
    return dataset, predictions, KeptPlausibilities(means, plausible.max(axis=1))


def interval_coverage(n_repeats: int, n: int, alpha: float = 0.1, seed: int = 1) -> float:
    """How often the interval of aggregated coverage holds that of the same threshold on 20,000 new cases."""
    _, plausible, score = simulate(20_000, np.random.default_rng(seed))
    held = 0
    for repeat in range(n_repeats):
        _, ours, scores = simulate(n, np.random.default_rng((seed, repeat)))
        dataset, predictions, kept = data_of(ours, scores)
        found = prediction_sets(predictions, dataset, kept, alpha=alpha, seed=repeat)
        true = float((plausible * (score >= found.threshold)).sum(axis=1).mean())
        held += found.aggregated.low <= true <= found.aggregated.high
    return held / n_repeats


def speed(n_cases: int = 1947, n_classes: int = 419, n_raters: int = 6, n_draws: int = 1000) -> dict[str, float]:
    """CPU seconds: draws at five γ, reading the matrix, and sets of all cases at the five γ from what is kept."""
    rng = np.random.default_rng(0)
    likely = np.argsort(rng.gumbel(size=(n_cases, n_classes)) + 3 / (1 + np.arange(n_classes)), axis=1)[:, -8:]
    n_annotations = n_cases * n_raters
    sizes = rng.integers(1, 5, n_annotations)
    case = np.repeat(np.arange(n_cases), n_raters)
    ranked = [rng.permutation(likely[one])[:size] for one, size in zip(case, sizes, strict=True)]
    dataset = Dataset.from_rankings(
        "shaped as dermatology", [str(n) for n in range(n_cases)], [str(n) for n in range(n_raters)],
        [f"condition {n}" for n in range(n_classes)], case, np.tile(np.arange(n_raters), n_cases),
        np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(ranked), np.concatenate([np.arange(n) for n in sizes]),
    )  # fmt: skip
    scores = rng.dirichlet(np.full(n_classes, 0.05), n_cases)
    np.put_along_axis(scores, likely, rng.random(likely.shape), axis=1)
    matrix = io.BytesIO()
    np.savetxt(matrix, scores / scores.sum(axis=1, keepdims=True))
    started = time.process_time()
    (predictions,) = open_predictions("A", matrix.getvalue(), dataset)
    read = time.process_time()
    model = PlackettLuce()
    kept = [plausibilities_of(sweep_part(model, dataset, gamma, n_draws=n_draws)) for gamma in GAMMAS]
    drawn = time.process_time()
    for each in kept:
        prediction_sets(predictions, dataset, each, alpha=0.1, model=model)
    return {"read": read - started, "draws": drawn - read, "sets": time.process_time() - drawn}


if __name__ == "__main__":
    for name, (covered, se, size) in study(int((sys.argv[1:] or [200])[0])).items():
        print(f"calibrated on {name:18}: truth covered {covered:.4f} ± {se:.4f}, mean size {size:.3f}")
    for n in (40, 200, 1000):
        print(f"interval of aggregated coverage, {n} cases: holds {interval_coverage(400, n):.3f}")
    print("CPU seconds at five γ:", ", ".join(f"{name} {seconds:.1f}" for name, seconds in speed().items()))
