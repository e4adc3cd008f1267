"""Agreement of each rater with all others of the case, taken together.

For rater r: is the class that comes first by the IRN of the other raters among the classes that r ranked? Where several
come first, the share of them that r ranked [Stutz et al., Evaluating AI systems under uncertain ground truth,
appendix D].
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ._kernels import agreement_with_others, sum_by_class
from .irn import Ties, entries_of_cases, whole_weights


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOutAgreement:
    """Leave-one-rater-out agreement. A rater who annotated a case more than once is left out with all of them.

    Attributes
    ----------
    annotation : ndarray of float64, shape (n_annotations,)
        From 0 to 1; NaN if no other rater annotated the case.
    case : ndarray of float64, shape (n_cases,)
        Mean over the case's annotations; NaN where fewer than two raters annotated.
    """

    annotation: np.ndarray
    case: np.ndarray

    @property
    def defined(self) -> np.ndarray:
        """Cases with two raters or more, ndarray of bool, shape (n_cases,)."""
        return ~np.isnan(self.case)

    @property
    def n_cases(self) -> int:
        """Number of cases with two raters or more."""
        return int(self.defined.sum())

    @property
    def mean(self) -> float | None:
        """Mean over those cases; None if there are none."""
        return float(self.case[self.defined].mean()) if self.n_cases else None


def leave_one_out(dataset: Dataset, ties: Ties = "split") -> LeaveOneOutAgreement:
    """Compute leave-one-rater-out agreement of a dataset of rankings or single classes.

    Parameters
    ----------
    dataset : Dataset
    ties : {"split", "full"}
        Rule by which tied classes share their block's weight; see `core.rankings.irn.irn`.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    LimitError
        A case has more than two million annotations.
    """
    case_ptr, entries = entries_of_cases(dataset, range(dataset.n_cases))
    units = whole_weights(entries, ties)
    sums = sum_by_class(case_ptr, entries.ptr, entries.class_code, units, dataset.n_classes)
    annotation = agreement_with_others(
        case_ptr, dataset.rater, entries.ptr, entries.class_code, units, *sums, dataset.n_classes
    )
    n_answers = np.diff(case_ptr)
    case_of = np.repeat(np.arange(dataset.n_cases), n_answers)
    total = np.bincount(case_of, annotation, dataset.n_cases)
    case = np.full(dataset.n_cases, np.nan)
    np.divide(total, n_answers, out=case, where=n_answers > 0)
    return LeaveOneOutAgreement(annotation, case)
