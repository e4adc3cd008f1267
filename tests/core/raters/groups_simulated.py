"""Raters with facts, of whom one group may see cases in another way."""

import numpy as np

from core.annotations.dataset import Dataset
from core.raters.groups import RaterFacts


def simulated(
    seed: int,
    n: int = 300,
    n_raters: int = 60,
    per_case: int = 8,
    shift: float = 0.0,
    apart: float = 0.0,
    kind: str = "score",
) -> tuple[Dataset, RaterFacts]:
    """Scores or classes of random raters per case; the raters of group "a" add a shift, and a view of their own.

    Parameters
    ----------
    seed, n, n_raters, per_case : int
    shift : float
        Of all scores of group "a".
    apart : float
        Standard deviation of what group "a" sees in a case beyond what all others see.
    kind : {"score", "class"}
        Classes are ranks of the scores, without an order.
    """
    rng = np.random.default_rng(seed)
    value = rng.permutation(np.arange(n_raters) % 3)
    rater = np.stack([rng.choice(n_raters, per_case, replace=False) for _ in range(n)])
    mine = value[rater] == 0
    case = rng.normal(0, 1, (n, 1)) + mine * (shift + apart * rng.normal(0, 1, (n, 1)))
    score = case + 0.3 * rng.normal(0, 1, n_raters)[rater] + rng.normal(0, 1, rater.shape)
    place = np.repeat(np.arange(n), per_case)
    names = [f"case {i}" for i in range(n)], [f"R{j}" for j in range(n_raters)]
    told = tuple("abc"[k] for k in value)
    other = tuple("xy"[k] for k in rng.permutation(np.arange(n_raters) % 2))
    facts = RaterFacts(("region", "hand"), (told, other))
    if kind == "score":
        return Dataset.from_scores("groups", *names, place, rater.ravel(), np.round(score.ravel(), 3)), facts
    answer = np.digitize(score.ravel(), [-0.7, 0.7])
    return Dataset.from_classes("groups", *names, ["low", "middle", "high"], place, rater.ravel(), answer), facts
