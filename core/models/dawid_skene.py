"""Dawid & Skene (1979): a confusion matrix for every rater, by expectation-maximisation.

``z_i ~ Cat(π)``, ``y_n ~ Cat(θ[rater n, z of case n])``. The Stan user's guide, section 7.4, prints ``θ_{j, π_z[i]}``;
the index is the case's true class, ``θ_{j, z[i]}``. DOI of the original: 10.2307/2346806.
"""

from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from ..annotations.dataset import Dataset
from ..chunks import CancelToken
from .design import design
from .em import no_prior
from .em_model import EmModel, Problem
from .identifiability import two_per_case
from .rater_methods import DAWID_SKENE_1979, em_method, em_options
from .reparametrise import SimplexChart
from .restarts import Restarts
from .smoothing import Smoothing, default_smoothing, diagonal_prior, pooled_prior
from .stopping import StoppingRule

__all__ = ["DawidSkene", "Restarts", "Smoothing", "StoppingRule", "default_smoothing"]


@dataclass(frozen=True, slots=True)
class DawidSkene(EmModel):
    """Dawid-Skene by EM in log space.

    Parameters
    ----------
    smoothing : {"none", "diagonal", "pooled"}, optional
        "none" is maximum likelihood. "diagonal" is the posterior mode under Dirichlet(3) on the prevalence and
        Dirichlet rows with 2.5 K on the diagonal and 1 off it. "pooled" adds 10 pseudo-annotations per rater and true
        class, spread like the confusion matrix of all raters taken as one. Not given: "none" where the median rater has
        at least 10 K annotations, else "pooled".
    stopping, use_gold, repeats
        See `EmModel`.
    """

    smoothings: ClassVar[tuple[str, ...]] = get_args(Smoothing)

    def problem(self, dataset: Dataset, token: CancelToken | None = None) -> Problem:
        """The dataset made ready; raises as `EmModel.problem`."""
        data = design("Dawid-Skene", dataset, self.use_gold, self.repeats)
        smoothing = self.smoothing or default_smoothing(data.dataset)
        family = FullRows()
        if smoothing == "diagonal":
            prior = diagonal_prior(dataset.n_classes)
        elif smoothing == "pooled":
            prior = pooled_prior(data, family, token, per_row=True)
        else:
            prior = no_prior(dataset.n_classes)
        settings = {"smoothing": smoothing, "use_gold": self.use_gold, "repeats": self.repeats}
        notes = () if self.use_gold else two_per_case(data.dataset)
        return Problem(data, family, prior, settings, notes)


@dataclass(frozen=True, slots=True)
class FullRows:
    """Every row of every confusion matrix is free."""

    name: str = "dawid-skene"

    def maximise(self, counts: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Shares of the expected answers; uniform where there are none."""
        total = counts.sum(axis=1, keepdims=True)
        theta = np.full(counts.shape, 1.0 / counts.shape[1])
        np.divide(counts, total, out=theta, where=total > 0)
        return theta, {}

    def chart(self, theta: np.ndarray, parameters: dict[str, np.ndarray], counts: np.ndarray) -> SimplexChart:
        """Logits of the answers within each row."""
        n_raters, n_classes, _ = theta.shape
        rows = theta.transpose(0, 2, 1).reshape(-1, n_classes)
        of_rows = counts.transpose(0, 2, 1).reshape(-1, n_classes)
        return SimplexChart(rows, of_rows, (n_raters, n_classes, n_classes))


METHOD = em_method(
    "dawid-skene",
    "Dawid-Skene",
    DawidSkene,
    plainly="Finds out which raters can be trusted by how well they fit with the others, and weighs their annotations "
    "so.",
    exactly="Latent class model with a confusion matrix per rater, by EM in log space; assumes that raters err "
    "independently given the class (Dawid & Skene 1979).",
    sources=(DAWID_SKENE_1979,),
    options=em_options("none", "diagonal", "pooled"),
    place=30,
    sentence="The accuracy of raters and the probability of each class on each case were estimated by the Dawid-Skene "
    "model, by expectation-maximisation from the shares of votes; it assumes that raters err independently given the "
    "true class.",
    warm=True,
)
