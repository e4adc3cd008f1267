"""Blind reads of cases by reviewers, as a table, and how often they agree with raters."""

from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import wilson
from ..annotations.dataset import Dataset
from ..errors import InputError
from .rates import Rates


@dataclass(frozen=True, slots=True)
class BlindReads:
    """Opinions that were given without seeing the annotations of raters or models; tuples of equal length.

    Attributes
    ----------
    case, reader, answer : tuple of str
        The annotation is the class that the reader named first; reads that name none, or several, are left out.
    """

    case: tuple[str, ...]
    reader: tuple[str, ...]
    answer: tuple[str, ...]

    def __post_init__(self) -> None:
        if not len(self.case) == len(self.reader) == len(self.answer):
            raise InputError("Cases, readers and annotations are not equally many.", "Give one of each for every read.")


def agreement_with_blind(dataset: Dataset, reads: BlindReads | None, level: float) -> Rates:
    """Share of blind reads of a rater's cases that agree with them: the mean over cases, with Wilson's interval.

    A reader of the same name is the rater, and is not compared with themselves. Reads of other cases, and of classes
    that are not in the list, agree with nobody: the first are left out, the second count.

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    reads : BlindReads, optional
    level : float
        Of the intervals, 0 to 1.
    """
    from scipy.special import ndtri

    n_raters = dataset.n_raters
    agree, n = np.zeros(n_raters), np.zeros(n_raters, np.int64)
    places = {case_id: case for case, case_id in enumerate(dataset.cases)} if reads else {}
    by_case: dict[int, list[tuple[str, str]]] = {}
    for case_id, reader, answer in zip(reads.case, reads.reader, reads.answer, strict=True) if reads else ():
        if case_id in places:
            by_case.setdefault(places[case_id], []).append((reader, answer))
    for case, given in by_case.items():
        met: dict[int, list[bool]] = {}
        for a in dataset.annotations_of(case):
            rater, answer = int(dataset.rater[a]), dataset.classes[dataset.answer[a]]
            alike = [answer == read for reader, read in given if reader != dataset.raters[rater]]
            met.setdefault(rater, []).extend(alike)
        for rater, alike in met.items():
            if alike:
                agree[rater] += float(np.mean(alike))
                n[rater] += 1
    value = np.divide(agree, n, out=np.full(n_raters, np.nan), where=n > 0)
    z = float(ndtri((1 + level) / 2))
    ends = [wilson(float(p), float(m), z) if m else (np.nan, np.nan) for p, m in zip(value, n, strict=True)]
    low, high = np.array(ends, float).reshape(n_raters, 2).T
    return Rates(value, np.ascontiguousarray(low), np.ascontiguousarray(high), n)
