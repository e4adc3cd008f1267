"""Make the `pictures` sample: 51 annotations of each picture in ten classes, in the shape of CIFAR-10H.

Running it again writes the same files, byte for byte: ``python sample_data/make_pictures.py``.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 10
CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
ALIKE = {0: 8, 1: 9, 2: 0, 3: 5, 4: 7, 5: 3, 6: 2, 7: 4, 8: 0, 9: 1}  # the class that each is mistaken for
N_OF_CLASS, N_RATERS, EACH = 20, 102, 51
HARD, DOUBTFUL = 0.12, 0.2  # shares of pictures
CARELESS = ("P017", "P058", "P083")


def main() -> None:
    """Write the files beside this one."""
    rng = np.random.default_rng(SEED)
    folder = Path(__file__).parent / "pictures"
    folder.mkdir(exist_ok=True)
    truth = rng.permutation(np.repeat(np.arange(10), N_OF_CLASS))
    cases = [f"picture-{place:03d}" for place in range(1, len(truth) + 1)]
    raters = [f"P{place:03d}" for place in range(1, N_RATERS + 1)]
    share = np.stack([_perceived(rng, one) for one in truth])
    lapse = rng.beta(1, 60, N_RATERS)
    lapse[[raters.index(name) for name in CARELESS]] = 0.35
    rows = []
    seen = _seen_by(rng, truth)
    for case, picture in enumerate(share):
        for rater in np.flatnonzero(seen[case]):
            away = rng.random() < lapse[rater]
            code = rng.integers(10) if away else rng.choice(10, p=picture)
            rows.append((cases[case], raters[rater], CLASSES[code]))
    _write(folder / "annotations.csv", ("case", "rater", "class"), rows)
    _write(folder / "classes.csv", ("class",), [(name,) for name in CLASSES])
    _write(folder / "truth.csv", ("case", "class"), [*zip(cases, (CLASSES[one] for one in truth), strict=True)])
    scores = {"one label": _one_label(rng, share), "all labels": _all_labels(rng, share)}
    columns = ("classifier", "case", "class", "score")
    _write(
        folder / "predictions.csv",
        columns,
        [
            (name, case, label, f"{value:.3f}")
            for name, table in scores.items()
            for case, row in zip(cases, table, strict=True)
            for label, value in zip(CLASSES, row, strict=True)
        ],
    )


def _perceived(rng: np.random.Generator, truth: int) -> np.ndarray:
    """Return the share of attentive people who name each class of a picture."""
    kind = rng.random()
    own = rng.uniform(0.35, 0.65) if kind < HARD else rng.uniform(0.7, 0.93) if kind < DOUBTFUL + HARD else 0.985
    share = (1 - own) * 0.15 * rng.dirichlet(np.ones(10))
    share[truth] += own
    share[ALIKE[truth]] += (1 - own) * 0.85
    return share / share.sum()


def _seen_by(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Return which raters see each picture: of every two pictures of a class, half see one and half the other."""
    seen = np.zeros((len(truth), N_RATERS), bool)
    for code in range(10):
        for pair in np.flatnonzero(truth == code).reshape(-1, 2):
            order = rng.permutation(N_RATERS)
            seen[pair[0], order[:EACH]] = seen[pair[1], order[EACH:]] = True
    return seen


def _one_label(rng: np.random.Generator, share: np.ndarray) -> np.ndarray:
    """Return scores of a classifier that was trained on one label: nearly all on its first class."""
    odds = np.log(share + 0.003) + rng.normal(0, 0.45, share.shape)
    return _normalised(4 * odds)


def _all_labels(rng: np.random.Generator, share: np.ndarray) -> np.ndarray:
    """Return scores of a classifier that was trained on all annotations: close to their shares."""
    odds = np.log(share + 0.003) + rng.normal(0, 0.45, share.shape)
    return _normalised(odds)


def _normalised(odds: np.ndarray) -> np.ndarray:
    score = np.exp(odds - odds.max(axis=1, keepdims=True))
    return score / score.sum(axis=1, keepdims=True)


def _write(path: Path, columns: tuple[str, ...], rows: list[tuple]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
