"""Reducer for uncertainty-adjusted metrics: every classifier against every draw, averaged over cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..errors import InputError
from ..plausibility.protocol import CaseDraws
from ._metric_kernels import N_METRICS, classifier_scores
from .risk import level_masses

RISK_BINS = 3


class Ranked(Protocol):
    """Protocol of a classifier's predictions: ranked classes in CSR by case, with blocks of tied scores."""

    @property
    def name(self) -> str:
        """Name on screen."""

    @property
    def ptr(self) -> np.ndarray:
        """Offsets of cases, shape (n_cases + 1,): entries of case ``i`` are ``ptr[i]`` to ``ptr[i + 1]``."""

    @property
    def class_code(self) -> np.ndarray:
        """Ranked classes, the best first, shape (n_entries,)."""

    @property
    def group(self) -> np.ndarray:
        """Block of tied scores of each entry, from 0 in each case, shape (n_entries,)."""


@dataclass(slots=True, eq=False)
class MetricState:
    """Sums over cases per draw, and means over draws per case.

    Attributes
    ----------
    total : ndarray, shape (n_classifiers, n_bins, N_METRICS, n_draws)
        Sums over the cases that a classifier predicts, by bin of expected risk (one bin if there are no levels).
    n : ndarray of int64, shape (n_classifiers, n_bins)
        Number of these cases.
    gap : ndarray, shape (n_pairs, N_METRICS, n_draws)
        Sums of differences over the cases that both classifiers of a pair predict.
    per_case : ndarray, shape (n_cases, n_classifiers, N_METRICS)
        Means over draws; NaN where a classifier does not predict a case.
    """

    total: np.ndarray
    n: np.ndarray
    gap: np.ndarray
    per_case: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class Metrics:
    """Reducer that computes top-1, top-k and top-k set accuracy, overlap and average overlap of classifiers.

    Parameters
    ----------
    classifiers : tuple
        Predictions matched to the dataset.
    top : int
        k.
    class_risk : ndarray of int8, shape (n_classes,), or None
        Risk level of each class. With levels, metrics are also kept by expected risk of the case: below 0.5, to 1.5,
        above.
    risk_bins : ndarray of int8, shape (n_cases,), or None
        Risk bin of each case, if known; computed from the draws if None.
    """

    classifiers: tuple[Ranked, ...]
    top: int = 3
    class_risk: np.ndarray | None = None
    risk_bins: np.ndarray | None = None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """Pairs of classifiers, the first before the second."""
        n = len(self.classifiers)
        return [(a, b) for a in range(n) for b in range(a + 1, n)]

    def init(self, n_cases: int, n_draws: int) -> MetricState:
        """Return empty sums."""
        n_bins = 1 if self.class_risk is None else RISK_BINS
        n = len(self.classifiers)
        return MetricState(
            np.zeros((n, n_bins, N_METRICS, n_draws)),
            np.zeros((n, n_bins), np.int64),
            np.zeros((len(self.pairs), N_METRICS, n_draws)),
            np.full((n_cases, n, N_METRICS), np.nan),
        )

    def update(self, state: MetricState, place: int, case: int, draws: CaseDraws) -> None:
        """Score every classifier that predicts the case.

        Parameters
        ----------
        state : MetricState
            Changed in place.
        place, case : int
            Position of the case within the chunk and within the dataset.
        draws : CaseDraws
            Draws of the case.
        """
        where = self._bin(case, draws)
        scores: dict[int, np.ndarray] = {}
        for number, classifier in enumerate(self.classifiers):
            entries = slice(classifier.ptr[case], classifier.ptr[case + 1])
            if entries.start == entries.stop:
                continue
            scores[number] = score_case(draws, classifier.class_code[entries], classifier.group[entries], self.top)
            state.total[number, where] += scores[number]
            state.n[number, where] += 1
            state.per_case[place, number] = scores[number].mean(axis=1)
        for number, (a, b) in enumerate(self.pairs):
            if a in scores and b in scores:
                state.gap[number] += scores[a] - scores[b]

    def _bin(self, case: int, draws: CaseDraws) -> int:
        if self.class_risk is None:
            return 0
        return risk_bin(draws, self.class_risk) if self.risk_bins is None else int(self.risk_bins[case])

    def merge(self, states: Sequence[MetricState]) -> MetricState:
        """Add the sums of all chunks."""
        return MetricState(
            sum((state.total for state in states[1:]), states[0].total),
            sum((state.n for state in states[1:]), states[0].n),
            sum((state.gap for state in states[1:]), states[0].gap),
            np.concatenate([state.per_case for state in states]),
        )

    def result(self, state: MetricState) -> MetricState:
        """Return the sums; `core.evaluation.metrics` turns them into numbers with errors."""
        return state


def score_case(draws: CaseDraws, class_code: np.ndarray, group: np.ndarray, top: int) -> np.ndarray:
    """Compute metrics of one ranked list on every draw of a case, shape (N_METRICS, n_draws).

    Parameters
    ----------
    draws : CaseDraws
    class_code : ndarray of int, shape (n_entries,)
        Ranked classes, the best first.
    group : ndarray of int, shape (n_entries,)
        Block of tied scores of each, from 0.
    top : int
        Number k of first classes that count.

    Raises
    ------
    InputError
        k is below 1, or larger than the depth of the draws.
    """
    depth = draws.top.shape[1]
    if not 1 <= top <= depth:
        deeper = f", or set the depth of the plausibility model to {top}" if top > depth else ""
        raise InputError(
            f"The number of top classes must be between 1 and {depth}; got {top}. The draws rank only the first "
            f"{depth} classes.",
            f"Use 1 to {depth}{deeper}.",
        )
    n_named = len(draws.classes)
    place = np.searchsorted(draws.classes, class_code)
    named = place < n_named
    named[named] = draws.classes[place[named]] == class_code[named]
    scores = np.empty((N_METRICS, draws.n_draws))
    classifier_scores(
        draws.top,
        n_named,
        draws.n_rest,
        np.where(named, place, -1),
        np.ascontiguousarray(group, np.int64),
        top,
        scores,
    )
    return scores


def risk_bin(draws: CaseDraws, class_risk: np.ndarray) -> int:
    """Return 0, 1 or 2 for an expected risk below 0.5, up to 1.5, and above."""
    mass, _ = level_masses(draws, class_risk)
    return int(np.digitize(mass.mean(axis=0) @ np.arange(mass.shape[1]), (0.5, 1.5)))
