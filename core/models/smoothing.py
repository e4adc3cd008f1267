"""Pseudo-counts for raters with few annotations."""

from typing import Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..chunks import CancelToken
from .design import Design
from .em import Family, Prior, Summit, climb, no_prior
from .stopping import StoppingRule

Smoothing = Literal["none", "diagonal", "pooled"]
POOL_STRENGTH = 10.0
_NEVER = 1e-100


def default_smoothing(dataset: Dataset) -> Smoothing:
    """No smoothing where the median rater has at least 10 K annotations, else the pool."""
    per_rater = np.bincount(dataset.rater, minlength=dataset.n_raters)
    return "none" if np.median(per_rater) >= 10 * dataset.n_classes else "pooled"


def diagonal_prior(n_classes: int) -> Prior:
    """The mode under Dirichlet(3) on the prevalence and rows with 2.5 K on the diagonal and 1 off it."""
    return Prior(np.full(n_classes, 2.0), np.eye(n_classes) * (2.5 * n_classes - 1))


def pooled_prior(data: Design, family: Family, token: CancelToken | None, *, per_row: bool) -> Prior:
    """10 pseudo-annotations spread like the answers of all raters taken as one, who is fitted first.

    Parameters
    ----------
    family : Family
        Of one rater.
    per_row : bool
        10 for each true class, for models with parameters of their own for each; else 10 in all, spread over true
        classes by their prevalence.
    """
    top = pooled_summit(data, family, token)
    n_classes = data.dataset.n_classes
    pool = np.exp(top.point.log_theta).reshape(n_classes, n_classes)
    pool[pool < _NEVER] = 0.0  # dying cells of the pool would underflow to 0 · ln 0 in the penalty
    spread = pool if per_row else pool * np.exp(top.point.log_prevalence)
    return Prior(np.zeros(n_classes), POOL_STRENGTH * spread)


def pooled_summit(data: Design, family: Family, token: CancelToken | None) -> Summit:
    """All raters taken as one, by maximum likelihood."""
    return climb(
        data.as_one_rater(), family, no_prior(data.dataset.n_classes), data.start, StoppingRule(200, 1e-8), token=token
    )
