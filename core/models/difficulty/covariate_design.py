"""Columns of facts as regressors: values against the most frequent one, numbers in standard deviations."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...annotations.vocabulary import to_numbers
from ...errors import NotApplicableError
from ...text import plural

MOST_COLUMNS = 3
FEWEST_PER_VALUE = 5  # raters or cases for each value of a column
Side = Literal["raters", "cases"]


@dataclass(frozen=True, slots=True, eq=False)
class Covariate:
    """One column of facts.

    Attributes
    ----------
    side : {"raters", "cases"}
    name : str
    reference : str
        Most frequent value, which the others are compared with; empty for numbers.
    values : tuple of str
        Other values, most frequent first; one entry, empty, for numbers.
    counts : tuple of int
        Number of raters or cases with each value; for numbers, with a number.
    sd : float
        Standard deviation of numbers, which is their unit; 1 for values.
    matrix : ndarray, shape (n, n_values + missing)
        Regressors of raters or cases. The last one marks unknown values, if any are unknown.
    """

    side: Side
    name: str
    reference: str
    values: tuple[str, ...]
    counts: tuple[int, ...]
    sd: float
    matrix: np.ndarray


def covariate(side: Side, name: str, values: Sequence[str]) -> Covariate:
    """Return the regressors of a column.

    Parameters
    ----------
    side : {"raters", "cases"}
    name : str
        Name of the column.
    values : sequence of str
        Value of each rater or case, empty if unknown.

    Raises
    ------
    NotApplicableError
        The column has one value, one rater or case for each value, or too many values.
    """
    known = np.array([value != "" for value in values])
    counts = Counter(value for value in values if value)
    could_not, n_known = f"Could not use column {name!r}", int(known.sum())
    one = side.removesuffix("s")
    if len(counts) < 2:
        reason = f"all {side} have the same value" if counts else f"no {one} has a value"
        raise NotApplicableError(f"{could_not}: {reason}.")
    numbers = to_numbers(tuple(values))
    if len(counts) > 2 and np.isfinite(numbers[known]).all():
        if n_known < FEWEST_PER_VALUE:
            raise NotApplicableError(f"{could_not}: it contains numbers for only {plural(n_known, one)}.")
        sd = float(numbers[known].std())
        scaled = np.where(known, (numbers - numbers[known].mean()) / sd, 0.0)
        return Covariate(side, name, "", ("",), (n_known,), sd, _with_missing(scaled[:, None], known))
    if max(counts.values()) == 1:
        raise NotApplicableError(f"{could_not}: every {one} has a different value.")
    if len(counts) * FEWEST_PER_VALUE > n_known:
        most = n_known // FEWEST_PER_VALUE
        raise NotApplicableError(
            f"{could_not}: it has {len(counts):,} different values for {plural(n_known, one)}; the limit is {most:,} "
            f"(one per {FEWEST_PER_VALUE} {side}). Merge some of the values."
        )
    reference, *others = sorted(counts, key=lambda value: (-counts[value], value))
    matrix = np.array([[value == other for other in others] for value in values], float)
    return Covariate(
        side, name, reference, tuple(others), tuple(counts[value] for value in others), 1.0,
        _with_missing(matrix, known),
    )  # fmt: skip


def _with_missing(matrix: np.ndarray, known: np.ndarray) -> np.ndarray:
    return matrix if known.all() else np.column_stack([matrix, ~known])


def side_by_side(columns: Sequence[Covariate], n: int) -> np.ndarray:
    """Return the regressors of several columns, shape (n, n_regressors); without columns, none."""
    return np.ascontiguousarray(np.column_stack([np.empty((n, 0)), *(one.matrix for one in columns)]))
