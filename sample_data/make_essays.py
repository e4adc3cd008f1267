"""Make the `essays` sample: simulated marks of essays by raters of known severity and spread, with known true scores.

Running it again writes the same files, byte for byte: ``python sample_data/make_essays.py``.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 7
N_CASES = 160
MEAN, SPREAD = 6.0, 1.6  # of the true scores
LOWEST, HIGHEST, STEP = 0.0, 10.0, 0.5
CONTROVERSIAL, TIMES = 0.2, 2.2  # share of essays on which raters differ so many times more
# Marks given above the panel, and their spread about the essay's score.
RATERS = {
    "Ada": (0.1, 0.7),
    "Ben": (-0.9, 0.7),
    "Cleo": (0.7, 0.8),
    "Dan": (0.0, 0.6),
    "Eve": (0.2, 1.7),
    "Finn": (-0.2, 0.9),
    "Gus": (0.1, 0.8),
    "Hana": (-0.1, 0.7),
    "Ines": (0.3, 1.0),
}
# Marks of a predictor: what it adds, its spread, and how far it shrinks towards the mean.
PREDICTORS = {
    "length and vocabulary": (0.0, 1.3, 0.5),
    "language model": (0.4, 0.7, 0.1),
    "language model, tuned": (0, 0.6, 0.1),
}


def marked(value: np.ndarray) -> np.ndarray:
    """Scores as they are given, in half marks."""
    return np.clip(np.round(value / STEP) * STEP, LOWEST, HIGHEST)


def main() -> None:
    """Write the files beside this one."""
    rng = np.random.default_rng(SEED)
    folder = Path(__file__).parent / "essays"
    folder.mkdir(exist_ok=True)
    cases = [f"essay-{number:03d}" for number in range(1, N_CASES + 1)]
    truth = np.clip(rng.normal(MEAN, SPREAD, N_CASES), 0.5, 9.5)
    wide = np.where(rng.random(N_CASES) < CONTROVERSIAL, TIMES, 1.0)
    names = list(RATERS)
    rows = []
    for case, name in enumerate(cases):
        for rater in np.sort(rng.choice(len(names), rng.integers(3, 6), replace=False)):
            severity, spread = RATERS[names[rater]]
            score = marked(truth[case] + severity + rng.normal(0, spread * wide[case]))
            rows.append((name, names[rater], f"{score:g}"))
    _write(folder / "annotations.csv", ("case", "rater", "score"), rows)
    _write(folder / "truth.csv", ("case", "score"), [(c, f"{t:.2f}") for c, t in zip(cases, truth, strict=True)])
    predicted = []
    for name, (shift, spread, shrunk) in PREDICTORS.items():
        guess = truth + shift + shrunk * (MEAN - truth) + rng.normal(0, spread, N_CASES)
        predicted += [(name, c, f"{np.clip(g, LOWEST, HIGHEST):.2f}") for c, g in zip(cases, guess, strict=True)]
    _write(folder / "predictions.csv", ("predictor", "case", "score"), predicted)


def _write(path: Path, header: tuple[str, ...], rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows])


if __name__ == "__main__":
    main()
