"""Exact probability that a class of a Dirichlet distribution is the largest, by integration instead of draws.

Shares are independent Gamma variables over their sum, so ``P(class c is first) = ∫ Π_{j≠c} F_j(x) dF_c(x)``.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.ordinal_truth import OrdinalTruth
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import PlausibilityModel
from ..rankings.irn import irn

_NODES = 400
_LOW, _HIGH = 1e-6, 1e-13  # Probability that is left out below and above.
_FLOOR = 1e-300


def first_place(shape: np.ndarray, rest_shape: float, n_rest: int) -> np.ndarray:
    """Compute P(each class is the largest) under Dirichlet(shape..., rest_shape repeated n_rest times).

    Parameters
    ----------
    shape : ndarray of float64, shape (n_named,)
    rest_shape : float
        Shape of each class that nobody named.
    n_rest : int

    Returns
    -------
    ndarray, shape (n_named + 1,)
        Probabilities, accurate to about 1e-4. The last one is of any single never-named class; 0 if there is none.
    """
    from scipy.special import gammainc, gammaincc, gammainccinv, gammaincinv

    shapes = np.append(shape, rest_shape)[: len(shape) + (n_rest > 0)]
    copies = np.append(np.ones(len(shape)), n_rest)[: len(shapes)]
    largest = shapes.max()
    # The largest of all is at least the one with the largest shape, and mostly of its size.
    low, high = gammaincinv(largest, _LOW), gammainccinv(largest, _HIGH / copies.sum())
    nodes = np.exp(np.linspace(np.log(max(low, _FLOOR)), np.log(high), _NODES))
    below = np.maximum(gammainc(shapes[:, None], nodes), _FLOOR)
    logs = np.log(below)
    others = np.exp(copies @ logs - logs)
    upper = gammaincc(shapes[:, None], nodes)
    steps = np.where(below[:, :-1] < 0.5, np.diff(below), -np.diff(upper))  # Differences of small numbers are exact.
    each = ((others[:, :-1] + others[:, 1:]) / 2 * steps).sum(axis=1)
    each += others[:, -1] * upper[:, -1]
    each /= each @ copies
    return each if n_rest else np.append(each, 0.0)


def exact_first_place(
    model: PlausibilityModel, dataset: Dataset, case: int, reliability: float
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return classes named on a case and P(each is the most plausible), if that needs no draws.

    With ordered classes under the ordinal model, every class may be the truth.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
    case : int
        Position of the case.
    reliability : float
        Reliability γ > 0, how much each annotation counts.

    Returns
    -------
    tuple of (ndarray of int32, shape (n_named,), ndarray, shape (n_named + 1,)), or None
        The last probability is that of all never-named classes. None for models without a closed form.
    """
    if isinstance(model, DirichletCounts):
        codes, shape, _ = model.shapes(dataset, case, reliability)
        rest_shape = model.alpha
    elif isinstance(model, PrIRN):
        weights = irn(dataset, model.ties)
        entries = slice(weights.ptr[case], weights.ptr[case + 1])
        codes, weight, rest_shape = weights.class_code[entries], weights.weight[entries], model.epsilon
        shape = reliability * weight / max(weight.sum(), 1e-300) + model.epsilon
    elif isinstance(model, OrdinalTruth):
        chance = model.probability(dataset, reliability)[case]
        return np.arange(dataset.n_classes, dtype=np.int32), np.append(chance, 0.0)
    else:
        return None
    n_rest = dataset.n_classes - len(codes)
    if not len(codes):
        return codes, np.ones(1)
    chance = first_place(shape, rest_shape, n_rest)
    chance[-1] *= n_rest
    return codes, chance


@dataclass(frozen=True, slots=True, eq=False)
class ExactTop:
    """Most plausible class of every case, computed without draws; arrays of shape (n_cases,).

    Attributes
    ----------
    certainty : ndarray
        Probability that the class is the most plausible one, accurate to about 1e-4.
    top_class : ndarray of int32
        Code of the class; the first in the list if several are named equally often, -1 if nobody named any.
    never_named : ndarray
        Probability that a class that nobody named is the most plausible one.
    """

    certainty: np.ndarray
    top_class: np.ndarray
    never_named: np.ndarray


def exact_top(
    model: PlausibilityModel, dataset: Dataset, reliability: float, cases: range | None = None
) -> ExactTop | None:
    """Find the top-1 class of all cases, or of some, by integration; None for models without a closed form.

    Cases with the same counts, in whatever order of classes, have the same certainty to the last digit.

    Parameters
    ----------
    model : PlausibilityModel
    dataset : Dataset
        Dataset of single classes.
    reliability : float
        Reliability γ > 0, how much each annotation counts.
    cases : range, optional
        Positions of cases; all by default.
    """
    cases = range(dataset.n_cases) if cases is None else cases
    if isinstance(model, OrdinalTruth):
        found = model.probability(dataset, reliability)[cases.start : cases.stop]
        return ExactTop(found.max(axis=1), found.argmax(axis=1).astype(np.int32), np.zeros(len(found)))
    if not isinstance(model, DirichletCounts):
        return None
    counts = model.votes(dataset, cases)
    known: dict[tuple[float, ...], tuple[float, float]] = {}
    certainty, never = np.empty(len(cases)), np.empty(len(cases))
    top = np.full(len(cases), -1, np.int32)
    for place in range(len(cases)):
        entries = slice(counts.ptr[place], counts.ptr[place + 1])
        named = counts.count[entries]
        key = tuple(np.sort(named)[::-1].tolist())
        if key not in known:
            known[key] = certainty_of_counts(np.array(key), model.alpha, reliability, dataset.n_classes)
        certainty[place], never[place] = known[key]
        if key:
            top[place] = counts.class_code[entries][int(named.argmax())]
    return ExactTop(certainty, top, never)


def certainty_of_counts(count: np.ndarray, alpha: float, reliability: float, n_classes: int) -> tuple[float, float]:
    """Compute P(the class named most often is first), and P(a class that nobody named is).

    Parameters
    ----------
    count : ndarray, shape (n_named,)
        Annotations of each named class, falling.
    alpha, reliability : float
        Pseudo-counts α and reliability γ.
    n_classes : int
    """
    n_rest = n_classes - count.size
    if not count.size:
        return 1 / n_classes, 1.0
    if n_classes == 1:
        return 1.0, 0.0
    chance = first_place(reliability * count + alpha, alpha, n_rest)
    return float(min(1.0, chance[0])), float(min(1.0, chance[-1] * n_rest))
