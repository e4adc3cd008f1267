"""Inverse rank normalisation (IRN): a weight for each class of a case from partial rankings.

A class in block i of a rater's ranking gets 1/i, summed over raters; the last block, of unranked classes, gets nothing
[Stutz et al., Evaluating AI systems under uncertain ground truth, appendix B.2].
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import LimitError, OptionError
from ..result_base import Result
from ._kernels import sum_by_class
from .blocks import RankedEntries, ranked_entries

Ties = Literal["split", "full"]
# Weights are summed as whole numbers of 1/UNIT, so that 1/2 + 1/3 + 1/6 ties with 1 in any order. All numbers up to 28
# divide UNIT, and most of their products; the others are rounded, each always alike.
UNIT = 2**7 * 3**3 * 5**2 * 7**2 * 11 * 13 * 17 * 19 * 23
MOST_ANSWERS = (2**63 - 1) // UNIT


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class IRNWeights(Result):
    """IRN weights by case and class; classes that nobody ranked on a case are absent, their weight is 0.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_cases + 1,)
        Case ``i`` has entries ``ptr[i]`` to ``ptr[i + 1]``, ascending by class.
    class_code : ndarray of int32, shape (n_entries,)
    weight : ndarray of float64, shape (n_entries,)
        Sum over raters, not normalised. Equal sums are equal numbers, whatever the order of the raters.
    n_answers : ndarray of int64, shape (n_cases,)
        Annotations of each case.
    n_classes : int
        Length of the declared class list.
    ties : {"split", "full"}
        The rule for tied classes.
    """

    ptr: np.ndarray
    class_code: np.ndarray
    weight: np.ndarray
    n_answers: np.ndarray
    n_classes: int
    ties: Ties

    @property
    def n_cases(self) -> int:
        """Number of cases, with or without annotations."""
        return len(self.n_answers)

    @property
    def normalised(self) -> np.ndarray:
        """Weights that sum to 1 over the classes of a case, ndarray of float64, shape (n_entries,)."""
        case = np.repeat(np.arange(self.n_cases), np.diff(self.ptr))
        return self.weight / np.bincount(case, self.weight, self.n_cases)[case]


def irn(dataset: Dataset, ties: Ties = "split", cases: range | None = None) -> IRNWeights:
    """Compute IRN weights of a dataset of rankings, or of single classes (which then are counts).

    Parameters
    ----------
    dataset : Dataset
    ties : {"split", "full"}
        Weight of the classes of a tied block: "split" shares 1/i over them (eq. 14), "full" gives 1/i to each.
    cases : range, optional
        A run of cases, one after another; all if omitted. The result has rows for these only.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    LimitError
        A case has more than two million annotations.
    """
    cases = range(dataset.n_cases) if cases is None else cases
    case_ptr, entries = entries_of_cases(dataset, cases)
    ptr, class_code, total = sum_by_class(
        case_ptr, entries.ptr, entries.class_code, whole_weights(entries, ties), dataset.n_classes
    )
    return IRNWeights(ptr, class_code, total / UNIT, np.diff(case_ptr), dataset.n_classes, ties)


def entries_of_cases(dataset: Dataset, cases: range) -> tuple[np.ndarray, RankedEntries]:
    """Return row pointers and entries of a run of cases from its first annotation; refuse too many to be summed."""
    if cases.step != 1:
        raise OptionError(f"`cases` must be consecutive, not in steps of {cases.step}")
    pointers = dataset.case_ptr[cases.start : cases.start + len(cases) + 1]
    entries = ranked_entries(dataset, range(int(pointers[0]), int(pointers[-1])))
    case_ptr = pointers - pointers[0]
    answers = np.diff(case_ptr)
    if len(answers) and answers.max() > MOST_ANSWERS:
        case = cases[int(answers.argmax())]
        raise LimitError(
            f"Could not sum ranks: case {dataset.cases[case]!r} has {answers.max():,} annotations; the limit is "
            f"{MOST_ANSWERS:,}. Select fewer raters."
        )
    return case_ptr, entries


def whole_weights(entries: RankedEntries, ties: Ties) -> np.ndarray:
    """Return each entry's weight, 1/i or 1/(i · size), in whole numbers of 1/`UNIT`: int64, shape (n_entries,)."""
    if ties not in get_args(Ties):
        raise OptionError(f"`ties` must be one of {', '.join(get_args(Ties))}; got {ties!r}")
    divisor = entries.block.astype(np.int64) + 1
    if ties == "split":
        divisor *= entries.size
    return (UNIT + divisor // 2) // divisor
