"""Datasets with rater names hidden, for settings in which not everybody may know who annotated what."""

from collections.abc import Collection

import numpy as np

from .dataset import Dataset
from .rater_codes import renamed_raters


def without_names(dataset: Dataset, machines: Collection[str] = ()) -> Dataset:
    """Return the same annotations with raters named ``Rater 1``, ``Rater 2``, ..., and AI raters ``Machine 1``, ...

    Numbers are assigned in an order that depends on the content only, so that they do not change from one time to the
    next and alphabetical order does not reveal the names.
    """
    rng = np.random.default_rng(int(dataset.content_digest, 16))
    number = (1 + rng.permutation(dataset.n_raters)).tolist()
    of_machines = sorted(number[rater] for rater, name in enumerate(dataset.raters) if name in machines)
    called = [f"Machine {of_machines.index(one) + 1}" if one in of_machines else f"Rater {one}" for one in number]
    return renamed_raters(dataset, called)
