"""Reducer of further metrics of classifiers: whole rankings and probabilities against every draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ..plausibility.protocol import CaseDraws
from ._kernels import N_LIST, N_SOFT, list_scores, soft_scores
from .metrics import Ranked

N_FURTHER = N_LIST + N_SOFT
LEAST_PROBABILITY = 1e-6


@dataclass(slots=True, eq=False)
class ListState:
    """Sums over cases per draw, and means over draws per case.

    Attributes
    ----------
    total, common : ndarray, shape (n_classifiers, N_FURTHER, n_draws)
        Sums over the cases that a classifier predicts, and over those that all do.
    n, n_common : ndarray of int64, shape (n_classifiers,)
        Those cases.
    per_case : ndarray, shape (n_cases, n_classifiers, N_FURTHER)
        Means over draws; NaN where a classifier does not predict a case.
    """

    total: np.ndarray
    common: np.ndarray
    n: np.ndarray
    n_common: np.ndarray
    per_case: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class ListMetrics:
    """Kendall's tau, footrule, target within prediction, and distances of probabilities.

    Parameters
    ----------
    classifiers : tuple
        Predictions matched to the dataset.
    probabilities : tuple of ndarray, shape (n_cases, n_classes), or None
        Probabilities of each classifier; None if only the order is known.
    n_classes : int
    top, target : int
        k, length of the compared lists, and j, of the target that must be within the first k.
    """

    classifiers: tuple[Ranked, ...]
    probabilities: tuple[np.ndarray | None, ...]
    n_classes: int
    top: int = 3
    target: int = 1

    def init(self, n_cases: int, n_draws: int) -> ListState:
        """Return empty sums."""
        n = len(self.classifiers)
        total, common = np.zeros((2, n, N_FURTHER, n_draws))
        return ListState(
            total, common, np.zeros(n, np.int64), np.zeros(n, np.int64), np.full((n_cases, n, N_FURTHER), np.nan)
        )

    def update(self, state: ListState, place: int, case: int, draws: CaseDraws) -> None:
        """Score every classifier that predicts the case.

        Parameters
        ----------
        state : ListState
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.
        """
        scores: dict[int, np.ndarray] = {}
        for number, (classifier, known) in enumerate(zip(self.classifiers, self.probabilities, strict=True)):
            entries = slice(classifier.ptr[case], classifier.ptr[case + 1])
            if entries.start == entries.stop:
                continue
            code, group = classifier.class_code[entries], classifier.group[entries]
            found = np.full((N_FURTHER, draws.n_draws), np.nan)
            found[:N_LIST] = compare_lists(draws, code, group, self.n_classes, self.top, self.target)
            if known is not None:
                found[N_LIST:] = compare_probabilities(draws, known[case])
            scores[number] = found
            state.total[number] += found
            state.n[number] += 1
            state.per_case[place, number] = found.mean(axis=1)
        if len(scores) == len(self.classifiers):
            for number, found in scores.items():
                state.common[number] += found
                state.n_common[number] += 1

    def merge(self, states: Sequence[ListState]) -> ListState:
        """Add up the sums of all chunks."""
        first, others = states[0], states[1:]
        return ListState(
            sum((state.total for state in others), first.total),
            sum((state.common for state in others), first.common),
            sum((state.n for state in others), first.n),
            sum((state.n_common for state in others), first.n_common),
            np.concatenate([state.per_case for state in states]),
        )

    def result(self, state: ListState) -> ListState:
        """Return the sums, which `core.evaluation.further_metrics` turns into numbers with errors."""
        return state


def compare_lists(
    draws: CaseDraws, class_code: np.ndarray, group: np.ndarray, n_classes: int, top: int, target: int
) -> np.ndarray:
    """Compute Kendall's tau, footrule (1 for the same list, 0 for the most distant), and target within prediction.

    Parameters
    ----------
    draws : CaseDraws
    class_code : ndarray of int, shape (n_entries,)
        Ranked classes, the best first.
    group : ndarray of int, shape (n_entries,)
        Block of tied scores of each, from 0.
    n_classes : int
    top, target : int
        k and j ≤ k; both at most the number of classes.

    Returns
    -------
    ndarray, shape (3, n_draws)
        0 for the tau of a prediction that ties all classes.

    Raises
    ------
    InputError
        k is deeper than the places that the draws distinguish.
    """
    top = min(top, n_classes)
    target = min(target, top)
    if top > draws.top.shape[1]:
        raise InputError(
            f"Cannot compare lists of {top} classes: the draws rank only the first {draws.top.shape[1]} classes.",
            f"Use a plausibility model with a depth of {top}.",
        )
    rank, bucket, inside, tie = _places(class_code, group, n_classes, top)
    unnamed = np.ones(n_classes, bool)
    unnamed[draws.classes] = False
    of_rest = bucket[unnamed]
    against = np.sign(of_rest[None, :] - bucket[draws.classes][:, None]).sum(axis=1).astype(np.float64)
    places = np.arange(1, top + 2)
    cost = np.abs(places[:, None] - rank[unnamed][None, :]).sum(axis=1)
    own = np.minimum(np.arange(1, n_classes + 1), top + 1)
    firm_rest, tied_rest = (int((inside[unnamed] == code).sum()) for code in (2, 1))
    scores = np.empty((N_LIST, draws.n_draws))
    list_scores(
        draws.top,
        draws.n_rest,
        top,
        target,
        rank[draws.classes],
        bucket[draws.classes],
        against,
        cost,
        _tau_scale(bucket, top),
        float(np.abs(own - own[::-1]).sum()),
        inside[draws.classes],
        np.array([firm_rest, tied_rest, *tie], np.int64),
        scores,
    )
    return scores


def _tau_scale(bucket: np.ndarray, top: int) -> float:
    """Return the factor that turns a sum of signs into Kendall's tau-b; 0 if the prediction ties all classes."""
    sizes, beyond = np.unique(bucket, return_counts=True)[1], len(bucket) - top
    pairs = len(bucket) * (len(bucket) - 1) / 2
    apart = (pairs - beyond * (beyond - 1) / 2) * (pairs - (sizes * (sizes - 1) / 2).sum())
    return float(1 / np.sqrt(apart)) if apart > 0 else 0.0


