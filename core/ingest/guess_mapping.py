"""Most probable mapping of a plain table, by the names of its columns and by their values."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..annotations.dataset import MISSING_TIME
from ..annotations.vocabulary import encode, to_numbers
from .aggregated_tables import MOST_ANSWERS
from .column_evidence import ColumnEvidence, is_place_by_name
from .column_mapping import IDS, ROLES, SHOWN, Layout, Mapping, guess_mapping, likeness, rater_columns
from .column_roles import (
    SWAPPED,
    first_column_as_rater,
    in_doubt,
    leaning_of,
    long_questions,
    wide_questions,
    with_gold,
    with_grid,
    with_raters_by_values,
)
from .comparison_rows import comparison_mapping, with_comparisons
from .counts_or_raters import weigh
from .formats.raw_table import RawTable
from .id_columns import questions_of_ids
from .label_columns import LISTS, OBJECTS, label_columns, sign_of_labels, with_labels_in_rows
from .times import to_seconds, unclear_date

_LOOKED_AT = 5_000
_FEW = 10
_CORNERS = 4  # columns of a box: rows are then regions of a case
_SIGNS = ((">", "="), ("≻", "~"), ("≻", "="))
_TOTALS = frozenset(["total", "totals", "sum", "all", "n", "count", "annotations", "votes"])
_WHOLE_NUMBERS = "The columns contain whole numbers, which may be annotations, or counts of annotations per class."
_MOST_COLUMNS = 500  # tables with more columns are not examined


def likeliest_mapping(raw: RawTable, classes: Collection[str] = ()) -> Mapping:
    """Return the roles of the columns of a table, for the first of its questions; see `likely_questions`."""
    return next(iter(likely_questions(raw, classes).values()))


def likely_questions(raw: RawTable, classes: Collection[str] = ()) -> dict[str, Mapping]:
    """Return the mapping of each question of a table, by name; `guess_mapping` uses only the names of columns.

    Integers are counts of classes or annotations of raters as `core.ingest.counts_or_raters` weighs them; if both are
    possible, the mapping's ``instead`` has the other. A contingency table is one whose rows are named like its columns;
    a table of patterns one with a column of counts and no case. Confidences order classes if a rater gives several to a
    case; annotations such as "A > B = C" are rankings, "A; B" sets. Columns are raters if they share a vocabulary, and
    a case and a rater are the two columns that identify the rows.

    Parameters
    ----------
    raw : RawTable
    classes : collection of str
        Names known to be classes from side files: gold, a list, columns of predictions.
    """
    guess = guess_mapping(raw.columns)
    if raw.table.num_rows == 0 or len(raw.columns) > _MOST_COLUMNS:
        return {"": guess}
    return with_comparisons(raw, _without_comparisons(raw, classes), in_doubt)


def _without_comparisons(raw: RawTable, classes: Collection[str]) -> dict[str, Mapping]:
    """Return the questions of a table that has no paired comparisons; see `likely_questions`."""
    raw = _without_empty(raw)
    seen = ColumnEvidence(raw)
    guess = with_grid(seen, _by_id(raw, with_gold(seen, _by_filled_case(seen, guess_mapping(raw.columns)))))
    guess = with_raters_by_values(seen, guess if raw.has_header else first_column_as_rater(seen, guess))
    if by_ids := questions_of_ids(seen, guess):
        return by_ids
    for found in (_patterns_by_group(raw, guess), _counts_without_cases(seen, guess), _by_layout(raw, guess, classes)):
        if found is not None:
            return {"": found}
    guess = _groups_of_cases(raw, _left_over(raw, _oriented(seen, guess, _long_by_content(raw, guess))))
    questions = wide_questions(seen, guess) if guess.layout == "wide" else long_questions(seen, guess)
    questions = {name: _as_written(raw, mapping) for name, mapping in questions.items()}
    written = _with_dates(seen, questions)
    if sum(map(is_place_by_name, raw.columns)) < _CORNERS:
        return written
    return {name: with_labels_in_rows(raw, mapping) for name, mapping in written.items()}


def mapping_before(raw: RawTable, classes: Collection[str] = ()) -> Mapping:
    """Return the mapping that earlier versions guessed: without evidence that columns share a vocabulary."""
    guess = _by_id(raw, guess_mapping(raw.columns))
    if raw.table.num_rows == 0 or len(raw.columns) > _MOST_COLUMNS:
        return guess
    found = _by_layout(raw, guess, classes, alike=False)
    found = found or _as_written(raw, _groups_of_cases(raw, _left_over(raw, _long_by_content(raw, guess))))
    return replace(found, label_sign=None) if found.label_sign in (LISTS, OBJECTS, "\n") else found


def _by_layout(raw: RawTable, guess: Mapping, classes: Collection[str], *, alike: bool = True) -> Mapping | None:
    """Return the mapping of a table with a layout that its names or numbers show; None for others."""
    for layout in (_contingency, _transposed, _patterns, partial(label_columns, alike=alike)):
        if (found := layout(raw, guess)) is not None:
            return found
    return _counts(raw, guess, classes)


def _oriented(seen: ColumnEvidence, guess: Mapping, found: Mapping) -> Mapping:
    """Return a table with one row per annotation with cases and raters the right way round, or both ways."""
    if found is guess or found.case is None or found.rater is None or likeness(found.case, "case"):
        return found
    leaning = leaning_of(seen, found.case, found.rater)
    if leaning > 0:
        return found
    swapped = replace(found, case=found.rater, rater=found.case)
    return swapped if leaning < 0 else in_doubt(found, swapped, doubt=SWAPPED)


def _without_empty(raw: RawTable) -> RawTable:
    """Return the table without columns that are empty or, next to a column of cases, count the rows."""
    seen = ColumnEvidence(raw)
    answer = guess_mapping(raw.columns).answer
    kept = [c for c in raw.columns if not seen.is_empty(c) or (c == answer and likeness(c, "answer") == 2)]
    numbering = [column for column in kept if seen.is_row_number(column)]
    if numbering:
        rest = [column for column in kept if column not in numbering]
        case = guess_mapping(rest).case
        if case is not None and (likeness(case, "case") or seen.is_id(case)):
            kept = rest
    if len(kept) < 2 or len(kept) == len(raw.columns):
        return raw
    return replace(raw, table=raw.table.select(kept))


def _as_written(raw: RawTable, guess: Mapping) -> Mapping:
    """Return the guess with how annotations are written: several rows with confidences, or signs between classes."""
    if guess.layout == "long" and guess.case and guess.rater and guess.answer and guess.rank is None:
        confidence = next((column for column in raw.columns if likeness(column, "confidence") == 2), None)
        if confidence not in (None, guess.answer) and _several_classes(raw, guess):
            why = guess.why | {
                "confidence": f"the column is called {confidence!r}, and raters name more than one class per case"
            }
            return replace(guess, confidence=confidence, why=why)
    if guess.rank is None and guess.layout in ("long", "wide"):
        answers = [guess.answer] if guess.layout == "long" else list(guess.raters)
        signs = _signs_in(raw, [column for column in answers if column is not None])
        if signs is not None:
            why = guess.why | {
                "separators": f"annotations have {signs[0]!r} between positions and {signs[1]!r} between tied classes"
            }
            return replace(guess, separators=signs, why=why)
        sign = sign_of_labels(raw, [column for column in answers if column is not None])
        if sign is not None:
            why = guess.why | {"labels": f"annotations contain {sign!r} between labels"}
            if sign == OBJECTS:
                why["labels"] = "annotations are objects with label names"
            others = tuple(replace(one, label_sign=sign) for one in guess.instead)
            return replace(guess, label_sign=sign, why=why, instead=others)
    return guess


def _by_filled_case(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the guess without a column of cases that is mostly empty or has decimals, and only a part of its name."""
    columns = list(seen.columns)
    while len(columns) > 2 and (case := guess.case) is not None and likeness(case, "case") == 1:
        if 2 * seen.n_given(case) >= seen.n_rows and not seen.is_measured(case):
            break
        columns.remove(case)
        guess = guess_mapping(columns)
    raters = tuple(column for column in seen.columns if column in guess.raters or column not in columns)
    return replace(guess, raters=raters) if guess.layout == "wide" else guess


