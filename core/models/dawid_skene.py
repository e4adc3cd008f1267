"""Dawid & Skene (1979): a confusion matrix for every rater, by expectation-maximisation.

``z_i ~ Cat(π)``, ``y_n ~ Cat(θ[rater n, z of case n])``. The Stan user's guide, section 7.4, prints ``θ_{j, π_z[i]}``;
the index is the case's true class, ``θ_{j, z[i]}``. DOI of the original: 10.2307/2346806.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, get_args

import numpy as np

from ..annotations.dataset import Dataset
from ..checked import checked
from ..runtime.chunks import CancelToken
from ._kernels import row_shares
from .design import Design
from .em import no_prior
from .em_model import EmModel, Problem, unshrunk
from .identifiability import two_per_case
from .rater_methods import DAWID_SKENE_1979, RaterModelMethod, em_options
from .reparametrise import SimplexChart
from .restarts import Restarts
from .smoothing import Smoothing, default_smoothing, diagonal_prior, empirical_prior, pooled_prior
from .stopping import StoppingRule

__all__ = ["DawidSkene", "Restarts", "Smoothing", "StoppingRule", "default_smoothing"]


@checked
@dataclass(frozen=True, slots=True)
class DawidSkene(EmModel):
    """Dawid-Skene by EM in log space.

    Parameters
    ----------
    smoothing : {"none", "diagonal", "pooled", "empirical"}, optional
        "none" is maximum likelihood. "diagonal" is the posterior mode under Dirichlet(3) on the prevalence and
        Dirichlet rows with 2.5 K on the diagonal and 1 + 1/K off it. "pooled", the default, adds 10 pseudo-annotations
        per rater and true class, spread like the confusion matrix of all raters taken as one. "empirical" adds as many
        as the differences between raters suggest, class by class, around rows with one rate of being right for each
        rater (`core.models.smoothing.empirical_prior`).
    stopping, use_gold, repeats, beta, doubt
        See `EmModel`.
    """

    smoothings: ClassVar[tuple[str, ...]] = get_args(Smoothing)
    title = "Dawid-Skene"

    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """Build the design with the prior; see `EmModel.problem_of`."""
        smoothing = self.smoothing or default_smoothing(data.dataset)
        family = FullRows()
        if smoothing == "diagonal":
            prior = diagonal_prior(data.dataset.n_classes)
        elif smoothing == "pooled":
            prior = pooled_prior(data, family, token, per_row=True)
        elif smoothing == "empirical":
            prior = empirical_prior(data, family, token)
        else:
            prior = no_prior(data.dataset.n_classes)
        notes = () if self.use_gold else two_per_case(data.dataset)
        return Problem(data, family, prior, self.settings(smoothing), (*notes, *unshrunk(smoothing)), *self.shown_at)


@dataclass(frozen=True, slots=True)
class FullRows:
    """Family in which every row of every confusion matrix is free."""

    name: str = "dawid-skene"
    one_by_one: ClassVar[bool] = True

    def maximise(self, counts: np.ndarray) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Compute shares of the expected annotations; uniform if there are none."""
        theta = np.empty(counts.shape)
        row_shares(np.ascontiguousarray(counts), theta)
        return theta, {}

    def chart(self, theta: np.ndarray, parameters: dict[str, np.ndarray], counts: np.ndarray) -> SimplexChart:
        """Return logits of the annotations within each row.

        Parameters
        ----------
        theta : ndarray, shape (n_raters, n_classes, n_classes)
            Rater, annotated class, true class.
        parameters : dict of str to ndarray
            Those of the fit, by name.
        counts : ndarray, shape as ``theta``
            Expected annotations.
        """
        n_raters, n_classes, _ = theta.shape
        rows = theta.transpose(0, 2, 1).reshape(-1, n_classes)
        of_rows = counts.transpose(0, 2, 1).reshape(-1, n_classes)
        return SimplexChart(rows, of_rows, (n_raters, n_classes, n_classes))


def _n_parameters(dataset: Dataset) -> int:
    return dataset.n_classes - 1 + dataset.n_raters * dataset.n_classes * (dataset.n_classes - 1)


METHOD = RaterModelMethod(
    "dawid-skene",
    "Dawid-Skene",
    DawidSkene,
    plainly="Estimates rater accuracy from agreement with the other raters, and weights annotations accordingly.",
    exactly="Latent class model with a confusion matrix per rater, fitted by EM in log space. It assumes that raters "
    "make mistakes independently given the class (Dawid & Skene 1979).",
    sources=(DAWID_SKENE_1979,),
    options=em_options("none", "diagonal", "pooled", "empirical"),
    place=30,
    opens=lambda dataset: True,
    n_parameters=_n_parameters,
    sentence="Rater accuracy and the probability of each class for each case were estimated with the "
    "Dawid-Skene model, fitted by expectation-maximisation starting from the vote shares. The model assumes that "
    "raters err independently given the true class.",
    warm=True,
)
EMPIRICAL = RaterModelMethod(
    "dawid-skene-empirical",
    "Empirical-Bayes Dawid-Skene",
    partial(DawidSkene, "empirical"),
    plainly="Dawid-Skene for sparse data. It shrinks each rater's confusion matrix towards the rater's overall "
    "accuracy and towards the average rater.",
    exactly="Rows of confusion matrices have Dirichlet priors around the pooled rows, with one factor per rater on the "
    "odds of a correct annotation. Concentrations maximise the marginal likelihood of the expected counts (Minka's "
    "fixed point). The E-step uses posterior means.",
    sources=(DAWID_SKENE_1979, "Minka, Estimating a Dirichlet distribution (2000)"),
    options=em_options(),
    place=35,
    opens=lambda dataset: True,
    n_parameters=_n_parameters,
    warm=True,
)
METHODS = (METHOD, EMPIRICAL)
