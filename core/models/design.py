"""Design: one dataset prepared for expectation-maximisation."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal

import numpy as np

from ..annotations.counts import class_counts
from ..annotations.csr import keep_annotations
from ..annotations.dataset import Dataset
from ..errors import NotApplicableError
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ..runtime.executors import add_results
from ..text import plural
from ._kernels import count_from, expect_and_count, first_answers, vote_shares
from .gold import known_classes
from .majority import cells
from .sizes import check_size

Repeats = Literal["independent", "first", "refuse"]
_SHARED_WORK, _CHUNK_WORK, _TABLES_A_CHUNK = 50_000, 500_000, 4
UNWEIGHTED = np.empty(0)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Annotations in the form that kernels take.

    Attributes
    ----------
    dataset : Dataset
        What is fitted: with ``repeats="first"`` further annotations of a rater on a case are gone.
    cell : ndarray of int32, shape (n_annotations,)
        rater * n_classes + annotation.
    start : ndarray, shape (n_cases, n_classes)
        Vote shares (ties split), and certainty where the class is known.
    known : ndarray of int32, shape (n_cases,) or (0,)
        Class of a case that is held fixed, or -1; empty if none is.
    chunks : list of (int, int)
    repeats : str
    n_repeats : int
        Annotations that repeat an earlier one of the same rater on the same case.
    """

    dataset: Dataset
    cell: np.ndarray
    start: np.ndarray
    known: np.ndarray
    chunks: list[tuple[int, int]]
    repeats: str
    n_repeats: int

    @property
    def n_cells(self) -> int:
        """Number of pairs of a rater and an annotation."""
        return self.dataset.n_raters * self.dataset.n_classes

    def expected(
        self,
        log_theta: np.ndarray,
        log_prevalence: np.ndarray,
        posterior: np.ndarray | None = None,
        weight: np.ndarray = UNWEIGHTED,
        token: CancelToken | None = None,
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Run the E step: see `core.models.em.expect`.

        Parameters
        ----------
        log_theta : ndarray, shape (n_cells, n_classes)
        log_prevalence : ndarray, shape (n_classes,)
        posterior, weight, token
            See `core.models.em.expect`.
        """
        keep = posterior is not None
        into = posterior if keep else np.empty((0, log_prevalence.size))
        of_data, pointer = (log_theta, log_prevalence, self.known, weight), self.dataset.case_ptr

        def one(chunk: tuple[int, int]):
            return expect_and_count(pointer, self.cell, *of_data, *chunk, into, keep)

        return reduce(add_results, map_chunks(one, self.chunks, token=token))

    def counted(self, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Count expected cases by class and annotations by (cell, class), from class probabilities of the cases."""

        def one(chunk: tuple[int, int]):
            pointer = self.dataset.case_ptr[chunk[0] : chunk[1] + 1]
            return count_from(pointer, self.cell, start[slice(*chunk)], self.n_cells, UNWEIGHTED)

        return reduce(add_results, map_chunks(one, self.chunks))

    def room_for_posterior(self) -> np.ndarray:
        """Return an array for class probabilities at the end of a climb, (n_cases, n_classes) or (0, n_classes)."""
        return np.empty((self.dataset.n_cases, self.dataset.n_classes))

    def as_one_rater(self) -> "Design":
        """Return the same annotations as if one rater had given them all."""
        one = replace(self.dataset, raters=("all",), rater=np.zeros_like(self.dataset.rater))
        return replace(self, dataset=one, cell=cells(one), chunks=_chunks(one))


def design(title: str, dataset: Dataset, use_gold: bool = False, repeats: Repeats = "independent") -> Design:
    """Prepare the dataset, or raise the reason why the model cannot be fitted.

    Parameters
    ----------
    title : str
        Title of the model, for messages.
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    use_gold : bool
        True if cases of a gold class are held fixed at it.
    repeats : {"independent", "first", "refuse"}
        Treatment of further annotations of a rater on the same case.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes or are anonymous; every case has at most one and none is known; a rater
        repeated themselves and ``repeats`` is "refuse".
    LimitError
        The tables would not fit into memory.
    """
    check_size(title, dataset)
    dataset.check_raters("Cannot estimate the accuracy of raters")
    first = first_answers(dataset.case_ptr, dataset.rater, dataset.n_raters)
    n_repeats = int((~first).sum())
    if n_repeats and repeats == "refuse":
        raise NotApplicableError(
            f"Could not fit {title}: {plural(n_repeats, 'annotation')} {'repeats' if n_repeats == 1 else 'repeat'} an "
            "earlier one by the same rater on the same case. Choose whether to use only the first annotation or to "
            "count repeats as independent."
        )
    if n_repeats and repeats == "first":
        dataset = replace(
            dataset,
            case_ptr=keep_annotations(dataset.case_ptr, first),
            rater=dataset.rater[first],
            answer=dataset.answer[first],
            time=None if dataset.time is None else dataset.time[first],
            pairs=None,
        )
    known = known_classes(dataset, use_gold)
    answers = np.diff(dataset.case_ptr)
    if not ((answers >= 2).any() or (known[answers > 0] >= 0).any() if known.size else (answers >= 2).any()):
        raise NotApplicableError(
            "Cannot determine rater accuracy: no case has two annotations. Add annotations to some cases."
        )
    chunks = _chunks(dataset)
    start = _votes(dataset, chunks)
    if known.size:
        start[known >= 0] = np.eye(dataset.n_classes)[known[known >= 0]]
    return Design(dataset, cells(dataset), start, known, chunks, repeats, n_repeats)


def _votes(dataset: Dataset, chunks: list[tuple[int, int]]) -> np.ndarray:
    """Compute the share of each class among a case's annotations, shape (n_cases, n_classes)."""
    share = np.empty((dataset.n_cases, dataset.n_classes))

    def one(chunk: tuple[int, int]) -> None:
        counts = class_counts(dataset, range(*chunk))
        share[slice(*chunk)] = vote_shares(counts.ptr, counts.class_code, counts.count, dataset.n_classes)

    for _ in map_chunks(one, chunks):
        pass
    return share


def _chunks(dataset: Dataset) -> list[tuple[int, int]]:
    """Divide cases into chunks, a power of two, by the cost of an E step and independent of the machine.

    Each counts into a table of its own, which must not cost more than the chunk; two where both cores have work at all.
    """
    work = dataset.n_annotations * dataset.n_classes
    table = max(1, dataset.n_raters * dataset.n_classes**2)
    most = min(work // _CHUNK_WORK, work // (_TABLES_A_CHUNK * table))
    n = 2 if work >= 2 * _SHARED_WORK else 1
    while 2 * n <= most:
        n *= 2
    return chunk_ranges(dataset.n_cases, max(1, -(-dataset.n_cases // n)))