def _by_id(raw: RawTable, guess: Mapping) -> Mapping:
    """Return the guess with cases named by their id, if it names them by their text and each text has one id."""
    if guess.layout != "long" or guess.case is None or guess.case.strip().casefold() not in SHOWN:
        return guess
    taken = {guess.rater, guess.answer, guess.rank, guess.time, guess.group, guess.confidence, guess.gold}
    for column in raw.columns:
        if column in taken or column.strip().casefold() not in IDS:
            continue
        text, named = (encode(raw.table[name].slice(0, _LOOKED_AT)) for name in (guess.case, column))
        pairs = len(np.unique(text.code.astype(np.int64) * (len(named.values) + 1) + named.code))
        if pairs == len(np.unique(named.code)) == len(np.unique(text.code)):
            why = guess.why | {"case": f"the column is called {column!r} and has one value per {guess.case!r}"}
            return replace(guess, case=column, why=why)
    return guess


def mapping_as(raw: RawTable, layout: Layout) -> Mapping:
    """Return the most probable mapping of a table with a known layout; the guess itself if it has that layout."""
    guess = likeliest_mapping(raw)
    if guess.instead:
        return next((one.clear() for one in (guess, *guess.instead) if one.layout == layout), _with_layout(raw, layout))
    if guess.layout != layout:
        return _with_layout(raw, layout)
    if layout == "wide":  # the user chose this layout, so every column may be a rater
        raters = tuple(c for c in raw.columns if c in guess.raters or c not in (guess.case, guess.group, guess.gold))
        return replace(guess.clear(), raters=tuple(c for c in raters if likeness(c, "time") < 2))
    return guess.clear()


