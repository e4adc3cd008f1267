"""Dawid & Skene (1979) as a full posterior: Dirichlet priors, true classes summed out (Stan user's guide, 7.4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ..options import check_number
from .confusion_model import ConfusionModel, check_answers
from .dawid_skene_density import DawidSkeneDensity
from .rater_methods import DAWID_SKENE_1979, posterior_method


@dataclass(frozen=True, slots=True)
class BayesianDawidSkene(ConfusionModel):
    """Posterior of prevalence and confusion matrices.

    Parameters
    ----------
    prevalence_prior : float
        Dirichlet parameter of every class.
    diagonal : float, optional
        Dirichlet parameter of a right annotation, 2.5 K if omitted.
    off_diagonal : float
        Dirichlet parameter of each wrong annotation.
    """

    name: ClassVar[str] = "bayesian-dawid-skene"
    prevalence_prior: float = 3.0
    diagonal: float | None = None
    off_diagonal: float = 1.0

    def __post_init__(self) -> None:
        for value in (self.prevalence_prior, self.diagonal, self.off_diagonal):
            if value is not None:
                check_number(value, "A Dirichlet parameter")
            if value is not None and value <= 0:
                raise InputError(f"Dirichlet parameters must be above 0; got {value}.", "Use a positive number.")

    def density(self, dataset: Dataset) -> DawidSkeneDensity:
        """Build the posterior for the sampler.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes of at least two, are anonymous, or there is none.
        LimitError
            The tables would not fit into memory.
        """
        check_answers("Bayesian Dawid-Skene", dataset)
        n = dataset.n_classes
        rows = np.full((n, n), self.off_diagonal)
        np.fill_diagonal(rows, 2.5 * n if self.diagonal is None else self.diagonal)
        return DawidSkeneDensity(dataset, np.full(n, self.prevalence_prior), rows)


METHOD = posterior_method(
    BayesianDawidSkene.name,
    "Dawid-Skene, Bayesian",
    BayesianDawidSkene,
    plainly="Dawid-Skene with the full uncertainty of the confusion matrices.",
    exactly="Posterior of prevalence and confusion matrices under Dirichlet priors, true classes summed out, by NUTS "
    "(Dawid & Skene 1979; Stan user's guide, 7.4).",
    sources=(DAWID_SKENE_1979,),
    place=60,
    warm=True,
)
