"""The label that says that no other applies."""

import numpy as np

from .dataset import Dataset

NONE_APPLIES = "none of these"
_NAMES = frozenset({NONE_APPLIES, "none of the above", "none", "no label", "nothing", "no finding", "no findings"})


def says_none(text: str) -> bool:
    """Whether a text says that no label applies, be it in brackets."""
    return text.strip(" ()[]<>").casefold() in _NAMES


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
        if says_none(name) and not (several & (dataset.entry_class == code)).any():
            return name
    return None
