"""Test of whether columns of integers are raters with annotations, or classes with their number of raters."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from .answer_rules import cannot_tell
from .column_mapping import words
from .formats.headers import HEADERS_JOINED

_MARGIN = 3.0  # standard errors by which sums must vary more or less than those of unrelated columns
_FEWEST, _FEW = 3, 10
_BY_CHANCE = 8  # fewer rows of unrelated numbers can add up alike
_LARGEST_GRADE = 11  # largest grade of common scales of raters
_UNLIKE = 3.0  # raters of one scale have means nearer to each other than this
_NAMED = 0.8
_ANSWERS = words(
    "yes no true false positive negative neutral normal abnormal benign malignant other others none mixed present "
    "absent low medium high mild moderate severe agree disagree accept reject correct incorrect relevant irrelevant "
    "toxic supports refutes entailment contradiction"
)
_CLASS_STEMS = words("class cls category cat type option choice stage grade level star stars")
_EITHER_STEMS = frozenset(("", "c", "k", "col", "column", "x", "v"))
_NUMBERED = re.compile(r"(.*?)(?:[\W_]*\d+|[\W_]+[a-z])|[a-z]")
_HOW_MANY = re.compile(
    r"(?:n|no|num|nr|count|number|votes?|freq|frequency|#)[\W_]+(?:of[\W_]+|for[\W_]+)?\w.*|.*\w[\W_]+(?:n|counts?|votes?)"
)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Result of the test.

    Attributes
    ----------
    counts : bool
        True if columns are rather classes than raters.
    sure : bool
        False if the other reading is not ruled out, so the user has to decide.
    why : str
        Reason in words.
    """

    counts: bool
    sure: bool
    why: str


def weigh(numbers: np.ndarray, blank: np.ndarray, columns: Sequence[str], classes: Collection[str] = ()) -> Weighed:
    """Weigh names, range, blanks and sums of columns of integers.

    Counts of the classes of one case compete: if one is high the others are low, and the sum of a row varies far less
    than for unrelated columns. Grades of raters rise and fall together, and their sum varies more. For independent
    columns the ratio of the variance of the sums to the sum of the variances is 1 with standard error sqrt(2 (k - 1) /
    (k (n - 1))), whatever their distributions.

    Parameters
    ----------
    numbers : ndarray, shape (n_rows, n_columns)
        Values of at least two columns; blank cells are 0.
    blank : ndarray of bool, shape (n_rows, n_columns)
    columns : sequence of str
    classes : collection of str
        Names that are known to be classes: from gold, or from the columns of predictions.
    """
    names = _names(columns, classes)
    if names >= 2:
        return Weighed(True, True, "the column names look like classes or counts of annotations")
    sums = numbers.sum(1)
    low, high = int(sums.min()), int(sums.max())
    if len(numbers) < _FEWEST or numbers.max() < 2:
        return Weighed(False, True, "there are too few rows, or no number is above 1")
    if low == high >= 2 and (numbers == 0).any() and (len(numbers) >= _FEW or names >= 0):
        return Weighed(True, names > 0 or len(numbers) >= _BY_CHANCE, f"the integers in each row add up to {low}")
    margin = _competition(numbers)
    # A case without annotations, or zeros next to blanks: these are rather grades, with 0 as one of them.
    as_grades = low == 0 or (bool(blank.any()) and bool(((numbers == 0) & ~blank).any()))
    if margin <= -_MARGIN:
        why = f"the integers in each row add up to between {low} and {high}, and when one is high, the others are low"
        return Weighed(True, not as_grades and (names >= 0 or margin <= -2 * _MARGIN), why)
    if margin >= _MARGIN:
        return Weighed(
            names > 0,
            names < 0 or (names == 0 and _one_scale(numbers)),
            "the numbers in the columns rise and fall together",
        )
    if names < 0:
        return Weighed(False, True, "the column names look like numbered raters")
    if names > 0 and not as_grades:
        return Weighed(True, True, "the column names look like classes")
    sure = names == 0 and as_grades and numbers.max() <= _LARGEST_GRADE and margin > -2.0
    return Weighed(names > 0 or (margin < 0 and not as_grades), sure, "whole numbers")


def _names(columns: Sequence[str], classes: Collection[str]) -> int:
    """Return 2 if names show classes or counts, 1 if they look like classes, -1 if they look like raters, else 0."""
    plain = [column.rsplit(HEADERS_JOINED, 1)[-1].strip().casefold() for column in columns]
    known = {name.strip().casefold() for name in classes}
    if sum(name in known for name in plain) >= max(2, _NAMED * len(plain)):
        return 2
    if all(_HOW_MANY.fullmatch(name) for name in plain):
        return 2
    if any(name in _ANSWERS for name in plain) or cannot_tell(columns):
        return 1
    found = [_NUMBERED.fullmatch(name) for name in plain]
    stems = {hit.group(1) or "" for hit in found if hit is not None}
    if None in found or len(stems) != 1 or stems <= _EITHER_STEMS:
        return 0
    return 1 if stems <= _CLASS_STEMS else -1


def _competition(numbers: np.ndarray) -> float:
    """Return by how many standard errors row sums vary more than those of unrelated columns; negative if less."""
    n_rows, n_columns = numbers.shape
    apart = numbers.var(0).sum()
    ratio = numbers.sum(1).var() / apart if apart else 1.0
    return float((ratio - 1) / np.sqrt(2 * (n_columns - 1) / (n_columns * (n_rows - 1))))


def _one_scale(numbers: np.ndarray) -> bool:
    """Return whether columns of numbers that rise and fall together may be on one scale, as raters' are.

    Counts do so if cases have very different numbers of annotations; their columns then differ in size.
    """
    means = numbers.mean(0)
    return bool(numbers.max() <= _LARGEST_GRADE or means.max() < _UNLIKE * means.min())
