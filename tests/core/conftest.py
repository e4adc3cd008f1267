import numpy as np
import pytest

from core.annotations.dataset import Dataset


@pytest.fixture
def build():
    """Datasets from rows of (case, rater, class), all of them numbers."""

    def make(rows, n_classes, n_cases=None, n_raters=None):
        cases, raters, answers = (np.array(column, np.int64) for column in zip(*rows, strict=True))
        n_cases = cases.max() + 1 if n_cases is None else n_cases
        n_raters = raters.max() + 1 if n_raters is None else n_raters
        return Dataset.from_classes(
            "test",
            [f"case {i}" for i in range(n_cases)],
            [f"rater {i}" for i in range(n_raters)],
            [f"class {i}" for i in range(n_classes)],
            cases,
            raters,
            answers,
        )

    return make
