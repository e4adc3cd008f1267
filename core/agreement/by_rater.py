"""Each rater against the others: agreement on the same cases, and what the overall coefficient is without them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import counting_sort
from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError, OptionError
from ..result_base import Columns, Result, rows
from ..settings import current_settings
from ._kernels import agreeing_pairs, class_shares
from ._rater_kernels import agreement_of_runs, without_each_rater
from .coefficients import FLEISS_KAPPA, PERCENT, fleiss_kappa, percent_agreement
from .intervals import Coefficient, undefined
from .krippendorff import KRIPPENDORFF_ALPHA, krippendorff_alpha
from .probability import SPA, spa, with_wilson_interval

OVERALL: dict[str, Callable[..., Coefficient]] = {
    PERCENT: percent_agreement,
    SPA: spa,
    FLEISS_KAPPA: fleiss_kappa,
    KRIPPENDORFF_ALPHA: krippendorff_alpha,
}


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
        The same without the rater; None where it is undefined then.
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
    """Agreement of each rater with the others, and the overall coefficient with each rater left out in turn.

    The interval of a rater's agreement is Wilson's on the effective number of the rater's cases, each case counting
    with its pairs. All raters together take one walk over the annotations.

    Parameters
    ----------
    dataset : Dataset
        Of single classes, with raters who are identified.
    coefficient : str
        The one to leave raters out of: one of `OVERALL`, SPA with the weighting ``annotations_m1``.
    level : float
        Of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    LimitError
        Raters by classes are more than a model may have.
    """
    if coefficient not in OVERALL:
        raise OptionError(f"coefficient must be one of {', '.join(OVERALL)}, not {coefficient!r}")
    if dataset.kind != "class":
        raise NotApplicableError(f"Raters are compared on single classes; these are {dataset.kind}s.")
    if not dataset.raters_identified:
        raise NotApplicableError("The annotations are anonymous, so no rater can be compared with the others.")
    limit = current_settings().max_model_cells
    if dataset.n_raters * dataset.n_classes > limit:
        raise LimitError(
            f"{dataset.n_raters:,} raters by {dataset.n_classes:,} classes are more than the limit of {limit:,}. "
            "Select fewer raters."
        )
    counts = class_counts(dataset)
    csr = counts.ptr, counts.class_code, counts.count
    walk = *counting_sort(dataset.rater, dataset.n_raters), dataset.case_of_annotation, dataset.answer
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    mean_share, _ = class_shares(*csr, n, 1, counts.n_classes, counts.times)
    _, pooled = class_shares(*csr, n, 2, counts.n_classes, counts.times)
    values, left = without_each_rater(*walk, *csr, n, pairs, mean_share, pooled)
    overall = OVERALL[coefficient](counts, level=level)
    without = tuple(None if np.isnan(x) else float(x) for x in values[:, list(OVERALL).index(coefficient)])
    difference = tuple(None if x is None or overall.value is None else x - overall.value for x in without)
    each = _with_others(agreement_of_runs(*walk, *csr, counts.n_classes), dataset.n_raters, level)
    return AgreementByRater(dataset.raters, each, overall, without, difference, tuple(left.tolist()))


def _with_others(runs: tuple[np.ndarray, ...], n_raters: int, level: float) -> tuple[Coefficient, ...]:
    rater, pairs, agree, mine = (array[runs[1] > 0] for array in runs)
    total = np.bincount(rater, pairs, n_raters)
    value = np.bincount(rater, agree, n_raters) / np.maximum(total, 1)
    share = pairs / total[rater]
    own = agree / pairs
    errors = (share * (own - value[rater]) / np.maximum(1 - share, 1e-300)) ** 2
    errors[np.abs(own - value[rater]) < 1e-12] = 0.0  # rounding does not pass for an error
    squares, kish = np.bincount(rater, errors, n_raters), np.bincount(rater, share * share, n_raters)
    n_cases, answers = np.bincount(rater, minlength=n_raters), np.bincount(rater, mine, n_raters)
    largest = np.zeros(n_raters)
    np.maximum.at(largest, rater, share)
    return tuple(
        undefined("with_others", "edges", "nobody else annotated this rater's cases")
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
