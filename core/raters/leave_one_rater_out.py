"""The panel: the truth of a case as all others see it, so that no rater vouches for themselves."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..annotations._kernels import counting_sort
from ..annotations.dataset import MISSING_TIME, Dataset
from ..chunks import CancelToken, chunk_ranges, map_chunks
from ..errors import InputError, NotApplicableError
from ..models.gold import known_classes
from ..models.majority import cells
from ..models.result import RaterModelFit
from ._panel_kernels import answers_by_class, chance_of_mistake, without_own

FLOOR = 1e-3  # no answer is impossible: one slip of a rater must not outweigh all others
CHUNK_CASES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Every annotation judged by the answers of the other raters on its case; arrays of shape (n_annotations,).

    Given the answers of the others, an answer of a rater who is right with probability a has probability
    ``a · right + (1 − a) · wrong``.

    Attributes
    ----------
    dataset : Dataset
    fit : RaterModelFit
    right : ndarray
        P(the answer is the true class), by the prevalence, the answers of the others and their confusion matrices.
    wrong : ndarray
        P(this answer | the rater is mistaken): mistakes fall over classes as those of all raters.
    top : ndarray of int32
        Most probable class by the others.
    sure : ndarray
        Its probability.
    judged : ndarray of bool
        False where nobody else answered the case and its class is not known.
    pool : ndarray, shape (n_classes, n_classes)
        Expected answers of all raters: true class, answered class.
    spread : ndarray, shape (n_classes, n_classes)
        How mistakes fall: true class, answered class; rows sum to 1, 0 on the diagonal.
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
    rater_ptr: np.ndarray
    order: np.ndarray

    @property
    def time(self) -> np.ndarray:
        """Times of the annotations, as of the dataset; unknown throughout where it has none."""
        if self.dataset.time is None:
            return np.full(self.dataset.n_annotations, MISSING_TIME)
        return self.dataset.time

    def of(self, rater: int) -> np.ndarray:
        """Annotations of a rater, in order of time."""
        return self.order[self.rater_ptr[rater] : self.rater_ptr[rater + 1]]

    def expected_answers(self, rater: int) -> np.ndarray:
        """Expected judged answers of a rater by (class by the others, answered class), (n_classes, n_classes)."""
        rows = self.of(rater)
        dataset = self.dataset
        cases = np.ascontiguousarray(dataset.case_of_annotation[rows], np.int64)
        known = known_classes(dataset, bool(self.fit.settings.get("use_gold")))
        return answers_by_class(
            dataset.case_ptr, dataset.rater, dataset.answer, cells(dataset), *logs_of(self.fit), known, rows, cases
        )


def panel_of(
    dataset: Dataset,
    fit: RaterModelFit,
    *,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> Panel:
    """Judge every annotation by the others.

    Probabilities of confusion matrices are mixed with `FLOOR` of an even distribution, so that no single answer rules a
    class out. All answers of a rater on a case are taken out together. Cases whose class the fit held fixed are judged
    by it. The parameters of the fit were estimated with the rater's answers; what is taken out is their say on a case.

    Raises
    ------
    NotApplicableError
        The answers are not single classes, or are anonymous.
    InputError
        The fit is of other raters, cases or classes.
    """
    if dataset.kind != "class":
        raise NotApplicableError(
            f"Raters are monitored on single classes; these are {dataset.kind}s. Take the first choices."
        )
    if not dataset.raters_identified:
        raise NotApplicableError("The answers are anonymous, so no rater can be monitored.")
    if (fit.raters, fit.classes, fit.cases) != (dataset.raters, dataset.classes, dataset.cases):
        raise InputError("The fit is of other cases, raters or classes.", "Fit the model to these data.")
    n, n_classes = dataset.n_annotations, dataset.n_classes
    known = known_classes(dataset, bool(fit.settings.get("use_gold")))
    shared = (*logs_of(fit), known)
    right, wrong, sure = np.empty(n), np.empty(n), np.empty(n)
    top, judged = np.empty(n, np.int32), np.empty(n, np.bool_)
    answers = dataset.case_ptr, dataset.rater, dataset.answer, cells(dataset)
    chunks = chunk_ranges(dataset.n_cases, CHUNK_CASES)

    def judge(chunk: tuple[int, int]) -> np.ndarray:
        return without_own(*answers, *shared, *chunk, right, top, sure, judged)

    def mistaken(chunk: tuple[int, int]) -> None:
        chance_of_mistake(*answers, *shared, spread, *chunk, wrong)

    pool = np.zeros((n_classes, n_classes))
    for part in map_chunks(judge, chunks, token=token, progress=progress and (lambda done: progress(done / 2))):
        pool += part
    spread = spread_of(pool)
    for _ in map_chunks(mistaken, chunks, token=token, progress=progress and (lambda done: progress((1 + done) / 2))):
        pass
    return Panel(dataset, fit, right, wrong, top, sure, judged, pool, spread, *in_order(dataset))


def logs_of(fit: RaterModelFit) -> tuple[np.ndarray, np.ndarray]:
    """Finite logs of confusion matrices, shape (n_raters * n_classes answered, n_classes), and of the prevalence."""
    n_classes = len(fit.classes)
    theta = ((1 - FLOOR) * fit.confusion + FLOOR / n_classes).transpose(0, 2, 1).reshape(-1, n_classes)
    return np.log(theta), np.log((1 - FLOOR) * fit.prevalence + FLOOR / n_classes)


def spread_of(pool: np.ndarray) -> np.ndarray:
    """How mistakes fall over the other classes; where few were made, as often as each is answered wrongly at all."""
    n_classes = len(pool)
    off = pool * (1 - np.eye(n_classes))
    wrong = off.sum(axis=0)
    usual = (wrong + 1) / (wrong.sum() + n_classes)
    rows = off + usual * (1 - np.eye(n_classes)) * min(10.0, n_classes)
    total = rows.sum(axis=1, keepdims=True)
    return np.divide(rows, total, out=np.zeros_like(rows), where=total > 0)


def in_order(dataset: Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Annotations by rater, those of each in order of time where there is one."""
    if dataset.time is None:
        return counting_sort(dataset.rater, dataset.n_raters)
    late = np.where(dataset.time == MISSING_TIME, np.iinfo(np.int64).max, dataset.time)
    order = np.lexsort((late, dataset.rater))
    ptr = np.concatenate([[0], np.cumsum(np.bincount(dataset.rater, minlength=dataset.n_raters))])
    return ptr.astype(np.int64), order
