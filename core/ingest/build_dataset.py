"""From a table of text and a mapping to a `Dataset` and an account of every row.

Rows kept and rows dropped always add up to the rows of the file; each dropped row has its line and its reason.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..annotations.dataset import Dataset, Kind
from ..annotations.validation import LARGEST_SCORE
from ..annotations.vocabulary import Coded, compact, encode, to_numbers
from ..errors import InputError
from ..text import plural
from .aggregated_tables import contingency_rows, count_rows, pattern_rows
from .answer_rules import Treatment, cannot_tell, take_apart, treat
from .column_mapping import Mapping, Repeats, check_mapping
from .companion_files import SideFiles, with_side_files
from .data_warnings import cautions_about
from .formats.raw_table import Dropped, RawTable
from .long_rows import Rows, drop, long_rows, transposed_rows, wide_rows
from .repeated_answers import ranking_entries, treat_repeats

MAX_CLASSES_FROM_NUMBERS = 30
_ROWS_OF = {
    "long": long_rows,
    "wide": wide_rows,
    "transposed": transposed_rows,
    "counts": count_rows,
    "contingency": contingency_rows,
    "patterns": pattern_rows,
}


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
    treatment: Treatment | None = None,
    raters_identified: bool = True,
    progress: Callable[[float], None] | None = None,
) -> tuple[Dataset, Report]:
    """The dataset that a table holds under a mapping.

    Parameters
    ----------
    kind : {"class", "ranking", "score"}, optional
        What an answer is. Not given: a ranking where ranks, confidences or separators are mapped; a score where all
        answers are numbers and some are not whole or there are more than 30 different ones; else a class. Given as
        class or score, ranks and separators are not looked at.
    classes : sequence of str, optional
        The closed list of classes in its order; answers outside it are dropped rows. Not given: the answers that occur,
        in natural order.
    ordinal : bool
        Whether the order of the classes means something.
    repeats : {"keep", "first", "refuse"}
        What to do where a rater answers the same case more than once.
    treatment : Treatment, optional
        Classes to merge, to rename, and to count as no answer. ``classes`` are the names after it.
    raters_identified : bool
        False where names of raters say nothing about who answered; anonymous answers never do.
    progress : callable, optional
        Told the share done, 0 to 1.

    Raises
    ------
    InputError
        The mapping does not fit, a repeated answer is refused, or no row is left.
    """
    check_mapping(mapping, raw.columns)
    if kind == "ranking" and not mapping.ranked:
        raise InputError("A ranking needs a column of ranks.", "Choose the column that holds 1, 2, 3, ... (1 = first).")
    tell = progress or (lambda share: None)
    rows, missing = _ROWS_OF[mapping.layout](raw, mapping, tell)
    tell(0.5)
    rows.dropped.extend(raw.dropped)
    cautions, notes = [], list(raw.notes)
    if mapping.separators is not None and kind in (None, "ranking"):
        take_apart(rows, raw, mapping.separators)
    if treatment is not None:
        notes += treat(rows, raw, treatment)
    kind = kind or _kind_of(rows, mapping, raw.decimal_comma)
    numbers = None
    if kind == "score":
        numbers = to_numbers(rows.answer.values, decimal_comma=raw.decimal_comma)
        if raw.decimal_comma and any("," in value for value in rows.answer.values):
            cautions.append("Commas in the answers were read as decimal commas.")
        drop(rows, raw, ~np.isfinite(numbers)[rows.answer_code], "the answer is not a finite number")
        drop(
            rows,
            raw,
            (np.abs(numbers) > LARGEST_SCORE)[rows.answer_code],
            f"the answer is larger than {LARGEST_SCORE:g}",
        )
    elif classes is not None:
        rows.answer, unlisted = _declared(rows.answer, rows.answer_code, classes)
        rows.answer_code = rows.answer.code
        drop(rows, raw, unlisted, "the answer is not in the declared list of classes")
    if rows.row.size == 0:
        first = f" The first one: line {rows.dropped[0].line:,}, {rows.dropped[0].reason}." if rows.dropped else ""
        raise InputError("No row holds a case, a rater and an answer.", f"Look at the mapping of the columns.{first}")

    n_repeats = 0
    if kind == "ranking":
        first, entry_ptr = ranking_entries(rows, raw)
        n_repeats = treat_repeats(rows, raw, repeats, np.repeat(first, np.diff(entry_ptr)))
        first, entry_ptr = ranking_entries(rows, raw)
    else:
        n_repeats = treat_repeats(rows, raw, repeats)
    if repeats == "keep" and n_repeats:
        cautions.append(
            f"Answers of a rater who had answered the same case before: {n_repeats:,}. Each is kept as an answer."
        )
    tell(0.7)
    case_code, case_names = compact(rows.case_code, rows.case.values)
    rater_code, rater_names = compact(rows.rater_code, rows.rater.values)
    side = {
        "time": rows.time,
        "ordinal": ordinal,
        "raters_identified": raters_identified
        and (mapping.layout in ("wide", "patterns", "contingency") or mapping.rater is not None),
        "case_group": _groups(raw, mapping, rows, case_code, len(case_names)),
    }
    if kind == "score":
        dataset = Dataset.from_scores(
            name, case_names, rater_names, case_code, rater_code, numbers[rows.answer_code], **side
        )
    else:
        answer_code, class_names = rows.answer_code, rows.answer.values
        if classes is None:
            answer_code, class_names = compact(answer_code, class_names)
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
    tell(0.9)
    n_kept = _n_rows_used(rows, raw)
    dropped = tuple(sorted(rows.dropped))
    if n_kept + len(dropped) != raw.n_rows:
        raise AssertionError(f"{n_kept} rows kept and {len(dropped)} dropped do not make {raw.n_rows}.")
    if mapping.gold is not None:
        gold = _gold(raw, mapping.gold, rows, case_code, case_names, cautions)
        if treatment is not None:
            gold = {case: treatment.renamed.get(known, known) for case, known in gold.items()}
        dataset, remarks = with_side_files(dataset, SideFiles(gold=gold))
        cautions += remarks
    if unsure := cannot_tell(dataset.classes):
        cautions.append(
            f"{', '.join(map(repr, unsure))} may mean that the rater could not tell; it counts as a class until you "
            "say that it is no answer."
        )
    cautions.extend(cautions_about(dataset, mapping.layout == "wide"))
    tell(1.0)
    report = Report(raw.n_rows, n_kept, dropped, missing, n_repeats, tuple(notes), tuple(cautions), mapping)
    return dataset, report


def _kind_of(rows: Rows, mapping: Mapping, decimal_comma: bool) -> Kind:
    if mapping.ranked:
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


def _n_rows_used(rows: Rows, raw: RawTable) -> int:
    used = np.zeros(raw.table.num_rows, bool)
    used[rows.row] = True
    return int(used.sum())


def _groups(raw: RawTable, mapping: Mapping, rows: Rows, case_code: np.ndarray, n_cases: int) -> tuple[str, ...] | None:
    if mapping.group is None:
        return None
    group = encode(raw.table[mapping.group])
    names = np.array([*group.values, ""], dtype=object)
    of_case = np.full(n_cases, len(group.values), np.int32)
    of_case[case_code[::-1]] = group.code[rows.row[::-1]]
    return tuple(names[of_case])


def _gold(
    raw: RawTable, column: str, rows: Rows, case_code: np.ndarray, cases: tuple[str, ...], cautions: list[str]
) -> dict[str, str]:
    """The known class of each case, the first that is given; cases whose rows differ are told."""
    gold = encode(raw.table[column])
    code = gold.code[rows.row]
    given = np.flatnonzero(code >= 0)
    of_case = np.full(len(cases), -1, np.int32)
    of_case[case_code[given[::-1]]] = code[given[::-1]]
    n_differ = len(np.unique(case_code[given[code[given] != of_case[case_code[given]]]]))
    if n_differ:
        cautions.append(f"Column {column!r} gives {plural(n_differ, 'case')} several known classes; the first counts.")
    return {cases[case]: gold.values[of_case[case]] for case in np.flatnonzero(of_case >= 0)}
