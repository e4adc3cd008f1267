"""Raters without their names, for a room in which not everybody may know who annotated what."""

import numpy as np

from .dataset import Dataset
from .rater_codes import renamed_raters


def without_names(dataset: Dataset) -> Dataset:
    """The same annotations by ``Rater 1``, ``Rater 2`` and on.

    Numbers are given in an order that depends on the content alone, so that they stay the same from one time to the
    next and the alphabet does not give them away.
    """
    rng = np.random.default_rng(int(dataset.content_digest, 16))
    return renamed_raters(dataset, (f"Rater {number}" for number in 1 + rng.permutation(dataset.n_raters)))
