"""Specific agreement: how often a second annotation has the same class as a first, by class.

Fleiss (1975), DOI 10.2307/2529549; Uebersax, Calculating specific agreement.
"""

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ._kernels import agreeing_pairs, class_errors, class_pairs
from .intervals import Coefficient, undefined
from .linearised import as_counts
from .probability import share_of_agreement, with_wilson_interval


def specific_agreement(data: ClassCounts | Dataset, level: float = 0.95) -> tuple[Coefficient, ...]:
    """Compute ``p_s(k) = Σ_i n_ik (n_ik − 1) / Σ_i n_ik (n_i − 1)`` of each class, in the declared order.

    The interval is Wilson's on the effective number of cases, from deleting each case in turn, as that of SPA. Of
    comparisons, the first and the last class are one: an annotation prefers the same item as another one.

    Parameters
    ----------
    data : ClassCounts or Dataset
    level : float
        Confidence level of the intervals, 0 to 1.

    Returns
    -------
    tuple of Coefficient, one for each class
        ``n_cases`` are those where the class was given and some other annotation stands, ``n_annotations`` the
        annotations of that class on them.
    """
    counts = as_counts(data)
    csr = counts.ptr, counts.class_code, counts.count
    answers, _ = agreeing_pairs(counts.ptr, counts.count)
    sums = class_pairs(*csr, answers, counts.n_classes)
    both, weight, given, cases, least, most = sums.T
    share = both / weight.clip(min=1)
    share[least == most] = most[least == most]  # so that rounding does not pass for an error
    errors = class_errors(*csr, answers, share, weight)
    found = []
    for k in range(counts.n_classes):
        if cases[k] == 0:
            why = "no case with two annotations has this class"
            found.append(undefined("specific_agreement", "identity", why))
            continue
        squares, kish, largest = errors[k]
        found.append(
            with_wilson_interval(
                "specific_agreement",
                "identity",
                float(share[k]),
                float(squares),
                float(largest),
                float(kish),
                int(cases[k]),
                int(given[k]),
                level,
            )
        )
    if counts.mirrored and found[0].n_cases + found[-1].n_cases:
        found[0] = found[-1] = _either_item(counts, answers, level)
    return tuple(found)


def _either_item(counts: ClassCounts, answers: np.ndarray, level: float) -> Coefficient:
    """Return how often a second annotation prefers the same item, if the first prefers one."""
    case = np.repeat(np.arange(counts.n_cases), np.diff(counts.ptr))
    own = (counts.class_code == 0) | (counts.class_code == counts.n_classes - 1)
    given, alike = (
        np.bincount(case[own], part[own], counts.n_cases)
        for part in (counts.count, counts.count * (counts.count - 1.0))
    )
    used = (answers >= 2) & (given > 0)
    weight = given[used] * (answers[used] - 1)
    return share_of_agreement(
        "specific_agreement", "identity", alike[used] / weight, weight, level, int(given[used].sum())
    )
