"""Held-out annotations in closed form: their log probability given the other readers of the case, by reliability γ.

Dirichlet counts ``(γ n_y + α)/(γ n + K α)``; PrIRN ``(γ λ̂ + ε s)/(γ + K ε)``; Gaussian scores by the Student t
predictive of their conjugate posterior [Stutz et al., Evaluating AI systems under uncertain ground truth, appendices A
and B.3].
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..plausibility.dirichlet import DirichletCounts
from ..plausibility.gaussian import GaussianScores
from ..plausibility.prirn import PrIRN
from ..plausibility.protocol import PlausibilityModel
from ..rankings.blocks import ranked_entries
from ..rankings.irn import whole_weights

_RATIO_BOUNDS = (1e-3, 1e3)  # of γ/α, and of γ for scores
_PRIRN_BOUNDS = (1e-2, 1e6)  # of γ/ε
_STEPS = 121
_APART = 1e-3  # of ln γ


@dataclass(frozen=True, slots=True, eq=False)
class ClosedForm:
    """Held-out log probabilities in closed form, of few distinct values.

    Attributes
    ----------
    log_p : callable
        Log probabilities of the distinct held-out annotations at one γ.
    place : ndarray of int64, shape (n_held_out,)
        Which of them each held-out annotation is.
    case : ndarray of int64, shape (n_held_out,)
    bounds : tuple of float
        Range of γ that is searched.
    """

    log_p: Callable[[float], np.ndarray]
    place: np.ndarray
    case: np.ndarray
    bounds: tuple[float, float]

    def case_sum(self, reliability: float, n_cases: int) -> np.ndarray:
        """Sum over the held-out annotations of each case."""
        return np.bincount(self.case, self.log_p(reliability)[self.place], n_cases)


def held_out_annotations(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Annotations that are held out, and the reader of every annotation.

    Held out is the first annotation of each reader on cases that have two readers or more, ascending. Where raters are
    anonymous, each annotation has a reader of its own.

    Raises
    ------
    NotApplicableError
        No case has two readers.
    """
    n = dataset.n_annotations
    reader = dataset.rater.astype(np.int64) if dataset.raters_identified else np.arange(n)
    _, first = np.unique(_groups(dataset.case_of_annotation, reader), return_index=True)
    case = dataset.case_of_annotation[first]
    held = np.sort(first[np.bincount(case, minlength=dataset.n_cases)[case] >= 2])
    if held.size == 0:
        raise NotApplicableError(
            "No case has annotations of two raters, so no rater can be held out and predicted from the others."
        )
    return held, reader


