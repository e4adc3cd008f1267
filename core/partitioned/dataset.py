"""Partitions of cases on disk, with their common vocabularies and sums."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ..annotations.counts import ClassCounts
from ..annotations.csr import group_by_case
from ..annotations.dataset import Dataset
from ..annotations.validation import Names
from ..annotations.vocabulary import encode
from ..errors import NotApplicableError
from ..ingest.build_dataset import ImportReport
from ..runtime.files import load_array


@dataclass(frozen=True, slots=True)
class Partition:
    """Partition of the cases, on disk.

    Attributes
    ----------
    folder : Path
    number : int
    n_cases, n_annotations : int
    digest : str
        Hash of its annotations.
    """

    folder: Path
    number: int
    n_cases: int
    n_annotations: int
    digest: str

    def path(self, what: str) -> Path:
        """Return the path of the file with one of its arrays, or with the names of its cases."""
        return self.folder / f"{self.number:05}.{what}"

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Read the arrays that kernels of rater models take: ``case_ptr``, and ``cell``, rater * n_classes + class."""
        case_ptr, cell = load_array(self.path("case_ptr.npy")), load_array(self.path("cell.npy"))
        case_ptr.flags.writeable = False  # The type is that of a dataset in memory.
        return case_ptr, cell

    def names(self) -> Names:
        """Read the names of its cases."""
        return Names(parquet.ParquetFile(self.path("cases.parquet")).read().column(0).to_pylist())


@dataclass(frozen=True, eq=False)
class PartitionedDataset:
    """Dataset of single classes in partitions, with the parts of `core.annotations.dataset.Dataset` that need no case.

    Made by `core.partitioned.build.partitioned`. Attributes that need all annotations at once raise an error.

    Attributes
    ----------
    name : str
    raters, classes : tuple of str
        Names, as in memory.
    partitions : tuple of Partition
        Partitions; their number is a power of two, and some may have no cases.
    patterns : ClassCounts
        Counts of all cases, one row per pattern, see `core.partitioned.build`.
    annotations_of_raters : ndarray of int64, shape (n_raters,)
    raters_identified : bool
    report : ImportReport
        Report on the rows; of those left out, it lists the first ones by line.
    n_dropped : int
        Number of all rows left out.
    """

    name: str
    raters: Names
    classes: Names
    partitions: tuple[Partition, ...]
    patterns: ClassCounts
    annotations_of_raters: np.ndarray
    raters_identified: bool
    report: ImportReport
    n_dropped: int

    kind = "class"
    ordinal = False
    cases = Names()
    gold = None
    time = None

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return sum(part.n_cases for part in self.partitions)

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return len(self.raters)

    @property
    def n_classes(self) -> int:
        """Length of the class list."""
        return len(self.classes)

    @property
    def n_annotations(self) -> int:
        """Number of annotations."""
        return sum(part.n_annotations for part in self.partitions)

    @cached_property
    def annotations_of_classes(self) -> np.ndarray:
        """Number of annotations of each class, int64, shape (n_classes,)."""
        times = np.repeat(self.patterns.times, np.diff(self.patterns.ptr))
        given = np.bincount(self.patterns.class_code, self.patterns.count * times, self.n_classes)
        return given.astype(np.int64)

    @cached_property
    def cases_by_size(self) -> np.ndarray:
        """Number of cases with 0, 1, 2, ... annotations."""
        return np.bincount(self.patterns.per_case(), self.patterns.times).astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """Hash of the annotations and of how they are partitioned, 32 hexadecimal digits; not that of `Dataset`."""
        state = hashlib.blake2b(f"plurality-partitions-1 {len(self.partitions)}".encode(), digest_size=16)
        for part in self.partitions:
            state.update(part.digest.encode())
        return state.hexdigest()

    def datasets(self) -> Iterator[Dataset]:
        """Yield the partitions with cases, each as a dataset with all raters and classes."""
        for part in self.partitions:
            if part.n_cases:
                yield self.dataset(part)

    def dataset(self, part: Partition) -> Dataset:
        """Read one partition as a dataset with all raters and classes."""
        case_ptr, cell = part.arrays()
        rater, answer = np.divmod(cell, np.int32(self.n_classes))
        return Dataset(
            self.name,
            "class",
            part.names(),
            self.raters,
            self.classes,
            case_ptr,
            rater,
            answer,
            raters_identified=self.raters_identified,
        )

    def blocks(self, most: int) -> list[tuple[Partition, ...]]:
        """Group partitions in at most ``most`` blocks of neighbours; a power of two if ``most`` is one."""
        size = -(-len(self.partitions) // most)
        return [self.partitions[first : first + size] for first in range(0, len(self.partitions), size)]

    @property
    def case_ptr(self) -> NoReturn:
        """Offsets of the annotations of all cases, which are not available in partitions."""
        raise NotApplicableError(
            "Could not use partitioned data: this result needs all annotations in memory at once. Use fewer cases."
        )

    rater = answer = case_ptr


def arrays_of(block: tuple[Partition, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Join the arrays of neighbouring partitions; see `Partition.arrays`."""
    found = [part.arrays() for part in block if part.n_cases]
    if len(found) == 1:
        return found[0]
    starts = np.cumsum([0, *(len(cell) for _, cell in found)])
    case_ptr = np.concatenate(
        [np.zeros(1, np.int64), *(ptr[1:] + start for (ptr, _), start in zip(found, starts, strict=False))]
    )
    case_ptr.flags.writeable = False
    return case_ptr, np.concatenate([np.empty(0, np.int32), *(cell for _, cell in found)])


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
