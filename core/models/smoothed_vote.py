"""Smoothed vote: shares of the votes with a prior that is learned from all cases.

``P(z_i = k | n_i) = (n_ik + s / K) / (n_i + s)``, with n_ik the annotations that name class k on case i and s from
`core.models.vote_prior`. Every annotation counts the same, so no class can be lost or take another one's place: it
opens if no model of raters can be relied on.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..methods import ONE_CLASS, Method
from ..text import number, plural
from .families import families
from .majority import MajorityVote
from .result import RaterModelFit
from .vote_prior import VotePrior, learn_vote_prior


@dataclass(frozen=True, slots=True)
class SmoothedVote:
    """Vote with a learned prior; every annotation counts the same."""

    def fit(self, dataset: Dataset) -> RaterModelFit:
        """Shares of the votes with the prior as class probabilities; raters against the winning class.

        Parameters
        ----------
        dataset : Dataset
            Of single classes.

        Raises
        ------
        NotApplicableError
            The annotations are not single classes, or there is none.
        LimitError
            The tables would not fit.
        """
        return self.smoothed(MajorityVote().fit(dataset), dataset)

    def smoothed(self, vote: RaterModelFit, dataset: Dataset) -> RaterModelFit:
        """A majority vote of a dataset with the prior.

        Parameters
        ----------
        vote : RaterModelFit
            Of `core.models.majority.MajorityVote`.
        dataset : Dataset
        """
        prior = learn_vote_prior(dataset, families(dataset))
        n = np.diff(dataset.case_ptr)[:, None]
        named = n * vote.class_probability
        return replace(
            vote,
            model="smoothed-vote",
            class_probability=(named + prior.strength / dataset.n_classes) / (n + prior.strength),
            settings={"strength": prior.strength},
            notes=(_note(prior, dataset.n_classes),),
        )


def _note(prior: VotePrior, n_classes: int) -> str:
    """What the prior is worth, and where it comes from."""
    if not prior.learned:
        return (
            f"The prior is one annotation per class: {plural(prior.n_cases, 'case')} with two raters or more "
            f"{'is' if prior.n_cases == 1 else 'are'} too few to learn it."
        )
    return (
        f"The prior is worth {number(prior.strength, zero=True)} annotations, spread evenly over {n_classes:,} "
        f"classes. It was learned from {plural(prior.n_cases, 'case')} with two raters or more."
    )


def _by_vote(model, dataset, way, run, token, progress) -> RaterModelFit:
    return model.fit(dataset)


METHOD = Method(
    "smoothed-vote",
    "rater model",
    "Smoothed vote",
    plainly="Share of each class among the annotations of a case, drawn a little towards even shares. How far is "
    "learned from all cases. Every annotation counts the same.",
    exactly="Posterior mean of a Dirichlet-multinomial with symmetric prior s/K; s maximises the likelihood of all "
    "cases and of one added pair of annotations that disagree.",
    sources=("Minka, Estimating a Dirichlet distribution (2000)",),
    takes=ONE_CLASS,
    make=SmoothedVote,
    fit=_by_vote,
    needs=("overlap", "raters"),
    ways=("vote",),
    sentence="The probability of each class on each case was its share of the annotations, smoothed by a symmetric "
    "Dirichlet prior whose strength was learned from all cases.",
    place=5,
    n_parameters=lambda dataset: 1,
    warm=True,
)
