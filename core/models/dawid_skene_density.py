"""Posterior of Dawid-Skene under Dirichlet priors, for the sampler."""

import numpy as np

from ..annotations.dataset import Dataset
from ._confusion_kernels import dirichlet_density
from .confusion_density import ConfusionDensity, log_softmax
from .nuts.job_data import packed, unpacked


class DawidSkeneDensity(ConfusionDensity):
    """Rows and prevalence on isometric log-ratio coordinates.

    Parameters
    ----------
    dataset : Dataset
    prevalence_prior : ndarray, shape (n_classes,)
    row_prior : ndarray, shape (n_classes, n_classes)
        Dirichlet parameters of a rater's row, by true and annotated class.
    """

    name = f"{__name__}:DawidSkeneDensity"

    def __init__(self, dataset: Dataset, prevalence_prior: np.ndarray, row_prior: np.ndarray):
        super().__init__(dataset)
        self.prevalence_prior = np.ascontiguousarray(prevalence_prior, np.float64)
        self.row_prior = np.ascontiguousarray(row_prior, np.float64)
        self.ndim = (self.n_classes - 1) * (1 + self.n_raters * self.n_classes)

    @property
    def settings(self) -> dict:
        """The Dirichlet parameters."""
        prior = self.row_prior
        parameters = (self.prevalence_prior[0], prior[0, 0], prior[0, -1])
        return dict(zip(("prevalence_prior", "diagonal", "off_diagonal"), map(float, parameters), strict=True))

    def job(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Return sizes, annotations and priors."""
        settings, arrays = packed(self.dataset)
        return settings, arrays | {"prevalence_prior": self.prevalence_prior, "row_prior": self.row_prior}

    @classmethod
    def from_job(cls, settings: dict, arrays: dict[str, np.ndarray]) -> "DawidSkeneDensity":
        """Build the same posterior, without the names of cases and raters."""
        return cls(unpacked(settings, arrays), arrays["prevalence_prior"], arrays["row_prior"])

    def value_and_gradient(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Compute the log posterior density up to a constant, with its gradient."""
        return dirichlet_density(theta, self.basis, *self.patterns.design, self.prevalence_prior, self.row_prior)

    def logs(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return log prevalence and log confusion of draws."""
        rows = draws.reshape(len(draws), -1, self.n_classes - 1)
        logs = log_softmax(rows @ self.basis.T)
        return logs[:, 0], logs[:, 1:].reshape(len(draws), self.n_raters, self.n_classes, self.n_classes)

    def vote_start(self, log_prevalence: np.ndarray, log_confusion: np.ndarray) -> np.ndarray:
        """Return the coordinates of given parameters."""
        rows = np.concatenate((log_prevalence[None], log_confusion.reshape(-1, self.n_classes)))
        return (rows @ self.basis).ravel()
