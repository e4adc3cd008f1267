"""What a user should look at before trusting a dataset."""

import numpy as np

from ..annotations.dataset import MISSING_TIME, Dataset
from ..text import plural
from .look_alikes import look_alikes


def _share_no_answer(dataset: Dataset) -> list[str]:
    pairs = np.unique(dataset.rater.astype(np.int64) * dataset.n_classes + dataset.answer)
    rater, answer = np.divmod(pairs, dataset.n_classes)
    shared = np.bincount(answer, minlength=dataset.n_classes)[answer] > 1
    sharing, answers = np.zeros(dataset.n_raters, bool), np.bincount(dataset.rater, minlength=dataset.n_raters)
    sharing[rater[shared]] = True
    return [dataset.raters[code] for code in np.flatnonzero(~sharing & (answers >= 3))]  # fewer say nothing


def cautions_about(dataset: Dataset, wide: bool) -> list[str]:
    """Sentences on too few raters or annotations, look-alike classes, columns that are no raters, and dates."""
    cautions = []
    if dataset.n_raters == 1:
        cautions.append("There is only one rater, so agreement and rater models cannot be computed.")
    elif np.diff(dataset.case_ptr).max() == 1:
        cautions.append(
            "Every case has exactly one annotation: agreement and accuracy cannot be estimated. "
            "Some tools lose raters on export."
        )
    if dataset.kind != "score" and dataset.n_classes == 1:
        cautions.append(
            f"Every annotation is {dataset.classes[0]!r}: with one class, chance-corrected agreement is undefined."
        )
    if wide and dataset.kind == "class" and dataset.n_raters > 1:
        alone = _share_no_answer(dataset)
        if alone:
            names = ", ".join(map(repr, alone[:5]))
            cautions.append(
                f"Columns taken for raters that share no annotation with any other: {names}. Look at the mapping of "
                "the columns, and whether the table has one row per annotation."
            )
    cautions.extend(
        f"Classes that differ only in {what}: {', '.join(repr(dataset.classes[code]) for code in codes)}."
        for codes, what in look_alikes(dataset.classes)
    )
    if dataset.time is not None and (unknown := int((dataset.time == MISSING_TIME).sum())):
        cautions.append(f"{plural(unknown, 'annotation')} without a date that could be understood.")
    return cautions
