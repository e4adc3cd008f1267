import numpy as np
import pytest

from core.annotations.dataset import Dataset


@pytest.fixture(scope="session")
def ranked():
    """Datasets from one list per case of (rater, blocks of tied classes), all of them numbers."""

    def make(cases, n_classes):
        rows = [(case, *answer) for case, answers in enumerate(cases) for answer in answers]
        entries = [[(k, rank) for rank, block in enumerate(blocks) for k in block] for _, _, blocks in rows]
        flat = [entry for one in entries for entry in one]
        return Dataset.from_rankings(
            "test",
            [f"case {i}" for i in range(len(cases))],
            [f"rater {i}" for i in range(1 + max((rater for _, rater, _ in rows), default=0))],
            [f"class {k}" for k in range(n_classes)],
            np.array([case for case, _, _ in rows], np.int32),
            np.array([rater for _, rater, _ in rows], np.int32),
            np.cumsum([0, *map(len, entries)]),
            np.array([k for k, _ in flat], np.int32),
            np.array([rank for _, rank in flat], np.float64),
        )

    return make


@pytest.fixture(scope="session")
def single():
    """Datasets from rows of (case, rater, class), all of them numbers."""

    def make(rows, n_classes, n_cases=None):
        cases, raters, answers = (np.array(column, np.int32) for column in np.array(rows).T)
        return Dataset.from_classes(
            "test",
            [f"case {i}" for i in range(n_cases or cases.max() + 1)],
            [f"rater {i}" for i in range(raters.max() + 1)],
            [f"class {k}" for k in range(n_classes)],
            cases,
            raters,
            answers,
        )

    return make


@pytest.fixture(scope="session")
def scores():
    """Two scores of one case."""
    return Dataset.from_scores("test", ["a"], ["x", "y"], np.zeros(2, int), np.arange(2), np.array([1.0, 2.5]))


def split_up(rng, n_classes):
    """A random partial ranking."""
    order = rng.permutation(n_classes)[: rng.integers(1, n_classes + 1)]
    cuts = np.flatnonzero(rng.random(len(order) - 1) < 0.5) + 1
    return [block.tolist() for block in np.split(order, cuts)]


@pytest.fixture(scope="session")
def some_cases():
    """Random cases of (rater, blocks); now and then a rater annotates a case twice, or only one does."""

    def make(seed, n_classes, n_cases=12, most=6, repeats=True):
        rng = np.random.default_rng(seed)
        cases = []
        for _ in range(n_cases):
            n = int(rng.integers(1, most + 1))
            raters = rng.integers(0, most, n) if repeats else rng.permutation(most)[:n]
            cases.append([(int(rater), split_up(rng, n_classes)) for rater in raters])
        return cases

    return make
