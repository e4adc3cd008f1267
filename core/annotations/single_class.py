"""Rankings and scores as single classes, for methods that need one class per annotation."""

from dataclasses import replace

import numpy as np

from ..errors import InputError
from .csr import keep_annotations
from .dataset import Dataset


def as_classes(dataset: Dataset, threshold: float | None) -> tuple[Dataset, int]:
    """One class per annotation, and how many annotations were left out; see `Dataset.as_classes`."""
    if dataset.kind == "class":
        return dataset, 0
    if dataset.kind == "score":
        if threshold is None:
            raise InputError("Scores have no classes.", "Choose a threshold that splits them in two.")
        if not np.isfinite(threshold):
            raise InputError(f"The threshold is {threshold}.", "Give a finite number.")
        return replace(
            dataset,
            kind="class",
            classes=(f"≤ {threshold:g}", f"> {threshold:g}"),
            answer=(dataset.score > threshold).astype(np.int32),
            score=np.empty(0),
            ordinal=True,
        ), 0
    first = dataset.entry_ptr[:-1]
    second = np.minimum(first + 1, len(dataset.entry_block) - 1)
    tied = (np.diff(dataset.entry_ptr) > 1) & (dataset.entry_block[second] == 0)
    kept = keep_annotations(dataset.case_ptr, ~tied)
    return replace(
        dataset,
        kind="class",
        case_ptr=kept,
        rater=dataset.rater[~tied],
        answer=dataset.entry_class[first][~tied],
        entry_ptr=np.zeros(1, np.int64),
        entry_class=np.empty(0, np.int32),
        entry_block=np.empty(0, np.int32),
        time=None if dataset.time is None else dataset.time[~tied],
    ), int(tied.sum())
