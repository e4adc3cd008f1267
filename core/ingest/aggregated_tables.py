"""Tables of how often each class was given, as one row per annotation: counts, contingency, patterns."""

from collections.abc import Callable

import numpy as np

from ..annotations.vocabulary import Coded, encode, to_numbers
from ..errors import InputError
from ..text import number
from .column_mapping import Mapping
from .formats.raw_table import RawTable
from .long_rows import Rows, drop, names_as_codes, stacked

MOST_ANSWERS = 5_000_000
MOST_OF_ONE_CASE = 100_000
MOST_CASES = 1_000_000
_ROUNDED = 0.05  # tolerance relative to the largest count, because shares have few decimals


def count_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return the annotations of a table of cases by classes; raters are anonymous.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping; ``across`` has the columns of classes, ``case`` that of cases; without it, cases are numbered.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict)
        Rows; nothing is missing here, so the dict is empty.

    Raises
    ------
    InputError
        A cell is not an integer of at least 0, or there are too many annotations.
    """
    n_rows = raw.table.num_rows
    case = encode(raw.table[mapping.case]) if mapping.case is not None else _numbered(n_rows)
    counts = _counts_of_shares(raw, mapping)
    if counts is None:
        counts = np.stack([_counts(raw, column) for column in mapping.across], 1)
    tell(0.2)
    _refuse_more(int(counts.sum()), MOST_ANSWERS, "annotations")
    _refuse_more(int(counts.sum(1).max(initial=0)), MOST_OF_ONE_CASE, "annotations on one case")
    classes = names_as_codes(mapping.across)
    row, column = np.divmod(np.repeat(np.arange(counts.size), counts.ravel()), len(mapping.across))
    per_row = counts.sum(1)
    place = np.arange(row.size) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    raters = _numbered(int(per_row.max(initial=0)), "answer ")
    rows = Rows(case, raters, classes, row, case.code[row], place.astype(np.int32), classes.code[column])
    rows.dropped += [raw.drop(row, "nobody annotated") for row in np.flatnonzero(per_row == 0)]
    drop(rows, raw, rows.case_code < 0, "no case")
    drop(rows, raw, rows.answer_code < 0, "no class")
    return rows, {}


def contingency_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return annotations of two raters from the number of cases per pair of classes: one rater in rows, one in columns.

    A last row or column of sums, whose class the other rater does not have, is left out.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping; ``case`` has the column with the classes of the rows, ``across`` the columns of classes.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict)
        Rows; nothing is missing here, so the dict is empty.

    Raises
    ------
    InputError
        No column has the classes of the rows, a cell is not an integer of at least 0, or there are too many cases.
    """
    if mapping.case is None:
        raise InputError(
            "Could not read the table: no column is marked as the class of each row.", "Choose this column."
        )
    label = encode(raw.table[mapping.case])
    counts = np.stack([_counts(raw, column) for column in mapping.across], 1)
    tell(0.2)
    known = np.isin(np.array([*label.values, ""], object)[label.code], np.array(mapping.across, object))
    _refuse_more(int(counts[known].sum()), MOST_CASES, "cases")
    classes = names_as_codes([*mapping.across])
    of_label = np.array([*_codes_in(label.values, classes.values), -1], np.int32)[label.code]
    row, column = np.divmod(np.repeat(np.arange(counts.size), (counts * known[:, None]).ravel()), len(mapping.across))
    n_cases = row.size
    cases, raters = _numbered(n_cases), Coded(np.arange(2, dtype=np.int32), ("columns", "rows"), {})
    answer = np.stack([of_label[row], classes.code[column]], 1).ravel()
    case_code = np.repeat(np.arange(n_cases, dtype=np.int32), 2)
    rows = Rows(cases, raters, classes, np.repeat(row, 2), case_code, np.tile([1, 0], n_cases).astype(np.int32), answer)
    for place in np.flatnonzero(~known):
        rows.dropped.append(raw.drop(place, "the class of this row is not among the column names"))
    for place in np.flatnonzero(known & (counts.sum(1) == 0)):
        rows.dropped.append(raw.drop(place, "this row contains no cases"))
    drop(rows, raw, rows.answer_code < 0, "no class")
    return rows, {}


