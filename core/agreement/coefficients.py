"""Percent agreement, Fleiss' kappa, Scott's pi, Gwet's AC and Brennan-Prediger for any number of raters, with gaps.

Gwet, Handbook of Inter-Rater Reliability (2014), linearised variance over cases.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError
from ._kernels import class_shares, weighted_answers
from .corrected_spa import spa_corrected
from .intervals import Coefficient, undefined
from .krippendorff import krippendorff_alpha
from .linearised import (
    NO_PAIR,
    Observed,
    as_counts,
    corrected,
    mind_rare_classes,
    observed,
    why_certain,
)
from .probability import SPA_WEIGHTINGS, spa
from .raters import REPEATS, check_raters, cohen_kappa, conger_kappa, raters_used, repeats_of
from .weights import Weights, resolve_weights

Labels = Sequence[float] | None
_FEW_FOR_AC = 5


def percent_agreement(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Mean over cases of the share of agreeing pairs of annotations; cases with two annotations or more.

    Parameters
    ----------
    data : ClassCounts or Dataset
        See `core.annotations.counts.class_counts`.
    level : float
        Of the interval, 0 to 1.
    weights, labels
        How far two classes agree: see `core.agreement.weights.weight_matrix`; or a matrix of one's own.
    """
    counts = as_counts(data)
    name, matrix = resolve_weights(weights, counts.n_classes, labels)
    return corrected("percent", name, observed(counts, matrix), level)


def fleiss_kappa(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Fleiss' kappa: chance is two draws from the class shares averaged over cases.

    Cases with one annotation count for the class shares and the variance, not for observed agreement. Parameters as
    of `percent_agreement`.
    """
    counts = as_counts(data)
    name, matrix = resolve_weights(weights, counts.n_classes, labels)
    seen = observed(counts, matrix)
    if seen.n_usable == 0:
        return undefined("fleiss_kappa", name, NO_PAIR)
    pi = _mean_shares(counts, seen)
    drawn = pi if matrix is None else matrix @ pi
    used = np.count_nonzero(pi)
    p_e = 1.0 if used < 2 else float(pi @ drawn)
    found = corrected("fleiss_kappa", name, seen, level, p_e, _per_case(counts, seen, drawn), why_certain(used))
    return mind_rare_classes(found, counts)


def scott_pi(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Scott's pi of two raters: Fleiss' kappa of two; parameters as of `percent_agreement`.

    Raises
    ------
    NotApplicableError
        There are not two identified raters, or some case has more than two annotations.
    """
    if isinstance(data, Dataset):
        check_raters(data, "Scott's pi", two=True)
    counts = as_counts(data)
    most = int(counts.per_case().max(initial=0))
    if isinstance(data, Dataset) and repeats_of(data):
        return undefined("scott_pi", resolve_weights(weights, counts.n_classes, labels)[0], REPEATS)
    if most > 2:
        raise NotApplicableError(f"Scott's pi is of two raters, and a case has {most} annotations. Use Fleiss' kappa.")
    return replace(fleiss_kappa(counts, level, weights, labels), name="scott_pi")


def gwet_ac(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Gwet's AC1, or AC2 with weights: chance is a random answer on a case that is hard to classify.

    ``p_e = T/(q(q−1)) Σ π_k (1 − π_k)`` with T the sum of the weights: it depends on the declared list of q classes.
    Parameters as of `percent_agreement`.
    """
    counts = as_counts(data)
    q = counts.n_classes
    name, matrix = resolve_weights(weights, q, labels)
    seen = observed(counts, matrix)
    if seen.n_usable == 0:
        return undefined("gwet_ac", name, NO_PAIR)
    if q < 2:
        return undefined("gwet_ac", name, "only one class is declared", seen.n_usable, seen.n_annotations)
    pi = _mean_shares(counts, seen)
    drawn = (1 - pi) * ((q if matrix is None else float(matrix.sum())) / (q * (q - 1)))
    p_ei = _per_case(counts, seen, drawn)
    found = corrected("gwet_ac", name, seen, level, float(pi @ drawn), p_ei, why_certain(q))
    return mind_rare_classes(found, counts, _FEW_FOR_AC)


def brennan_prediger(
    data: ClassCounts | Dataset, level: float = 0.95, weights: Weights = None, labels: Labels = None
) -> Coefficient:
    """Brennan and Prediger's coefficient: chance is a uniform draw from the declared list of classes.

    Parameters as of `percent_agreement`.
    """
    counts = as_counts(data)
    q = counts.n_classes
    name, matrix = resolve_weights(weights, q, labels)
    p_e = 1.0 if q < 2 else (1 / q if matrix is None else float(matrix.mean()))
    reason = "only one class is declared" if q < 2 else why_certain(q)
    return corrected("brennan_prediger", name, observed(counts, matrix), level, p_e, why_certain=reason)


def agreement_table(
    counts: ClassCounts,
    *,
    level: float = 0.95,
    spa_weightings: Sequence[str] = SPA_WEIGHTINGS[:1],
    weights: Weights = None,
    labels: Labels = None,
    metric: str | None = None,
    dataset: Dataset | None = None,
    every: bool = True,
) -> list[Coefficient]:
    """The coefficients that single classes allow, each with n and its interval: percent first, alpha last.

    Parameters
    ----------
    counts : ClassCounts
        See `core.annotations.counts.class_counts`.
    level : float
        Of the intervals, 0 to 1.
    spa_weightings : sequence of str
        Which of `SPA_WEIGHTINGS` to list.
    weights, labels
        Of all but SPA, which knows no partial agreement: see `core.agreement.weights.weight_matrix`.
    metric : str, optional
        Of alpha, which then takes no weights: one of `core.agreement.krippendorff.METRICS`.
    dataset : Dataset, optional
        What was counted. With it, and raters who are identified, Cohen's kappa and Scott's pi of two raters or
        Conger's kappa of more stand before Fleiss' kappa.
    every : bool
        False leaves out chance-corrected SPA, Gwet's AC and Brennan-Prediger.
    """
    how = {"level": level, "weights": weights, "labels": labels}
    return [
        percent_agreement(counts, **how),
        *(spa(counts, weighting, level) for weighting in spa_weightings),
        *([spa_corrected(counts, level=level)] if every else []),
        *(_by_raters(dataset, how) if dataset is not None else []),
        fleiss_kappa(counts, **how),
        *([gwet_ac(counts, **how), brennan_prediger(counts, **how)] if every else []),
        krippendorff_alpha(
            counts, level, metric=metric or "nominal", labels=labels, weights=weights if metric is None else None
        ),
    ]


def _by_raters(dataset: Dataset, how: dict) -> list[Coefficient]:
    n_used = raters_used(dataset)
    if not dataset.raters_identified or n_used < 2:
        return []
    if n_used == 2:
        return [cohen_kappa(dataset, **how), scott_pi(dataset, **how)]
    try:
        return [conger_kappa(dataset, **how)]
    except LimitError as error:
        name, _ = resolve_weights(how["weights"], dataset.n_classes, how["labels"])
        return [undefined("conger_kappa", name, str(error))]


def _mean_shares(counts: ClassCounts, seen: Observed) -> np.ndarray:
    n = np.zeros(counts.n_cases)
    n[seen.rated] = seen.n
    share, _ = class_shares(counts.ptr, counts.class_code, counts.count, n, 1, counts.n_classes)
    return share / seen.n.size


def _per_case(counts: ClassCounts, seen: Observed, value: np.ndarray) -> np.ndarray:
    return weighted_answers(counts.ptr, counts.class_code, counts.count, value)[seen.rated] / seen.n
