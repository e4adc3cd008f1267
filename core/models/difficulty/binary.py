"""One class against the rest: what a model of two classes makes of data with more."""

import numpy as np

from ...annotations.dataset import Dataset
from ...errors import NotApplicableError, NotFoundError


def one_against_rest(dataset: Dataset, positive: str | None = None) -> tuple[Dataset, int]:
    """The data with two classes, and which of them counts as positive.

    Data of two classes stay as they are; the second declared class is positive if none is named. Of more classes all
    but the positive one become the class "not ...", declared first.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, there is one class only, or there are more than two and none is named.
    NotFoundError
        There is no class of that name.
    """
    if dataset.kind != "class":
        raise NotApplicableError(f"Difficulty models need one class per annotation; these are {dataset.kind}s.")
    if dataset.n_classes < 2:
        raise NotApplicableError("Difficulty models need two classes; only one is declared.")
    if positive is None:
        if dataset.n_classes > 2:
            raise NotApplicableError(
                f"Difficulty models tell two classes apart; these data have {dataset.n_classes:,}. Choose the class "
                "that "
                "counts as positive, against all others."
            )
        return dataset, 1
    if positive not in dataset.classes:
        raise NotFoundError(f"There is no class {positive!r} in {dataset.name}.")
    code = dataset.classes.index(positive)
    if dataset.n_classes == 2:
        return dataset, code
    gold = None
    if dataset.gold is not None:
        gold = np.where(dataset.gold < 0, -1, dataset.gold == code).astype(np.int32)
    return (
        Dataset(
            name=dataset.name,
            kind="class",
            cases=dataset.cases,
            raters=dataset.raters,
            classes=(f"not {positive}", positive),
            case_ptr=dataset.case_ptr,
            rater=dataset.rater,
            answer=(dataset.answer == code).astype(np.int32),
            entry_ptr=dataset.entry_ptr,
            time=dataset.time,
            raters_identified=dataset.raters_identified,
            case_group=dataset.case_group,
            gold=gold,
        ),
        1,
    )
