"""Sparse probability of agreement: the chance that two annotations of a case agree.

Nørregaard & Derczynski, Sparse Probability of Agreement (2022).
"""

import numpy as np

from core.agreement._kernels import agreeing_pairs, class_shares
from core.agreement.intervals import Coefficient, few_cases, undefined, wilson
from core.annotations.counts import ClassCounts

SPA_WEIGHTINGS = ("annotations_m1", "flat", "annotations", "edges", "inv_var", "inv_var_class")


def case_agreement(counts: ClassCounts) -> tuple[np.ndarray, np.ndarray]:
    """Agreement of each case, ``P_i = Σ_c n_ic (n_ic − 1) / (n_i (n_i − 1))`` [SPA eq. 1], and n_i.

    Returns
    -------
    agreement : ndarray of float64, shape (n_cases,)
        NaN where a case has fewer than two annotations.
    annotations : ndarray of float64, shape (n_cases,)
    """
    answers, pairs = agreeing_pairs(counts.ptr, counts.count)
    agreement = np.full(counts.n_cases, np.nan)
    np.divide(pairs, answers * (answers - 1), out=agreement, where=answers >= 2)
    return agreement, answers


def spa(counts: ClassCounts, weighting: str = "annotations_m1", level: float = 0.95) -> Coefficient:
    """Sparse probability of agreement with a Wilson interval on the effective number of cases.

    Parameters
    ----------
    counts : ClassCounts
    weighting : str
        One of `SPA_WEIGHTINGS`; ``annotations_m1`` does best in the paper's table 1.
    level : float
        Of the interval, 0 to 1.

    Notes
    -----
    The standard error is that of the delete-one-case jackknife; ``n_eff = P(1−P)/SE²`` (Kish where SE is 0), Student's
    t on m − 1 degrees of freedom. ``inv_var_class`` takes the class distribution from the data.
    """
    agreement, answers = case_agreement(counts)
    usable = answers >= 2
    m, n_annotations = int(usable.sum()), int(answers[usable].sum())
    if m == 0:
        return undefined("spa", weighting, "no case has two annotations")
    weight = _weights(counts, answers, weighting)[usable]
    agreement = agreement[usable]
    share = weight / weight.sum()
    alike = bool((agreement == agreement[0]).all())
    p = float(agreement[0] if alike else share @ agreement)
    if m < 2 or share.max() >= 1:
        return Coefficient(
            "spa", weighting, p, None, None, None, m, n_annotations, "undetermined interval: only one case"
        )

    from scipy.special import stdtrit

    influence = share * (agreement - p) / (1 - share)  # exactly 0 where all cases agree alike
    se = float(np.sqrt((m - 1) / m * (influence @ influence)))
    n_eff = p * (1 - p) / se**2 if se > 0 else 1 / float(share @ share)
    low, high = wilson(p, n_eff, float(stdtrit(m - 1, (1 + level) / 2)))
    return Coefficient("spa", weighting, p, se, low, high, m, n_annotations, few_cases(m))


def _weights(counts: ClassCounts, n: np.ndarray, weighting: str) -> np.ndarray:
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
        _, pooled = class_shares(counts.ptr, counts.class_code, counts.count, n, 2, counts.n_classes)
        p = pooled / pooled.sum()
        s2, s3 = float(p @ p), float(p @ (p * p))
        rho = (s3 - s2 * s2) / (s2 - s2 * s2) if s2 < 1 else 0.0
        return n * (n - 1) / (1 + 2 * rho * (n - 2))
    raise ValueError(f"weighting must be one of {', '.join(SPA_WEIGHTINGS)}, not {weighting!r}")