def _with_layout(raw: RawTable, layout: Layout) -> Mapping:
    """Return the mapping of a table with another layout than it seems to have."""
    if layout == "comparisons" and (found := comparison_mapping(raw, asked=True)) is not None:
        return found
    named, columns = guess_mapping(raw.columns), list(raw.columns)
    why = {role: reason for role, reason in named.why.items() if role in ("case", "group", "gold")}
    if layout == "long":
        return replace(named, layout="long", raters=())
    if layout == "wide":
        raters = rater_columns(columns, named.case, named.group, named.gold)
        return Mapping("wide", case=named.case, raters=raters, group=named.group, gold=named.gold, why=why)
    if layout == "transposed":
        return Mapping(
            "transposed", rater=columns[0], across=tuple(columns[1:]), why={"rater": "it is the first column"}
        )
    if layout == "labels":
        across = tuple(column for column in columns if column not in (named.case, named.rater, named.time, named.group))
        role: dict[str, Any] = {"case": named.case, "rater": named.rater, "time": named.time, "group": named.group}
        return Mapping("labels", **role, across=across, why=why)
    if layout == "patterns":
        count = next((column for column in columns if likeness(column, "count") == 2), columns[-1])
        return Mapping("patterns", raters=tuple(column for column in columns if column != count), count=count)
    across = tuple(column for column in columns[1:] if _whole_numbers(raw, [column]) is not None)
    across = across if len(across) > 1 else tuple(columns[1:])
    if layout == "contingency":
        return Mapping("contingency", case=columns[0], across=across, why={"case": "it is the first column"})
    case = named.case or columns[0]
    across = tuple(column for column in across if column not in (case, named.group))
    return Mapping("counts", case=case, across=across, group=named.group, why=why)


def _head(raw: RawTable, column: str) -> list[str]:
    return [text.strip() for text in pc.cast(raw.table[column].slice(0, _LOOKED_AT), "string").to_pylist()]


