"""Standard errors from refits to resampled cases, each climbing from the fit and aligned to it."""

from collections.abc import Callable

import numpy as np

from ..runtime.chunks import CancelToken, map_chunks
from .em import Point, climb
from .em_model import Problem
from .information import Errors
from .restarts import alignment
from .result import RaterModelFit, right_in_all
from .stopping import StoppingRule
from .tempering import point_of

_REFIT = StoppingRule(500, 1e-9)
_STREAM = 1994  # apart from data that somebody simulated by the same seed: weights drawn alike would follow the truth


def bootstrap_errors(
    problem: Problem,
    fit: RaterModelFit,
    n_replicates: int,
    seed: int,
    keep: bool,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[Errors, list[np.ndarray]]:
    """Standard deviations over replicates, and where ``keep`` the class probabilities of every case under each.

    Cases with an annotation are drawn with replacement, and pseudo-annotations of a prior weighted at random: otherwise
    a fit that leans on its prior would look the more precise for it. With weights from Exp(1) on cases too this is
    the weighted likelihood bootstrap of Newton & Raftery (1994), whose spread is that of a posterior. A row that a
    replicate has no evidence for stays at the fit.

    Parameters
    ----------
    problem : Problem
        What was fitted.
    fit : RaterModelFit
    n_replicates : int
        2 or more.
    seed : int
    keep : bool
    token : CancelToken, optional
    progress : callable, optional
        Told the share done, 0 to 1.

    Returns
    -------
    tuple of (Errors, list of ndarray of float32, each of shape (n_cases, n_classes))
        The list is empty where nothing is kept.
    """
    start = point_of(fit)

    def one(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
        return _refit(problem, fit, start, np.random.default_rng([_STREAM, seed, number]), keep)

    sums: list[tuple[np.ndarray, np.ndarray]] = []
    posteriors: list[np.ndarray] = []
    # Sums of deviations from the fit, so that nothing cancels and no replicate need be kept.
    centre = (fit.prevalence, fit.accuracy(), fit.confusion)
    for found in map_chunks(one, list(range(n_replicates)), token=token, progress=progress):
        away = [value - at for value, at in zip(found[:3], centre, strict=True)]
        new = [(value, value**2) for value in away]
        sums = new if not sums else [(a + c, b + d) for (a, b), (c, d) in zip(sums, new, strict=True)]
        if found[3] is not None:
            posteriors.append(found[3])
    n = n_replicates
    errors = [np.sqrt(np.maximum(square - total**2 / n, 0) / (n - 1)) for total, square in sums]
    return Errors(*errors), posteriors


def _refit(
    problem: Problem, fit: RaterModelFit, start: Point, rng: np.random.Generator, keep: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Prevalence, accuracy and confusion of one replicate, aligned to the fit, and where ``keep`` P(class) of cases."""
    data, n_classes = problem.data, len(fit.classes)
    rated = np.diff(data.dataset.case_ptr) > 0
    weight = np.zeros(rated.size)
    weight[rated] = rng.multinomial(int(rated.sum()), np.full(int(rated.sum()), 1 / rated.sum()))
    prior = problem.prior.drawn(rng, data.dataset.n_raters)
    top = climb(data, problem.family, prior, start, _REFIT, weight=weight)
    prevalence = np.exp(top.point.log_prevalence)
    confusion = np.exp(top.point.log_theta).reshape(-1, n_classes, n_classes).transpose(0, 2, 1)
    order = alignment(fit.class_probability, top.posterior)
    evidence = top.counts.reshape(-1, n_classes, n_classes).sum(axis=1)[:, order]
    prevalence, confusion = prevalence[order], confusion[:, order]
    unseen = (evidence <= 1e-9) & (problem.prior.answers.sum() == 0)
    confusion = np.where(unseen[:, :, None], fit.confusion, confusion)
    posterior = problem.posterior(top)[:, order].astype(np.float32) if keep else None
    return prevalence, right_in_all(prevalence, confusion), confusion, posterior