def closed_form(dataset: Dataset, model: PlausibilityModel, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Held-out annotations of a dataset under a model.

    Parameters
    ----------
    dataset : Dataset
    model : PlausibilityModel
    held : ndarray of int64, shape (n_held,)
        Annotations that are held out, ascending, as `held_out_annotations` gives them.
    reader : ndarray of int64, shape (n_annotations,)
        Who gave each annotation, from the same.

    Raises
    ------
    NotApplicableError
        The model has no closed form, or does not take this kind of annotation.
    """
    if isinstance(model, DirichletCounts):
        return _counts(dataset, model, held, reader)
    if isinstance(model, PrIRN):
        return _first_blocks(dataset, model, held, reader)
    if isinstance(model, GaussianScores):
        return _scores(dataset, model, held, reader)
    raise NotApplicableError(
        f"There is no held-out score of {getattr(model, 'name', type(model).__name__)!r}: it takes a model whose cases "
        "are independent, such as Plackett-Luce."
    )


def _groups(*columns: np.ndarray) -> np.ndarray:
    """A number for each distinct row of some whole-numbered columns, ndarray of int64."""
    group = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        group = np.unique(group * (np.int64(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return group


def _counts(dataset: Dataset, model: DirichletCounts, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Dirichlet counts: what matters is how many of how many other annotations name the class."""
    if dataset.kind != "class":
        raise NotApplicableError(f"Counts need one class per annotation; these are {dataset.kind}s.")
    case, answer = dataset.case_of_annotation, dataset.answer
    own, same = _groups(case, reader), _groups(case, answer)
    own_same = _groups(own, answer)
    total = np.diff(dataset.case_ptr)[case] - np.bincount(own)[own]
    match = np.bincount(same)[same] - np.bincount(own_same)[own_same]
    pairs, place = np.unique(np.column_stack([match[held], total[held]]), axis=0, return_inverse=True)
    alpha, n_classes = model.alpha, dataset.n_classes

    def log_p(reliability: float) -> np.ndarray:
        return np.log((reliability * pairs[:, 0] + alpha) / (reliability * pairs[:, 1] + n_classes * alpha))

    return ClosedForm(log_p, place.ravel(), case[held], (alpha * _RATIO_BOUNDS[0], alpha * _RATIO_BOUNDS[1]))


def _first_blocks(dataset: Dataset, model: PrIRN, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """PrIRN: the share that the other readers' weights give to the classes of the first block."""
    entries = ranked_entries(dataset)
    units = whole_weights(entries, model.ties)
    annotation = np.repeat(np.arange(dataset.n_annotations), np.diff(entries.ptr))
    case = dataset.case_of_annotation[annotation]

    def summed(group: np.ndarray) -> np.ndarray:
        total = np.zeros(group.max(initial=-1) + 1, np.int64)  # whole numbers: what is left of equals is exactly 0
        np.add.at(total, group, units)
        return total[group]

    own = _groups(case, reader[annotation])
    by_class = summed(_groups(case, entries.class_code)) - summed(_groups(own, entries.class_code))
    total = summed(case) - summed(own)
    first = entries.block == 0
    n = dataset.n_annotations
    share = np.bincount(annotation[first], by_class[first] / np.maximum(total[first], 1), n)[held]
    size = np.bincount(annotation[first], minlength=n)[held]
    pairs, place = np.unique(np.column_stack([share, size]), axis=0, return_inverse=True)
    epsilon, n_classes = model.epsilon, dataset.n_classes

    def log_p(reliability: float) -> np.ndarray:
        return np.log((reliability * pairs[:, 0] + epsilon * pairs[:, 1]) / (reliability + n_classes * epsilon))

    bounds = epsilon * _PRIRN_BOUNDS[0], epsilon * _PRIRN_BOUNDS[1]
    return ClosedForm(log_p, place.ravel(), dataset.case_of_annotation[held], bounds)


def _scores(dataset: Dataset, model: GaussianScores, held: np.ndarray, reader: np.ndarray) -> ClosedForm:
    """Scores: y | others ~ t with 2 an degrees of freedom about mn, squared scale bn (κn + 1)/(an κn)."""
    if dataset.kind != "score":
        raise NotApplicableError(f"Gaussian scores need numbers; these are {dataset.kind}s.")
    from scipy.special import gammaln

    case, score = dataset.case_of_annotation, dataset.score
    mean = (np.bincount(case, score, dataset.n_cases) / np.maximum(np.diff(dataset.case_ptr), 1))[case]
    own, off = _groups(case, reader), score - mean  # sums about the case's mean: no cancellation of large scores
    n = (np.bincount(case)[case] - np.bincount(own)[own])[held]
    left = (np.bincount(case, off)[case] - np.bincount(own, off)[own])[held] / n
    squares = (np.bincount(case, off**2)[case] - np.bincount(own, off**2)[own])[held] - n * left**2
    middle, squares, y = mean[held] + left, np.maximum(squares, 0.0), score[held]

    def log_p(reliability: float) -> np.ndarray:
        weight = reliability * n
        k = model.k0 + weight
        a = model.a0 + weight / 2
        b = model.b0 + reliability * squares / 2 + model.k0 * weight * (middle - model.m0) ** 2 / (2 * k)
        centre = (model.k0 * model.m0 + weight * middle) / k
        spread = 2 * b * (k + 1) / k  # degrees of freedom × squared scale
        constant = gammaln(a + 0.5) - gammaln(a) - 0.5 * np.log(np.pi * spread)
        return constant - (a + 0.5) * np.log1p((y - centre) ** 2 / spread)

    return ClosedForm(log_p, np.arange(held.size), case[held], _RATIO_BOUNDS)


def maximum(closed: ClosedForm) -> tuple[float, list[float]]:
    """γ of the largest score within the bounds, and the points between which it was looked for.

    Where the score is as large a little below as a little above: what it is there differs by less than its rounding.
    """
    from scipy.optimize import brentq

    times = np.bincount(closed.place)

    def score(log_reliability: float) -> float:
        return float(times @ closed.log_p(np.exp(log_reliability)))

    dense = np.geomspace(*closed.bounds, _STEPS)
    values = [score(value) for value in np.log(dense)]
    top = int(np.argmax(values))
    if top in (0, _STEPS - 1):
        return float(dense[top]), dense.tolist()
    low, high = np.log(dense[top - 1]), np.log(dense[top + 1])
    best = brentq(lambda x: score(x + _APART) - score(x - _APART), low, high, xtol=1e-10)
    return float(np.exp(best)), dense.tolist()