def _whole_numbers(raw: RawTable, columns: Sequence[str]) -> np.ndarray | None:
    """Return integers of at least 0, shape (n_rows, n_columns), empty cells as 0; None if some cell is not one."""
    numbers = np.empty((min(raw.table.num_rows, _LOOKED_AT), len(columns)))
    for place, column in enumerate(columns):
        coded = encode(raw.table[column].slice(0, _LOOKED_AT))
        known = to_numbers(coded.values)
        if not ((known >= 0) & (known <= MOST_ANSWERS) & (known == np.floor(known))).all():
            return None
        numbers[:, place] = np.append(known, 0.0)[coded.code]
    return numbers


def _contingency(raw: RawTable, guess: Mapping) -> Mapping | None:
    first, *others = raw.columns
    if len(others) < 2 or raw.table.num_rows not in (len(others), len(others) - 1, len(others) - 2):
        return None
    names = _head(raw, first)
    across = tuple(column for column in others if column in names)
    if len(across) < 2 or len(across) < len(names) - 1 or len(across) < len(others) - 1:
        return None
    numbers = _whole_numbers(raw, across)
    if numbers is None:
        return None
    # A last column with the sums of the others is not a class.
    if len(across) > 2 and (numbers[:, :-1].sum(1) == numbers[:, -1]).all():
        across = across[:-1]
    why = {"case": "rows and columns have the same names", "across": "these columns have the same names as the rows"}
    return Mapping("contingency", case=first, across=across, why=why)


def _transposed(raw: RawTable, guess: Mapping) -> Mapping | None:
    first, *others = raw.columns
    if likeness(first, "rater") < 2 or first[-1:].isdigit() or len(others) < 2:
        return None
    numbered = [column for column in others if column[-1:].isdigit()]
    known = [column for column in others if likeness(column, "answer") == 2 or likeness(column, "rank") == 2]
    if len(numbered) < len(others) or known:
        return None
    why = {"rater": f"the column is called {first!r}", "across": "all other columns are numbered"}
    return Mapping("transposed", rater=first, across=tuple(others), why=why)


_PATTERN_PER_ROW = "one column for each rater, and a different combination of annotations in each row"


def _patterns(raw: RawTable, guess: Mapping) -> Mapping | None:
    count = next((column for column in raw.columns if likeness(column, "count") == 2), None)
    seen = ColumnEvidence(raw)
    others = tuple(c for c in raw.columns if c != count and c.strip().casefold() not in ("id", "row", "pattern"))
    others = tuple(c for c in others if not seen.is_row_number(c))
    if count is None or len(others) < 2 or (guess.layout == "long" and guess.rater and guess.answer):
        return None
    numbers = _whole_numbers(raw, [count])
    rows = list(zip(*(_head(raw, column) for column in others), strict=True))
    if numbers is None or len(set(rows)) < len(rows):
        return None
    answers = [set(column) - {""} for column in zip(*rows, strict=True)]
    # Raters use the same classes; a column without a class in common with the others is not a rater.
    for place, own in enumerate(answers):
        if own and own.isdisjoint(set().union(*answers[:place], *answers[place + 1 :])):
            return None
    if any(likeness(column, "case") == 2 for column in others) and len(answers[0]) == len(rows):
        return None
    why = {
        "count": f"the column is called {count!r}",
        "raters": _PATTERN_PER_ROW,
    }
    return Mapping("patterns", raters=others, count=count, why=why)


def _patterns_by_group(raw: RawTable, guess: Mapping) -> Mapping | None:
    """Return patterns of annotations counted in each group of cases; None if the table has none.

    Next to two columns with one vocabulary and the number of cases, one column repeats names of its own.
    """
    counts = [column for column in raw.columns if likeness(column, "count") == 2]
    seen = ColumnEvidence(raw)
    others = [c for c in raw.columns if c not in counts and not seen.is_row_number(c)]
    if len(counts) != 1 or len(others) < 3 or _whole_numbers(raw, counts) is None:
        return None
    shared = [c for c in others if any(one != c and seen.share_values(c, one) for one in others)]
    apart = [column for column in others if column not in shared]
    if len(shared) < 2 or len(apart) != 1 or not all(map(partial(seen.share_values, shared[0]), shared)):
        return None
    rows = list(zip(*(_head(raw, column) for column in others), strict=True))
    patterns = {row[: others.index(apart[0])] + row[others.index(apart[0]) + 1 :] for row in rows}
    if len(set(rows)) < len(rows) or 3 * len(patterns) > 2 * len(rows):
        return None
    why = {
        "count": f"the column is called {counts[0]!r}",
        "group": "the same annotations occur for more than one value of this column",
    }
    why["raters"] = _PATTERN_PER_ROW
    return Mapping("patterns", raters=tuple(shared), count=counts[0], group=apart[0], why=why)


