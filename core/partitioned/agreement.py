"""Agreement over partitions: from patterns of counts, and in additional passes if raters matter."""

from collections.abc import Sequence
from functools import partial
from typing import cast

import numpy as np

from ..agreement._kernels import rater_answers
from ..agreement.applicable_coefficients import ApplicableCoefficients, left_out_of
from ..agreement.coefficient_methods import CoefficientMethod
from ..agreement.coefficients import SCOTT_PI, agreement_table, scott_pi
from ..agreement.cohen_conger import (
    COHEN_KAPPA,
    CONGER_KAPPA,
    REPEATS,
    check_margins,
    margins,
    of_margins,
    warn_repeated,
)
from ..agreement.formulas import Sums
from ..agreement.intervals import Coefficient, undefined
from ..agreement.linearised import NO_PAIR, observed
from ..agreement.weights import resolve_weights
from ..annotations._kernels import count_classes
from ..annotations.counts import ClassCounts
from ..annotations.dataset import Dataset
from ..errors import LimitError
from ..methods import methods
from ..runtime.executors import Executor, LocalExecutor
from .dataset import Partition, PartitionedDataset


def partitioned_agreement(
    data: PartitionedDataset,
    level: float = 0.95,
    *,
    spa_weightings: Sequence[str] = ("annotations_m1",),
    weights: str | None = None,
    runner: Executor | None = None,
) -> ApplicableCoefficients:
    """Compute coefficients for single classes without an order, as `coefficients_for` does for data in memory.

    Parameters
    ----------
    data : PartitionedDataset
    level : float
        Confidence level of the intervals, 0 to 1.
    spa_weightings : sequence of str
        Names from `core.agreement.probability.SPA_WEIGHTINGS` to list.
    weights : str, optional
        Weights of the classes, see `core.agreement.weights.weight_matrix`.
    runner : Executor, optional
    """
    found = agreement_table(data.patterns, level=level, spa_weightings=spa_weightings, weights=weights)
    found += _of_raters(data, level, weights, runner or LocalExecutor())
    place = {name: method.place for name, method in methods(CoefficientMethod).items()}
    found.sort(key=lambda one: place[one.name])  # A stable sort keeps the order of forms of one coefficient.
    return ApplicableCoefficients("nominal", tuple(found), left_out_of(cast(Dataset, data)))


def _of_raters(data: PartitionedDataset, level: float, weights: str | None, runner: Executor) -> list[Coefficient]:
    n_used = int(np.count_nonzero(data.annotations_of_raters)) if data.raters_identified else 0
    if n_used < 2:
        return []
    if n_used > 2:
        return [warn_repeated(_own_margins(CONGER_KAPPA, data, level, weights, runner), data.report.n_repeats)]
    if data.report.n_repeats:
        name = resolve_weights(weights, data.n_classes, None)[0]
        return [undefined(COHEN_KAPPA, name, REPEATS), undefined(SCOTT_PI, name, REPEATS)]
    return [_own_margins(COHEN_KAPPA, data, level, weights, runner), scott_pi(data.patterns, level, weights)]


def _own_margins(
    name: str, data: PartitionedDataset, level: float, weights: str | None, runner: Executor
) -> Coefficient:
    """Compute a coefficient of `core.agreement.cohen_conger` in two passes: for the margins, and for the variance."""
    of, matrix = resolve_weights(weights, data.n_classes, None)
    try:
        check_margins(data.n_raters, data.n_classes)
    except LimitError as error:
        return undefined(name, of, str(error))
    seen = observed(data.patterns, matrix)
    if seen.n_usable == 0:
        return undefined(name, of, NO_PAIR)
    parts = [part for part in data.partitions if part.n_cases]
    (table,) = runner.total(partial(_margins, data.n_raters * data.n_classes), parts)
    table = table.reshape(data.n_raters, data.n_classes)
    chance, slope = margins(table, matrix)
    sums = seen.features(0.0).sums(chance)

    def squares(derivatives: Sums) -> float:
        (total,) = runner.total(partial(_squares, derivatives, sums.rated, matrix), parts, (slope,))
        return total

    return of_margins(name, of, matrix, data.patterns, table, sums, squares, data.report.n_repeats, level)


def _margins(n_cells: int, part: Partition) -> tuple[np.ndarray]:
    """Count how often each rater gave each class on the cases of a partition."""
    return (np.bincount(part.arrays()[1], minlength=n_cells),)


def _squares(
    derivatives: Sums, n_cases: float, matrix: np.ndarray | None, part: Partition, slope: np.ndarray
) -> tuple[float]:
    """Compute `core.agreement.linearised.Features.squares` for the cases of a partition."""
    n_classes = slope.shape[1]
    case_ptr, cell = part.arrays()
    rater, answer = np.divmod(cell, np.int32(n_classes))
    ptr, class_code, count = count_classes(case_ptr, answer, n_classes)
    seen = observed(ClassCounts(ptr, class_code, count, n_classes), matrix)
    to_chance = rater_answers(case_ptr, rater, answer, slope)[seen.rated]
    return (seen.features(to_chance).squares(derivatives, n_cases),)
