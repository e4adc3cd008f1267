"""Sparse probability of agreement: the chance that two annotations of a case agree, and its value beyond chance.

Nørregaard & Derczynski, Sparse Probability of Agreement (2022). Chance is two annotations of different cases; the
interval of agreement beyond it is Fieller's (1954) for a ratio, held open for one more case as in Chen, Variyath &
Abraham (2008), DOI 10.1198/106186008X321068.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import OptionError
from ._kernels import agreeing_pairs, class_shares, disagreement_sums, jackknife_sums, weighted_answers
from .coefficient_methods import SPA_SOURCE, CoefficientMethod
from .formulas import Formula, beyond_chance, raw_agreement
from .intervals import Coefficient, few_cases, undefined, wilson
from .linearised import NO_PAIR, ONE_CLASS, as_counts, total_of
from .ranges import least_agreement, least_beyond_chance

_ONCE = np.empty(0, np.int64)
SPA_WEIGHTINGS = ("annotations_m1", "flat", "annotations", "edges", "inv_var", "inv_var_class")


def case_agreement(data: ClassCounts | Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Compute the agreement of each case, ``P_i = Σ_c n_ic (n_ic − 1) / (n_i (n_i − 1))`` [SPA eq. 1], and n_i.

    Returns
    -------
    agreement : ndarray of float64, shape (n_cases,)
        NaN if a case has fewer than two annotations.
    annotations : ndarray of float64, shape (n_cases,)
    """
    counts = as_counts(data)
    answers, pairs = agreeing_pairs(counts.ptr, counts.count)
    agreement = np.full(counts.n_cases, np.nan)
    np.divide(pairs, answers * (answers - 1), out=agreement, where=answers >= 2)
    return agreement, answers


@checked
def spa(data: ClassCounts | Dataset, weighting: str = "annotations_m1", level: float = 0.95) -> Coefficient:
    """Compute the sparse probability of agreement with a Wilson interval on the effective number of cases.

    Parameters
    ----------
    data : ClassCounts or Dataset
    weighting : str
        One of `SPA_WEIGHTINGS`; ``annotations_m1`` does best in the paper's table 1.
    level : float
        Confidence level of the interval, 0 to 1.

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
    """Return the coefficient with its interval cut at the smallest possible value."""
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
    """Compute the weighted mean agreement of units with its Wilson interval; arrays of shape (n_units,), at least one.

    Parameters
    ----------
    name, weights : str
        See `core.agreement.intervals.Coefficient`.
    agreement, weight : ndarray, shape (n_units,)
    level : float
        Confidence level of the interval, 0 to 1.
    n_annotations : int
    unit : str
        Name of the counted units, for the remark.
    times : ndarray of int64, shape (n_units,) or (0,)
        Number of units of each; empty for one each.
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
    """Compute a weighted mean p of m units with jackknife error and Wilson's interval on the effective number.

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
        Confidence level of the interval, 0 to 1.
    unit : str
        Name of a unit, for the note.
    """
    if m < 2 or largest >= 1:
        note = f"no interval: there is only one {unit}"
        return Coefficient(name, weights, p, None, None, None, m, n_annotations, note)

    from scipy.special import stdtrit

    p = min(1.0, p)
    se = float(np.sqrt((m - 1) / m * squares))
    n_eff = p * (1 - p) / se**2 if se > 0 else 1 / kish
    low, high = wilson(p, n_eff, float(stdtrit(m - 1, (1 + level) / 2)))
    return Coefficient(name, weights, p, se, low, high, m, n_annotations, few_cases(m))


def agreement_variance(n: np.ndarray | int, class_shares: np.ndarray) -> np.ndarray | float:
    """Compute the variance of the agreement of a case with n independent annotations, drawn from ``class_shares``.

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
    """Compute the unscaled weight of each case, by one of `SPA_WEIGHTINGS`; only cases with n of 2 or more count.

    Parameters
    ----------
    counts : ClassCounts
    n : ndarray, shape (n_cases,)
        Annotations of each case.
    weighting : str
        One of `SPA_WEIGHTINGS`.
    """
    return weights_of_sizes(n, weighting, paired_shares(counts, n) if weighting == "inv_var_class" else None)


def paired_shares(counts: ClassCounts, n: np.ndarray) -> np.ndarray:
    """Compute class shares of all annotations of cases with two or more, n being how many each case has."""
    _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, n, 2, counts.n_classes, counts.times)
    pooled = pooled + pooled[::-1] if counts.mirrored else pooled
    return pooled / pooled.sum()


def weights_of_sizes(n: np.ndarray, weighting: str, share: np.ndarray | None = None) -> np.ndarray:
    """Compute the unscaled weight of a case with n annotations.

    Parameters
    ----------
    n : ndarray of float64
    weighting : str
        One of `SPA_WEIGHTINGS`.
    share : ndarray of float64, shape (n_classes, ...), optional
        Class shares, for ``inv_var_class``.
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
    if weighting != "inv_var_class" or share is None:
        raise OptionError(f"`weighting` must be one of {', '.join(SPA_WEIGHTINGS)}; got {weighting!r}")
    s2, s3 = (share * share).sum(axis=0), (share * share * share).sum(axis=0)
    rho = np.where(s2 < 1, (s3 - s2 * s2) / np.where(s2 < 1, s2 - s2 * s2, 1.0), 0.0)
    return n * (n - 1) / (1 + 2 * rho * np.maximum(n - 2, 0))


