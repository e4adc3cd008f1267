"""Raters who confuse classes, all of them or one of them."""

from dataclasses import replace

import numpy as np

from core.annotations.dataset import Dataset


def simulated(
    seed: int, n: int = 200, n_raters: int = 5, everybody: float = 0.35, one: float = 0.45, noise: float = 0.04
) -> Dataset:
    """Five classes: everybody confuses A with B, the first rater alone C with D, and nobody E.

    Parameters
    ----------
    seed, n, n_raters : int
    everybody, one : float
        Share of annotations of A or B, and of the first rater's of C or D, that are of the other class.
    noise : float
        Share of annotations of any class.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 5, n)
    answers = np.tile(truth[:, None], n_raters)
    draw = rng.random(answers.shape)
    answers = np.where((answers < 2) & (draw < everybody), 1 - answers, answers)
    mixed = np.isin(truth, (2, 3)) & (draw[:, 0] < one)
    answers[mixed, 0] = 5 - answers[mixed, 0]
    answers = np.where(rng.random(answers.shape) < noise, rng.integers(0, 5, answers.shape), answers)
    case, rater = np.indices(answers.shape)
    names = [f"case {i}" for i in range(n)], [f"R{j}" for j in range(n_raters)], list("ABCDE")
    day = np.sort(rng.integers(0, 100, n)) * 86_400
    return Dataset.from_classes(
        "guideline",
        *names,
        case.ravel(),
        rater.ravel(),
        answers.ravel(),
        day[case.ravel()],
        gold=truth.astype(np.int32),
    )


def in_groups(seed: int, confusing: float) -> tuple[Dataset, dict[str, np.ndarray]]:
    """Twenty raters in two groups, of which the first confuses A with B.

    Parameters
    ----------
    seed : int
    confusing : float
        Share of annotations of A or B by the second group that are of the other class.
    """
    one, two = simulated(seed, n_raters=20, one=0), simulated(seed, n_raters=20, one=0, everybody=confusing)
    answer = np.where(one.rater < 10, one.answer, two.answer)
    north = np.arange(20) < 10
    return replace(one, answer=answer), {"region: north": north, "region: south": ~north}
