"""Build a `Dataset` from a table of text and a mapping, with an account of every row.

Rows kept and rows left out always add up to the rows of the file; each one left out has its line and its reason.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..annotations.dataset import Dataset, Kind
from ..annotations.paired_items import COMPARED, PairedItems
from ..annotations.validation import LARGEST_SCORE
from ..annotations.vocabulary import Coded, compact, encode, to_numbers, written_numbers
from ..errors import InputError
from ..result_base import Columns, Result
from ..text import exact, first_twice, plural, was_or_were
from .aggregated_tables import contingency_rows, count_rows, pattern_rows
from .answer_rules import (
    AS_POSITIONS,
    COUNTS_AS_MISSING,
    Treatment,
    count_missing,
    merge_raters,
    positions,
    take_apart,
    treat,
)
from .column_mapping import Mapping, Repeats, check_mapping
from .companion_files import SideFiles, with_side_files
from .comparison_rows import comparison_rows
from .data_warnings import cautions_about, labels_merged, of_several_files, perhaps_missing, repeated, unnamed, unsure
from .formats.raw_table import Dropped, RawTable
from .label_columns import IN_ROWS, OBJECTS, annotation_of, drop_whole, label_rows, labels_apart, likely_sign, none_of
from .long_rows import Rows, drop, long_rows, transposed_rows, wide_rows
from .missing_codes import codes_of
from .repeated_answers import entries_of_rankings, treat_repeats

MAX_CLASSES_FROM_NUMBERS = 30
_FEW_WRITTEN = 10  # values with a percent sign, thousands separators or limits that are still names
_ROWS_OF = {
    "long": long_rows,
    "wide": wide_rows,
    "transposed": transposed_rows,
    "counts": count_rows,
    "contingency": contingency_rows,
    "patterns": pattern_rows,
    "labels": label_rows,
    "comparisons": comparison_rows,
}


@dataclass(frozen=True, slots=True, repr=False)
class ImportReport(Result):
    """Account of the rows of a file.

    Attributes
    ----------
    n_rows, n_kept : int
        Number of rows in the file, and of rows used.
    dropped : tuple of Dropped
        Rows left out, by line; ``n_kept + len(dropped) == n_rows``.
    missing : dict
        Number of times that each token for missing values was in place of an annotation, words that the user counts
        as missing included.
    n_repeats : int
        Number of annotations beyond the first of the same rater on the same case.
    n_same : int
        Number of repeated annotations that are kept and equal an earlier one, if annotations are single classes.
    codes : dict
        Annotations that may be codes for missing ones and that the user has not decided on, and how often each occurs.
    notes, warnings : tuple of str
        Findings on the file, and points that the user should check.
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
    n_same: int = 0
    codes: dict[str, int] = field(default_factory=dict)

    TABLES = ("dropped",)

    @property
    def n_missing(self) -> int:
        """Number of annotations that are empty, a word for missing, or counted as missing on request.

        A token in a long table makes a row that is left out, and counts once; one in a wide table is a cell.
        """
        rows = sum("no annotation" in one.reason or one.reason.endswith(COUNTS_AS_MISSING) for one in self.dropped)
        return max(rows, sum(self.missing.values()))

    def _columns(self, table: str, most: int | None) -> Columns:
        return {"line": [one[0] for one in self.dropped], "reason": [one[1] for one in self.dropped]}