@dataclass(frozen=True, slots=True, eq=False)
class _Disagreements:
    """Disagreement within cases, ``x = 1 − P``, and between them, ``y = 1 − P_e``, with their covariance."""

    x: float
    y: float
    v: np.ndarray
    n_cases: int


def spa_corrected(data: ClassCounts | Dataset, weighting: str = SPA_WEIGHTINGS[0], level: float = 0.95) -> Coefficient:
    """Compute ``1 − (1 − P)/(1 − P_e)``, P the sparse probability of agreement.

    Parameters
    ----------
    data : ClassCounts or Dataset
    weighting : str
        Weighting of P: one of `SPA_WEIGHTINGS`.
    level : float
        Confidence level of the interval, 0 to 1.

    Returns
    -------
    Coefficient
        The interval is undetermined, and the note says why, where the data could not bound it.

    Notes
    -----
    ``P_e = (Σ_c N_c² − Σ_i Σ_c n_ic²) / (N² − Σ_i n_i²)``: pairs of one case are left out of chance, which removes
    nearly all of its bias in small data. The interval starts from Fieller's on 1 − P and 1 − P_e, with their covariance
    by deleting every annotated case in turn (weights of P stay) and Student's t; the standard error is that of the
    delta method.

    Where one class holds nearly all annotations, a few cases of the others decide the coefficient, and data that happen
    to miss them know nothing of the error: Fieller's interval alone then covers down to 69%, this one 95% or more
    (``tests/benchmarks/coverage.py``). The upper end is the higher of Fieller's and that with one more case, agreed on
    the rarest class that was used; the lower end the lower of Fieller's and that with one more case, split between the
    rarest and the most common. Ends move by about one case's worth, hence little in large or balanced data.
    """
    counts = as_counts(data)
    n, _ = agreeing_pairs(counts.ptr, counts.count)
    usable, rated = n >= 2, n >= 1
    m, n_cases, n_annotations = (
        int(total_of(values, counts.times)) for values in (usable, rated, np.where(usable, n, 0.0))
    )
    if m == 0:
        return undefined("spa_corrected", weighting, NO_PAIR)
    _, total = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes, counts.times)
    if np.count_nonzero(total) < 2:
        return undefined("spa_corrected", weighting, ONE_CLASS, m, n_annotations)
    if n_cases < 2:
        return undefined(
            "spa_corrected", weighting, "chance agreement cannot be estimated from one case", m, n_annotations
        )
    found = _disagreements(counts, weighting)
    value = 1 - found.x / found.y
    if m < 2 or n_cases < 3:
        why = f"no interval: there {'is only one case' if m < 2 else 'are only two cases'}"
        return Coefficient("spa_corrected", weighting, value, None, None, None, m, n_annotations, why)
    se = _standard_error(found)
    ends = _interval(counts, total, found, weighting, max(2, round(n_annotations / m)), level)
    if ends is None:
        note = "no interval: chance agreement may be 1"
        return Coefficient("spa_corrected", weighting, value, se, None, None, m, n_annotations, note)
    sizes = n[usable]
    own = bool(usable[rated].all() and (sizes == sizes[0]).all())
    low = max(ends[0], least_beyond_chance(sizes, 1 - found.y, None, own))
    return Coefficient("spa_corrected", weighting, value, se, low, ends[1], m, n_annotations, few_cases(m))


def _interval(
    counts: ClassCounts, total: np.ndarray, found: _Disagreements, weighting: str, size: int, level: float
) -> tuple[float, float] | None:
    """Compute Fieller's ends, each moved by one more case of ``size`` annotations; None if chance may be 1."""
    rarest, commonest = _extreme_classes(counts, total)
    split = {rarest: size // 2, commonest: size - size // 2}
    (low, high), (_, above), (below, _) = (
        _fieller(one, level)
        for one in (
            found,
            _disagreements(_with_case(counts, {rarest: size}), weighting),
            _disagreements(_with_case(counts, split), weighting),
        )
    )
    if low is None or below is None or high is None:
        return None
    return min(low, below), 1.0 if above is None else min(1.0, max(high, above))


def pairs_of_cases(squares_of_classes: Any, pairs: Any, size: Any, squares: Any) -> tuple[Any, Any]:
    """Count ordered pairs of annotations of different cases: agreeing ones, and all; their ratio is chance agreement.

    Parameters
    ----------
    squares_of_classes, size, squares : float or ndarray
        Sums of the squares of how often each class was given, of the annotations of cases, and of their squares.
    pairs : float or ndarray
        Ordered pairs of equal annotations within cases.
    """
    return squares_of_classes - pairs - size, size * size - squares


def _disagreements(counts: ClassCounts, weighting: str) -> _Disagreements:
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    _, total = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes, counts.times)
    weight = case_weights(counts, n, weighting)
    sums, n_cases, m = disagreement_sums(n, pairs, weight, counts.times)
    above, all_weight, size, squares, in_pairs = sums.tolist()
    alike, every = pairs_of_cases(float(total @ total), in_pairs, size, squares)
    x, y = above / all_weight, 1 - alike / every
    if n_cases < 3 or m < 2:
        return _Disagreements(x, y, np.full((2, 2), np.nan), n_cases)
    csr = counts.ptr, counts.class_code, counts.count
    dx, dy, xx, xy, yy = jackknife_sums(
        *csr, n, pairs, weight, counts.times, total, x, y, alike, every, size, all_weight
    )
    v = np.array([[xx - dx * dx / n_cases, xy - dx * dy / n_cases], [xy - dx * dy / n_cases, yy - dy * dy / n_cases]])
    return _Disagreements(x, y, (n_cases - 1) / n_cases * v, n_cases)


