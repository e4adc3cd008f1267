"""Make the `knees` sample: simulated grades of X-rays of knees by readers of known severity, spread and slips.

Running it again writes the same files, byte for byte: ``python sample_data/make_knees.py``.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 11
N_CASES = 260
GRADES = tuple(f"grade {grade}" for grade in range(5))
PREVALENCE = (0.26, 0.2, 0.22, 0.2, 0.12)
# Grades read above the truth, their spread about it, and the share of readings that say nothing of the X-ray.
READERS = {
    "Ahn": (0.0, 0.55, 0.02),
    "Bauer": (0.9, 0.6, 0.03),
    "Costa": (-0.8, 0.6, 0.03),
    "Diop": (0.1, 0.7, 0.02),
    "Egede": (0.0, 1.3, 0.05),
    "Farkas": (-0.2, 0.6, 0.04),
    "Gupta": (0.1, 0.6, 0.28),
    "Haas": (0.35, 0.8, 0.03),
}
# Of a classifier: grades above the truth, spread of its guess, and spread of the probabilities that it tells.
CLASSIFIERS = {"cautious": (0.1, 0.55, 0.8), "sharp": (0.35, 0.6, 0.35)}


def main() -> None:
    """Write the files beside this one."""
    rng = np.random.default_rng(SEED)
    folder = Path(__file__).parent / "knees"
    folder.mkdir(exist_ok=True)
    cases = [f"knee-{number:03d}" for number in range(1, N_CASES + 1)]
    truth = rng.choice(len(GRADES), N_CASES, p=PREVALENCE)
    names, rows = list(READERS), []
    for case, name in enumerate(cases):
        for reader in np.sort(rng.choice(len(names), rng.integers(3, 6), replace=False)):
            severity, spread, slip = READERS[names[reader]]
            chances = near(truth[case] + severity, spread)
            chances = (1 - slip) * chances + slip / len(GRADES)
            rows.append((name, names[reader], GRADES[rng.choice(len(GRADES), p=chances)]))
    write(folder / "annotations.csv", ("case", "rater", "class"), rows)
    write(folder / "classes.csv", ("class",), [(grade,) for grade in GRADES])
    write(folder / "truth.csv", ("case", "class"), [(c, GRADES[z]) for c, z in zip(cases, truth, strict=True)])
    predicted = []
    for classifier, (above, spread, told) in CLASSIFIERS.items():
        for case, name in enumerate(cases):
            score = near(truth[case] + above + rng.normal(0, spread), told)
            order = np.argsort(-score, kind="stable")
            predicted += [(classifier, name, GRADES[k], f"{score[k]:.4f}") for k in order]
    write(folder / "predictions.csv", ("classifier", "case", "class", "score"), predicted)


def near(centre: float, spread: float) -> np.ndarray:
    """Probabilities of the grades about a place on the scale."""
    found = np.exp(-((np.arange(len(GRADES)) - centre) ** 2) / (2 * spread**2))
    return found / found.sum()


def write(path: Path, header: tuple[str, ...], rows: list[tuple]) -> None:
    """A table: UTF-8, commas, LF."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