def build_dataset(
    raw: RawTable,
    mapping: Mapping,
    name: str,
    *,
    kind: Kind | None = None,
    classes: Sequence[str] | None = None,
    ordinal: bool = False,
    repeats: Repeats = "keep",
    treatment: Treatment | None = None,
    raters_identified: bool = True,
    progress: Callable[[float], None] | None = None,
) -> tuple[Dataset, ImportReport]:
    """Return the dataset of a table under a mapping, and the account of its rows.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
    name : str
    kind : {"class", "ranking", "set", "score"}, optional
        Kind of an annotation. If omitted: a ranking if ranks, confidences or separators are mapped; a set if a sign
        between labels or columns of labels are; a score if all annotations are numbers and some are not integers or
        there are more than 30 different ones; else a class. For class and score, ranks and signs are ignored.
    classes : sequence of str, optional
        Closed list of classes in its order; annotations outside it are left out, but integers are positions in it (from
        0) if no annotation is a name in it. If omitted: the annotations that occur, in natural order.
    ordinal : bool
        True if the order of the classes has a meaning.
    repeats : {"keep", "first", "refuse"}
        Treatment of several annotations of the same case by a rater.
    treatment : Treatment, optional
        Classes to merge, to rename, and to count as missing. ``classes`` are the names after it.
    raters_identified : bool
        False if names of raters do not identify who annotated; anonymous annotations never do.
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        The mapping does not fit, a repeated annotation is refused, or no row is left.
    """
    _check(raw, mapping, kind)
    tell = progress or (lambda share: None)
    rows, missing = _ROWS_OF[mapping.layout](raw, mapping, tell)
    missing, rows.dropped = missing | count_missing(rows, treatment), [*rows.dropped, *raw.dropped]
    notes, cautions = [*raw.notes, *rows.notes, *merge_raters(rows, treatment)], [*rows.cautions]
    kind, codes = _understood(rows, raw, mapping, kind, classes is not None, treatment, (notes, cautions))
    numbers = _only_answers(rows, raw, kind, classes, cautions)
    first, entry_ptr, again, same = _repeats_treated(rows, raw, kind, repeats, cautions)
    tell(0.7)
    case_code, case_names = compact(rows.case_code, rows.case.values)
    side = _side(rows, raw, mapping, case_code, len(case_names), raters_identified, cautions) | _compared(rows, ordinal)
    dataset = _assembled(name, kind, rows, case_code, case_names, numbers, first, entry_ptr, classes is None, side)
    dataset = _finished(dataset, raw, mapping, rows, case_code, treatment, cautions)
    tell(1.0)
    return dataset, ImportReport(
        *_accounted(rows, raw), missing, again, tuple(notes), tuple(cautions), mapping, same, codes
    )


def _check(raw: RawTable, mapping: Mapping, kind: Kind | None) -> None:
    check_mapping(mapping, raw.columns)
    if kind == "ranking" and not mapping.ranked:
        raise InputError(
            "Could not read rankings: no column is marked as the rank.",
            "Choose the column with the numbers 1, 2, 3, … (1 = first).",
        )


def _understood(
    rows: Rows,
    raw: RawTable,
    mapping: Mapping,
    kind: Kind | None,
    declared: bool,
    treatment: Treatment | None,
    said: tuple[list[str], list[str]],
) -> tuple[Kind, dict[str, int]]:
    """Split and treat annotations as requested; return their kind, and codes that may mean missing ones.

    ``said`` are notes and cautions.
    """
    notes, cautions = said
    several = kind == "set" or (kind is None and (mapping.label_sign is not None or mapping.layout == "labels"))
    if several:
        _take_labels_apart(rows, raw, mapping, said)
    if mapping.separators is not None and kind in (None, "ranking"):
        take_apart(rows, raw, mapping.separators)
    codes = {} if declared or mapping.layout == "labels" else _codes(rows, treatment, several, cautions)
    if treatment is not None:
        notes += treat(rows, raw, treatment)
    if several:
        return "set", codes
    if rows.annotation is not None and kind == "class":
        _only_single(rows, raw, cautions)
    if declared and not mapping.ranked:
        kind = kind or "class"
    return kind or _kind_of(rows, mapping, raw.decimal_comma), codes


def _codes(rows: Rows, treatment: Treatment | None, of_sets: bool, cautions: list[str]) -> dict[str, int]:
    """Return codes that may mean missing annotations and that the user has not decided on; add a caution on each."""
    counts = np.bincount(rows.answer_code, minlength=len(rows.answer.values))
    decided = treatment.decided if treatment is not None else frozenset[str]()
    found = {
        name: n for name, n in codes_of(rows.answer.values, counts, of_sets=of_sets).items() if name not in decided
    }
    cautions += perhaps_missing(found, rows.answer_code.size)
    return found


