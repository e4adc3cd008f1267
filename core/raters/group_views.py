"""Differences between groups of raters: cases that they see differently, and classifiers measured by each group.

On a case, p permutes who is a member among its annotations. A classifier's rate for a group is the mean over cases of
the share of the group's annotations that are its first class; it is compared with the rate for all other raters on the
same cases, with an interval over resampled raters and cases at ``1 − (1 − level) / number of groups`` (Bonferroni).

Groups are those of `core.raters.groups`: at least 8 raters, with 8 others. A case is compared if 3 members and 3
others annotated it, and its shares are not shown unless 8 of both did: few annotations and a share name the members.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..agreement.intervals import IntervalEstimate, percentile_interval
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..evaluation.predictions import Predictions
from ..multiplicity import benjamini_hochberg
from ..options import check_level, check_number
from ..order import lowest_first
from ..result_base import Columns, Result, rows
from .groups import FEWEST_RATERS, RaterFacts, features_of, sides_of

FEWEST_ON_CASE = 3
MOST_CASES = 20  # that are listed for each group
N_PERMUTATIONS = 1_999
N_RESAMPLES = 200
COMPARED = "No group has at least 8 raters in it and 8 outside it. Smaller groups are not shown."


@dataclass(frozen=True, slots=True, repr=False)
class CaseApart(Result):
    """A case that a group of raters sees differently.

    Attributes
    ----------
    case_id, fact, group : str
    difference : float
        Mean of the group less that of the others, or share of ``of_class``; NaN if fewer than 8 raters of a side
        annotated the case.
    leans : {"higher", "lower"}
        Side of the group, in the mean or in the share of ``of_class``.
    of_class : str
        Empty for scores and ordered classes.
    p : float
    clear : bool
        True if it differs at the false discovery rate over all compared cases and groups.
    """

    case_id: str
    fact: str
    group: str
    difference: float
    leans: str
    of_class: str
    p: float
    clear: bool

    COLUMNS = ("case_id", "fact", "group", "leans", "of_class", "difference", "p", "clear")


@dataclass(frozen=True, slots=True, repr=False)
class CasesApart(Result):
    """Cases that groups see most differently.

    Attributes
    ----------
    cases : tuple of CaseApart
        At most `MOST_CASES` for each group, clear ones first.
    n_compared : int
                Number of tests over cases and groups.
    q : float
    """

    cases: tuple[CaseApart, ...]
    n_compared: int
    q: float

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.cases[:most], CaseApart.COLUMNS)


@dataclass(frozen=True, slots=True, repr=False)
class GroupRate(Result):
    """A classifier measured by the annotations of one group.

    Attributes
    ----------
    classifier, fact, group : str
    n_raters, n_cases : int
        Cases that the group and others annotated, and that are predicted.
    rate, others : float
        Mean share of annotations that are the first class of the classifier.
    difference : IntervalEstimate
        Difference of the two.
    """

    classifier: str
    fact: str
    group: str
    n_raters: int
    n_cases: int
    rate: float
    others: float
    difference: IntervalEstimate

    COLUMNS = ("classifier", "fact", "group", "n_raters", "n_cases", "rate", "others")


@dataclass(frozen=True, slots=True, repr=False)
class GroupRates(Result):
    """Classifiers measured by each group.

    Attributes
    ----------
    rates : tuple of GroupRate
    level : float
        Confidence level of all intervals of a classifier together.
    """

    rates: tuple[GroupRate, ...]
    level: float

    TABLES = ("rates",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.rates[:most], GroupRate.COLUMNS)

    def worst(self, classifier: str) -> GroupRate:
        """Return the group for which a classifier does worst, compared with the others."""
        return min((one for one in self.rates if one.classifier == classifier), key=lambda one: one.difference.value)


def find_cases_apart(dataset: Dataset, facts: RaterFacts, *, q: float = 0.05, seed: int = 0) -> CasesApart:
    """Find the cases that groups see most differently.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes or scores, with raters who are identified.
    facts : RaterFacts
    q : float
        False discovery rate.
    seed : int

    Raises
    ------
    NotApplicableError
        No group is large enough.
    """
    check_number(q, "The false discovery rate", 0, 1)
    feature, classes = features_of(dataset)
    found: list[CaseApart] = []
    p_all: list[np.ndarray] = []
    place: list[int] = []
    for number, (fact, group, member, other) in enumerate(_groups(facts)):
        compared = _Compared(dataset, feature, member, other)
        p = compared.p
        rng = np.random.default_rng([abs(seed), seed < 0, number])
        first = lowest_first(p)[:MOST_CASES]
        for case in first:
            p[case] = compared.permuted(int(case), rng)
        for case in first:
            value = compared.difference[:, case]
            most = int(np.abs(value).argmax())
            shown = min(compared.n_group[case], compared.n_other[case]) >= FEWEST_RATERS
            place.append(sum(each.size for each in p_all) + int(case))
            found.append(
                CaseApart(
                    dataset.cases[compared.cases[case]], fact, group, float(value[most]) if shown else float("nan"),
                    "higher" if value[most] > 0 else "lower", classes[most] if classes else "", float(p[case]), False,
                )
            )  # fmt: skip
        p_all.append(p)
    if not p_all:
        raise NotApplicableError(COMPARED)
    every = np.concatenate(p_all)
    clear = set(benjamini_hochberg(every, q).tolist())
    marked = [replace(one, clear=at in clear) for one, at in zip(found, place, strict=True)]
    order = sorted(range(len(marked)), key=lambda at: (not marked[at].clear, marked[at].p))
    return CasesApart(tuple(marked[at] for at in order), int(every.size), q)


class _Compared:
    """Cases that enough raters of both sides annotated, with the differences of their means.

    Attributes
    ----------
    cases : ndarray of int
    n_group, n_other : ndarray of int, shape (n_compared,)
    difference : ndarray, shape (n_features, n_compared)
    p : ndarray, shape (n_compared,)
        Two-sided, by the normal approximation to permutations, over the features by Bonferroni.
    """

    def __init__(self, dataset: Dataset, feature: np.ndarray, member: np.ndarray, other: np.ndarray):
        from scipy.special import ndtr

        case, n = dataset.case_of_annotation, dataset.n_cases
        mine, theirs = member[dataset.rater].astype(float), other[dataset.rater].astype(float)
        both = mine + theirs
        n_group, n_other = np.bincount(case, mine, n), np.bincount(case, theirs, n)
        self.cases = np.flatnonzero((n_group >= FEWEST_ON_CASE) & (n_other >= FEWEST_ON_CASE))
        self.n_group, self.n_other = n_group[self.cases], n_other[self.cases]
        total = self.n_group + self.n_other

        def summed(weight: np.ndarray) -> np.ndarray:
            return np.stack([np.bincount(case, weight * one, n)[self.cases] for one in feature])

        mean = summed(both) / total
        square = np.stack([np.bincount(case, both * one**2, n)[self.cases] for one in feature]) / total
        self.difference = summed(mine) / self.n_group - summed(theirs) / self.n_other
        variance = np.maximum(square - mean**2, 0) * total / (total - 1) * total / (self.n_group * self.n_other)
        z = np.divide(np.abs(self.difference), np.sqrt(variance), out=np.zeros_like(variance), where=variance > 1e-12)
        self.p = np.minimum(1.0, 2 * ndtr(-z.max(axis=0, initial=0.0)) * len(feature))
        self._dataset, self._feature, self._mine, self._both = dataset, feature, mine, both

    def permuted(self, place: int, rng: np.random.Generator) -> float:
        """Return p of one case by permuting who is a member."""
        ptr, case = self._dataset.case_ptr, self.cases[place]
        here = np.arange(ptr[case], ptr[case + 1])
        here = here[self._both[here] > 0]
        values, member = self._feature[:, here], self._mine[here] > 0
        labels = np.vstack([member, rng.permuted(np.tile(member, (N_PERMUTATIONS, 1)), axis=1)]).astype(float)
        mean = values @ labels.T / member.sum() - values @ (1 - labels).T / (~member).sum()
        furthest = (mean**2).sum(axis=0)
        return float((furthest >= furthest[0] - 1e-12).mean())


def rate_classifiers(
    dataset: Dataset,
    facts: RaterFacts,
    predictions: Sequence[Predictions],
    *,
    level: float = 0.95,
    seed: int = 0,
) -> GroupRates:
    """Measure classifiers by the annotations of each group.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    facts : RaterFacts
    predictions : sequence of Predictions
        Matched to the dataset.
    level : float
        Confidence level of all intervals of a classifier together.
    seed : int

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, no group is large enough, or no case of a group is predicted.
    """
    check_level(level)
    dataset.check_kind("class", "Cannot compare groups")
    groups = list(_groups(facts))
    own = 1 - (1 - level) / max(1, len(groups))
    found = []
    for classifier in predictions:
        hit = _hits(dataset, classifier)
        for number, (fact, group, member, other) in enumerate(groups):
            rng = np.random.default_rng([abs(seed), seed < 0, number])
            one = _rate(dataset, hit, member, other, own, rng)
            if one is not None:
                found.append(GroupRate(classifier.name, fact, group, int(member.sum()), *one))
    if not found:
        raise NotApplicableError(
            COMPARED
            if not groups
            else "Cannot compare groups: no case with a prediction was annotated both by a group and by others."
        )
    return GroupRates(tuple(found), level)


def _groups(facts: RaterFacts) -> Iterator[tuple[str, str, np.ndarray, np.ndarray]]:
    """Yield each group that is large enough, with its raters and the others."""
    for fact, values in zip(facts.names, facts.values, strict=True):
        for group, member, other in sides_of(values):
            if min(member.sum(), other.sum()) >= FEWEST_RATERS:
                yield fact, group, member, other


def _hits(dataset: Dataset, classifier: Predictions) -> np.ndarray:
    """Return, by annotation, the share of the classifier's first block that is its class; NaN without a prediction."""
    share = np.zeros((dataset.n_cases, dataset.n_classes))
    case = np.repeat(np.arange(dataset.n_cases), np.diff(classifier.ptr))
    top = classifier.group == 0
    share[case[top], classifier.class_code[top]] = 1.0
    total = share.sum(axis=1, keepdims=True)
    share = np.divide(share, total, out=np.full_like(share, np.nan), where=total > 0)
    found: np.ndarray = share[dataset.case_of_annotation, dataset.answer]
    return found


