"""From a table of text and a mapping to a `Dataset` and an account of every row.

Rows kept and rows dropped always add up to the rows of the file; each dropped row has its line and its reason.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa

from core.annotations.dataset import MISSING_TIME, Dataset, Kind
from core.annotations.mapping import Mapping, Repeats, check_mapping
from core.annotations.readers.raw import Dropped, RawTable
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


@dataclass(slots=True)
class _Rows:
    """Long rows while they are sifted. ``row`` is the place in the raw table, for lines."""

    case: Coded
    rater: Coded
    answer: Coded
    row: np.ndarray
    case_code: np.ndarray
    rater_code: np.ndarray
    answer_code: np.ndarray
    time: np.ndarray | None = None
    rank: np.ndarray | None = None
    dropped: list[Dropped] = field(default_factory=list)

    def keep(self, mask: np.ndarray) -> None:
        for name in ("row", "case_code", "rater_code", "answer_code", "time", "rank"):
            array = getattr(self, name)
            if array is not None:
                setattr(self, name, array[mask])


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
    rows, missing = _long_rows(raw, mapping) if mapping.layout == "long" else _wide_rows(raw, mapping)
    rows.dropped.extend(raw.dropped)
    cautions = []
    kind = kind or _kind_of(rows, mapping, raw.decimal_comma)
    numbers = None
    if kind == "score":
        numbers = to_numbers(rows.answer.values, decimal_comma=raw.decimal_comma)
        if raw.decimal_comma and any("," in value for value in rows.answer.values):
            cautions.append("Commas in the answers were read as decimal commas.")
        _drop(rows, raw, ~np.isfinite(numbers)[rows.answer_code], "the answer is not a finite number")
    elif classes is not None:
        rows.answer, unlisted = _declared(rows.answer, rows.answer_code, classes)
        rows.answer_code = rows.answer.code
        _drop(rows, raw, unlisted, "the answer is not in the declared list of classes")
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
    cautions.extend(_cautions(dataset, mapping.layout == "wide"))
    report = Report(raw.n_rows, n_kept, dropped, missing, n_repeats, raw.notes, tuple(cautions), mapping)
    return dataset, report


def _long_rows(raw: RawTable, mapping: Mapping) -> tuple[_Rows, dict[str, int]]:
    case, answer = encode(raw.table[mapping.case]), encode(raw.table[mapping.answer])
    if mapping.rater is not None:
        rater = encode(raw.table[mapping.rater])
    else:
        number = _number_within(case.code)
        places = tuple(f"answer {place}" for place in range(1, int(number.max(initial=0)) + 2))
        rater = Coded(number.astype(np.int32), places, {})
    rows = _Rows(case, rater, answer, np.arange(case.code.size), case.code, rater.code, answer.code)
    if mapping.time is not None:
        rows.time = _times(raw.table[mapping.time])
    _drop(rows, raw, rows.case_code < 0, "no case")
    _drop(rows, raw, rows.rater_code < 0, "no rater")
    tokens = raw.table[mapping.answer]
    for row in rows.row[rows.answer_code < 0]:
        token = tokens[int(row)].as_py().strip()
        rows.dropped.append(Dropped(int(raw.line[row]), f"no answer ({token!r})" if token else "no answer"))
    rows.keep(rows.answer_code >= 0)
    if mapping.rank is not None:
        ranks = encode(raw.table[mapping.rank])
        rows.rank = np.append(to_numbers(ranks.values, decimal_comma=raw.decimal_comma), np.nan)[ranks.code][rows.row]
        _drop(rows, raw, ~np.isfinite(rows.rank), "the rank is not a number")
    return rows, answer.missing


def _wide_rows(raw: RawTable, mapping: Mapping) -> tuple[_Rows, dict[str, int]]:
    n_rows = raw.table.num_rows
    if mapping.case is not None:
        case = encode(raw.table[mapping.case])
    else:
        case = Coded(np.arange(n_rows, dtype=np.int32), tuple(str(row) for row in range(1, n_rows + 1)), {})
    answer = encode(pa.chunked_array([chunk for column in mapping.raters for chunk in raw.table[column].chunks]))
    raters = encode(pa.chunked_array([pa.array(mapping.raters)]))
    row = np.tile(np.arange(n_rows), len(mapping.raters))
    rows = _Rows(case, raters, answer, row, case.code[row], np.repeat(raters.code, n_rows), answer.code)
    no_case = np.flatnonzero(case.code < 0)
    answered = np.zeros(n_rows, bool)
    answered[rows.row[rows.answer_code >= 0]] = True
    empty = np.flatnonzero((case.code >= 0) & ~answered)
    rows.dropped += [Dropped(int(raw.line[place]), "no case") for place in no_case]
    rows.dropped += [Dropped(int(raw.line[place]), "no rater answered") for place in empty]
    rows.keep((rows.answer_code >= 0) & (rows.case_code >= 0))
    return rows, answer.missing


def _drop(rows: _Rows, raw: RawTable, bad: np.ndarray, reason: str) -> None:
    """Take rows out with a reason. A row of a wide table goes only when its last answer goes."""
    if not bad.any():
        return
    leaving, staying = np.unique(rows.row[bad]), rows.row[~bad]
    gone = leaving[~np.isin(leaving, staying)]
    rows.dropped += [Dropped(int(raw.line[row]), reason) for row in gone]
    rows.keep(~bad)


def _kind_of(rows: _Rows, mapping: Mapping, decimal_comma: bool) -> Kind:
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


def _treat_repeats(rows: _Rows, raw: RawTable, repeats: Repeats, first: np.ndarray) -> int:
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
        _drop(rows, raw, repeated, "a repeated answer of the same rater on the same case")
    return count


def _ranking_entries(rows: _Rows, raw: RawTable) -> tuple[np.ndarray, np.ndarray]:
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


def _number_within(code: np.ndarray) -> np.ndarray:
    return pd.Series(code).groupby(code).cumcount().to_numpy()


def _compact(code: np.ndarray, values: tuple[str, ...]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Only the values that still occur; their order stays."""
    used = np.zeros(len(values), bool)
    used[code] = True
    if used.all():
        return code, values
    return (np.cumsum(used, dtype=np.int32) - 1)[code], tuple(
        value for value, kept in zip(values, used, strict=True) if kept
    )