def pattern_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return annotations of a table with one column per rater and one of the number of cases with these annotations.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping; ``raters`` has the columns of raters, ``count`` that of counts.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict of str to int)
        Rows, and how often the table has each token for a missing annotation.

    Raises
    ------
    InputError
        No column has the number of cases, a count is not an integer of at least 0, or there are too many cases or
        annotations.
    """
    if mapping.count is None:
        raise InputError(
            "Could not read the patterns: no column is marked as the number of cases.", "Choose this column."
        )
    count = _counts(raw, mapping.count)
    tell(0.1)
    _refuse_more(int(count.sum()), MOST_CASES, "cases")
    _refuse_more(int(count.sum()) * len(mapping.raters), MOST_ANSWERS, "annotations")
    n_cases = int(count.sum())
    row_of_case = np.repeat(np.arange(count.size), count)
    answer, raters = encode(stacked(raw, mapping.raters)), names_as_codes(mapping.raters)
    code = answer.code.reshape(len(mapping.raters), -1)[:, row_of_case].ravel()
    row = np.tile(row_of_case, len(mapping.raters))
    case_code = np.tile(np.arange(n_cases, dtype=np.int32), len(mapping.raters))
    rows = Rows(_numbered(n_cases), raters, answer, row, case_code, np.repeat(raters.code, n_cases), code)
    rows.dropped += [raw.drop(place, "no case has these annotations") for place in np.flatnonzero(count == 0)]
    drop(rows, raw, (rows.answer_code < 0) | (rows.rater_code < 0), "no rater annotated")
    return rows, answer.missing


def _counts_of_shares(raw: RawTable, mapping: Mapping) -> np.ndarray | None:
    """Return numbers of annotations from shares of them and a column of their total; None if none are shares.

    Raises
    ------
    InputError
        There are shares but no column with the total, or a share times the total is far from an integer.
    """
    coded = [encode(raw.table[column]) for column in mapping.across]
    numbers = [np.append(to_numbers(one.values, decimal_comma=raw.decimal_comma), 0.0)[one.code] for one in coded]
    shares = np.stack(numbers, 1)
    if not (np.isfinite(shares).all() and (shares >= 0).all() and (shares <= 1).all() and (shares % 1).any()):
        return None
    if mapping.count is None:
        raise InputError(
            "Could not use shares from 0 to 1: no column contains the number of annotations per case.",
            "Add such a column, for example n_annotations, or use counts. If these are classifier probabilities, "
            "open them as predictions.",
        )
    counts = shares * _counts(raw, mapping.count)[:, None]
    if np.abs(counts - np.round(counts)).max() > _ROUNDED * max(1.0, counts.max()):
        raise InputError(
            f"Could not use {mapping.count!r}: multiplying the shares by this column does not give integers.",
            "Use counts of annotations, or open the columns as raters' scores (--format wide).",
        )
    return np.round(counts).astype(np.int64)


def _counts(raw: RawTable, column: str) -> np.ndarray:
    coded = encode(raw.table[column])
    numbers = np.append(to_numbers(coded.values), 0.0)[coded.code]  # an empty cell counts as 0
    wrong = np.flatnonzero(~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers)))
    if wrong.size:
        row = int(wrong[0])
        raise InputError(
            f"Could not read column {column!r}: {coded.values[coded.code[row]]!r} is not a count.",
            "Counts must be non-negative integers. Choose a different layout, or leave the column out.",
            line=int(raw.line[row]),
        )
    _refuse_more(float(numbers.max(initial=0)), MOST_ANSWERS, "annotations")
    return numbers.astype(np.int64)


def _refuse_more(count: float, most: int, what: str) -> None:
    if count > most:
        raise InputError(
            f"Could not read counts: they add up to {number(count, 0)} {what}; the limit is {most:,}.",
            "Check that these are counts.",
        )


def _numbered(count: int, word: str = "") -> Coded:
    return Coded(np.arange(count, dtype=np.int32), tuple(f"{word}{place}" for place in range(1, count + 1)), {})


def _codes_in(values: tuple[str, ...], vocabulary: tuple[str, ...]) -> list[int]:
    position = {name: code for code, name in enumerate(vocabulary)}
    return [position.get(value, -1) for value in values]
