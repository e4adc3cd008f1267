"""Agreement of partial rankings: each rater with the others' first choice, and average overlap of two raters.

Stutz et al., Evaluating AI systems under uncertain ground truth, appendices B.5 and D.
"""

from collections.abc import Sequence

import numpy as np

from ..annotations.dataset import Dataset
from ..methods import AS_IS, UGT
from ..rankings.irn import Ties
from ..rankings.leave_one_out import leave_one_out
from ..rankings.overlap import rater_overlaps
from .coefficient_methods import CoefficientMethod
from .intervals import Coefficient, undefined
from .probability import share_of_agreement

DEPTHS = (1, 2, 3)
NO_OTHERS = "no case has two raters"


def ranking_agreement(
    dataset: Dataset, depths: Sequence[int] = DEPTHS, level: float = 0.95, ties: Ties = "split"
) -> list[Coefficient]:
    """Compute leave-one-rater-out top-1 agreement and mean average overlap to each depth, as means over cases.

    Every case with two raters or more counts the same; intervals are over cases, Wilson's on their effective number.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings, or of single classes.
    depths : sequence of int
        L of the overlaps; those beyond the number of classes are left out.
    level : float
        Confidence level of the intervals, 0 to 1.
    ties : {"split", "full"}
        Rule by which tied classes share their block's weight; see `core.rankings.irn.irn`.

    Returns
    -------
    list of Coefficient
        Named "leave_one_out_top1", then "mean_average_overlap" with ``weights`` "L = 1" and so on.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    InputError
        A depth below 1.
    """
    n = np.diff(dataset.case_ptr)
    found = [_over_cases("leave_one_out_top1", f"ties {ties}", leave_one_out(dataset, ties).case, n, level)]
    for depth in sorted({depth for depth in depths if depth <= dataset.n_classes}):
        overlaps = rater_overlaps(dataset, depth)
        found.append(_over_cases("mean_average_overlap", f"L = {depth}", overlaps.mean_ao, n, level))
    return found


def _over_cases(name: str, weights: str, values: np.ndarray, n: np.ndarray, level: float) -> Coefficient:
    defined = ~np.isnan(values)
    if not defined.any():
        return undefined(name, weights, NO_OTHERS)
    values = values[defined]
    return share_of_agreement(name, weights, values, np.ones(len(values)), level, int(n[defined].sum()))


METHODS = (
    CoefficientMethod(
        "leave_one_out_top1",
        "First choice of the others",
        ranking_agreement,
        lambda asked: ranking_agreement(asked.dataset, (), asked.level),
        plainly="How often a rater's first choice is also that of the other raters.",
        exactly="Share of raters whose first choice is the top-1 class of the IRN of all other raters, with ties "
        "shared (Stutz et al., appendix D).",
        sources=(UGT,),
        takes={"ranking": AS_IS},
        assumes="compares each rater with all other raters combined.",
        place=120,
        says_how=False,
    ),
    CoefficientMethod(
        "mean_average_overlap",
        "Average overlap",
        ranking_agreement,
        lambda asked: ranking_agreement(asked.dataset, DEPTHS, asked.level)[1:],
        plainly="Overlap between two differential diagnoses; the top places count most.",
        exactly="Mean average overlap@L of two raters' rankings with ties, normalised by the overlap of "
        "each ranking with itself. Wilson interval over cases (Stutz et al., B.5).",
        sources=(UGT,),
        takes={"ranking": AS_IS},
        assumes="higher ranks count more than lower ones.",
        place=130,
    ),
)
LEAVE_ONE_OUT_TOP1, MEAN_AVERAGE_OVERLAP = (method.name for method in METHODS)
