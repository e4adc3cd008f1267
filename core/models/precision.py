"""How precisely a fit by expectation-maximisation knows its parameters."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..runtime.chunks import CancelToken
from .bootstrap import bootstrap_errors
from .coordinates import Coordinates
from .em_model import EmModel, Problem
from .information import Errors, information_errors
from .reparametrise import expit, logit
from .result import RaterModelFit, Spread, Uncertainty
from .tempering import tempered_posterior

Method = Literal["observed information", "case bootstrap"]
MOST_PARAMETERS = 600
MOST_KEPT = 20_000_000
N_REPLICATES = 200
_SMOOTHED = (
    "Pseudo-annotations of the smoothing count as evidence here: the intervals of raters with few annotations who are "
    "unlike the pool hold less often than they say."
)


def precision_of(
    model: EmModel,
    dataset: Dataset,
    fit: RaterModelFit,
    *,
    method: Method | None = None,
    level: float = 0.95,
    n_replicates: int = N_REPLICATES,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Uncertainty:
    """Standard errors and intervals of a fit of ``dataset`` by ``model``.

    Intervals are normal on the logit scale. A probability on its bound (less than half an annotation expected) has
    Wilson's interval on the evidence of its row, where an annotation whose case is of that class with probability q
    counts q²; if the truth is far from the bound, that interval is too short. Intervals are around what is estimated:
    under smoothing that is the smoothed value, and at a mode that mode.

    Parameters
    ----------
    model : EmModel
    dataset : Dataset
    fit : RaterModelFit
    method : {"observed information", "case bootstrap"}, optional
        Not given: the information up to `MOST_PARAMETERS` parameters where the fit is a maximum, else the bootstrap.
    level : float
        Of the intervals, 0 to 1.
    n_replicates, seed : int
        Of the bootstrap; draws of the parameters for class probabilities under the information.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The information is asked for and the fit is no maximum; or as `EmModel.fit`.
    InputError
        The level, the method or the number of replicates is out of range.
    """
    _check(method, level, n_replicates)
    problem = model.problem(dataset, token)
    at = Coordinates(problem, fit)
    how, errors, posteriors, notes = _errors(problem, fit, at, method, n_replicates, seed, token, progress)
    return Uncertainty(
        how,
        level,
        *_spreads(at, fit, errors, int((np.diff(dataset.case_ptr) > 0).sum()), level),
        _quantiles(posteriors, level) if posteriors else None,
        n_replicates,
        seed,
        (*_notes(problem, fit), *notes),
    )


def _errors(
    problem: Problem,
    fit: RaterModelFit,
    at: Coordinates,
    method: Method | None,
    n_replicates: int,
    seed: int,
    token: CancelToken | None,
    progress: Callable[[float], None] | None,
) -> tuple[str, Errors, list[np.ndarray], tuple[str, ...]]:
    """The method that was used, its errors and class probabilities of cases, and why it is another than was tried."""
    keep = fit.class_probability.size * n_replicates <= MOST_KEPT
    notes: tuple[str, ...] = ()
    if method == "observed information" or (method is None and at.start.size <= MOST_PARAMETERS):
        try:
            errors, draws = information_errors(at, n_replicates, seed, token, progress)
            return "observed information", errors, _posteriors(problem, at, draws) if keep else [], notes
        except NotApplicableError as error:
            if method is not None:
                raise
            notes = (f"{error} The bootstrap was used.",)
    return "case bootstrap", *bootstrap_errors(problem, fit, n_replicates, seed, keep, token, progress), notes


def _check(method: str | None, level: float, n_replicates: int) -> None:
    if not 0 < level < 1:
        raise InputError(f"The level is {level}.", "Give a number between 0 and 1, for example 0.95.")
    if method not in (None, "observed information", "case bootstrap"):
        raise InputError(f"There is no method {method!r}.", "Use the observed information or the case bootstrap.")
    if n_replicates < 20:
        raise InputError(f"{n_replicates:,} replicates were asked for.", "Ask for 20 or more.")


def _notes(problem: Problem, fit: RaterModelFit) -> tuple[str, ...]:
    notes = () if fit.converged else ("The fit has not converged, so its precision is not known either.",)
    if problem.prior.answers.any():
        return (*notes, _SMOOTHED)
    return notes


def _spreads(
    at: Coordinates, fit: RaterModelFit, errors: Errors, n_rated: int, level: float
) -> tuple[Spread, Spread, Spread]:
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    moved_prevalence, moved = at.moved
    mass = np.broadcast_to(at.row_mass[:, :, None], fit.confusion.shape)
    cases = np.full(len(fit.classes), float(n_rated))
    prevalence = _intervals(fit.prevalence, errors.prevalence, moved_prevalence, cases, z)
    confusion = _intervals(fit.confusion, errors.confusion, moved, mass, z)
    # What stands on a bound adds the variance of its Wilson interval to the accuracy.
    fixed = ~np.einsum("jkk->jk", moved)
    added = np.where(fixed, (np.einsum("jkk->jk", confusion.sd) * fit.prevalence) ** 2, 0)
    added[:, fit.prevalence < 1e-12] = 0
    sd = np.sqrt(errors.accuracy**2 + added.sum(axis=1))
    accuracy = fit.accuracy()
    inside = (accuracy > 1e-9) & (accuracy < 1 - 1e-9)
    effective = at.row_mass.sum(axis=1)
    return prevalence, _intervals(accuracy, sd, inside, effective, z), confusion


def _intervals(p: np.ndarray, sd: np.ndarray, moved: np.ndarray, n: np.ndarray, z: float) -> Spread:
    """Normal on the logit scale where a parameter moves ``p``, else Wilson's on ``n`` annotations, NaN where n is 0."""
    inside = moved & (p > 0) & (p < 1)
    unknown = inside & np.isnan(sd)
    safe = np.where(inside, p, 0.5)
    half = z * np.where(inside & ~unknown, sd, 0) / (safe * (1 - safe))
    low, high = expit(logit(safe) - half), expit(logit(safe) + half)
    seen = np.where(n > 1e-9, n, np.nan)
    centre = (p + z * z / (2 * seen)) / (1 + z * z / seen)
    width = z * np.sqrt(p * (1 - p) / seen + z * z / (4 * seen * seen)) / (1 + z * z / seen)
    low, high = (np.where(unknown, np.nan, end) for end in (low, high))
    return Spread(
        np.where(inside, sd, np.sqrt(centre * (1 - centre) / (seen + z * z))),
        np.where(inside, low, np.clip(centre - width, 0, None)),
        np.where(inside, high, np.clip(centre + width, None, 1)),
    )


def _posteriors(problem: Problem, at: Coordinates, draws: np.ndarray) -> list[np.ndarray]:
    return [
        tempered_posterior(problem.data, at.point(coordinates), *problem.shown_at).astype(np.float32)
        for coordinates in draws
    ]


def _quantiles(posteriors: list[np.ndarray], level: float) -> Spread:
    every = np.array(posteriors)
    low, high = np.quantile(every, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Spread(every.std(axis=0, ddof=1, dtype=np.float64), low.astype(np.float64), high.astype(np.float64))
