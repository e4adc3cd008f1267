"""Sample of cases: whole partitions as one dataset in memory; partitions hold cases by a hash of their names."""

import numpy as np
import pyarrow as pa

from ..annotations.csr import group_by_case
from ..annotations.dataset import Dataset
from ..annotations.validation import Names
from ..annotations.vocabulary import encode
from .dataset import PartitionedDataset, arrays_of


def sampled(data: PartitionedDataset, most: int) -> Dataset:
    """Read the first partitions with at most ``most`` annotations together, at least one; all if they have no more.

    Cases are in the same order as in memory. Raters are those who annotated them; all classes are included.
    """
    parts = [part for part in data.partitions if part.n_cases]
    total = np.cumsum([part.n_annotations for part in parts])
    taken = tuple(parts[: max(1, int(np.searchsorted(total, most, side="right")))])
    case_ptr, cell = arrays_of(taken)
    names = encode(pa.chunked_array([pa.array(part.names(), pa.string()) for part in taken]))
    case_ptr, order = group_by_case(np.repeat(names.code, np.diff(case_ptr)), len(names.values))
    rater, answer = np.divmod(cell[order], np.int32(data.n_classes))
    used, rater = np.unique(rater, return_inverse=True)
    return Dataset(
        data.name,
        "class",
        names.values,
        Names(data.raters[code] for code in used.tolist()),
        data.classes,
        case_ptr,
        rater.astype(np.int32),
        answer,
        raters_identified=data.raters_identified,
    )
