"""Panel: the truth of a case by all other raters, so that no rater confirms themselves."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import counting_sort
from ..annotations.dataset import MISSING_TIME, Dataset
from ..errors import InputError
from ..models.cross_fit import CrossFit, cross_fit
from ..models.em import Point
from ..models.gold import known_classes
from ..models.majority import cells
from ..models.result import RaterModelFit
from ..runtime.chunks import CancelToken, chunk_ranges, map_chunks
from ._panel_kernels import chance_of_mistake, classes_by_others, without_own

FLOOR = 1e-3  # No annotation is impossible, so that one slip of a rater does not outweigh all others.
CHUNK_CASES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Judgement of every annotation by the other raters on its case; arrays of shape (n_annotations,).

    Given the annotations of the others, an annotation of a rater who is correct with probability a has probability
    ``a · right + (1 − a) · wrong``.

    Attributes
    ----------
    dataset : Dataset
    fit : RaterModelFit
    right : ndarray
        P(the annotation is the true class), by the prevalence, the annotations of the others and their confusion
        matrices.
    wrong : ndarray
        P(this annotation | the rater is mistaken), with mistakes distributed over classes as those of all raters.
    top : ndarray of int32
        Most likely class by the others.
    sure : ndarray
        Probability of that class.
    judged : ndarray of bool
        False if nobody else annotated the case and its class is unknown.
    pool : ndarray, shape (n_classes, n_classes)
        Expected number of annotations of all raters by true class and annotated class.
    spread : ndarray, shape (n_classes, n_classes)
        Distribution of mistakes by true class and annotated class; rows sum to 1, 0 on the diagonal.
    folds : CrossFit
        Parameters that judge each annotation.
    rater_ptr, order : ndarray
        Annotations of rater j are ``order[rater_ptr[j]:rater_ptr[j + 1]]``, in order of time, those of unknown time
        last; without times in order of cases.
    """

    dataset: Dataset
    fit: RaterModelFit
    right: np.ndarray
    wrong: np.ndarray
    top: np.ndarray
    sure: np.ndarray
    judged: np.ndarray
    pool: np.ndarray
    spread: np.ndarray
    folds: CrossFit
    rater_ptr: np.ndarray
    order: np.ndarray

    @property
    def time(self) -> np.ndarray:
        """Times of the annotations, as in the dataset; all unknown if it has none."""
        if self.dataset.time is None:
            return np.full(self.dataset.n_annotations, MISSING_TIME)
        return self.dataset.time

    def of(self, rater: int) -> np.ndarray:
        """Return the annotations of a rater, in order of time."""
        return self.order[self.rater_ptr[rater] : self.rater_ptr[rater + 1]]

    def by_others(self, rows: np.ndarray) -> np.ndarray:
        """Compute class probabilities of the cases of some annotations by the others, shape (n_rows, n_classes)."""
        dataset = self.dataset
        cases = np.ascontiguousarray(dataset.case_of_annotation[rows], np.int64)
        known = known_classes(dataset, bool(self.fit.settings.get("use_gold")))
        found = np.empty((rows.size, dataset.n_classes))
        for number, point in enumerate(self.folds.points):
            inside = np.flatnonzero(self.folds.fold[rows] == number)
            found[inside] = classes_by_others(
                dataset.case_ptr, dataset.rater, cells(dataset), *logs_of(point), known, rows[inside], cases[inside]
            )
        return found

    def expected_answers(self, rater: int) -> np.ndarray:
        """Count expected judged annotations of a rater by the class of the others and the annotated class."""
        rows = self.of(rater)
        rows = rows[self.judged[rows]]
        table = np.zeros((self.dataset.n_classes, self.dataset.n_classes))
        np.add.at(table.T, self.dataset.answer[rows], self.by_others(rows))
        return table


def panel_of(
    dataset: Dataset,
    fit: RaterModelFit,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Panel:
    """Judge every annotation by the other raters.

    Probabilities of confusion matrices are mixed with `FLOOR` of an even distribution, so that no single annotation
    excludes a class. All annotations of a rater on a case are left out together, from the case and from the parameters
    that judge them (`core.models.cross_fit`). Cases whose class the fit held fixed are judged by it.

    Parameters
    ----------
    dataset : Dataset
    fit : RaterModelFit
        Fit of these data.
    token, progress
        See `core.runtime.chunks.map_chunks`.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or are anonymous.
    InputError
        The fit belongs to other raters, cases or classes.
    """
    dataset.check_kind("class", "Cannot monitor raters", "Use first choices.")
    dataset.check_raters("Cannot monitor raters")
    if (fit.raters, fit.classes, fit.cases) != (dataset.raters, dataset.classes, dataset.cases):
        raise InputError("Could not use the fit: it was made with different data.", "Fit the model to these data.")
    n, n_classes = dataset.n_annotations, dataset.n_classes
    known = known_classes(dataset, bool(fit.settings.get("use_gold")))
    folds = cross_fit(dataset, fit, token=token)
    shared = [(folds.fold, number, *logs_of(point), known) for number, point in enumerate(folds.points)]
    right, wrong, sure = np.empty(n), np.empty(n), np.empty(n)
    top, judged = np.empty(n, np.int32), np.empty(n, np.bool_)
    answers = dataset.case_ptr, dataset.rater, dataset.answer, cells(dataset)
    chunks = chunk_ranges(dataset.n_cases, CHUNK_CASES)

    def judge(chunk: tuple[int, int]) -> np.ndarray:
        return sum(without_own(*answers, *one, *chunk, right, top, sure, judged) for one in shared)

    def mistaken(chunk: tuple[int, int]) -> None:
        for one in shared:
            chance_of_mistake(*answers, *one, spread, *chunk, wrong)

    pool = np.zeros((n_classes, n_classes))
    for part in map_chunks(judge, chunks, token=token, progress=progress and (lambda done: progress(done / 2))):
        pool += part
    spread = spread_of(pool)
    for _ in map_chunks(mistaken, chunks, token=token, progress=progress and (lambda done: progress((1 + done) / 2))):
        pass
    return Panel(dataset, fit, right, wrong, top, sure, judged, pool, spread, folds, *in_order(dataset))


def logs_of(point: Point) -> tuple[np.ndarray, np.ndarray]:
    """Return finite logs of confusion matrices, (n_raters * n_classes annotated, n_classes), and of the prevalence."""
    even = FLOOR / point.log_prevalence.size
    theta, prevalence = np.exp(point.log_theta), np.exp(point.log_prevalence)
    return np.log((1 - FLOOR) * theta + even), np.log((1 - FLOOR) * prevalence + even)


def spread_of(pool: np.ndarray) -> np.ndarray:
    """Distribute mistakes over the other classes; if few were made, by how often each is given wrongly."""
    n_classes = len(pool)
    off = pool * (1 - np.eye(n_classes))
    wrong = off.sum(axis=0)
    usual = (wrong + 1) / (wrong.sum() + n_classes)
    rows = off + usual * (1 - np.eye(n_classes)) * min(10.0, n_classes)
    total = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)


def in_order(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Sort annotations by rater, and by time if known."""
    if dataset.time is None:
        return counting_sort(dataset.rater, dataset.n_raters)
    late = np.where(dataset.time == MISSING_TIME, np.iinfo(np.int64).max, dataset.time)
    order = np.lexsort((late, dataset.rater))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(dataset.rater, minlength=dataset.n_raters))])
    return ptr.astype(np.int64), order
