"""Dirichlet counts with the prior that all cases together suggest, instead of the published one.

``α = s/K`` for each of K classes at γ = 1, s the strength of `core.models.vote_prior`. The agreement of raters
determines how informative a few annotations are: with α = 1 two raters who agree have a certainty of 0.875, however
often raters agree. Held-out raters also determine α/γ (`core.certainty.held_out_readers`), by another estimate.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..models.families import families, members
from ..models.vote_prior import VotePrior, annotation_weights, learn_vote_prior
from ..runtime.identity_cache import cache_by_identity
from .dirichlet import LARGEST, SMALLEST, DirichletCounts


@dataclass(frozen=True, slots=True, weakref_slot=True)
class LearnedCounts:
    """Counts with the prior learned from a dataset.

    Attributes
    ----------
    model : DirichletCounts
    prior : VotePrior
    """

    model: DirichletCounts
    prior: VotePrior


@cache_by_identity
def learned_counts(dataset: Dataset) -> LearnedCounts:
    """Learn the prior of counts from all cases; use the published prior if fewer than five have two raters.

    Raters who copy each other count as one, and so do repeats of a rater on a case.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    """
    family = families(dataset)
    prior = learn_vote_prior(dataset, family)
    alike = tuple(tuple(each.tolist()) for each in members(family))
    once = bool((annotation_weights(dataset, family) < 1).any())
    alpha = float(np.clip(prior.strength / max(dataset.n_classes, 1), SMALLEST, LARGEST))
    model = DirichletCounts(alpha, once=once, families=alike if once else ())
    return LearnedCounts(model, prior)
