"""Posterior of hierarchical Dawid-Skene, for the sampler."""

import numpy as np

from ..annotations.dataset import Dataset
from ._confusion_kernels import hierarchical_density
from .confusion_density import ConfusionDensity, log_softmax
from .nuts.job_data import packed, unpacked
from .nuts.mode import posterior_mode

ROW_SCALE = 1.5
PREVALENCE_PRIOR = 2.0
NEW_RATERS_AT_MODE = 4000
LAPLACE_ROUNDS = 5
STEPS_PER_ROUND = 60


class _Integrated:
    """Density times the Gaussian volume of eps around its mode, with the curvature fixed at one point.

    A row of logits mu + tau * eps with n expected annotations has curvature I + T H T by eps, T = diag(tau) and
    H = n (diag(p) - p p'). The volume is the inverse root of its determinant; by ln tau_l the log of it falls by
    1 - (I + T H T)^-1[l, l].
    """

    def __init__(self, density: "HierarchicalDensity", point: np.ndarray):
        self._density = density
        probability = np.exp(density.logs(point[None])[1][0])
        outer = np.einsum("jkl,lm->jklm", probability, np.eye(density.n_classes))
        outer -= probability[..., :, None] * probability[..., None, :]
        self._curvature = density.expected_answers(point)[:, :, None, None] * outer

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = self._density.value_and_gradient(theta)
        if value == -np.inf:
            return value, gradient
        tau = self._density.parts(theta[None])[2][0]
        both = tau[:, :, None] * self._curvature * tau[:, None, :] + np.eye(self._density.n_classes)
        value -= 0.5 * float(np.linalg.slogdet(both)[1].sum())
        lost = 1.0 - np.diagonal(np.linalg.inv(both), axis1=2, axis2=3).sum(axis=0) / len(both)
        at = self._density.n_classes - 1 + self._density.n_classes**2
        gradient[at : at + tau.size] -= len(both) * lost.ravel()
        return value, gradient


class HierarchicalDensity(ConfusionDensity):
    """Rows softmax(mu_k + tau_k * eps_jk), non-centred; tau by its logarithm.

    Parameters
    ----------
    dataset : Dataset
    cooperative : bool
        mu_kl < mu_kk: for every true class the raters' centre favours the right annotation. The prior is cut there.
    """

    name = f"{__name__}:HierarchicalDensity"

    def __init__(self, dataset: Dataset, cooperative: bool = True):
        super().__init__(dataset)
        self.cooperative = cooperative
        n = self.n_classes
        self.ndim = n - 1 + n * n * (2 + self.n_raters)
        self.centre = 2.0 * np.eye(n)
        self.prevalence_prior = np.full(n, PREVALENCE_PRIOR)

    @property
    def settings(self) -> dict:
        """Setting that the raters' centre favours right annotations."""
        return {"cooperative": self.cooperative}

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return sizes and annotations."""
        sizes, arrays = packed(self.dataset)
        return sizes | self.settings, arrays

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "HierarchicalDensity":
        """Build the same posterior, without the names of cases and raters."""
        return cls(unpacked(settings, arrays), settings["cooperative"])

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior density up to a constant, with its gradient."""
        return hierarchical_density(
            theta, self.basis, *self.patterns.design, self.prevalence_prior, self.centre, ROW_SCALE, self.cooperative
        )

    def logs(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log prevalence and log confusion of draws."""
        free, mu, tau, eps = self.parts(draws)
        return log_softmax(free @ self.basis.T), log_softmax(mu[:, None] + tau[:, None] * eps)

    def parts(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return coordinates of prevalence, mu and tau, (n_draws, n_classes, n_classes), and eps with raters second."""
        n = self.n_classes
        free, mu, log_tau, eps = np.split(draws, [n - 1, n - 1 + n * n, n - 1 + 2 * n * n], axis=1)
        shape = (len(draws), n, n)
        mu = mu.reshape(shape)
        if self.cooperative:
            right = np.diagonal(mu, axis1=1, axis2=2)[:, :, None]
            mu = np.where(np.eye(n, dtype=bool), mu, right - np.logaddexp(0.0, mu))
        return free, mu, np.exp(log_tau).reshape(shape), eps.reshape(len(draws), self.n_raters, n, n)

    def vote_start(self, log_prevalence: np.ndarray, log_confusion: np.ndarray) -> np.ndarray:
        """Return coordinates near given parameters: mu in the middle of the raters, tau of their spread."""
        centred = log_confusion - log_confusion.mean(axis=2, keepdims=True)
        mu = centred.mean(axis=0)
        tau = np.full(mu.shape, 0.5)
        if self.cooperative:
            ahead = np.maximum(np.diagonal(mu)[:, None] - mu, 0.1)
            mu = np.where(np.eye(len(mu), dtype=bool), mu, np.log(np.expm1(ahead)))
        eps = np.clip((centred - centred.mean(axis=0)) / tau, -2.0, 2.0)
        return np.concatenate((log_prevalence @ self.basis, mu.ravel(), np.log(tau).ravel(), eps.ravel()))

    def _climb(self, start: np.ndarray) -> np.ndarray:
        """Find the mode with the raters' deviations integrated out, by Laplace's method.

        Of tau and eps together the mode has too large a tau: eps then costs nothing, and nobody leans on the others.
        """
        for _ in range(LAPLACE_ROUNDS):
            start = posterior_mode(_Integrated(self, start), start, STEPS_PER_ROUND)
        return start

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return also mu and tau, the centre and the spread of the raters' logits by true and annotated class."""
        _, mu, tau, _ = self.parts(draws)
        return super().quantities(draws) | {"mu": mu, "tau": tau}

    def new_rater(self, draws: np.ndarray, seed: int = 0) -> np.ndarray:
        """Draw confusion matrices of a new rater, one for each draw, shape (n_draws, n_classes, n_classes)."""
        _, mu, tau, _ = self.parts(draws)
        return np.exp(log_softmax(mu + tau * np.random.default_rng(seed).normal(size=mu.shape)))

    def further_parameters(self, draws: np.ndarray, level: float) -> dict[str, np.ndarray]:
        """Return ``mu``, ``tau``, and the confusion matrix of a new rater with its interval.

        From the mode alone the interval is that of raters around it: what is not known of the mode is left out.
        """
        _, mu, tau, _ = self.parts(draws)
        many = np.repeat(draws, NEW_RATERS_AT_MODE, axis=0) if len(draws) == 1 else draws
        new = self.new_rater(many)
        low, high = np.quantile(new, [(1 - level) / 2, (1 + level) / 2], axis=0)
        names = ("mu", "tau", "new_rater", "new_rater_low", "new_rater_high")
        return dict(zip(names, (mu.mean(axis=0), tau.mean(axis=0), new.mean(axis=0), low, high), strict=True))
