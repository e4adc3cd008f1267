"""Groups of raters: their agreement within and across, and differences in what they see.

For a group g and all other raters with a value of the same fact: ``IRR = α`` of the annotations of g;
``XRR = 1 − D_o / D_e`` with D_o the mean distance of an annotation of g and one of another on the same case, each pair
counting once, and D_e that of any two, on the cases that both rated; ``GAI = IRR / XRR``, undefined for XRR ≤ 0.05
[Prabhakaran et al. 2024, GRASP]. Distances are squares of numbers, or of indicators of classes, so that all follow from
sums over cases. p permutes the facts of raters, not annotations, among raters who annotated about as much; intervals
resample raters and cases, and an annotation is never compared with a copy of itself.

Groups of fewer than 8 raters are not shown, nor groups with fewer than 8 others; members are not listed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..agreement.intervals import IntervalEstimate, percentile_interval
from ..annotations.dataset import Dataset
from ..annotations.facts import MOST_VALUES, RaterFacts
from ..annotations.vocabulary import encode, to_numbers
from ..errors import InputError, NotApplicableError
from ..ingest.formats.budget import reading
from ..ingest.formats.raw_table import RawTable
from ..ingest.formats.tables import open_tables
from ..multiplicity import benjamini_hochberg
from ..options import check_level, check_number, check_whole
from ..result_base import Columns, Result, rows
from ..text import plural

FEWEST_RATERS = 8
_FIRST_ROWS, _FIRST_VALUES = 20_000, 100  # A column with more values in the first rows is no fact.
LEAST_CROSS = 0.05
N_PERMUTATIONS, N_RESAMPLES = 400, 200
_STRATA = 4
_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, repr=False)
class GroupAgreement(Result):
    """Agreement of one group of raters.

    Attributes
    ----------
    fact, group : str
    n_raters, n_annotations, n_cases : int
        Numbers of raters, of annotations, and of cases that the group and others rated.
    within : IntervalEstimate
        IRR.
    across : IntervalEstimate
        XRR.
    association : IntervalEstimate
        GAI.
    p_association : float
    difference : IntervalEstimate
        Mean of the group less that of the others; for classes without an order, the share of the class that differs
        most.
    of_class : str
        Class that differs most; empty otherwise.
    p_difference : float
    named : bool
        True if the group differs, at the false discovery rate over all facts, groups and both tests.
    """

    fact: str
    group: str
    n_raters: int
    n_annotations: int
    n_cases: int
    within: IntervalEstimate
    across: IntervalEstimate
    association: IntervalEstimate
    p_association: float
    difference: IntervalEstimate
    of_class: str
    p_difference: float
    named: bool

    COLUMNS = ("fact", "group", "n_raters", "n_annotations", "n_cases", "p_association", "p_difference", "named")


@dataclass(frozen=True, slots=True, repr=False)
class GroupReview(Result):
    """Agreement of the groups of all facts.

    Attributes
    ----------
    groups : tuple of GroupAgreement
    too_small : tuple of (str, int)
        Facts, with how many of their groups have fewer than `FEWEST_RATERS` raters, or too few others.
    n_tests : int
    q : float
        False discovery rate.
    """

    groups: tuple[GroupAgreement, ...]
    too_small: tuple[tuple[str, int], ...]
    n_tests: int
    q: float

    TABLES = ("groups",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return rows(self.groups, GroupAgreement.COLUMNS)


def facts_of_file(name: str, content: bytes, raters: Sequence[str], noun: str = "rater") -> RaterFacts:
    """Read facts of raters from a table: columns with one value for each rater, at most `MOST_VALUES` or numbers.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    content : bytes
        Content of a table of raters, or of annotations with columns on their raters.
    raters : sequence of str
        Raters of the dataset; or its cases, for facts of cases.
    noun : {"rater", "case"}

    Raises
    ------
    InputError
        The file is not a table, no column contains the raters, or no column is a fact about them.
    """
    (_, raw), *_ = open_tables(name, content)
    return facts_of_table(name, raw, raters, noun=noun)


def facts_of_table(
    name: str, raw: RawTable, raters: Sequence[str], column: str = "", noun: str = "rater"
) -> RaterFacts:
    """Find facts of raters in a table; see `facts_of_file`.

    Parameters
    ----------
    name : str
        Name of the file, for messages.
    raw : RawTable
    raters : sequence of str
        Raters of the dataset.
    column : str
        Column of the raters; found by their names if omitted.
    noun : {"rater", "case"}
    """
    first = raw.table.slice(0, _FIRST_ROWS)
    tried = [one for one in raw.columns if not column or len(first[one].unique()) <= _FIRST_VALUES]
    coded = {one: encode(raw.table[one]) for one in dict.fromkeys([*tried, *([column] if column else [])])}
    known = {
        name: len(set(raters).intersection(one.values)) for name, one in coded.items() if name == column or not column
    }
    if not known or max(known.values()) < FEWEST_RATERS:
        raise InputError(
            f"Could not use {name}: it has no column with the names of at least {FEWEST_RATERS} of these {noun}s.",
            f"Add a column with {noun} names.",
        )
    column = max(known, key=lambda one: (known[one], -len(coded[one].values)))
    who = coded.pop(column)
    place_of = {rater: place for place, rater in enumerate(who.values)}
    place = [place_of.get(rater, -1) for rater in raters]
    names, values = [], []
    for other, one in coded.items():
        few = len(one.values) <= MOST_VALUES or bool(np.isfinite(to_numbers(one.values)).all())
        told = _one_each(who.code, one.code, len(who.values)) if len(one.values) >= 2 and few else None
        if told is not None:
            names.append(other)
            codes = [told[code] if code >= 0 else -1 for code in place]
            values.append(tuple(one.values[code] if code >= 0 else "" for code in codes))
    if not names:
        raise InputError(
            f"Could not use {name}: it has no column with one value per {noun}.",
            f"Add such a column, for example the region of each {noun}.",
        )
    return RaterFacts(tuple(names), tuple(values))


def _one_each(rater: np.ndarray, value: np.ndarray, n_raters: int) -> list[int] | None:
    """Return the value of each rater, -1 if unknown; None if a rater has several."""
    known = (rater >= 0) & (value >= 0)
    least, most = np.full(n_raters, np.iinfo(np.int32).max), np.full(n_raters, -1)
    np.minimum.at(least, rater[known], value[known])
    np.maximum.at(most, rater[known], value[known])
    return None if (least < most).any() else most.tolist()


def facts_of_upload(
    paths: Sequence[str], names: Sequence[str], raters: Sequence[str], noun: str = "rater", **_: Any
) -> RaterFacts:
    """Read an uploaded file of facts, in a process for this alone; see `facts_of_file`.

    Parameters
    ----------
    paths, names : sequence of str
        Path and name of the file.
    raters : sequence of str
        Raters or cases of the dataset.
    noun : {"rater", "case"}
    **_
        Ignored.
    """
    with reading(Path(paths[0]).stat().st_size):
        return facts_of_file(names[0], Path(paths[0]).read_bytes(), raters, noun)


def review_groups(
    dataset: Dataset,
    facts: RaterFacts,
    *,
    q: float = 0.05,
    level: float = 0.95,
    n_permutations: int = N_PERMUTATIONS,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> GroupReview:
    """Compute agreement within and across groups of raters, with tests over all facts and groups.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes or scores, with identified raters. Ordered classes, and classes that are numbers, are
        compared by their distance.
    facts : RaterFacts
    q : float
        False discovery rate.
    level : float
        Confidence level of the intervals, 0 to 1.
    n_permutations, n_resamples, seed : int

    Raises
    ------
    InputError
        The facts do not belong to these raters.
    NotApplicableError
        Annotations are of another kind or anonymous, or no group is large enough.
    """
    _check(dataset, q, level, n_permutations, n_resamples)
    _check_facts(facts, dataset.n_raters)
    sums = _Sums(dataset)
    found, too_small = list[tuple[str, str, _Tested]](), list[tuple[str, int]]()
    spread: list[_Measures] = []
    for fact, values in zip(facts.names, facts.values, strict=True):
        small = 0
        for group, member, other in sides_of(values):
            if min(member.sum(), other.sum()) < FEWEST_RATERS:
                small += 1
                continue
            rng = np.random.default_rng([abs(seed), seed < 0, len(spread)])
            found.append((fact, group, _tested(sums, member, other, n_permutations, rng)))
            spread.append(_resampled(sums, member, other, n_resamples, rng))
        if small:
            too_small.append((fact, small))
    if not found:
        raise NotApplicableError(
            f"Cannot compare groups: no group has at least {FEWEST_RATERS} raters in it and {FEWEST_RATERS} outside it."
        )
    p = np.array([[one.p_association, one.p_difference] for *_, one in found])
    rejected = set((benjamini_hochberg(p.ravel(), q) // 2).tolist())
    groups = tuple(
        _group(sums, *one, again, level, place in rejected)
        for place, (one, again) in enumerate(zip(found, spread, strict=True))
    )
    return GroupReview(groups, tuple(too_small), int(np.isfinite(p).sum()), q)


def _check(dataset: Dataset, q: float, level: float, n_permutations: int, n_resamples: int) -> None:
    """Refuse options out of range, and annotations that cannot be compared."""
    check_level(level)
    check_number(q, "The false discovery rate", 0, 1)
    for number, what in ((n_permutations, "permutations"), (n_resamples, "resamples")):
        check_whole(number, f"The number of {what}", 20)
    if dataset.kind not in ("class", "score") or not dataset.raters_identified:
        raise NotApplicableError(
            "Cannot compare groups of raters: this needs named raters and one class or score per annotation."
        )


def _check_facts(facts: RaterFacts, n_raters: int) -> None:
    """Refuse facts that are not one per rater."""
    for name, values in zip(facts.names, facts.values, strict=True):
        if len(values) != n_raters:
            raise InputError(
                f"Could not use column {name!r}: it has {plural(len(values), 'value')} for "
                f"{plural(n_raters, 'rater')}.",
                "Provide one value per rater.",
            )


def sides_of(values: Sequence[str]) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield each value with its raters, and all others of whom a value is known; shapes (n_raters,)."""
    told = np.array(values, dtype=object)
    for group in sorted(set(values) - {""}):
        yield group, told == group, (told != group) & (told != "")


