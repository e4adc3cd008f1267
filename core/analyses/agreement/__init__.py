"""Agreement of raters: the parts of the analysis, with their options."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...agreement.by_rater import OVERALL
from ...agreement.coefficient_methods import CoefficientMethod, any_coefficient
from ...agreement.krippendorff import KRIPPENDORFF_ALPHA
from ...agreement.pairs import METHOD as PAIRS
from ...agreement.pairs import pair_coefficients
from ...agreement.probability import SPA_WEIGHTINGS
from ...annotations.dataset import Dataset
from ...methods import Verdict, can_use, method_named
from ..base import Analysis, AnalysisPart, declared_in, option, part_of


def _title(name: str) -> str:
    return method_named(CoefficientMethod, name).title


WINDOWS = {
    "period": "Automatic",
    "week": "Weeks",
    "month": "Months",
    "quarter": "Quarters",
    "year": "Years",
    "cases": "Equal numbers of cases",
}


@dataclass(frozen=True, slots=True)
class ApplicableOptions:
    """Options of the coefficients that suit the annotations."""

    level: float = option(0.95, "The confidence level of the intervals")
    spa_weightings: tuple[str, ...] = SPA_WEIGHTINGS


@dataclass(frozen=True, slots=True)
class PairOptions:
    """Options of agreement between pairs of raters."""

    coefficient: str = option(
        pair_coefficients()[0], "Coefficient", pair_coefficients(), _title, PAIRS, "pair_coefficient"
    )


@dataclass(frozen=True, slots=True)
class RaterOptions:
    """Options of agreement of each rater with the others."""

    coefficient: str = option(
        KRIPPENDORFF_ALPHA, "Coefficient, with and without each rater", tuple(OVERALL), _title, "without the rater",
        "without_coefficient",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class WindowOptions:
    """Options of agreement in windows of time."""

    by: str = option(
        "period", "Windows", tuple(WINDOWS), WINDOWS.__getitem__, key="windows", look="side by side",
        help="Windows of equal duration, or of equal numbers of cases",
    )  # fmt: skip


def _several(dataset: Dataset) -> Verdict:
    found = any_coefficient(dataset)
    if not found.possible or (np.diff(dataset.case_ptr) > 1).any():
        return found
    return Verdict(found.method, found.title, False, "no case has two annotations")


def _pairs(dataset: Dataset) -> Verdict:
    return can_use(PAIRS, dataset)


def _dated(dataset: Dataset) -> Verdict:
    found = any_coefficient(dataset)
    if not found.possible or dataset.time is not None:
        return found
    why = "these annotations have no dates. Choose the date column when you open the file"
    return Verdict(found.method, found.title, False, why)


def _part(name: str, *what: Any) -> AnalysisPart:
    return part_of(f"{__name__}.{name}", name, *what)


AGREEMENT = Analysis(
    "agreement",
    "Agreement",
    "How much do the raters agree?",
    (
        _part("coefficients", "Coefficients", any_coefficient, ApplicableOptions),
        _part("pairs", "Pairwise agreement", _pairs, PairOptions),
        _part("raters", "By rater", _pairs, RaterOptions),
        _part("classes", "By class", any_coefficient),
        _part("cases", "Cases", any_coefficient),
        _part("weightings", "Weightings", _several),
        _part("time", "Over time", _dated, WindowOptions),
        _part("precision", "Precision and sample size", any_coefficient),
        *declared_in(__name__),
    ),
)
