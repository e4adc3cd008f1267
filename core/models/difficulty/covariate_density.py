"""Posterior of a difficulty model with covariates, case effects and true classes integrated out.

``logit π_i = b₀ + x_i b``; log odds of a right annotation ``α_jz − β_i`` with ``α_jz = μ_z + u_j γ_z + τ e_jz``
(specificity, sensitivity) and ``β_i = x_i η + σ ε_i``; e and ε standard normal (Han, Adıgüzel & Carpenter 2024, section
on covariates, with a common distribution of raters). Priors: b₀ and b N(0, 1), μ N(1.7, 0.7), γ and η
N(0, 0.7), ln σ N(0, 0.5), ln τ N(−0.7, 0.7): on average raters do better than chance.
"""

from dataclasses import dataclass, field

import numpy as np

from ...annotations.dataset import Dataset
from ..nuts.job_data import packed, unpacked
from ._covariate_kernels import covariate_likelihood
from .nodes import difficulty_rule

N_NODES = 31
PRIOR_LOG_TAU = (-0.7, 0.7)  # mean and sd


@dataclass(frozen=True, slots=True, eq=False)
class CovariateParameters:
    """Parameters by name, or what belongs to them.

    Attributes
    ----------
    intercept : ndarray, shape (..., 1)
        b₀.
    prevalence, difficulty : ndarray, shape (..., n_case_regressors)
        b and η.
    log_spread : ndarray, shape (..., 1)
        ln σ.
    mean : ndarray, shape (..., 2)
        μ of specificity and sensitivity.
    ability : ndarray, shape (..., 2 * n_rater_regressors)
        γ, those of specificity first.
    rater : ndarray, shape (..., 2 * n_raters)
        e, those of specificity first.
    log_tau : ndarray, shape (..., 1)
    """

    intercept: np.ndarray
    prevalence: np.ndarray
    difficulty: np.ndarray
    log_spread: np.ndarray
    mean: np.ndarray
    ability: np.ndarray
    rater: np.ndarray
    log_tau: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class CovariateDensity:
    """Density of one dataset of two classes with regressors of cases and raters.

    Attributes
    ----------
    dataset : Dataset
    positive : int
        Code of the class z = 1.
    of_cases : ndarray, shape (n_cases, n_case_regressors)
    of_raters : ndarray, shape (n_raters, n_rater_regressors)
    mode : ndarray, shape (ndim,)
        Centre of the coordinates. Not given: zeros.
    scale : ndarray, shape (ndim, ndim), or None
        Symmetric; parameters are ``mode + scale @ coordinates``. None: coordinates are the parameters.
    """

    dataset: Dataset
    positive: int
    of_cases: np.ndarray
    of_raters: np.ndarray
    mode: np.ndarray = field(default_factory=lambda: np.empty(0))
    scale: np.ndarray | None = None
    name: str = field(default=f"{__name__}:CovariateDensity", init=False)
    ndim: int = field(init=False)
    _ends: np.ndarray = field(init=False)
    _prior: tuple[np.ndarray, np.ndarray] = field(init=False)

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen
        p, q, n = self.of_cases.shape[1], self.of_raters.shape[1], self.dataset.n_raters
        sizes = (1, p, p, 1, 2, 2 * q, 2 * n, 1)
        put(self, "ndim", sum(sizes))
        put(self, "_ends", np.cumsum(sizes)[:-1])
        centre, sd = np.zeros(self.ndim), np.ones(self.ndim)
        prior = self.split(centre), self.split(sd)
        prior[1].log_spread[:] = 0.5
        prior[0].mean[:], prior[1].mean[:] = 1.7, 0.7
        prior[1].ability[:], prior[1].difficulty[:] = 0.7, 0.7
        prior[0].log_tau[:], prior[1].log_tau[:] = PRIOR_LOG_TAU
        put(self, "_prior", (centre, sd))
        put(self, "mode", self.mode if self.mode.size else np.zeros(self.ndim))

    def split(self, theta: np.ndarray) -> CovariateParameters:
        """Return parameters by name, views of ``theta`` of shape (..., ndim)."""
        return CovariateParameters(*np.split(theta, self._ends, axis=-1))

    def parameters_at(self, draws: np.ndarray) -> np.ndarray:
        """Convert coordinates to parameters, both of shape (n_draws, ndim)."""
        return np.asarray(draws, float) if self.scale is None else self.mode + np.asarray(draws) @ self.scale

    def abilities(self, at: CovariateParameters) -> np.ndarray:
        """Return α, shape (..., n_raters, 2), last axis specificity and sensitivity."""
        regressors, n = self.of_raters, self.dataset.n_raters
        tau, shape = np.exp(at.log_tau), at.mean.shape[:-1]
        sides = [
            at.mean[..., z, None]
            + at.ability.reshape(*shape, 2, -1)[..., z, :] @ regressors.T
            + tau * at.rater.reshape(*shape, 2, n)[..., z, :]
            for z in (0, 1)
        ]
        return np.ascontiguousarray(np.stack(sides, axis=-1))

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior up to a constant, with its gradient; ``-inf`` and zeros on overflow."""
        with np.errstate(all="ignore"):
            parameters = theta if self.scale is None else self.mode + self.scale @ theta
            value, gradient = self._at(parameters)
            gradient = gradient if self.scale is None else self.scale @ gradient
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            return -np.inf, np.zeros(self.ndim)
        return value, gradient

    def _at(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        dataset, at = self.dataset, self.split(theta)
        alpha, spread = self.abilities(at), float(np.exp(at.log_spread[0]))
        node, weight = difficulty_rule(N_NODES)
        by_logit, by_location, by_alpha = np.empty(dataset.n_cases), np.empty(dataset.n_cases), np.empty_like(alpha)
        value, by_spread = covariate_likelihood(
            at.intercept[0] + self.of_cases @ at.prevalence, alpha, self.of_cases @ at.difficulty, spread, node, weight,
            dataset.case_ptr, dataset.rater, dataset.answer == self.positive, by_logit, by_alpha, by_location,
        )  # fmt: skip
        centre, sd = self._prior
        off = (theta - centre) / sd
        gradient = -off / sd
        by, tau = self.split(gradient), float(np.exp(at.log_tau[0]))
        by.intercept[:] += by_logit.sum()
        by.prevalence[:] += self.of_cases.T @ by_logit
        by.difficulty[:] += self.of_cases.T @ by_location
        by.log_spread[:] += spread * by_spread
        by.mean[:] += by_alpha.sum(axis=0)
        by.ability[:] += (self.of_raters.T @ by_alpha).T.ravel()
        by.rater[:] += tau * by_alpha.T.ravel()
        by.log_tau[:] += tau * float(by_alpha.T.ravel() @ at.rater)
        return float(value - 0.5 * off @ off), gradient

    def start(self) -> np.ndarray:
        """Return the centre of the prior, with the share of positive annotations as prevalence."""
        theta = self._prior[0].copy()
        share = ((self.dataset.answer == self.positive).sum() + 1) / (self.dataset.n_annotations + 2)
        self.split(theta).intercept[:] = np.log(share) - np.log1p(-share)
        return theta

    def starts(self, n_chains: int, seed: int) -> np.ndarray:
        """Return starts of chains: the centre and points around it, half as far apart as the posterior spreads."""
        noise = 0.5 * np.random.default_rng(seed).standard_normal((n_chains, self.ndim))
        noise[:1] = 0.0
        return noise if self.scale is not None else self.start() + 0.2 * noise

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return settings and arrays for `from_job`, without names of cases and raters."""
        settings, arrays = packed(self.dataset)
        own = {"of_cases": self.of_cases, "of_raters": self.of_raters, "mode": self.mode}
        more = {} if self.scale is None else {"scale": self.scale}
        return settings | {"positive": self.positive}, arrays | own | more

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "CovariateDensity":
        """Build the same density, its cases and raters named by number."""
        of_cases, of_raters = (np.ascontiguousarray(arrays[name]) for name in ("of_cases", "of_raters"))
        return cls(
            unpacked(settings, arrays), settings["positive"], of_cases, of_raters, arrays["mode"], arrays.get("scale")
        )
