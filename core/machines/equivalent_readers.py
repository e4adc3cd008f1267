"""Number of raters that an AI rater is worth: the size of a panel that predicts one more rater as well as it does.

``c(k) = E_i E_{W, |W| = k} E_{r ∉ W} s(comb(W), y_ir)`` and ``s_f = E_i E_r s(f_i, y_ir)``; the machine is worth the k
with ``c(k) = s_f``, linear between whole numbers, the smallest where several fit [survey equivalence: Resnick, Kong,
Schoenebeck & Weninger 2021, arXiv:2106.01254]. c(0) is the score of predictions by the frequencies of all annotations.

Scores s: "agreement", 1 where the plurality of W is the reader's class, ties shared, and the machine's first class;
"log", the log of the probability of the reader's class, comb being the mean of a Dirichlet with counts of W and c = α/γ
of each class at the γ at which people predict each other best, for AI raters that give probabilities, and of the
reader's whole ranking if annotations are rankings; "squared", minus the squared distance of the mean of W, for scores.
W is a draw from the other annotations of the case, so that expectations over W are closed forms in its counts. Cases
with more than k_max people count, the same for every k. Intervals are by resampling cases and two more, see
`core.machines.resampling`: cases on which machine and panel are alike do not make it worth one reader for certain.

Log scores of rankings: how well nobody, panels of readers and an AI rater's probabilities predict one more reader.

A panel W predicts a ranking b with ``log ∫ p(b | λ) p_γ(λ | W) dλ``, Plackett-Luce at the γ at which the other readers
of a case predict a reader best; an AI rater with ``log p(b | f)``, f its probabilities; nobody with ``log p(b | g)``, g
the popularity of classes over all rankings. Over the pairs of a reader and a panel of k others c(k) of a case is a
mean: over all of them, or over `PAIRS` drawn by the case's own seed.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Any, Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.held_out_draws import HeldOutRanking, item_scores
from ..certainty.held_out_readers import held_out_curve
from ..checked import check_shapes, checked
from ..errors import InputError, NotApplicableError
from ..options import check_number
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.plackett_luce.gibbs import PlackettLuce
from ..plausibility.plackett_luce.likelihood import log_likelihood
from ..plausibility.plackett_luce.popularity import class_popularity
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..runtime.seeds import case_seeds
from ..text import number, plural
from .alternative_test import check_numbers, first_of_each
from .resampling import of_sides, resampled

Foretells = Literal["agreement", "log", "squared"]
LARGEST = 30
QUANTILE = 0.25
_CLIP = 1e-6
_TIE = 1e-12
_MOST_PATTERNS = 20_000
PAIRS = 6
MOST_PAIRS = 1_800
LEAST_CASES = 60
N_DRAWS = 200
FEWEST = 10  # With fewer cases, resamples do not show how much other cases may differ.
_GRID = (0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_CURVE_CASES = 40


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EquivalentReaders(Result):
    """Number of raters that an AI rater is worth, with intervals.

    Attributes
    ----------
    machine : str
    score : {"agreement", "log", "squared"}
    n_cases : int
        Number of cases with the AI rater and more than ``k_max`` people.
    k_max : int
    panel, panel_low, panel_high : ndarray, shape (k_max + 1,)
        c(k) with its interval over cases.
    value, low, high : float
        Score s_f of the AI rater with its interval.
    k, k_low, k_high : float
        Number of readers; ``-inf`` if it is worth less than none, ``inf`` if more than ``k_max``. With fewer than
        `FEWEST` cases all ends of intervals are NaN.
    level : float
    """

    machine: str
    score: Foretells
    n_cases: int
    k_max: int
    panel: np.ndarray
    panel_low: np.ndarray
    panel_high: np.ndarray
    value: float
    low: float
    high: float
    k: float
    k_low: float
    k_high: float
    level: float

    TABLES = ("panel",)

    def _columns(self, table: str, most: int | None) -> Columns:
        readers = np.arange(self.k_max + 1)
        return {"readers": readers, "score": self.panel, "low": self.panel_low, "high": self.panel_high}

    @property
    def has_interval(self) -> bool:
        """True if there are enough cases to resample; otherwise all ends of intervals are NaN."""
        return self.n_cases >= FEWEST

    def said(self, k: float) -> str:
        """Format a number of raters in words."""
        if k == -np.inf:
            return "less than 0"
        if np.isnan(k):
            return "–"
        return f"more than {self.k_max}" if k == np.inf else number(k, 1)

    def words(self) -> str:
        """Format the number of raters with its interval."""
        value, low, high = (self.said(k) for k in (self.k, self.k_low, self.k_high))
        if not self.has_interval:
            return f"{value} (no interval)"
        return value if value == low == high else f"{value} ({low} to {high})"


@checked
def equivalent_readers(
    dataset: Dataset,
    machine: str,
    people: tuple[str, ...],
    *,
    score: Foretells | None = None,
    probability: np.ndarray | None = None,
    pseudo: float | None = None,
    reliability: float | None = None,
    k_max: int | None = None,
    level: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> EquivalentReaders:
    """Compute how many raters an AI rater is worth.

    Parameters
    ----------
    dataset : Dataset
        Dataset with people and the AI rater among its raters; rankings count by their first class, as a whole in the
        score "log".
    machine : str
    people : tuple of str
    score : {"agreement", "log", "squared"}, optional
        Score to compare by; "squared" for scores and "agreement" for others if omitted.
    probability : ndarray, shape (n_cases, n_classes), optional
        Class probabilities of the AI rater, for "log"; NaN on cases without any.
    pseudo, reliability : float, optional
        c = α/γ of "log", or γ for rankings; the value with the best held-out score of people if omitted.
    k_max : int, optional
        Size of the largest panel, 1 to `LARGEST`; the lower quartile of people per case less one if omitted.
    level : float
        Confidence level of the intervals, which are by resampling cases.
    n_resamples, seed : int
    token, progress : optional

    Raises
    ------
    InputError
        A number is out of its range.
    NotApplicableError
        No case has the AI rater and two people, or the score does not suit the annotations.
    """
    check_numbers(0.0, 0.05, level, n_resamples)
    _check_counts(pseudo, reliability)
    if dataset.kind == "set" or (dataset.kind == "ranking" and score != "log"):
        dataset = dataset.as_classes()[0]
    score = _score_of(dataset, score, probability)
    human, of_case = _sides(dataset, machine, people)
    has = of_case >= 0 if probability is None or score != "log" else np.isfinite(probability).all(axis=1)
    cases, k_max = _cases(dataset, machine, human, has, k_max)
    if dataset.kind == "ranking" and probability is not None:
        how: dict[str, Any] = {"seed": seed, "token": token, "progress": progress}
        panel, value = foretold(dataset, people, human, cases, k_max, probability, reliability, **how)
    else:
        pseudo = best_pseudo(dataset, people) if score == "log" and pseudo is None else pseudo
        panel, value = _scored(dataset, score, human, of_case, cases, k_max, probability, pseudo)
    return _worth(machine, score, panel, value, level, n_resamples, seed)


def _cases(
    dataset: Dataset, machine: str, human: np.ndarray, has: np.ndarray, k_max: int | None
) -> tuple[np.ndarray, int]:
    """Select the cases of an AI rater with more than ``k_max`` people, and choose ``k_max`` if omitted."""
    n_of = np.bincount(dataset.case_of_annotation[human], minlength=dataset.n_cases)
    k_max = _largest(n_of[has & (n_of >= 2)], machine) if k_max is None else k_max
    if not 1 <= k_max <= LARGEST:
        raise InputError(f"The panel must have between 1 and {LARGEST} raters; got {k_max}.", "Choose another size.")
    cases = np.flatnonzero(has & (n_of > k_max))
    if not cases.size:
        raise NotApplicableError(
            f"Could not compute how many people {machine!r} is worth: no case that it annotated was also annotated by "
            f"more than {plural(k_max, 'person', 'people')}."
        )
    return cases, k_max


def best_pseudo(dataset: Dataset, people: tuple[str, ...]) -> float:
    """Find the c = α/γ at which the other people of a case predict a person best.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    people : tuple of str

    Raises
    ------
    NotApplicableError
        No case has two people.
    """
    model = DirichletCounts()
    return model.alpha / held_out_curve(dataset.select(raters=people), model).best


def _scored(
    dataset: Dataset,
    score: Foretells,
    human: np.ndarray,
    of_case: np.ndarray,
    cases: np.ndarray,
    k_max: int,
    probability: np.ndarray | None,
    pseudo: float | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Score panels of 0 to k_max, shape (n_cases, k_max + 1), and the AI rater, on each of some cases."""
    case = dataset.case_of_annotation[human]
    keep = np.isin(case, cases)
    row = np.searchsorted(cases, case[keep])
    if score == "squared":
        return _squared(dataset.score[human[keep]], row, dataset.score[of_case[cases]], k_max)
    counts = np.zeros((cases.size, dataset.n_classes), np.int64)
    np.add.at(counts, (row, dataset.answer[human[keep]]), 1)
    if score == "log" and probability is not None and pseudo is not None:
        return _log(counts, probability[cases], k_max, pseudo)
    return _agreement(counts, dataset.answer[of_case[cases]], k_max)


