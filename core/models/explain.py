"""Explanation of a case's most likely class: the contribution of each annotation, and one sentence."""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from .classifier_evidence import CLASSIFIER
from .result import RaterModelFit

BOUND = 20.0
_NUMBERS = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True, eq=False)
class Reason:
    """Reasons for the class of one case.

    Attributes
    ----------
    top, against : int
        Most likely class, and the one it is weighed against: the class most raters named where that is another one,
        else the next in probability; -1 if there is none.
    prevalence : float
        Log-odds of ``top`` against ``against`` before any annotation, within ±`BOUND`.
    answers : tuple of (str, str, float)
        Rater, class annotated, and the log-odds it adds, within ±`BOUND`; the strongest first.
    sentence : str
        Sentence with names as they are in the data: escape them before they are shown.
    """

    top: int
    against: int
    prevalence: float
    answers: tuple[tuple[str, str, float], ...]
    sentence: str


def explain(dataset: Dataset, fit: RaterModelFit, case: int) -> Reason:
    """Explain why case number ``case`` of ``dataset`` has its most likely class under ``fit``.

    Parameters
    ----------
    dataset : Dataset
    fit : RaterModelFit
        Fit of the dataset.
    case : int
        Position in the dataset.
    """
    places = dataset.annotations_of(case)
    rater = dataset.rater[places.start : places.stop]
    answer = dataset.answer[places.start : places.stop]
    votes = np.bincount(answer, minlength=dataset.n_classes)
    order = np.argsort(-fit.class_probability[case], kind="stable")
    top = int(order[0])
    if dataset.n_classes == 1:
        return Reason(top, -1, 0.0, (), "There is only one class.")
    favourites = np.flatnonzero(votes == votes.max())
    outvoted = votes.max() > votes[top]
    against = int(favourites[np.argmax(fit.class_probability[case, favourites])]) if outvoted else int(order[1])
    adds = _log_ratio(fit.confusion[rater, top, answer], fit.confusion[rater, against, answer])
    prior = float(_log_ratio(fit.prevalence[top], fit.prevalence[against]))
    strongest = np.argsort(-np.abs(adds), kind="stable")
    answers = tuple((dataset.raters[rater[i]], dataset.classes[answer[i]], float(adds[i])) for i in strongest)
    if not rater.size:
        sentence = "No rater annotated this case, so its probabilities equal the prevalence."
    elif fit.settings.get("use_gold") and dataset.gold is not None and dataset.gold[case] >= 0:
        sentence = f"The class is known to be {dataset.classes[top]}."
    elif np.isclose(
        fit.class_probability[case, order[0]], fit.class_probability[case, order[1]], rtol=1e-9, atol=1e-12
    ):
        sentence = f"{dataset.classes[top]} and {dataset.classes[order[1]]} are equally probable."
    elif CLASSIFIER in fit.settings and prior + fit.beta * adds.sum() < 0:
        sentence = (
            f"With {fit.settings[CLASSIFIER]} as evidence, {dataset.classes[top]} is the most likely class. From "
            f"the annotations alone, {dataset.classes[against]} is more probable."
        )
    else:
        n, name, other = rater.size, dataset.classes[top], dataset.classes[against]
        if votes[top] == n:
            every = "Both annotations" if n == 2 else f"All {n} annotations"
            sentence = f"{every} name {name}." if n > 1 else f"The only annotation is {name}."
        elif votes[top] > n - votes[top]:
            sentence = f"{votes[top]} of {n} annotations name {name}, and the others do not outweigh them."
        else:
            most = against if outvoted else top
            commoner = adds.sum() <= 0 < prior
            why = f"{name} is more probable because it is the more common class" if commoner else None
            why = why or _because(fit, rater[answer == top], rater[answer == against], top, against, name, other)
            link = "but" if outvoted and (commoner or votes[top]) else "and"
            sentence = f"{votes[most]} of {n} annotations name {dataset.classes[most]}, {link} {why}."
    return Reason(top, against, prior, answers, sentence)


def _because(fit: RaterModelFit, yes: np.ndarray, no: np.ndarray, top: int, against: int, name: str, other: str) -> str:
    """Explain how the annotations decide: raters of ``top`` are more accurate on it, or all annotations together."""
    if not yes.size:
        return f"none names {name}, but together the annotations are more likely if the truth is {name}"
    n = len(np.unique(yes))
    number = _NUMBERS[n] if n < len(_NUMBERS) else f"{n:,}"
    who = f"the {number} {'rater who names' if n == 1 else 'raters who name'} {name}"
    if no.size and _right_on(fit, yes, top).mean() > _right_on(fit, no, against).mean():
        is_ = "is" if n == 1 else "are"
        return f"{who} {is_} more often correct when they name it than the others are when they name {other}"
    return f"together, the annotations are more likely if the truth is {name}"


def _right_on(fit: RaterModelFit, raters: np.ndarray, of_class: int) -> np.ndarray:
    """Compute P(the truth is this class | the rater names it)."""
    joint = fit.prevalence[None] * fit.confusion[raters, :, of_class]
    total = joint.sum(axis=1)
    return np.divide(joint[:, of_class], total, out=np.zeros(len(raters)), where=total > 0)


def _log_ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    tiny = np.finfo(float).tiny
    return np.clip(np.log(np.maximum(a, tiny)) - np.log(np.maximum(b, tiny)), -BOUND, BOUND)
