"""The label that says that no other applies."""

import numpy as np

from .dataset import Dataset

NONE_APPLIES = "none of these"
_NAMES = frozenset({NONE_APPLIES, "none of the above", "none", "no label", "nothing", "no finding", "no findings"})


def label_of_none(dataset: Dataset) -> str | None:
    """The label by which raters say that none of the others applies; None where the data have no such label.

    It goes by its name, and no annotation may name it beside another: where one does, it is a label like all others.

    Parameters
    ----------
    dataset : Dataset
        Of sets.
    """
    size = np.diff(dataset.entry_ptr)
    several = np.repeat(size > 1, size)
    for code, name in enumerate(dataset.classes):
        if name.strip().casefold() in _NAMES and not (several & (dataset.entry_class == code)).any():
            return name
    return None
