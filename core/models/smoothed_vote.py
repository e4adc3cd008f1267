"""Smoothed vote: shares of the votes with a prior learned from all cases.

``P(z_i = k | n_i) = (n_ik + s / K) / (n_i + s)``, with n_ik the raters who name class k on case i and s from
`core.models.vote_prior`. Raters who copy each other count as one. All others count the same, so no class can be lost or
take another one's place: it opens if no model of raters can be relied on.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from .families import families
from .majority import MajorityVote
from .rater_methods import RaterModelMethod
from .result import RaterModelFit
from .vote_prior import annotation_weights, learn_vote_prior


@dataclass(frozen=True, slots=True)
class SmoothedVote:
    """Vote with a learned prior; every annotation counts the same."""

    def fit(self, dataset: Dataset) -> RaterModelFit:
        """Return shares of the votes with the prior as class probabilities; raters against the winning class.

        Parameters
        ----------
        dataset : Dataset
            Dataset of single classes.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes, or there is none.
        LimitError
            The tables would not fit into memory.
        """
        return self.smoothed(MajorityVote().fit(dataset), dataset)

    def smoothed(self, vote: RaterModelFit, dataset: Dataset) -> RaterModelFit:
        """Smooth a majority vote of a dataset with the prior.

        Parameters
        ----------
        vote : RaterModelFit
            Fit of `core.models.majority.MajorityVote`.
        dataset : Dataset
        """
        family = families(dataset)
        prior, weight = learn_vote_prior(dataset, family), annotation_weights(dataset, family)
        cell = dataset.case_of_annotation * np.int64(dataset.n_classes) + dataset.answer
        named = np.bincount(cell, weight, dataset.n_cases * dataset.n_classes).reshape(-1, dataset.n_classes)
        n = named.sum(axis=1, keepdims=True)
        return replace(
            vote,
            model="smoothed-vote",
            class_probability=(named + prior.strength / dataset.n_classes) / (n + prior.strength),
            settings={"strength": prior.strength},
            notes=(prior.sentence(),),
        )


def _by_vote(model, dataset, way, run, token, progress) -> RaterModelFit:
    return model.fit(dataset)


METHOD = RaterModelMethod(
    "smoothed-vote",
    "Smoothed vote",
    plainly="Share of each class among the annotations of a case, moved slightly towards equal shares. The size "
    "of this shift is learned from all cases. Every annotation has the same weight.",
    exactly="Posterior mean of a Dirichlet-multinomial with symmetric prior s/K. The value of s maximises the "
    "likelihood of all cases and of one added pair of annotations that disagree.",
    sources=("Minka, Estimating a Dirichlet distribution (2000)",),
    make=SmoothedVote,
    fit=_by_vote,
    ways=("vote",),
    sentence="The probability of each class for each case was its share of the annotations, smoothed by a symmetric "
    "Dirichlet prior whose strength was learned from all cases.",
    place=5,
    n_parameters=lambda dataset: 1,
    warm=True,
)
