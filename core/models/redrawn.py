"""Held-out β of independent raters: annotations drawn from the fit itself.

Confusion matrices that rest on few annotations are uncertain, and what they predict is predicted better at a β below 1
though no rater shares a mistake: at 0.5 with 50 classes and 100 annotations per rater. That part of β does not indicate
dependence. A parametric bootstrap (Efron & Tibshirani 1993, 6.5) says how large it is: classes and annotations of the
same design are drawn from the model that was fitted, raters independent given the class, and scored on the same folds.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..annotations.dataset import Dataset
from ..runtime.seeds import case_seeds
from .design import design
from .held_out import HeldOut, HeldOutData, without_held_out

FEW_SETS, ONE_SET = 2, 1
FOLDS_OF_ONE_SET = 2
_CELLS = 4_000_000

Redraw = Callable[[Dataset, int], np.ndarray]


def drawn(
    dataset: Dataset, prevalence: np.ndarray, chances: Callable[[slice, np.ndarray], np.ndarray], seed: int
) -> np.ndarray:
    """Draw annotations of a dataset of the same design, with new true classes, int32, shape (n_annotations,).

    Parameters
    ----------
    dataset : Dataset
        Assignment of raters to cases.
    prevalence : ndarray, shape (n_classes,)
    chances : callable
        From a slice of the annotations and the true classes of their cases, the chances of each class, shape (n,
        n_classes).
    seed : int
    """
    rng = np.random.default_rng(seed)
    truth = rng.choice(dataset.n_classes, size=dataset.n_cases, p=prevalence / prevalence.sum())
    of_annotation = truth[dataset.case_of_annotation]
    found = np.empty(dataset.n_annotations, np.int32)
    step = max(1, _CELLS // dataset.n_classes)
    for first in range(0, found.size, step):
        rows = slice(first, first + step)
        upto = chances(rows, of_annotation[rows]).cumsum(axis=1)
        found[rows] = (rng.random((len(upto), 1)) * upto[:, -1:] >= upto[:, :-1]).sum(axis=1)
    return found


def by_confusion(prevalence: np.ndarray, confusion: np.ndarray) -> Redraw:
    """Return redraws of raters with confusion matrices, shape (n_raters, n_classes, n_classes).

    Parameters
    ----------
    prevalence : ndarray, shape (n_classes,)
    confusion : ndarray, shape (n_raters, n_classes, n_classes)
        Rater, true class, annotated class.
    """

    def redraw(dataset: Dataset, seed: int) -> np.ndarray:
        return drawn(dataset, prevalence, lambda rows, truth: confusion[dataset.rater[rows], truth], seed)

    return redraw


def independent_beta(data: HeldOutData, redraw: Redraw, score: Callable[[HeldOutData], HeldOut], seed: int) -> float:
    """Estimate the held-out β (`HeldOut.middle_beta`) of independent raters in this design; mean of two if few.

    Where there is one set of folds, two of the five hold thousands of annotations, and all five would cost as much as
    the scores of the model itself.

    Parameters
    ----------
    data : HeldOutData
        Whose folds are used.
    redraw : callable
        Annotations of independent raters from a dataset and a seed.
    score : callable
        The held-out score of the model.
    seed : int

    Raises
    ------
    NotApplicableError
        What was drawn leaves nothing to estimate.
    """
    dataset = data.whole.dataset
    n = FEW_SETS if data.n_sets > 1 else ONE_SET
    seeds = case_seeds(seed, tuple(str(number) for number in range(n)), "independent raters")
    asked = data if data.n_sets > 1 else _of_folds(data, FOLDS_OF_ONE_SET)
    found = [score(_answered(asked, redraw(dataset, int(each)))).middle_beta for each in seeds]
    return round(float(np.mean(found)), 6)


def _answered(data: HeldOutData, answer: np.ndarray) -> HeldOutData:
    """Build the same folds of other annotations by the same raters of the same cases."""
    whole = design("A held-out score", replace(data.whole.dataset, answer=answer), False, "independent")
    refits = tuple(replace(each, data=without_held_out(whole, each.folds.fold != each.number)) for each in data.refits)
    return replace(data, whole=whole, refits=refits)


def _of_folds(data: HeldOutData, n: int) -> HeldOutData:
    """Return the first ``n`` folds, of one set, and what they hide."""
    kept = data.refits[:n]
    n_of_case = np.zeros_like(data.n_of_case)
    for each in kept:
        hidden = (each.folds.fold == each.number) & each.folds.scored
        n_of_case += np.bincount(data.whole.dataset.case_of_annotation[hidden], minlength=n_of_case.size)
    return replace(data, refits=kept, n_of_case=n_of_case)
