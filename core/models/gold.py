"""Cases whose class is known: held fixed in a fit where that is asked for, and kept apart for judging it otherwise."""

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import NotApplicableError


def known_classes(dataset: Dataset, use_gold: bool) -> np.ndarray:
    """Class of each case, -1 where unknown, int32, shape (n_cases,); empty where gold is not to be used.

    Raises
    ------
    NotApplicableError
        Gold is to be used and there is none.
    """
    if not use_gold:
        return np.empty(0, np.int32)
    if dataset.gold is None or not (dataset.gold >= 0).any():
        raise NotApplicableError("Known classes are to be held fixed, and no case has one. Fit without them.")
    return np.array(dataset.gold, np.int32)


def gold_cases(dataset: Dataset) -> np.ndarray:
    """Cases with a known class and at least one annotation, ascending; empty where there is none."""
    if dataset.gold is None:
        return np.empty(0, np.int64)
    return np.flatnonzero((dataset.gold >= 0) & (np.diff(dataset.case_ptr) > 0))
