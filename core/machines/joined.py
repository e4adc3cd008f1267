"""Annotations of AI raters added to those of people, as further raters of one dataset."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..annotations.dataset import Dataset
from ..annotations.vocabulary import to_numbers
from ..errors import InputError
from ..evaluation.predictions import Predictions
from ..evaluation.score_predictions import ScorePredictions
from ..text import plural, shorten

APART = " (machine)"
_KINDS = {"class": "classes", "ranking": "rankings", "score": "scores", "set": "sets of labels"}


def joined(people: Dataset, machines: Dataset) -> tuple[Dataset, tuple[str, ...], tuple[str, ...]]:
    """Add the raters of another dataset, who are AI raters, to the people's dataset.

    Cases and their order are those of the people. Classes that only an AI rater gave are added at the end.

    Parameters
    ----------
    people, machines : Dataset
        Datasets of one kind. If one of them has scores, classes that are numbers become scores. If one has rankings, a
        class becomes a ranking of one. If the people's classes are one label of sets (`Dataset.as_classes`), the AI
        raters' sets are split by it, too.

    Returns
    -------
    Dataset
        Joined dataset, without times.
    tuple of str
        Names of the AI raters in it; "(machine)" is appended to a name that a person has, too.
    tuple of str
        Notes on cases that the people do not have, and on classes that only an AI rater gave.

    Raises
    ------
    InputError
        The kinds differ, or no case is shared.
    """
    people, machines = _of_one_kind(people, machines)
    if people.kind != machines.kind:
        raise InputError(
            f"Could not combine the annotations: people gave {_KINDS[people.kind]}, but the AI rater gave "
            f"{_KINDS[machines.kind]}.",
            "Provide both as classes, as rankings, or as scores.",
        )
    position = {case: place for place, case in enumerate(people.cases)}
    case_of = np.array([position.get(case, -1) for case in machines.cases], np.int64)
    case = case_of[machines.case_of_annotation]
    kept = case >= 0
    if not kept.any():
        raise InputError(
            f"Could not match cases: the AI rater annotated {_some(machines.cases)}, but people annotated "
            f"{_some(people.cases)}.",
            "Use the same case names in both files. If they are the same, check which column contains the cases.",
        )
    taken = set(people.raters)
    names = tuple(name + APART if name in taken else name for name in machines.raters)
    classes = tuple(dict.fromkeys((*people.classes, *machines.classes)))
    code_of = np.array([classes.index(name) for name in machines.classes], np.int32)
    found = _together(people, machines, np.flatnonzero(kept), case[kept], names, classes, code_of)
    return found, names, _notes(people, machines, case_of, kept, classes)


def _of_one_kind(people: Dataset, machines: Dataset) -> tuple[Dataset, Dataset]:
    kinds = {people.kind, machines.kind}
    if kinds == {"class", "score"}:
        return as_scores(people)[0], as_scores(machines)[0]
    if kinds == {"class", "ranking"}:
        return _as_rankings(people), _as_rankings(machines)
    if people.kind == "class" and machines.kind == "set":
        return people, _by_label_of(people, machines)
    return people, machines


def _by_label_of(people: Dataset, machines: Dataset) -> Dataset:
    """Split the AI rater's sets as the people's were split: without a label, and with it."""
    label = people.classes[-1]
    if people.classes != (f"not {label}", label):
        return machines
    if label not in machines.classes:
        machines = replace(machines, classes=(*machines.classes, label))
    return machines.as_classes(label)[0]


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(shorten(name, 40)) for name in names[:2])
    return f"{shown} …" if len(names) > 2 else shown


def as_scores(dataset: Dataset) -> tuple[Dataset, int]:
    """Convert classes that are numbers to scores, and count annotations left out because their class is not a number.

    Parameters
    ----------
    dataset : Dataset
        Dataset of classes; scores are returned as they are.

    Raises
    ------
    InputError
        Most classes are not numbers, or the annotations are rankings.
    """
    if dataset.kind == "score":
        return dataset, 0
    value = to_numbers(dataset.classes)
    known = np.isfinite(value)
    if dataset.kind != "class" or 2 * known.sum() <= known.size:
        raise InputError(
            f"Could not compute distances: the annotations in {dataset.name} are not numbers.",
            "Compare them as classes (--score accuracy).",
        )
    kept = known[dataset.answer]
    side: dict[str, Any] = {"case_group": dataset.case_group, "raters_identified": dataset.raters_identified}
    found = Dataset.from_scores(
        dataset.name, dataset.cases, dataset.raters, dataset.case_of_annotation[kept], dataset.rater[kept],
        value[dataset.answer[kept]], **side,
    )  # fmt: skip
    return found, int((~kept).sum())


def _as_rankings(dataset: Dataset) -> Dataset:
    if dataset.kind == "ranking":
        return dataset
    ptr, code, block = dataset.entries()
    listed: dict[str, Any] = {"entry_ptr": ptr, "entry_class": code, "entry_block": block}
    return replace(dataset, kind="ranking", answer=np.empty(0, np.int32), **listed)


def called(machines: Dataset, name: str) -> Dataset:
    """Return annotations of one AI rater under a name: those of the only rater, or anonymous ones, one per case.

    Parameters
    ----------
    machines : Dataset
    name : str

    Raises
    ------
    InputError
        The data have several raters, or several annotations of a case.
    """
    if np.diff(machines.case_ptr).max() > 1 or (machines.raters_identified and machines.n_raters > 1):
        raise InputError(
            f"Could not use {name!r}: the file contains annotations by more than one rater.",
            "Use FILE instead of NAME=FILE; every rater in it then counts as an AI rater.",
        )
    return replace(machines, raters=(name,), rater=np.zeros_like(machines.rater), raters_identified=True)


def _together(
    people: Dataset,
    machines: Dataset,
    kept: np.ndarray,
    case: np.ndarray,
    names: tuple[str, ...],
    classes: tuple[str, ...],
    code_of: np.ndarray,
) -> Dataset:
    rows = (
        people.name,
        people.cases,
        (*people.raters, *names),
        np.concatenate([people.case_of_annotation, case]),
        np.concatenate([people.rater, machines.rater[kept] + people.n_raters]),
    )
    side: dict[str, Any] = {"case_group": people.case_group, "raters_identified": people.raters_identified}
    name, cases, raters, case_code, rater_code = rows
    if people.kind == "score":
        score = np.concatenate([people.score, machines.score[kept]])
        return Dataset.from_scores(name, cases, raters, case_code, rater_code, score, **side)
    side |= {"gold": people.gold, "ordinal": people.ordinal and len(classes) == people.n_classes}
    if people.kind == "class":
        answer = np.concatenate([people.answer, code_of[machines.answer[kept]]])
        return Dataset.from_classes(name, cases, raters, classes, case_code, rater_code, answer, **side)
    size = np.diff(machines.entry_ptr)[kept]
    entries = np.repeat(machines.entry_ptr[kept] - np.cumsum(size) + size, size) + np.arange(size.sum())
    ptr = np.concatenate([people.entry_ptr, people.entry_ptr[-1] + np.cumsum(size)])
    code = np.concatenate([people.entry_class, code_of[machines.entry_class[entries]]])
    block = np.concatenate([people.entry_block, machines.entry_block[entries]])
    return Dataset.from_rankings(name, cases, raters, classes, case_code, rater_code, ptr, code, block, **side)


def _notes(
    people: Dataset, machines: Dataset, case_of: np.ndarray, kept: np.ndarray, classes: Sequence[str]
) -> tuple[str, ...]:
    notes = []
    n_other = int((case_of < 0).sum())
    if n_other:
        notes.append(
            f"{plural(n_other, 'case')} annotated only by AI raters {'was' if n_other == 1 else 'were'} left out."
        )
    if added := classes[people.n_classes :]:
        listed = ", ".join(added[:3]) + (" and more" if len(added) > 3 else "")
        notes.append(f"{plural(len(added), 'class was', 'classes were')} chosen only by an AI rater: {listed}.")
    return tuple(notes)


def of_predictions(people: Dataset, predictions: Predictions | ScorePredictions) -> Dataset:
    """Convert predictions to annotations of one rater: first classes, whole lists if people rank, or scores.

    Parameters
    ----------
    people : Dataset
        Dataset whose cases the predictions are matched to.
    predictions : Predictions or ScorePredictions

    Raises
    ------
    InputError
        The kind of predictions differs from that of annotations, or no case has a single first class.
    """
    if isinstance(predictions, ScorePredictions):
        known = np.flatnonzero(predictions.predicted)
        rater = np.zeros(known.size, np.int32)
        return Dataset.from_scores(
            people.name, people.cases, (predictions.name,), known, rater, predictions.score[known]
        )
    if people.kind == "score":
        raise InputError(
            "Could not use the predictions: they are classes, but the annotations are scores.",
            "Provide the AI rater's scores.",
        )
    if people.kind == "set":
        raise InputError(
            "Could not use the predictions: they have one class per case, but the annotations are sets of labels.",
            "Choose a label.",
        )
    sizes = np.diff(predictions.ptr)
    if people.kind == "ranking":
        cases = np.flatnonzero(sizes)
        ptr = np.concatenate([[0], np.cumsum(sizes[cases])])
        return Dataset.from_rankings(
            people.name, people.cases, (predictions.name,), people.classes, cases, np.zeros(cases.size, np.int32),
            ptr, predictions.class_code, predictions.group,
        )  # fmt: skip
    first = predictions.ptr[:-1][sizes > 0]
    tied = np.zeros(first.size, bool)
    longer = sizes[sizes > 0] > 1
    tied[longer] = predictions.group[first[longer] + 1] == 0
    cases = np.flatnonzero(sizes)[~tied]
    if not cases.size:
        raise InputError(
            f"Could not use {predictions.name}: in every case, two or more classes tie for first place.",
            "Provide scores that differ between classes.",
        )
    answer = predictions.class_code[first[~tied]]
    return Dataset.from_classes(
        people.name, people.cases, (predictions.name,), people.classes, cases, np.zeros(cases.size, np.int32), answer
    )
