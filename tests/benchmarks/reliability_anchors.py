"""What anchors the reliability γ. Run: python tests/benchmarks/reliability_anchors.py [FILE,GOLD[,BETA] ...]

For the sample `skin` and for every crowd that is given (FILE of annotations, GOLD of case,class, BETA the exponent of
dependence, that of the page where it is not given): the γ that predicts a held-out reader best, and the binary log loss
of "the top-1 class is the truth" with the annotation certainty as its probability (expected calibration error behind
it) by γ. A mistake made with certainty costs what the floor allows; both floors in use are printed. Crowds also show
what two rules that need no gold lead to: γ = min(1, β), and the γ at which the certainty of half of a case's raters
best foretells the other half's top class.
About 90 CPU seconds for `skin`.
"""

import csv
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.certainty.calibration import binary_log_loss
from core.certainty.held_out_readers import HeldOutCurve, held_out_curve
from core.certainty.truth_curve import TruthCurve, truth_curve
from core.ingest.read_files import read
from core.ingest.samples import SAMPLE_FOLDER, load_sample
from core.models.choose import choose
from core.plausibility.dirichlet import DirichletCounts
from core.plausibility.plackett_luce.gibbs import PlackettLuce
from core.plausibility.prirn import PrIRN

COUNTS = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0)
FLOORS = (1e-3, 1e-6)
SPLITS = 3


def with_truth(dataset: Dataset, path: Path) -> Dataset:
    """The dataset with the classes of a table case,class as gold."""
    with path.open(encoding="utf-8", newline="") as file:
        known = {row[0]: row[1] for row in list(csv.reader(file))[1:]}
    position = {name: code for code, name in enumerate(dataset.classes)}
    codes = [position.get(known.get(case, ""), -1) for case in dataset.cases]
    return replace(dataset, gold=np.array(codes, np.int32))


def show_readers(title: str, curve: HeldOutCurve) -> None:
    """The curve in one line, and its best."""
    points = " ".join(f"{s:.3f} ({g:.3g})" for g, s in zip(curve.reliability, curve.score, strict=True))
    end = f", at the {curve.at_end} end" if curve.at_end else ""
    print(f"{title}: best {curve.best:.3g} ({curve.low:.3g} to {curve.high:.3g}){end}; {points}")
    if curve.bias.any():
        print(f"  Monte Carlo: bias at most {curve.bias.max():.4f}, error at most {curve.mc_se.max():.4f} nats")


def show_truth(title: str, curve: TruthCurve, gammas: tuple[float, ...]) -> None:
    """Log loss at some γ, by floor, with its ECE."""
    best = f", best {curve.best:.3g} ({curve.low:.3g} to {curve.high:.3g})" if len(gammas) > 1 else ""
    print(f"{title}: {curve.n_cases} cases{best}")
    for gamma in gammas:
        place = curve.place_of(gamma)
        losses = [binary_log_loss(curve.doubt[place], curve.right_by_case[place], floor).mean() for floor in FLOORS]
        told = ", ".join(f"{loss:.3f} at floor {floor:g}" for loss, floor in zip(losses, FLOORS, strict=True))
        low, high = curve.log_loss_low[place], curve.log_loss_high[place]
        print(f"  γ {curve.reliability[place]:5.3g}: {told}; {low:.3f} to {high:.3f}; ECE {curve.ece[place]:.3f}")


def split_panels(dataset: Dataset, seed: int = 0) -> float:
    """The γ whose certainty by half of each case's raters best foretells the top class of the other half."""
    rng = np.random.default_rng(seed)
    total: dict[float, float] = {}
    for _ in range(SPLITS):
        order = np.lexsort((rng.random(dataset.n_annotations), dataset.case_of_annotation))
        place = np.empty(order.size, np.int64)
        place[order] = np.arange(order.size)
        of_case = dataset.case_of_annotation
        half = place - dataset.case_ptr[of_case] < np.diff(dataset.case_ptr)[of_case] // 2
        votes = np.zeros((dataset.n_cases, dataset.n_classes))
        np.add.at(votes, (of_case[~half], dataset.answer[~half]), 1)
        votes += 1e-6 * rng.random(votes.shape)  # ties fall at random
        ids = [dataset.cases[case] for case in of_case[half]]
        cases = list(dict.fromkeys(ids))
        code = {case: number for number, case in enumerate(cases)}
        other = {dataset.cases[case]: k for case, k in enumerate(votes.argmax(axis=1))}
        part = Dataset.from_classes(
            "half",
            cases,
            dataset.raters,
            dataset.classes,
            np.array([code[case] for case in ids]),
            dataset.rater[half],
            dataset.answer[half],
            gold=np.array([other[case] for case in cases], np.int32),
        )
        curve = truth_curve(part, DirichletCounts(), np.geomspace(0.05, 5, 25))
        for gamma in np.geomspace(0.05, 5, 25):
            total[gamma] = total.get(gamma, 0.0) + curve.log_loss[curve.place_of(gamma)]
    return float(min(total, key=total.get))


def crowd(file: str, gold: str, beta: float | None) -> None:
    """Counts of one crowd."""
    started = time.process_time()
    dataset = with_truth(read(file).dataset, Path(gold))
    print(f"\n{Path(file).name}: {dataset.n_annotations:,} annotations of {dataset.n_cases:,} cases")
    show_readers("held-out readers, counts at α = 1", held_out_curve(dataset, DirichletCounts(), COUNTS))
    apart = replace(dataset, raters_identified=False)
    best = held_out_curve(apart, DirichletCounts(), COUNTS).best
    print(f"  with repeats of a rater taken for other raters: best {best:.3g}")
    show_truth("certainty against truth, counts", truth_curve(dataset, DirichletCounts(), COUNTS), COUNTS)
    beta = choose(dataset, difficulty=False).dependence if beta is None else beta
    rules = {"split panels": split_panels(dataset)} | ({} if beta is None else {"min(1, β)": min(1.0, beta)})
    for name, gamma in rules.items():
        show_truth(f"  rule {name}", truth_curve(dataset, DirichletCounts(), [gamma]), (gamma,))
    print(f"  {time.process_time() - started:.1f} CPU s")


def skin() -> None:
    """Rankings of the sample with its truth."""
    started = time.process_time()
    dataset = with_truth(load_sample("skin"), SAMPLE_FOLDER / "skin" / "truth.csv")
    print(f"skin: {dataset.n_annotations:,} rankings of {dataset.n_cases:,} cases")
    gammas = (0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0)
    show_readers("held-out readers, Plackett-Luce", held_out_curve(dataset, PlackettLuce(), gammas))
    show_readers("held-out readers, PrIRN", held_out_curve(dataset, PrIRN()))
    gammas = gammas[1:]
    show_truth("certainty against truth, Plackett-Luce", truth_curve(dataset, PlackettLuce(), gammas), gammas)
    gammas = (5.0, 10.0, 20.0, 30.0, 100.0)
    show_truth("certainty against truth, PrIRN", truth_curve(dataset, PrIRN(), gammas), gammas)
    print(f"  {time.process_time() - started:.1f} CPU s")


if __name__ == "__main__":
    skin()
    for argument in sys.argv[1:]:
        file, gold, *beta = argument.split(",")
        crowd(file, gold, float(beta[0]) if beta else None)
