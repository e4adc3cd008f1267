"""Majority vote: the class that most raters named, with ties shared."""

from dataclasses import dataclass

import numpy as np

from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from ..checked import checked
from ..errors import NotApplicableError
from ._kernels import count_from, vote_shares
from .rater_methods import RaterModelMethod
from .result import RaterModelFit
from .sizes import check_size

_UNWEIGHTED = np.empty(0)


@checked
@dataclass(frozen=True, slots=True)
class MajorityVote:
    """Majority vote, in which every rater counts the same."""

    def fit(self, dataset: Dataset) -> RaterModelFit:
        """Return vote shares as class probabilities, and raters against the winning class (tied winners share a case).

        Raises
        ------
        NotApplicableError
            The annotations are not single classes, or there is none.
        LimitError
            The tables would not fit into memory.
        """
        check_size("Majority vote", dataset)
        if dataset.n_annotations == 0:
            raise NotApplicableError("Could not fit majority vote: there are no annotations.")
        counts = class_counts(dataset)
        share = vote_shares(counts.ptr, counts.class_code, counts.count, dataset.n_classes)
        winners = share >= share.max(axis=1, keepdims=True) - 1e-12
        winner_share = winners / winners.sum(axis=1, keepdims=True)
        answered = np.diff(dataset.case_ptr) > 0
        cell = cells(dataset)
        _, by_cell = count_from(dataset.case_ptr, cell, winner_share, dataset.n_raters * dataset.n_classes, _UNWEIGHTED)
        confusion, evidence = normalised(by_cell, dataset)
        return RaterModelFit(
            model="majority",
            method="vote",
            cases=dataset.cases,
            raters=dataset.raters,
            classes=dataset.classes,
            prevalence=winner_share[answered].mean(axis=0),
            confusion=confusion,
            evidence=evidence,
            class_probability=share,
            n_annotations=np.bincount(dataset.rater, minlength=dataset.n_raters),
        )


def cells(dataset: Dataset) -> np.ndarray:
    """Encode rater and class of each annotation as one number, rater * n_classes + class, int32."""
    return dataset.rater * np.int32(dataset.n_classes) + dataset.answer


def normalised(by_cell: np.ndarray, dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Compute confusion matrices and their evidence from counts by (rater and annotation, true class)."""
    counts = by_cell.reshape(dataset.n_raters, dataset.n_classes, dataset.n_classes).transpose(0, 2, 1)
    evidence = counts.sum(axis=2)
    confusion = np.full(counts.shape, 1.0 / dataset.n_classes)
    np.divide(counts, evidence[:, :, None], out=confusion, where=evidence[:, :, None] > 0)
    return confusion, evidence


def _by_vote(model, dataset, way, run, token, progress) -> RaterModelFit:
    return model.fit(dataset)


METHOD = RaterModelMethod(
    "majority",
    "Majority vote",
    plainly="The class that most raters chose. Every rater has the same weight.",
    exactly="The most frequent class among the annotations of a case. Tied classes share the case equally.",
    sources=(),
    needs=(),
    make=MajorityVote,
    fit=_by_vote,
    ways=("vote",),
    sentence="The probability of each class for each case was taken as its share of the annotations.",
    place=0,
    reference=True,
    warm=True,
)
