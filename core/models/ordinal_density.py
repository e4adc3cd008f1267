"""Posterior of the ordinal rater model, for the sampler."""

import numpy as np

from ..annotations.dataset import Dataset
from ._confusion_kernels import ordinal_posterior, ordinal_walk
from ._ordinal_kernels import rows_of_raters
from .confusion_density import ConfusionDensity, log_softmax
from .nuts.job_data import packed, unpacked
from .reparametrise import expit

MEAN = np.array([0.0, np.log(0.7), -1.5])
SD = np.array([0.5, 0.5, 1.5])
NAMES = ("severity", "spread", "slip")
PREVALENCE_PRIOR = 2.0
_N_BURN, _N_WALKED, _EVERY = 1000, 1000, 5


def natural(own: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return severity, spread and slip from (δ, ln ψ, logit e) along the last axis."""
    return own[..., 0].copy(), np.exp(own[..., 1]), expit(own[..., 2])


def guesses_of(dataset: Dataset) -> np.ndarray:
    """Return the distribution of slips, (n_classes,): shares of all annotations, with one more of each class."""
    named = np.bincount(dataset.answer, minlength=dataset.n_classes) + 1.0
    return named / named.sum()


class OrdinalDensity(ConfusionDensity):
    """Prevalence on log ratios, then every rater's (δ, ln ψ, logit e) in standard deviations from the prior mean.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, in their order.
    guess : ndarray, shape (n_classes,), optional
        Distribution of the classes of a slip; the shares of the annotations if omitted.
    """

    name = f"{__name__}:OrdinalDensity"

    def __init__(self, dataset: Dataset, guess: np.ndarray | None = None):
        super().__init__(dataset)
        self.guess = np.ascontiguousarray(guesses_of(dataset) if guess is None else guess, np.float64)
        self.ndim = self.n_classes - 1 + 3 * self.n_raters
        self.prevalence_prior = np.full(self.n_classes, PREVALENCE_PRIOR)

    @property
    def settings(self) -> dict:
        """The Dirichlet parameter of the prevalence."""
        return {"prevalence_prior": PREVALENCE_PRIOR}

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return sizes, annotations and the distribution of slips."""
        settings, arrays = packed(self.dataset)
        return settings, arrays | {"guess": self.guess}

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "OrdinalDensity":
        """Build the same posterior, without the names of cases and raters."""
        return cls(unpacked(settings, arrays), arrays["guess"])

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior density up to a constant, with its gradient."""
        return ordinal_posterior(theta, self.basis, *self.patterns.design, self.prevalence_prior, MEAN, SD, self.guess)

    def walk(self, start: np.ndarray, covariance: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
        """Run a short chain in this process, for posteriors that are fast to compute.

        Parameters
        ----------
        start : ndarray, shape (ndim,)
        covariance : ndarray, shape (ndim, ndim)
            About that of the posterior.
        seed : int

        Returns
        -------
        tuple of (ndarray, shape (n_draws, ndim), float)
            Draws, and the share of steps that was accepted.
        """
        return ordinal_walk(
            np.ascontiguousarray(start), np.linalg.cholesky(covariance), seed, _N_BURN, _N_WALKED, _EVERY, self.basis,
            *self.patterns.design, self.prevalence_prior, MEAN, SD, self.guess,
        )  # fmt: skip

    def own(self, draws: np.ndarray) -> np.ndarray:
        """Return (δ, ln ψ, logit e) of every rater, shape (n_draws, n_raters, 3)."""
        return MEAN + SD * draws[:, self.n_classes - 1 :].reshape(len(draws), self.n_raters, 3)

    def logs(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log prevalence and log confusion of draws."""
        n = self.n_classes
        rows = np.empty((len(draws) * self.n_raters, n, n))
        rows_of_raters(np.ascontiguousarray(self.own(draws).reshape(-1, 3)), self.guess, rows)
        by_truth = rows.reshape(len(draws), self.n_raters, n, n).transpose(0, 1, 3, 2)
        return log_softmax(draws[:, : n - 1] @ self.basis.T), np.log(by_truth)

    def vote_start(self, log_prevalence: np.ndarray, log_confusion: np.ndarray) -> np.ndarray:
        """Return the given prevalence, with raters at the prior mean."""
        return np.concatenate([log_prevalence @ self.basis, np.zeros(3 * self.n_raters)])

    def quantities(self, draws: np.ndarray) -> dict[str, np.ndarray]:
        """Return also severity, spread and slip of every rater."""
        return super().quantities(draws) | dict(zip(NAMES, natural(self.own(draws)), strict=True))

    def further_parameters(self, draws: np.ndarray, level: float) -> dict[str, np.ndarray]:
        """Return severity, spread and slip with their intervals, each of shape (n_raters,), and the slip distribution.

        From the mode alone without intervals.
        """
        found = {"guesses": self.guess}
        tails = [(1 - level) / 2, (1 + level) / 2]
        for name, drawn in zip(NAMES, natural(self.own(draws)), strict=True):
            found[name] = drawn.mean(axis=0)
            if len(draws) > 1:
                found[f"{name}_low"], found[f"{name}_high"] = np.quantile(drawn, tails, axis=0)
        return found
