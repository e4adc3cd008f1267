"""Fits beside each other, and beside the classes that are known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import wilson
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..order import FITTED, lowest_first
from .gold import judging_gold
from .result import RaterModelFit

FLOOR = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class ModelAgreement:
    """How near fits of one dataset are to each other; axes of the matrices are fits, in the order they were given.

    Attributes
    ----------
    same_top : ndarray, shape (n_fits, n_fits)
        Share of cases with the same most probable class; tied classes share the case.
    distance : ndarray, shape (n_fits, n_fits)
        Mean over cases of the total-variation distance of the class probabilities, 0 to 1.
    n_cases : int
        With an annotation.
    """

    same_top: np.ndarray
    distance: np.ndarray
    n_cases: int


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """How often what is said with a probability is so, in bins of equal width; empty bins are left out.

    Attributes
    ----------
    mean, share, low, high : ndarray, shape (n_bins,)
        Mean probability, share that was so, and ends of Wilson's interval of it.
    n : ndarray of int64, shape (n_bins,)
    """

    mean: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    n: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class GoldScore:
    """A fit against gold classes that it did not use.

    Attributes
    ----------
    n_cases : int
        Known, with an annotation.
    accuracy, low, high : float
        Share of them whose most probable class is the known one (tied classes share it), with Wilson's interval.
    log_loss : float
        Mean of −ln of the probability of the gold class, which is taken as `FLOOR` at least.
    n_floored : int
        Cases where it is below `FLOOR`.
    calibration : Calibration
        Of the most probable class, or of the class asked for.
    """

    n_cases: int
    accuracy: float
    low: float
    high: float
    log_loss: float
    n_floored: int
    calibration: Calibration


def compare_fits(dataset: Dataset, fits: Sequence[RaterModelFit]) -> ModelAgreement:
    """Every two of several fits of ``dataset``, on cases with an annotation.

    Raises
    ------
    InputError
        A fit is of other cases or classes.
    NotApplicableError
        No case has an annotation.
    """
    for fit in fits:
        if fit.cases != dataset.cases or fit.classes != dataset.classes:
            raise InputError(f"The fit of {fit.model} is of other cases or classes.", "Fit this dataset.")
    rated = np.diff(dataset.case_ptr) > 0
    if not rated.any():
        raise NotApplicableError("No case has an annotation, so there is nothing to compare.")
    n = len(fits)
    same, distance = np.ones((n, n)), np.zeros((n, n))
    probability = [fit.class_probability[rated] for fit in fits]
    top = [top_shares(each) for each in probability]
    for i in range(n):
        for j in range(i):
            same[i, j] = same[j, i] = float((top[i] * top[j]).sum(axis=1).mean())
            distance[i, j] = distance[j, i] = float(np.abs(probability[i] - probability[j]).sum(axis=1).mean() / 2)
    return ModelAgreement(same, distance, int(rated.sum()))


def against_gold(
    dataset: Dataset, fit: RaterModelFit, *, of_class: int | None = None, n_bins: int = 10, level: float = 0.95
) -> GoldScore:
    """Accuracy, log loss and calibration of a fit on gold cases.

    Parameters
    ----------
    dataset : Dataset
        With gold.
    fit : RaterModelFit
        Of these data, gold not held fixed.
    of_class : int, optional
        Calibrate the probability of this class; not given, that of each case's most probable class.
    n_bins : int
        Between probability 0 and 1.
    level : float
        Of the interval, 0 to 1.

    Raises
    ------
    NotApplicableError
        No annotated case has a gold class, or the fit used them.
    """
    from scipy.special import ndtri

    cases, truth = judging_gold(dataset, fit)
    z = float(ndtri((1 + level) / 2))
    probability = fit.class_probability[cases]
    places = np.arange(cases.size)
    right = top_shares(probability)[places, truth]
    accuracy = float(right.mean())
    of_truth = probability[places, truth]
    if of_class is None:
        calibration = _calibration(probability.max(axis=1), right, n_bins, z)
    else:
        calibration = _calibration(probability[:, of_class], (truth == of_class).astype(float), n_bins, z)
    return GoldScore(
        cases.size,
        accuracy,
        *wilson(accuracy, cases.size, z),
        float(-np.log(np.maximum(of_truth, FLOOR)).mean()),
        int((of_truth < FLOOR).sum()),
        calibration,
    )


def most_moved(fit: RaterModelFit, vote: RaterModelFit) -> np.ndarray:
    """Codes of the classes by how far a fit moves their share from that by vote; the commonest first where it ties.

    Parameters
    ----------
    fit, vote : RaterModelFit
        Of the same classes.

    Returns
    -------
    ndarray of int64, shape (n_classes,)
    """
    gap = np.abs(fit.prevalence - vote.prevalence)
    return lowest_first(-gap.round(FITTED), then=-vote.prevalence.round(FITTED))


def top_shares(probability: np.ndarray) -> np.ndarray:
    """Each case shared by its most probable classes, shape (n_cases, n_classes)."""
    top = np.isclose(probability, probability.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    return top / top.sum(axis=1, keepdims=True)


def _calibration(probability: np.ndarray, outcome: np.ndarray, n_bins: int, z: float) -> Calibration:
    place = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    used = n > 0
    mean = np.bincount(place, probability, n_bins)[used] / n[used]
    share = np.bincount(place, outcome, n_bins)[used] / n[used]
    ends = np.array([wilson(p, m, z) for p, m in zip(share, n[used], strict=True)])
    return Calibration(mean, share, ends[:, 0], ends[:, 1], n[used])
