"""Percent agreement and Fleiss' kappa for any number of raters, with gaps; and all coefficients in one table.

Gwet, Handbook of Inter-Rater Reliability (2014), linearised variance over cases.
"""

from collections.abc import Sequence

import numpy as np

from core.agreement._kernels import agreeing_pairs, class_shares, weighted_answers
from core.agreement.intervals import Coefficient, undefined, with_t_interval
from core.agreement.krippendorff import krippendorff_alpha
from core.agreement.probability import SPA_WEIGHTINGS, spa
from core.annotations.counts import ClassCounts

NO_PAIR = "no case has two annotations"


def percent_agreement(counts: ClassCounts, level: float = 0.95) -> Coefficient:
    """Mean over cases of the share of agreeing pairs of annotations; cases with two annotations or more."""
    n, p_ai, usable = _observed(counts)
    rated = n >= 1
    m = int(usable.sum())
    if m == 0:
        return undefined("percent", "identity", NO_PAIR)
    value, variance, n_cases = _linearised(p_ai[rated], usable[rated])
    return with_t_interval("percent", "identity", value, variance, n_cases - 1, m, int(n[usable].sum()), level)


def fleiss_kappa(counts: ClassCounts, level: float = 0.95) -> Coefficient:
    """Fleiss' kappa: chance is two draws from the class shares averaged over cases.

    Cases with one annotation count for the class shares and the variance, not for observed agreement.
    """
    n, p_ai, usable = _observed(counts)
    rated = n >= 1
    m, n_annotations = int(usable.sum()), int(n[usable].sum())
    if m == 0:
        return undefined("fleiss_kappa", "identity", NO_PAIR)
    share, _ = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes)
    pi = share / rated.sum()
    p_e = float(pi @ pi)
    if p_e >= 1 or np.count_nonzero(share) < 2:
        return undefined("fleiss_kappa", "identity", "only one class was used; raw agreement is 1", m, n_annotations)
    p_ei = weighted_answers(counts.ptr, counts.class_code, counts.count, pi)[rated] / n[rated]
    value, variance, n_cases = _linearised(p_ai[rated], usable[rated], p_e, p_ei)
    return with_t_interval("fleiss_kappa", "identity", value, variance, n_cases - 1, m, n_annotations, level)


def agreement_table(
    counts: ClassCounts, *, level: float = 0.95, spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1]
) -> list[Coefficient]:
    """Every coefficient that single classes allow, each with n and its interval.

    Parameters
    ----------
    counts : ClassCounts
        See `core.annotations.counts.class_counts`.
    level : float
        Of the intervals, 0 to 1.
    spa_weightings : sequence of str
        Which of `SPA_WEIGHTINGS` to list.
    """
    return [
        percent_agreement(counts, level),
        *(spa(counts, weighting, level) for weighting in spa_weightings),
        fleiss_kappa(counts, level),
        krippendorff_alpha(counts, level),
    ]


def _observed(counts: ClassCounts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable = n >= 2
    p_ai = np.zeros(n.size)
    np.divide(pairs, n * (n - 1), out=p_ai, where=usable)
    return n, p_ai, usable


def _linearised(
    p_ai: np.ndarray, usable: np.ndarray, p_e: float = 0.0, p_ei: np.ndarray | None = None
) -> tuple[float, float, int]:
    """Coefficient, its variance, and the number of cases with at least one annotation."""
    n_cases, m = usable.size, int(usable.sum())
    p_a = float(p_ai[usable].mean())
    kappa = (p_a - p_e) / (1 - p_e)
    influence = np.where(usable, n_cases / m * (p_ai - p_e) / (1 - p_e), 0.0)
    if p_ei is not None:
        influence -= 2 * (1 - kappa) * (p_ei - p_e) / (1 - p_e)
    variance = float(((influence - kappa) ** 2).sum()) / (n_cases * (n_cases - 1)) if n_cases > 1 else 0.0
    return kappa, variance, n_cases
