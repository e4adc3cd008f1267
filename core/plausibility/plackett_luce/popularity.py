"""Popularity of classes: one Plackett-Luce vector g for the rankings of all cases, as a guess by popularity."""

from dataclasses import dataclass

import numpy as np

from ...annotations.dataset import Dataset
from ._popularity_kernels import informative_blocks, log_popular, popularity_mode
from .blocks import ranking_entries
from .point import MODE_PSEUDO_COUNT

_TOLERANCE = 1e-8
_MOST_STEPS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class Popularity:
    """Popularity of each class.

    Attributes
    ----------
    share : ndarray of float64, shape (n_classes,)
        Mode of Dirichlet(1.1) × the Plackett-Luce likelihood of all rankings together; sum 1.
    log_likelihood : ndarray of float64, shape (n_annotations,)
        Ln p(b | g) of each annotation.
    converged : bool
    """

    share: np.ndarray
    log_likelihood: np.ndarray
    converged: bool


def class_popularity(dataset: Dataset) -> Popularity:
    """Estimate the popularity of each class from all annotations, counted once; smoothed shares of single classes.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    """
    ranking_ptr, block_ptr, member = informative_blocks(*ranking_entries(dataset), dataset.n_classes)
    most_blocks = int(np.diff(ranking_ptr).max(initial=0))
    share, converged = popularity_mode(
        ranking_ptr,
        block_ptr,
        member,
        dataset.n_classes,
        most_blocks,
        MODE_PSEUDO_COUNT,
        _TOLERANCE,
        _MOST_STEPS,
    )
    return Popularity(share, log_popular(ranking_ptr, block_ptr, member, most_blocks, share), bool(converged))