def _standard_error(found: _Disagreements) -> float:
    ratio, v = found.x / found.y, found.v
    return float(np.sqrt(max(0.0, v[0, 0] - 2 * ratio * v[0, 1] + ratio**2 * v[1, 1]))) / found.y


def _fieller(found: _Disagreements, level: float) -> tuple[float, float] | tuple[None, None]:
    """Compute both ends of ``1 − x/y``, the upper one not cut at 1; None if y may be 0."""
    from scipy.special import stdtrit

    x, y, v = found.x, found.y, found.v
    t2 = float(stdtrit(found.n_cases - 1, (1 + level) / 2)) ** 2
    a, b, c = (float(end) for end in (y * y - t2 * v[1, 1], x * y - t2 * v[0, 1], x * x - t2 * v[0, 0]))
    if a <= 0:
        return None, None
    root = float(np.sqrt(max(0.0, b * b - a * c)))
    return 1 - (b + root) / a, 1 - (b - root) / a


def _extreme_classes(counts: ClassCounts, total: np.ndarray) -> tuple[int, int]:
    """Find the rarest class that was used, and the most common one.

    Of classes as common as each other that counts as rarer whose annotations stand on more cases, next to rarer
    classes, most evenly: a choice that the order of the classes does not make.
    """
    used = np.flatnonzero(total)
    of_used = total[used]
    alike = (of_used == of_used.min()) | (of_used == of_used.max())
    if np.count_nonzero(alike) > 2:
        together = np.repeat(weighted_answers(counts.ptr, counts.class_code, counts.count, total), np.diff(counts.ptr))
        alike_cases = np.repeat(counts.times, np.diff(counts.ptr)) if counts.times.size else 1
        apart, near, both, uneven = (
            np.bincount(counts.class_code, counts.count * weight * alike_cases, counts.n_classes)[used]
            for weight in (counts.count, together, counts.count * together, together * together)
        )
        used = used[np.lexsort((uneven, both, near, apart))]
    return int(used[np.argmin(total[used])]), int(used[len(used) - 1 - np.argmax(total[used][::-1])])


def _with_case(counts: ClassCounts, answers: dict[int, int]) -> ClassCounts:
    """Return the counts with one more case, of these classes and how often each was given."""
    classes = sorted(answers)
    return ClassCounts(
        np.append(counts.ptr, counts.ptr[-1] + len(classes)),
        np.append(counts.class_code, np.array(classes, counts.class_code.dtype)),
        np.append(counts.count, np.array([answers[k] for k in classes], counts.count.dtype)),
        counts.n_classes,
        np.append(counts.times, 1) if counts.times.size else counts.times,
    )


METHODS = (
    CoefficientMethod(
        "spa",
        "Sparse probability of agreement",
        spa,
        lambda asked: [spa(asked.counts, weighting, asked.level) for weighting in asked.spa_weightings],
        plainly="How often two raters gave the same case the same annotation. With most weightings, cases with more "
        "annotations count more.",
        exactly="Σ wᵢPᵢ / Σ wᵢ, where Pᵢ is the agreement on a case and wᵢ its weight. Wilson interval on the "
        "jackknife's effective n (Nørregaard & Derczynski 2022).",
        sources=(SPA_SOURCE,),
        assumes="assumes that the annotations of a case did not affect whether more were collected.",
        formula=Formula(raw_agreement, of="none", by_size=True, few_of_others=0),
        place=20,
        says_how=False,
    ),
    CoefficientMethod(
        "spa_corrected",
        "SPA beyond chance",
        spa_corrected,
        lambda asked: [spa_corrected(asked.counts, level=asked.level)],
        plainly="Agreement within cases beyond the agreement between annotations of different cases. Cases are "
        "weighted by their number of annotations.",
        exactly="(P − P_e)/(1 − P_e), where P_e is the agreement between annotations of different cases. Fieller "
        "interval on 1 − P and 1 − P_e (jackknife covariance).",
        sources=(SPA_SOURCE,),
        assumes="like SPA, but corrected for the agreement between annotations of different cases.",
        formula=Formula(beyond_chance, of="other cases", by_size=True),
        place=30,
        beyond_chance=True,
        says_how=False,
    ),
)
SPA, SPA_CORRECTED = (method.name for method in METHODS)
