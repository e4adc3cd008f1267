"""Agreement of raters with themselves, where they annotated the same case more than once."""

from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import count_classes, counting_sort
from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from .intervals import Coefficient, undefined
from .probability import case_agreement, cut_at, share_of_agreement
from .ranges import least_agreement

NEVER = "never annotated a case twice"


@dataclass(frozen=True, slots=True)
class IntraRater:
    """Agreement of each rater with their own annotations.

    Attributes
    ----------
    raters : tuple of str
    each : tuple of Coefficient, one for each rater
        ``n_cases`` are the cases that the rater annotated twice or more, ``n_annotations`` the annotations on them.
    overall : Coefficient
        Of all raters, weighted by their annotations; the interval is over raters, and ``n_cases`` are raters.
    """

    raters: tuple[str, ...]
    each: tuple[Coefficient, ...]
    overall: Coefficient


def intra_rater(dataset: Dataset, level: float = 0.95) -> IntraRater:
    """The chance that two annotations of the same rater on the same case agree.

    A case counts with its annotations less one, as in SPA with the weighting ``annotations_m1``; intervals are
    Wilson's.

    Parameters
    ----------
    dataset : Dataset
        Of single classes, with raters who are identified.
    level : float
        Of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    """
    if dataset.kind != "class":
        raise NotApplicableError(f"Raters are compared with themselves on single classes; these are {dataset.kind}s.")
    if not dataset.raters_identified:
        raise NotApplicableError("The annotations are anonymous, so no rater can be compared with themselves.")
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
    """Rater (ascending), agreement and number of annotations of every case that a rater annotated more than once."""
    _, order = counting_sort(dataset.rater, dataset.n_raters)
    rater, case = dataset.rater[order], dataset.case_of_annotation[order]
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(rater) != 0) | (np.diff(case) != 0)])[: rater.size])
    ptr = np.concatenate([begins, [rater.size]]).astype(np.int64)
    ptr, code, count = count_classes(ptr, dataset.answer[order], dataset.n_classes)
    agreement, n = case_agreement(ClassCounts(ptr, code, count, dataset.n_classes))
    twice = n >= 2
    return rater[begins][twice], agreement[twice], n[twice]
