"""How certain the labels of a case are, one by one and as a set.

A label that says that none of the others applies is no further label: it applies where no other does.
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

_EVEN = 1e-9  # of a probability: labels named by half of the raters


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LabelSetCertainty(Result):
    """Certainty of every label of every case, and of the whole set.

    Attributes
    ----------
    cases, labels : tuple of str
    certainty : ndarray, shape (n_cases, n_labels)
        Probability that it stays the same whether the label applies.
    applies : ndarray of bool, shape (n_cases, n_labels)
        Whether it applies, at the point where that is likelier; where both are equally likely it does not.
    even : ndarray of bool, shape (n_cases, n_labels)
        Whether it is as likely to apply as not, or of labels that exclude each other as likely as the likeliest other.
    whole : ndarray, shape (n_cases,)
        Probability that all labels stay the same, taken as independent of each other but for the one that says that
        none of them applies (`core.annotations.none_of_these`), which follows from the others.
    exclusive : bool
        Every annotation names one label, so that labels exclude each other: ``whole`` is then the annotation certainty
        of the class, and one label applies to each case.
    none : str or None
        The label that says that none of the others applies; None where there is none, or labels exclude each other.
    """

    cases: tuple[str, ...]
    labels: tuple[str, ...]
    certainty: np.ndarray
    applies: np.ndarray
    even: np.ndarray
    whole: np.ndarray
    exclusive: bool
    none: str | None = None

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
        return found | each

    def sets(self) -> list[str]:
        """The labels of each case in one text; "" where none applies."""
        sign = label_sign(self.labels)
        return [sign.join(self.labels[place] for place in np.flatnonzero(own)) for own in self.applies]

    def n_below(self, level: float) -> int:
        """Cases whose set is less certain than ``level``."""
        return int((self.whole < level).sum())


def label_set_certainty(
    dataset: Dataset,
    model: DirichletCounts | None = None,
    *,
    reliability: float = 1.0,
    cases: range | None = None,
) -> LabelSetCertainty:
    """Certainty of labels and sets by Dirichlet counts of each label, given or not; in closed form.

    Parameters
    ----------
    dataset : Dataset
        Of sets.
    model : DirichletCounts, optional
    reliability : float
        γ, the trust in the raters, > 0.
    cases : range, optional
        A run of cases; all where not given. Whether labels exclude each other is a matter of all cases.

    Raises
    ------
    NotApplicableError
        The annotations are no sets, or the model is no Dirichlet counts.
    """
    model = model or DirichletCounts()
    if dataset.kind != "set" or not isinstance(model, DirichletCounts):
        raise NotApplicableError("Certainty of sets is by Dirichlet counts, of sets of labels.")
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
    assert classes is not None  # counts have a closed form
    cells = view.case_of_annotation * view.n_classes + view.answer
    votes = np.bincount(cells, minlength=view.n_cases * view.n_classes).reshape(view.n_cases, view.n_classes)
    votes = votes if cases is None else votes[cases.start : cases.stop]
    most = votes == votes.max(axis=1, keepdims=True)
    even = most & (most.sum(axis=1, keepdims=True) > 1)
    applies = classes.top_class[:, None] == np.arange(dataset.n_classes)
    return LabelSetCertainty(ids, dataset.classes, certainty, applies, even, classes.certainty, True)


def _follows(none: int, certainty: np.ndarray, applies: np.ndarray, even: np.ndarray) -> np.ndarray:
    """Put the label that none applies where the others leave it; returns the certainty of the set."""
    others = np.arange(certainty.shape[1]) != none
    absent = np.where(applies, 1 - certainty, certainty)[:, others].prod(axis=1)
    applies[:, none] = ~(applies | even)[:, others].any(axis=1)
    certainty[:, none] = np.where(applies[:, none], absent, 1 - absent)
    even[:, none] = np.abs(absent - 0.5) <= _EVEN
    return certainty[:, others].prod(axis=1)
