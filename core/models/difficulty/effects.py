"""Estimates for each case after the fit: true class, difficulty β, discrimination δ and guessing λ."""

from dataclasses import dataclass

import numpy as np

from ...runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..result import CaseEffect, Spread
from ._case_kernels import node_posterior
from .density import DifficultyDensity
from .nodes import (
    LOG_DISCRIMINATION_SD,
    Nodes,
    difficulty_rule,
    discrimination_rule,
    guessing_rule,
    product,
)

MOST_DRAWS_OF_TRUTH = 400
MOST_DRAWS_OF_EFFECTS = 200
_FEWEST_DRAWS = 10
_MOST_PRODUCTS = 20_000_000_000
_CELLS_A_CHUNK = 1_000_000
_AXES = {"discrimination": 0, "difficulty": 1, "guessing": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """P(z = 1) of each case.

    Attributes
    ----------
    mean : ndarray, shape (n_cases,)
    spread : Spread
        Over draws of the parameters.
    n_draws : int
        How many it took.
    """

    mean: np.ndarray
    spread: Spread
    n_draws: int


def evenly_spaced(draws: np.ndarray, most: int) -> np.ndarray:
    """Select at most ``most`` rows, evenly spaced."""
    if len(draws) <= most:
        return draws
    return np.ascontiguousarray(draws[np.linspace(0, len(draws) - 1, most).round().astype(int)])


def truth_of_cases(
    density: DifficultyDensity, draws: np.ndarray, level: float, token: CancelToken | None = None
) -> Truth:
    """Average P(z = 1 | annotations) over at most 400 draws, with its sd and interval over them.

    Parameters
    ----------
    density : DifficultyDensity
    draws : ndarray, shape (n_draws, ndim)
    level : float
        Confidence level of the interval, 0 to 1.
    token : CancelToken, optional
    """
    draws = evenly_spaced(draws, MOST_DRAWS_OF_TRUTH)
    tails = [(1 - level) / 2, (1 + level) / 2]
    n_patterns = density.case_count.size
    found = np.empty((4, n_patterns))
    for first, last in chunk_ranges(n_patterns, max(1, _CELLS_A_CHUNK // len(draws))):
        positive = density.probabilities(draws, first, last, token)[1]
        found[0, first:last] = positive.mean(axis=0)
        found[1, first:last] = positive.std(axis=0)
        found[2:, first:last] = np.quantile(positive, tails, axis=0)
    mean, sd, low, high = found[:, density.patterns.pattern_of_case]
    return Truth(mean, Spread(sd, low, high), len(draws))


def effects_of_cases(
    density: DifficultyDensity, draws: np.ndarray, level: float, token: CancelToken | None = None
) -> tuple[tuple[CaseEffect, ...], int]:
    """Compute mean, sd and interval of every effect of the model, and the number of draws averaged.

    The posterior of an effect is a mixture, over draws and both true classes, of its posterior on a fine grid, the
    other effects integrated out. It holds the uncertainty of the parameters and of the case itself.

    Parameters
    ----------
    density : DifficultyDensity
    draws : ndarray, shape (n_draws, ndim)
    level : float
        Confidence level of the intervals, 0 to 1.
    token : CancelToken, optional
    """
    present = [name for name in ("difficulty", "discrimination", "guessing") if getattr(density.on, name)]
    grids = {name: _fine_grid(density, name) for name in present}
    work = 2 * max(1, density.patterns.cell.size) * sum(grid.table.shape[1] for _, grid in grids.values())
    draws = evenly_spaced(draws, int(np.clip(_MOST_PRODUCTS // max(1, work), _FEWEST_DRAWS, MOST_DRAWS_OF_EFFECTS)))
    logit, alpha = density.coefficients(draws)
    patterns, effects = density.patterns, []
    n_patterns = patterns.count.size
    for name, (value, grid) in grids.items():
        axes = grid.delta.size, -1, value.size if name == "guessing" else density.node_counts.guessing
        others = tuple(1 + axis for axis in range(3) if axis != _AXES[name])
        share = np.empty((n_patterns, value.size))

        def marginal(chunk: tuple[int, int], grid=grid, share=share, axes=axes, others=others) -> None:
            first, last = chunk
            joint = np.zeros((last - first, grid.table.shape[1]))
            node_posterior(logit, alpha, patterns.ptr, patterns.cell, grid.delta, grid.table, first, last, joint)
            share[first:last] = joint.reshape(last - first, *axes).sum(axis=others)

        size = max(1, _CELLS_A_CHUNK // grid.table.shape[1])
        for _ in map_chunks(marginal, chunk_ranges(n_patterns, size), token=token):
            pass
        mean, sd, low, high = grid_moments(name, value, share, level)[:, patterns.pattern_of_case]
        effects.append(CaseEffect(name, mean, Spread(sd, low, high)))
    return tuple(effects), len(draws)


def _fine_grid(density: DifficultyDensity, name: str) -> tuple[np.ndarray, Nodes]:
    """Build an equidistant grid in the effect ``name``, in ln δ for δ, times the density's own nodes of the others."""
    counts = density.node_counts
    rules = {
        "discrimination": discrimination_rule(counts.discrimination),
        "difficulty": difficulty_rule(counts.difficulty),
        "guessing": guessing_rule(counts.guessing, density.on.guessing),
    }
    if name == "guessing":
        value = (np.arange(101) + 0.5) / 101
        weight = value * (1 - value)
        rules[name] = value, weight / weight.sum()
    else:
        standard = np.linspace(-6.0, 6.0, max(121, counts.difficulty if name == "difficulty" else 0))
        weight = np.exp(-0.5 * standard**2)
        value = standard if name == "difficulty" else LOG_DISCRIMINATION_SD * standard
        rules[name] = (standard if name == "difficulty" else np.exp(value)), weight / weight.sum()
    return value, product(rules["discrimination"], rules["difficulty"], rules["guessing"])


def grid_moments(name: str, value: np.ndarray, share: np.ndarray, level: float) -> np.ndarray:
    """Compute mean, sd and the ends of the interval of each pattern, shape (4, n_patterns), from masses on the grid.

    Parameters
    ----------
    name : str
        Name of the effect; "discrimination" stands on the grid by its logarithm.
    value : ndarray, shape (n_grid,)
        Evenly spaced.
    share : ndarray, shape (n_patterns, n_grid)
        Probabilities, each row of sum 1.
    level : float
        Confidence level of the interval, 0 to 1.
    """
    natural = np.exp(value) if name == "discrimination" else value
    mean = share @ natural
    sd = np.sqrt(np.maximum(share @ natural**2 - mean**2, 0.0))
    step = value[1] - value[0]
    edge = np.concatenate(([value[0] - step / 2], value + step / 2))
    cumulative = np.concatenate((np.zeros((len(share), 1)), np.cumsum(share, axis=1)), axis=1)
    ends = np.array([[np.interp(tail, row, edge) for row in cumulative] for tail in ((1 - level) / 2, (1 + level) / 2)])
    return np.concatenate(([mean, sd], np.exp(ends) if name == "discrimination" else ends))
