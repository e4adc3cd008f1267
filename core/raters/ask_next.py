"""Which rater to ask about which case next, by the information that the answer is expected to give.

The gain of asking a rater about a case is the mutual information between the true class T and the rater's answer A,
``I(T; A) = H(Σ_k p_k θ_k) − Σ_k p_k H(θ_k)``, with p the probabilities of the classes of the case and θ_k the row of
the rater's confusion matrix for class k (Lindley 1956, DOI 10.1214/aoms/1177728069). Answers are taken as independent
given the class.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import entr

from ..annotations.counts import rater_case_pairs
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..models.gold import gold_cases
from ..models.result import RaterModelFit
from ..order import highest_first

MOST_CASES, MOST_RATERS = 200, 50


@dataclass(frozen=True, slots=True)
class NextPair:
    """Case with the rater to ask about it; uncertainty and gains in bits.

    Attributes
    ----------
    case, rater : str
    uncertainty : float
        Entropy of the class.
    gain : float
        Mutual information between the class and the answer of this rater.
    any_rater : float
        Mean gain over the raters who can be asked about the case.
    cost : float
        Cost of an annotation by this rater, 1 if no costs are known.
    """

    case: str
    rater: str
    uncertainty: float
    gain: float
    any_rater: float
    cost: float


@dataclass(frozen=True, slots=True)
class NextPairs:
    """Pairs of rater and case, the largest gain per cost first.

    Attributes
    ----------
    pairs : tuple of NextPair
    n_cases, n_raters : int
        Numbers of cases and raters that were considered.
    """

    pairs: tuple[NextPair, ...]
    n_cases: int
    n_raters: int


def expected_gain(class_probability: np.ndarray, confusion: np.ndarray) -> np.ndarray:
    """Compute the mutual information between the class of each case and the answer of each rater, in bits.

    Parameters
    ----------
    class_probability : ndarray, shape (n_cases, n_classes)
    confusion : ndarray, shape (n_raters, n_classes, n_classes)
        Axes: rater, true class, annotated class.

    Returns
    -------
    ndarray, shape (n_cases, n_raters)
    """
    gains = [entr(class_probability @ theta).sum(axis=1) - class_probability @ entr(theta).sum(axis=1)
             for theta in confusion]  # fmt: skip
    return np.maximum(np.array(gains).T, 0) / np.log(2)


def raters_for(dataset: Dataset, fit: RaterModelFit, case: int) -> list[str]:
    """Return the raters who have not annotated a case, the largest expected gain first.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    fit : RaterModelFit
        Fit of these data.
    case : int
        Position of the case.
    """
    left = np.setdiff1d(np.arange(dataset.n_raters), dataset.rater[dataset.annotations_of(case)])
    gain = expected_gain(fit.class_probability[[case]], fit.confusion[left]) if left.size else np.empty((1, 0))
    return [dataset.raters[rater] for rater in left[highest_first(gain[0])]]


def ask_next(
    dataset: Dataset,
    fit: RaterModelFit,
    *,
    n: int = 20,
    each: int = 5,
    costs: Mapping[str, float] | None = None,
    without: Collection[str] = (),
) -> NextPairs:
    """Choose pairs of rater and case one by one, each time the pair with the largest expected gain per cost.

    A case is asked about once. The `MOST_CASES` most uncertain cases without gold and the `MOST_RATERS` raters with
    most annotations are considered.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes by identified raters.
    fit : RaterModelFit
        Fit of these data.
    n : int
        Largest number of pairs.
    each : int
        Largest number of cases per rater.
    costs : mapping of str to float, optional
        Cost of an annotation by each rater; equal if omitted.
    without : collection of str
        Raters who are not asked, such as AI raters.

    Raises
    ------
    InputError
        The fit belongs to other data, or the cost of a rater is missing or not positive.
    NotApplicableError
        Every rater has annotated every case.
    """
    if (fit.raters, fit.classes, fit.cases) != (dataset.raters, dataset.classes, dataset.cases):
        raise InputError(
            "Could not use the fit: it was made with different cases, raters or classes.",
            "Fit the model to these data.",
        )
    uncertainty = entr(fit.class_probability).sum(axis=1) / np.log(2)
    cases = np.setdiff1d(np.arange(dataset.n_cases), gold_cases(dataset))
    cases = cases[highest_first(uncertainty[cases])][:MOST_CASES]
    raters = highest_first(fit.n_annotations)
    raters = raters[[dataset.raters[rater] not in without for rater in raters]][:MOST_RATERS]
    cost = _costs([dataset.raters[rater] for rater in raters], costs)
    free = _free(dataset, cases, raters)
    gain = expected_gain(fit.class_probability[cases], fit.confusion[raters])
    mean = np.where(free, gain, 0).sum(axis=1) / np.maximum(free.sum(axis=1), 1)
    pairs: list[NextPair] = []
    room, is_open = np.full(raters.size, each), np.ones(cases.size, bool)
    for pair in highest_first((gain / cost).ravel()):
        case, rater = divmod(int(pair), raters.size)
        if len(pairs) < n and free[case, rater] and is_open[case] and room[rater]:
            is_open[case], room[rater] = False, room[rater] - 1
            names = dataset.cases[cases[case]], dataset.raters[raters[rater]]
            numbers = uncertainty[cases[case]], gain[case, rater], mean[case], cost[rater]
            pairs.append(NextPair(*names, *map(float, numbers)))
    return NextPairs(tuple(pairs), cases.size, raters.size)


def _free(dataset: Dataset, cases: np.ndarray, raters: np.ndarray) -> np.ndarray:
    """Return which of the raters have not annotated which of the cases."""
    asked = np.zeros((dataset.n_cases, dataset.n_raters), bool)
    asked[rater_case_pairs(dataset)] = True
    free = ~asked[np.ix_(cases, raters)]
    if not free.any():
        raise NotApplicableError("Cannot choose whom to ask: every rater has annotated every case. Add new raters.")
    return free


def _costs(raters: list[str], costs: Mapping[str, float] | None) -> np.ndarray:
    if not costs:
        return np.ones(len(raters))
    for rater in raters:
        if not costs.get(rater, 0) > 0:
            raise InputError(f"The cost of {rater} is missing or not positive.", "Provide a cost for each rater.")
    return np.array([costs[rater] for rater in raters])
