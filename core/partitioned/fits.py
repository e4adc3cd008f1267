"""Fits of rater models by expectation-maximisation over partitions: each step reads them once and keeps only sums."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, cast

import numpy as np

from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..annotations.validation import Names
from ..errors import NotApplicableError
from ..models._kernels import count_from, expect_and_count, vote_shares
from ..models.design import UNWEIGHTED, Design
from ..models.em import Point
from ..models.em_model import EmModel
from ..models.majority import cells
from ..models.ordinal import Ordinal
from ..models.result import RaterModelFit
from ..models.sizes import check_raters
from ..models.tempering import point_of
from ..runtime.chunks import CancelToken
from ..runtime.executors import Executor, LocalExecutor
from ..text import plural
from .dataset import Partition, PartitionedDataset, arrays_of

MOST_BLOCKS = 16
_TABLES_A_BLOCK = 4
_NONE_KNOWN = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class PartitionedDesign(Design):
    """Design whose annotations are on disk; see `core.models.design.Design`.

    Attributes
    ----------
    blocks : list of tuple of Partition
        Partitions counted together into one table; the sums of blocks are added as in a tree.
    runner : Executor
        Executor of the work on blocks.
    """

    blocks: list[tuple[Partition, ...]]
    runner: Executor

    def expected(
        self,
        log_theta: np.ndarray,
        log_prevalence: np.ndarray,
        posterior: np.ndarray | None = None,
        weight: np.ndarray = UNWEIGHTED,
        token: CancelToken | None = None,
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """Run the E step over all partitions; it keeps no class probabilities and takes no weights.

        Parameters
        ----------
        log_theta, log_prevalence, token
            Arguments of `core.models.design.Design.expected`.
        posterior, weight
            Not used.
        """
        return self.runner.total(expected_of_block, self.blocks, (log_theta, log_prevalence), token)

    def counted(self, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute expected cases and annotations from the shares of votes; ``start`` is ignored."""
        work = partial(votes_of_block, self.n_cells, self.dataset.n_classes)
        _, cases_of, counts = self.runner.total(work, self.blocks, (), None)
        return cases_of, counts

    def room_for_posterior(self) -> np.ndarray:
        """Return None, because `class_probabilities` gives the posterior by partition."""
        return np.empty((0, self.dataset.n_classes))

    def as_one_rater(self) -> Design:
        """Return all annotations as if one rater had given them, as patterns with their numbers."""
        return _patterns_by_one_rater(self.dataset.patterns)  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True, eq=False)
