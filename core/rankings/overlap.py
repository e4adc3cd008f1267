"""Average overlap of partial rankings, with ties and unranked classes in expectation.

``UAO(b, b') = tr((T P̃_b')ᵀ D_L (T P̃_b))`` and ``meanAO = UAO(b, b') / √(UAO(b, b) UAO(b', b'))``: T lower triangular
ones, D_L = diag(1/(L k), k = 1..L), row i of P̃ uniform over the block that holds position i, the unranked classes being
the last block [Stutz et al., Evaluating AI systems under uncertain ground truth, appendix B.5]. Without ties and with
everything ranked, UAO is the average overlap of Webber et al. (2010), DOI 10.1145/1852102.1852106.
"""

from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import InputError
from ._kernels import mean_pair_overlaps, overlaps_of_pairs, pair_overlap, self_overlap
from .blocks import Blocks, RankedEntries, entries_of, ranked_entries


@dataclass(frozen=True, slots=True, eq=False)
class CaseOverlaps:
    """Average overlap of the raters of each case: means over its pairs of different raters.

    Attributes
    ----------
    depth : int
        L: only the first L positions are compared.
    uao, mean_ao : ndarray of float64, shape (n_cases,)
        Plain, and normalised to 1 for equal rankings; NaN where fewer than two raters annotated.
    n_pairs : ndarray of int64, shape (n_cases,)
    """

    depth: int
    uao: np.ndarray
    mean_ao: np.ndarray
    n_pairs: np.ndarray

    @property
    def defined(self) -> np.ndarray:
        """Cases with two raters or more, ndarray of bool, shape (n_cases,)."""
        return self.n_pairs > 0

    @property
    def n_cases(self) -> int:
        """Number of cases with two raters or more."""
        return int(self.defined.sum())

    @property
    def overall_uao(self) -> float | None:
        """Mean of ``uao`` over those cases; None if there are none."""
        return float(self.uao[self.defined].mean()) if self.n_cases else None

    @property
    def overall_mean_ao(self) -> float | None:
        """Mean of ``mean_ao`` over those cases; None if there are none."""
        return float(self.mean_ao[self.defined].mean()) if self.n_cases else None


def soft_permutation(blocks: Blocks, n_classes: int, depth: int | None = None) -> np.ndarray:
    """Compute the probability of each class at each of the first positions if ties are broken at random.

    Parameters
    ----------
    blocks : list of lists of int
        Tied classes, first choice first; what is not named is the last block.
    n_classes : int
    depth : int, optional
        Number of positions; all if omitted.

    Returns
    -------
    ndarray of float64, shape (depth, n_classes)
        Rows sum to 1.
    """
    depth = n_classes if depth is None else depth
    _check_depth(depth, n_classes)
    entries = entries_of([blocks], n_classes)
    n_ranked = len(entries.class_code)
    matrix = np.zeros((depth, n_classes))
    rest = np.ones(n_classes, bool)
    rest[entries.class_code] = False
    matrix[n_ranked:, rest] = 1 / max(n_classes - n_ranked, 1)
    for k, before, size in zip(entries.class_code, entries.before, entries.size, strict=True):
        matrix[before : before + size, k] = 1 / size
    return matrix


def uao(first: Blocks, second: Blocks, n_classes: int, depth: int) -> float:
    """Average overlap of two partial rankings over their first ``depth`` positions, 0 to 1; O(depth · ranked classes).

    Parameters
    ----------
    first, second : sequence of sequence of int
        Class codes of each rank, tied within it; classes that are not named are tied at the end.
    n_classes : int
    depth : int
        Number of compared positions.

    Raises
    ------
    InputError
        The depth is not from 1 to ``n_classes``, or a ranking is not one.
    """
    _check_depth(depth, n_classes)
    return _pair(entries_of([first, second], n_classes), n_classes, depth)


def mean_ao(first: Blocks, second: Blocks, n_classes: int, depth: int) -> float:
    """Average overlap normalised so that a ranking has 1 with itself, also where it has ties.

    Parameters
    ----------
    first, second, n_classes, depth
        See `uao`.

    Raises
    ------
    InputError
        See `uao`.
    """
    _check_depth(depth, n_classes)
    entries = entries_of([first, second], n_classes)
    own = [self_overlap(a, entries.ptr, entries.before, entries.size, n_classes, depth) for a in (0, 1)]
    return min(1.0, _pair(entries, n_classes, depth) / float(np.sqrt(own[0] * own[1])))


def pair_mean_ao(dataset: Dataset, first: np.ndarray, second: np.ndarray, depth: int) -> np.ndarray:
    """Compute `mean_ao` of pairs of annotations of a dataset.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings or single classes.
    first, second : ndarray of int, shape (n_pairs,)
        Positions of annotations.
    depth : int
        Number of compared positions, from 1 to the number of classes.

    Returns
    -------
    ndarray of float64, shape (n_pairs,)

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    InputError
        The depth or a position is out of its range.
    """
    entries = ranked_entries(dataset)
    _check_depth(depth, dataset.n_classes)
    first, second = np.ascontiguousarray(first, np.int64), np.ascontiguousarray(second, np.int64)
    for side in (first, second):
        if side.size and not 0 <= side.min() <= side.max() < dataset.n_annotations:
            raise InputError("Could not compute overlap: a pair refers to an annotation that does not exist.")
    return overlaps_of_pairs(
        first, second, entries.ptr, entries.class_code, entries.before, entries.size, dataset.n_classes, depth
    )


def rater_overlaps(dataset: Dataset, depth: int) -> CaseOverlaps:
    """Average overlaps of the raters of each case, over all pairs of different raters.

    O(entries · depth), however many pairs there are.

    Parameters
    ----------
    dataset : Dataset
        Dataset of rankings or single classes.
    depth : int
        L, from 1 to the number of classes.

    Raises
    ------
    NotApplicableError
        The annotations are scores.
    InputError
        The depth is out of its range.
    """
    entries = ranked_entries(dataset)
    _check_depth(depth, dataset.n_classes)
    means = mean_pair_overlaps(
        dataset.case_ptr,
        dataset.rater,
        entries.ptr,
        entries.class_code,
        entries.before,
        entries.size,
        dataset.n_classes,
        depth,
    )
    return CaseOverlaps(depth, *means)


def _pair(entries: RankedEntries, n_classes: int, depth: int) -> float:
    where = np.full(n_classes, -1, np.int64)
    return pair_overlap(0, 1, entries.ptr, entries.class_code, entries.before, entries.size, n_classes, depth, where)


def _check_depth(depth: int, n_classes: int) -> None:
    if not 1 <= depth <= n_classes:
        raise InputError(
            f"The depth of the overlap must be between 1 and {n_classes:,}, the number of classes; got {depth}.",
            "Choose another depth.",
        )
