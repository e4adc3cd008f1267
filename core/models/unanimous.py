"""Guards of rater models on cases on which the raters agree.

A model of raters can predict annotations well and yet call a class by another one's name, or lose it. Cases on which
all raters agree show that, without gold: few of them can have another class than the one that everybody named.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..runtime.identity_cache import cache_by_identity
from ..text import percent, plural, shorten
from .one_class_raters import one_class_raters
from .result import RaterModelFit

_FEWEST, _SHARE = 5, 0.02
_LOST = 1 / 3
_FEWEST_FLIPS = 2


@dataclass(frozen=True, slots=True, eq=False)
class Unanimous:
    """Cases on which two raters or more agree completely.

    Raters who give one class whatever the case shows are not counted, see `core.models.one_class_raters`.

    Attributes
    ----------
    case : ndarray of int64, shape (n,)
        Positions, ascending.
    answer : ndarray of int64, shape (n,)
        The class that everybody named.
    share : ndarray, shape (n_classes,)
        Share of each class among the pluralities of all cases; a tied case is shared.
    classes : tuple of str
    """

    case: np.ndarray
    answer: np.ndarray
    share: np.ndarray
    classes: tuple[str, ...]

    @property
    def n(self) -> int:
        """Number of unanimous cases."""
        return len(self.case)

    def n_flipped(self, fit: RaterModelFit) -> int:
        """Count unanimous cases to which a fit gives another most likely class.

        Parameters
        ----------
        fit : RaterModelFit
            Fit of the same cases and classes.
        """
        probability = fit.class_probability[self.case]
        own = probability[np.arange(self.n), self.answer]
        return int((probability.max(axis=1, initial=0.0) > own + 1e-9).sum())

    def why_not(self, fit: RaterModelFit) -> str:
        """Explain why a fit must not be used; empty if it can be used.

        Parameters
        ----------
        fit : RaterModelFit
            Fit of the same cases and classes.
        """
        times = np.bincount(self.answer, minlength=len(self.share))
        common = (times >= _FEWEST) & (times >= _SHARE * self.n)
        lost = np.flatnonzero(common & (fit.prevalence < _LOST * self.share))
        if lost.size:
            k = lost[np.argmax(times[lost])]
            return (
                f"It estimates a prevalence of {percent(fit.prevalence[k])} for {shorten(self.classes[k], 40)}, but "
                f"{percent(self.share[k])} of cases have this class by majority vote, and "
                f"{plural(int(times[k]), 'case')} unanimously."
            )
        flipped = self.n_flipped(fit)
        if flipped > max(_FEWEST_FLIPS, _SHARE * self.n):
            return f"It {flipped_in_words(flipped, self.n)}."
        return ""


def flipped_in_words(flipped: int, n: int) -> str:
    """Say how many unanimous cases a model gives another class, without its subject and full stop.

    Parameters
    ----------
    flipped : int
        Cases that get another class.
    n : int
        Unanimous cases, one or more.
    """
    if n == 1:
        return (
            "changes the class of the only unanimous case" if flipped else "keeps the class of the only unanimous case"
        )
    if not flipped:
        return f"keeps the class of all {n:,} unanimous cases"
    return f"changes the class of {flipped:,} of {n:,} unanimous cases"


@cache_by_identity
def unanimous_cases(dataset: Dataset) -> Unanimous:
    """Find the cases on which two raters or more agree completely.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.

    Returns
    -------
    Unanimous
    """
    rows = np.flatnonzero(~one_class_raters(dataset).whatever[dataset.rater])
    case, answer = dataset.case_of_annotation[rows], dataset.answer[rows]
    rater = dataset.rater[rows].astype(np.int64) if dataset.raters_identified else rows
    n_raters = np.bincount(np.unique(case * np.int64(rater.max(initial=0) + 1) + rater) // (rater.max(initial=0) + 1))
    cell, count = np.unique(case * np.int64(dataset.n_classes) + answer, return_counts=True)
    case, answer = np.divmod(cell, dataset.n_classes)
    n_named = np.bincount(case, minlength=dataset.n_cases)
    agreed = (n_named[case] == 1) & (n_raters[case] > 1)
    most = np.zeros(dataset.n_cases, np.int64)
    np.maximum.at(most, case, count)
    first = count == most[case]
    winners = np.bincount(case[first], minlength=dataset.n_cases)
    share = np.bincount(answer[first], 1 / winners[case[first]], dataset.n_classes) / max((n_named > 0).sum(), 1)
    return Unanimous(frozen(case[agreed]), frozen(answer[agreed]), frozen(share), dataset.classes)