def features_of(dataset: Dataset) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return features of annotations whose squared differences are the distances, and the classes they indicate.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    feature : ndarray, shape (n_features, n_annotations)
    classes : tuple of str
        Empty for scores, ordered classes and classes that are numbers, which are one feature.
    """
    if dataset.kind == "score":
        return dataset.score[None], ()
    numbers = to_numbers(dataset.classes)
    if dataset.ordinal or np.isfinite(numbers).all():
        numbers = numbers if np.isfinite(numbers).all() else np.arange(dataset.n_classes, dtype=float)
        return numbers[dataset.answer][None], ()
    return (dataset.answer == np.arange(dataset.n_classes)[:, None]).astype(float), dataset.classes


class _Sums:
    """Sums of annotations by case and rater, as features of which distances are squares.

    Scores, ordered classes and classes that are numbers are one feature. Other classes are indicators; the squared
    distance of two different classes is 2.
    """

    def __init__(self, dataset: Dataset):
        from scipy.sparse import csr_array

        shape = (dataset.n_cases, dataset.n_raters)
        feature, self.classes = features_of(dataset)

        def table(values: np.ndarray):
            return csr_array((values, (dataset.case_of_annotation, dataset.rater)), shape=shape)

        self.n, self.square = table(np.ones(dataset.n_annotations)), table((feature**2).sum(axis=0))
        self.feature = [table(each) for each in feature]
        self.annotations = dataset.annotations_of_raters

    def of(self, weight: np.ndarray) -> "_Side":
        """Return sums over raters by weight, for ``weight`` of shape (n_raters, n_samples)."""
        each = np.stack([one @ weight for one in self.feature])
        return _Side(self.n @ weight, each, self.square @ weight, self.n @ weight**2)


class _Side(NamedTuple):
    """Sums over raters of one side: annotations, features, squares, squares of weights; (n_cases, n_samples)."""

    n: np.ndarray
    feature: np.ndarray
    square: np.ndarray
    own: np.ndarray

    def total(self, cases: np.ndarray) -> "_Side":
        """Return sums over cases by weight, shape (n_cases, n_samples)."""
        return _Side(*((cases * each).sum(axis=-2) for each in self))


class _Measures(NamedTuple):
    """IRR, XRR, GAI and differences of means, (n_samples,); differences (n_features, n_samples)."""

    within: np.ndarray
    across: np.ndarray
    association: np.ndarray
    difference: np.ndarray


def _measures(group: _Side, others: _Side, cases: np.ndarray) -> _Measures:
    """Compute the measures of a group, with cases by weight (n_cases, n_samples)."""
    with np.errstate(invalid="ignore", divide="ignore"):
        several = cases * (group.n**2 > group.own + 1e-9)
        whole = group.total(several)
        observed = (several * group.n * np.nan_to_num(_within(group))).sum(axis=0) / whole.n
        within = 1 - observed / _within(whole)
        shared = cases * ((group.n > 0) & (others.n > 0))
        one, other = group.total(shared), others.total(shared)
        observed = (shared * _cross(group, others)).sum(axis=0) / (shared * group.n * others.n).sum(axis=0)
        across = 1 - observed / (_cross(one, other) / (one.n * other.n))
        association = np.where(across > LEAST_CROSS, within / across, np.nan)
        difference = one.feature / one.n - other.feature / other.n
    return _Measures(within, across, association, difference)


def _within(side: _Side) -> np.ndarray:
    """Compute the mean squared distance of two different annotations of a side."""
    product = (side.feature**2).sum(axis=0)
    return 2 * (side.n * side.square - product) / (side.n**2 - side.own)


def _cross(one: _Side, other: _Side) -> np.ndarray:
    """Compute the sum of squared distances of an annotation of each side."""
    return one.n * other.square + other.n * one.square - 2 * (one.feature * other.feature).sum(axis=0)


class _Tested(NamedTuple):
    member: np.ndarray
    other: np.ndarray
    found: _Measures
    p_association: float
    p_difference: float


def _tested(sums: _Sums, member: np.ndarray, other: np.ndarray, n: int, rng: np.random.Generator) -> _Tested:
    """Compute a group's measures and p by permuting its members, within strata of how much raters annotated."""
    pool = np.flatnonzero(member | other)
    amount = sums.annotations[pool]
    edges = np.quantile(amount, np.linspace(0, 1, _STRATA + 1)[1:-1])
    stratum = np.searchsorted(edges, amount, side="left")
    labels = np.zeros((sums.annotations.size, n + 1))
    labels[:, 0] = member
    for sample in range(1, n + 1):
        for one in range(_STRATA):
            there = pool[stratum == one]
            labels[there, sample] = member[rng.permutation(there)]
    everybody = (member | other)[:, None].astype(float)
    found = [
        _measures(sums.of(part), sums.of(everybody - part), np.ones((sums.n.shape[0], 1)))
        for part in _in_parts(sums, labels)
    ]
    joined = _Measures(
        *(np.concatenate([np.atleast_1d(each) for each in parts], axis=-1) for parts in zip(*found, strict=True))
    )
    spread = joined.difference.std(axis=1, keepdims=True)
    furthest = np.abs(joined.difference / np.where(spread > 0, spread, np.inf)).max(axis=0)
    first = _Measures(*(each[..., 0] for each in joined))
    return _Tested(member, other, first, _p_two_sided(joined.association), _p_upper(furthest))


