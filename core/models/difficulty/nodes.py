"""Quadrature over the effects of a case: β ~ N(0, 1), ln δ ~ N(0, 0.25), λ ~ Beta(2, 2).

β by Gauss-Hermite up to 61 nodes. Beyond, an equidistant grid on ±8.5: the nodes of Gauss-Hermite spread like the root
of their number, those of the grid fill in, and the trapezoid rule converges geometrically for what is analytic and
vanishes at both ends, so hundreds of annotations on a case are not a problem. δ by Gauss-Hermite in ln δ, λ by
Gauss-Jacobi: the likelihood of n annotations is a polynomial of degree n in λ, for which (n + 1)/2 nodes are exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import ceil

import numpy as np

from .names import Switches

LOG_DISCRIMINATION_SD = 0.25
WIDEST = 8.5
MOST_EXPONENT = 330.0  # exp(-δα) exp(δβ) stays finite and above 0
_MOST_GAUSS = 61
_MOST_GUESSING = 16


@dataclass(frozen=True, slots=True)
class NodeCounts:
    """Number of nodes of each effect; 1 if the model does not have it."""

    difficulty: int
    discrimination: int
    guessing: int


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """A grid over (δ, β, λ), the last running fastest.

    Attributes
    ----------
    delta : ndarray, shape (n_delta,)
    table : ndarray, shape (3, n_nodes)
        exp(δβ), λ and the weight of each node; n_nodes is a multiple of n_delta. Weights sum to 1.
    """

    delta: np.ndarray
    table: np.ndarray


FIRST_COUNTS = NodeCounts(0, 0, 0)  # stands for those of `first_counts`


def first_counts(on: Switches, longest: int) -> NodeCounts:
    """Return the numbers of nodes with which refinement begins, for cases of at most ``longest`` annotations."""
    exact = max(1, ceil((longest + 1) / 2))
    return NodeCounts(
        difficulty=15 if on.difficulty else 1,
        discrimination=7 if on.discrimination else 1,
        guessing=min(exact, _MOST_GUESSING) if on.guessing else 1,
    )


def finer(counts: NodeCounts, longest: int) -> list[NodeCounts]:
    """Yield the grid with more nodes in one direction, for each direction that is not exact."""
    refined = []
    if counts.difficulty > 1:
        refined.append(replace(counts, difficulty=2 * counts.difficulty + (-1 if counts.difficulty == 31 else 1)))
    if counts.discrimination > 1:
        refined.append(replace(counts, discrimination=2 * counts.discrimination - 1))
    if 1 < counts.guessing < (longest + 1) / 2:
        refined.append(replace(counts, guessing=2 * counts.guessing))
    return refined


def refined(
    counts: NodeCounts, evaluate: Callable[[NodeCounts], np.ndarray], longest: int, tolerance: float
) -> NodeCounts:
    """Refine nodes in each direction in which that moves a value of ``evaluate`` by more than ``tolerance``.

    Parameters
    ----------
    counts : NodeCounts
        Nodes from which refinement begins.
    evaluate : callable
        From numbers of nodes to the values that must not move.
    longest : int
        Most annotations of a case.
    tolerance : float
        In the unit of the values.
    """
    here, found = evaluate(counts), counts
    for candidate in finer(counts, longest):
        if np.abs(evaluate(candidate) - here).max(initial=0.0) > tolerance:
            names = ("difficulty", "discrimination", "guessing")
            changed = {name: getattr(candidate, name) for name in names}
            found = replace(found, **{name: n for name, n in changed.items() if n != getattr(counts, name)})
    return found


def difficulty_rule(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values of β and weights; one node means that cases do not differ in difficulty."""
    if n_nodes == 1:
        return np.zeros(1), np.ones(1)
    if n_nodes <= _MOST_GAUSS:
        value, weight = (part.copy() for part in _gauss_hermite(n_nodes))
    else:
        value = np.linspace(-WIDEST, WIDEST, n_nodes)
        weight = np.exp(-0.5 * value**2)
    return value, weight / weight.sum()


@cache
def _gauss_hermite(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute nodes and weights, cached because they take longer than most cases."""
    return np.polynomial.hermite_e.hermegauss(n_nodes)


def discrimination_rule(n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return values of δ and weights; one node is δ = 1."""
    value, weight = difficulty_rule(n_nodes)
    return np.exp(LOG_DISCRIMINATION_SD * value), weight


def guessing_rule(n_nodes: int, present: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return values of λ and weights; λ = 0 if the model has no guessing."""
    if not present:
        return np.zeros(1), np.ones(1)
    from scipy.special import roots_jacobi

    value, weight = roots_jacobi(n_nodes, 1, 1)
    return (1 + value) / 2, weight / weight.sum()


def product(
    delta: tuple[np.ndarray, np.ndarray], beta: tuple[np.ndarray, np.ndarray], guess: tuple[np.ndarray, np.ndarray]
) -> Nodes:
    """Combine three rules in one grid.

    Parameters
    ----------
    delta, beta, guess : tuple of two ndarray
        Values and weights of discrimination δ, difficulty β and guessing λ; weights of each sum to 1.
    """
    log_odds = np.clip(np.multiply.outer(delta[0], beta[0]), -MOST_EXPONENT, MOST_EXPONENT)  # of nodes without weight
    guessing = guess[0]
    shape = (*log_odds.shape, guessing.size)
    weight = delta[1][:, None, None] * beta[1][:, None] * guess[1]
    table = [np.broadcast_to(part, shape).ravel() for part in (np.exp(log_odds)[:, :, None], guessing, weight)]
    return Nodes(delta=np.ascontiguousarray(delta[0]), table=np.ascontiguousarray(table))


def nodes(on: Switches, counts: NodeCounts) -> Nodes:
    """Build the grid of a model."""
    return product(
        discrimination_rule(counts.discrimination),
        difficulty_rule(counts.difficulty),
        guessing_rule(counts.guessing, on.guessing),
    )