def _take_labels_apart(rows: Rows, raw: RawTable, mapping: Mapping, said: tuple[list[str], list[str]]) -> None:
    """Split cells with several labels into one row per label; add a caution on what may have another meaning."""
    notes, cautions = said
    if mapping.layout == "labels":
        nothing = rows.answer_code == rows.answer.values.index(none_of(mapping))
        if nothing.any():
            zeros = "0 or an empty cell" if mapping.empty == "none" else "0"
            cautions.append(
                f"{plural(int(nothing.sum()), 'annotation')} with {zeros} in every label column "
                f"{'counts' if nothing.sum() == 1 else 'count'} as the label {none_of(mapping)!r}, unless you mark "
                "such annotations as missing."
            )
        return
    columns = [mapping.answer] if mapping.layout == "long" else list(mapping.raters)
    named = [column for column in columns if column is not None]
    sign = mapping.label_sign or (likely_sign(raw, named) if rows.annotation is None else None)
    if sign == IN_ROWS:
        rows.annotation = annotation_of(rows)
        notes.append(
            "Rows from the same rater for the same case were read as one set of labels. If they are repeated "
            "annotations, choose “A class” as the kind of annotation."
        )
    elif sign is not None:
        labels_apart(rows, raw, sign)
        between = (
            f"Annotations were read as sets of labels separated by {sign!r}. If {sign!r} is part of a name, choose "
        )
        between += "“A class” as the kind of annotation."
        of_objects = (
            "Annotations are objects with names and numbers. The names were read as labels. The numbers, even 0, were "
            "not used."
        )
        notes.append(of_objects if sign == OBJECTS else between)
    twice = np.stack([annotation_of(rows), rows.answer_code], 1)
    n_twice = len(twice) - len(np.unique(twice, axis=0))
    if n_twice:
        cautions.append(labels_merged(n_twice))


def _only_single(rows: Rows, raw: RawTable, cautions: list[str]) -> None:
    """Leave out annotations of several labels if single classes are wanted."""
    of_row = annotation_of(rows)
    several = np.bincount(of_row)[of_row] > 1
    n_several = len(np.unique(of_row[several]))
    if n_several:
        drop(rows, raw, several, "names more than one label instead of one class")
        cautions.append(
            f"{plural(n_several, 'annotation')} with more than one label {was_or_were(n_several)} left out, because "
            "nearly all others name one class. To use such annotations, choose “A set of labels” as the kind of "
            "annotation."
        )
    rows.annotation = None


def _only_answers(
    rows: Rows, raw: RawTable, kind: Kind, classes: Sequence[str] | None, cautions: list[str]
) -> np.ndarray | None:
    """Drop the rows without an annotation of this kind; return the scores of the annotations, None if not scores."""
    numbers = None
    if kind == "score":
        numbers = written_numbers(rows.answer.values, decimal_comma=raw.decimal_comma)
        limits = np.array([value[0] in "<>\u2264\u2265" for value in rows.answer.values], bool)
        if n_limits := int((limits & np.isfinite(numbers))[rows.answer_code].sum()):
            cautions.append(
                f"{plural(n_limits, 'annotation')} with a limit, such as <5, {was_or_were(n_limits)} read "
                "without the sign."
            )
        if raw.decimal_comma and any("," in value for value in rows.answer.values):
            cautions.append("Commas in the annotations were read as decimal commas.")
        drop(rows, raw, ~np.isfinite(numbers)[rows.answer_code], "the annotation is not a finite number")
        drop(
            rows,
            raw,
            (np.abs(numbers) > LARGEST_SCORE)[rows.answer_code],
            f"the annotation is larger than {exact(LARGEST_SCORE)}",
        )
    elif classes is not None:
        if (named := positions(rows.answer.values, classes)) is not None:
            named_values = tuple(named[value] for value in rows.answer.values)
            rows.answer = Coded(rows.answer.code, named_values, rows.answer.missing)
            cautions.append(AS_POSITIONS)
        rows.answer, unlisted = _declared(rows.answer, rows.answer_code, classes)
        rows.answer_code = rows.answer.code
        leave_out = drop_whole if kind == "set" else drop
        leave_out(rows, raw, unlisted, "the annotation is not in the declared list of classes")
    if rows.row.size == 0:
        first = f" First row left out: line {rows.dropped[0].line:,}, {rows.dropped[0].reason}." if rows.dropped else ""
        raise InputError(
            "Could not read annotations: no row has a case, a rater and an annotation.",
            f"Check the column roles.{first}",
        )
    return numbers