class _Weighted(Design):
    """Design whose cases each count several times."""

    times: np.ndarray

    def expected(
        self,
        log_theta: np.ndarray,
        log_prevalence: np.ndarray,
        posterior: np.ndarray | None = None,
        weight: np.ndarray = UNWEIGHTED,
        token: CancelToken | None = None,
    ) -> tuple[float, np.ndarray, np.ndarray]:
        return Design.expected(self, log_theta, log_prevalence, posterior, self.times, token)

    def counted(self, start: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return count_from(self.dataset.case_ptr, self.cell, self.start, self.n_cells, self.times)


def _patterns_by_one_rater(patterns: ClassCounts) -> Design:
    case_ptr = np.concatenate([[0], np.cumsum(patterns.per_case())]).astype(np.int64)
    answer = np.repeat(patterns.class_code, patterns.count)
    n = patterns.n_cases
    data = Dataset(
        "patterns",
        "class",
        Names(str(number) for number in range(n)),
        Names(("all",)),
        Names(str(number) for number in range(patterns.n_classes)),
        case_ptr,
        np.zeros(len(answer), np.int32),
        answer,
    )
    start = vote_shares(patterns.ptr, patterns.class_code, patterns.count, patterns.n_classes)
    times = patterns.times.astype(np.float64)
    return _Weighted(data, cells(data), start, _NONE_KNOWN, [(0, n)], "independent", 0, times)


def expected_of_block(
    block: tuple[Partition, ...], log_theta: np.ndarray, log_prevalence: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Run the E step on a block: log-likelihood, expected cases, expected annotations.

    Parameters
    ----------
    block : tuple of Partition
    log_theta : ndarray, shape (n_cells, n_classes)
    log_prevalence : ndarray, shape (n_classes,)
    """
    case_ptr, cell = arrays_of(block)
    nowhere = np.empty((0, log_prevalence.size))
    last = len(case_ptr) - 1
    return expect_and_count(case_ptr, cell, log_theta, log_prevalence, _NONE_KNOWN, UNWEIGHTED, 0, last, nowhere, False)


def votes_of_block(n_cells: int, n_classes: int, block: tuple[Partition, ...]) -> tuple[float, np.ndarray, np.ndarray]:
    """Compute expected cases and annotations of a block from the shares of votes.

    Parameters
    ----------
    n_cells, n_classes : int
    block : tuple of Partition
    """
    from ..annotations._kernels import count_classes

    case_ptr, cell = arrays_of(block)
    shares = vote_shares(*count_classes(case_ptr, cell % np.int32(n_classes), n_classes), n_classes)
    return 0.0, *count_from(case_ptr, cell, shares, n_cells, UNWEIGHTED)


def partitioned_design(title: str, data: PartitionedDataset, repeats: str, runner: Executor) -> PartitionedDesign:
    """Prepare partitions for expectation-maximisation.

    Parameters
    ----------
    title : str
        Name of the model, for messages.
    data : PartitionedDataset
    repeats : {"independent", "first", "refuse"}
        Treatment of further annotations of a rater on the same case.
    runner : Executor

    Raises
    ------
    NotApplicableError
        The design is refused as in `core.models.design.design`, or only first annotations are to count.
    LimitError
        The tables of raters would not fit into memory.
    """
    check_raters(title, data.n_raters, data.n_classes)
    if not data.raters_identified:
        raise NotApplicableError("Cannot estimate the accuracy of raters: the annotations are anonymous.")
    n_repeats = data.report.n_repeats
    if n_repeats and repeats != "independent":
        raise NotApplicableError(
            f"Could not fit {title}: {plural(n_repeats, 'annotation')} {'repeats' if n_repeats == 1 else 'repeat'} an "
            "earlier one by the same rater on the same case. Remove the repeats from the table, or count them as "
            "independent annotations (--repeats independent)."
        )
    if len(data.cases_by_size) < 3:
        raise NotApplicableError(
            "Cannot determine rater accuracy: no case has two annotations. Add annotations to some cases."
        )
    table = data.n_raters * data.n_classes**2
    most = max(2, min(MOST_BLOCKS, data.n_annotations * data.n_classes // (_TABLES_A_BLOCK * table)))
    blocks = [block for block in data.blocks(1 << (most.bit_length() - 1)) if any(part.n_cases for part in block)]
    nothing = np.empty((0, data.n_classes))
    return PartitionedDesign(
        cast(Dataset, data), np.empty(0, np.int32), nothing, _NONE_KNOWN, [], "independent", n_repeats, blocks, runner
    )


def fit_partitioned(
    model: EmModel,
    data: PartitionedDataset,
    *,
    runner: Executor | None = None,
    token: CancelToken | None = None,
    progress: Callable[[float], None] | None = None,
) -> RaterModelFit:
    """Fit a model as `EmModel.fit`, without class probabilities, which `class_probabilities` gives by partition.

    Parameters
    ----------
    model : EmModel
    data : PartitionedDataset
    runner : Executor, optional
        Executor of the blocks; this process if omitted.
    token : CancelToken, optional
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    NotApplicableError
        The fit is refused as in `EmModel.fit`. Ordinal models and fixed gold are refused, too: they need all
        annotations at once.
    """
    if isinstance(model, Ordinal) or model.use_gold:
        what = "hold gold classes fixed" if model.use_gold else f"fit {model.title}"
        raise NotApplicableError(f"Could not {what} with partitioned data. Use data that fit in memory.")
    design = partitioned_design(model.title, data, model.repeats, runner or LocalExecutor())
    fit = model.problem_of(design, token).fit_from(design.start, model.stopping, token, progress)
    return replace(fit, settings={**fit.settings, "start": "vote"})


def class_probabilities(
    fit: RaterModelFit, data: PartitionedDataset, runner: Executor | None = None, token: CancelToken | None = None
) -> Iterator[tuple[Names, np.ndarray]]:
    """Yield names of cases and their class probabilities, shape (n_cases, n_classes), by partition.

    Parameters
    ----------
    fit : RaterModelFit
        Fit by `fit_partitioned`.
    data : PartitionedDataset
    runner : Executor, optional
    token : CancelToken, optional
    """
    point = point_of(fit)
    theta = point.log_theta if fit.beta == 1 else fit.beta * point.log_theta
    parts = [part for part in data.partitions if part.n_cases]
    shared: tuple[Any, ...] = (Point(point.log_prevalence, theta), float(fit.settings.get("doubt", 0.0)))
    found = (runner or LocalExecutor()).each(probabilities_of, parts, shared, token)
    for part, probability in zip(parts, found, strict=True):
        yield part.names(), probability


def probabilities_of(part: Partition, point: Point, doubt: float) -> np.ndarray:
    """Compute class probabilities of a partition's cases; see `core.models.tempering.tempered_posterior`.

    Parameters
    ----------
    part : Partition
    point : Point
        Estimates, with ln θ times β.
    doubt : float
    """
    case_ptr, cell = part.arrays()
    found = np.empty((part.n_cases, point.log_prevalence.size))
    args = (case_ptr, cell, point.log_theta, point.log_prevalence, _NONE_KNOWN, UNWEIGHTED, 0, part.n_cases)
    expect_and_count(*args, found, True)
    return found if not doubt else (1 - doubt) * found + doubt * np.exp(point.log_prevalence)
