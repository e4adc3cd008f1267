"""Pairwise agreement of raters, the cases where two of them disagree, and an order of raters by similarity.

The order is by average linkage with optimal leaf ordering: Bar-Joseph et al. (2001), DOI
10.1093/bioinformatics/17.suppl_1.S22.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset
from ..errors import LimitError, NotApplicableError, NotFoundError, OptionError
from ..methods import ONE_CLASS, Computation
from ..result_base import Columns, Result, named
from ..settings import current_settings
from ._kernels import pair_tables, rater_pairs, table_margins, table_squares
from .coefficient_methods import formulas
from .coefficients import PERCENT, both_ways
from .formulas import Formula, Sums, slopes_of_raters
from .intervals import wilson

SHRINKAGE = 5.0  # pairs of annotations at the mean that each cell is given
MOST_FOR_OPTIMAL = 300


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairMatrix(Result):
    """Coefficient of every two raters; matrices are symmetric, of shape (n_raters, n_raters).

    Attributes
    ----------
    raters : tuple of str
        Both axes of the matrices.
    n : ndarray of int64
        Pairs of annotations on the same case.
    agree : ndarray of int64
        Number of them that are the same class.
    coefficient : str
        One of `pair_coefficients`.
    value : ndarray of float64
        NaN where `why` says why it is undefined.
    se : ndarray of float64
        Linearised over pairs of annotations; NaN if there is none, and throughout for percent agreement.
    level : float
        Confidence level of the intervals, 0 to 1.
    least : float
        The least value of the coefficient.
    """

    raters: tuple[str, ...]
    n: np.ndarray
    agree: np.ndarray
    coefficient: str
    value: np.ndarray
    se: np.ndarray
    level: float
    least: float

    TABLES = ("pairs",)

    def _columns(self, table: str, most: int | None) -> Columns:
        first, second = np.triu_indices(len(self.raters) if most is None else min(len(self.raters), most + 1), 1)
        pairs = list(zip(first.tolist(), second.tolist(), strict=True))
        ends = [self.interval(i, j) or (np.nan, np.nan) for i, j in pairs]
        return {
            "rater": named(self.raters, first),
            "other_rater": named(self.raters, second),
            **{name: getattr(self, name)[first, second] for name in ("n", "agree", "value", "se")},
            "ci_low": np.array([low for low, _ in ends]),
            "ci_high": np.array([high for _, high in ends]),
            "note": [self.why(i, j) for i, j in pairs],
        }

    @property
    def share(self) -> np.ndarray:
        """Share that agrees, float64, shape (n_raters, n_raters); NaN if two raters share no case."""
        return _share(self.agree, self.n)

    def interval(self, i: int, j: int) -> tuple[float, float] | None:
        """Compute the interval of one cell: Wilson's for percent agreement, Student's t for others; else None."""
        from scipy.special import ndtri, stdtrit

        n = float(self.n[i, j])
        if self.coefficient == PERCENT:
            return wilson(self.agree[i, j] / n, n, float(ndtri((1 + self.level) / 2))) if n else None
        if np.isnan(self.se[i, j]):
            return None
        half = float(stdtrit(n - 1, (1 + self.level) / 2)) * float(self.se[i, j])
        value = float(self.value[i, j])
        return max(self.least, value - half), min(1.0, value + half)

    def why(self, i: int, j: int) -> str:
        """Explain why a cell is undefined; empty if it is defined."""
        if i == j:
            return "undefined: raters are not compared with themselves"
        if self.n[i, j] == 0:
            return "undefined: the two raters have no cases in common"
        return (
            "undefined: both raters used only one class, the same for all cases" if np.isnan(self.value[i, j]) else ""
        )


@dataclass(frozen=True, slots=True, eq=False)
class Disagreements:
    """Pairs of annotations of two raters on one case that differ; arrays of shape (n_disagreements,), by case.

    Attributes
    ----------
    case : ndarray of int32
        Positions of the cases in the dataset.
    answer_a, answer_b : ndarray of int32
        Classes that the first and the second rater gave.
    n : int
        Pairs of annotations of the two on the same case, alike or not.
    """

    case: np.ndarray
    answer_a: np.ndarray
    answer_b: np.ndarray
    n: int


def pair_coefficients() -> tuple[str, ...]:
    """Return the coefficients that `pair_matrix` supports."""
    return PERCENT, *(name for name, formula in formulas().items() if formula.of_pairs)


def pair_matrix(dataset: Dataset, coefficient: str = PERCENT, level: float = 0.95) -> PairMatrix:
    """Compute the agreement of every two raters on the cases that both annotated.

    Where a rater annotated a case more than once, each pair of annotations counts as a case of its own.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    coefficient : str
        One of `pair_coefficients`; all but percent agreement keep a table of classes for every two raters.
    level : float
        Confidence level of the intervals, 0 to 1.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    LimitError
        The matrix of raters × raters, or the tables, would not fit into memory.
    """
    if coefficient not in pair_coefficients():
        raise OptionError(f"`coefficient` must be one of {', '.join(pair_coefficients())}; got {coefficient!r}")
    _check(dataset)
    n_raters, n_classes, limit = dataset.n_raters, dataset.n_classes, current_settings().max_model_cells
    if n_raters**2 > limit:
        raise LimitError(
            f"Cannot compare {n_raters:,} raters pairwise: this needs {n_raters**2:,} cells; the limit is "
            f"{limit:,}. Select fewer raters."
        )
    if coefficient == PERCENT:
        n, agree = rater_pairs(dataset.case_ptr, dataset.rater, dataset.answer, n_raters)
        return PairMatrix(dataset.raters, n, agree, coefficient, _share(agree, n), np.full(n.shape, np.nan), level, 0.0)
    if (n_raters * n_classes) ** 2 > limit:
        raise LimitError(
            f"Cannot compare {n_raters:,} raters pairwise: tables for {n_classes:,} classes need "
            f"{(n_raters * n_classes) ** 2:,} cells; the limit is {limit:,}. Select fewer raters, or use percent "
            "agreement."
        )
    twice, times = both_ways(dataset), 1
    if twice is not dataset:
        times, n_classes = 2, twice.n_classes
    tables = pair_tables(twice.case_ptr, twice.rater, twice.answer, n_raters, n_classes)
    formula = formulas()[coefficient]
    n, agree, value, se = _symmetric(_of_tables(tables, formula), n_raters)
    n, agree, se = n // times, agree // times, se * times**0.5
    highest = formula.highest_chance(n_classes, None) if formula.highest_chance and n_classes > 1 else 0.5
    least = -highest / (1 - highest)
    return PairMatrix(dataset.raters, n, agree, coefficient, value, se, level, least)


def cases_of_disagreement(dataset: Dataset, rater_a: str, rater_b: str) -> Disagreements:
    """Find the cases on which two raters gave different classes, and both annotations.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes, with raters who are identified.
    rater_a, rater_b : str
        Names.

    Raises
    ------
    NotApplicableError
        The annotations are not single classes, or rater names carry no identity.
    NotFoundError
        A rater that the data do not have.
    """
    _check(dataset)
    for rater in (rater_a, rater_b):
        if rater not in dataset.raters:
            raise NotFoundError(f"Could not find rater {rater!r} in {dataset.name}.")
    if rater_a == rater_b:
        raise NotApplicableError("Cannot compare a rater with themselves. Choose two different raters.")
    a, b = (np.flatnonzero(dataset.rater == dataset.raters.index(rater)) for rater in (rater_a, rater_b))
    # Every annotation of the one beside every annotation of the other on that case; both stand in the order of cases.
    case_a, case_b = dataset.case_of_annotation[a], dataset.case_of_annotation[b]
    low, high = np.searchsorted(case_b, case_a), np.searchsorted(case_b, case_a, side="right")
    size = high - low
    first = np.repeat(a, size)
    second = b[np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size) + np.repeat(low, size)]
    differ = dataset.answer[first] != dataset.answer[second]
    first, second = first[differ], second[differ]
    return Disagreements(
        dataset.case_of_annotation[first], dataset.answer[first], dataset.answer[second], int(size.sum())
    )


def _of_tables(tables: np.ndarray, formula: Formula) -> tuple[np.ndarray, ...]:
    """Compute pairs of annotations, those that agree, value and linearised error of each table, shape (n_pairs,).

    Value and error are NaN if they are undefined, the error also of one pair.

    Parameters
    ----------
    tables : ndarray of int32, shape (n_pairs, n_classes, n_classes)
        A pair of annotations counts as a case.
    formula : Formula
    """
    n_classes = tables.shape[1]
    of_rows, of_columns, agree = table_margins(tables)
    n = of_rows.sum(axis=0)
    apart = formula.of == "annotations"  # Alpha is computed from distances.
    with np.errstate(divide="ignore", invalid="ignore"):
        if formula.chance is None:
            chance, (to_row, to_column) = slopes_of_raters(np.stack([of_rows, of_columns]), None)
        else:
            draws, share = formula.chance(n_classes, None), (of_rows + of_columns) / (2 * n)
            chance = draws.mean(share)
            to_row = to_column = (draws.to_all(share) - chance) / n
        sums = Sums(2 * (n - agree) if apart else agree, n, n, 2 * n, chance)
        value, slope = formula(sums), formula.derivative(sums, chance=1.0)
        each = formula.derivative(sums, observed=2.0 if apart else 0.0, paired=1.0, rated=1.0, annotations=2.0)
        alike = formula.derivative(sums, observed=-2.0 if apart else 1.0)
        squares = table_squares(tables, each, alike, slope * to_row, slope * to_column)
        se = np.where(n > 1, np.sqrt(squares * n / (n - 1)), np.nan)
    defined = ~np.isnan(value) & (n_classes >= max(2, formula.needs_classes))
    counts = n.astype(np.int64), agree.astype(np.int64)
    return *counts, np.where(defined, value, np.nan), np.where(defined, se, np.nan)


def _check(dataset: Dataset) -> None:
    dataset.check_kind("class", "Cannot compare pairs of raters")
    dataset.check_raters("Cannot compare raters")


def _share(agree: np.ndarray, n: np.ndarray) -> np.ndarray:
    share = np.full(n.shape, np.nan)
    np.divide(agree, n, out=share, where=n > 0)
    return share


def _symmetric(uppers: Sequence[np.ndarray], n_raters: int) -> list[np.ndarray]:
    squares = [np.full((n_raters, n_raters), np.nan if upper.dtype.kind == "f" else 0, upper.dtype) for upper in uppers]
    row, column = np.triu_indices(n_raters, 1)
    for square, upper in zip(squares, uppers, strict=True):
        square[row, column] = square[column, row] = upper
    return squares


def similarity_order(matrix: PairMatrix) -> np.ndarray:
    """Sort the positions of raters by similarity, ndarray of int64, shape (n_raters,).

    The distance of two raters is 1 less their coefficient, drawn to the mean of all pairs as if `SHRINKAGE` more pairs
    of annotations had that mean: cells of few annotations, or none, say little. The end with more agreement comes
    first; raters who never meet another stand last. Above `MOST_FOR_OPTIMAL` raters the leaves of the tree are not
    turned.
    """
    met = (matrix.n > 0).any(axis=1)
    found = ~np.isnan(matrix.value)
    size = np.where(found, matrix.n, 0).astype(float)
    value = np.where(found, matrix.value, 0.0)
    mean = float((size * value).sum() / size.sum()) if size.sum() else 0.0
    near = (size * value + SHRINKAGE * mean) / (size + SHRINKAGE)
    inner, alone = np.flatnonzero(met), np.flatnonzero(~met)
    if inner.size > 2:
        inner = inner[_leaves(near[np.ix_(inner, inner)])]
        # Neighbours weigh most at the ends, so that turning the matrix round does not turn the order round.
        place = np.linspace(1, -1, inner.size)
        own = (np.where(found, near, 0.0).sum(axis=1) / np.maximum(found.sum(axis=1), 1))[inner]
        inner = inner[::-1] if place @ own < 0 else inner
    return np.concatenate([inner, alone])


def _leaves(near: np.ndarray) -> np.ndarray:
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    distance = np.maximum(1 - near, 0.0)
    np.fill_diagonal(distance, 0.0)
    distance = squareform((distance + distance.T) / 2, checks=False)
    tree = linkage(distance, "average")
    return leaves_list(optimal_leaf_ordering(tree, distance) if len(near) <= MOST_FOR_OPTIMAL else tree)


METHOD = Computation(
    "pairs",
    "Pairwise agreement",
    pair_matrix,
    plainly="Compares each pair of raters on the cases that both have annotated.",
    exactly="Share of annotation pairs that agree, with Wilson's 95% interval. Each cell also shows the number of "
    "pairs.",
    sources=(),
    takes=ONE_CLASS,
    needs=("overlap", "raters"),
)