def _counts_without_cases(seen: ColumnEvidence, guess: Mapping) -> Mapping | None:
    """Return counts of classes in all columns, with numbers for cases; None if a column may have the cases.

    Without names of classes, the reading with a rater in each column remains as well.
    """
    raw = seen.raw
    by_place = guess.case is not None and guess.why.get("case") == "it is the first column"
    if guess.layout != "wide" or (guess.case is not None and not by_place) or len(raw.columns) < 3:
        return None
    if guess.case is not None and (likeness(guess.case, "case") or seen.n_values(guess.case) == seen.n_rows):
        return None
    numbers = _whole_numbers(raw, raw.columns)
    if numbers is None or len(numbers) < _FEW or (numbers.sum(1) == 0).any():
        return None
    weighed = weigh(numbers, _blanks(raw, raw.columns), raw.columns)
    if not (weighed.counts and weighed.sure):
        return None
    found = Mapping("counts", across=tuple(raw.columns), why={"across": weighed.why})
    if raw.has_header:
        return found
    raters = Mapping("wide", raters=tuple(raw.columns), why={"raters": "one column for each rater"})
    return in_doubt(found, raters, doubt=_WHOLE_NUMBERS)


def _counts(raw: RawTable, guess: Mapping, classes: Collection[str]) -> Mapping | None:
    """Return a table of counts, or the guess if it may be one; None if it certainly is not."""
    if guess.layout == "long" and guess.rater:
        return None
    if not raw.has_header and raw.columns[0] in guess.raters:
        return None
    case = guess.case or (raw.columns[0] if guess.layout == "wide" else None)
    across = tuple(c for c in raw.columns if c not in (case, guess.group, guess.gold) and likeness(c, "rater") == 0)
    if case is None or len(across) < 2:
        return None
    across, numbers = _counted(raw, across)
    if numbers is None:
        return None
    why = {key: guess.why.get(key, "it is the first column") for key in ("case", "group") if getattr(guess, key, None)}
    shared: dict[str, Any] = {"case": case, "group": guess.group, "gold": guess.gold}
    total = _total(numbers, across)
    if total is None and guess.layout == "long":  # beside the row's number, and the class that most gave
        seen = ColumnEvidence(raw)
        less = [c for c in range(len(across)) if across[c] != guess.answer and not seen.is_row_number(across[c])]
        if (total := _total(numbers[:, less], [across[c] for c in less])) is not None:
            across = tuple(across[c] for c in less)
    if total is not None:
        across = tuple(column for column in across if column != total)
        return Mapping("counts", **shared, across=across, why=why | {"across": f"their sum is in the column {total!r}"})
    if guess.layout == "long" and guess.answer is not None and likeness(guess.answer, "answer") == 2:
        return None
    known = {*classes, *(_head(raw, guess.gold) if guess.gold is not None else ())}
    weighed = weigh(numbers, _blanks(raw, across), across, known)
    if not weighed.counts and (weighed.sure or guess.layout != "wide"):
        return None
    if not weighed.counts:
        return in_doubt(guess, _with_layout(raw, "counts"), doubt=_WHOLE_NUMBERS)
    why["across"] = weighed.why
    found = Mapping("counts", **shared, across=across, why=why)
    return found if weighed.sure else in_doubt(found, _with_layout(raw, "wide"), doubt=_WHOLE_NUMBERS)


