"""Label that means that no other label applies."""

import numpy as np

from .dataset import Dataset

NONE_APPLIES = "none of these"
_NAMES = frozenset({NONE_APPLIES, "none of the above", "none", "no label", "nothing", "no finding", "no findings"})


def says_none(text: str) -> bool:
    """Return whether a text means that no label applies, with or without brackets."""
    return text.strip(" ()[]<>").casefold() in _NAMES


def label_of_none(dataset: Dataset) -> str | None:
    """Return the label that means that none of the others applies; None if the data have no such label.

    It is found by its name, and no annotation may combine it with another label; otherwise it is a label like all
    others.

    Parameters
    ----------
    dataset : Dataset
        Dataset of sets.
    """
    size = np.diff(dataset.entry_ptr)
    several = np.repeat(size > 1, size)
    for code, name in enumerate(dataset.classes):
        if says_none(name) and not (several & (dataset.entry_class == code)).any():
            return name
    return None
