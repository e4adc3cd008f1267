"""Partitions of cases on disk, with the vocabularies and the sums that they share."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NoReturn

import numpy as np
from pyarrow import parquet

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..annotations.validation import Names
from ..errors import NotApplicableError
from ..ingest.build_dataset import ImportReport
from ..runtime.files import load_array


@dataclass(frozen=True, slots=True)
class Partition:
    """Some of the cases, on disk.

    Attributes
    ----------
    folder : Path
    number : int
    n_cases, n_annotations : int
    digest : str
        Of its annotations.
    """

    folder: Path
    number: int
    n_cases: int
    n_annotations: int
    digest: str

    def path(self, what: str) -> Path:
        """The file that holds one of its arrays, or the names of its cases."""
        return self.folder / f"{self.number:05}.{what}"

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """As the kernels of rater models take them: ``case_ptr``, and ``cell``, rater * n_classes + class."""
        case_ptr, cell = load_array(self.path("case_ptr.npy")), load_array(self.path("cell.npy"))
        case_ptr.flags.writeable = False  # as that of a dataset
        return case_ptr, cell

    def names(self) -> Names:
        """What its cases are called."""
        return Names(parquet.ParquetFile(self.path("cases.parquet")).read().column(0).to_pylist())


@dataclass(frozen=True, eq=False)
class PartitionedDataset:
    """A dataset of single classes in partitions; those of `core.annotations.dataset.Dataset` that need no case.

    Made by `core.partitioned.build.partitioned`. What needs all annotations at once says that it cannot be had.

    Attributes
    ----------
    name : str
    raters, classes : tuple of str
        As in memory.
    partitions : tuple of Partition
        A power of two of them, some perhaps without cases.
    patterns : ClassCounts
        Of all cases, one row for each pattern, see `core.partitioned.patterns`.
    annotations_of_raters : ndarray of int64, shape (n_raters,)
    raters_identified : bool
    report : ImportReport
        What became of the rows; of the dropped ones the first by line.
    n_dropped : int
        All dropped rows.
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
        """How often each class was given, int64, shape (n_classes,)."""
        times = np.repeat(self.patterns.times, np.diff(self.patterns.ptr))
        given = np.bincount(self.patterns.class_code, self.patterns.count * times, self.n_classes)
        return given.astype(np.int64)

    @cached_property
    def cases_by_size(self) -> np.ndarray:
        """How many cases have 0, 1, 2, ... annotations."""
        return np.bincount(self.patterns.per_case(), self.patterns.times).astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """Hash of the annotations and of how they are partitioned, 32 hexadecimal digits; not that of `Dataset`."""
        state = hashlib.blake2b(f"plurality-partitions-1 {len(self.partitions)}".encode(), digest_size=16)
        for part in self.partitions:
            state.update(part.digest.encode())
        return state.hexdigest()

    def datasets(self) -> Iterator[Dataset]:
        """The partitions that have cases, each as a dataset with all raters and classes."""
        for part in self.partitions:
            if part.n_cases:
                yield self.dataset(part)

    def dataset(self, part: Partition) -> Dataset:
        """One partition as a dataset with all raters and classes."""
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
        """The partitions in ``most`` blocks of neighbours, or fewer; a power of two of them where ``most`` is one."""
        size = -(-len(self.partitions) // most)
        return [self.partitions[first : first + size] for first in range(0, len(self.partitions), size)]

    @property
    def case_ptr(self) -> NoReturn:
        """What needs the annotations of all cases at once cannot be had."""
        raise NotApplicableError(
            "This needs all annotations in memory at once, and they are worked on in partitions. Take fewer cases."
        )

    rater = answer = case_ptr


def arrays_of(block: tuple[Partition, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The arrays of neighbouring partitions as those of one; see `Partition.arrays`."""
    found = [part.arrays() for part in block if part.n_cases]
    if len(found) == 1:
        return found[0]
    starts = np.cumsum([0, *(len(cell) for _, cell in found)])
    case_ptr = np.concatenate(
        [np.zeros(1, np.int64), *(ptr[1:] + start for (ptr, _), start in zip(found, starts, strict=False))]
    )
    case_ptr.flags.writeable = False
    return case_ptr, np.concatenate([np.empty(0, np.int32), *(cell for _, cell in found)])
