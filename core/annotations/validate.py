"""From a table of text and a mapping to a `Dataset` and an account of every row.

Rows kept and rows dropped always add up to the rows of the file; each dropped row has its line and its reason.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.annotations.cautions import cautions_about
from core.annotations.dataset import Dataset, Kind
from core.annotations.mapping import Mapping, Repeats, check_mapping
from core.annotations.readers.raw import Dropped, RawTable
from core.annotations.rows import Rows, drop, long_rows, wide_rows
from core.annotations.vocabulary import Coded, encode, to_numbers
from core.errors import InputError
from core.text import plural

MAX_CLASSES_FROM_NUMBERS = 30


@dataclass(frozen=True, slots=True)
class Report:
    """What became of the rows of a file.

    Attributes
    ----------
    n_rows, n_kept : int
        Rows in the file, and rows used.
    dropped : tuple of Dropped
        Rows not used, by line; ``n_kept + len(dropped) == n_rows``.
    missing : dict
        How often each missing token stood where an answer could be.
    n_repeats : int
        Annotations beyond the first of the same rater on the same case.
    notes, warnings : tuple of str
        What was found out, and what the user should look at.
    mapping : Mapping
    """

    n_rows: int
    n_kept: int
    dropped: tuple[Dropped, ...]
    missing: dict[str, int]
    n_repeats: int
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    mapping: Mapping


def build_dataset(
    raw: RawTable,
    mapping: Mapping,
    name: str,
    *,
    kind: Kind | None = None,
    classes: Sequence[str] | None = None,
    ordinal: bool = False,
    repeats: Repeats = "keep",
) -> tuple[Dataset, Report]:
    """The dataset that a table holds under a mapping.

    Parameters
    ----------
    kind : {"class", "ranking", "score"}, optional
        What an answer is. Not given: a ranking where a rank column is mapped; a score where all answers are numbers and
        some are not whole or there are more than 30 different ones; else a class.
    classes : sequence of str, optional
        The closed list of classes in its order; answers outside it are dropped rows. Not given: the answers that occur,
        in natural order.
    ordinal : bool
        Whether the order of the classes means something.
    repeats : {"keep", "first", "refuse"}
        What to do where a rater answers the same case more than once.

    Raises
    ------
    InputError
        The mapping does not fit, a repeated answer is refused, or no row is left.
    """
    check_mapping(mapping, raw.columns)
    if kind == "ranking" and mapping.rank is None:
        raise InputError("A ranking needs a column of ranks.", "Choose the column that holds 1, 2, 3, ... (1 = first).")
    rows, missing = long_rows(raw, mapping) if mapping.layout == "long" else wide_rows(raw, mapping)
    rows.dropped.extend(raw.dropped)
    cautions = []
    kind = kind or _kind_of(rows, mapping, raw.decimal_comma)
    numbers = None
    if kind == "score":
        numbers = to_numbers(rows.answer.values, decimal_comma=raw.decimal_comma)
        if raw.decimal_comma and any("," in value for value in rows.answer.values):
            cautions.append("Commas in the answers were read as decimal commas.")
        drop(rows, raw, ~np.isfinite(numbers)[rows.answer_code], "the answer is not a finite number")
    elif classes is not None:
        rows.answer, unlisted = _declared(rows.answer, rows.answer_code, classes)
        rows.answer_code = rows.answer.code
        drop(rows, raw, unlisted, "the answer is not in the declared list of classes")
    if rows.row.size == 0:
        first = f" The first one: line {rows.dropped[0].line:,}, {rows.dropped[0].reason}." if rows.dropped else ""
        raise InputError("No row holds a case, a rater and an answer.", f"Look at the mapping of the columns.{first}")

    n_repeats = 0
    if kind == "ranking":
        first, entry_ptr = _ranking_entries(rows, raw)
        n_repeats = _treat_repeats(rows, raw, repeats, np.repeat(first, np.diff(entry_ptr)))
        first, entry_ptr = _ranking_entries(rows, raw)
    else:
        n_repeats = _treat_repeats(rows, raw, repeats, np.arange(rows.row.size))
    if repeats == "keep" and n_repeats:
        cautions.append(
            f"Answers of a rater who had answered the same case before: {n_repeats:,}. Each is kept as an answer."
        )
    case_code, case_names = _compact(rows.case_code, rows.case.values)
    rater_code, rater_names = _compact(rows.rater_code, rows.rater.values)
    side = {
        "time": rows.time,
        "ordinal": ordinal,
        "raters_identified": mapping.layout == "wide" or mapping.rater is not None,
        "case_group": _groups(raw, mapping, rows, case_code, len(case_names)),
    }
    if kind == "score":
        dataset = Dataset.from_scores(
            name, case_names, rater_names, case_code, rater_code, numbers[rows.answer_code], **side
        )
    else:
        answer_code, class_names = rows.answer_code, rows.answer.values
        if classes is None:
            answer_code, class_names = _compact(answer_code, class_names)
        if kind == "class":
            dataset = Dataset.from_classes(
                name, case_names, rater_names, class_names, case_code, rater_code, answer_code, **side
            )
        else:
            side["time"] = None if rows.time is None else rows.time[first]
            dataset = Dataset.from_rankings(
                name,
                case_names,
                rater_names,
                class_names,
                case_code[first],
                rater_code[first],
                entry_ptr,
                answer_code,
                rows.rank,
                **side,
            )
    n_kept = len(np.unique(rows.row)) if mapping.layout == "wide" else rows.row.size
    dropped = tuple(sorted(rows.dropped))
    if n_kept + len(dropped) != raw.n_rows:
        raise AssertionError(f"{n_kept} rows kept and {len(dropped)} dropped do not make {raw.n_rows}.")
    cautions.extend(cautions_about(dataset, mapping.layout == "wide"))
    report = Report(raw.n_rows, n_kept, dropped, missing, n_repeats, raw.notes, tuple(cautions), mapping)
    return dataset, report


def _kind_of(rows: Rows, mapping: Mapping, decimal_comma: bool) -> Kind:
    if mapping.rank is not None:
        return "ranking"
    if len(rows.answer.values) == 0:
        return "class"
    numbers = to_numbers(rows.answer.values, decimal_comma=decimal_comma)
    if np.isnan(numbers).any():
        return "class"
    fractional = (numbers != np.round(numbers)).any()
    return "score" if fractional or len(numbers) > MAX_CLASSES_FROM_NUMBERS else "class"


def _declared(answer: Coded, code: np.ndarray, classes: Sequence[str]) -> tuple[Coded, np.ndarray]:
    position = {name: place for place, name in enumerate(classes)}
    if len(position) < len(classes):
        raise InputError("The declared list names a class twice.", "Name each class once.")
    recode = np.array([position.get(value, -1) for value in answer.values], np.int32)
    return Coded(recode[code], tuple(classes), answer.missing), recode[code] < 0


def _treat_repeats(rows: Rows, raw: RawTable, repeats: Repeats, first: np.ndarray) -> int:
    """Count the annotations beyond the first of a rater on a case; ``first`` is the first row of each row's one."""
    heads = np.flatnonzero(first == np.arange(first.size))
    pair = rows.case_code[heads].astype(np.int64) * len(rows.rater.values) + rows.rater_code[heads]
    is_repeat = np.zeros(first.size, bool)
    is_repeat[heads] = pd.Series(pair).duplicated().to_numpy()
    count = int(is_repeat.sum())
    repeated = is_repeat[first]
    if count and repeats == "refuse":
        place = int(np.flatnonzero(repeated)[0])
        raise InputError(
            f"Rater {rows.rater.values[rows.rater_code[place]]!r} answers case "
            f"{rows.case.values[rows.case_code[place]]!r} more than once ({plural(count, 'such answer')} in the file).",
            "Keep them, or use only the first answer.",
            line=int(raw.line[rows.row[place]]),
        )
    if count and repeats == "first":
        drop(rows, raw, repeated, "a repeated answer of the same rater on the same case")
    return count


