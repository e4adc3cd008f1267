"""Sparse probability of agreement beyond chance, where chance is two annotations of different cases.

Nørregaard & Derczynski, Sparse Probability of Agreement (2022); the interval is Fieller's (1954) for a ratio.
"""

import numpy as np

from core.agreement._kernels import agreeing_pairs, class_shares, weighted_answers
from core.agreement.intervals import Coefficient, few_cases, undefined
from core.agreement.linearised import NO_PAIR, ONE_CLASS, as_counts
from core.agreement.probability import SPA_WEIGHTINGS, case_weights
from core.annotations.counts import ClassCounts
from core.annotations.dataset import Dataset


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
    nearly all of its bias in small data. The interval is Fieller's on 1 − P and 1 − P_e, with their covariance by
    deleting every annotated case in turn (weights of P stay) and Student's t; the standard error is that of the
    delta method. Where a class is so rare that the data may have missed it, the interval covers less than it says.
    """
    counts = as_counts(data)
    n, pairs = agreeing_pairs(counts.ptr, counts.count)
    usable, rated = n >= 2, n >= 1
    m, n_cases, n_annotations = int(usable.sum()), int(rated.sum()), int(n[usable].sum())
    if m == 0:
        return undefined("spa_corrected", weighting, NO_PAIR)
    _, total = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes)
    if np.count_nonzero(total) < 2:
        return undefined("spa_corrected", weighting, ONE_CLASS, m, n_annotations)
    if n_cases < 2:
        return undefined("spa_corrected", weighting, "chance is between cases, and there is only one", m, n_annotations)
    agreement = np.zeros(n.size)
    np.divide(pairs, n * (n - 1), out=agreement, where=usable)
    weight = np.where(usable, case_weights(counts, n, weighting), 0.0)
    mine = weighted_answers(counts.ptr, counts.class_code, counts.count, total)
    agreement, weight, n, mine, within = (
        array[rated] for array in (agreement, weight, n, mine, (pairs + n).astype(float))
    )
    size = float(n.sum())
    alike, every = float(total @ total) - float(within.sum()), size**2 - float(n @ n)
    x, y = float(weight @ (1 - agreement)) / float(weight.sum()), 1 - alike / every
    value = 1 - x / y
    if m < 2 or n_cases < 3:
        why = "undetermined interval: only one case" if m < 2 else "undetermined interval: only two cases"
        return Coefficient("spa_corrected", weighting, value, None, None, None, m, n_annotations, why)
    # Deleting a case takes from Σ N_c² its 2 N_c n_ic − n_ic² and from N² its 2 N n_i − n_i²; sums within cases go too.
    without = (alike - 2 * (mine - within)) / (every - 2 * (size - n) * n)
    dx = weight * (x - (1 - agreement)) / (weight.sum() - weight)
    dy = (1 - without) - y
    scale = (n_cases - 1) / n_cases
    return _fieller(weighting, x, y, scale * np.cov(dx, dy, bias=True) * n_cases, n_cases - 1, level, m, n_annotations)


def _fieller(
    weighting: str, x: float, y: float, v: np.ndarray, df: int, level: float, m: int, n_annotations: int
) -> Coefficient:
    from scipy.special import stdtrit

    ratio = x / y
    value = 1 - ratio
    se = float(np.sqrt(max(0.0, v[0, 0] - 2 * ratio * v[0, 1] + ratio**2 * v[1, 1]))) / y
    t2 = float(stdtrit(df, (1 + level) / 2)) ** 2
    a, b, c = y * y - t2 * v[1, 1], x * y - t2 * v[0, 1], x * x - t2 * v[0, 0]
    low = high = None
    if a <= 0:
        note = "undetermined interval: agreement by chance may be 1"
    elif se < 1e-12:
        note = "undetermined interval: all cases are alike, so that their differences show no error"
    else:
        root = float(np.sqrt(max(0.0, b * b - a * c)))
        low, high, note = 1 - (b + root) / a, min(1.0, 1 - (b - root) / a), few_cases(m)
    return Coefficient("spa_corrected", weighting, value, se, low, high, m, n_annotations, note)
