"""Trust in each rater from a chain: how often rankings follow the case instead of the popularity of classes."""

from dataclasses import dataclass

import numpy as np

from ...models.nuts.mixing import ess_bulk, r_hat
from ...result_base import Columns, Result
from ...text import exact, number
from ...thresholds import INTERVAL_LEVEL

LEAST_DRAWS = 20
MAX_RHAT = 1.05
MIN_ESS = 100.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RaterTrust(Result):
    """Posterior of a_j, the share of rater j's annotations that follow the case and not class popularity.

    It orders raters. It is not their accuracy: its level depends on the prior of the plausibilities.

    Attributes
    ----------
    raters : tuple of str
    n : ndarray of int64, shape (n_raters,)
        Number of annotations of each rater.
    mean, sd, ci_low, ci_high : ndarray of float64, shape (n_raters,)
        Statistics of the draws; the interval has ``level``, between quantiles.
    place, place_low, place_high : ndarray of int64, shape (n_raters,)
        Place among the raters by mean, 1 for the most trusted, and the interval of the place over draws.
    rhat, ess : ndarray of float64, shape (n_raters,)
        Split R-hat and effective number of draws; NaN if chains are too short.
    prior : tuple of float
        A and B of Beta(A, B).
    reliability : float
        Value of γ at which they were estimated.
    held : bool
        True if they are fixed at their means while plausibilities are drawn at another γ.
    level : float
    """

    raters: tuple[str, ...]
    n: np.ndarray
    mean: np.ndarray
    sd: np.ndarray
    ci_low: np.ndarray
    ci_high: np.ndarray
    place: np.ndarray
    place_low: np.ndarray
    place_high: np.ndarray
    rhat: np.ndarray
    ess: np.ndarray
    prior: tuple[float, float]
    reliability: float
    held: bool
    level: float = INTERVAL_LEVEL

    TABLES = ("raters",)

    def _columns(self, table: str, most: int | None) -> Columns:
        names = ("n", "mean", "sd", "ci_low", "ci_high", "place", "place_low", "place_high", "rhat", "ess")
        return {"rater": self.raters, **{name: getattr(self, name) for name in names}}

    @property
    def converged(self) -> bool:
        """True if every rater's chains agree and are long enough."""
        return bool((self.rhat <= MAX_RHAT).all() and (self.ess >= MIN_ESS).all())

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that must be shown with the numbers."""
        words = [
            "These weights rank the raters. They are not accuracies: their level depends on the prior.",
            "Weights and plausibilities are estimated together from all cases, so if you select different cases, the "
            "results for each case change too.",
        ]
        if self.held:
            words.append(
                f"Weights are estimated at γ = {exact(self.reliability)} and stay fixed while plausibilities are "
                "drawn at the chosen γ. If weights were estimated at a larger γ, they would tend to 0 or 1."
            )
        if not self.converged:
            words.append(_mixing_note(self))
        return tuple(words)


def rater_trust(
    raters: tuple[str, ...],
    n: np.ndarray,
    draws: np.ndarray,
    prior: tuple[float, float],
    reliability: float,
    *,
    held: bool,
) -> RaterTrust:
    """Summarise draws of a.

    Parameters
    ----------
    raters : tuple of str
    n : ndarray of int64, shape (n_raters,)
        Annotations of each rater.
    draws : ndarray, shape (n_chains, n_draws, n_raters)
    prior : tuple of two float
        A and B of Beta(A, B).
    reliability : float
        Value of γ at which they were drawn.
    held : bool
        True if they are fixed at their means while plausibilities are drawn at another γ.
    """
    flat = draws.reshape(-1, draws.shape[2])
    tails = [(1 - INTERVAL_LEVEL) / 2, (1 + INTERVAL_LEVEL) / 2]
    low, high = np.quantile(flat, tails, axis=0)
    places = 1 + np.argsort(np.argsort(-flat, axis=1, kind="stable"), axis=1)
    place_low, place_high = np.quantile(places, tails, axis=0, method="nearest")
    mean = flat.mean(axis=0)
    long_enough = draws.shape[1] >= LEAST_DRAWS
    unknown = np.full(len(raters), np.nan)
    return RaterTrust(
        raters,
        n,
        mean,
        flat.std(axis=0, ddof=1) if len(flat) > 1 else np.zeros(len(raters)),
        low,
        high,
        1 + np.argsort(np.argsort(-mean, kind="stable")),
        place_low.astype(np.int64),
        place_high.astype(np.int64),
        r_hat(draws) if long_enough else unknown,
        ess_bulk(draws) if long_enough else unknown,
        prior,
        float(reliability),
        held,
    )


def _mixing_note(trust: RaterTrust) -> str:
    if np.isnan(trust.rhat).any():
        return "The chains are too short to check convergence. Use more draws."
    worst = int(trust.rhat.argmax())
    if trust.rhat[worst] > MAX_RHAT:
        return f"Not converged: R-hat {number(trust.rhat[worst])} for rater {trust.raters[worst]}. Use more draws."
    least = int(trust.ess.argmin())
    return (
        f"Not converged: only {number(trust.ess[least], 0)} effective draws for rater {trust.raters[least]}; at least "
        f"{number(MIN_ESS, 0)} are needed. Use more draws."
    )
