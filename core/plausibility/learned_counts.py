"""Dirichlet counts with the prior that all cases together suggest, instead of the published one.

``α = s/K`` for each of K classes at γ = 1, s the strength of `core.models.vote_prior`. The agreement of raters
determines how informative a few annotations are: with α = 1 two raters who agree have a certainty of 0.875, however
often raters agree. Held-out raters also determine α/γ (`core.certainty.held_out_readers`), by another estimate.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..models.families import families, members
from ..models.vote_prior import VotePrior, annotation_weights, learn_vote_prior
from ..runtime.identity_cache import cache_by_identity
from .dirichlet import LARGEST, SMALLEST, DirichletCounts
from .protocol import PlausibilityModel


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

    def prior_of(self, model: PlausibilityModel) -> VotePrior | None:
        """Return the learned prior if a model has it; None for other models and other priors.

        Parameters
        ----------
        model : PlausibilityModel
        """
        same = isinstance(model, DirichletCounts) and replace(self.model, depth=model.depth) == model
        return self.prior if same else None


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
    copies = alike if once else ()
    model = DirichletCounts(alpha, once=once, families=copies, n_raters=dataset.n_raters if copies else 0)
    return LearnedCounts(model, prior)


def learned_prior(dataset: Dataset, model: PlausibilityModel) -> VotePrior | None:
    """Learn the prior from a dataset if a model takes it; None for other models and other priors.

    Parameters
    ----------
    dataset : Dataset
        Data that the model takes.
    model : PlausibilityModel
    """
    if not isinstance(model, DirichletCounts) or dataset.kind != "class":
        return None
    return learned_counts(dataset).prior_of(model)
