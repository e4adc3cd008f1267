"""Dawid & Skene (1979): a confusion matrix for every rater, by expectation-maximisation.

``z_i ~ Cat(π)``, ``y_n ~ Cat(θ[rater n, z of case n])``. The Stan user's guide, section 7.4, prints ``θ_{j, π_z[i]}``;
the index is the case's true class, ``θ_{j, z[i]}``. DOI of the original: 10.2307/2346806.
"""

from dataclasses import dataclass

import numpy as np

from core.chunks import CancelToken
from core.models.charts import SimplexChart
from core.models.climb import no_prior
from core.models.design import Design
from core.models.em_model import EmModel, Problem, unshrunk
from core.models.identifiability import two_per_case
from core.models.restarts import Restarts
from core.models.smoothing import Smoothing, default_smoothing, diagonal_prior, empirical_prior, pooled_prior
from core.models.stopping import StoppingRule

__all__ = ["DawidSkene", "Restarts", "Smoothing", "StoppingRule", "default_smoothing"]


@dataclass(frozen=True, slots=True)
class DawidSkene(EmModel):
    """Dawid-Skene by EM in log space.

    Parameters
    ----------
    smoothing : {"none", "diagonal", "pooled", "empirical"}, optional
        "none" is maximum likelihood. "diagonal" is the posterior mode under Dirichlet(3) on the prevalence and
        Dirichlet rows with 2.5 K on the diagonal and 1 + 1/K off it. "pooled", the default, adds 10 pseudo-annotations
        per rater and true class, spread like the confusion matrix of all raters taken as one. "empirical" adds as many
        as the differences between raters suggest, class by class (`core.models.smoothing.empirical_prior`).
    stopping, use_gold, repeats, beta, doubt
        See `EmModel`.
    """

    title = "Dawid-Skene"

    def problem_of(self, data: Design, token: CancelToken | None = None) -> Problem:
        """A design with the prior; see `EmModel.problem_of`."""
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
        return Problem(
            data, family, prior, self.settings(smoothing), (*notes, *unshrunk(smoothing)), self.beta, self.doubt
        )


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