def _counted(raw: RawTable, across: tuple[str, ...]) -> tuple[tuple[str, ...], np.ndarray | None]:
    """Return columns of integers and their values, without texts of the cases; None for values if some have others."""
    if (numbers := _whole_numbers(raw, across)) is not None:
        return across, numbers
    seen = ColumnEvidence(raw)
    texts = [column for column in across if not seen.are_numbers(column)]
    rest = tuple(column for column in across if column not in texts)
    numbers = _whole_numbers(raw, rest) if len(rest) > 1 else None
    if numbers is None or (_total(numbers, rest) is None and not all(map(seen.has_many_names, texts))):
        return across, None
    return rest, numbers


def _blanks(raw: RawTable, columns: Sequence[str]) -> np.ndarray:
    """Return whether each cell is empty, shape (n_rows, n_columns)."""
    return np.stack([encode(raw.table[column].slice(0, _LOOKED_AT)).code < 0 for column in columns], 1)


def _total(numbers: np.ndarray, columns: Sequence[str]) -> str | None:
    """Return the first or last column if it is the sum of the others in every row; None if neither is."""
    if len(columns) < 3:
        return None
    sums = numbers.sum(1)
    for place in (len(columns) - 1, 0):
        enough = 3 if columns[place].strip().casefold() in _TOTALS else _FEW
        if len(numbers) >= enough and numbers[:, place].max() > 1 and (2 * numbers[:, place] == sums).all():
            return columns[place]
    return None


def _long_by_content(raw: RawTable, guess: Mapping) -> Mapping:
    """Return one row per annotation if the values of two columns show it, with or without dates; else the guess.

    Cases repeat, the columns share no value, and one of them identifies the rows of each case: it names the raters.
    """
    if guess.layout != "wide" or guess.case is None or len(guess.raters) not in (2, 3):
        return guess
    part = raw.table.slice(0, _LOOKED_AT)
    dates = [column for column in guess.raters if len(guess.raters) == 3 and _dates(raw, column)]
    between = [column for column in guess.raters if column not in dates]
    if len(between) != 2:
        return guess
    case, *others = (encode(part[column]) for column in (guess.case, *between))
    if len(np.unique(case.code)) * 2 > len(case.code) or set(others[0].values) & set(others[1].values):
        return guess
    pairs = (case.code.astype(np.int64) * (len(other.values) + 1) + other.code for other in others)
    tells = [len(np.unique(pair)) == len(case.code) for pair in pairs]
    if tells[0] == tells[1]:
        return guess
    rater, answer = between if tells[0] else between[::-1]
    shared = {role: reason for role, reason in guess.why.items() if role != "raters"}
    why = shared | {
        "rater": f"values of {guess.case!r} repeat, but never with the same {rater!r}",
        "answer": f"it is the column next to {guess.case!r} and {rater!r}",
    }
    if dates:
        why["time"] = "it has dates"
    role: dict[str, Any] = {"group": guess.group, "gold": guess.gold, "time": dates[0] if dates else None}
    return Mapping("long", case=guess.case, rater=rater, answer=answer, **role, why=why)


def _left_over(raw: RawTable, guess: Mapping) -> Mapping:
    """Return the guess with its case or annotation, if no column has that name and only one role is left for a column.

    Of two such columns the cases are those with no repeats within a rater; annotations have fewer values.
    """
    missing = [role for role in ("case", "answer") if getattr(guess, role) is None]
    if guess.layout != "long" or guess.rater is None or guess.rank is not None or not missing:
        return guess
    taken = {guess.case, guess.rater, guess.answer, guess.time, guess.group, guess.gold}
    left = [column for column in raw.columns if column not in taken]
    if len(left) != len(missing):
        return guess
    part = raw.table.slice(0, _LOOKED_AT)
    names = [guess.case or left[0], guess.answer or left[-1]]
    rater, *coded = (encode(part[column]) for column in (guess.rater, *names))
    if len(missing) == 2 and _rows_told(rater, coded[1]) > _rows_told(rater, coded[0]):
        names, coded = names[::-1], coded[::-1]
    case, answer = coded
    if not (_rows_told(rater, case) == 1 > _rows_told(rater, answer) and len(case.values) > len(answer.values)):
        return guess
    why = {"case": f"no two rows with the same {guess.rater!r} have the same {names[0]!r}"}
    why["answer"] = f"it is the column next to {names[0]!r} and {guess.rater!r}"
    found: dict[str, Any] = dict(zip(("case", "answer"), names, strict=True))
    return replace(guess, **found, why=guess.why | {role: why[role] for role in missing})


