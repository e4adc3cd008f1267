"""Highest-density regions of plausibilities on a triangle of three corners."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

LATTICE_STEPS = 60
_EDGE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """Smallest part of a triangle that contains a given share of the distribution.

    Attributes
    ----------
    outlines : tuple of ndarray, each of shape (n_points, 3)
        Closed lines in barycentric coordinates (rows sum to 1).
    level : float
        Share that it contains, for example 0.95.
    """

    outlines: tuple[np.ndarray, ...]
    level: float


def dirichlet_region(shape: np.ndarray, corners: np.ndarray, level: float = 0.95) -> Region:
    """Compute the region of Dirichlet(shape) on the triangle from its exact density.

    Parameters
    ----------
    shape : ndarray, shape (3,)
        Shapes of the three corners; renormalising a Dirichlet to some of its classes leaves their shapes unchanged.
    corners : ndarray, shape (n_draws, 3)
        Draws renormalised to the corners; their density's lower quantile is the threshold.
    level : float
    """
    low, size = _window(corners)
    at_draws = _log_density(_clipped(corners, size), shape)
    return _region(lambda points: _log_density(points, shape), at_draws, low, size, level)


def draws_region(corners: np.ndarray, level: float = 0.95) -> Region:
    """Compute the region of a distribution known by its draws, from a Dirichlet kernel estimate of the density.

    ``f(x) = mean_i Dir(x; s_i / b + 1)``, ``b = ½ · sd · N^(-1/3)`` with the root mean variance of the coordinates.

    Parameters
    ----------
    corners : ndarray, shape (n_draws, 3)
        Draws renormalised to the corners.
    level : float
    """
    from scipy.special import gammaln

    spread = float(np.sqrt(corners.var(axis=0).mean()))
    bandwidth = max(0.5 * spread * len(corners) ** (-1 / 3), 1e-6)
    shapes = corners / bandwidth + 1
    constants = gammaln(shapes.sum(axis=1)) - gammaln(shapes).sum(axis=1)

    def kernels(points: np.ndarray) -> np.ndarray:
        return np.log(points.reshape(-1, 3)) @ (shapes - 1).T + constants

    def log_density(points: np.ndarray) -> np.ndarray:
        return _log_mean_exp(kernels(points)).reshape(points.shape[:-1])

    low, size = _window(corners)
    at_draws = kernels(_clipped(corners, size))
    # The kernel of a draw itself would make its density look higher than that of a new draw there.
    np.fill_diagonal(at_draws, -np.inf)
    return _region(log_density, _log_mean_exp(at_draws), low, size, level)


def _log_mean_exp(logs: np.ndarray) -> np.ndarray:
    best = np.maximum(logs.max(axis=1, keepdims=True), -1e300)
    with np.errstate(divide="ignore"):
        return best[:, 0] + np.log(np.exp(logs - best).mean(axis=1))


def _region(
    log_density: Callable[[np.ndarray], np.ndarray], at_draws: np.ndarray, low: np.ndarray, size: float, level: float
) -> Region:
    threshold = float(np.quantile(at_draws, 1 - level))
    # A flat density, as of Dirichlet(1, 1, 1), is its own threshold: the whole triangle belongs to the region.
    threshold -= 1e-9 * (1 + abs(threshold))
    return Region(_outlines(log_density, threshold, low, size), level)


def _window(corners: np.ndarray) -> tuple[np.ndarray, float]:
    """Find the smallest triangle around the draws with a margin: its lowest coordinates and its size, 1 for the whole.

    A narrow distribution would fall between the points of a lattice over the whole triangle.
    """
    low = corners.min(axis=0)
    low = np.maximum(0.0, low - 0.25 * (1 - low.sum()) - 1e-6)
    return low, float(1 - low.sum())


def _clipped(points: np.ndarray, size: float) -> np.ndarray:
    points = np.maximum(points, _EDGE * size)
    return points / points.sum(axis=-1, keepdims=True)


def _log_density(points: np.ndarray, shape: np.ndarray) -> np.ndarray:
    return (np.log(points) * (shape - 1)).sum(axis=-1)


def _outlines(
    log_density: Callable[[np.ndarray], np.ndarray], threshold: float, low: np.ndarray, size: float
) -> tuple[np.ndarray, ...]:
    import contourpy

    first, second = np.meshgrid(np.arange(LATTICE_STEPS + 1), np.arange(LATTICE_STEPS + 1), indexing="xy")
    third = LATTICE_STEPS - first - second
    inside = third >= 0
    lattice = np.stack([first, second, np.maximum(third, 0)], axis=-1) * (size / LATTICE_STEPS) + low
    density = np.ma.masked_array(np.zeros(inside.shape), mask=~inside)
    density[inside] = log_density(_clipped(lattice[inside], size))
    generator: Any = contourpy.contour_generator(
        lattice[..., 0], lattice[..., 1], density, corner_mask=True, fill_type="OuterOffset"
    )
    polygons, offsets = generator.filled(threshold, np.inf)
    outlines = []
    for polygon, offset in zip(polygons, offsets, strict=True):
        for start, stop in pairwise(offset):
            a, b = polygon[start:stop].T
            outlines.append(np.column_stack([a, b, 1 - a - b]))
    return tuple(outlines)
