"""Check whether cases with an early disagreement were given more annotations than the others.

If so, no weighting of cases makes the agreement of all annotations correct: hard cases have too much weight. The first
two annotations of each case are not affected [Nørregaard & Derczynski, Sparse Probability of Agreement (2022), section
4.3]. The interval of the difference is Newcombe's (1998), DOI 10.1002/(sici)1097-0258(19980430)17:8.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import MISSING_TIME, Dataset, keep_only
from .intervals import Coefficient, wilson
from .krippendorff import krippendorff_alpha
from .linearised import as_counts
from .probability import spa

LEAST_CASES = 10  # Smallest number of cases with an early agreement, and with an early disagreement.


@dataclass(frozen=True, slots=True)
class AdaptiveCheck:
    """Relation between the number of annotations of a case and its first two annotations.

    Attributes
    ----------
    order : str
        Source of the order of annotations: "time" or "file".
    n_agree, n_disagree : int
        Number of cases whose first two annotations agree, and disagree.
    more_agree, more_disagree : int
        Number of those with more than two annotations.
    difference, ci_low, ci_high : float or None
        Share with more than two annotations after a disagreement, less that after an agreement. None if the
        question cannot be put.
    warn : bool
        True if the interval excludes 0. If the number of annotations is independent of the first two annotations, this
        happens in about 1 − level of all data sets.
    first_two, everything : tuple of Coefficient
        SPA and nominal alpha of the first two annotations of each case, and of all.
    note : str
        Reason why it cannot be computed; empty otherwise.
    """

    order: str
    n_agree: int
    n_disagree: int
    more_agree: int
    more_disagree: int
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    warn: bool
    first_two: tuple[Coefficient, ...]
    everything: tuple[Coefficient, ...]
    note: str


def adaptive_collection(dataset: Dataset, level: float = 0.99, ci_level: float = 0.95) -> AdaptiveCheck:
    """Compare how many cases have more than two annotations after an early agreement and after an early disagreement.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes. Annotations of a case are taken in the order of their times, or without times in the
        order of the file; with times, cases with an unknown one do not count.
    level : float
        Confidence level of the interval of the difference, and so of the warning, 0 to 1.
    ci_level : float
        Confidence level of the intervals of the coefficients, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes.
    """
    dataset.check_kind("class", "Cannot compare first annotations")
    n = np.diff(dataset.case_ptr)
    usable = n >= 2
    if dataset.time is not None:
        usable &= np.bincount(dataset.case_of_annotation, dataset.time == MISSING_TIME, dataset.n_cases) == 0
    first = dataset.case_ptr[:-1][usable]
    agree = dataset.answer[first] == dataset.answer[first + 1]
    more = n[usable] > 2
    size = [int(agree.sum()), int((~agree).sum())]
    longer = [int((agree & more).sum()), int((~agree & more).sum())]
    why = _why_not(dataset, n, usable, size, longer)
    difference = low = high = None
    if not why:
        difference, low, high = _newcombe(longer[1], size[1], longer[0], size[0], level)
    return AdaptiveCheck(
        "file" if dataset.time is None else "time",
        size[0],
        size[1],
        longer[0],
        longer[1],
        difference,
        low,
        high,
        low is not None and high is not None and (low > 0 or high < 0),
        _coefficients(first_of_each_case(dataset, 2), ci_level),
        _coefficients(dataset, ci_level),
        why,
    )


def first_of_each_case(dataset: Dataset, most: int) -> Dataset:
    """Select the first annotations of each case, at most ``most``, in the order of time or of the file."""
    place = np.arange(dataset.n_annotations) - np.repeat(dataset.case_ptr[:-1], np.diff(dataset.case_ptr))
    return keep_only(dataset, place < most)


def _why_not(dataset: Dataset, n: np.ndarray, usable: np.ndarray, size: list[int], longer: list[int]) -> str:
    if not sum(size):
        return "undefined: no case has two annotations in a known order"
    if sum(longer) in (0, sum(size)):
        few = "no" if sum(longer) == 0 else "every"
        return (
            f"undefined: {few} case has more than two annotations, so the data cannot show whether disagreement led to "
            "more annotations"
        )
    if min(size) < LEAST_CASES:
        what = "agree" if size[0] < size[1] else "disagree"
        return (
            f"undefined: the first two annotations {what} on only {min(size)} cases; at least {LEAST_CASES} are needed"
        )
    if dataset.time is None and _sorted_by_answer(dataset, n):
        return "undefined: annotations are grouped by class in every case, so their order is not chronological"
    return ""


def _sorted_by_answer(dataset: Dataset, n: np.ndarray) -> bool:
    """Return True if equal annotations are adjacent in all of twenty or more cases in which they need not be."""
    runs = np.ones(dataset.n_annotations, bool)
    runs[1:] = dataset.answer[1:] != dataset.answer[:-1]
    runs[dataset.case_ptr[:-1][n > 0]] = True
    n_runs = np.bincount(dataset.case_of_annotation, runs, dataset.n_cases)
    counts = as_counts(dataset)
    n_used = np.diff(counts.ptr)
    could_differ = (n_used > 1) & (n_used < n)
    return int(could_differ.sum()) >= 20 and bool((n_runs == n_used)[could_differ].all())


def _newcombe(x: int, n: int, y: int, m: int, level: float) -> tuple[float, float, float]:
    """Compute x/n − y/m with Newcombe's hybrid score interval."""
    from scipy.special import ndtri

    z = float(ndtri((1 + level) / 2))
    p, q = x / n, y / m
    (p_low, p_high), (q_low, q_high) = wilson(p, n, z), wilson(q, m, z)
    low = p - q - float(np.hypot(p - p_low, q_high - q))
    return p - q, low, p - q + float(np.hypot(p_high - p, q - q_low))


def _coefficients(dataset: Dataset, level: float) -> tuple[Coefficient, ...]:
    counts = as_counts(dataset)
    return spa(counts, level=level), krippendorff_alpha(counts, level)
