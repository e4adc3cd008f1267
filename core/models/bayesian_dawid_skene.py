"""Dawid & Skene (1979) as a full posterior: Dirichlet priors, true classes summed out (Stan user's guide, 7.4)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import InputError
from ..methods import Option
from ..options import check_number
from ..text import exact, percent
from .confusion_model import ConfusionModel, check_answers
from .dawid_skene_density import DawidSkeneDensity
from .rater_methods import DAWID_SKENE_1979, DRAWS, RaterModelMethod, by_posterior


@checked
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

    Notes
    -----
    A Dirichlet parameter counts as that many observations, see `prior_in_words`. The defaults are those that the
    guide calls weakly informative; 1 everywhere is a flat prior.
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


def prior_in_words(
    n_classes: int, prevalence_prior: float = 3.0, diagonal: float | None = None, off_diagonal: float = 1.0
) -> str:
    """Describe the number of annotations and cases that the prior is worth.

    Parameters
    ----------
    n_classes : int
    prevalence_prior, diagonal, off_diagonal
        See `BayesianDawidSkene`.
    """
    right = 2.5 * n_classes if diagonal is None else diagonal
    wrong = off_diagonal * (n_classes - 1)
    return (
        f"The prior counts as {exact(right + wrong)} annotations per rater and true class ({exact(right)} "
        f"correct, {exact(wrong)} incorrect: accuracy {percent(right / (right + wrong))}), and as "
        f"{exact(prevalence_prior)} {'case' if prevalence_prior == 1 else 'cases'} per class."
    )


def _prior(name: str, default: float | None, label: str, help: str) -> Option:
    return Option(name, float, default, label, help, 0.001, 1e6)


PRIORS = (
    _prior("prevalence_prior", 3.0, "Prior cases per class", "number of prior cases per class [3]"),
    _prior("diagonal", None, "Prior correct annotations per rater and class",
           "number of prior correct annotations per rater and true class [2.5 times the number of classes]"),
    _prior("off_diagonal", 1.0, "Prior annotations of each wrong class per rater and true class",
           "number of prior annotations of each wrong class per rater and true class [1]"),
)  # fmt: skip
METHOD = RaterModelMethod(
    BayesianDawidSkene.name,
    "Dawid-Skene, Bayesian",
    BayesianDawidSkene,
    plainly="Dawid-Skene that accounts for all uncertainty in the confusion matrices.",
    exactly="Posterior of prevalence and confusion matrices under Dirichlet priors, sampled with NUTS. True classes "
    "are summed out (Dawid & Skene 1979; Stan user's guide, 7.4).",
    sources=(DAWID_SKENE_1979,),
    fit=by_posterior,
    ways=("map", "nuts"),
    options=(*PRIORS, *DRAWS),
    place=60,
    warm=True,
)
