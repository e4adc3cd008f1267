"""Comparison of fits with each other, with the majority vote, and with known classes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..agreement.intervals import Z95, wilson
from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..order import FITTED, lowest_first
from ..text import percent, plural, shorten
from ..thresholds import TIE_DECIDED
from .classifier_evidence import CLASSIFIER
from .gold import judging_gold
from .result import RaterModelFit

FLOOR = 1e-12
FEWEST_FOR_CURVE = 100  # gold cases


@dataclass(frozen=True, slots=True, eq=False)
class ModelAgreement:
    """Similarity of fits of one dataset; axes of the matrices are fits, in the given order.

    Attributes
    ----------
    same_top : ndarray, shape (n_fits, n_fits)
        Share of cases with the same most likely class; tied classes share the case.
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
    """Calibration of probabilities in bins of equal width; empty bins are left out.

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
        Share of them whose most likely class is the known one (tied classes share it), with Wilson's interval.
    log_loss : float
        Mean of −ln of the probability of the gold class, which is taken as `FLOOR` at least.
    n_floored : int
        Number of cases in which it is below `FLOOR`.
    calibration : Calibration
        Calibration of the most likely class, or of the requested class.
    """

    n_cases: int
    accuracy: float
    low: float
    high: float
    log_loss: float
    n_floored: int
    calibration: Calibration