def _repeats_treated(
    rows: Rows, raw: RawTable, kind: Kind, repeats: Repeats, cautions: list[str]
) -> tuple[np.ndarray | None, np.ndarray | None, int, int]:
    """Return first row and entry range of each ranking, None if there are none, and how many annotations are repeated.

    The last number is how many of the repeated ones are kept and of the same class.
    """
    first, entry_ptr = None, None
    if kind in ("ranking", "set"):
        first, entry_ptr = entries_of_rankings(rows, raw)
        n_repeats, n_same = treat_repeats(rows, raw, repeats, np.repeat(first, np.diff(entry_ptr)))
        first, entry_ptr = entries_of_rankings(rows, raw)
    else:
        n_repeats, n_same = treat_repeats(rows, raw, repeats)
    n_same = n_same if kind == "class" else 0
    if repeats == "keep":
        single = kind == "class" and rows.pairs is None  # a rater may well compare two items more than once
        cautions += repeated(n_repeats, n_same, rows.row.size if single else None)
        if n_repeats and raw.places is not None and raw.places.file is not None and len(raw.places.files) > 1:
            file = raw.places.file[rows.row]
            cautions += of_several_files(rows.case_code, rows.rater_code, file, rows.rater.values, raw.places.files)
    return first, entry_ptr, n_repeats, n_same


def _side(
    rows: Rows,
    raw: RawTable,
    mapping: Mapping,
    case_code: np.ndarray,
    n_cases: int,
    raters_identified: bool,
    cautions: list[str],
) -> dict:
    """Return the facts of a dataset on raters and cases other than annotations; add doubts to ``cautions``."""
    columns_of_raters = mapping.layout in ("wide", "patterns", "contingency")
    return {
        "raters_identified": raters_identified and (columns_of_raters or mapping.rater is not None),
        "case_group": _groups(raw, mapping, rows, case_code, n_cases, cautions),
    }


def _compared(rows: Rows, ordinal: bool) -> dict:
    """Return whether the classes are ordered; for comparisons also the items of cases, and with ties an order."""
    if rows.pairs is None:
        return {"ordinal": ordinal}
    used = np.bincount(rows.case_code, minlength=len(rows.case.values)) > 0
    pairs = PairedItems(rows.pairs.items, rows.pairs.of_case, rows.swapped).kept(used, np.ones(rows.row.size, bool))
    return {"pairs": pairs, "ordinal": ordinal or rows.answer.values == COMPARED}


def _assembled(
    name: str,
    kind: Kind,
    rows: Rows,
    case_code: np.ndarray,
    case_names: tuple[str, ...],
    numbers: np.ndarray | None,
    first: np.ndarray | None,
    entry_ptr: np.ndarray | None,
    only_used: bool,
    side: dict,
) -> Dataset:
    """Return the dataset of sifted rows; ``only_used`` leaves out the classes that nobody gave."""
    rater_code, rater_names = compact(rows.rater_code, rows.rater.values)
    names = name, case_names, rater_names
    if kind == "score" and numbers is not None:
        scores = numbers[rows.answer_code]
        return Dataset.from_scores(*names, case_code, rater_code, scores, time=rows.time, **side)
    answer_code, class_names = rows.answer_code, rows.answer.values
    if only_used and rows.pairs is None:
        answer_code, class_names = compact(answer_code, class_names)
    if kind == "set" and first is not None and entry_ptr is not None:
        whose, time = (case_code[first], rater_code[first]), None if rows.time is None else rows.time[first]
        return Dataset.from_sets(*names, class_names, *whose, entry_ptr, answer_code, time=time, **side)
    if kind == "class" or first is None or entry_ptr is None or rows.rank is None:
        codes = case_code, rater_code, answer_code
        return Dataset.from_classes(*names, class_names, *codes, time=rows.time, **side)
    whose, time = (case_code[first], rater_code[first]), None if rows.time is None else rows.time[first]
    return Dataset.from_rankings(*names, class_names, *whose, entry_ptr, answer_code, rows.rank, time=time, **side)


def _kind_of(rows: Rows, mapping: Mapping, decimal_comma: bool) -> Kind:
    if mapping.ranked:
        return "ranking"
    if len(rows.answer.values) == 0:
        return "class"
    numbers = to_numbers(rows.answer.values, decimal_comma=decimal_comma)
    if np.isnan(numbers).any():  # limits and percentages are classes if there are few of them
        numbers = written_numbers(rows.answer.values, decimal_comma=decimal_comma)
        return "class" if np.isnan(numbers).any() or len(numbers) <= _FEW_WRITTEN else "score"
    fractional = (numbers != np.round(numbers)).any()
    return "score" if fractional or len(numbers) > MAX_CLASSES_FROM_NUMBERS else "class"


