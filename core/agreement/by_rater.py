"""Agreement of each rater with the others, and with themselves if they annotated a case more than once.

Agreement with the others is on the same cases. The overall coefficient without the rater is given as well.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import count_classes, counting_sort
from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset
from ..errors import LimitError, OptionError
from ..methods import method_named
from ..result_base import Columns, Result, rows
from ..runtime.chunks import chunk_ranges
from ..settings import current_settings
from ._kernels import agreeing_pairs, agreement_of_runs, class_shares, sums_of_cases, sums_without
from .coefficient_methods import CoefficientMethod, formulas
from .coefficients import FLEISS_KAPPA, PERCENT, both_ways, one_way
from .formulas import Formula, Sums
from .intervals import Coefficient, undefined
from .krippendorff import KRIPPENDORFF_ALPHA
from .probability import SPA, case_agreement, cut_at, share_of_agreement, with_wilson_interval
from .ranges import least_agreement

OVERALL = (PERCENT, SPA, FLEISS_KAPPA, KRIPPENDORFF_ALPHA)  # Coefficients that pages offer.
_OF_COUNTS = ("none", "cases", "annotations")
_CELLS_AT_ONCE = 1 << 20
NEVER = "never annotated a case twice"


@dataclass(frozen=True, slots=True, repr=False)
class AgreementByRater(Result):
    """Agreement of each rater with the others; tuples of one entry for each rater, in the order of ``raters``.

    Attributes
    ----------
    raters : tuple of str
    each : tuple of Coefficient
        Share of the pairs of one annotation of the rater and one of another on the same case that agree. ``n_cases``
        are the rater's cases that others annotated, ``n_annotations`` the rater's annotations on them.
    overall : Coefficient
        The chosen coefficient of all raters.
    without : tuple of (float or None)
        Coefficient without the rater; None if it is undefined.
    difference : tuple of (float or None)
        ``without`` less ``overall``: above 0 the others agree better among themselves.
    n_cases_without : tuple of int
        Cases with two annotations or more that are left then.
    """

    raters: tuple[str, ...]
    each: tuple[Coefficient, ...]
    overall: Coefficient
    without: tuple[float | None, ...]
    difference: tuple[float | None, ...]
    n_cases_without: tuple[int, ...]

    TABLES = ("raters",)

    def _columns(self, table: str, most: int | None) -> Columns:
        own = {name: getattr(self, name) for name in ("without", "difference", "n_cases_without")}
        numbers = rows(self.each, [name for name in Coefficient.COLUMNS if name not in ("name", "weights")])
        return {"rater": self.raters, **numbers, **own}


def by_rater(dataset: Dataset, coefficient: str = KRIPPENDORFF_ALPHA, level: float = 0.95) -> AgreementByRater:
    """Compute the agreement of each rater with the others, and the overall coefficient without each rater.

    The interval of a rater's agreement is Wilson's on the effective number of the rater's cases, each case counting
    with its pairs. All raters together take one walk over the annotations.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    coefficient : str
        The one to leave raters out of: one whose formula is of counts of classes. SPA has the weighting
        ``annotations_m1``.
    level : float
        Confidence level of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    LimitError
        Raters by classes are more than a model may have.
    """
    possible = {name: formula for name, formula in formulas().items() if formula.of in _OF_COUNTS}
    if coefficient not in possible:
        raise OptionError(f"`coefficient` must be one of {', '.join(possible)}; got {coefficient!r}")
    dataset.check_kind("class", "Cannot compare raters")
    dataset.check_raters("Cannot compare raters")
    limit = current_settings().max_model_cells
    if dataset.n_raters * dataset.n_classes > limit:
        raise LimitError(
            f"Cannot compare raters: {dataset.n_raters:,} raters and {dataset.n_classes:,} classes need "
            f"{dataset.n_raters * dataset.n_classes:,} cells; the limit is {limit:,}. Select fewer raters."
        )
    twice = both_ways(dataset)
    counts, walk = _walk(twice)
    overall = method_named(CoefficientMethod, coefficient).make(counts, level=level)
    values, left = _without_each(counts, walk, possible[coefficient], dataset.n_raters)
    if twice is not dataset:
        overall, left = one_way(overall, level), left // 2
        counts, walk = _walk(dataset)
    csr = counts.ptr, counts.class_code, counts.count
    without = tuple(None if np.isnan(x) else float(x) for x in values)
    difference = tuple(None if x is None or overall.value is None else x - overall.value for x in without)
    each = _with_others(agreement_of_runs(*walk, *csr, counts.n_classes), dataset.n_raters, level)
    return AgreementByRater(dataset.raters, each, overall, without, difference, tuple(left.tolist()))


def _walk(dataset: Dataset) -> tuple[ClassCounts, tuple[np.ndarray, ...]]:
    """Return the counts of each case, and the annotations by rater with their cases and classes."""
    by_rater = counting_sort(dataset.rater, dataset.n_raters)
    return class_counts(dataset), (*by_rater, dataset.case_of_annotation, dataset.answer)


def _without_each(
    counts: ClassCounts, walk: tuple[np.ndarray, ...], formula: Formula, n_raters: int
) -> tuple[np.ndarray, np.ndarray]:
    """Compute a coefficient without each rater, NaN if undefined, and the cases with two annotations that are left."""
    csr = counts.ptr, counts.class_code, counts.count
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    share, _ = class_shares(*csr, n, 1, counts.n_classes, counts.times)
    _, pooled = class_shares(*csr, n, 2, counts.n_classes, counts.times)
    whole = sums_of_cases(n, pairs)
    value, left = np.empty(n_raters), np.empty(n_raters, np.int64)
    for first, last in chunk_ranges(n_raters, max(1, _CELLS_AT_ONCE // counts.n_classes)):
        rows = [np.tile(start, (last - first, 1)) for start in (whole, share, pooled)]
        sums_without(first, *rows, *walk, *csr, n, pairs)
        value[first:last] = _of_sums(formula, rows[0].T, rows[1].T, rows[2].T, counts.n_classes)
        left[first:last] = rows[0][:, 0]
    return value, left


def _of_sums(formula: Formula, sums: np.ndarray, share: np.ndarray, pooled: np.ndarray, n_classes: int) -> np.ndarray:
    """Compute a coefficient from the sums that `core.agreement._kernels.sums_without` left, on the last axis."""
    paired, rated, agreement, apart, annotations = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        if formula.of == "annotations":
            share, observed, rated = pooled / annotations, apart, paired
        elif formula.by_size:
            # A case weighs its annotations less one: (n − 1) P is n − n (1 − P) − P.
            observed, paired = annotations - apart - agreement, annotations - paired
            rated = paired
        else:
            share, observed = share / rated, agreement
        chance = 0.0 if formula.chance is None else formula.chance(n_classes, None).mean(share)
        # Subtraction leaves rounding errors.
        chance = np.where(chance < 1 - 1e-10, chance, 1.0)
        found = np.minimum(formula(Sums(observed, paired, rated, annotations, chance)), 1.0)
    found = np.maximum(found, 0.0) if formula.of == "none" else found
    return np.where(sums[0] > 0, found, np.nan)


def _with_others(runs: tuple[np.ndarray, ...], n_raters: int, level: float) -> tuple[Coefficient, ...]:
    rater, pairs, agree, mine = (array[runs[1] > 0] for array in runs)
    total = np.bincount(rater, pairs, n_raters)
    value = np.bincount(rater, agree, n_raters) / np.maximum(total, 1)
    share = pairs / total[rater]
    own = agree / pairs
    errors = (share * (own - value[rater]) / np.maximum(1 - share, 1e-300)) ** 2
    errors[np.abs(own - value[rater]) < 1e-12] = 0.0  # Rounding must not look like an error.
    squares, kish = np.bincount(rater, errors, n_raters), np.bincount(rater, share * share, n_raters)
    n_cases, answers = np.bincount(rater, minlength=n_raters), np.bincount(rater, mine, n_raters)
    largest = np.zeros(n_raters)
    np.maximum.at(largest, rater, share)
    return tuple(
        undefined("with_others", "edges", "no other rater annotated this rater's cases")
        if n_cases[r] == 0
        else with_wilson_interval(
            "with_others",
            "edges",
            float(value[r]),
            float(squares[r]),
            float(largest[r]),
            float(kish[r]),
            int(n_cases[r]),
            int(answers[r]),
            level,
        )
        for r in range(n_raters)
    )


@dataclass(frozen=True, slots=True)
class IntraRater:
    """Agreement of each rater with their own annotations.

    Attributes
    ----------
    raters : tuple of str
    each : tuple of Coefficient, one for each rater
        ``n_cases`` are the cases that the rater annotated twice or more, ``n_annotations`` the annotations on them.
    overall : Coefficient
        Mean of all raters, weighted by their annotations; the interval is over raters, and ``n_cases`` are raters.
    """

    raters: tuple[str, ...]
    each: tuple[Coefficient, ...]
    overall: Coefficient


def intra_rater(dataset: Dataset, level: float = 0.95) -> IntraRater:
    """Compute the probability that two annotations of the same rater on the same case agree.

    A case counts with its annotations less one, as in SPA with the weighting ``annotations_m1``; intervals are
    Wilson's.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    level : float
        Confidence level of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    """
    dataset.check_kind("class", "Cannot compare raters with themselves")
    dataset.check_raters("Cannot compare raters with themselves")
    rater, agreement, n = _repeated(dataset)
    start = np.searchsorted(rater, np.arange(dataset.n_raters + 1))
    each, value, weight = [], [], []
    for code in range(dataset.n_raters):
        own = slice(start[code], start[code + 1])
        if start[code] == start[code + 1]:
            each.append(undefined("intra_rater", "annotations_m1", f"this rater {NEVER}"))
            continue
        answers = int(n[own].sum())
        found = share_of_agreement("intra_rater", "annotations_m1", agreement[own], n[own] - 1, level, answers)
        each.append(cut_at(found, least_agreement(n[own], n[own] - 1, dataset.n_classes, None)))
        value.append(each[-1].value)
        weight.append(float((n[own] - 1).sum()))
    if value:
        overall = share_of_agreement(
            "intra_rater", "annotations_m1", np.array(value), np.array(weight), level, int(n.sum()), "rater"
        )
    else:
        overall = undefined("intra_rater", "annotations_m1", f"raters {NEVER}")
    return IntraRater(dataset.raters, tuple(each), overall)


def _repeated(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rater (ascending), agreement and number of annotations of every case that a rater repeated."""
    _, order = counting_sort(dataset.rater, dataset.n_raters)
    rater, case = dataset.rater[order], dataset.case_of_annotation[order]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(rater) != 0) | (np.diff(case) != 0)])[: rater.size])
    ptr = np.concatenate([begins, [rater.size]]).astype(np.int64)
    ptr, code, count = count_classes(ptr, dataset.answer[order], dataset.n_classes)
    agreement, n = case_agreement(ClassCounts(ptr, code, count, dataset.n_classes))
    twice = n >= 2
    return rater[begins][twice], agreement[twice], n[twice]
