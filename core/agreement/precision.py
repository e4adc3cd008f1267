"""Precision of the sparse probability of agreement, now and with more annotations.

Cases differ: each has a class distribution p of its own, from which its annotations are drawn independently. The
agreement of a case with n annotations is a mean over M = n(n − 1)/2 pairs of annotations, and its variance over cases
and annotations is ``Var_n = [V2 + 2(n − 2) c1 + (n − 2)(n − 3)/2 · c0] / M`` with ``V2 = PA(1 − PA)``, ``c1 = E[S3] −
PA²`` of two pairs that share an annotation, ``c0 = E[S2²] − PA²`` of two that share none, and ``S_m = Σ_c p_c^m``, ``PA
= E[S2]``. It is what figure 6 of Nørregaard & Derczynski, Sparse Probability of Agreement (2022), finds by subsampling.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError, OptionError
from ..result_base import Columns, Result, rows
from ._kernels import power_sums
from .intervals import wilson
from .linearised import NO_PAIR, as_counts
from .probability import SPA_WEIGHTINGS, case_weights, paired_shares, weights_of_sizes

WAYS = ("new_cases", "present_cases")
EXTRA = (0, 100, 250, 500, 1000, 2500, 5000)


@dataclass(frozen=True, slots=True, repr=False)
class AgreementMoments(Result):
    """Moments that determine the variance of agreement; estimates, limited to possible values.

    Attributes
    ----------
    agreement : float
        PA: the sparse probability of agreement itself.
    v2 : float
        Variance of a case with two annotations.
    c1, c0 : float or None
        Covariance of two pairs of annotations of a case that share one annotation, and none; ``0 ≤ c0 ≤ c1 ≤ (V2 +
        c0)/2``. None if no case has three, or four, annotations.
    n_cases : tuple of int
        Cases with two, three and four annotations or more: what each of them rests on.
    """

    agreement: float
    v2: float
    c1: float | None
    c0: float | None
    n_cases: tuple[int, int, int]

    def extremes(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the (c1, c0) with the smallest and the largest variance; equal if both are known."""
        if self.c1 is None:
            return (0.0, 0.0), (self.v2, self.v2)
        if self.c0 is None:
            return (self.c1, max(0.0, 2 * self.c1 - self.v2)), (self.c1, self.c1)
        return (self.c1, self.c0), (self.c1, self.c0)


@dataclass(frozen=True, slots=True, repr=False)
class PrecisionPoint(Result):
    """Precision with a number of additional annotations.

    Attributes
    ----------
    extra : int
        Annotations added.
    n_cases, n_annotations : int
        Cases with two annotations or more, and their annotations, by then.
    se, width : float or None
        Standard error, and width of the Wilson interval. None if the data leave a range.
    se_range, width_range : tuple of float
        Least and largest that the data allow.
    """

    extra: int
    n_cases: int
    n_annotations: int
    se: float | None
    width: float | None
    se_range: tuple[float, float]
    width_range: tuple[float, float]


@dataclass(frozen=True, slots=True, repr=False)
class PrecisionCurve(Result):
    """Precision by number of additional annotations.

    Attributes
    ----------
    how : str
        One of `WAYS`.
    points : tuple of PrecisionPoint
    moments : AgreementMoments
    note : str
        Caution; empty if there is none.
    """

    how: str
    points: tuple[PrecisionPoint, ...]
    moments: AgreementMoments
    note: str

    TABLES = ("points",)

    def _columns(self, table: str, most: int | None) -> Columns:
        return {
            **rows(self.points, ("extra", "n_cases", "n_annotations", "se", "width")),
            "se_low": [point.se_range[0] for point in self.points],
            "se_high": [point.se_range[1] for point in self.points],
            "width_low": [point.width_range[0] for point in self.points],
            "width_high": [point.width_range[1] for point in self.points],
        }


def agreement_moments(data: ClassCounts | Dataset, weighting: str = SPA_WEIGHTINGS[0]) -> AgreementMoments:
    """Estimate moments without bias per case (see `core.agreement._kernels`), then limit them to their bounds.

    ``PA²`` is estimated from pairs of different cases, so that it does not hold the error of PA.

    Raises
    ------
    NotApplicableError
        Fewer than two cases have two annotations.
    """
    counts = as_counts(data)
    n, (s2, s3, s2_squared) = power_sums(counts.ptr, counts.count)
    usable = n >= 2
    if usable.sum() < 2:
        raise NotApplicableError(
            "Cannot compute the precision of agreement: this needs at least two cases with two or more annotations, "
            f"but {NO_PAIR if not usable.any() else 'there is only one'}."
        )
    weight, s2 = case_weights(counts, n, weighting)[usable], s2[usable]
    agreement = float(weight @ s2 / weight.sum())
    squares = weight * weight
    square = float(((weight @ s2) ** 2 - squares @ (s2 * s2)) / (weight.sum() ** 2 - squares.sum()))
    v2 = max(0.0, agreement - square)
    c1 = c0 = None
    if (n >= 3).any():
        c1 = min(max(float(np.average(s3[n >= 3], weights=n[n >= 3] - 2)) - square, 0.0), v2)
    if (n >= 4).any():
        c0 = min(max(float(np.average(s2_squared[n >= 4], weights=n[n >= 4] - 3)) - square, 0.0), v2)
        c1 = min(max(0.0 if c1 is None else c1, c0), (v2 + c0) / 2)
    return AgreementMoments(agreement, v2, c1, c0, (int((n >= 2).sum()), int((n >= 3).sum()), int((n >= 4).sum())))


