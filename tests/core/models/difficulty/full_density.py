"""Posterior with the effects of every case as coordinates: a slow cross-check of the quadrature.

Coordinates: those of the collapsed density, then, where the model has them, β, ln δ / 0.25 and logit λ of each case.
The true classes are still summed over. Nothing collapses here: the effects of two cases with the same annotations
differ.
"""

from dataclasses import dataclass, field

import numpy as np

from core.models.difficulty._kernels import with_prior
from core.models.difficulty.density import DifficultyDensity
from core.models.difficulty.nodes import LOG_DISCRIMINATION_SD


@dataclass(frozen=True, slots=True, eq=False)
class FullDifficultyDensity:
    """Density of parameters and case effects; questions about cases are answered from the parameters only."""

    collapsed: DifficultyDensity
    name: str = field(default=f"{__name__}:FullDifficultyDensity", init=False)

    @property
    def effects(self) -> tuple[str, ...]:
        """Effects the model has, in the order of the coordinates."""
        present = ("difficulty", "discrimination", "guessing")
        return tuple(name for name in present if getattr(self.collapsed.on, name))

    @property
    def ndim(self) -> int:
        """Coordinates of the parameters and of all cases."""
        return self.collapsed.ndim + len(self.effects) * self.collapsed.dataset.n_cases

    @property
    def case_count(self) -> np.ndarray:
        """Cases of each pattern of the collapsed density."""
        return self.collapsed.case_count

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return the job of the collapsed density."""
        return self.collapsed.job()

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "FullDifficultyDensity":
        """Build the same density, its cases and raters named by number."""
        return cls(DifficultyDensity.from_job(settings, arrays))

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior up to the constant that the collapsed density leaves out, with its gradient.

        The densities of the effects are normalised: integrated over them, this is the collapsed density.
        """
        with np.errstate(all="ignore"):
            value, gradient = self._unguarded(np.asarray(theta, float))
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return -np.inf, np.zeros(self.ndim)
        return float(value), gradient

    def _unguarded(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        own, on, dataset = self.collapsed, self.collapsed.on, self.collapsed.dataset
        n_cases, case = dataset.n_cases, dataset.case_of_annotation
        rater = dataset.rater if on.ability else np.zeros_like(dataset.rater)
        positive = dataset.answer == own.specification.positive
        top = own.parameters_at(theta[None, : own.ndim])[0]
        logit, alpha = (part[0] for part in own.coefficients(theta[None, : own.ndim]))
        effects = dict(zip(self.effects, theta[own.ndim :].reshape(-1, n_cases), strict=True))
        beta = effects.get("difficulty", np.zeros(n_cases))
        delta = np.exp(LOG_DISCRIMINATION_SD * effects.get("discrimination", np.zeros(n_cases)))
        guess = _logistic(effects["guessing"]) if on.guessing else np.zeros(n_cases)

        joint = np.stack([np.tile(-np.logaddexp(0, logit), n_cases), np.tile(-np.logaddexp(0, -logit), n_cases)])
        slopes = []
        for z in (0, 1):
            log_odds = alpha[rater, z] - beta[case]
            miss = _logistic(-delta[case] * log_odds)
            right = 1 - (1 - guess[case]) * miss
            wrong = (1 - guess[case]) * miss
            agrees = positive == z
            joint[z] += np.bincount(case, np.log(np.where(agrees, right, wrong)), n_cases)
            by_scaled = (1 - miss) * np.where(agrees, wrong / right, -1.0)
            by_guess = np.where(agrees, miss / right, -1 / (1 - guess[case]))
            slopes.append((delta[case] * by_scaled, log_odds * delta[case] * by_scaled, by_guess))
        log_p = np.logaddexp(*joint)
        share = np.exp(joint - log_p)

        slope = np.zeros((own.n_alpha, 2))
        by_case = {name: np.zeros(n_cases) for name in ("difficulty", "discrimination", "guessing")}
        for z, (by_alpha, by_log_delta, by_guess) in enumerate(slopes):
            weight = share[z, case]
            slope[:, z] = np.bincount(rater, weight * by_alpha, own.n_alpha)
            by_case["difficulty"] -= np.bincount(case, weight * by_alpha, n_cases)
            by_case["discrimination"] += LOG_DISCRIMINATION_SD * np.bincount(case, weight * by_log_delta, n_cases)
            by_case["guessing"] += guess * (1 - guess) * np.bincount(case, weight * by_guess, n_cases)
        value, gradient = log_p.sum(), np.empty(self.ndim)
        if own.ndim:
            flags = not on.bias, own.specification.cooperative
            slope_logit = (share[1] - _logistic(logit)).sum()
            value = with_prior(top, alpha, *flags, own.prior, value, slope_logit, slope, gradient)
            gradient[: own.ndim] = own.gradient_by_coordinates(gradient[: own.ndim])
        for row, (name, x) in enumerate(effects.items()):
            if name == "guessing":  # Beta(2, 2) is 6 λ (1 - λ), and the Jacobian of its logit λ (1 - λ) again
                value += (np.log(6.0) - 2 * np.logaddexp(0, x) - 2 * np.logaddexp(0, -x)).sum()
                by_prior = 2 - 4 * guess
            else:
                value -= 0.5 * (x**2 + np.log(2 * np.pi)).sum()
                by_prior = -x
            gradient[own.ndim + row * n_cases : own.ndim + (row + 1) * n_cases] = by_case[name] + by_prior
        return value, gradient

    def starts(self, n_chains: int, seed: int) -> np.ndarray:
        """Return the collapsed density's starts, with effects drawn from their priors."""
        n_effects = self.ndim - self.collapsed.ndim
        effects = np.random.default_rng([seed, 1]).standard_normal((n_chains, n_effects))
        return np.concatenate((self.collapsed.starts(n_chains, seed), effects), axis=1)

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return the quantities of the collapsed density."""
        return self.collapsed.quantities(self._top(draws))

    def log_likelihood(self, draws: np.ndarray) -> np.ndarray:
        """Compute the log likelihood of the collapsed density."""
        return self.collapsed.log_likelihood(self._top(draws))

    def simulate(self, theta: np.ndarray, seed: int) -> np.ndarray:
        """Simulate new cases by the collapsed density."""
        return self.collapsed.simulate(theta[: self.collapsed.ndim], seed)

    def _top(self, draws: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(draws[:, : self.collapsed.ndim])


def _logistic(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
