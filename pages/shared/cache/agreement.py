"""Cached results for the Agreement page in addition to its analysis, by the content of the data and the version."""

from collections.abc import Sequence

import numpy as np

from core.annotations.dataset import Dataset
from pages.shared.cache.remembered import remembered


@remembered
def n_repeats(dataset: Dataset) -> int:
    """Annotations that repeat an earlier one of the same rater on the same case; none where raters are not known."""
    if not dataset.raters_identified:
        return 0
    case = np.repeat(np.arange(dataset.n_cases), np.diff(dataset.case_ptr))
    return int(dataset.n_annotations - len(np.unique(case * dataset.n_raters + dataset.rater)))


@remembered
def _ordered(dataset: Dataset, classes: tuple[str, ...]) -> Dataset:
    from core.annotations.ordering import with_class_order

    return with_class_order(dataset, classes)


def ordered(dataset: Dataset, classes: Sequence[str]) -> Dataset:
    """Return the dataset with its classes in a meaningful order."""
    return _ordered(dataset, tuple(classes))


@remembered
def _alphas(dataset: Dataset, order: tuple[str, ...]):
    from core.agreement.krippendorff import alpha_as_scale_and_names

    return alpha_as_scale_and_names(dataset, order)


def alpha_as_scale_and_names(dataset: Dataset, order: Sequence[str]):
    """See `core.agreement.krippendorff.alpha_as_scale_and_names`."""
    return _alphas(dataset, tuple(order))


@remembered
def adaptive(dataset: Dataset):
    """Test whether the number of annotations of a case depends on early disagreement."""
    from core.agreement.adaptive import adaptive_collection

    return adaptive_collection(dataset)
