"""Conversion of a density to a fit: by its mode, or by chains with their diagnostics and checks."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...annotations.dataset import Dataset
from ...errors import InputError, LimitError
from ...options import check_level, check_whole
from ...runtime.chunks import CancelToken
from ...settings import current_settings
from ..checks import predictive_checks
from ..loo import LEAST_DRAWS, PaperScore, PsisLoo, psis_loo
from .density import Density, Summarise
from .diagnostics import estimates
from .mode import posterior_mode
from .result import BayesianFit, Estimate
from .sampler import TARGET_ACCEPT, Chains, Progress, sample

KEPT_DRAWS = 1000
_SAMPLING_SHARE = 0.9
_NOT_SAMPLED = "The posterior mode has no intervals. Sample the full posterior to get intervals."


def check_method(method: str) -> None:
    """Refuse what is neither the mode ("map") nor chains ("nuts").

    Raises
    ------
    InputError
    """
    if method not in ("map", "nuts"):
        raise InputError(f"Unknown method {method!r}.", 'Use "map" or "nuts".')


def fit_by_map(
    density: Density,
    summarise: Summarise,
    dataset: Dataset,
    *,
    mode: np.ndarray | None = None,
    level: float = 0.95,
    seed: int = 0,
    token: CancelToken | None = None,
) -> BayesianFit:
    """Fit by one point of the posterior, its mode on its free coordinates unless another is given.

    On these coordinates the mode of a Dirichlet posterior is its mean, not the mode on the simplex.

    Parameters
    ----------
    density : Density
    summarise : callable
        Makes the fit from draws: see `core.models.nuts.density.Summarise`.
    dataset : Dataset
        Data that the density was made from.
    mode : ndarray, shape (ndim,), optional
        Looked for from the density's start if omitted.
    level : float
        Confidence level of intervals of raters not seen; a point has no others.
    seed : int
    token : CancelToken, optional

    Raises
    ------
    core.models.nuts.mode.NoModeError
        The density overflows at its start.
    Cancelled
    """
    check_level(level)
    check_whole(seed, "The seed", 0)
    if token is not None:
        token.check()
    began, used = time.perf_counter(), time.process_time()
    if mode is None:
        mode = posterior_mode(density, density.starts(1, seed)[0]) if density.ndim else np.zeros(0)
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - used
    draws = mode[None]
    fit = summarise(density, draws, "map", level)
    return BayesianFit(
        fit=replace(fit, notes=(*fit.notes, _NOT_SAMPLED)) if density.ndim else fit,
        quantities={name: Estimate(drawn[0]) for name, drawn in density.quantities(draws).items()},
        level=level,
        seed=seed,
        draws=draws,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
    )


def fit_by_nuts(
    density: Density,
    summarise: Summarise,
    dataset: Dataset,
    *,
    n_draws: int = 1000,
    n_tune: int = 1000,
    n_chains: int = 4,
    seed: int = 0,
    level: float = 0.95,
    target_accept: float = TARGET_ACCEPT,
    score: Callable[[np.ndarray], PaperScore] | None = None,
    token: CancelToken | None = None,
    progress: Progress | None = None,
) -> BayesianFit:
    """Fit by chains: means and intervals, convergence, predictive checks and leave-one-out.

    Parameters
    ----------
    density : Density
    summarise : callable
        Makes the fit from draws: see `core.models.nuts.density.Summarise`.
    dataset : Dataset
        Data that the density was made from.
    n_draws, n_tune, n_chains : int
        Draws and steps of tuning of each chain, and how many chains.
    seed : int
        Draws and checks depend on it alone.
    level : float
        Confidence level of intervals.
    target_accept : float
        See `core.models.nuts.sampler.sample`.
    score : callable, optional
        A further score of all draws, shape (n_draws, ndim), if there are enough of them for leave-one-out.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1, and what is being done in words.

    Raises
    ------
    LimitError
        The draws would not fit into memory.
    core.runtime.processes.WorkerError
        The sampler's process ended without a result.
    Cancelled
        The token was raised.
    """
    check_whole(n_draws, "The number of draws", 1)
    check_whole(n_tune, "The number of tuning steps", 0)
    check_whole(n_chains, "The number of chains", 1)
    check_whole(seed, "The seed", 0)
    check_level(level)
    _check_limit(density, n_chains * n_draws)
    plan: dict[str, Any] = {"n_draws": n_draws, "n_tune": n_tune, "n_chains": n_chains, "seed": seed}
    told = _part(progress, 0.0, _SAMPLING_SHARE), _part(progress, _SAMPLING_SHARE, 1.0)
    chains = sample(density, **plan, target_accept=target_accept, token=token, progress=told[0])
    found = _fit_of_chains(density, summarise, dataset, chains, plan, level)
    return _checked(found, density, chains.flat(), dataset, score, token, told[1])


def _part(progress: Progress | None, first: float, last: float) -> Callable | None:
    """Return a function for the progress of a part of the whole, from ``first`` to ``last``."""
    if progress is None:
        return None
    return lambda share, words="Checking the fit": progress(first + (last - first) * share, words)


def _fit_of_chains(
    density: Density, summarise: Summarise, dataset: Dataset, chains: Chains, plan: dict[str, int], level: float
) -> BayesianFit:
    """Summarise the draws, without the checks."""
    draws = chains.flat()
    found, diagnostics = estimates(density.quantities(draws), chains.divergent, dataset, level)
    fit = summarise(density, draws, "nuts", level)
    remarks = () if diagnostics.converged and not diagnostics.n_divergent else (diagnostics.words,)
    notes = (*remarks, *fit.notes)
    return BayesianFit(
        fit=replace(fit, converged=diagnostics.converged, notes=notes, settings={**fit.settings, **plan}),
        quantities=found,
        level=level,
        seed=plan["seed"],
        diagnostics=diagnostics,
        draws=np.concatenate([thinned(chain, max(1, KEPT_DRAWS // len(chains.draws))) for chain in chains.draws]),
        job=(density.name, *density.job()),
        seconds=chains.seconds,
        cpu_seconds=chains.cpu_seconds,
    )


def _checked(
    found: BayesianFit,
    density: Density,
    draws: np.ndarray,
    dataset: Dataset,
    score: Callable[[np.ndarray], PaperScore] | None,
    token: CancelToken | None,
    progress: Callable | None,
) -> BayesianFit:
    """Add predictive checks and leave-one-out to the fit."""
    if token is not None:
        token.check()
    return replace(
        found,
        checks=predictive_checks(density, draws, dataset, seed=found.seed, token=token, progress=progress),
        loo=_leave_one_out(density, draws, dataset),
        paper=score(draws) if score is not None and len(draws) >= LEAST_DRAWS else None,
    )


def thinned(draws: np.ndarray, n_kept: int) -> np.ndarray:
    """Select at most ``n_kept`` of the rows, evenly spread."""
    if len(draws) <= n_kept:
        return draws
    return np.ascontiguousarray(draws[np.arange(n_kept) * len(draws) // n_kept])


def _check_limit(density: Density, n_draws: int) -> None:
    limit = current_settings().max_model_cells
    per_draw = max(density.ndim, density.case_count.size)
    if n_draws * per_draw > limit:
        raise LimitError(
            f"Could not sample the posterior: {n_draws:,} draws of {per_draw:,} numbers exceed the limit of "
            f"{limit:,} numbers. Use fewer draws, or a model fitted by expectation-maximisation."
        )


def _leave_one_out(density: Density, draws: np.ndarray, dataset: Dataset) -> PsisLoo | None:
    if len(draws) < LEAST_DRAWS:
        return None
    place = np.array(density.patterns.pattern_of_case)
    # A case without annotations has nothing to leave out.
    answered = np.diff(dataset.case_ptr) > 0
    kept = np.zeros(density.case_count.size, bool)
    kept[place[answered]] = True
    number = np.where(kept, np.cumsum(kept) - 1, -1)
    return psis_loo(density.log_likelihood(draws)[:, kept], density.case_count[kept], number[place])