def _places(
    class_code: np.ndarray, group: np.ndarray, n_classes: int, top: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]:
    """Return rank, bucket and membership in the first k of each class; size of the tie across place k, and its places.

    What a list does not name is tied behind it.
    """
    rank, bucket = np.full(n_classes, top + 1.0), np.full(n_classes, top, np.int64)
    inside, tie = np.zeros(n_classes, np.int64), (0, 0)
    listed = [class_code[group == one] for one in range(int(group[-1]) + 1)]
    left = np.ones(n_classes, bool)
    left[class_code] = False
    first = 0
    for number, members in enumerate((*listed, np.flatnonzero(left))):
        if first >= top:
            break
        last = first + len(members)
        rank[members] = np.minimum(np.arange(first + 1, last + 1), top + 1).mean() if len(members) else 0.0
        bucket[members] = first
        if number < len(listed):
            inside[members] = 2 if last <= top else 1
            tie = tie if last <= top else (len(members), top - first)
        first = last
    return rank, bucket, inside, tie


def compare_probabilities(draws: CaseDraws, predicted: np.ndarray) -> np.ndarray:
    """Compute cross entropy (nats), Jensen-Shannon divergence (bits, 0 to 1) and Manhattan distance (0 to 2) by draw.

    Probabilities below `LEAST_PROBABILITY` count as that in the cross entropy, which would otherwise be infinite.

    Parameters
    ----------
    draws : CaseDraws
    predicted : ndarray, shape (n_classes,)
        Probability of every class.

    Returns
    -------
    ndarray, shape (3, n_draws)
    """
    scores = np.empty((N_SOFT, draws.n_draws))
    of_rest = np.delete(predicted, draws.classes)
    soft_scores(
        draws.seed,
        draws.share,
        draws.rest,
        draws.n_rest,
        float(draws.rest_shape),
        np.ascontiguousarray(predicted[draws.classes]),
        np.ascontiguousarray(of_rest),
        LEAST_PROBABILITY,
        scores,
    )
    return scores