def _times(column: pa.ChunkedArray) -> np.ndarray:
    coded = encode(column)
    seconds = np.full(len(coded.values) + 1, MISSING_TIME)
    numbers = to_numbers(coded.values)
    if len(numbers) and ((numbers >= 1e8) & (numbers < 1e14)).all():  # seconds or milliseconds since 1970
        seconds[:-1] = numbers // np.where(numbers < 1e11, 1, 1000)
        return seconds[coded.code]
    text = pd.Series(coded.values, dtype="str")
    stamps = pd.to_datetime(text, errors="coerce", utc=True, format="ISO8601")
    if len(stamps) and stamps.isna().all():
        stamps = _times_by_locale(text)
    known = stamps.notna().to_numpy()
    seconds[:-1][known] = stamps[known].astype("datetime64[s, UTC]").astype("int64")
    return seconds[coded.code]


def _times_by_locale(text: pd.Series) -> pd.Series:
    """Dates like 31/12/2021: the day comes first where points are used or where some first number is above 12."""
    numbers = text.str.extract(r"^(\d{1,2})([./-])(\d{1,2})[./-]\d{2,4}")
    day_first = (numbers[1] == ".").any() or (pd.to_numeric(numbers[0]) > 12).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # single dates that only fit the other order
        return pd.to_datetime(text, errors="coerce", utc=True, format="mixed", dayfirst=bool(day_first))


def _groups(
    raw: RawTable, mapping: Mapping, rows: _Rows, case_code: np.ndarray, n_cases: int
) -> tuple[str, ...] | None:
    if mapping.group is None:
        return None
    group = encode(raw.table[mapping.group])
    names = np.array([*group.values, ""], dtype=object)
    of_case = np.full(n_cases, len(group.values), np.int32)
    of_case[case_code[::-1]] = group.code[rows.row[::-1]]
    return tuple(names[of_case])


def _share_no_answer(dataset: Dataset) -> list[str]:
    pairs = np.unique(dataset.rater.astype(np.int64) * dataset.n_classes + dataset.answer)
    rater, answer = np.divmod(pairs, dataset.n_classes)
    shared = np.bincount(answer, minlength=dataset.n_classes)[answer] > 1
    sharing, answers = np.zeros(dataset.n_raters, bool), np.bincount(dataset.rater, minlength=dataset.n_raters)
    sharing[rater[shared]] = True
    return [dataset.raters[code] for code in np.flatnonzero(~sharing & (answers >= 3))]  # fewer say nothing


def _cautions(dataset: Dataset, wide: bool) -> list[str]:
    cautions = []
    if dataset.n_raters == 1:
        cautions.append("There is only one rater, so agreement and rater models cannot be computed.")
    elif np.diff(dataset.case_ptr).max() == 1:
        cautions.append(
            "Every case has exactly one annotation: agreement and accuracy cannot be estimated. "
            "Some tools lose raters on export."
        )
    if dataset.kind != "score" and dataset.n_classes == 1:
        cautions.append(
            f"Every answer is {dataset.classes[0]!r}: with one class, chance-corrected agreement is undefined."
        )
    if wide and dataset.kind == "class" and dataset.n_raters > 1:
        alone = _share_no_answer(dataset)
        if alone:
            names = ", ".join(map(repr, alone[:5]))
            cautions.append(
                f"Columns taken for raters that share no answer with any other: {names}. Look at the mapping of the "
                "columns, and whether the table has one row per answer."
            )
    folded: dict[str, list[str]] = {}
    for name in dataset.classes:
        folded.setdefault(" ".join(name.casefold().split()), []).append(name)
    cautions.extend(
        f"Classes that differ only in capitals or spaces: {', '.join(map(repr, names))}."
        for names in folded.values()
        if len(names) > 1
    )
    if dataset.time is not None and (unknown := int((dataset.time == MISSING_TIME).sum())):
        cautions.append(f"{plural(unknown, 'answer')} without a date that could be understood.")
    return cautions
