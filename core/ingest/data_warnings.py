"""What a user should look at before trusting a dataset."""

from collections.abc import Sequence

import numpy as np

from ..annotations.dataset import MISSING_TIME, Dataset
from ..text import plural
from .answer_rules import cannot_tell
from .look_alikes import look_alikes


def _share_no_answer(dataset: Dataset) -> list[str]:
    pairs = np.unique(dataset.rater.astype(np.int64) * dataset.n_classes + dataset.answer)
    rater, answer = np.divmod(pairs, dataset.n_classes)
    shared = np.bincount(answer, minlength=dataset.n_classes)[answer] > 1
    sharing, answers = np.zeros(dataset.n_raters, bool), np.bincount(dataset.rater, minlength=dataset.n_raters)
    sharing[rater[shared]] = True
    return [dataset.raters[code] for code in np.flatnonzero(~sharing & (answers >= 3))]  # fewer say nothing


def repeated(n_repeats: int, n_annotations: int | None) -> list[str]:
    """The sentence on annotations that raters repeated, where there are some; ``n_annotations`` of single classes."""
    if not n_repeats:
        return []
    caution = f"Annotations of a rater who had annotated the same case before: {n_repeats:,}. Each is kept."
    if n_annotations is not None and 5 * n_repeats > n_annotations:
        caution += " If they are labels of one annotation, say that an annotation is a set of labels."
    return [caution]


def unsure(classes: Sequence[str]) -> list[str]:
    """The sentence on classes that may mean that the rater could not tell, where there are some."""
    found = cannot_tell(classes)
    if not found:
        return []
    return [
        f"{', '.join(map(repr, found))} may mean that the rater could not tell; it counts as a class until you "
        "say that it is no annotation."
    ]


def cautions_about(dataset: Dataset, wide: bool) -> list[str]:
    """Sentences on too few raters or annotations, look-alike classes, columns that are no raters, and dates."""
    cautions = []
    if dataset.n_raters == 1:
        cautions.append("There is only one rater, so agreement and rater models cannot be computed.")
    elif len(dataset.cases_by_size) == 2:
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
