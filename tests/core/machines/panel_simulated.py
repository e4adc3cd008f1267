"""People and AI raters on the same cases, whose mistakes are shared by a normal copula."""

import numpy as np
from scipy.special import ndtri

from core.annotations.dataset import Dataset

CORRECT = 0.8


def simulated(
    seed: int, n: int = 600, shared: float = 0.0, n_classes: int = 2, n_people: int = 3, n_ai: int = 6
) -> tuple[Dataset, list[str]]:
    """A dataset with gold, everybody correct on 80%, and the names of its AI raters.

    Parameters
    ----------
    seed, n : int
    shared : float
        Correlation of the normal variables behind the mistakes of AI raters.
    n_classes, n_people, n_ai : int
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n_classes, n)
    common, own = rng.standard_normal((n, 1)), rng.standard_normal((n, n_ai))
    of_ai = np.sqrt(shared) * common + np.sqrt(1 - shared) * own < ndtri(1 - CORRECT)
    wrong = np.hstack([rng.random((n, n_people)) > CORRECT, of_ai])
    off = rng.integers(1, n_classes, wrong.shape)
    return dataset_of(np.where(wrong, (truth[:, None] + off) % n_classes, truth[:, None]), n_people, truth, n_classes)


def dataset_of(
    answers: np.ndarray, n_people: int, gold: np.ndarray | None = None, n_classes: int = 2
) -> tuple[Dataset, list[str]]:
    """A dataset of a matrix of cases by raters, -1 missing; the first raters are people."""
    n, n_raters = answers.shape
    ai = [f"AI {place}" for place in range(n_raters - n_people)]
    raters = [*(f"person {place}" for place in range(n_people)), *ai]
    case, rater = np.nonzero(answers >= 0)
    names = [f"case {place}" for place in range(n)], raters, [f"class {k}" for k in range(n_classes)]
    side = {} if gold is None else {"gold": gold.astype(np.int32)}
    return Dataset.from_classes("panel", *names, case, rater, answers[case, rater], **side), ai