def _rows_told(rater: Any, other: Any) -> float:
    """Return the share of the rows that a rater and another column identify."""
    pairs = rater.code.astype(np.int64) * (len(other.values) + 1) + other.code
    return len(np.unique(pairs)) / len(pairs)


def _dates(raw: RawTable, column: str) -> bool:
    """Return whether all given cells of a column can be read as dates."""
    if not ColumnEvidence(raw).are_dates(column):
        return False
    given = [text for text in _head(raw, column) if text]
    return bool((to_seconds(pa.chunked_array([pa.array(given, pa.string())]), day_first=False) != MISSING_TIME).all())


def _with_dates(seen: ColumnEvidence, questions: dict[str, Mapping]) -> dict[str, Mapping]:
    """Return the questions with the only column of dates of any name, if its dates differ within cases and raters."""
    if any(one.layout != "long" or one.time is not None or one.case is None for one in questions.values()):
        return questions
    used = {getattr(one, role) for one in questions.values() for role in ROLES}
    wholes = {getattr(one, role) for one in questions.values() for role in ("case", "rater")} - {None}
    dates = [column for column in seen.columns if column not in used and _dates(seen.raw, column)]
    if len(dates) != 1 or any(not seen.varies_within(dates[0], whole) for whole in wholes):
        return questions
    if unclear_date(seen.raw.table[dates[0]]) is not None:
        return questions
    return {
        name: replace(one, time=dates[0], why=one.why | {"time": "it has dates that differ between annotations"})
        for name, one in questions.items()
    }


def _groups_of_cases(raw: RawTable, guess: Mapping) -> Mapping:
    """Return the guess without its column of groups if most cases have several: it then describes the raters."""
    if guess.layout != "long" or guess.case is None or guess.group is None:
        return guess
    case, group = (encode(raw.table[column].slice(0, _LOOKED_AT)) for column in (guess.case, guess.group))
    given = (group.code >= 0) & (case.code >= 0)
    pair = np.unique(case.code[given].astype(np.int64) * len(group.values) + group.code[given])
    n_rows = np.bincount(case.code[given], minlength=len(case.values))
    n_groups = np.bincount(pair // max(len(group.values), 1), minlength=len(case.values))
    repeated = n_rows > 1
    if repeated.sum() < _FEW or (n_groups[repeated] > 1).mean() <= 0.5:
        return guess
    why = guess.why | {"group": f"not used: {guess.group!r} differs between the rows of most cases"}
    return replace(guess, group=None, why=why)


def _several_classes(raw: RawTable, guess: Mapping) -> bool:
    """Return whether some rater gives several different classes to one case."""
    part = raw.table.slice(0, _LOOKED_AT)
    case, rater, answer = (encode(part[column]) for column in (guess.case, guess.rater, guess.answer))
    pair = case.code.astype(np.int64) * (len(rater.values) + 1) + rater.code
    triple = pair * (len(answer.values) + 1) + answer.code
    return len(np.unique(triple)) > len(np.unique(pair))


def _signs_in(raw: RawTable, columns: Sequence[str]) -> tuple[str, str] | None:
    """Return the signs of rankings: in a fifth of the different annotations, around names that change places."""
    answers = {text for column in columns[:20] for text in _head(raw, column) if text}
    for after, tied in _SIGNS:
        ranked = [text for text in answers if after in text]
        if len(ranked) < 2 or 5 * len(ranked) < len(answers):
            continue
        place_of: dict[str, set[int]] = {}
        for text in answers:
            for place, block in enumerate(text.split(after)):
                for name in block.split(tied):
                    place_of.setdefault(name.strip(), set()).add(place)
        if "" not in place_of and any(len(places) > 1 for places in place_of.values()):
            return after, tied
    return None
