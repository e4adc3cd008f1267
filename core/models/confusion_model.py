"""Bayesian confusion-matrix models: requirements on the data, and fitting."""

from typing import ClassVar, Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..runtime.chunks import CancelToken
from .confusion_density import ConfusionDensity
from .confusion_summary import summarise
from .nuts.fitting import check_method, fit_by_map, fit_by_nuts
from .nuts.result import BayesianFit
from .nuts.sampler import TARGET_ACCEPT, Progress
from .result import RaterModelFit
from .sizes import check_size


class ConfusionModel:
    """Base class of models with a `ConfusionDensity`.

    Attributes
    ----------
    name : str
        Name of its `Method`.
    target_accept : float
        See `core.models.nuts.sampler.sample`.
    """

    __slots__ = ()
    name: ClassVar[str]
    target_accept: ClassVar[float] = TARGET_ACCEPT

    def density(self, dataset: Dataset) -> ConfusionDensity:
        """Build the posterior for the sampler."""
        raise NotImplementedError

    def summarise(self, density: ConfusionDensity, draws: np.ndarray, method: str, level: float) -> RaterModelFit:
        """Summarise draws; see `core.models.nuts.density.Summarise`.

        Parameters
        ----------
        density : ConfusionDensity
        draws : ndarray, shape (n_draws, ndim)
            On the coordinates of the density.
        method : str
            "map" or "nuts".
        level : float
            Confidence level of intervals, 0 to 1.
        """
        return summarise(self.name, density, draws, method, level)

    def fit(
        self,
        dataset: Dataset,
        *,
        method: Literal["map", "nuts"] = "nuts",
        n_draws: int = 1000,
        n_tune: int = 1000,
        n_chains: int = 4,
        seed: int = 0,
        level: float = 0.95,
        token: CancelToken | None = None,
        progress: Progress | None = None,
    ) -> BayesianFit:
        """Fit by the mode ("map"), or by chains ("nuts"); see `core.models.nuts.fitting`.

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes, with raters who are identified.
        method : {"map", "nuts"}
            The mode alone, or chains.
        n_draws, n_tune, n_chains : int
            Draws and steps of tuning of each chain, and how many chains; of "nuts".
        seed : int
        level : float
            Confidence level of intervals, 0 to 1.
        token : CancelToken, optional
        progress : callable, optional
            Called with the share done, 0 to 1, and what is being done in words.

        Raises
        ------
        InputError
            The method is unknown.
        NotApplicableError
            The annotations are not single classes, fewer than two classes are declared, raters are anonymous, or there
            is no annotation.
        LimitError
            The tables or the draws would not fit into memory.
        core.runtime.processes.WorkerError
            The sampler's process ended without a result.
        Cancelled
            The token was raised.
        """
        check_method(method)
        if method == "map":
            return self._at_mode(dataset, seed, level, token)
        return fit_by_nuts(
            self.density(dataset),
            self.summarise,
            dataset,
            n_draws=n_draws,
            n_tune=n_tune,
            n_chains=n_chains,
            seed=seed,
            level=level,
            target_accept=self.target_accept,
            token=token,
            progress=progress,
        )

    def _at_mode(self, dataset: Dataset, seed: int, level: float, token: CancelToken | None) -> BayesianFit:
        density = self.density(dataset)
        return fit_by_map(density, self.summarise, dataset, mode=density.mode(), level=level, seed=seed, token=token)


def check_answers(title: str, dataset: Dataset) -> None:
    """Raise unless a confusion-matrix model can be fitted to the data."""
    check_size(title, dataset)
    dataset.check_raters("Cannot estimate the accuracy of raters")
    if dataset.n_classes < 2:
        raise NotApplicableError(
            f"Could not fit {title}: it needs at least two classes, but only {dataset.n_classes:,} is declared."
        )
    if not np.size(dataset.answer):
        raise NotApplicableError(f"Could not fit {title}: there are no annotations.")
