"""Log scores of rankings: how well nobody, panels of readers and a machine's probabilities foretell one more reader.

A panel W foretells a ranking b with ``log ∫ p(b | λ) p_γ(λ | W) dλ``, Plackett-Luce at the γ at which the other readers
of a case foretell a reader best; a machine with ``log p(b | f)``, f its probabilities; nobody with ``log p(b | g)``, g
the popularity of classes over all rankings. Over the pairs of a reader and a panel of k others c(k) of a case is a
mean: over all of them, or over `PAIRS` drawn by the case's own seed.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.held_out_draws import HeldOutRanking, item_scores
from ..certainty.held_out_readers import held_out_curve
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.plackett_luce.likelihood import log_likelihood
from ..plausibility.plackett_luce.popularity import class_popularity
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds

PAIRS = 6
MOST_PAIRS = 1_800
LEAST_CASES = 60
N_DRAWS = 200
_CLIP = 1e-6
_GRID = (0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_CURVE_CASES = 40


def scored(dataset: Dataset, cases: np.ndarray, k_max: int, seed: int) -> np.ndarray:
    """The cases that are scored: all, or as many as `MOST_PAIRS` allow, never below `LEAST_CASES`, drawn by the seed.

    Parameters
    ----------
    dataset : Dataset
    cases : ndarray of int64
        To choose from.
    k_max, seed : int
    """
    return some_of(dataset, cases, max(LEAST_CASES, MOST_PAIRS // (PAIRS * k_max)), seed)


def some_of(dataset: Dataset, cases: np.ndarray, most: int, seed: int) -> np.ndarray:
    """At most so many cases, ascending; those whose seeds are least.

    Parameters
    ----------
    dataset : Dataset
    cases : ndarray of int64
        To choose from.
    most, seed : int
    """
    if cases.size <= most:
        return cases
    key = case_seeds(seed, [dataset.cases[case] for case in cases], "worth of rankings")
    return np.sort(cases[np.argsort(key, kind="stable")[:most]])


def best_reliability(
    dataset: Dataset, people: tuple[str, ...], *, seed: int = 0, token: CancelToken | None = None
) -> float:
    """The γ of Plackett-Luce at which the other people of a case foretell a person best, from some of the cases.

    Parameters
    ----------
    dataset : Dataset
        Of rankings.
    people : tuple of str
    seed : int
    token : CancelToken, optional

    Raises
    ------
    NotApplicableError
        No case has two people.
    """
    human = dataset.select(raters=people)
    n_of = np.diff(human.case_ptr)
    chosen = some_of(human, np.flatnonzero(n_of >= 2), _CURVE_CASES, seed)
    part = human.select(cases=[human.cases[case] for case in chosen]) if 0 < chosen.size < human.n_cases else human
    return held_out_curve(part, PlackettLuce(), _GRID, n_draws=N_DRAWS, seed=seed, token=token).best


def foretold(
    dataset: Dataset,
    people: tuple[str, ...],
    human: np.ndarray,
    cases: np.ndarray,
    k_max: int,
    probability: np.ndarray,
    reliability: float | None,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of panels of 0 to k_max readers, and of a machine, of the cases that are `scored`.

    Parameters
    ----------
    dataset : Dataset
        Of rankings.
    people : tuple of str
    human : ndarray of int64
        The people's annotations, one of each on a case, ascending.
    cases : ndarray of int64
        To choose from, each with more than ``k_max`` people.
    k_max : int
    probability : ndarray, shape (n_cases, n_classes)
        The machine's, of all cases of the data.
    reliability : float or None
        γ of the panels; the best one where None.
    seed : int
    token, progress : optional

    Returns
    -------
    ndarray, shape (n_scored, k_max + 1)
        Nats a reader.
    ndarray, shape (n_scored,)
    """
    cases = scored(dataset, cases, k_max, seed)
    digest = dataset.content_digest
    asked = _Asked(digest, people, cases.tobytes(), k_max, reliability, seed, dataset, human, token, progress)
    given = np.maximum(probability[cases], _CLIP)
    value = [
        np.mean([log_likelihood(blocks, one) for blocks in each])
        for one, each in zip(given, _blocks(dataset, human, cases), strict=True)
    ]
    return _panels(asked), np.array(value)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the scores of panels hang on, and what they are made of: they are the same for all machines."""

    digest: str
    people: tuple[str, ...]
    cases: bytes
    k_max: int
    reliability: float | None
    seed: int
    dataset: Dataset = field(compare=False)
    human: np.ndarray = field(compare=False)
    token: CancelToken | None = field(compare=False)
    progress: Callable[[float], None] | None = field(compare=False)


@lru_cache(maxsize=2)
def _panels(asked: _Asked) -> np.ndarray:
    """Scores of panels, shape (n, k_max + 1)."""
    dataset, human, cases, seed = asked.dataset, asked.human, np.frombuffer(asked.cases, np.int64), asked.seed
    gamma = asked.reliability
    if gamma is None:
        gamma = best_reliability(dataset, asked.people, seed=seed, token=asked.token)
    panel, n = np.zeros((cases.size, asked.k_max + 1)), np.zeros((cases.size, asked.k_max + 1))
    some = dataset.select(raters=asked.people, cases=[dataset.cases[case] for case in cases])
    popular = class_popularity(some).share
    for place, each in enumerate(_blocks(dataset, human, cases)):
        panel[place, 0], n[place, 0] = np.mean([log_likelihood(blocks, popular) for blocks in each]), 1
    items, size = _items(dataset, human, cases, asked.k_max, seed)
    how: dict[str, Any] = {"n_draws": N_DRAWS, "seed": seed, "token": asked.token, "progress": asked.progress}
    scores, _ = item_scores(dataset, items, PlackettLuce(), gamma, **how)
    row = np.searchsorted(cases, [item.case for item in items])
    times = np.array([item.times for item in items], float)
    np.add.at(panel, (row, size), times * scores)
    np.add.at(n, (row, size), times)
    return panel / n


def _readers(dataset: Dataset, human: np.ndarray, cases: np.ndarray) -> list[np.ndarray]:
    of_case = dataset.case_of_annotation[human]
    return [human[of_case == case] for case in cases]


def _blocks(dataset: Dataset, human: np.ndarray, cases: np.ndarray) -> list[list[list[list[int]]]]:
    """The rankings of people on each of some cases, each as blocks of classes."""
    return [[dataset.blocks_of(int(one)) for one in readers] for readers in _readers(dataset, human, cases)]


def _items(
    dataset: Dataset, human: np.ndarray, cases: np.ndarray, k_max: int, seed: int
) -> tuple[list[HeldOutRanking], np.ndarray]:
    """Every pair of a reader and a panel to be scored, and the size of the panel."""
    items, size = [], []
    seeds = case_seeds(seed, [dataset.cases[case] for case in cases], "panels of readers")
    for case, readers, own in zip(cases.tolist(), _readers(dataset, human, cases), seeds, strict=True):
        rng = np.random.default_rng(int(own))
        for k in range(1, k_max + 1):
            for (reader, panel), times in _pairs(len(readers), k, rng).items():
                part = "".join(f"\x00{member}" for member in panel)
                others = tuple(int(readers[member]) for member in panel)
                items.append(HeldOutRanking(case, int(readers[reader]), others, times, part))
                size.append(k)
    return items, np.array(size, np.int64)


def _pairs(n: int, k: int, rng: np.random.Generator) -> Counter[tuple[int, tuple[int, ...]]]:
    """Readers with panels of k of the n − 1 others, and how often each was drawn: all, or `PAIRS` of them."""
    if n * comb(n - 1, k) <= PAIRS:
        return Counter(
            (reader, panel)
            for reader in range(n)
            for panel in combinations([other for other in range(n) if other != reader], k)
        )
    orders = [rng.permutation(n)[: k + 1].tolist() for _ in range(PAIRS)]
    return Counter((order[0], tuple(sorted(order[1:]))) for order in orders)