def compare_fits(dataset: Dataset, fits: Sequence[RaterModelFit]) -> ModelAgreement:
    """Compare every two of several fits of ``dataset``, on cases with an annotation.

    Raises
    ------
    InputError
        A fit is of other cases or classes.
    NotApplicableError
        No case has an annotation.
    """
    for fit in fits:
        if fit.cases != dataset.cases or fit.classes != dataset.classes:
            raise InputError(
                f"Could not compare models: the fit of {fit.model} was made with different cases or classes.",
                "Fit the model to these data.",
            )
    rated = np.diff(dataset.case_ptr) > 0
    if not rated.any():
        raise NotApplicableError("Could not compare models: no case has an annotation.")
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
    """Compute accuracy, log loss and calibration of a fit on gold cases.

    Parameters
    ----------
    dataset : Dataset
        With gold.
    fit : RaterModelFit
        Fit of these data, gold not held fixed.
    of_class : int, optional
        Calibrate the probability of this class; not given, that of each case's most likely class.
    n_bins : int
        Between probability 0 and 1.
    level : float
        Confidence level of the interval, 0 to 1.

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
        calibration = calibration_of(probability.max(axis=1), right, n_bins, z)
    else:
        calibration = calibration_of(probability[:, of_class], (truth == of_class).astype(float), n_bins, z)
    return GoldScore(
        cases.size,
        accuracy,
        *wilson(accuracy, cases.size, z),
        float(-np.log(np.maximum(of_truth, FLOOR)).mean()),
        int((of_truth < FLOOR).sum()),
        calibration,
    )


def most_moved(fit: RaterModelFit, vote: RaterModelFit) -> np.ndarray:
    """Sort codes of classes by the difference of a fit's share from that by vote; ties by frequency.

    Parameters
    ----------
    fit, vote : RaterModelFit
        Fits with the same classes.

    Returns
    -------
    ndarray of int64, shape (n_classes,)
    """
    gap = np.abs(fit.prevalence - vote.prevalence)
    return lowest_first(-gap.round(FITTED), then=-vote.prevalence.round(FITTED))


def top_shares(probability: np.ndarray) -> np.ndarray:
    """Return each case's shares of its most likely classes, shape (n_cases, n_classes)."""
    top = np.isclose(probability, probability.max(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    return top / top.sum(axis=1, keepdims=True)


def calibration_of(probability: np.ndarray, outcome: np.ndarray, n_bins: int = 10, z: float = Z95) -> Calibration:
    """Compute how often events occur, by bin of their predicted probability.

    Parameters
    ----------
    probability, outcome : ndarray, shape (n_cases,)
        Predicted probability of each case, and its outcome, 0 to 1.
    n_bins : int
        Number of bins of equal width between 0 and 1.
    z : float
        Normal quantile of the intervals.
    """
    place = np.minimum((probability * n_bins).astype(np.int64), n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    used = n > 0
    mean = np.bincount(place, probability, n_bins)[used] / n[used]
    share = np.bincount(place, outcome, n_bins)[used] / n[used]
    ends = np.array([wilson(p, m, z) for p, m in zip(share, n[used], strict=True)])
    return Calibration(mean, share, ends[:, 0], ends[:, 1], n[used])


_TIED = 1e-9


@dataclass(frozen=True, slots=True)
class ModelsAgree:
    """Agreement of models on classes.

    Attributes
    ----------
    n_models, n_cases : int
        Models, and cases that were looked at.
    n_same : int
        Cases in which every model has one most likely class, and all the same.
    n_tied : int
        Cases in which some model has several most likely classes.
    name : str
        The class on whose prevalence they differ most.
    low, high : float
        The least and the largest share that a model gives it.
    """

    n_models: int
    n_cases: int
    n_same: int
    n_tied: int
    name: str
    low: float
    high: float

    @property
    def words(self) -> str:
        """Sentence on the agreement of models."""
        low, high = percent(self.low), percent(self.high)
        tied = f" ({self.n_tied:,} tied)" if self.n_tied else ""
        return (
            f"{self.n_models:,} models agree on the class in {self.n_same:,} of "
            f"{plural(self.n_cases, 'case')}{tied} and estimate a prevalence of "
            f"{low if low == high else f'{low} to {high}'} for {shorten(self.name, 30)}"
        )


def models_agree(fits: Sequence[RaterModelFit], cases: np.ndarray) -> ModelsAgree:
    """Compute how far fits of the same data agree.

    Parameters
    ----------
    fits : sequence of RaterModelFit
        Fits of the same cases and classes.
    cases : ndarray of bool, shape (n_cases,)
        Those that are looked at.
    """
    chance = np.stack([fit.class_probability[cases] for fit in fits])
    ordered = np.sort(chance, axis=2)
    second = ordered[:, :, -2] if chance.shape[2] > 1 else np.zeros(chance.shape[:2])
    apart = ordered[:, :, -1] - second > _TIED
    top, single = chance.argmax(axis=2), apart.all(axis=0)
    shares = np.stack([fit.prevalence for fit in fits])
    widest = int(np.ptp(shares, axis=0).argmax())
    return ModelsAgree(
        len(fits),
        int(cases.sum()),
        int((single & (top == top[0]).all(axis=0)).sum()),
        int((~single).sum()),
        fits[0].classes[widest],
        float(shares[:, widest].min()),
        float(shares[:, widest].max()),
    )


@dataclass(frozen=True, slots=True)
class VoteChanges:
    """Comparison of a fit with the vote.

    Attributes
    ----------
    n_changed : int
        Cases with a majority whose most likely class is another one.
    n_decided : int
        Tied cases whose most likely class has a probability of `core.thresholds.TIE_DECIDED` or more.
    n_tied, n_cases : int
        Tied cases, and cases with an annotation.
    classifier : str
        Classifier that counts as evidence in the fit; empty for none.
    """

    n_changed: int
    n_decided: int
    n_tied: int
    n_cases: int
    classifier: str = ""

    @property
    def words(self) -> str:
        """Sentence on the changes, without its full stop."""
        cases, ties = plural(self.n_cases, "case"), plural(self.n_decided, "tie")
        if self.n_decided < self.n_tied:
            ties = f"{self.n_decided:,} of {plural(self.n_tied, 'tie')}"
        weighing = f"The model, with {self.classifier} as evidence," if self.classifier else "Weighting the raters"
        if self.n_decided and not self.n_changed:
            return f"{weighing} breaks {ties} and never overrules the majority"
        words = f"{weighing} overrules the majority in {self.n_changed:,} of {cases}"
        return words + (f" and breaks {ties}" if self.n_decided else "")


def vote_changes(fit: RaterModelFit, vote: RaterModelFit, answered: np.ndarray) -> VoteChanges:
    """Compute the changes of a fit from the vote on the same cases and classes.

    Parameters
    ----------
    fit : RaterModelFit
    vote : RaterModelFit
        Majority vote.
    answered : ndarray of bool, shape (n_cases,)
        Cases with an annotation.
    """
    by_vote, by_model = vote.top_class(), fit.top_class()
    tied = (by_vote < 0) & answered
    sure = (fit.class_probability.max(axis=1) >= TIE_DECIDED) & (by_model >= 0)
    changed = (by_vote >= 0) & (by_model >= 0) & (by_vote != by_model) & answered
    n_changed, n_decided, n_tied, n_cases = (int(each.sum()) for each in (changed, tied & sure, tied, answered))
    return VoteChanges(n_changed, n_decided, n_tied, n_cases, str(fit.settings.get(CLASSIFIER, "")))
