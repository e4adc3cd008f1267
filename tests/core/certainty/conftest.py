"""Data in the forms that held-out tests need."""

import numpy as np
import pytest

from core.annotations.dataset import Dataset


@pytest.fixture
def rank():
    """A dataset of rankings from ``cases[case][annotation][block]``; the j-th annotation of a case is by rater j."""

    def make(cases, n_classes, raters=None, **side):
        case, rater, ptr, entry_class, entry_rank = [], [], [0], [], []
        for i, annotations in enumerate(cases):
            for j, blocks in enumerate(annotations):
                case.append(i)
                rater.append(j if raters is None else raters[i][j])
                for b, block in enumerate(blocks):
                    entry_class.extend(block)
                    entry_rank.extend([b] * len(block))
                ptr.append(len(entry_class))
        return Dataset.from_rankings(
            "test",
            [f"case {i}" for i in range(len(cases))],
            [f"rater {j}" for j in range(max(rater) + 1)],
            [f"class {k}" for k in range(n_classes)],
            np.array(case),
            np.array(rater),
            np.array(ptr),
            np.array(entry_class),
            np.array(entry_rank, float),
            **side,
        )

    return make


@pytest.fixture
def score():
    """A dataset of scores from rows of (case, rater, score)."""

    def make(rows):
        case, rater, value = (np.array(column) for column in zip(*rows, strict=True))
        return Dataset.from_scores(
            "test",
            [f"case {i}" for i in range(int(case.max()) + 1)],
            [f"rater {j}" for j in range(int(rater.max()) + 1)],
            case.astype(int),
            rater.astype(int),
            value,
        )

    return make
