"""Agreement if classes are a scale, and if they are names: what the answer to that question changes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..annotations.counts import class_counts
from ..annotations.dataset import Dataset
from .intervals import Coefficient
from .krippendorff import krippendorff_alpha


def alpha_as_scale_and_names(dataset: Dataset, order: Sequence[str]) -> tuple[Coefficient, Coefficient]:
    """Compute Krippendorff's alpha of ordered classes with the ordinal and with the nominal metric.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    order : sequence of str
        Classes from low to high; annotations of others do not count.
    """
    place = {name: number for number, name in enumerate(order)}
    counts = class_counts(dataset)
    used = np.array([name in place for name in dataset.classes], bool)[counts.class_code]
    ptr = np.concatenate([[0], np.cumsum(used)])[counts.ptr]
    counts = replace(counts, ptr=ptr, class_code=counts.class_code[used], count=counts.count[used])
    labels = [place.get(name, len(place) + code) for code, name in enumerate(dataset.classes)]
    return (
        krippendorff_alpha(counts, metric="ordinal", labels=labels),
        krippendorff_alpha(counts, metric="nominal", labels=labels),
    )