def _rate(
    dataset: Dataset, hit: np.ndarray, member: np.ndarray, other: np.ndarray, level: float, rng: np.random.Generator
) -> tuple[int, float, float, IntervalEstimate] | None:
    """Compute cases, rates of both sides and their difference; None if no predicted case has both."""
    from scipy.sparse import csr_array

    shape, known = (dataset.n_cases, dataset.n_raters), np.isfinite(hit)
    place = dataset.case_of_annotation[known], dataset.rater[known]
    hits, n = (csr_array((values[known], place), shape=shape) for values in (hit, np.ones(hit.size)))
    weights = [member.astype(float)[:, None], other.astype(float)[:, None]]
    rated = np.logical_and(*(np.asarray(n @ one)[:, 0] > 0 for one in weights))
    if not rated.any():
        return None
    weights = [np.hstack([one, _resampled(side, rng)]) for one, side in zip(weights, (member, other), strict=True)]
    cases = np.ones((int(rated.sum()), N_RESAMPLES + 1))
    cases[:, 1:] = rng.multinomial(len(cases), np.full(len(cases), 1 / len(cases)), size=N_RESAMPLES).T
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [(hits @ one)[rated] / (n @ one)[rated] for one in weights]
        usable = cases * np.isfinite(shares[0]) * np.isfinite(shares[1])
        rates = [(usable * np.nan_to_num(share)).sum(axis=0) / usable.sum(axis=0) for share in shares]
    difference = rates[0] - rates[1]
    interval = percentile_interval(float(difference[0]), difference[1:], level)
    return int(rated.sum()), float(rates[0][0]), float(rates[1][0]), interval


def _resampled(side: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw weights of resampled raters of a side, shape (n_raters, N_RESAMPLES)."""
    size = int(side.sum())
    found = np.zeros((side.size, N_RESAMPLES))
    found[side] = rng.multinomial(size, np.full(size, 1 / size), size=N_RESAMPLES).T
    return found
