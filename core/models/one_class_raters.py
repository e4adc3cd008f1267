"""Raters who give one class regardless of the case, and data in which most raters do.

A rule that says "yes" or nothing is informative by the cases that it annotates. A rater who says "yes" to every case is
not. The other raters show which is which: they name the class more often on the cases of a rule than elsewhere.
"""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Z95, wilson
from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..runtime.identity_cache import cache_by_identity
from ..thresholds import ONE_CLASS_ONLY

FEWEST = 10
_OTHERS_AGREE = 0.9
_SECOND_CLASS = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class OneClassRaters:
    """Raters who give one class on `ONE_CLASS_ONLY` of at least `FEWEST` annotations.

    Attributes
    ----------
    favourite : ndarray of int64, shape (n_raters,)
        The class that a rater gives; -1 for raters who give several, and for those with few annotations.
    whatever : ndarray of bool, shape (n_raters,)
        Raters who give their class whatever the case shows: the other raters mostly name another class on the same
        cases, and name this one no more often there than elsewhere.
    n_enough : int
        Raters with at least `FEWEST` annotations.
    """

    favourite: np.ndarray
    whatever: np.ndarray
    n_enough: int

    @property
    def n(self) -> int:
        """Number of raters who give one class."""
        return int((self.favourite >= 0).sum())

    @property
    def most(self) -> bool:
        """True if most raters give one class, and not all the same, so that the annotated cases are the information.

        A class that one of them gives, or a tenth, does not count, nor do raters who give theirs whatever the case
        shows, unless these are most raters.
        """
        if 2 * self.n <= self.n_enough:
            return False
        if 2 * int(self.whatever.sum()) > self.n_enough:
            return True
        given = np.bincount(self.favourite[(self.favourite >= 0) & ~self.whatever])
        return bool((given > max(1, _SECOND_CLASS * given.sum())).sum() > 1)


@cache_by_identity
def one_class_raters(dataset: Dataset) -> OneClassRaters:
    """Find the raters who give one class.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes. Nobody is found where raters are anonymous.

    Returns
    -------
    OneClassRaters
    """
    n_of_rater, favourite = dataset.annotations_of_raters, np.full(dataset.n_raters, -1)
    if not dataset.raters_identified or dataset.n_classes < 2:
        return OneClassRaters(frozen(favourite), frozen(favourite >= 0), 0)
    key, n_named = np.unique(dataset.rater * np.int64(dataset.n_classes) + dataset.answer, return_counts=True)
    rater, answer = np.divmod(key, dataset.n_classes)
    only = (n_of_rater[rater] >= FEWEST) & (n_named >= ONE_CLASS_ONLY * n_of_rater[rater])
    favourite[rater[only]] = answer[only]
    whatever = _whatever(dataset, favourite)
    return OneClassRaters(frozen(favourite), frozen(whatever), int((n_of_rater >= FEWEST).sum()))


def _whatever(dataset: Dataset, favourite: np.ndarray) -> np.ndarray:
    """Return raters whose class the others do not mostly name on the same cases, nor more often than elsewhere."""
    found = np.zeros(dataset.n_raters, bool)
    if not (favourite >= 0).any():
        return found
    n_raters, n_classes = dataset.n_raters, np.int64(dataset.n_classes)
    named = np.unique((dataset.case_of_annotation * n_classes + dataset.answer) * n_raters + dataset.rater)
    cell, rater = np.divmod(named, n_raters)  # repeats of a rater count once
    cell, entry, count = np.unique(cell, return_inverse=True, return_counts=True)
    case, answer = np.divmod(cell, n_classes)
    first, second, leader = _two_most_named(case, answer, count, dataset.n_cases)
    case, answer, count = case[entry], answer[entry], count[entry]

    own = favourite[rater] == answer
    rival = np.where(count == first[case], second[case], first[case])
    told = own & (count - 1 != rival)
    n = np.bincount(rater[told], minlength=n_raters)
    agree = np.bincount(rater[told & (count - 1 > rival)], minlength=n_raters)
    led = np.flatnonzero(leader >= 0)
    n_led = np.bincount(leader[led], minlength=n_classes)
    seen = np.unique(case * n_raters + rater)
    seen_leader, seen_rater = leader[seen // n_raters], seen % n_raters
    n_seen = np.bincount(seen_rater[seen_leader >= 0], minlength=n_raters)
    n_seen_own = np.bincount(seen_rater[seen_leader == favourite[seen_rater]], minlength=n_raters)
    for j in np.flatnonzero((favourite >= 0) & (n >= FEWEST)).tolist():
        low, high = wilson(agree[j] / n[j], n[j], Z95)
        elsewhere = led.size - n_seen[j]
        share = (n_led[favourite[j]] - n_seen_own[j]) / max(elsewhere, 1)
        more = elsewhere > 0 and low > wilson(share, elsewhere, Z95)[1]
        found[j] = high < _OTHERS_AGREE and not more
    return found


def _two_most_named(
    case: np.ndarray, answer: np.ndarray, count: np.ndarray, n_cases: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the two largest counts of each case, and the class of the largest; -1 if they are equal."""
    order = np.lexsort((-count, case))
    first, second, leader = np.zeros(n_cases, np.int64), np.zeros(n_cases, np.int64), np.full(n_cases, -1)
    begins = np.flatnonzero(np.diff(case, prepend=-1))
    first[case[begins]] = count[order][begins]
    further = begins[np.diff(begins, append=case.size) > 1]
    second[case[further]] = count[order][further + 1]
    leader[case[begins]] = answer[order][begins]
    leader[first == second] = -1
    return first, second, leader
