"""Certainty of a given label or set: a gold label, a second opinion, a classifier's guesses.

``Certainty(C) = P(C = top-|C| set of λ)``, and beside it the probability that C holds the top-1 class
[Stutz et al., eq. 2-4].
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.validation import check_range, checked_integers
from ..errors import InputError
from ..plausibility.protocol import CaseDraws
from ..reducers.metrics import score_case
from ..result_base import Result


@dataclass(frozen=True, slots=True, repr=False)
class SetCertainty(Result):
    """Certainty of one set of classes on one case, with Monte Carlo standard errors.

    Attributes
    ----------
    is_top, is_top_se : float
        P(the set is the set of the most plausible classes, as many as it has).
    holds_top1, holds_top1_se : float
        P(the most plausible class is in the set).
    """

    is_top: float
    is_top_se: float
    holds_top1: float
    holds_top1_se: float

    TABLES = ("certainty",)
    COLUMNS = ("is_top", "is_top_se", "holds_top1", "holds_top1_se")


def set_certainty(draws: CaseDraws, class_codes: Sequence[int]) -> SetCertainty:
    """Certainty of a set of classes; a class that nobody named is one of the exchangeable rest.

    Parameters
    ----------
    draws : CaseDraws
        Whose ``top`` is at least as deep as the set is large.
    class_codes : sequence of int
        Distinct classes.

    Raises
    ------
    InputError
        The set is empty, names a class twice, or is larger than the draws tell apart.
    """
    codes = checked_integers(class_codes, "class_codes", np.int32)
    check_range(codes, "class_codes", 0, np.iinfo(np.int32).max, "a code of a class")
    if codes.size == 0 or np.unique(codes).size < codes.size:
        raise InputError("The set is empty or names a class twice.", "Name each class once.")
    if codes.size > draws.top.shape[1]:
        raise InputError(
            f"The set has {codes.size} classes, but the draws tell only the first {draws.top.shape[1]} places apart.",
            f"Give the plausibility model a depth of {codes.size}.",
        )
    scores = score_case(draws, codes, np.arange(codes.size), codes.size)
    is_top, holds = float(scores[2].mean()), float(scores[1].mean())
    return SetCertainty(is_top, _error(scores[2], draws.ess), holds, _error(scores[1], draws.ess))


def _error(values: np.ndarray, ess: float) -> float:
    return float(values.std() / np.sqrt(ess))
