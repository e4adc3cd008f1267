"""Make the `street` sample: simulated photos of streets that raters gave several labels each, with known truth.

Running it again writes the same files, byte for byte: ``python sample_data/make_street.py``.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

SEED = 19
N_CASES, RATERS_A_CASE = 200, 4
NOTHING = "none of these"

# Label, share of photos, and how hard it is to see: it is taken from the log odds of every rater of finding it.
LABELS = (
    ("pedestrian", 0.50, 0.0),
    ("bicycle", 0.30, 0.3),
    ("bus", 0.18, -0.5),
    ("traffic light", 0.35, 0.8),
    ("dog", 0.12, 0.6),
    ("rain", 0.22, 1.2),
    ("road works", 0.10, 0.4),
)


@dataclass(frozen=True)
class Rater:
    """Log odds of naming a label that is there, and of not naming one that is not, on a label of no difficulty."""

    name: str
    finds: float
    spares: float


RATERS = (
    Rater("Ana", 2.6, 4.0),
    Rater("Bo", 2.4, 3.6),
    Rater("Chen", 2.2, 3.8),
    Rater("Dora", 2.5, 3.2),
    Rater("Emil", 2.0, 3.4),
    Rater("Farah", 0.2, 4.2),  # overlooks much, invents nothing
    Rater("Goran", 2.8, 1.6),  # names too much
    Rater("Hana", 2.2, 3.5),
)


def _named(rng: np.random.Generator, rater: Rater, truth: np.ndarray) -> np.ndarray:
    """Which labels the rater names."""
    hard = np.array([difficulty for _, _, difficulty in LABELS])
    odds = np.where(truth, rater.finds - hard, -(rater.spares - hard / 2))
    return rng.random(len(LABELS)) < 1 / (1 + np.exp(-odds))


def _text(named: np.ndarray) -> str:
    """Labels as the cell of a table."""
    return "; ".join(label for (label, _, _), here in zip(LABELS, named, strict=True) if here) or NOTHING


def simulate() -> tuple[list[tuple[str, str, str]], list[tuple[str, str]]]:
    """Rows of annotations (photo, rater, labels), and of the truth (photo, labels)."""
    rng = np.random.default_rng(SEED)
    annotations, truths = [], []
    for number in range(1, N_CASES + 1):
        photo = f"photo {number:03d}"
        truth = rng.random(len(LABELS)) < np.array([share for _, share, _ in LABELS])
        truths.append((photo, _text(truth)))
        whom = [RATERS[place] for place in sorted(rng.choice(len(RATERS), RATERS_A_CASE, replace=False))]
        annotations += [(photo, rater.name, _text(_named(rng, rater, truth))) for rater in whom]
    return annotations, truths


def main() -> None:
    """Write the files beside this one."""
    folder = Path(__file__).parent / "street"
    folder.mkdir(exist_ok=True)
    annotations, truths = simulate()
    names = [(label,) for label, _, _ in LABELS] + [(NOTHING,)]
    for name, head, rows in (
        ("annotations", ("photo", "rater", "labels"), annotations),
        ("truth", ("photo", "labels"), truths),
        ("classes", ("class",), names),
    ):
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([head, *rows])


if __name__ == "__main__":
    main()
