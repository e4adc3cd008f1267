"""P(correct) of the labels of a case: one average of two-class rater models per label, named or not.

Labels that few annotations name share one average, with the cases of each as cases of their own. A label that means
that none of the others applies follows from theirs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.none_of_these import label_of_none
from ..runtime.chunks import CancelToken
from .p_correct import PCorrect, p_correct

FEWEST_NAMED = 20  # annotations that name a label with an average of its own


@dataclass(frozen=True, slots=True, eq=False)
class LabelGroup:
    """Labels that are averaged together.

    Attributes
    ----------
    labels : tuple of str
        One label that is named often, or all others.
    classes : Dataset
        Annotations with or without the label; of several labels, the cases of one label after those of another.
    """

    labels: tuple[str, ...]
    classes: Dataset


@dataclass(frozen=True, slots=True, eq=False)
class LabelsCorrect:
    """Probability of every label of every case by averaged rater models.

    Attributes
    ----------
    labels : tuple of str
    parts : tuple of PCorrect or None
        P(correct) of each label, absent or present; None for the label that follows from the others, and until known.
    probability : ndarray, shape (n_cases, n_labels)
        Probability that the label applies; NaN until it is known.
    """

    labels: tuple[str, ...]
    parts: tuple[PCorrect | None, ...]
    probability: np.ndarray

    def of(self, applies: np.ndarray, even: np.ndarray) -> np.ndarray:
        """Return P(correct) of the decision on each label; NaN if it is even, or not known.

        Parameters
        ----------
        applies, even : ndarray of bool, shape (n_cases, n_labels)
            As in `core.certainty.label_sets.LabelSetCertainty`.
        """
        return np.where(even, np.nan, np.where(applies, self.probability, 1 - self.probability))


def label_groups(dataset: Dataset) -> tuple[LabelGroup, ...]:
    """Return the labels that are averaged each by itself, and the group of those that few annotations name.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    """
    named, none = np.bincount(dataset.entry_class, minlength=dataset.n_classes), label_of_none(dataset)
    labels = [label for label in dataset.classes if label != none]
    often = [label for label in labels if named[dataset.classes.index(label)] >= FEWEST_NAMED]
    groups = [LabelGroup((label,), dataset.as_classes(label)[0]) for label in often]
    rare = tuple(label for label in labels if label not in often)
    if rare:
        groups.append(LabelGroup(rare, _together(dataset, rare)))
    return tuple(groups)


def _together(dataset: Dataset, labels: tuple[str, ...]) -> Dataset:
    """Build the dataset of several labels: absent or present, in the cases of each."""
    n = len(labels)
    cases = [f"{label}\n{case}" for label in labels for case in dataset.cases]
    case = np.concatenate([dataset.case_of_annotation + place * dataset.n_cases for place in range(n)])
    answer = np.concatenate([dataset.names_label(label) for label in labels]).astype(np.int32)
    names = dataset.name, cases, dataset.raters, ("absent", "present")
    identified = dataset.raters_identified
    return Dataset.from_classes(*names, case, np.tile(dataset.rater, n), answer, raters_identified=identified)


def of_groups(dataset: Dataset, groups: Sequence[LabelGroup], found: Sequence[PCorrect | None]) -> LabelsCorrect:
    """Return P(correct) of every label from that of the groups.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    groups : sequence of LabelGroup
    found : sequence of PCorrect or None
        P(correct) of each group; None until it is known.
    """
    n, parts = dataset.n_cases, dict[str, PCorrect | None](dict.fromkeys(dataset.classes))
    probability = np.full((n, dataset.n_classes), np.nan)
    for group, one in zip(groups, found, strict=True):
        if one is None:
            continue
        for place, label in enumerate(group.labels):
            own = one.probability[place * n : (place + 1) * n]
            parts[label] = PCorrect(dataset.cases, (f"not {label}", label), own, one.confusion, one.beta)
            probability[:, dataset.classes.index(label)] = own[:, 1]
    if (none := label_of_none(dataset)) is not None:
        others = np.array([label != none for label in dataset.classes])
        probability[:, ~others] = (1 - probability[:, others]).prod(axis=1, keepdims=True)
    return LabelsCorrect(dataset.classes, tuple(parts.values()), probability)


def p_correct_of_labels(
    dataset: Dataset,
    *,
    seed: int = 0,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> LabelsCorrect:
    """Compute P(correct) of every label of every case.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    seed, token, progress
        See `core.certainty.p_correct.p_correct`.

    Raises
    ------
    NotApplicableError
        Rater models are not possible.
    Cancelled
    """
    groups, found = label_groups(dataset), []
    for group in groups:
        found.append(p_correct(group.classes, seed=seed, token=token))
        if progress is not None:
            progress(len(found) / len(groups))
    return of_groups(dataset, groups, found)
