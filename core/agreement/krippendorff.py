"""Krippendorff's alpha with the linearised interval of Gwet (2014).

Krippendorff, Content Analysis (2004). DOI of the coefficient's review: 10.1080/19312450709336664.
"""

import numpy as np

from core.agreement._kernels import agreeing_pairs, class_shares, weighted_answers
from core.agreement.intervals import Coefficient, undefined, with_t_interval
from core.annotations.counts import ClassCounts


def krippendorff_alpha(counts: ClassCounts, level: float = 0.95) -> Coefficient:
    """Nominal alpha over cases with two annotations or more, for any number of raters, with gaps.

    Parameters
    ----------
    counts : ClassCounts
    level : float
        Of the interval, 0 to 1.

    Notes
    -----
    ``α = (p_a − p_e)/(1 − p_e)`` with ``p_a = (1 − ε) p' + ε``, ε = 1/N, and class shares pooled over annotations.
    """
    answers, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable = answers >= 2
    m, n_total = int(usable.sum()), float(answers[usable].sum())
    if m == 0:
        return undefined("krippendorff_alpha", "nominal", "no case has two annotations")
    _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, answers, 2, counts.n_classes)
    pi = pooled / n_total
    p_e = float(pi @ pi)
    if p_e >= 1 or np.count_nonzero(pooled) < 2:
        return undefined(
            "krippendorff_alpha", "nominal", "only one class was used; raw agreement is 1", m, int(n_total)
        )
    expected = weighted_answers(counts.ptr, counts.class_code, counts.count, pi)[usable]
    n, pairs = answers[usable], pairs[usable]
    mean_n = n_total / m
    p_ai = pairs / (mean_n * (n - 1))
    p_mean = float(p_ai.mean())
    p_a = (1 - 1 / n_total) * p_mean + 1 / n_total
    alpha = (p_a - p_e) / (1 - p_e)
    centre = (p_mean - p_e) / (1 - p_e)
    excess = (n - mean_n) / mean_n
    kappa_i = (p_ai - p_a * excess - p_e) / (1 - p_e)
    p_ei = expected / mean_n - p_e * excess
    influence = kappa_i - 2 * (1 - centre) * (p_ei - p_e) / (1 - p_e)
    variance = float(((influence - centre) ** 2).sum()) / (m * (m - 1)) if m > 1 else 0.0
    return with_t_interval("krippendorff_alpha", "nominal", alpha, variance, m - 1, m, int(n_total), level)
