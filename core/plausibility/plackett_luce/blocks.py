"""Annotations of one case as blocks of tied classes over the classes named there, with identical ones merged."""

from dataclasses import dataclass

import numpy as np

from ...annotations.dataset import Dataset
from ...errors import NotApplicableError
from ._kernels import local_blocks


@dataclass(frozen=True, slots=True, eq=False)
class CaseBlocks:
    """Distinct rankings of one case.

    Attributes
    ----------
    classes : ndarray of int32, shape (n_named,)
        Classes that somebody named, ascending; places below are positions in it.
    rater_ptr : ndarray of int64, shape (n_distinct + 1,)
        Blocks of each distinct ranking.
    block_ptr : ndarray of int64, shape (n_blocks + 1,)
    member : ndarray of int64, shape (n_members,)
        Places of the classes of each block. A last block with no classes after it is left out.
    multiplicity : ndarray of int64, shape (n_distinct,)
        Number of annotations with each ranking.
    n_rest : int
        Number of classes that nobody named.
    """

    classes: np.ndarray
    rater_ptr: np.ndarray
    block_ptr: np.ndarray
    member: np.ndarray
    multiplicity: np.ndarray
    n_rest: int

    def weight(self, reliability: float) -> np.ndarray:
        """Return the weight of each distinct ranking, float64, shape (n_distinct,)."""
        return reliability * self.multiplicity.astype(np.float64)


def ranking_entries(dataset: Dataset) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return entry pointers, classes and blocks of every annotation; a single class is a ranking of one block.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    """
    if dataset.kind == "set":
        raise NotApplicableError(
            "Could not rank sets of labels: the labels in a set have no order. Choose a label first."
        )
    if dataset.kind == "score":
        raise NotApplicableError("Could not rank scores: they have no classes. Choose a threshold first.")
    return dataset.entries()


def case_blocks(dataset: Dataset, case: int, entries: tuple[np.ndarray, np.ndarray, np.ndarray]) -> CaseBlocks:
    """Find the distinct rankings of one case.

    Parameters
    ----------
    dataset : Dataset
    case : int
        Position of the case.
    entries : tuple of three ndarray
        Entries of all annotations, from `ranking_entries`.
    """
    parts = local_blocks(*entries, dataset.case_ptr[case], dataset.case_ptr[case + 1], dataset.n_classes)
    classes, rater_ptr, block_ptr, member, multiplicity = parts
    return CaseBlocks(classes, rater_ptr, block_ptr, member, multiplicity, dataset.n_classes - len(classes))
