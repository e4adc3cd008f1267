"""Sparse probability of agreement beyond chance, where chance is two annotations of different cases.

Nørregaard & Derczynski, Sparse Probability of Agreement (2022); the interval is Fieller's (1954) for a ratio, held
open for one more case as in Chen, Variyath & Abraham (2008), DOI 10.1198/106186008X321068.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ._disagreement_kernels import disagreement_sums, jackknife_sums
from ._kernels import agreeing_pairs, class_shares, weighted_answers
from .coefficient_methods import SPA_SOURCE, coefficient_method
from .intervals import Coefficient, few_cases, undefined
from .linearised import NO_PAIR, ONE_CLASS, as_counts, total_of
from .probability import SPA_WEIGHTINGS, case_weights
from .ranges import least_beyond_chance


@dataclass(frozen=True, slots=True, eq=False)
class _Disagreements:
    """Disagreement within cases, ``x = 1 − P``, and between them, ``y = 1 − P_e``, with their covariance."""

    x: float
    y: float
    v: np.ndarray
    n_cases: int


def spa_corrected(data: ClassCounts | Dataset, weighting: str = SPA_WEIGHTINGS[0], level: float = 0.95) -> Coefficient:
    """``1 − (1 − P)/(1 − P_e)``, P the sparse probability of agreement.

    Parameters
    ----------
    data : ClassCounts or Dataset
    weighting : str
        Of P: one of `SPA_WEIGHTINGS`.
    level : float
        Of the interval, 0 to 1.

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
    rarest and the commonest. Ends move by about one case's worth, hence little in large or balanced data.
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
        return undefined("spa_corrected", weighting, "chance is between cases, and there is only one", m, n_annotations)
    found = _disagreements(counts, weighting)
    value = 1 - found.x / found.y
    if m < 2 or n_cases < 3:
        why = "undetermined interval: only one case" if m < 2 else "undetermined interval: only two cases"
        return Coefficient("spa_corrected", weighting, value, None, None, None, m, n_annotations, why)
    se = _standard_error(found)
    ends = _interval(counts, total, found, weighting, max(2, round(n_annotations / m)), level)
    if ends is None:
        note = "undetermined interval: agreement by chance may be 1"
        return Coefficient("spa_corrected", weighting, value, se, None, None, m, n_annotations, note)
    sizes = n[usable]
    own = bool(usable[rated].all() and (sizes == sizes[0]).all())
    low = max(ends[0], least_beyond_chance(sizes, 1 - found.y, None, own))
    return Coefficient("spa_corrected", weighting, value, se, low, ends[1], m, n_annotations, few_cases(m))


def _interval(
    counts: ClassCounts, total: np.ndarray, found: _Disagreements, weighting: str, size: int, level: float
) -> tuple[float, float] | None:
    """Fieller's ends, each moved by one more case of ``size`` annotations; None where chance may be 1."""
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


def _disagreements(counts: ClassCounts, weighting: str) -> _Disagreements:
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    _, total = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes, counts.times)
    weight = case_weights(counts, n, weighting)
    sums, n_cases, m = disagreement_sums(n, pairs, weight, counts.times)
    above, all_weight, size, squares, in_pairs = sums.tolist()
    alike, every = float(total @ total) - in_pairs - size, size**2 - squares
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
    """Both ends of ``1 − x/y``, the upper one not cut at 1; None where y may be 0."""
    from scipy.special import stdtrit

    x, y, v = found.x, found.y, found.v
    t2 = float(stdtrit(found.n_cases - 1, (1 + level) / 2)) ** 2
    a, b, c = (float(end) for end in (y * y - t2 * v[1, 1], x * y - t2 * v[0, 1], x * x - t2 * v[0, 0]))
    if a <= 0:
        return None, None
    root = float(np.sqrt(max(0.0, b * b - a * c)))
    return 1 - (b + root) / a, 1 - (b - root) / a


def _extreme_classes(counts: ClassCounts, total: np.ndarray) -> tuple[int, int]:
    """The rarest class that was used, and the commonest.

    Of classes as common as each other that counts as rarer whose annotations stand on more cases, next to rarer
    classes: a choice that the order of the classes does not make.
    """
    used = np.flatnonzero(total)
    of_used = total[used]
    alike = (of_used == of_used.min()) | (of_used == of_used.max())
    if np.count_nonzero(alike) > 2:
        together = np.repeat(weighted_answers(counts.ptr, counts.class_code, counts.count, total), np.diff(counts.ptr))
        alike_cases = np.repeat(counts.times, np.diff(counts.ptr)) if counts.times.size else 1
        apart, near = (
            np.bincount(counts.class_code, counts.count * weight * alike_cases, counts.n_classes)[used]
            for weight in (counts.count, together)
        )
        used = used[np.lexsort((near, apart))]
    return int(used[np.argmin(total[used])]), int(used[len(used) - 1 - np.argmax(total[used][::-1])])


def _with_case(counts: ClassCounts, answers: dict[int, int]) -> ClassCounts:
    """The counts with one more case, of these classes and how often each was given."""
    classes = sorted(answers)
    return ClassCounts(
        np.append(counts.ptr, counts.ptr[-1] + len(classes)),
        np.append(counts.class_code, np.array(classes, counts.class_code.dtype)),
        np.append(counts.count, np.array([answers[k] for k in classes], counts.count.dtype)),
        counts.n_classes,
        np.append(counts.times, 1) if counts.times.size else counts.times,
    )


METHOD = coefficient_method(
    "spa_corrected",
    "SPA beyond chance",
    spa_corrected,
    lambda asked: [spa_corrected(asked.counts, level=asked.level)],
    plainly="Agreement weighted by the number of annotations, beyond what annotations of different cases share by "
    "chance.",
    exactly="(P − P_e)/(1 − P_e), P_e between cases; Fieller interval on 1 − P and 1 − P_e (jackknife covariance).",
    sources=(SPA_SOURCE,),
    assumes="as SPA; chance is agreement between different cases.",
    place=30,
    beyond_chance=True,
    says_how=False,
)
SPA_CORRECTED = METHOD.name
