"""Specific agreement: how often a second annotation has the same class as a first, by class.

Fleiss (1975), DOI 10.2307/2529549; Uebersax, Calculating specific agreement.
"""

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ._kernels import agreeing_pairs, class_errors, class_pairs
from .intervals import Coefficient, undefined
from .linearised import as_counts
from .probability import with_wilson_interval


def specific_agreement(data: ClassCounts | Dataset, level: float = 0.95) -> tuple[Coefficient, ...]:
    """Compute ``p_s(k) = Σ_i n_ik (n_ik − 1) / Σ_i n_ik (n_i − 1)`` of each class, in the declared order.

    The interval is Wilson's on the effective number of cases, from deleting each case in turn, as that of SPA.

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
    return tuple(found)
