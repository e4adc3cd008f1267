"""Estimates from chains, and diagnostics of the chains."""

import numpy as np

from ...annotations.dataset import Dataset
from ...text import number, percent
from .mixing import ess_bulk, ess_tail, r_hat
from .result import Diagnostics, Estimate

MAX_RHAT = 1.01
MIN_ESS = 400.0
LEAST_DRAWS = 10
_BLOCK = 2_000_000


def estimates(
    quantities: dict[str, np.ndarray], divergent: np.ndarray, dataset: Dataset, level: float
) -> tuple[dict[str, Estimate], Diagnostics]:
    """Compute means, intervals and mixing of every quantity, and the verdict on the chains.

    Parameters
    ----------
    quantities : dict of str to ndarray, shape (n_chains * n_draws, ...)
        Chain after chain.
    divergent : ndarray of bool, shape (n_chains, n_draws)
    dataset : Dataset
        For the names of raters and classes.
    level : float
        Confidence level of the intervals.
    """
    n_chains, n_draws = divergent.shape
    found: dict[str, Estimate] = {}
    tails: dict[str, np.ndarray] = {}
    for name, drawn in quantities.items():
        shape = drawn.shape[1:]
        flat = drawn.reshape(n_chains * n_draws, -1)
        rhat, bulk, tails[name] = (part.reshape(shape) for part in _mixing(flat.reshape(n_chains, n_draws, -1)))
        low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
        sd = drawn.std(axis=0, ddof=1) if len(drawn) > 1 else np.zeros(shape)
        found[name] = Estimate(drawn.mean(axis=0), sd, low, high, rhat, bulk)
    return found, _verdict(found, tails, divergent, dataset)


def _mixing(draws: np.ndarray) -> np.ndarray:
    """Compute R-hat, bulk and tail effective sample size of each quantity, NaN if equal in every draw."""
    n_chains, n_draws, n_quantities = draws.shape
    result = np.full((3, n_quantities), np.nan)
    if n_draws < LEAST_DRAWS:
        return result
    # What moves by rounding alone, such as the one probability of a sum that is 1, has nothing to mix.
    size = np.abs(draws).max(axis=(0, 1))
    moving = np.flatnonzero(np.ptp(draws, axis=(0, 1)) > 1e-12 * size)
    step = max(1, _BLOCK // (n_chains * n_draws))
    for first in range(0, moving.size, step):
        part = moving[first : first + step]
        block = draws[:, :, part]
        result[:, part] = r_hat(block), ess_bulk(block), ess_tail(block)
    return result


def _verdict(
    found: dict[str, Estimate], tails: dict[str, np.ndarray], divergent: np.ndarray, dataset: Dataset
) -> Diagnostics:
    n_chains, n_draws = divergent.shape
    n_divergent = int(divergent.sum())
    worst_rhat = _extreme({name: one.rhat for name, one in found.items() if one.rhat is not None}, np.nanargmax)
    worst_bulk = _extreme({name: one.ess for name, one in found.items() if one.ess is not None}, np.nanargmin)
    worst_tail = _extreme(tails, np.nanargmin)
    common = {"n_divergent": n_divergent, "n_chains": n_chains, "n_draws": n_draws}
    if worst_rhat is None or worst_bulk is None or worst_tail is None:
        short = n_draws < LEAST_DRAWS
        words = (
            "Not converged: the chains are too short to check." if short else "Nothing to sample: no parameter is free."
        )
        return Diagnostics(None, "", None, None, converged=not short, words=words, **common)
    name, index, rhat = worst_rhat
    # An infinite or undefined R-hat comes of chains that stand still, each at its own place.
    settled = rhat <= MAX_RHAT and worst_bulk[2] >= MIN_ESS
    worst = quantity_name(name, index, dataset)
    if rhat > MAX_RHAT:
        shown = "above 10" if rhat > 10 else number(rhat) if rhat >= 1.015 else number(rhat, 3)
        words = f"Not converged: R-hat {shown} for {worst}. Run longer chains."
    elif not settled:
        least = quantity_name(worst_bulk[0], worst_bulk[1], dataset)
        words = (
            f"Not converged: only {number(worst_bulk[2], 0)} effective draws for {least}; at least 400 are needed. Run "
            "longer chains."
        )
    else:
        words = f"Converged: R-hat at most {number(rhat, 3)}, at least {number(worst_bulk[2], 0)} effective draws."
    if n_divergent:
        share = n_divergent / divergent.size
        words += (
            f" {n_divergent:,} of {divergent.size:,} draws diverged ({percent(share, 1)}): intervals may be too narrow."
        )
    return Diagnostics(rhat, worst, worst_bulk[2], worst_tail[2], converged=bool(settled), words=words, **common)


def _extreme(values: dict[str, np.ndarray], pick) -> tuple[str, tuple[int, ...], float] | None:
    """Find name, index and value of the extreme over all arrays; None if all are NaN."""
    best = None
    for name, array in values.items():
        if not array.size or np.isnan(array).all():
            continue
        index = np.unravel_index(pick(array), array.shape)
        value = float(array[index])
        if best is None or pick([best[2], value]) == 1:
            best = (name, tuple(map(int, index)), value)
    return best


def quantity_name(name: str, index: tuple[int, ...], dataset: Dataset) -> str:
    """Name one entry of a quantity in words, from its name and the lengths of its axes.

    Parameters
    ----------
    name : str
        Name of the quantity, as in `Density.quantities`.
    index : tuple of int
        Place of the entry on each axis.
    dataset : Dataset
        Has the names of raters and classes.
    """
    words = _WORDS.get(name, name.replace("_", " "))
    if name in ("mu", "tau") and len(index) == 2:
        return f"{words} ({dataset.classes[index[0]]} annotated as {dataset.classes[index[1]]})"
    if name == "mistakes":
        return f"the share of mistakes on {dataset.classes[index[0]]} that name {dataset.classes[index[1]]}"
    if name == "prevalence":
        return f"{words} of {dataset.classes[index[0]]}" if index else words
    if not index or index[0] >= dataset.n_raters:
        return words
    rater = dataset.raters[index[0]]
    if len(index) == 3:
        answer = "correctly" if index[1] == index[2] else f"as {dataset.classes[index[2]]}"
        return f"how often rater {rater} annotates {dataset.classes[index[1]]} {answer}"
    return f"the {words} of rater {rater}"


_WORDS = {
    "prevalence": "the prevalence",
    "mu": "the raters' centre",
    "tau": "the raters' spread",
    "centre": "the raters' mean ability",
    "variance": "the variance of the raters' abilities",
    "difficulty_spread": "the spread of difficulty",
    "alpha": "log-odds",
    "alpha_sens": "sensitivity (log-odds)",
    "alpha_spec": "specificity (log-odds)",
}