def _ranking_entries(rows: Rows, raw: RawTable) -> tuple[np.ndarray, np.ndarray]:
    """Sort rows by annotation (case, rater, time); the first row and the entry range of each annotation."""
    keys = {"case": rows.case_code, "rater": rows.rater_code}
    if rows.time is not None:
        keys["time"] = rows.time
    annotation = pd.DataFrame(keys).groupby(list(keys), sort=False, dropna=False).ngroup().to_numpy()
    best_first = np.lexsort((rows.rank, annotation))
    rows.keep(best_first)
    annotation = annotation[best_first]
    entry = annotation * len(rows.answer.values) + rows.answer_code
    twice = pd.Series(entry).duplicated().to_numpy()
    rows.dropped += [
        Dropped(
            int(raw.line[rows.row[place]]),
            f"{rows.answer.values[rows.answer_code[place]]!r} is already in the ranking of rater "
            f"{rows.rater.values[rows.rater_code[place]]!r} on case {rows.case.values[rows.case_code[place]]!r}",
        )
        for place in np.flatnonzero(twice)
    ]
    rows.keep(~twice)
    annotation = annotation[~twice]
    first = np.flatnonzero(np.diff(annotation, prepend=-1))
    return first, np.append(first, annotation.size).astype(np.int64)


def _compact(code: np.ndarray, values: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Only the values that still occur; their order stays."""
    used = np.zeros(len(values), bool)
    used[code] = True
    if used.all():
        return code, values
    return (np.cumsum(used, dtype=np.int32) - 1)[code], tuple(
        value for value, kept in zip(values, used, strict=True) if kept
    )


def _groups(raw: RawTable, mapping: Mapping, rows: Rows, case_code: np.ndarray, n_cases: int) -> tuple[str, ...] | None:
    if mapping.group is None:
        return None
    group = encode(raw.table[mapping.group])
    names = np.array([*group.values, ""], dtype=object)
    of_case = np.full(n_cases, len(group.values), np.int32)
    of_case[case_code[::-1]] = group.code[rows.row[::-1]]
    return tuple(names[of_case])
