"""Blocks of tied classes as arrays: single classes and partial rankings in one form."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError, NotApplicableError
from ._kernels import block_places

Blocks = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, eq=False)
class RankedEntries:
    """Ranked classes of annotations in CSR; the last block, of unranked classes, is implied.

    Attributes
    ----------
    ptr : ndarray of int64, shape (n_annotations + 1,)
        Annotation ``a`` has entries ``ptr[a]`` to ``ptr[a + 1]``, ascending by block.
    class_code : ndarray of int32, shape (n_entries,)
    block : ndarray of int32, shape (n_entries,)
        0 = first choice; equal = tied.
    before : ndarray of int32, shape (n_entries,)
        Number of classes in earlier blocks of the annotation.
    size : ndarray of int32, shape (n_entries,)
        Number of classes in the entry's block.
    """

    ptr: np.ndarray
    class_code: np.ndarray
    block: np.ndarray
    before: np.ndarray
    size: np.ndarray


def ranked_entries(dataset: Dataset, annotations: range | None = None) -> RankedEntries:
    """Return the entries of a run of annotations, all if omitted. A single class is one block of one class.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    """
    if dataset.kind == "score":
        raise NotApplicableError("Rankings are needed, but these annotations are scores.")
    if dataset.kind == "set":
        raise NotApplicableError("Rankings are needed, but these annotations are sets of labels without an order.")
    return _placed(*dataset.entries(annotations))


def entries_of(rankings: Sequence[Blocks], n_classes: int) -> RankedEntries:
    """Return the entries of rankings given as blocks, first choice first.

    Parameters
    ----------
    rankings : sequence of blocks
        A ranking is a list of blocks, a block a list of class codes.
    n_classes : int

    Raises
    ------
    InputError
        A block is empty, a class is not one of ``n_classes``, or a ranking names one twice.
    """
    ptr, code, number = [0], [], []
    for ranking, blocks in enumerate(rankings, start=1):
        seen = set()
        for place, block in enumerate(blocks):
            if len(block) == 0:
                raise InputError(f"Could not read ranking {ranking}: block {place + 1} is empty.", "Remove the block.")
            for k in sorted(block):
                if not 0 <= k < n_classes:
                    raise InputError(
                        f"Could not read ranking {ranking}: block {place + 1} has class code {k}.",
                        f"Use class codes from 0 to {n_classes - 1:,}.",
                    )
                if k in seen:
                    raise InputError(
                        f"Could not read ranking {ranking}: it contains class {k} twice.", "Name each class once."
                    )
                seen.add(k)
                code.append(k)
                number.append(place)
        ptr.append(len(code))
    return _placed(np.array(ptr, np.int64), np.array(code, np.int32), np.array(number, np.int32))


def _placed(ptr: np.ndarray, code: np.ndarray, block: np.ndarray) -> RankedEntries:
    arrays = [np.ascontiguousarray(array) for array in (ptr, code, block)]
    for array in arrays:
        array.flags.writeable = False  # as the dataset's own are: the compiler takes the two for different types
    return RankedEntries(*arrays, *block_places(arrays[0], arrays[2]))
