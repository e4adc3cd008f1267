"""Which model judges raters: error and coverage of accuracy per rater. Run: python tests/benchmarks/rater_judges.py [N]

Crowds with few annotations per rater and class, of five kinds: one accuracy a rater; accuracies that differ by class;
raters who lean to one class; a sixth of spammers; cases that mislead many at once. By kind and model: the largest and
the mean error of a data set, root mean squared error, share of raters inside their 95% interval, and mean bias, over
``N`` data sets of seven shapes (3 where it is not given: about 10 CPU minutes), and on the sample `skin`. "own" judges
by parameters that have seen the annotation that is judged, as the panel of raters no longer does.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from core.annotations.dataset import Dataset
from core.models.dawid_skene import DawidSkene
from core.models.em_model import EmModel
from core.models.one_coin import OneCoin
from core.raters.accuracy import accuracies_of
from core.raters.leave_one_rater_out import panel_of

KINDS = ("one accuracy", "by class", "lean", "spammers", "misled")
# Classes, raters, annotations a case, annotations a rater.
SHAPES = (
    (2, 12, 4, 40),
    (2, 30, 5, 100),
    (3, 50, 3, 30),
    (5, 12, 4, 60),
    (12, 12, 4, 140),
    (12, 30, 6, 60),
    (30, 12, 5, 150),
)
MODELS: dict[str, EmModel] = {
    "one coin": OneCoin(),
    "pooled": DawidSkene("pooled"),
    "empirical": DawidSkene("empirical"),
}


def rows_of_raters(kind: str, accuracy: np.ndarray, mistakes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Confusion matrices of a kind of raters, shape (n_raters, n_classes, n_classes)."""
    n_classes, own = len(mistakes), np.arange(len(mistakes))
    theta = np.empty((accuracy.size, n_classes, n_classes))
    for rater, right in enumerate(accuracy):
        by_class = np.full(n_classes, right)
        if kind == "by class":
            by_class = rng.beta(6.4 * right, 6.4 * (1 - right), n_classes).clip(0.02, 0.98)
        theta[rater] = (1 - by_class)[:, None] * mistakes
        theta[rater, own, own] = by_class
        if kind == "lean":
            lean = rng.beta(2, 4)
            theta[rater] *= 1 - lean
            theta[rater, :, rng.integers(n_classes)] += lean
        if kind == "spammers" and rater < max(1, accuracy.size // 6):
            theta[rater] = (
                rng.dirichlet(np.ones(n_classes)) if rater % 2 else np.eye(n_classes)[rng.integers(n_classes)]
            )
    return theta


def crowd(seed: int, kind: str, shape: tuple[int, int, int, int]) -> tuple[Dataset, np.ndarray]:
    """One crowd, and the share of each rater's annotations that are right."""
    n_classes, n_raters, per_case, per_rater = shape
    rng = np.random.default_rng([seed, *shape, KINDS.index(kind)])
    n_cases = n_raters * per_rater // per_case
    accuracy = rng.beta(8, 3, n_raters)
    truth = rng.choice(n_classes, size=n_cases, p=rng.dirichlet(np.full(n_classes, 5.0)))
    mistakes = rng.dirichlet(np.ones(n_classes), n_classes) * (1 - np.eye(n_classes))
    mistakes /= mistakes.sum(axis=1, keepdims=True)
    theta = rows_of_raters(kind, accuracy, mistakes, rng)
    other = np.array([rng.choice(n_classes, p=mistakes[k]) for k in truth])
    misleads = np.where(rng.random(n_cases) < 0.25, rng.random(n_cases), 0.0) * (kind == "misled")
    case = np.repeat(np.arange(n_cases), per_case)
    rater = rng.random((n_cases, n_raters)).argsort(axis=1)[:, :per_case].ravel()
    seen = np.where(rng.random(case.size) < misleads[case], other[case], truth[case])
    answer = (rng.random((case.size, 1)) > theta[rater, seen].cumsum(axis=1)[:, :-1]).sum(axis=1)
    names = [
        [f"{letter}{i}" for i in range(n)] for letter, n in zip("crk", (n_cases, n_raters, n_classes), strict=True)
    ]
    right = np.bincount(rater, answer == truth[case], n_raters) / np.bincount(rater, minlength=n_raters)
    return Dataset.from_classes("simulated", *names, case, rater, answer), right


def judged(dataset: Dataset, right: np.ndarray) -> dict[str, list[float]]:
    """By model, with its name and "own": largest, mean and root mean squared error, coverage, bias."""
    found = {}
    for name, model in MODELS.items():
        fit = model.fit(dataset)
        for words, one in ((name, fit), (f"{name}, own", replace(fit, method="map"))):  # whose own parameters judge
            seen = accuracies_of(panel_of(dataset, one))
            error = seen.shrunk - right
            inside = (seen.low <= right + 1e-9) & (right <= seen.high + 1e-9)
            size = np.abs(error)
            found[words] = [size.max(), size.mean(), np.sqrt((error**2).mean()), inside.mean(), error.mean()]
    return found


def show(title: str, found: dict[str, list[list[float]]]) -> None:
    """A line for each model."""
    for name, rows in found.items():
        numbers = "  ".join(f"{x:6.3f}" for x in np.mean(rows, axis=0))
        print(f"{title:14s}{name:18s}{numbers}", flush=True)


def main(n: int) -> None:
    """The tables."""
    from truth_inference import skin

    print(f"{'':32s}   max    mean     rms  inside    bias")
    dataset = skin()
    right = np.bincount(dataset.rater, dataset.gold[dataset.case_of_annotation] == dataset.answer)
    show("skin", {name: [row] for name, row in judged(dataset, right / np.bincount(dataset.rater)).items()})
    for kind in KINDS:
        found: dict[str, list[list[float]]] = {}
        for shape in SHAPES:
            for seed in range(n):
                for name, row in judged(*crowd(seed, kind, shape)).items():
                    found.setdefault(name, []).append(row)
        show(kind, found)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
