"""Worth how many readers: the size of a panel that foretells one more person as well as the machine does.

``c(k) = E_i E_{W, |W| = k} E_{r ∉ W} s(comb(W), y_ir)`` and ``s_f = E_i E_r s(f_i, y_ir)``; the machine is worth the k
with ``c(k) = s_f``, linear between whole numbers, the smallest where several fit [survey equivalence: Resnick, Kong,
Schoenebeck & Weninger 2021, arXiv:2106.01254]. c(0) is what the pool of all annotations foretells.

Scores s: "agreement", 1 where the plurality of W is the reader's class, ties shared, and the machine's first class;
"log", the log of the probability of the reader's class, comb being the mean of a Dirichlet with counts of W and c = α/γ
of each class at the γ at which people foretell each other best, for machines that give probabilities, and of the
reader's whole ranking where annotations are rankings (`core.machines.worth_rankings`); "squared", minus the squared
distance of the mean of W, for scores.
W is a draw from the other annotations of the case, so that expectations over W are closed forms in its counts. Cases
with more than k_max people count, the same for every k. Intervals are by resampling cases and two more, see
`core.machines.resampling`: cases on which machine and panel are alike do not make it worth one reader for certain.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Any, Literal

import numpy as np

from ..annotations.dataset import Dataset
from ..certainty.held_out_readers import held_out_curve
from ..errors import InputError, NotApplicableError
from ..plausibility.dirichlet import DirichletCounts
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import number, plural
from .alternative_test import check_numbers, first_of_each
from .resampling import of_sides, resampled
from .worth_rankings import foretold

Foretells = Literal["agreement", "log", "squared"]
LARGEST = 30
QUANTILE = 0.25
_CLIP = 1e-6
_TIE = 1e-12
_MOST_PATTERNS = 20_000


FEWEST = 10  # cases, whose resamples tell how far others may differ


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Worth(Result):
    """What a machine is worth in readers.

    Attributes
    ----------
    machine : str
    score : {"agreement", "log", "squared"}
    n_cases : int
        Cases with more than ``k_max`` people and the machine.
    k_max : int
    panel, panel_low, panel_high : ndarray, shape (k_max + 1,)
        c(k) with its interval over cases.
    value, low, high : float
        The machine's score s_f with its interval.
    k, k_low, k_high : float
        Readers; ``-inf`` where it is worth less than none, ``inf`` where more than ``k_max``. With fewer than `FEWEST`
        cases all ends of intervals are NaN.
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
        """Whether there are cases enough to resample; else its ends and those of the panel are NaN."""
        return self.n_cases >= FEWEST

    def said(self, k: float) -> str:
        """A number of readers in words."""
        if k == -np.inf:
            return "less than none"
        if np.isnan(k):
            return "–"
        return f"more than {self.k_max}" if k == np.inf else number(k, 1)

    def words(self) -> str:
        """The number of readers with its interval."""
        value, low, high = (self.said(k) for k in (self.k, self.k_low, self.k_high))
        if not self.has_interval:
            return f"{value} (no interval)"
        return value if value == low == high else f"{value} ({low} to {high})"


def worth_readers(
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
) -> Worth:
    """How many readers a machine is worth.

    Parameters
    ----------
    dataset : Dataset
        People and the machine are raters of it; rankings count by their first class, whole in the score "log".
    machine : str
    people : tuple of str
    score : {"agreement", "log", "squared"}, optional
        "squared" for scores, else "agreement" where not given.
    probability : ndarray, shape (n_cases, n_classes), optional
        The machine's, for "log"; NaN where it has none.
    pseudo, reliability : float, optional
        c = α/γ of "log", of rankings γ; that of the best held-out score of people where not given.
    k_max : int, optional
        From 1 to `LARGEST`; the lower quartile of readers a case less one where not given.
    level : float
        Of the intervals, by resampling cases.
    n_resamples, seed : int
    token, progress : optional

    Raises
    ------
    InputError
        A number is out of its range.
    NotApplicableError
        No case has the machine and two people, or the score does not suit.
    """
    check_numbers(0.0, 0.05, level, n_resamples)
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
        given = None if probability is None else probability[cases]
        pseudo = best_pseudo(dataset, people) if score == "log" and pseudo is None else pseudo
        panel, value = _scored(dataset, score, human, of_case, cases, k_max, given, pseudo)
    return _worth(machine, score, panel, value, level, n_resamples, seed)


def _cases(
    dataset: Dataset, machine: str, human: np.ndarray, has: np.ndarray, k_max: int | None
) -> tuple[np.ndarray, int]:
    """The machine's cases with more than ``k_max`` people, and that number."""
    n_of = np.bincount(dataset.case_of_annotation[human], minlength=dataset.n_cases)
    k_max = _largest(n_of[has & (n_of >= 2)], machine) if k_max is None else k_max
    if not 1 <= k_max <= LARGEST:
        raise InputError(f"The panel is to grow to {k_max} readers.", f"Give a number from 1 to {LARGEST}.")
    cases = np.flatnonzero(has & (n_of > k_max))
    if not cases.size:
        raise NotApplicableError(f"No case of {machine!r} has more than {plural(k_max, 'person', 'people')}.")
    return cases, k_max


