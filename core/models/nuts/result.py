"""What a Bayesian rater model gives back beyond the fit."""

from dataclasses import dataclass, field

import numpy as np

from ..checks import PredictiveCheck
from ..loo import PaperScore, PsisLoo
from ..result import RaterModelFit


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """One parameter of a posterior, or an array of them; all arrays of its shape.

    Attributes
    ----------
    mean : ndarray
    sd, low, high : ndarray or None
        Of the posterior, and the ends of the interval; None from the mode alone.
    rhat, ess : ndarray or None
        Rank-normalised split R-hat and bulk effective sample size; NaN for what does not vary.
    """

    mean: np.ndarray
    sd: np.ndarray | None = None
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    rhat: np.ndarray | None = None
    ess: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Whether chains can be trusted.

    Attributes
    ----------
    rhat_max : float or None
        Largest R-hat; None where nothing varies or chains are too short.
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


@dataclass(frozen=True, slots=True, eq=False)
class BayesianFit:
    """A posterior, from its mode or from chains.

    Attributes
    ----------
    fit : RaterModelFit
        Posterior means and intervals; ``method`` is "nuts" or "map". Its ``converged`` and ``notes`` say what
        ``diagnostics`` says.
    quantities : dict of str to Estimate
        By the names of the density's quantities.
    level : float
        Of all intervals.
    seed : int
    diagnostics : Diagnostics or None
        None for the mode.
    draws : ndarray, shape (n_kept, ndim)
        At most 1,000 draws on the density's own coordinates, evenly spread over the chains.
    checks : tuple of PredictiveCheck
        Empty for the mode.
    loo : PsisLoo or None
        Per case; None for the mode, and where there are too few draws.
    paper : PaperScore or None
        Per annotation, as published for the difficulty models; None for others, and where ``loo`` is None.
    seconds, cpu_seconds : float
        Of the chains, summed; of the search for the mode.
    """

    fit: RaterModelFit
    quantities: dict[str, Estimate]
    level: float
    seed: int
    diagnostics: Diagnostics | None = None
    draws: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    checks: tuple[PredictiveCheck, ...] = ()
    loo: PsisLoo | None = None
    paper: PaperScore | None = None
    seconds: float = 0.0
    cpu_seconds: float = 0.0
