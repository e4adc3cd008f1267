"""Log scores of rankings: how well nobody, panels of readers and a machine's probabilities foretell one more reader.

A panel W foretells a ranking b with ``log ∫ p(b | λ) p_γ(λ | W) dλ``, Plackett-Luce at the γ at which the other readers
of a case foretell a reader best; a machine with ``log p(b | f)``, f its probabilities; nobody with ``log p(b | g)``, g
the popularity of classes over all rankings. Over the pairs of a reader and a panel of k others c(k) of a case is a
mean: over all of them, or over `PAIRS` drawn by the case's own seed.
"""

from collections import Counter
from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.held_out_draws import HeldOutRanking, item_scores
from ..certainty.held_out_readers import held_out_curve
from ..chunks import CancelToken
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.plackett_luce.likelihood import log_likelihood
from ..plausibility.plackett_luce.popularity import class_popularity
from ..seeds import case_seeds

PAIRS = 6
MOST_PAIRS = 4_500
LEAST_CASES = 60
N_DRAWS = 200
_CLIP = 1e-6
_GRID = (0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_CURVE_CASES = 60


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
    """`ranking_scores` of the cases that are `scored`, at the given γ or the best one.

    Parameters
    ----------
    dataset, human, cases, k_max, seed, token, progress
        See `ranking_scores`.
    people : tuple of str
    probability : ndarray, shape (n_cases, n_classes)
        Of all cases of the data.
    reliability : float or None
    """
    cases = scored(dataset, cases, k_max, seed)
    gamma = best_reliability(dataset, people, seed=seed, token=token) if reliability is None else reliability
    return ranking_scores(
        dataset, human, cases, k_max, probability[cases], gamma, seed=seed, token=token, progress=progress
    )


def ranking_scores(
    dataset: Dataset,
    human: np.ndarray,
    cases: np.ndarray,
    k_max: int,
    probability: np.ndarray,
    reliability: float,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of panels of 0 to k_max readers, and of a machine, of each of some cases.

    Parameters
    ----------
    dataset : Dataset
        Of rankings.
    human : ndarray of int64
        The people's annotations, one of each on a case, ascending.
    cases : ndarray of int64, shape (n,)
        Each with more than ``k_max`` people.
    k_max : int
    probability : ndarray, shape (n, n_classes)
        The machine's.
    reliability : float
        γ of the panels.
    seed : int
    token, progress : optional

    Returns
    -------
    ndarray, shape (n, k_max + 1)
        Nats a reader.
    ndarray, shape (n,)
    """
    of_case = dataset.case_of_annotation[human]
    mine = [human[of_case == case] for case in cases]
    panel = np.zeros((cases.size, k_max + 1))
    value = np.empty(cases.size)
    people = [dataset.raters[rater] for rater in np.unique(dataset.rater[human])]
    popular = class_popularity(dataset.select(raters=people, cases=[dataset.cases[case] for case in cases])).share
    for place, readers in enumerate(mine):
        blocks = [dataset.blocks_of(int(annotation)) for annotation in readers]
        given = np.maximum(probability[place], _CLIP)
        panel[place, 0] = np.mean([log_likelihood(each, popular) for each in blocks])
        value[place] = np.mean([log_likelihood(each, given) for each in blocks])
    items, size = _items(dataset, cases, mine, k_max, seed)
    scores, _ = item_scores(
        dataset, items, PlackettLuce(), reliability, n_draws=N_DRAWS, seed=seed, token=token, progress=progress
    )
    row = np.searchsorted(cases, [item.case for item in items])
    times = np.array([item.times for item in items], float)
    np.add.at(panel, (row, size), times * scores)
    n = np.ones_like(panel)
    n[:, 1:] = 0
    np.add.at(n, (row, size), times)
    return panel / n, value


def _items(
    dataset: Dataset, cases: np.ndarray, mine: list[np.ndarray], k_max: int, seed: int
) -> tuple[list[HeldOutRanking], np.ndarray]:
    """Every pair of a reader and a panel to be scored, and the size of the panel."""
    items, size = [], []
    seeds = case_seeds(seed, [dataset.cases[case] for case in cases], "panels of readers")
    for case, readers, own in zip(cases.tolist(), mine, seeds, strict=True):
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
