"""What a plan is to reach, worked out from the data as they are at some stage."""

from dataclasses import dataclass

import numpy as np

from ..agreement.probability import spa
from ..annotations.counts import ClassCounts
from ..models.reparametrise import expit, logit
from ._accuracy_kernels import likelihood_grids
from .accuracy import N_POINTS, cell_edges, even_mass, quantile
from .leave_one_rater_out import spread_of
from .plan_cases import CountsCache
from .plan_world import ExtendedData, World, fitted_posterior, log_posterior

QUANTITIES = ("certainty", "agreement", "accuracy", "prevalence")
MORE_IS_BETTER = ("certainty",)


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """A quantity of data and parameters.

    Attributes
    ----------
    quantity : str
    place : int
        The rater or the class.
    level : float
        Of the interval whose width it is.
    patterns : CountsCache
    """

    quantity: str
    place: int
    level: float
    patterns: CountsCache

    def of(self, extended: ExtendedData, world: World) -> float:
        """Its value; 1, the widest, for the width of an interval that cannot be estimated."""
        if self.quantity == "certainty":
            return float(self.patterns.certainty(extended.counts).mean())
        if self.quantity == "agreement":
            found = spa(_csr(extended.counts), level=self.level)
            return 1.0 if found.ci_low is None or found.ci_high is None else found.ci_high - found.ci_low
        if self.quantity == "prevalence":
            return self._prevalence(fitted_posterior(extended, world)[extended.counts.sum(axis=1) > 0])
        return self._accuracy(extended, world, log_posterior(extended, world))

    def _prevalence(self, posterior: np.ndarray) -> float:
        """Width of the normal interval on the logit scale, from the information on one class against the rest."""
        from scipy.special import ndtri

        q = posterior[:, self.place]
        p = float(np.clip(q.mean(), 1e-6, 1 - 1e-6))
        information = float(((q - p) ** 2).sum())  # of the logit
        if information < 1e-9:
            return 1.0
        half, at = float(ndtri((1 + self.level) / 2)) / np.sqrt(information), logit(np.asarray(p))
        return float(expit(at + half) - expit(at - half))

    def _accuracy(self, extended: ExtendedData, world: World, log_joint: np.ndarray) -> float:
        """Width of the interval of a rater's accuracy alone (`core.raters.accuracy`)."""
        data = extended.as_dataset()
        rows = np.flatnonzero(data.rater == self.place)
        cases, answer = data.case_of_annotation[rows], data.answer[rows]
        own = np.zeros_like(log_joint)
        log_theta = np.log(np.maximum(world.theta[self.place], 1e-300)).T
        np.add.at(own, cases, log_theta[answer])
        p = _normalised(log_joint[cases] - own[cases])
        n_others = extended.counts[cases].sum(axis=1) - np.bincount(cases, minlength=len(own))[cases]
        n = np.bincount(data.rater, minlength=data.n_raters)
        pool = np.einsum("jkl,j,k->kl", world.theta, n.astype(float), world.prevalence)
        spread = spread_of(pool)
        right = p[np.arange(rows.size), answer]
        wrong = np.einsum("ak,ka->a", p, spread[:, answer])
        ptr = np.array([0, rows.size])
        grid, values = likelihood_grids(right, wrong, n_others > 0, np.arange(rows.size), ptr, 0, 1, N_POINTS)
        points = expit(grid)
        mass = even_mass(points, values)
        low, high = (quantile(cell_edges(points), mass, q)[0] for q in ((1 - self.level) / 2, (1 + self.level) / 2))
        return float(high - low)


def _csr(counts: np.ndarray) -> ClassCounts:
    case, code = np.nonzero(counts)
    ptr = np.concatenate([[0], np.cumsum((counts > 0).sum(axis=1))]).astype(np.int64)
    return ClassCounts(ptr, code.astype(np.int32), counts[case, code].astype(np.int64), counts.shape[1])


def _normalised(log_joint: np.ndarray) -> np.ndarray:
    p = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)
