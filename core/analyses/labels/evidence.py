"""Evidence for the labels of cases: probabilities by rater models, shares of annotations, and certainty."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ...annotations.dataset import Dataset
from ...annotations.none_of_these import label_of_none
from ...certainty.label_sets import LabelSetCertainty
from ...certainty.shares import CertaintyShares
from ...models.average import METHOD as AVERAGE
from ...models.average import AveragedModels
from ...models.dawid_skene import METHOD as DAWID_SKENE
from ...models.label_fits import LabelFits
from ...models.majority import METHOD as MAJORITY
from ...models.majority import MajorityVote
from ...models.smoothed_vote import METHOD as SMOOTHED
from ...thresholds import UNCERTAIN_BELOW
from ..cases.certainty import CaseCertainty

Label = str | tuple[str, ...] | float | None
_TIED = 1e-9  # rounding of a share


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """Labels by one rule.

    Attributes
    ----------
    by : str
        Title of the model or vote.
    labels : tuple
        A class, or for sets a tuple of labels; None for a tie and for a case without annotations.
    soft : ndarray, shape (n_cases, n_classes)
        Probability or share of each class; for sets, of each label.
    weight : ndarray, shape (n_cases,)
        Probability or share of the label; NaN without one.
    """

    by: str
    labels: tuple[Label, ...]
    soft: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True, eq=False)
class LabelEvidence:
    """Everything that labels of classes and sets are made from.

    Attributes
    ----------
    classes : tuple of str
    n : ndarray of int, shape (n_cases,)
        Annotations of each case.
    is_set : bool
    none : int or None
        Position of the label of sets that means that none of the others applies.
    vote : Proposal
    average : Proposal or None
        None if no rater model can be used.
    details : str
        Description of the average.
    leading : tuple
        Leading class of each case, or set of labels.
    certainty : ndarray, shape (n_cases,)
        Certainty that it stays first.
    shares : CertaintyShares
    """

    classes: tuple[str, ...]
    n: np.ndarray
    is_set: bool
    none: int | None
    vote: Proposal
    average: Proposal | None
    details: str
    leading: tuple[Label, ...]
    certainty: np.ndarray
    shares: CertaintyShares

    def at_bar(self, bar: float) -> CertaintyShares:
        """Return which cases are uncertain if certainty must be at least ``bar``."""
        shares = self.shares
        uncertain = ~shares.single & ~shares.empty & (self.certainty < bar)
        if shares.reach is not None and shares.reach < bar:
            uncertain = np.zeros_like(uncertain)
        return replace(shares, uncertain=uncertain, bar=bar)

    def chance(self, labels: tuple[Label, ...]) -> np.ndarray:
        """Return P(correct) of a label of each case by the average; NaN if there is none."""
        if self.average is None:
            return np.full(len(labels), np.nan)
        return np.array([self._chance(own, label) for own, label in zip(self.average.soft, labels, strict=True)])

    def _chance(self, own: np.ndarray, label: Label) -> float:
        if isinstance(label, str):
            return float(own[self._code[label]])
        if not isinstance(label, tuple):
            return np.nan
        named = np.isin(self.classes, label)
        others = np.arange(len(own)) != (-1 if self.none is None else self.none)
        return float(np.where(named, own, 1 - own)[others].prod())

    @cached_property
    def _code(self) -> dict[str, int]:
        return {name: code for code, name in enumerate(self.classes)}


def of_classes(
    dataset: Dataset, classes: Dataset, certain: CaseCertainty, averaged: AveragedModels | None
) -> LabelEvidence:
    """Return the evidence on single classes and on the first choices of rankings.

    Parameters
    ----------
    dataset : Dataset
        Dataset as raters annotated it.
    classes : Dataset
        The same as single classes.
    certain : CaseCertainty
    averaged : AveragedModels or None
        Average of the rater models of ``classes``.
    """
    answered = np.diff(classes.case_ptr) > 0
    vote = _of_shares(MAJORITY.title, MajorityVote().fit(classes).class_probability, classes.classes, answered)
    average, details = None, ""
    if averaged is not None:
        by = AVERAGE.title if averaged.members else SMOOTHED.title
        average = _of_shares(by, averaged.fit.class_probability, classes.classes, answered)
        details = averaged.sentence
    result, shares = certain.certainty, certain.shares
    assert shares is not None, "of a sweep"
    leading = tuple(result.classes[code] if code >= 0 else None for code in result.top_class())
    return LabelEvidence(
        classes.classes, np.diff(dataset.case_ptr), False, None, vote, average, details, leading,
        result.certainty[:, 0], shares,
    )  # fmt: skip


def of_sets(dataset: Dataset, certain: LabelSetCertainty, fits: LabelFits | None) -> LabelEvidence:
    """Return the evidence on sets of labels.

    Parameters
    ----------
    dataset : Dataset
    certain : LabelSetCertainty
    fits : LabelFits or None
        Fit of each label.
    """
    n = np.diff(dataset.case_ptr)
    case = np.repeat(dataset.case_of_annotation, np.diff(dataset.entry_ptr))
    named = np.zeros((dataset.n_cases, dataset.n_classes))
    np.add.at(named, (case, dataset.entry_class), 1.0)
    share = named / np.maximum(n, 1)[:, None]
    tied = (np.abs(share - 0.5) < _TIED).any(axis=1)
    vote = _of_sets(MAJORITY.title, share, share > 0.5, (n > 0) & ~tied, dataset.classes, None)
    none = label_of_none(dataset)
    place = None if none is None else dataset.classes.index(none)
    average = None
    if fits is not None:
        average = _of_sets(DAWID_SKENE.title, fits.probability, fits.applies, n > 0, dataset.classes, place)
    leading = tuple(_names(dataset.classes, own) for own in certain.applies)
    shares = CertaintyShares(certain.whole < UNCERTAIN_BELOW, n == 1, n == 0, UNCERTAIN_BELOW, int(n.max()), None)
    details = "" if fits is None else f"{DAWID_SKENE.title}, fitted to each label"
    return LabelEvidence(
        dataset.classes, n, True, place, vote, average, details, leading, certain.whole, shares
    )  # fmt: skip


def _of_shares(by: str, share: np.ndarray, classes: tuple[str, ...], answered: np.ndarray) -> Proposal:
    most = share.max(axis=1)
    clear = answered & ((share >= most[:, None] - _TIED).sum(axis=1) == 1)
    labels = tuple(classes[code] if known else None for code, known in zip(share.argmax(axis=1), clear, strict=True))
    return Proposal(by, labels, share, np.where(clear, most, np.nan))


def _of_sets(
    by: str, share: np.ndarray, applies: np.ndarray, clear: np.ndarray, classes: tuple[str, ...], none: int | None
) -> Proposal:
    labels = tuple(_names(classes, own) if known else None for own, known in zip(applies, clear, strict=True))
    others = np.arange(len(classes)) != (-1 if none is None else none)
    weight = np.where(applies, share, 1 - share)[:, others].prod(axis=1)
    return Proposal(by, labels, share, np.where(clear, weight, np.nan))


def _names(classes: tuple[str, ...], applies: np.ndarray) -> tuple[str, ...]:
    return tuple(classes[code] for code in np.flatnonzero(applies))
