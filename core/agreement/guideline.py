"""Pairs of classes that raters confuse: merge them, rewrite the guideline, or train a rater.

Each pair's share of all disagreement is of the off-diagonal coincidences, ``o_kl = Σ_i 2 n_ik n_il / (m_i − 1)`` over
the sum of all of them: cases count as in Krippendorff's α, and shares add up to 1. How well two classes are
distinguished is α of the annotations that are of one of them. The information that a merger loses is that of the joint
of truth and annotation, ``J = Σ_i P(z | i) ⊗ n_i``: mutual information before, less that after rows and columns are
merged, as a share of the first. α rises by construction when classes merge, so that it is shown and not compared.
Something is advised for pairs with clearly more than an even share of the disagreement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..annotations.counts import class_counts
from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError, LimitError, NotApplicableError
from ..options import check_level, check_whole
from ..order import FITTED, highest_first, lowest_first
from ..result_base import Columns, Result, rows
from ..thresholds import CLASSES_TOLD_APART, LITTLE_INFORMATION
from .intervals import IntervalEstimate, percentile_interval
from .krippendorff import krippendorff_alpha

Who = Literal["everybody", "one group", "some raters", "one rater", "unknown"]
Advice = Literal["merge", "rewrite", "train", "none"]
MOST_CLASSES = 200
MOST_PAIRS = 60  # of classes, by their share of the disagreement
N_CASES_SHOWN = 5
FEWEST_PAIRS = 10  # of annotations of two classes, before anything is advised
BROAD_FROM = 3  # pairs with other classes that everybody confuses
N_RESAMPLES = 200
FEWEST_RATERS = 3  # before it is said whose disagreement it is
_HALF = 0.5


@dataclass(frozen=True, slots=True, repr=False)
class ConfusedPair(Result):
    """Two classes that raters confuse.

    Attributes
    ----------
    first, second : str
    share : IntervalEstimate
        Share of all disagreement.
    told_apart : float
        α of the annotations with one of the two classes.
    n_pairs : float
        Pairs of annotations of one case that are of one of the two.
    who : {"everybody", "one group", "some raters", "one rater", "unknown"}
        Whose annotations disagree.
    raters : tuple of str
        Without whom the disagreement is at most half; of "some raters" and "one rater".
    lost : IntervalEstimate
        Share of the information about the truth that a merger loses.
    alpha_merged : float
        α if the two were one class.
    advice : {"merge", "rewrite", "train", "none"}
    cases : tuple of str
        Cases that show it best, at most `N_CASES_SHOWN`.
    before, after, change : IntervalEstimate or None
        Share of pairs of annotations that disagree between the two, on cases of earlier guidelines and of the new one.
    group : str
        Group of raters without whom the disagreement is clearly at most half, of "one group"; empty otherwise.
    """

    first: str
    second: str
    share: IntervalEstimate
    told_apart: float
    n_pairs: float
    who: Who
    raters: tuple[str, ...]
    lost: IntervalEstimate
    alpha_merged: float
    advice: Advice
    cases: tuple[str, ...]
    before: IntervalEstimate | None = None
    after: IntervalEstimate | None = None
    change: IntervalEstimate | None = None
    group: str = ""

    COLUMNS = ("first", "second", "told_apart", "n_pairs", "who", "alpha_merged", "advice")


@dataclass(frozen=True, slots=True, repr=False)
class ClassChange(Result):
    """Agreement on a class under earlier guidelines and under the new one.

    Attributes
    ----------
    name : str
        Class; empty for all classes together.
    before, after, change : IntervalEstimate
        Specific agreement, or for all classes the share of pairs of annotations that agree; NaN if it is undefined.
    """

    name: str
    before: IntervalEstimate
    after: IntervalEstimate
    change: IntervalEstimate

    COLUMNS = ("name",)


@dataclass(frozen=True, slots=True, repr=False)
class GuidelineReview(Result):
    """Pairs of confused classes, the largest share of disagreement first.

    Attributes
    ----------
    pairs : tuple of ConfusedPair
        At most `MOST_PAIRS`.
    broad : tuple of str
        Classes that everybody confuses with `BROAD_FROM` others or more: to be split, or described again.
    alpha : float or None
    by_chance : bool
        True if raters do not clearly agree beyond chance, so that nothing is advised.
    n_cases : int
        Number of cases with two annotations or more.
    n_pairs : int
        Pairs of classes between which there is any disagreement.
    changes : tuple of ClassChange
        All classes together, then each class; empty unless a new guideline is known.
    """

    pairs: tuple[ConfusedPair, ...]
    broad: tuple[str, ...]
    alpha: float | None
    by_chance: bool
    n_cases: int
    n_pairs: int
    changes: tuple[ClassChange, ...] = ()

    TABLES = ("pairs",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.pairs, ConfusedPair.COLUMNS)


def review_guideline(
    dataset: Dataset,
    truth: np.ndarray,
    *,
    since: int | None = None,
    version: str = "",
    groups: Mapping[str, np.ndarray] | None = None,
    level: float = 0.95,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> GuidelineReview:
    """Find the classes to merge or rewrite, and the raters to train.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    truth : ndarray, shape (n_cases, n_classes)
        Probability of each class, as of a rater model.
    since : int, optional
        Seconds since 1970-01-01 UTC from which a new guideline holds; cases count by their first annotation.
    version : str
        Group of cases (`Dataset.case_group`) that were annotated by a new guideline, instead of a date.
    groups : mapping of str to ndarray of bool, shape (n_raters,), optional
        Groups of raters by name, to find classes that only one of them confuses.
    level : float
        Confidence level of the intervals, 0 to 1.
    n_resamples, seed : int

    Raises
    ------
    NotApplicableError
        Annotations are not single classes, no case has two, or none disagree; or there are no dates or groups.
    InputError
        No case has the version.
    LimitError
        There are more than `MOST_CLASSES` classes.
    """
    check_level(level)
    check_whole(n_resamples, "The number of resamples", 20)
    if dataset.n_classes > MOST_CLASSES:
        raise LimitError(
            f"Cannot find classes that raters confuse: these data have {dataset.n_classes:,} classes; the limit is "
            f"{MOST_CLASSES}. Merge rare classes."
        )
    counts = _dense(dataset)
    kept = np.flatnonzero(counts.sum(axis=1) > 1)
    if not kept.size:
        raise NotApplicableError("Cannot find classes that raters confuse: no case has two annotations.")
    sides = _sides(dataset, kept, since, version)
    table = _Coincidences(counts[kept], truth[kept], _weights(kept.size, n_resamples, seed), level)
    alpha = krippendorff_alpha(class_counts(dataset), level)
    by_chance = alpha.ci_low is None or alpha.ci_low <= 0
    found = []
    for place in range(len(table.pairs)):
        pair = _pair(dataset, table, place, kept, groups or {})
        pair = replace(pair, advice="none") if by_chance else pair
        found.append(_before_and_after(pair, table, place, sides) if sides else pair)
    changes, broad = _changes(dataset.classes, table, sides) if sides else (), _broad(found, dataset.classes)
    return GuidelineReview(tuple(found), broad, alpha.value, by_chance, int(kept.size), table.n_pairs, changes)


def _broad(pairs: Sequence[ConfusedPair], classes: Sequence[str]) -> tuple[str, ...]:
    """Return the classes that everybody confuses with several others."""
    confused = [
        name
        for pair in pairs
        if pair.who == "everybody" and pair.advice in ("merge", "rewrite")
        for name in (pair.first, pair.second)
    ]
    return tuple(name for name in classes if confused.count(name) >= BROAD_FROM)


def _sides(dataset: Dataset, kept: np.ndarray, since: int | None, version: str) -> Sequence[np.ndarray]:
    """Return which kept cases belong to earlier guidelines, and which to the new one; nothing if none is new."""
    if version:
        if dataset.case_group is None:
            raise NotApplicableError(
                "Cannot compare guideline versions: these cases have no groups. When you open the file, choose the "
                "column that contains the version as the group (--group COLUMN)."
            )
        group = np.array(dataset.case_group)
        if version not in dataset.case_group:
            raise InputError(f"Unknown version {version!r}.", f"Use one of {', '.join(sorted(set(group) - {''}))}.")
        return [((group != "") & side)[kept] for side in (group != version, group == version)]
    if since is None:
        return ()
    begun = _first_times(dataset)[kept]
    return [(begun != MISSING_TIME) & side for side in (begun < since, begun >= since)]


def merge_classes(dataset: Dataset, first: str, second: str, name: str = "") -> Dataset:
    """Return another dataset in which two classes are merged, in the place of the first.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    first, second : str
    name : str
        Name of the class; both names with a stroke between them if omitted.

    Raises
    ------
    InputError
        There is no such class, the classes are ordered and not neighbours, or the name is that of another class.
    """
    dataset.check_kind("class", "Cannot merge classes")
    for each in (first, second):
        if each not in dataset.classes:
            raise InputError(f"Unknown class {each!r}.", f"Use two of {', '.join(dataset.classes[:20])}.")
    one, two = sorted((dataset.classes.index(first), dataset.classes.index(second)))
    if one == two:
        raise InputError("Cannot merge a class with itself.", "Name two classes.")
    if dataset.ordinal and two - one > 1:
        raise InputError(
            "Cannot merge these classes: ordered classes can be merged only with their neighbours.",
            "Choose two neighbouring classes.",
        )
    name = name or f"{dataset.classes[one]} / {dataset.classes[two]}"
    rest = [each for place, each in enumerate(dataset.classes) if place not in (one, two)]
    if name in rest:
        raise InputError(f"The class {name!r} already exists.", "Use another name.")
    classes = tuple(name if place == one else each for place, each in enumerate(dataset.classes) if place != two)
    code = np.array([one if place == two else place - (place > two) for place in range(dataset.n_classes)], np.int32)
    side: dict[str, Any] = {
        "gold": None if dataset.gold is None else np.where(dataset.gold < 0, -1, code[dataset.gold]).astype(np.int32)
    }
    if dataset.class_risk is not None:
        risk = np.delete(dataset.class_risk, two)
        risk[one] = max(dataset.class_risk[one], dataset.class_risk[two])
        side["class_risk"] = risk
    return replace(dataset, classes=classes, answer=code[dataset.answer], **side)


def _dense(dataset: Dataset) -> np.ndarray:
    """Count annotations of each class by case, float64, shape (n_cases, n_classes)."""
    found = np.zeros((dataset.n_cases, dataset.n_classes))
    counts = class_counts(dataset)
    case = np.repeat(np.arange(dataset.n_cases), np.diff(counts.ptr))
    found[case, counts.class_code] = counts.count
    return found


def _weights(n: int, n_resamples: int, seed: int) -> np.ndarray:
    """Return how often each case counts: once in the first row, as drawn in the others."""
    rng = np.random.default_rng([abs(seed), seed < 0, n])
    return np.vstack([np.ones(n), rng.multinomial(n, np.full(n, 1 / n), size=n_resamples)])


def _first_times(dataset: Dataset) -> np.ndarray:
    if dataset.time is None:
        raise NotApplicableError(
            "Cannot compare dates: these annotations have no dates. Choose the date column when you open the file."
        )
    found = np.full(dataset.n_cases, np.iinfo(np.int64).max)
    known = dataset.time != MISSING_TIME
    np.minimum.at(found, dataset.case_of_annotation[known], dataset.time[known])
    return np.where(found == np.iinfo(np.int64).max, MISSING_TIME, found)


class _Coincidences:
    """Disagreement of all pairs of classes, and the joint of truth and annotation, over samples of the cases."""

    def __init__(self, counts: np.ndarray, truth: np.ndarray, weight: np.ndarray, level: float):
        self.counts, self.truth, self.weight, self.level = counts, truth, weight, level
        size = counts.sum(axis=1)
        self.per_pair = 1 / (size - 1)
        whole = 2 * np.triu(counts.T @ (counts * self.per_pair[:, None]), 1)
        order = highest_first(whole.ravel())
        self.n_pairs = int((whole > 0).sum())
        if not self.n_pairs:
            raise NotApplicableError("Cannot find classes that raters confuse: raters never disagree.")
        places = np.unravel_index(order[: min(self.n_pairs, MOST_PAIRS)], whole.shape)
        self.pairs = list(zip(*(each.tolist() for each in places), strict=True))
        self.disagreement = np.stack([weight @ self.of_cases(pair) for pair in self.pairs], axis=1)
        self.total = weight @ ((size**2 - (counts**2).sum(axis=1)) * self.per_pair)
        self.joint = np.stack([(row[:, None] * truth).T @ counts for row in weight])
        self.information = information(self.joint)

    def of_cases(self, pair: tuple[int, int]) -> np.ndarray:
        """Compute coincidences of two classes in each case."""
        return 2 * self.counts[:, pair[0]] * self.counts[:, pair[1]] * self.per_pair

    def share(self, place: int) -> IntervalEstimate:
        """Compute the share of all disagreement."""
        return self.interval(self.disagreement[:, place] / np.maximum(self.total, 1e-12))

    def lost(self, pair: tuple[int, int]) -> IntervalEstimate:
        """Compute the share of the information that is lost if two classes are merged."""
        merged = information(merged_joint(self.joint, *pair))
        return self.interval((self.information - merged) / np.maximum(self.information, 1e-12))

    def alpha_merged(self, pair: tuple[int, int], place: int) -> float:
        """Compute α if two classes are merged."""
        total, n = self.counts.sum(), self.counts.sum(axis=0)
        n = np.append(np.delete(n, pair), n[pair[0]] + n[pair[1]])
        observed = (self.total[0] - self.disagreement[0, place]) / total
        expected = 1 - (n * (n - 1)).sum() / (total * (total - 1))
        return float(1 - observed / expected) if expected > 0 else float("nan")

    def interval(self, values: np.ndarray) -> IntervalEstimate:
        """Return the value of all cases, with percentiles of the samples."""
        return percentile_interval(float(values[0]), values[1:], self.level)


def information(joint: np.ndarray) -> np.ndarray:
    """Compute the mutual information of rows and columns, in nats.

    Parameters
    ----------
    joint : ndarray, shape (n_samples, n_rows, n_columns)
        Not normalised.

    Returns
    -------
    ndarray, shape (n_samples,)
    """
    total = joint.sum(axis=(1, 2))
    parts = [
        _entropy_sum(joint.reshape(len(joint), -1)),
        _entropy_sum(joint.sum(axis=2)),
        _entropy_sum(joint.sum(axis=1)),
    ]
    found: np.ndarray = (parts[0] - parts[1] - parts[2]) / total + np.log(total)
    return np.maximum(found, 0)


def _entropy_sum(x: np.ndarray) -> np.ndarray:
    """Compute Σ x ln x."""
    found: np.ndarray = (x * np.log(np.where(x > 0, x, 1))).sum(axis=1)
    return found


def merged_joint(joint: np.ndarray, first: int, second: int) -> np.ndarray:
    """Merge two rows, and the same two columns, of the joint.

    Parameters
    ----------
    joint : ndarray, shape (n_samples, n_classes, n_classes)
    first, second : int
    """
    joint = joint.copy()
    joint[:, first] += joint[:, second]
    joint[:, :, first] += joint[:, :, second]
    return np.delete(np.delete(joint, second, axis=1), second, axis=2)


def _pair(
    dataset: Dataset, table: _Coincidences, place: int, kept: np.ndarray, groups: Mapping[str, np.ndarray]
) -> ConfusedPair:
    a, b = pair = table.pairs[place]
    n_pairs, told_apart = _told_apart(table, pair)
    who, raters = _who(dataset, a, b)
    group = _group(dataset, table, pair, kept, groups) if who in ("some raters", "everybody") else ""
    if group:
        who, raters = "one group", ()
    lost = table.lost(pair)
    advice: Advice = "none"
    share = table.share(place)
    if n_pairs >= FEWEST_PAIRS and (share.low > 1 / table.n_pairs or table.n_pairs == 1):
        neighbours = not dataset.ordinal or b - a == 1
        if who in ("one rater", "some raters", "one group"):
            advice = "train"
        elif who == "everybody" and told_apart < CLASSES_TOLD_APART:
            advice = "merge" if lost.high <= LITTLE_INFORMATION and neighbours else "rewrite"
    shown = table.of_cases(pair) / table.counts.sum(axis=1)
    order = lowest_first(-shown, np.abs(table.truth[:, a] - table.truth[:, b]).round(FITTED))[:N_CASES_SHOWN]
    cases = tuple(dataset.cases[kept[case]] for case in order if shown[case] > 0)
    return ConfusedPair(
        dataset.classes[a], dataset.classes[b], share, told_apart, n_pairs, who, raters, lost,
        table.alpha_merged(pair, place), advice, cases, group=group,
    )  # fmt: skip


def _group(
    dataset: Dataset, table: _Coincidences, pair: tuple[int, int], kept: np.ndarray, groups: Mapping[str, np.ndarray]
) -> str:
    """Find the group without which disagreement on two classes is clearly at most half, the most so; or nothing."""

    def resampled(chosen: np.ndarray) -> np.ndarray:
        """Compute the share of pairs of these annotations that disagree, for each sample of the cases."""
        one, two = (
            np.bincount(dataset.case_of_annotation[chosen & (dataset.answer == code)], minlength=dataset.n_cases)[kept]
            for code in pair
        )
        with np.errstate(invalid="ignore", divide="ignore"):
            return (table.weight @ (one * two)) / (table.weight @ ((one + two) * (one + two - 1) / 2))

    whole, found = resampled(np.ones(dataset.n_annotations, bool)), dict[str, float]()
    for name, member in groups.items():
        with np.errstate(invalid="ignore"):
            share = table.interval(resampled(~member[dataset.rater]) / whole)
        if share.high <= _HALF:
            found[name] = share.value
    return min(found, key=lambda name: (round(found[name], 9), name), default="")


def _told_apart(table: _Coincidences, pair: tuple[int, int]) -> tuple[float, float]:
    """Count pairs of annotations with one of two classes, and compute their α."""
    one, other = table.counts[:, pair[0]], table.counts[:, pair[1]]
    both = one + other
    several = both > 1
    n_pairs = float((both * (both - 1) / 2)[several].sum())
    if not n_pairs:
        return 0.0, float("nan")
    per = 1 / np.maximum(both - 1, 1)
    total = both[several].sum()
    observed = (2 * one * other * per)[several].sum() / total
    n = one[several].sum(), other[several].sum()
    expected = 2 * n[0] * n[1] / (total * (total - 1))
    return n_pairs, float(1 - observed / expected) if expected > 0 else 1.0


def _who(dataset: Dataset, a: int, b: int) -> tuple[Who, tuple[str, ...]]:
    """Find whose annotations disagree on two classes.

    Raters are left out one after the other, each time the one without whom the others disagree least. If the
    disagreement falls to half within a quarter of them it is theirs, and else everybody's. With two raters it is
    unknown.
    """
    chosen = np.flatnonzero(np.isin(dataset.answer, (a, b)))
    case, rater, second = dataset.case_of_annotation[chosen], dataset.rater[chosen], dataset.answer[chosen] == b
    several = np.bincount(case, minlength=dataset.n_cases)[case] > 1
    case, rater, second = case[several], rater[several], second[several]
    involved = np.unique(rater).size
    if not dataset.raters_identified or involved < FEWEST_RATERS:
        return "unknown", ()
    size, out = (dataset.n_cases, dataset.n_raters), list[int]()
    observed, without = _disagreement(case, rater, second, size)
    for _ in range(max(1, involved // 4)):
        if not np.isfinite(without).any():
            break
        out.append(int(np.nanargmin(without)))
        if without[out[-1]] <= observed * _HALF:
            return "one rater" if len(out) == 1 else "some raters", tuple(dataset.raters[one] for one in out)
        kept = rater != out[-1]
        case, rater, second = case[kept], rater[kept], second[kept]
        without = _disagreement(case, rater, second, size)[1]
    return "everybody", ()


def _disagreement(
    case: np.ndarray, rater: np.ndarray, second: np.ndarray, size: tuple[int, int]
) -> tuple[float, np.ndarray]:
    """Compute the share of pairs of annotations that disagree, and the same without each rater, NaN if none is left.

    Parameters
    ----------
    case, rater : ndarray of int
    second : ndarray of bool
        True if the annotation has the second class.
    size : tuple of int
        Cases and raters of the dataset.
    """
    n_cases, n_raters = size
    n = np.stack([np.bincount(case[side], minlength=n_cases) for side in (~second, second)])
    total = n.sum(axis=0)
    disagreeing, pairs = (n[0] * n[1]).sum(), (total * (total - 1) / 2).sum()
    own = np.bincount(rater, n[np.where(second, 0, 1), case], n_raters)
    left = pairs - np.bincount(rater, total[case] - 1, n_raters)
    there = np.bincount(rater, minlength=n_raters) > 0
    without = np.where(there & (left > 0), (disagreeing - own) / np.maximum(left, 1), np.nan)
    return float(disagreeing / max(pairs, 1)), without


def _before_and_after(
    pair: ConfusedPair, table: _Coincidences, place: int, sides: Sequence[np.ndarray]
) -> ConfusedPair:
    """Add to the pair its disagreement under earlier guidelines and under the new one."""
    own, size = table.of_cases(table.pairs[place]), table.counts.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        before, after = ((table.weight[:, side] @ own[side]) / (table.weight[:, side] @ size[side]) for side in sides)
    return replace(
        pair, before=table.interval(before), after=table.interval(after), change=table.interval(after - before)
    )


def _changes(classes: Sequence[str], table: _Coincidences, sides: Sequence[np.ndarray]) -> tuple[ClassChange, ...]:
    """Compare the agreement on all classes, and on each, under earlier guidelines with that under the new one."""
    size = table.counts.sum(axis=1, keepdims=True)
    agreeing, all_pairs = table.counts * (table.counts - 1), table.counts * (size - 1)
    agreeing, all_pairs = (np.column_stack([each.sum(axis=1), each]) for each in (agreeing, all_pairs))
    with np.errstate(invalid="ignore", divide="ignore"):
        before, after = (
            (table.weight[:, side] @ agreeing[side]) / (table.weight[:, side] @ all_pairs[side]) for side in sides
        )
    columns = zip(("", *classes), before.T, after.T, strict=True)
    return tuple(
        ClassChange(name, table.interval(one), table.interval(other), table.interval(other - one))
        for name, one, other in columns
    )