def best_pseudo(dataset: Dataset, people: tuple[str, ...]) -> float:
    """The c = α/γ at which the other people of a case foretell a person best.

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
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
    """Scores of panels of 0 to k_max, shape (n_cases, k_max + 1), and of the machine, of each of some cases."""
    case = dataset.case_of_annotation[human]
    keep = np.isin(case, cases)
    row = np.searchsorted(cases, case[keep])
    if score == "squared":
        return _squared(dataset.score[human[keep]], row, dataset.score[of_case[cases]], k_max)
    counts = np.zeros((cases.size, dataset.n_classes), np.int64)
    np.add.at(counts, (row, dataset.answer[human[keep]]), 1)
    if score == "log" and probability is not None and pseudo is not None:
        return _log(counts, probability, k_max, pseudo)
    return _agreement(counts, dataset.answer[of_case[cases]], k_max)


def _score_of(dataset: Dataset, score: Foretells | None, probability: np.ndarray | None) -> Foretells:
    if score is None:
        return "squared" if dataset.kind == "score" else "agreement"
    if (score == "squared") != (dataset.kind == "score"):
        raise NotApplicableError(f"The score {score!r} does not suit annotations of the kind {dataset.kind}.")
    if score == "log" and (probability is None or probability.shape != (dataset.n_cases, dataset.n_classes)):
        raise NotApplicableError("The log score needs probabilities of every class; compare by agreement.")
    return score


def _sides(dataset: Dataset, machine: str, people: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the people's annotations, one of each on a case, and of the machine's on every case, -1 none."""
    first = first_of_each(dataset)
    codes = {name: place for place, name in enumerate(dataset.raters)}
    mine = first[dataset.rater[first] == codes.get(machine, -1)]
    of_case = np.full(dataset.n_cases, -1, np.int64)
    of_case[dataset.case_of_annotation[mine]] = mine
    return first[np.isin(dataset.rater[first], [codes[name] for name in people])], of_case


def _largest(n: np.ndarray, machine: str) -> int:
    if not n.size:
        raise NotApplicableError(f"No case of {machine!r} has two people.")
    return int(np.clip(np.floor(np.quantile(n - 1, QUANTILE)), 1, LARGEST))


def _worth(
    machine: str, score: Foretells, panel: np.ndarray, value: np.ndarray, level: float, n_resamples: int, seed: int
) -> Worth:
    """From scores of each case, of panels of shape (n_cases, k_max + 1) and of the machine of shape (n_cases,)."""
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
    return Worth(
        machine, score, n, panel.shape[1] - 1, mean[:-1], low[:-1], high[:-1], float(mean[-1]), float(low[-1]),
        float(high[-1]), equivalence(mean[:-1], mean[-1]), float(k_low), float(k_high), level,
    )  # fmt: skip


def equivalence(panel: np.ndarray, value: float) -> float:
    """The least k at which the panel reaches a score, linear between whole numbers; inf beyond, -inf below k = 0.

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
    """Without replacement the mean of k others misses one more by S² (1 + 1/k) in the mean square, S² with n − 1."""
    n = np.bincount(row).astype(float)
    mean = np.bincount(row, value) / n
    within = np.bincount(row, (value - mean[row]) ** 2)
    k = np.arange(1, k_max + 1)
    some = -(within / (n - 1))[:, None] * (1 + 1 / k)
    none = -(within / n + (mean - value.mean()) ** 2)
    return np.column_stack([none, some]), -(within / n + (mean - machine) ** 2)


def _log(counts: np.ndarray, probability: np.ndarray, k_max: int, pseudo: float) -> tuple[np.ndarray, np.ndarray]:
    """Of the k others the number that say the reader's class is hypergeometric."""
    if not pseudo > 0:
        raise InputError(f"The pseudo-annotations of a class are {pseudo}.", "Give a number above 0.")
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
    """E log((c + w) / (K c + k)) for k = 1 to k_max, w of k drawn from n − 1, ``count`` − 1 of them of the class."""
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
    """P(the plurality of k others is one more reader's class), k = 1 to k_max, ties shared, by counts of a case."""
    n = sum(counts)
    found = np.zeros(k_max)
    for count in set(counts):
        others = list(counts)
        others.remove(count)
        chance = _leads(count - 1, tuple(others), k_max)
        found += counts.count(count) * count / n * chance
    return found / np.array([comb(n - 1, k) for k in range(1, k_max + 1)], float)


def _leads(own: int, others: tuple[int, ...], k_max: int) -> np.ndarray:
    """Ways to draw k of which a class leads, a lead shared by m classes counted 1/m: shape (k_max,).

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
