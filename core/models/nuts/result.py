"""Results of a Bayesian rater model beyond the fit."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...errors import NotApplicableError
from ...result_base import Columns, Result
from ..checks import PredictiveCheck
from ..loo import PaperScore, PsisLoo, import_arviz
from ..result import RaterModelFit
from .densities import density_from


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate(Result):
    """Parameter of a posterior, or an array of them; all arrays of its shape.

    Attributes
    ----------
    mean : ndarray
    sd, low, high : ndarray or None
        Standard deviation of the posterior, and ends of the interval; None if only the mode is known.
    rhat, ess : ndarray or None
        Rank-normalised split R-hat and bulk effective sample size; NaN for what does not vary.
    """

    mean: np.ndarray
    sd: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    rhat: np.ndarray | None = None
    ess: np.ndarray | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Diagnostics(Result):
    """Diagnostics of chains.

    Attributes
    ----------
    rhat_max : float or None
        Largest R-hat; None if nothing varies or chains are too short.
    worst : str
        The quantity that has it, in words.
    ess_bulk_min, ess_tail_min : float or None
    n_divergent, n_chains, n_draws : int
        Divergent draws in all, chains, and draws of each.
    converged : bool
        R-hat at most 1.01 and bulk effective sample size at least 400, for every quantity.
    words : str
        One sentence for the screen.
    """

    rhat_max: float | None
    worst: str
    ess_bulk_min: float | None
    ess_tail_min: float | None
    n_divergent: int
    n_chains: int
    n_draws: int
    converged: bool
    words: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BayesianFit(Result):
    """A posterior, from its mode or from chains.

    Attributes
    ----------
    fit : RaterModelFit
        Posterior means and intervals; ``method`` is "nuts" or "map". Its ``converged`` and ``notes`` say what
        ``diagnostics`` says.
    quantities : dict of str to Estimate
        By the names of the density's quantities.
    level : float
        Confidence level of all intervals.
    seed : int
    diagnostics : Diagnostics or None
        None for the mode.
    draws : ndarray, shape (n_kept, ndim)
        At most 1,000 draws on the density's own coordinates, chain after chain, as many of each and evenly spread.
    job : tuple of (str, dict, dict), or None
        What was sampled, as `core.models.nuts.densities.density_from` makes it again; None for the mode.
    checks : tuple of PredictiveCheck
        Empty for the mode.
    loo : PsisLoo or None
        Per case; None for the mode, and if there are too few draws.
    paper : PaperScore or None
        Per annotation, as published for the difficulty models; None for others, and where ``loo`` is None.
    seconds, cpu_seconds : float
        Time of the chains, summed, or of the search for the mode.
    """

    fit: RaterModelFit
    quantities: dict[str, Estimate]
    level: float
    seed: int
    diagnostics: Diagnostics | None = None
    draws: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    job: tuple[str, dict, dict[str, np.ndarray]] | None = None
    checks: tuple[PredictiveCheck, ...] = ()
    loo: PsisLoo | None = None
    paper: PaperScore | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0

    TABLES = (*RaterModelFit.TABLES, "quantities")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table != "quantities":
            return self.fit._columns(table, most)
        places = [(name, place) for name, one in self.quantities.items() for place in np.ndindex(one.mean.shape)]
        found: dict[str, Any] = {
            "quantity": [name for name, _ in places],
            "place": [", ".join(map(str, place)) for _, place in places],
        }
        for column in ("mean", "sd", "low", "high", "rhat", "ess"):
            arrays = [(getattr(one, column), one.mean.size) for one in self.quantities.values()]
            parts = [np.full(size, np.nan) if array is None else np.ravel(array) for array, size in arrays]
            found[column] = np.concatenate(parts) if parts else np.empty(0)
        return found

    def _facts(self) -> Iterable[str]:
        return self.fit._facts()

    def to_inference_data(self, *, log_likelihood: bool = False) -> Any:
        """Convert the kept draws for ArviZ, by chain, with the names of raters and classes on the axes.

        Parameters
        ----------
        log_likelihood : bool
            True to compute the log-likelihood of each case given each draw, for `arviz.loo` and model comparisons:
            n_kept × n_cases numbers.

        Returns
        -------
        arviz.InferenceData
            Group ``posterior``: each of ``quantities`` with dimensions ``chain``, ``draw`` and those of the quantity
            (``rater``, ``class``, ``true_class``, ``answered_class``).

        Raises
        ------
        NotApplicableError
            The fit is the mode, which has no draws.
        """
        if self.diagnostics is None or self.job is None:
            raise NotApplicableError(
                "Could not get draws: the posterior mode has none. Fit the model with NUTS to sample the posterior."
            )
        arviz, density = import_arviz(), density_from(*self.job)
        shape = (self.diagnostics.n_chains, len(self.draws) // self.diagnostics.n_chains)
        drawn = density.quantities(self.draws)
        axes = {name: _axes(name, self.fit, values.shape[1:]) for name, values in drawn.items()}
        groups = {"posterior": {name: values.reshape(*shape, *values.shape[1:]) for name, values in drawn.items()}}
        if log_likelihood:
            by_pattern = density.log_likelihood(self.draws)
            by_case = by_pattern[:, np.asarray(density.patterns.pattern_of_case)]
            groups["log_likelihood"] = {"annotations": by_case.reshape(*shape, by_case.shape[1])}
            axes["annotations"] = ["case"]
        names = {"case": self.fit.cases, "rater": self.fit.raters}
        names |= dict.fromkeys(("class", "true_class", "answered_class"), self.fit.classes)
        used = {axis for each in axes.values() for axis in each}
        return arviz.from_dict(
            **groups,
            coords={axis: list(values) for axis, values in names.items() if axis in used},
            dims={name: each for name, each in axes.items() if each},
        )


_AXES = {
    "prevalence": ["class"],
    "accuracy": ["rater"],
    "confusion": ["rater", "true_class", "answered_class"],
    "mu": ["true_class", "answered_class"],
    "tau": ["true_class", "answered_class"],
    "alpha": ["rater"],
    "ability": ["rater"],
    "mistakes": ["true_class", "answered_class"],
    "severity": ["rater"],
    "spread": ["rater"],
    "slip": ["rater"],
    "alpha_sens": ["rater"],
    "alpha_spec": ["rater"],
}


def _axes(name: str, fit: RaterModelFit, shape: tuple[int, ...]) -> list[str]:
    """Return names of a quantity's axes; empty if it has others, for example if raters share parameters."""
    axes = _AXES.get(name, [])
    lengths = tuple(len(fit.raters if axis == "rater" else fit.classes) for axis in axes)
    return axes if lengths == shape else []
