"""P(correct): the posterior probability that a class is true, in addition to the certainty that it stays first.

Certainty asks what more raters like these would say; P(correct) asks whether that is true, by the averaged rater models
(`core.models.average`). The two differ if raters make similar mistakes, and if the raters who differ are the accurate
ones.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.validation import frozen
from ..errors import NotApplicableError
from ..models.average import AveragedModels, average_models
from ..models.choose import choose
from ..models.rater_methods import any_rater_model
from ..order import FITTED, highest_first
from ..result_base import Columns, Result, named
from ..runtime.chunks import CancelToken
from ..text import listed, probability
from ..thresholds import NUMBERS_DIFFER, SHARED_MISTAKES_BELOW

_MOST_NAMED = 3
_FEW = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PCorrect(Result):
    """Probability of each class of each case by the averaged rater models.

    Attributes
    ----------
    cases, classes : tuple of str
    probability : ndarray, shape (n_cases, n_classes)
    confusion : ndarray, shape (n_raters, n_classes, n_classes)
        Confusion matrices of the raters, averaged over the models.
    beta : float or None
        Independence of the annotations of a case (β), averaged over the models; None if only the vote is used.
    """

    cases: tuple[str, ...]
    classes: tuple[str, ...]
    probability: np.ndarray
    confusion: np.ndarray
    beta: float | None

    TABLES = ("cases",)

    def _columns(self, table: str, most: int | None) -> Columns:
        top = self.probability[:most].argmax(axis=1)
        return {"case": self.cases[:most], "class": named(self.classes, top), "p_correct": self.of(top)}

    def of(self, code: np.ndarray) -> np.ndarray:
        """Return P(correct) of one class of each of the first cases; NaN if the class is -1.

        Parameters
        ----------
        code : ndarray of int, shape (n,)
        """
        found = self.probability[np.arange(code.size), np.maximum(code, 0)]
        return np.where(code < 0, np.nan, found)


def of_average(averaged: AveragedModels, dataset: Dataset) -> PCorrect:
    """Compute P(correct) by a known average.

    Parameters
    ----------
    averaged : AveragedModels
        Average of the models of ``dataset``.
    dataset : Dataset
        Dataset of single classes.
    """
    weight = np.array([each.weight for each in averaged.members])
    mean = [each.beta.mean for each in averaged.members]
    beta = float(weight @ mean / weight.sum()) if weight.size else None
    fit = averaged.fit
    probability, confusion = (frozen(np.array(part)) for part in (fit.class_probability, fit.confusion))
    return PCorrect(dataset.cases, dataset.classes, probability, confusion, beta)


def p_correct(
    dataset: Dataset,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> PCorrect:
    """Compute P(correct): score the rater models on held-out annotations, and average them.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    seed : int
        Seed of the folds.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        Rater models are not possible.
    Cancelled
    """
    if not (possible := any_rater_model(dataset)).possible:
        raise NotApplicableError(f"Cannot compute P(correct): {possible.reason}.")
    choice = choose(dataset, seed=seed, independent=False, token=token, progress=progress)
    return of_average(average_models(choice, dataset, token=token), dataset)


def why_they_differ(
    found: PCorrect, dataset: Dataset, case: int, leading: int, certainty: float, *, hide_names: bool = False
) -> str:
    """Explain after "P(correct) is" why it is far from the certainty of the leading class; empty if not. Not escaped.

    Parameters
    ----------
    found : PCorrect
    dataset : Dataset
        Dataset of single classes, as ``found``.
    case : int
    leading : int
        Code of the leading class.
    certainty : float
    hide_names : bool
        Name no rater.
    """
    p, rows = found.probability[case], dataset.annotations_of(case)
    answer = dataset.answer[rows]
    if leading < 0 or abs(float(p[leading]) - certainty) <= NUMBERS_DIFFER or answer.size < 2:
        return ""
    best, votes = int(p.argmax()), np.bincount(answer, minlength=len(found.classes))
    lower = p[leading] < certainty
    if best != leading:
        name, chance = f"“{found.classes[best]}”", probability(float(p[best]))
        if votes[best] > votes[leading] and np.unique(dataset.rater[rows]).size < answer.size:
            once = "repeats by one rater count once for certainty but separately for P(correct)"
            reason = f"{once}. P(correct) of {name} is {chance}"
        elif votes[best] >= votes[leading]:
            tied = "annotations are tied"
            more = tied if votes[best] == votes[leading] else f"{name} has more annotations than the leading class"
            reason = f"{more}, and P(correct) of {name} is {chance}"
        elif votes[best]:
            who = "" if hide_names else _who_weigh_most(found, dataset, case, best, leading)
            reason = f"the raters who chose {name} are more accurate{who}. P(correct) of {name} is {chance}"
        else:
            reason = f"no rater chose {name}, but its P(correct) is still {chance}"
    elif lower and found.beta is not None and found.beta < SHARED_MISTAKES_BELOW:
        reason = "raters make similar mistakes, so their agreement is weaker evidence"
    elif answer.size <= _FEW:
        reason = "the case has few annotations"
    else:
        reason = "the models weight raters by their accuracy"
    return f"much {'lower' if lower else 'higher'} than certainty: {reason}."


def _who_weigh_most(found: PCorrect, dataset: Dataset, case: int, best: int, leading: int) -> str:
    """Find up to three raters of a case whose annotations favour a class most against the leading one."""
    if not dataset.raters_identified:
        return ""
    rows = dataset.annotations_of(case)
    rater, answer = dataset.rater[rows], dataset.answer[rows]
    of_class = found.confusion[rater, best, answer], found.confusion[rater, leading, answer]
    speaks = np.log(np.maximum(of_class[0], 1e-12)) - np.log(np.maximum(of_class[1], 1e-12))
    order = [row for row in highest_first(speaks.round(FITTED)) if answer[row] == best and speaks[row] > 0]
    names = list(dict.fromkeys(dataset.raters[rater[row]] for row in order))[:_MOST_NAMED]
    return f" ({listed(names)})" if names else ""