def precision_curve(
    data: ClassCounts | Dataset,
    extra: Sequence[int] = EXTRA,
    how: str = "new_cases",
    *,
    per_case: int | None = None,
    weighting: str = SPA_WEIGHTINGS[0],
    level: float = 0.95,
) -> PrecisionCurve:
    """Compute standard error and interval width of SPA now and with more annotations.

    Parameters
    ----------
    data : ClassCounts or Dataset
    extra : sequence of int
        Numbers of annotations to add, each 0 or more.
    how : str
        "new_cases": on new cases of the same kind, with as many annotations as the present ones have, or with
        ``per_case`` each (whole cases only). "present_cases": each on a case that has the fewest by then.
    per_case : int, optional
        2 or more.
    weighting : str
        One of `SPA_WEIGHTINGS`.
    level : float
        Confidence level of the interval, 0 to 1.

    Raises
    ------
    NotApplicableError
        Fewer than two cases have two annotations.

    Notes
    -----
    Raters are taken as exchangeable, and cases as a sample: annotations on present cases cannot make the error smaller
    than the differences between cases leave it. Agreement itself is taken to stay as it is.
    """
    if how not in WAYS:
        raise OptionError(f"`how` must be one of {', '.join(WAYS)}; got {how!r}")
    if min(extra, default=0) < 0 or (per_case is not None and per_case < 2):
        raise OptionError("`extra` must be 0 or more, and `per_case` 2 or more")
    counts = as_counts(data)
    moments = agreement_moments(counts, weighting)
    n, cases = np.unique(counts.per_case(), return_counts=True)
    n, cases = n[n > 0].astype(float), cases[n > 0].astype(float)
    points = []
    for added in extra:
        n_then, cases_then = _filled(n, cases, added) if how == "present_cases" else (n, cases)
        if how == "new_cases" and per_case is None:
            cases_then = cases * (1 + added / float(n @ cases))
        elif how == "new_cases" and per_case is not None:
            n_then, cases_then = np.append(n, per_case), np.append(cases, added // per_case)
        usable = n_then >= 2
        points.append(_point(counts, moments, added, n_then[usable], cases_then[usable], weighting, level))
    few = [k for k, size in zip(("three", "four"), moments.n_cases[1:], strict=True) if 0 < size < 20]
    note = f"few cases have {few[-1]} annotations, so the curve is rough" if few else ""
    if any(point.se is None for point in points):
        known = "three" if moments.c1 is None else "four"
        note = f"no case has {known} annotations, so only a range can be estimated"
    return PrecisionCurve(how, tuple(points), moments, note)


def case_variance(n: np.ndarray, v2: float, c1: float, c0: float) -> np.ndarray:
    """Compute the variance of the agreement of a case with n annotations, over cases and annotations.

    Parameters
    ----------
    n : ndarray of float64, shape (n_cases,)
        Annotations of each case, 2 or more.
    v2 : float
        Variance of the agreement of one pair.
    c1, c0 : float
        Covariance of the agreement of two pairs that share an annotation, and of two that share none.
    """
    return (v2 + 2 * (n - 2) * c1 + (n - 2) * (n - 3) / 2 * c0) / (n * (n - 1) / 2)


def _point(
    counts: ClassCounts,
    moments: AgreementMoments,
    added: int,
    n: np.ndarray,
    cases: np.ndarray,
    weighting: str,
    level: float,
) -> PrecisionPoint:
    from scipy.special import stdtrit

    share = paired_shares(counts, counts.per_case().astype(float)) if weighting == "inv_var_class" else None
    weight = weights_of_sizes(n, weighting, share)
    share = weight / float(weight @ cases)
    t = float(stdtrit(float(cases.sum()) - 1, (1 + level) / 2))
    p, se, width = moments.agreement, [], []
    for c1, c0 in moments.extremes():
        variance = float((cases * share * share) @ case_variance(n, moments.v2, c1, c0))
        n_eff = p * (1 - p) / variance if variance > 0 else 1 / float(cases @ (share * share))
        low, high = wilson(p, n_eff, t)
        se.append(float(np.sqrt(variance)))
        width.append(high - low)
    known = bool(np.isclose(se[0], se[1], rtol=1e-9, atol=0))
    return PrecisionPoint(
        added,
        round(float(cases.sum())),
        round(float(n @ cases)),
        se[1] if known else None,
        width[1] if known else None,
        (se[0], se[1]),
        (width[0], width[1]),
    )


def _filled(n: np.ndarray, cases: np.ndarray, added: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers of annotations, and of cases with each, after adding to cases with the fewest; n ascending."""
    for levels in range(1, len(n) + 1):
        low = float(cases[:levels].sum())
        room = low * n[levels] - float(n[:levels] @ cases[:levels]) if levels < len(n) else np.inf
        if added < room:
            whole, rest = divmod(float(n[:levels] @ cases[:levels]) + added, low)
            return (
                np.concatenate([[whole, whole + 1], n[levels:]]),
                np.concatenate([[low - rest, rest], cases[levels:]]),
            )
    return n, cases
