"""Classifier as additional evidence of the true class, with a weight from held-out annotations.

``P(z_i) ∝ π_z^{1 − w} p_f(z | x_i)^w Π_j θ_{j,z,y}^β``: the classifier's probabilities take the place of the
prevalence, which they contain, to the power w. At w = 0 this is the fit as it is; at w = 1, with β = 1, Bayes' rule
with a classifier whose errors have nothing to do with the raters'. The parameters of the fit are left alone.

w is the one at which annotations that the model has not seen are foretold best (`core.models.held_out`), on the same
folds at the model's own β; 0 unless it is ahead of 0 by more than one standard error. Held-out annotations cannot show
errors that classifier and raters share, for example because it was trained on annotations by them. Where probabilities
are made with a lower β for that reason (`core.models.tempering.truth_beta`), w is lowered in the same proportion.

Who is judged must not be the judge: `check_not_evidence` refuses a truth that a classifier is part of where that very
classifier is judged.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ..result_base import Columns, Result
from ..runtime.chunks import CancelToken
from ..text import number, plural, typed
from .design import Design, design
from .em_model import EmModel
from .held_out import FLOOR, HeldOutData, clustered_error, prepare, refitted
from .result import RaterModelFit
from .tempering import OPTION, doubt_note, point_of, tempered_posterior

WEIGHTS = np.arange(11) / 10
CLASSIFIER, WEIGHT = "classifier", "classifier_weight"
_CHUNK = 1 << 16
_SUM = 1e-6
_LEAST = float(np.finfo(float).tiny)
_TINY = float(np.log(_LEAST))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EvidenceWeight(Result):
    """Held-out scores by the weight of a classifier; nats per hidden annotation.

    Attributes
    ----------
    classifier : str
    by_case : ndarray, shape (n_cases, len(WEIGHTS))
        Sum of the scores of a case's hidden annotations by weight, averaged over sets of folds.
    n_of_case : ndarray of int64, shape (n_cases,)
    beta : float
        At which annotations were counted.
    n_predicted : int
        Cases with a prediction.
    n_cases : int
    """

    classifier: str
    by_case: np.ndarray
    n_of_case: np.ndarray
    beta: float
    n_predicted: int
    n_cases: int

    TABLES = ("weights",)

    def _columns(self, table: str, most: int | None) -> Columns:
        gains = [self.gain(place) for place in range(len(WEIGHTS))]
        return {
            "weight": WEIGHTS,
            "score": self.scores,
            "gain": np.array([gain for gain, _ in gains]),
            "gain_se": np.array([error for _, error in gains]),
        }

    @property
    def scores(self) -> np.ndarray:
        """Mean score by weight, shape (len(WEIGHTS),)."""
        return self.by_case.sum(axis=0) / self.n_of_case.sum()

    @property
    def best(self) -> int:
        """Place of the weight with the best score in `WEIGHTS`; the smallest of equal scores (1e-12)."""
        return int(np.flatnonzero(self.scores >= self.scores.max() - 1e-12)[0])

    def gain(self, place: int) -> tuple[float, float]:
        """Return the score at a weight less that without the classifier, with its standard error clustered by case."""
        apart = self.by_case[:, place] - self.by_case[:, 0]
        return float(apart.sum() / self.n_of_case.sum()), clustered_error(apart, self.n_of_case)

    @property
    def weight(self) -> float:
        """Best weight; 0 unless it is ahead of 0 by more than one standard error."""
        gain, error = self.gain(self.best)
        return float(WEIGHTS[self.best]) if gain > error else 0.0

    def words(self) -> str:
        """Describe in a sentence whether the classifier counts, and why; its name must be escaped before display."""
        gain, error = self.gain(self.best)
        if not self.weight:
            told = (
                f"gain: {number(gain, 3)} ± {number(error, 3)} nats per annotation"
                if self.best
                else "no gain at any weight"
            )
            return f"{self.classifier} is not used: it does not clearly improve held-out predictions ({told})."
        left = self.n_cases - self.n_predicted
        are = "is" if left == 1 else "are"
        without = f" {plural(left, 'case')} without a prediction {are} not affected." if left else ""
        return (
            f"{self.classifier} is used as evidence with weight {number(self.weight, 1)}: held-out predictions "
            f"improve by {number(gain, 3)} ± {number(error, 3)} nats per annotation.{without} Errors "
            "that it shares with raters, for example because it was trained on their annotations, cannot be detected."
        )


def evidence_weight(
    dataset: Dataset,
    model: EmModel,
    classifier: str,
    probability: np.ndarray,
    *,
    beta: float = 1.0,
    temper_prevalence: bool = False,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> EvidenceWeight:
    """Compute the held-out score of a model by the weight of a classifier.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    model : EmModel
    classifier : str
        Name of the classifier; no rater's.
    probability : ndarray, shape (n_cases, n_classes)
        The classifier's; rows sum to one, NaN on cases without a prediction.
    beta : float
        Weight of an annotation: the held-out β of the model.
    temper_prevalence : bool
        π to the power of β too, see `core.models.tempering`.
    seed : int
        Seed of the folds; those of `core.models.choose` at the same seed.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        The probabilities do not fit the data, or the classifier has a rater's name.
    NotApplicableError
        No annotation can be held out.
    Cancelled
    """
    given = checked_probabilities(dataset, classifier, probability)
    data = prepare(dataset, repeats=model.repeats, seed=seed, token=token)
    sums = np.zeros((dataset.n_cases, WEIGHTS.size))
    for done, refit in enumerate(data.refits, 1):
        point = refitted(model, refit.data, token)
        power = beta if temper_prevalence else 1.0
        _add_scores(data, refit, beta * point.log_theta, point, power * point.log_prevalence, given, sums)
        if progress is not None:
            progress(done / len(data.refits))
    n_predicted = int(np.isfinite(given[:, 0]).sum())
    return EvidenceWeight(classifier, sums / data.n_sets, data.n_of_case, beta, n_predicted, dataset.n_cases)


def _add_scores(data: HeldOutData, refit, log_theta, point, log_prior, given: np.ndarray, sums: np.ndarray) -> None:
    """Add to ``sums`` the scores of what one fold hides, by weight."""
    whole, folds = data.whole, refit.folds
    n_cases, n_classes = given.shape
    hidden = np.flatnonzero((folds.fold == refit.number) & folds.scored)  # one of a case at most, cases ascending
    size = max(1, _CHUNK // n_classes)
    for low in range(0, hidden.size, size):
        target = hidden[low : low + size]
        here = whole.dataset.case_of_annotation[target]
        row_of = np.full(n_cases, -1, np.int64)
        row_of[here] = np.arange(here.size)
        span = np.arange(whole.dataset.case_ptr[here[0]], whole.dataset.case_ptr[here[-1] + 1])
        row = row_of[whole.dataset.case_of_annotation[span]]
        kept = (folds.fold[span] != refit.number) & (row >= 0)
        said = np.zeros((here.size, n_classes))
        np.add.at(said, row[kept], np.maximum(log_theta[whole.cell[span[kept]]], _TINY))
        right = np.exp(point.log_theta[whole.cell[target]])
        for place, weight in enumerate(WEIGHTS):
            belief = _normalised(said + _prior(log_prior, given[here], float(weight)))
            p = np.maximum((belief * right).sum(axis=1), FLOOR)
            sums[here, place] += np.log(p)


def _prior(log_prior: np.ndarray, given: np.ndarray, weight: float) -> np.ndarray:
    """Compute ``(1 − w) ln π + w ln p_f`` of some cases, (n_cases, n_classes); ``ln π`` without a prediction."""
    plain = np.maximum(log_prior, _TINY)
    if not weight:
        return np.broadcast_to(plain, given.shape)
    told = np.isfinite(given)
    return np.where(told, (1 - weight) * plain + weight * np.log(np.where(told, given, 1.0)), plain)


def _normalised(logs: np.ndarray) -> np.ndarray:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return found / found.sum(axis=1, keepdims=True)


def checked_probabilities(dataset: Dataset, classifier: str, probability: np.ndarray) -> np.ndarray:
    """Check the probabilities, and raise them to `FLOOR`, so that a short list excludes no class.

    Parameters
    ----------
    dataset : Dataset
    classifier : str
        Name of the classifier; no rater's.
    probability : ndarray, shape (n_cases, n_classes)

    Raises
    ------
    InputError
        The probabilities do not fit the data, or the classifier has a rater's name.
    """
    if classifier in dataset.raters:
        raise InputError(
            f"Could not use {classifier!r} as evidence: it is also a rater and would count twice.",
            "Leave out the rater, or do not use the predictions.",
        )
    given = np.asarray(probability, np.float64)
    if given.shape != (dataset.n_cases, dataset.n_classes):
        raise InputError(
            f"Could not use the probabilities of {classifier}: their shape is {given.shape}, but the data need "
            f"{(dataset.n_cases, dataset.n_classes)}.",
            "Use one row per case and one column per class.",
        )
    told = np.isfinite(given.sum(axis=1))
    if not told.any():
        raise InputError(f"Could not use {classifier}: it has no predictions for these cases.", "Check the case IDs.")
    if (given[told] < 0).any() or (abs(given[told].sum(axis=1) - 1) > _SUM).any():
        raise InputError(
            f"Could not use {classifier} as evidence: its scores are not probabilities.",
            "Use probabilities that add up to 1.",
        )
    given = np.maximum(given, FLOOR)
    return np.where(np.expand_dims(told, 1), given / given.sum(axis=1, keepdims=True), np.nan)


def with_classifier(
    fit: RaterModelFit,
    dataset: Dataset,
    found: EvidenceWeight,
    probability: np.ndarray,
    token: CancelToken | None = None,
) -> RaterModelFit:
    """Add a classifier as evidence to a fit's class probabilities; at weight 0 the fit is returned.

    Parameters
    ----------
    fit : RaterModelFit
        Fit of ``dataset``, by expectation-maximisation.
    dataset : Dataset
    found : EvidenceWeight
        Weight of the same classifier and model.
    probability : ndarray, shape (n_cases, n_classes)
        See `evidence_weight`.
    token : CancelToken, optional

    Returns
    -------
    RaterModelFit
        Its settings name the classifier and the weight in use; intervals of class probabilities, which do not know of
        the classifier, are left out.

    Raises
    ------
    InputError
        The fit belongs to other data, or by no expectation-maximisation, or has a classifier already.
    """
    could_not = f"Could not use {found.classifier} as evidence"
    if fit.cases != dataset.cases or fit.classes != dataset.classes:
        raise InputError(f"{could_not}: the fit has different cases or classes.", "Fit the model to these data.")
    if fit.method != "em":
        why = f"{fit.model} with the method {fit.method} does not support classifiers"
        raise InputError(f"{could_not}: {why}.", "Use a model fitted by expectation-maximisation.")
    if CLASSIFIER in fit.settings:
        raise InputError(
            f"{could_not}: the fit already uses {fit.settings[CLASSIFIER]}.", "Use a fit without a classifier."
        )
    if not found.weight:
        return fit
    given = checked_probabilities(dataset, found.classifier, probability)
    weight = min(1.0, found.weight * fit.beta / found.beta)
    data = design(fit.model, dataset, fit.settings["use_gold"], fit.settings["repeats"])
    belief = _believed(fit, data, given, weight, token)
    uncertainty = None if fit.uncertainty is None else replace(fit.uncertainty, class_probability=None)
    doubt = float(fit.settings.get("doubt", 0.0))
    without = doubt_note(doubt)
    others = [note for note in fit.notes if note not in without]
    rest = doubt_note(doubt, f"the prevalence of classes and the predictions of {found.classifier}")
    return replace(
        fit,
        class_probability=belief,
        settings=fit.settings | {CLASSIFIER: found.classifier, WEIGHT: weight},
        notes=(*others, *rest, found.words(), _not_judged(found.classifier)),
        uncertainty=uncertainty,
    )


def _believed(fit: RaterModelFit, data: Design, given: np.ndarray, weight: float, token) -> np.ndarray:
    """Compute class probabilities with the classifier; fixed gold cases, and those without predictions, stay."""
    tempered_too = bool(fit.settings.get(OPTION, False))
    doubt = float(fit.settings.get("doubt", 0.0))
    plain = tempered_posterior(data, point_of(fit), fit.beta, 0.0, tempered_too, token)
    log_prior = np.log(np.maximum(fit.prevalence, _LEAST)) * (fit.beta if tempered_too else 1.0)
    prior = _prior(log_prior, given, weight)
    belief = _normalised(np.log(np.maximum(plain, _LEAST)) + prior - log_prior)
    belief = (1 - doubt) * belief + doubt * _normalised(prior)
    fixed = data.known >= 0 if data.known.size else np.zeros(len(given), bool)
    stays = np.logical_or(np.isnan(given[:, 0]), fixed)  # of a row all are told, or none
    return np.where(np.expand_dims(stays, 1), fit.class_probability, belief)


def _not_judged(classifier: str) -> str:
    return f"Do not evaluate {classifier} with these class probabilities: it would be compared with itself."


def evidence_settings(fit: RaterModelFit) -> dict[str, str]:
    """Return the classifier in a fit and its weight, as exports name them; empty without one."""
    if CLASSIFIER not in fit.settings:
        return {}
    weight = typed(round(fit.settings[WEIGHT], 6))
    return {"classifier as evidence": fit.settings[CLASSIFIER], "weight of the classifier": weight}


def check_not_evidence(fit: RaterModelFit, classifiers: tuple[str, ...] | None = None) -> None:
    """Refuse a truth with a classifier as evidence if that classifier is to be judged.

    Parameters
    ----------
    fit : RaterModelFit
    classifiers : tuple of str, optional
        Raters who are judged; all if omitted.

    Raises
    ------
    NotApplicableError
    """
    used = fit.settings.get(CLASSIFIER)
    if used is not None and (classifiers is None or used in classifiers):
        raise NotApplicableError(
            f"Cannot evaluate {used} with these class probabilities: they already use it as evidence (weight "
            f"{number(fit.settings[WEIGHT])}), so it would be compared with itself. Use the fit without it."
        )
