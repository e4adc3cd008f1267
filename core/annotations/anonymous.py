"""Raters without their names, for a room in which not everybody may know who annotated what."""

from collections.abc import Collection

import numpy as np

from .dataset import Dataset
from .rater_codes import renamed_raters


def without_names(dataset: Dataset, machines: Collection[str] = ()) -> Dataset:
    """The same annotations by ``Rater 1``, ``Rater 2`` and on, and by ``Machine 1`` and on of those who are machines.

    Numbers are given in an order that depends on the content alone, so that they stay the same from one time to the
    next and the alphabet does not give them away.
    """
    rng = np.random.default_rng(int(dataset.content_digest, 16))
    number = (1 + rng.permutation(dataset.n_raters)).tolist()
    of_machines = sorted(number[rater] for rater, name in enumerate(dataset.raters) if name in machines)
    called = [f"Machine {of_machines.index(one) + 1}" if one in of_machines else f"Rater {one}" for one in number]
    return renamed_raters(dataset, called)