def _check_counts(pseudo: float | None, reliability: float | None) -> None:
    for value, what in ((pseudo, "The number of pseudo-annotations"), (reliability, "The reliability γ")):
        if value is not None:
            check_number(value, what, 0.0)


def _score_of(dataset: Dataset, score: Foretells | None, probability: np.ndarray | None) -> Foretells:
    check_shapes(probability=(probability, (dataset.n_cases, dataset.n_classes)))
    if score is None:
        return "squared" if dataset.kind == "score" else "agreement"
    if (score == "squared") != (dataset.kind == "score"):
        what = "are numbers" if dataset.kind == "score" else "are not numbers"
        raise NotApplicableError(f"Could not compute the score {score!r}: the annotations {what}.")
    if score == "log" and probability is None:
        raise NotApplicableError(
            "Could not compute the log score: it needs a probability for every class. Compare by agreement."
        )
    return score


def _sides(dataset: Dataset, machine: str, people: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of people's annotations, one per person and case, and of the AI rater's by case, -1 for none."""
    first = first_of_each(dataset)
    codes = {name: place for place, name in enumerate(dataset.raters)}
    mine = first[dataset.rater[first] == codes.get(machine, -1)]
    of_case = np.full(dataset.n_cases, -1, np.int64)
    of_case[dataset.case_of_annotation[mine]] = mine
    return first[np.isin(dataset.rater[first], [codes[name] for name in people])], of_case


def _largest(n: np.ndarray, machine: str) -> int:
    if not n.size:
        raise NotApplicableError(
            f"Could not compute how many people {machine!r} is worth: no case that it annotated was also annotated by "
            "two people."
        )
    return int(np.clip(np.floor(np.quantile(n - 1, QUANTILE)), 1, LARGEST))


def _worth(
    machine: str, score: Foretells, panel: np.ndarray, value: np.ndarray, level: float, n_resamples: int, seed: int
) -> EquivalentReaders:
    """Build the result from scores of each case: of panels, (n_cases, k_max + 1), and of the AI rater, (n_cases,)."""
    n = len(value)
    both = np.column_stack([panel, value])
    scale = 1.0 if score == "agreement" else float(np.abs(panel[:, 0]).mean())
    span = (0.0, 1.0) if score == "agreement" else (-np.inf, 0.0)
    drawn = resampled(of_sides(panel, value, scale, *span), n_resamples, seed)
    mean = both.mean(axis=0)
    tails = [(1 - level) / 2, (1 + level) / 2]
    readers = np.array([equivalence(one[:-1], one[-1]) for one in drawn])
    ends, k_ends = np.quantile(drawn, tails, axis=0), np.quantile(readers, tails, method="nearest")
    if n < FEWEST:
        ends[:], k_ends[:] = np.nan, np.nan
    (low, high), (k_low, k_high) = ends, k_ends
    return EquivalentReaders(
        machine, score, n, panel.shape[1] - 1, mean[:-1], low[:-1], high[:-1], float(mean[-1]), float(low[-1]),
        float(high[-1]), equivalence(mean[:-1], mean[-1]), float(k_low), float(k_high), level,
    )  # fmt: skip


def equivalence(panel: np.ndarray, value: float) -> float:
    """Find the smallest k at which the panel reaches a score, linear between whole numbers; inf beyond, -inf below 0.

    Parameters
    ----------
    panel : ndarray, shape (k_max + 1,)
    value : float
    """
    slack = _TIE * max(1.0, abs(value))
    if value < panel[0] - slack:
        return -np.inf
    reached = np.flatnonzero(panel >= value - slack)
    if not reached.size:
        return np.inf
    k = int(reached[0])
    if k == 0:
        return 0.0
    step = panel[k] - panel[k - 1]
    return float(k - 1 + min(1.0, max(0.0, (value - panel[k - 1]) / step)))


def _squared(value: np.ndarray, row: np.ndarray, machine: np.ndarray, k_max: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute squared scores: the mean of k others misses one more by S² (1 + 1/k) in the mean square."""
    n = np.bincount(row).astype(float)
    mean = np.bincount(row, value) / n
    within = np.bincount(row, (value - mean[row]) ** 2)
    k = np.arange(1, k_max + 1)
    some = -(within / (n - 1))[:, None] * (1 + 1 / k)
    none = -(within / n + (mean - value.mean()) ** 2)
    return np.column_stack([none, some]), -(within / n + (mean - machine) ** 2)


def _log(counts: np.ndarray, probability: np.ndarray, k_max: int, pseudo: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute log scores, where the number of the k others who name the reader's class is hypergeometric."""
    if not pseudo > 0:
        raise InputError(f"Pseudo-annotations per class must be above 0; got {pseudo}.", "Use a number above 0.")
    n_classes = counts.shape[1]
    total = counts.sum(axis=1)
    share = counts / total[:, None]
    pool = counts.sum(axis=0) / counts.sum()
    panel = np.empty((len(counts), k_max + 1))
    panel[:, 0] = np.where(share > 0, share * np.log(np.maximum(pool, _CLIP)), 0.0).sum(axis=1)
    of_count = {
        (int(c), int(n)): _hypergeometric_log(int(c), int(n), k_max, pseudo, n_classes)
        for c, n in np.unique(np.column_stack([counts.ravel(), np.repeat(total, n_classes)]), axis=0)
        if c > 0
    }
    for case, row in enumerate(counts):
        panel[case, 1:] = sum(c / total[case] * of_count[int(c), int(total[case])] for c in row if c > 0)
    value = np.where(share > 0, share * np.log(np.clip(probability, _CLIP, None)), 0.0).sum(axis=1)
    return panel, value


def _hypergeometric_log(count: int, n: int, k_max: int, pseudo: float, n_classes: int) -> np.ndarray:
    """Compute E log((c + w) / (K c + k)) for k = 1 to k_max, w of k drawn from n − 1, ``count`` − 1 in the class."""
    from scipy.stats import hypergeom

    found = np.empty(k_max)
    for k in range(1, k_max + 1):
        w = np.arange(min(k, count - 1) + 1)
        chance = hypergeom.pmf(w, n - 1, count - 1, k)
        found[k - 1] = chance @ np.log((pseudo + w) / (n_classes * pseudo + k))
    return found


def _agreement(counts: np.ndarray, machine: np.ndarray, k_max: int) -> tuple[np.ndarray, np.ndarray]:
    total = counts.sum(axis=1)
    place = np.arange(len(counts))
    commonest = counts.sum(axis=0).argmax()
    ordered = -np.sort(-counts, axis=1)
    ordered = ordered[:, : int((ordered > 0).sum(axis=1).max())]
    patterns, which = np.unique(ordered, axis=0, return_inverse=True)
    each = np.array([_plurality(tuple(int(c) for c in pattern if c), k_max) for pattern in patterns])
    panel = np.column_stack([counts[:, commonest] / total, each[which.ravel()]])
    return panel, counts[place, machine] / total


@lru_cache(maxsize=_MOST_PATTERNS)
def _plurality(counts: tuple[int, ...], k_max: int) -> np.ndarray:
    """Compute P(the plurality of k others is one more reader's class), k = 1 to k_max, ties shared, from counts."""
    n = sum(counts)
    found = np.zeros(k_max)
    for count in set(counts):
        others = list(counts)
        others.remove(count)
        chance = _leads(count - 1, tuple(others), k_max)
        found += counts.count(count) * count / n * chance
    return found / np.array([comb(n - 1, k) for k in range(1, k_max + 1)], float)


def _leads(own: int, others: tuple[int, ...], k_max: int) -> np.ndarray:
    """Count the ways to draw k of which a class leads, a lead shared by m classes counted 1/m: shape (k_max,).

    With t of ``own`` drawn, no other class has more than t: the ways are the coefficients of a product over the other
    classes of ``Σ_{w<t} C(c, w) x^w + u C(c, t) x^t``; u counts those that tie.
    """
    found = np.zeros(k_max)
    for t in range(1, min(own, k_max) + 1):
        room = k_max - t
        ways = np.zeros((room + 1, len(others) + 1))
        ways[0, 0] = 1.0
        for c in others:
            new = np.zeros_like(ways)
            for w in range(min(t - 1, c, room) + 1):
                new[w:] += comb(c, w) * ways[: room + 1 - w]
            if t <= min(c, room):
                new[t:, 1:] += comb(c, t) * ways[: room + 1 - t, :-1]
            ways = new
        shared = ways @ (1 / np.arange(1, len(others) + 2))
        found[t - 1 :] += comb(own, t) * shared
    return found


def scored(dataset: Dataset, cases: np.ndarray, k_max: int, seed: int) -> np.ndarray:
    """Choose the cases to score: all, or as many as `MOST_PAIRS` allow, at least `LEAST_CASES`, drawn by the seed.

    Parameters
    ----------
    dataset : Dataset
    cases : ndarray of int64
        Cases to choose from.
    k_max, seed : int
    """
    return some_of(dataset, cases, max(LEAST_CASES, MOST_PAIRS // (PAIRS * k_max)), seed)


def some_of(dataset: Dataset, cases: np.ndarray, most: int, seed: int) -> np.ndarray:
    """Choose a limited number of cases, ascending: those whose seeds are the smallest.

    Parameters
    ----------
    dataset : Dataset
    cases : ndarray of int64
        Cases to choose from.
    most, seed : int
    """
    if cases.size <= most:
        return cases
    key = case_seeds(seed, [dataset.cases[case] for case in cases], "worth of rankings")
    return np.sort(cases[np.argsort(key, kind="stable")[:most]])


def best_reliability(
    dataset: Dataset, people: tuple[str, ...], *, seed: int = 0, token: CancelToken | None = None
) -> float:
    """Find the γ of Plackett-Luce at which the other people of a case predict a person best, from some of the cases.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings.
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
    """Score panels of 0 to k_max readers, and an AI rater, on the cases that `scored` chooses.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings.
    people : tuple of str
    human : ndarray of int64
        The people's annotations, one of each on a case, ascending.
    cases : ndarray of int64
        Cases to choose from, each with more than ``k_max`` people.
    k_max : int
    probability : ndarray, shape (n_cases, n_classes)
        Class probabilities of the AI rater on all cases of the data.
    reliability : float or None
        γ of the panels; the best one if None.
    seed : int
    token, progress : optional

    Returns
    -------
    ndarray, shape (n_scored, k_max + 1)
        Scores of panels, in nats per reader.
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
    """Arguments that the scores of panels depend on; the scores are the same for all AI raters."""

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
    """Compute the scores of panels, shape (n, k_max + 1)."""
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
    """Return the rankings of people on each of some cases, each as blocks of classes."""
    return [[dataset.blocks_of(int(one)) for one in readers] for readers in _readers(dataset, human, cases)]


def _items(
    dataset: Dataset, human: np.ndarray, cases: np.ndarray, k_max: int, seed: int
) -> tuple[list[HeldOutRanking], np.ndarray]:
    """List every pair of a reader and a panel to score, with the size of the panel."""
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
    """Return readers with panels of k of the n − 1 others, and how often each was drawn: all, or `PAIRS` of them."""
    if n * comb(n - 1, k) <= PAIRS:
        return Counter(
            (reader, panel)
            for reader in range(n)
            for panel in combinations([other for other in range(n) if other != reader], k)
        )
    orders = [rng.permutation(n)[: k + 1].tolist() for _ in range(PAIRS)]
    return Counter((order[0], tuple(sorted(order[1:]))) for order in orders)
