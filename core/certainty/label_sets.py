"""Certainty of the labels of a case, one by one and as a set.

A label that means that none of the others applies is not a further label: it applies if no other does.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset, label_sign
from ..annotations.none_of_these import label_of_none
from ..errors import NotApplicableError
from ..plausibility.dirichlet import DirichletCounts
from ..result_base import Columns, Result
from .first_place import exact_top
from .label_p_correct import LabelsCorrect

_EVEN = 1e-9  # Rounding of a probability, for labels named by half of the raters.


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelSetCertainty(Result):
    """Certainty of every label of every case, and of the whole set.

    Attributes
    ----------
    cases, labels : tuple of str
    certainty : ndarray, shape (n_cases, n_labels)
        Probability that the decision on the label (applies or not) stays the same.
    applies : ndarray of bool, shape (n_cases, n_labels)
        True if the label more likely applies than not; False if both are equally likely.
    even : ndarray of bool, shape (n_cases, n_labels)
        True if the label is as likely to apply as not or, if labels exclude each other, as likely as the most likely
        other one.
    whole : ndarray, shape (n_cases,)
        Probability that all labels stay the same, assumed to be independent of each other except for the one that means
        that none applies (`core.annotations.none_of_these`), which follows from the others.
    exclusive : bool
        True if every annotation names one label, so that labels exclude each other: ``whole`` is then the annotation
        certainty of the class, and one label applies to each case.
    none : str or None
        Label that means that none of the others applies; None if there is none, or if labels exclude each other.
    correct : LabelsCorrect or None
        P(correct) of every label; None unless rater models are averaged.
    """

    cases: tuple[str, ...]
    labels: tuple[str, ...]
    certainty: np.ndarray
    applies: np.ndarray
    even: np.ndarray
    whole: np.ndarray
    exclusive: bool
    none: str | None = None
    correct: LabelsCorrect | None = None

    TABLES = ("cases", "labels")

    def _columns(self, table: str, most: int | None) -> Columns:
        if table == "labels":
            return {
                "label": self.labels,
                "cases": self.applies.sum(axis=0),
                "even": self.even.sum(axis=0),
                "mean_certainty": self.certainty.mean(axis=0),
            }
        found: dict[str, Any] = {"case": self.cases[:most], "labels": self.sets()[:most]}
        found["certainty"] = self.whole[:most]
        each = {f"certainty of {label}": self.certainty[:most, place] for place, label in enumerate(self.labels)}
        if (p := self.p_correct()) is None:
            return found | each
        columns = {f"P(correct) of {label}": p[:most, place] for place, label in enumerate(self.labels)}
        return found | each | {"p_correct": np.fmin.reduce(p[:most], axis=1)} | columns

    def p_correct(self) -> np.ndarray | None:
        """Return P(correct) of the decision on every label, shape (n_cases, n_labels); None if it is not known."""
        return None if self.correct is None else self.correct.of(self.applies, self.even)

    def sets(self) -> list[str]:
        """Return the labels of each case in one text; "" if none applies."""
        sign = label_sign(self.labels)
        return [sign.join(self.labels[place] for place in np.flatnonzero(own)) for own in self.applies]

    def n_below(self, level: float) -> int:
        """Count cases whose set is less certain than ``level``."""
        return int((self.whole < level).sum())


def label_set_certainty(
    dataset: Dataset,
    model: DirichletCounts | None = None,
    *,
    reliability: float = 1.0,
    cases: range | None = None,
) -> LabelSetCertainty:
    """Compute the certainty of labels and sets by Dirichlet counts of each label, given or not; in closed form.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    model : DirichletCounts, optional
    reliability : float
        γ, the trust in the raters, > 0.
    cases : range, optional
        Positions of consecutive cases; all if omitted. All cases determine if labels exclude each other.

    Raises
    ------
    NotApplicableError
        The annotations are not sets, or the model is not Dirichlet counts.
    """
    model = model or DirichletCounts()
    if dataset.kind != "set" or not isinstance(model, DirichletCounts):
        raise NotApplicableError(
            "Could not compute the certainty of label sets: this needs label sets and the Dirichlet counts model."
        )
    tops = [exact_top(model, dataset.as_classes(label)[0], reliability, cases) for label in dataset.classes]
    ids = dataset.cases if cases is None else dataset.cases[cases.start : cases.stop]
    certainty = np.stack([top.certainty for top in tops if top is not None], axis=1)
    applies = np.stack([top.top_class == 1 for top in tops if top is not None], axis=1)
    even = certainty <= 0.5 + _EVEN
    exclusive = len(dataset.entry_class) == dataset.n_annotations
    if not exclusive:
        none, whole = label_of_none(dataset), certainty.prod(axis=1)
        if none is not None:
            whole = _follows(dataset.classes.index(none), certainty, applies, even)
        return LabelSetCertainty(ids, dataset.classes, certainty, applies, even, whole, False, none)
    view = dataset.as_classes()[0]
    classes = exact_top(model, view, reliability, cases)
    assert classes is not None  # Counts have a closed form.
    cells = view.case_of_annotation * view.n_classes + view.answer
    votes = np.bincount(cells, minlength=view.n_cases * view.n_classes).reshape(view.n_cases, view.n_classes)
    votes = votes if cases is None else votes[cases.start : cases.stop]
    most = votes == votes.max(axis=1, keepdims=True)
    even = most & (most.sum(axis=1, keepdims=True) > 1)
    applies = classes.top_class[:, None] == np.arange(dataset.n_classes)
    return LabelSetCertainty(ids, dataset.classes, certainty, applies, even, classes.certainty, True)


def _follows(none: int, certainty: np.ndarray, applies: np.ndarray, even: np.ndarray) -> np.ndarray:
    """Set the label "none applies" by the others, and return the certainty of the set."""
    others = np.arange(certainty.shape[1]) != none
    absent = np.where(applies, 1 - certainty, certainty)[:, others].prod(axis=1)
    applies[:, none] = ~(applies | even)[:, others].any(axis=1)
    certainty[:, none] = np.where(applies[:, none], absent, 1 - absent)
    even[:, none] = np.abs(absent - 0.5) <= _EVEN
    return certainty[:, others].prod(axis=1)
