"""Posterior of β from held-out annotations, with cases as the clusters.

    p(β | held out) ∝ exp(score(β) n / d) LogNormal(β; ln 0.5, 0.5)

score is the mean log probability of a held-out annotation, d the design effect of the score, and n the geometric mean
of the number of annotations and that of their cases. What annotations of a case say of β is neither independent nor the
same. Cases alone make β too small where raters are independent (three per case and two classes: 16% too many
annotations expected to be wrong, now 11%). Annotations alone take a rare class, which few cases show, for shared
mistakes. Raters who agree on nearly everything say little about β, and the prior then stands.
"""

from dataclasses import dataclass

import numpy as np

from ..text import plural, significant
from ..thresholds import INTERVAL_LEVEL
from .held_out import HeldOut

PRIOR_MEDIAN, PRIOR_SPREAD = 0.5, 0.5
FEWEST_HELD_OUT = 200
_WIDE = (0.2, 1.0)
_NEGLIGIBLE = 0.01


@dataclass(frozen=True, slots=True, eq=False)
class BetaPosterior:
    """Posterior of β on the grid of held-out scores.

    Attributes
    ----------
    betas : ndarray, shape (n_betas,)
        Ascending.
    weight : ndarray, shape (n_betas,)
        Sums to 1.
    why_not : str
        Why β is not known; empty if it is.
    """

    betas: np.ndarray
    weight: np.ndarray
    why_not: str = ""

    @property
    def mean(self) -> float:
        """Posterior mean."""
        return float(self.betas @ self.weight)

    @property
    def interval(self) -> tuple[float, float]:
        """95% interval."""
        reached = self.weight.cumsum()
        low, high = (
            int(np.searchsorted(reached, q - 1e-9)) for q in ((1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2)
        )
        return float(self.betas[low]), float(self.betas[min(high, len(self.betas) - 1)])

    @property
    def points(self) -> list[tuple[float, float]]:
        """Values of β with relevant weight, and their weights, which sum to 1."""
        kept = self.weight >= _NEGLIGIBLE
        return list(zip(self.betas[kept].tolist(), (self.weight[kept] / self.weight[kept].sum()).tolist(), strict=True))

    @property
    def sentence(self) -> str:
        """Sentence on β with its interval, or on why it is unknown."""
        if self.why_not:
            return f"Cannot determine β: {self.why_not}."
        low, high = self.interval
        return f"β: {significant(self.mean, 2)} (95% interval {significant(low, 2)} to {significant(high, 2)})."


def beta_posterior(held: HeldOut, *, differ: bool = True) -> BetaPosterior:
    """Compute the posterior of β of one model.

    Parameters
    ----------
    held : HeldOut
        Held-out scores of a model that takes β; for other models β is 1.
    differ : bool
        True if any two annotations of a case differ.
    """
    if len(held.betas) == 1:
        return BetaPosterior(held.betas, np.ones(1))
    n = np.sqrt(held.n * (held.n_of_case > 0).sum())
    log_weight = held.scores * n / design_effect(held)
    log_weight = log_weight - ((np.log(held.betas / PRIOR_MEDIAN) / PRIOR_SPREAD) ** 2) / 2 - np.log(held.betas)
    weight = np.exp(log_weight - log_weight.max())
    found = BetaPosterior(held.betas, weight / weight.sum())
    low, high = found.interval
    why = ""
    if not differ:
        why = "no two annotations of a case differ"
    elif held.n < FEWEST_HELD_OUT:
        why = f"only {plural(held.n, 'annotation')} could be held out"
    elif low <= _WIDE[0] and high >= _WIDE[1]:
        why = f"any value from {significant(low, 2)} to {significant(high, 2)} is plausible"
    return BetaPosterior(found.betas, found.weight, why)


def design_effect(held: HeldOut) -> float:
    """Compute the variance of the score clustered by case over that of independent annotations, at least 1.

    Parameters
    ----------
    held : HeldOut
        With the probability of each annotation.
    """
    if held.probability is None or not held.probability.size:
        return 1.0
    spread = float(np.log(np.maximum(held.probability.astype(np.float64), 1e-300)).var())
    return max(1.0, held.se**2 * held.n / spread) if spread > 0 else 1.0
