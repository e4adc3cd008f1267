"""Sparse probability of agreement: the chance that two annotations of a case agree.

Nørregaard & Derczynski, Sparse Probability of Agreement (2022).
"""

from dataclasses import replace

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import OptionError
from ._kernels import agreeing_pairs, class_shares
from .coefficient_methods import SPA_SOURCE, coefficient_method
from .intervals import Coefficient, few_cases, undefined, wilson
from .linearised import NO_PAIR, as_counts, total_of
from .ranges import least_agreement

_ONCE = np.empty(0, np.int64)
SPA_WEIGHTINGS = ("annotations_m1", "flat", "annotations", "edges", "inv_var", "inv_var_class")


def case_agreement(data: ClassCounts | Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Agreement of each case, ``P_i = Σ_c n_ic (n_ic − 1) / (n_i (n_i − 1))`` [SPA eq. 1], and n_i.

    Returns
    -------
    agreement : ndarray of float64, shape (n_cases,)
        NaN where a case has fewer than two annotations.
    annotations : ndarray of float64, shape (n_cases,)
    """
    counts = as_counts(data)
    answers, pairs = agreeing_pairs(counts.ptr, counts.count)
    agreement = np.full(counts.n_cases, np.nan)
    np.divide(pairs, answers * (answers - 1), out=agreement, where=answers >= 2)
    return agreement, answers


def spa(data: ClassCounts | Dataset, weighting: str = "annotations_m1", level: float = 0.95) -> Coefficient:
    """Sparse probability of agreement with a Wilson interval on the effective number of cases.

    Parameters
    ----------
    data : ClassCounts or Dataset
    weighting : str
        One of `SPA_WEIGHTINGS`; ``annotations_m1`` does best in the paper's table 1.
    level : float
        Of the interval, 0 to 1.

    Notes
    -----
    The standard error is that of the delete-one-case jackknife; ``n_eff = P(1−P)/SE²`` (Kish where SE is 0), Student's
    t on m − 1 degrees of freedom. ``inv_var_class`` takes the class distribution from the data.
    """
    counts = as_counts(data)
    agreement, answers = case_agreement(counts)
    usable = answers >= 2
    times = counts.times[usable] if counts.times.size else counts.times
    n_annotations = int(total_of(answers[usable], times))
    if not usable.any():
        return undefined("spa", weighting, NO_PAIR)
    weight = case_weights(counts, answers, weighting)[usable]
    found = share_of_agreement("spa", weighting, agreement[usable], weight, level, n_annotations, times=times)
    counted = weight * times if times.size else weight
    return cut_at(found, least_agreement(answers[usable], counted, counts.n_classes, None))


def cut_at(found: Coefficient, least: float) -> Coefficient:
    """The coefficient, its interval cut at the least value that there is."""
    if found.ci_low is None or found.value is None or found.ci_low >= least:
        return found
    return replace(found, ci_low=min(least, found.value))


def share_of_agreement(
    name: str,
    weights: str,
    agreement: np.ndarray,
    weight: np.ndarray,
    level: float,
    n_annotations: int,
    unit: str = "case",
    times: np.ndarray = _ONCE,
) -> Coefficient:
    """Weighted mean of the agreement of units with its Wilson interval; arrays of shape (n_units,), at least one.

    Parameters
    ----------
    name, weights : str
        See `core.agreement.intervals.Coefficient`.
    agreement, weight : ndarray, shape (n_units,)
    level : float
        Of the interval, 0 to 1.
    n_annotations : int
    unit : str
        What is counted, for the remark.
    times : ndarray of int64, shape (n_units,) or (0,)
        How many units each stands for; empty for one each.
    """
    share = weight / total_of(weight, times)
    alike = bool((agreement == agreement[0]).all())
    of_all = share * times if times.size else share
    p = float(agreement[0] if alike else of_all @ agreement)
    # 0 where all are alike
    squares = total_of(np.square(share * (agreement - p) / np.maximum(1 - share, 1e-300)), times)
    largest, kish = float(share.max()), float(of_all @ share)
    m = int(times.sum()) if times.size else len(share)
    return with_wilson_interval(name, weights, p, squares, largest, kish, m, n_annotations, level, unit)


def with_wilson_interval(
    name: str,
    weights: str,
    p: float,
    squares: float,
    largest: float,
    kish: float,
    m: int,
    n_annotations: int,
    level: float,
    unit: str = "case",
) -> Coefficient:
    """A weighted mean p of m units with its jackknife error and Wilson's interval on the effective number of units.

    Parameters
    ----------
    name, weights : str
    p : float
        The mean, 0 to 1.
    squares : float
        Sum over units of (h_i (P_i − p) / (1 − h_i))², h_i their share of the weight.
    largest, kish : float
        The largest h_i, and the sum of h_i².
    m, n_annotations : int
        Units, and annotations of them.
    level : float
        Of the interval, 0 to 1.
    unit : str
        What a unit is, for the note.
    """
    if m < 2 or largest >= 1:
        note = f"undetermined interval: only one {unit}"
        return Coefficient(name, weights, p, None, None, None, m, n_annotations, note)

    from scipy.special import stdtrit

    p = min(1.0, p)
    se = float(np.sqrt((m - 1) / m * squares))
    n_eff = p * (1 - p) / se**2 if se > 0 else 1 / kish
    low, high = wilson(p, n_eff, float(stdtrit(m - 1, (1 + level) / 2)))
    return Coefficient(name, weights, p, se, low, high, m, n_annotations, few_cases(m))


def agreement_variance(n: np.ndarray | int, class_shares: np.ndarray) -> np.ndarray | float:
    """Variance of the agreement of a case with n independent annotations, drawn from ``class_shares``.

    ``( 2 (S2 − S2²) + 4 (n − 2) (S3 − S2²) ) / ( n (n − 1) )`` with ``S_m = Σ_c p_c^m``: the closed form,
    O(classes), of [SPA eq. 41] for uniform classes and of [SPA eq. 50] for any. Equations 21 and 22 are misprinted:
    21 doubles the wrong terms, 22 lacks the division by the squared number of pairs.

    Parameters
    ----------
    n : int, or ndarray of them
        Annotations on the case, at least 2.
    class_shares : ndarray of float64, shape (n_classes,)
        Sum to 1.
    """
    p = np.asarray(class_shares, np.float64)
    s2, s3 = float(p @ p), float(p @ (p * p))
    return (2 * (s2 - s2 * s2) + 4 * (n - 2) * (s3 - s2 * s2)) / (n * (n - 1))


def case_weights(counts: ClassCounts, n: np.ndarray, weighting: str) -> np.ndarray:
    """Weight of each case before it is scaled, by one of `SPA_WEIGHTINGS`; only cases with n of 2 or more count.

    Parameters
    ----------
    counts : ClassCounts
    n : ndarray, shape (n_cases,)
        Annotations of each case.
    weighting : str
        One of `SPA_WEIGHTINGS`.
    """
    if weighting == "flat":
        return np.ones_like(n)
    if weighting == "annotations":
        return n
    if weighting == "annotations_m1":
        return n - 1
    if weighting in ("edges", "inv_var"):
        # Under uniform classes S3 = S2², and 1/var is the number of pairs up to scale.
        return n * (n - 1) / 2
    if weighting == "inv_var_class":
        _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, n, 2, counts.n_classes, counts.times)
        p = pooled / pooled.sum()
        s2, s3 = float(p @ p), float(p @ (p * p))
        rho = (s3 - s2 * s2) / (s2 - s2 * s2) if s2 < 1 else 0.0
        return n * (n - 1) / (1 + 2 * rho * np.maximum(n - 2, 0))
    raise OptionError(f"weighting must be one of {', '.join(SPA_WEIGHTINGS)}, not {weighting!r}")


METHOD = coefficient_method(
    "spa",
    "Sparse probability of agreement",
    spa,
    lambda asked: [spa(asked.counts, weighting, asked.level) for weighting in asked.spa_weightings],
    plainly="The same question, but cases with more annotations may count for more.",
    exactly="Sparse probability of agreement, Σ wᵢPᵢ / Σ wᵢ; Wilson interval on the jackknife's effective n "
    "(Nørregaard & Derczynski 2022).",
    sources=(SPA_SOURCE,),
    assumes="each annotation of a case was as likely to be asked for, whatever the others said.",
    place=20,
    says_how=False,
)
SPA = METHOD.name