def _in_parts(sums: _Sums, weight: np.ndarray) -> Iterator[np.ndarray]:
    """Yield samples, as many at once as fit into memory."""
    step = max(1, _CELLS // (sums.n.shape[0] * (len(sums.feature) + 3)))
    for low in range(0, weight.shape[1], step):
        yield weight[:, low : low + step]


def _p_two_sided(values: np.ndarray) -> float:
    """Return p of the first value by its distance from the mean of all of them; NaN if it is undefined."""
    known = values[np.isfinite(values)]
    if not np.isfinite(values[0]) or known.size < 2:
        return float("nan")
    return _p_upper(np.abs(known - known.mean()))


def _p_upper(values: np.ndarray) -> float:
    """Return p of the first value by how many of the others are as large."""
    return float((1 + (values[1:] >= values[0] - 1e-12).sum()) / values.size)


def _resampled(sums: _Sums, member: np.ndarray, other: np.ndarray, n: int, rng: np.random.Generator) -> _Measures:
    """Compute the measures of resampled raters of both sides on resampled cases."""
    n_cases = sums.n.shape[0]
    sides = []
    for side in (member, other):
        weight = np.zeros((member.size, n))
        size = int(side.sum())
        weight[side] = rng.multinomial(size, np.full(size, 1 / size), size=n).T
        sides.append(weight)
    cases = rng.multinomial(n_cases, np.full(n_cases, 1 / n_cases), size=n).T.astype(float)
    parts = zip(*(_in_parts(sums, each) for each in (*sides, cases)), strict=True)
    found = [_measures(sums.of(one), sums.of(two), each) for one, two, each in parts]
    return _Measures(*(np.concatenate(each, axis=-1) for each in zip(*found, strict=True)))


def _group(
    sums: _Sums, fact: str, group: str, tested: _Tested, again: _Measures, level: float, named: bool
) -> GroupAgreement:
    """Build the result of one group."""
    found = tested.found

    def bounded(value: np.ndarray, values: np.ndarray) -> IntervalEstimate:
        return percentile_interval(float(value), values, level)

    furthest = int(np.abs(found.difference).argmax())
    rated = [np.asarray((sums.n @ side.astype(float)) > 0) for side in (tested.member, tested.other)]
    return GroupAgreement(
        fact, group, int(tested.member.sum()), int(sums.annotations[tested.member].sum()),
        int((rated[0] & rated[1]).sum()), bounded(found.within, again.within), bounded(found.across, again.across),
        bounded(found.association, again.association), tested.p_association,
        bounded(found.difference[furthest], again.difference[furthest]),
        sums.classes[furthest] if sums.classes else "", tested.p_difference, named,
    )  # fmt: skip
