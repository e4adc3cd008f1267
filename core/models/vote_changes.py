"""What weighing raters changes of the majority vote: classes that differ, and ties that are decided."""

from dataclasses import dataclass

import numpy as np

from ..text import plural
from ..thresholds import TIE_DECIDED
from .classifier_evidence import CLASSIFIER
from .result import RaterModelFit


@dataclass(frozen=True, slots=True)
class VoteChanges:
    """A fit beside the vote.

    Attributes
    ----------
    n_changed : int
        Cases with a majority whose most probable class is another one.
    n_decided : int
        Tied cases whose most probable class has a probability of `core.thresholds.TIE_DECIDED` or more.
    n_tied, n_cases : int
        Tied cases, and cases with an annotation.
    classifier : str
        That counts as evidence in the fit; empty for none.
    """

    n_changed: int
    n_decided: int
    n_tied: int
    n_cases: int
    classifier: str = ""

    @property
    def words(self) -> str:
        """The same as a sentence without its full stop."""
        cases = plural(self.n_cases, "case")
        weighing = f"Weighing raters, with {self.classifier} as evidence," if self.classifier else "Weighing raters"
        if self.n_decided and not self.n_changed:
            return f"{weighing} decides {plural(self.n_decided, 'tie')} and changes no majority of {cases}"
        words = f"{weighing} changes the majority class of {self.n_changed:,} of {cases}"
        return words + (f" and decides {plural(self.n_decided, 'tie')}" if self.n_decided else "")


def vote_changes(fit: RaterModelFit, vote: RaterModelFit, answered: np.ndarray) -> VoteChanges:
    """What a fit changes of the vote on the same cases and classes.

    Parameters
    ----------
    fit : RaterModelFit
    vote : RaterModelFit
        Majority vote.
    answered : ndarray of bool, shape (n_cases,)
        Cases with an annotation.
    """
    by_vote, by_model = vote.top_class(), fit.top_class()
    tied = (by_vote < 0) & answered
    sure = (fit.class_probability.max(axis=1) >= TIE_DECIDED) & (by_model >= 0)
    changed = (by_vote >= 0) & (by_model >= 0) & (by_vote != by_model) & answered
    n_changed, n_decided, n_tied, n_cases = (int(each.sum()) for each in (changed, tied & sure, tied, answered))
    return VoteChanges(n_changed, n_decided, n_tied, n_cases, str(fit.settings.get(CLASSIFIER, "")))
