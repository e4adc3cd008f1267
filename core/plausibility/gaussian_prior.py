"""Empirical Bayes for Gaussian scores: the prior that makes the scores of all cases most probable.

Maximises the marginal likelihood ``Σ_cases [ln Γ(an) − ln Γ(a0) + a0 ln b0 − an ln bn + ½ ln(κ0/κn) − (n/2) ln 2π]``
[Stutz et al., Evaluating AI systems under uncertain ground truth, appendix A]. Names as in
`core.plausibility.gaussian`.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..text import number
from .gaussian import GaussianScores, ScoreStatistics, score_statistics

# Bounds of the search, in units of the standard deviation of all scores. Some data have no maximum: if many cases
# are unanimous, the likelihood grows without end as κ0 and b0 go to 0.
BOUNDS = {"m0": (-20.0, 20.0), "k0": (1e-4, 1e4), "a0": (1e-2, 1e4), "b0": (1e-6, 1e6)}
START_SHAPES = (0.5, 2.0, 20.0)
MAX_ITERATIONS = 2000
_ALIKE = 9.0  # Ratio of κ0 to the scores of a case from which the mean of all is nine tenths of the plausible score.


@dataclass(frozen=True, slots=True)
class FittedPrior:
    """Prior of `GaussianScores` that maximises the marginal likelihood of all scores, each counted once.

    Attributes
    ----------
    m0, k0, a0, b0 : float
    log_likelihood, start_log_likelihood : float
        Log-likelihood at the maximum, and at the best of the starts.
    converged : bool
        False if the search stopped before it found a maximum.
    at_bounds : tuple of str
        Parameters at an end of their range: the data determine only a limit, or nothing.
    n_cases, n_scores : int
        Number of cases with a score, and of their scores.
    """

    m0: float
    k0: float
    a0: float
    b0: float
    log_likelihood: float
    start_log_likelihood: float
    converged: bool
    at_bounds: tuple[str, ...]
    n_cases: int
    n_scores: int

    def model(self, threshold: float | None = None) -> GaussianScores:
        """Build the plausibility model with this prior."""
        return GaussianScores(threshold, self.m0, self.k0, self.a0, self.b0)

    def undetermined(self) -> str:
        """Describe in words the parameters that the data do not determine, and their meaning; empty if none."""
        if not self.at_bounds:
            return ""
        names = [f"{name[0]}₀" for name in self.at_bounds]
        ends = (
            "its value is at the limit of the search"
            if len(names) == 1
            else "their values are at the limits of the search"
        )
        return f"The data do not determine {' and '.join(names)}: {ends}. {self._as_far_as_told()}".strip()

    def alike(self) -> str:
        """Warn that scores do not distinguish cases, so that intervals are narrow for no good reason; empty otherwise.

        The prior mean then has at least nine times the weight of the scores of a case.
        """
        if self.k0 <= _ALIKE * self.n_scores / self.n_cases:
            return ""
        return (
            "Scores differ almost as much within cases as between cases, so the plausible score of each case is "
            f"close to the overall mean, {number(self.m0)}, and its interval is narrow. Raters who reverse the scale "
            "or guess have this effect. See the Raters page."
        )

    def _as_far_as_told(self) -> str:
        said = {
            "k0": "cases hardly differ" if self.k0 > 1 else "cases differ far more than raters of the same case",
            "a0": "the spread of raters is the same on all cases"
            if self.a0 > 1
            else "raters differ far more on some cases than on others",
            "b0": "raters hardly differ on many cases",
        }
        told = [said[name] for name in self.at_bounds if name in said]
        return f"These scores suggest that {' and '.join(told)}." if told else ""


def log_marginal(scores: ScoreStatistics, m0: float, k0: float, a0: float, b0: float) -> tuple[float, np.ndarray]:
    """Compute the marginal log-likelihood of all scores, and its gradient with respect to m0, ln κ0, ln a0, ln b0.

    Parameters
    ----------
    scores : ScoreStatistics
    m0, k0, a0, b0 : float
        Prior as in `core.plausibility.gaussian.GaussianScores`; all except m0 above 0.

    Returns
    -------
    tuple of (float, ndarray, shape (4,))
    """
    from scipy.special import gammaln, psi

    n, deviation = scores.n, scores.mean - m0
    k = k0 + n
    a = a0 + n / 2
    b = b0 + scores.squares / 2 + k0 * n * deviation**2 / (2 * k)
    log_b = np.log(b)
    # Compute gamma functions once per number of scores, not for every case.
    sizes, times = np.unique(n, return_counts=True)
    value = (
        times @ (gammaln(a0 + sizes / 2) - gammaln(a0) + 0.5 * np.log(k0 / (k0 + sizes)))
        + a0 * np.log(b0) * len(n)
        - a @ log_b
        - n.sum() / 2 * np.log(2 * np.pi)
    )
    ratio = a / b
    gradient = np.array(
        [
            (ratio * k0 * n * deviation / k).sum(),
            (0.5 * n / k - ratio * k0 * (n * deviation / k) ** 2 / 2).sum(),
            a0 * (times @ (psi(a0 + sizes / 2) - psi(a0)) + (np.log(b0) - log_b).sum()),
            (a0 - ratio * b0).sum(),
        ]
    )
    return float(value), gradient


def fit_prior(dataset: Dataset) -> FittedPrior:
    """Fit the prior by empirical Bayes: L-BFGS on (m0, ln κ0, ln a0, ln b0), from a few starts by moments.

    The best result is refined until the gradient vanishes: on a ridge, the loss stops at a point that depends on
    rounding.

    Raises
    ------
    NotApplicableError
        The annotations are not scores.
    InputError
        No case has two scores, or all scores are equal, so that spread within cases cannot be separated from that
        between them.
    """
    from scipy.optimize import minimize, root

    scores = score_statistics(dataset)
    if not (scores.n >= 2).any():
        raise InputError("Could not fit the prior: no case has two scores.", "Add a second score to some cases.")
    middle, spread = float(dataset.score.mean()), float(dataset.score.std())
    if spread == 0 or dataset.score.min() == dataset.score.max():
        raise InputError("Could not fit the prior: all scores are equal.", "Use scores that differ.")
    used = scores.n > 0
    n = scores.n[used]
    unit = ScoreStatistics(n, (scores.mean[used] - middle) / spread, scores.squares[used] / spread**2)

    def loss(place: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = log_marginal(unit, place[0], *np.exp(place[1:]))
        return -value / len(n), -gradient / len(n)

    bounds = [BOUNDS["m0"], *(tuple(np.log(BOUNDS[name])) for name in ("k0", "a0", "b0"))]
    low, high = np.array(bounds).T
    starts = [np.clip(start, low, high) for start in _starts(unit)]
    options = {"maxiter": MAX_ITERATIONS, "ftol": 1e-13, "gtol": 1e-8}
    fits = [minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options) for start in starts]
    best = min(fits, key=lambda fit: fit.fun)
    bounded = (best.x <= low + 1e-9) | (best.x >= high - 1e-9)
    place, followed = best.x, False
    if not bounded.all():
        flat = root(lambda free: loss(_with(best.x, ~bounded, free))[1][~bounded], best.x[~bounded], tol=1e-13)
        there = _with(best.x, ~bounded, flat.x)
        followed = ((there >= low) & (there <= high)).all() and loss(there)[0] <= best.fun + 1e-10
        place = there if followed else place
    m0, (k0, a0, b0) = place[0], np.exp(place[1:])
    at_bounds = tuple(name for name, at in zip(BOUNDS, bounded, strict=True) if at)
    shift = n.sum() * np.log(spread)  # Convert the density of standardised scores to that of the scores.
    return FittedPrior(
        float(middle + spread * m0),
        float(k0),
        float(a0),
        float(b0 * spread**2),
        float(-best.fun * len(n) - shift),
        float(-min(loss(start)[0] for start in starts) * len(n) - shift),
        bool(best.success or (followed and flat.success)),
        at_bounds,
        len(n),
        int(n.sum()),
    )


def _with(place: np.ndarray, which: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the point with other values of some coordinates."""
    found = place.copy()
    found[which] = values
    return found


def _starts(unit: ScoreStatistics) -> list[np.ndarray]:
    """Compute starts by moments: the variance within cases against that of their means, for a few shapes."""
    within = max(unit.squares.sum() / (unit.n - 1).sum(), 1e-6)
    between = max(unit.mean.var() - within * (1 / unit.n).mean(), 1e-2 * within)
    return [
        np.array([unit.mean.mean(), np.log(within / between), np.log(shape), np.log(shape * within)])
        for shape in START_SHAPES
    ]