def _declared(answer: Coded, code: np.ndarray, classes: Sequence[str]) -> tuple[Coded, np.ndarray]:
    position = {name: place for place, name in enumerate(classes)}
    if len(position) < len(classes):
        raise InputError(
            f"Could not use the list of classes: {first_twice(classes)!r} occurs twice.", "Use each class once."
        )
    recode = np.array([position.get(value, -1) for value in answer.values], np.int32)
    return Coded(recode[code], tuple(classes), answer.missing), recode[code] < 0


def _accounted(rows: Rows, raw: RawTable) -> tuple[int, int, tuple[Dropped, ...]]:
    """Return the number of rows in the file and of rows kept, and those left out, by line; together they are all."""
    used = np.zeros(raw.table.num_rows, bool)
    used[rows.row] = True
    merged, into = np.array(rows.merged, np.int64).reshape(-1, 2).T
    used[merged[used[into]]] = True
    rows.dropped += [raw.drop(row, "its annotation is left out") for row in merged[~used[into]]]
    n_kept, dropped = int(used.sum()), tuple(sorted(rows.dropped))
    if n_kept + len(dropped) != raw.n_rows:
        raise AssertionError(f"{n_kept:,} rows used and {len(dropped):,} left out do not add up to {raw.n_rows:,}.")
    return raw.n_rows, n_kept, dropped


def _groups(
    raw: RawTable, mapping: Mapping, rows: Rows, case_code: np.ndarray, n_cases: int, cautions: list[str]
) -> tuple[str, ...] | None:
    """Return the group of each case, that of its first row; add a caution on cases whose rows differ."""
    if mapping.group is None:
        return None
    group = encode(raw.table[mapping.group])
    names = np.array([*group.values, ""], dtype=object)
    of_case = np.full(n_cases, len(group.values), np.int32)
    of_row = group.code[rows.row]
    of_case[case_code[::-1]] = of_row[::-1]
    n_differ = len(np.unique(case_code[(of_row >= 0) & (of_row != of_case[case_code])]))
    if n_differ:
        cautions.append(
            f"For {plural(n_differ, 'case')}, column {mapping.group!r} has more than one group. The first one was used."
        )
    return tuple(names[of_case])


def _finished(
    dataset: Dataset,
    raw: RawTable,
    mapping: Mapping,
    rows: Rows,
    case_code: np.ndarray,
    treatment: Treatment | None,
    cautions: list[str],
) -> Dataset:
    """Return the dataset with gold if a column has it; add doubts to ``cautions``."""
    if mapping.gold is not None:
        dataset = _with_gold(dataset, raw, mapping.gold, rows, case_code, treatment, cautions)
    cautions += [*unsure(dataset.classes), *cautions_about(dataset, mapping.layout == "wide")]
    if dataset.kind == "set":
        cautions += unnamed([each.reason for each in rows.dropped], mapping)
    return dataset


def _with_gold(
    dataset: Dataset,
    raw: RawTable,
    column: str,
    rows: Rows,
    case_code: np.ndarray,
    treatment: Treatment | None,
    cautions: list[str],
) -> Dataset:
    """Return the dataset with the first gold class given for each case; add a caution on cases whose rows differ."""
    gold = encode(raw.table[column])
    code = gold.code[rows.row]
    given = np.flatnonzero(code >= 0)
    of_case = np.full(dataset.n_cases, -1, np.int32)
    of_case[case_code[given[::-1]]] = code[given[::-1]]
    n_differ = len(np.unique(case_code[given[code[given] != of_case[case_code[given]]]]))
    if n_differ:
        what = "score" if dataset.kind == "score" else "class"
        cautions.append(
            f"For {plural(n_differ, 'case')}, column {column!r} has more than one gold {what}. The first one was used."
        )
    known = {dataset.cases[case]: gold.values[of_case[case]] for case in np.flatnonzero(of_case >= 0)}
    if AS_POSITIONS in cautions and (named := positions(sorted(set(known.values())), dataset.classes)) is not None:
        known = {case: named[place] for case, place in known.items()}
    if treatment is not None:
        known = {case: treatment.renamed.get(one, one) for case, one in known.items()}
    dataset, remarks = with_side_files(dataset, SideFiles(gold=known))
    cautions += remarks
    return dataset
