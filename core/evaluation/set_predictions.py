"""Predicted sets of labels, matched to a dataset: one set per case of each classifier."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ..annotations.dataset import Dataset, label_sign
from ..annotations.label_text import codes_of_text, unknown_label
from ..annotations.none_of_these import label_of_none
from ..annotations.vocabulary import encode
from ..errors import InputError
from ..ingest.formats.raw_table import RawTable
from ..ingest.formats.tables import open_table
from ..result_base import Columns, Result
from ..text import exact, plural
from .predictions import (
    Predictions,
    by_classifier,
    columns_of,
    match_predictions,
    match_rows,
    numbers_of,
    open_predictions,
    texts_of,
)

APPLIES_FROM = 0.5
_LABELS = frozenset({"labels", "tags", "set"})
_WHOLE = "Use one row per case with all its labels (case, labels), or one column per label."


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SetPredictions(Result):
    """Sets of one classifier.

    Attributes
    ----------
    name : str
    cases, labels : tuple of str
    applies : ndarray of bool, shape (n_cases, n_labels)
    predicted : ndarray of bool, shape (n_cases,)
        True for cases with a prediction.
    notes : tuple of str
        Notes on what was left out.
    """

    name: str
    cases: tuple[str, ...]
    labels: tuple[str, ...]
    applies: np.ndarray
    predicted: np.ndarray
    notes: tuple[str, ...]

    TABLES = ("sets",)

    def _columns(self, table: str, most: int | None) -> Columns:
        sign = label_sign(self.labels)
        texts = [sign.join(self.labels[code] for code in np.flatnonzero(own)) for own in self.applies[:most]]
        return {"case": self.cases[:most], "labels": texts, "predicted": self.predicted[:most]}


def open_set_predictions(name: str, content: bytes, dataset: Dataset) -> tuple[SetPredictions, ...]:
    """Read predicted sets from a file: all labels in a cell (case, labels), or a column of 0 and 1 or shares per label.

    A probability of one half or more means that the label applies. A column ``classifier`` distinguishes several
    classifiers.

    Parameters
    ----------
    name : str
        Name of the file, and of the classifier if no column names it.
    content : bytes
    dataset : Dataset
        Dataset of sets.

    Raises
    ------
    InputError
        No labels are recognised, one is unknown, a case occurs twice, or no case is in the data; the remedy is
        included.
    """
    raw = open_table(content)
    roles = columns_of(raw.columns, dataset.classes)
    cases = texts_of(encode(raw.table[roles["case"]]))
    across = [column for column in raw.columns if column in set(dataset.classes)]
    texts = next((column for column in raw.columns if column.strip().casefold() in _LABELS), roles.get("class"))
    if across:
        _check_whole(across, dataset, name)
        applies, usable = _from_columns(raw, across, dataset.classes, name)
        none = label_of_none(dataset)
        if none is not None and none not in across:  # This label follows from the others.
            applies[:, dataset.classes.index(none)] = usable & ~applies.any(axis=1)
    elif texts is not None:
        applies, usable = _from_texts(texts_of(encode(raw.table[texts])), dataset.classes, name)
    elif "score" in roles:
        raise InputError(
            f"Could not read {name}: it has one probability per case but no label column.",
            _WHOLE,
        )
    else:
        raise InputError(f"Could not read {name}: it has no labels.", _WHOLE)
    parts = by_classifier(raw, roles, name)
    return tuple(_matched(dataset, title, cases[rows], applies[rows], usable[rows]) for title, rows in parts)


def open_label_predictions(name: str, content: bytes, dataset: Dataset, whole: Dataset) -> tuple[Predictions, ...]:
    """Read predictions of one label: predicted sets split as by `Dataset.as_classes`, or a file of its two classes.

    Parameters
    ----------
    name, content
        See `open_set_predictions`.
    dataset : Dataset
        Dataset of sets split by a label: without it, and with it.
    whole : Dataset
        Dataset of sets from which ``dataset`` was made; it may have more cases.

    Raises
    ------
    InputError
        The file contains neither sets of the labels nor predictions of the two classes.
    """
    try:
        found = open_set_predictions(name, content, whole)
    except InputError as error:
        with suppress(InputError):
            return open_predictions(name, content, dataset, whole)
        raise error from None
    code = whole.classes.index(dataset.classes[-1])
    apart = []
    for one in found:
        cases = [whole.cases[place] for place in np.flatnonzero(one.predicted)]
        names = [dataset.classes[int(applies)] for applies in one.applies[one.predicted, code]]
        known = match_predictions(dataset, cases, names, -np.ones(len(cases)), one.name)
        apart.append(replace(known, notes=(*one.notes, *known.notes)))
    return tuple(apart)


def is_of_label(dataset: Dataset, whole: Dataset) -> bool:
    """Return True if the classes of a dataset are a label of ``whole``, a dataset of sets, and its absence.

    Parameters
    ----------
    dataset, whole : Dataset
    """
    label = dataset.classes[-1]
    return whole.kind == "set" and dataset.classes == (f"not {label}", label) and label in whole.classes


def _check_whole(across: list[str], dataset: Dataset, name: str) -> None:
    """Refuse columns of only some labels, because the others would count as predicted not to apply."""
    absent = [label for label in dataset.classes if label not in across and label != label_of_none(dataset)]
    if absent:
        raise InputError(
            f"Could not use {name}: it predicts only {len(across):,} of {plural(dataset.n_classes, 'label')}, and "
            f"{absent[0]!r} has no column.",
            _WHOLE,
        )


def known_sets(dataset: Dataset) -> SetPredictions | None:
    """Return the known sets of a dataset as gold for `core.evaluation.set_metrics.set_metrics`; None if none.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    """
    if dataset.gold_sets is None:
        return None
    known = dataset.gold_sets[:, 0] >= 0
    return SetPredictions("gold", dataset.cases, dataset.classes, dataset.gold_sets > 0, known, ())


def _from_columns(raw: RawTable, across: list[str], labels: Sequence[str], name: str) -> tuple[np.ndarray, np.ndarray]:
    applies = np.zeros((raw.table.num_rows, len(labels)), bool)
    usable = np.zeros(raw.table.num_rows, bool)
    for column in across:
        value = numbers_of(raw, column)
        if (odd := np.flatnonzero((value < 0) | (value > 1))).size:
            raise InputError(
                f"Could not use {name}: column {column!r} contains {exact(value[odd[0]])} in row {odd[0] + 1}.",
                "Use 0 or 1, or a probability.",
            )
        applies[:, labels.index(column)] = value >= APPLIES_FROM
        usable |= np.isfinite(value)
    return applies, usable


def _from_texts(texts: np.ndarray, labels: Sequence[str], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of each row; an empty cell is the empty set."""
    place = {label: code for code, label in enumerate(labels)}
    applies = np.zeros((len(texts), len(labels)), bool)
    for row, text in enumerate(texts.tolist()):
        codes = codes_of_text(text, place)
        if codes is None:
            unknown = unknown_label(text, place)
            raise InputError(
                f"Could not use {name}: {unknown!r} is not one of the labels.",
                "Use the same labels as the annotations.",
            )
        applies[row, codes] = True
    return applies, np.ones(len(texts), bool)


def _matched(dataset: Dataset, name: str, case_ids: np.ndarray, applies: np.ndarray, usable: np.ndarray):
    rows, case, notes = match_rows(dataset, name, case_ids, usable, "set")
    found = np.zeros((dataset.n_cases, dataset.n_classes), bool)
    predicted = np.zeros(dataset.n_cases, bool)
    found[case], predicted[case] = applies[rows], True
    return SetPredictions(name, dataset.cases, dataset.classes, found, predicted, notes)
