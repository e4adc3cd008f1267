"""Make the `toy` sample: cases on a line between three classes, after figure 2 of Stutz et al. (2023).

Running it again writes the same files, byte for byte: ``python sample_data/make_toy.py``.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 2
CLASSES = ("Benign1", "Benign2", "Cancer")
CENTRES, SPREAD = np.array([0.2, 0.5, 0.8]), 0.12
N_CASES, N_RATERS = 40, 10
# Annotations of three examples like those of the figure: crisp; ambiguous; ambiguous with one class ahead.
EXAMPLES = {"(i)": (10, 0, 0), "(ii)": (2, 4, 4), "(iii)": (0, 3, 7)}


def main() -> None:
    """Write the files beside this one."""
    rng = np.random.default_rng(SEED)
    folder = Path(__file__).parent / "toy"
    folder.mkdir(exist_ok=True)
    place = np.linspace(0, 1, N_CASES)
    share = np.exp(-0.5 * ((place[:, None] - CENTRES) / SPREAD) ** 2)
    share /= share.sum(axis=1, keepdims=True)
    answers = {name: np.repeat(np.arange(3), counts) for name, counts in EXAMPLES.items()}
    answers |= {f"x = {x:.2f}": rng.choice(3, N_RATERS, p=p) for x, p in zip(place, share, strict=True)}
    rows = [
        (case, f"annotator {rater + 1}", CLASSES[code])
        for case, codes in answers.items()
        for rater, code in enumerate(codes)
    ]
    _write(folder / "annotations.csv", ("case", "rater", "class"), rows)
    _write(folder / "classes.csv", ("class",), [(name,) for name in CLASSES])
    shares = [(f"x = {x:.2f}", *(f"{part:.4f}" for part in p)) for x, p in zip(place, share, strict=True)]
    _write(folder / "plausibilities.csv", ("case", *CLASSES), shares)


def _write(path: Path, columns: tuple[str, ...], rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
