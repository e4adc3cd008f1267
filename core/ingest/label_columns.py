"""Annotations with several labels: a column of 0 and 1 for each label, or all labels of an annotation in a cell."""

import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..annotations.dataset import LABEL_SIGNS
from ..annotations.none_of_these import NONE_APPLIES
from ..annotations.vocabulary import Coded, encode
from .column_evidence import ColumnEvidence, is_fact_by_name
from .column_mapping import Mapping, is_only_answer, likeness, numbers_apart
from .formats.raw_table import RawTable
from .long_rows import Rows, cases_or_numbers, drop, empty_cells, names_as_codes, number_within

LISTS = "[ ]"  # in place of a sign: every annotation is a list, as JSON or Python writes it
OBJECTS = "{ }"  # in place of a sign: every annotation is an object, as JSON or Python writes it, that names labels
IN_ROWS = "rows"  # in place of a sign: every row of a rater on a case has one label
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_LIST_OF_QUOTED = re.compile(r"(?:'[^']*'|\"[^\"]*\")(?:\s*,\s*(?:'[^']*'|\"[^\"]*\"))*,?")
_PAIR = re.compile(r"(?:'([^']*)'|\"([^\"]*)\")\s*:\s*(?:-?\d+\.\d*|[Tt]rue|([Ff]alse|None|null))")
_OBJECT = re.compile(rf"\{{\s*(?:{_PAIR.pattern}(?:\s*,\s*{_PAIR.pattern})*)?\s*\}}")
_LONGEST_LINE = 40  # letters of a label, of several in one cell
YES = frozenset({"1", "1.0", "true", "yes", "x"})
NO = frozenset({"0", "0.0", "false", "no"})
_LOOKED_AT = 5_000
_DIFFERENT = 20  # texts needed before repeated parts distinguish labels from parts of a name
_NAMED = 6
_ROWS_PER_PAIR = 20  # one of so many annotations must have a second class
_BLANK, _ODD = -1, -2
UNDECIDED = "neither 0 nor 1 for the label"


def label_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return rows of a table with a column of 0 and 1 per label: one row for each label of an annotation.

    An annotation that has 0 everywhere gets the label `NONE_APPLIES`. Empty cells are 0 if the mapping says so, and
    next to a 1 if the table has no 0 at all; else the row is not an annotation.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping; ``across`` has the columns of labels; cases and raters are numbered if no column has them.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict of str to int)
        Rows; nothing is missing here, so the dict is empty.
    """
    case = cases_or_numbers(raw, mapping.case)
    if mapping.rater is not None:
        rater = encode(raw.table[mapping.rater])
    else:
        number = number_within(case.code)
        places = tuple(f"answer {place}" for place in range(1, int(number.max(initial=0)) + 2))
        rater = Coded(number.astype(np.int32), places, {})
    tell(0.2)
    state = np.stack([_state(raw, column) for column in mapping.across], 1)
    only_marks = False
    if mapping.empty == "none":
        state[np.stack([empty_cells(raw, column) for column in mapping.across], 1)] = 0
    elif not (state == 0).any():
        only_marks = bool((state == _BLANK).any())
        state[(state == _BLANK) & (state == 1).any(axis=1, keepdims=True)] = 0
    dropped = _unusable(raw, mapping, state)
    names = [*mapping.across, _free_name(mapping.across)]
    named = np.column_stack([state == 1, (state == 0).all(axis=1)])
    named[list(dropped)] = False
    row, column = np.nonzero(named)
    labels = names_as_codes(names)
    rows = Rows(case, rater, labels, row.astype(np.int32), case.code[row], rater.code[row], labels.code[column])
    rows.annotation = row
    nobody = [column for column, given in zip(mapping.across, (state == 1).any(axis=0), strict=True) if not given]
    if nobody:
        first = ", ".join(repr(column) for column in nobody[:_NAMED]) + " …" * (len(nobody) > _NAMED)
        labels_are = "this label is" if len(nobody) == 1 else "these labels are"
        rows.notes.append(
            f"No rater chose {first}, so {labels_are} left out. To use "
            f"{'it' if len(nobody) == 1 else 'them'}, list all labels as classes."
        )
    if only_marks:
        rows.notes.append("No label column contains a 0, so an empty cell in a row with a chosen label counts as 0.")
    rows.dropped += [raw.drop(place, reason) for place, reason in dropped.items()]
    drop(rows, raw, rows.case_code < 0, "no case")
    drop(rows, raw, rows.rater_code < 0, "no rater")
    tell(0.4)
    return rows, {}


def none_of(mapping: Mapping) -> str:
    """Return the label of annotations with 0 in every column."""
    return _free_name(mapping.across)


def _free_name(names: Sequence[str]) -> str:
    name = NONE_APPLIES
    while name in names:
        name = f"({name})"
    return name


def _state(raw: RawTable, column: str) -> np.ndarray:
    """Return 1, 0, `_BLANK` or `_ODD` for each cell of a column, int8."""
    coded = encode(raw.table[column])
    of_value = [1 if text.casefold() in YES else 0 if text.casefold() in NO else _ODD for text in coded.values]
    return np.array([*of_value, _BLANK], np.int8)[coded.code]


def _unusable(raw: RawTable, mapping: Mapping, state: np.ndarray) -> dict[int, str]:
    """Return rows that are not annotations, each with its reason."""
    found = {int(row): "no annotation" for row in np.flatnonzero((state == _BLANK).all(axis=1))}
    for row in np.flatnonzero((state < 0).any(axis=1)):
        if int(row) in found:
            continue
        place = int(np.flatnonzero(state[row] < 0)[0])
        column = mapping.across[place]
        if state[row, place] == _BLANK:
            found[int(row)] = f"{UNDECIDED} {column!r}"
        else:
            value = raw.table[column][int(row)].as_py()
            found[int(row)] = f"the label {column!r} has the value {value!r}, which is neither 0 nor 1"
    return found


def label_columns(raw: RawTable, guess: Mapping, *, alike: bool = True) -> Mapping | None:
    """Return the mapping of a table with a column of 0 and 1 for each label; None if it is not such a table.

    A table of raters with 0 or 1 looks the same, so either a column has raters or cases have several rows.

    Parameters
    ----------
    raw : RawTable
    guess : Mapping
        Guess by the names of the columns only.
    alike : bool
        True to leave out a column of words, such as true and false, next to more columns of 0 and 1, or the reverse.
    """
    rater = guess.rater if guess.rater is not None and likeness(guess.rater, "rater") == 2 else None
    taken = {guess.case, rater, guess.time, guess.group, guess.gold, guess.rank}
    free = [column for column in raw.columns if column not in taken]
    marks = [column for column in free if _is_indicator(raw, column)]
    marks = _written_alike(raw, marks) if alike else marks
    across = _numbered_alike([column for column in free if column in marks or _is_beside(raw, column, marks)])
    if len(marks) < 2 or (guess.answer is not None and guess.answer not in across):
        return None
    if alike and rater is not None and _are_facts_of_cases(raw, guess.case, across, free):
        return None
    if any("#" not in numbers_apart(column) and is_only_answer(column) for column in across):
        return None
    case = guess.case or (raw.columns[0] if raw.columns[0] not in (*across, rater) else None)
    if case is None or case in across:
        return None
    left = [column for column in free if column not in (*across, case)]
    told = guess.rater is None and len(left) == 1 and _tells_rows(raw, case, left[0])
    if told:
        rater = left[0]
    if rater is None:
        code = encode(raw.table[case].slice(0, _LOOKED_AT)).code
        if guess.rater is not None or len(np.unique(code)) == code.size:
            return None
    why = {role: reason for role, reason in guess.why.items() if role in ("case", "rater", "time", "group")}
    why = {"case": "it is the first column"} | why | {"across": "these columns contain only 0 and 1"}
    if told:
        why["rater"] = f"values of {case!r} repeat, but never with the same {rater!r}"
    if rater is None:
        why["anonymous"] = "no column identifies the rater, and cases have more than one row"
    return Mapping("labels", case=case, rater=rater, across=across, time=guess.time, group=guess.group, why=why)


def _are_facts_of_cases(raw: RawTable, case: str | None, across: Sequence[str], free: Sequence[str]) -> bool:
    """Return whether cases have one row each, and columns of 0 and 1 are few, or one of them is called like a fact."""
    few = 2 * len(across) <= len(free) or any(map(is_fact_by_name, across))
    return few and case is not None and ColumnEvidence(raw).has_one_row_each(case)


def _written_alike(raw: RawTable, marks: Sequence[str]) -> list[str]:
    """Return the marks that are written like most of them: in numbers, or in words."""
    values = [encode(raw.table[column].slice(0, _LOOKED_AT)).values for column in marks]
    in_numbers = [all(text[0].isdigit() for text in each) for each in values]
    most = 2 * sum(in_numbers) >= len(marks)
    left = [column for column, number in zip(marks, in_numbers, strict=True) if number == most]
    return left if len(left) > 2 else list(marks)


def _numbered_alike(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that differ in a number alone if these are at least three; all columns if not."""
    stems = Counter(name for name in map(numbers_apart, columns) if "#" in name)
    stem, n_alike = stems.most_common(1)[0] if stems else ("", 0)
    return tuple(column for column in columns if n_alike < 3 or numbers_apart(column) == stem)


def _is_indicator(raw: RawTable, column: str) -> bool:
    values = {text.casefold() for text in encode(raw.table[column].slice(0, _LOOKED_AT)).values}
    return bool(values) and values <= YES | NO and not values <= NO


def _is_beside(raw: RawTable, column: str, marks: Sequence[str]) -> bool:
    """Return whether a column of 0 only is among or next to those of labels: a label that nobody gave."""
    values = {text.casefold() for text in encode(raw.table[column].slice(0, _LOOKED_AT)).values}
    if not marks or not values or not values <= NO:
        return False
    places = [raw.columns.index(mark) for mark in marks]
    place = raw.columns.index(column)
    return min(places) < place and all(
        _is_indicator(raw, other) or {text.casefold() for text in encode(raw.table[other]).values} <= NO
        for other in raw.columns[max(places) + 1 : place]
    )


def _tells_rows(raw: RawTable, case: str, column: str) -> bool:
    """Return whether a column has raters: cases repeat, names differ within a case, and names are repeated."""
    part = raw.table.slice(0, _LOOKED_AT)
    cases, names = (encode(part[name]) for name in (case, column))
    if (cases.code < 0).any() or (names.code < 0).any() or 2 * len(names.values) > len(names.code):
        return False
    pairs = cases.code.astype(np.int64) * len(names.values) + names.code
    return len(cases.values) < len(cases.code) and len(np.unique(pairs)) == len(pairs)


def sign_of_labels(raw: RawTable, columns: Sequence[str]) -> str | None:
    """Return the sign between the labels of an annotation: in one row of fifty, around names that are repeated.

    Four of five names next to it are also in another annotation, with or without others. For signs that are common
    inside names, half of the names must also occur without the sign. If there are very many names, some occur only
    once: if half of the annotations have the sign, it is enough that most names next to it are repeated, in sets of
    several sizes and in changing order.

    Parameters
    ----------
    raw : RawTable
    columns : sequence of str
        Columns with annotations.
    """
    parts = [pc.cast(raw.table[column].slice(0, _LOOKED_AT), pa.string()).to_pylist() for column in columns[:20]]
    texts = [text.strip() for part in parts for text in part if text and text.strip()]
    different = set(texts)
    for sign, names_in in ((LISTS, _listed), (OBJECTS, _names_of_object)):
        lists = [text for text in different if text.startswith(sign[0])]
        if lists and 10 * len(lists) >= 9 * len(different) and all(names_in(text) is not None for text in lists):
            return sign
    if _hold_lines(texts):
        return "\n"
    for sign in LABEL_SIGNS:
        together = {text for text in different if sign in text}
        if len(together) < 2 or 50 * sum(text in together for text in texts) < len(texts):
            continue
        pieces = {text: frozenset(_pieces(text, sign)) for text in different}
        beside = frozenset().union(*(pieces[text] for text in together))
        again = sum(sum(name in own for own in pieces.values()) > 1 for name in beside)
        alone = sum(name in different for name in beside)
        if 5 * again >= 4 * len(beside) and (sign in ";|" or 2 * alone >= len(beside)):
            return sign
        if 2 * sum(text in together for text in texts) >= len(texts) and _come_again(
            [*pieces.values()], together, sign
        ):
            return sign
    return None


def _hold_lines(texts: Sequence[str]) -> bool:
    """Return whether cells have labels on separate lines: short ones, which are repeated in other cells."""
    of_lines = [_pieces(text, "\n") for text in texts if "\n" in text]
    if len(of_lines) < 3:
        return False
    times = Counter(line for text in texts for line in _pieces(text, "\n"))
    lines = {line for own in of_lines for line in own}
    return max(map(len, lines)) <= _LONGEST_LINE and 5 * sum(times[line] > 1 for line in lines) >= 4 * len(lines)


def _come_again(sets: Sequence[frozenset[str]], together: Collection[str], sign: str) -> bool:
    """Return whether the pieces of many different texts are labels: parts of one name have fixed positions instead."""
    times = Counter(name for own in sets for name in own)
    if 5 * sum(n for n in times.values() if n > 1) < 4 * times.total() or len(sets) < _DIFFERENT:
        return False
    listed = [_pieces(text, sign) for text in together]
    in_front, behind = {one[0] for one in listed if one}, {name for one in listed for name in one[1:]}
    often = {name for name, n in times.items() if n > 2}
    return len({len(one) for one in listed}) > 1 and 4 * len(in_front & behind & often) >= len(often) > 0


def with_labels_in_rows(raw: RawTable, mapping: Mapping) -> Mapping:
    """Return the mapping with sets of labels, one in each row, if raters have rows with different classes of a case.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
    """
    case, rater, answer = mapping.case, mapping.rater, mapping.answer
    if mapping.layout != "long" or case is None or rater is None or answer is None:
        return mapping
    if mapping.ranked or mapping.time is not None or mapping.label_sign is not None:
        return mapping
    cases, raters, answers = (encode(raw.table[column].slice(0, _LOOKED_AT)) for column in (case, rater, answer))
    pairs = cases.code.astype(np.int64) * (len(raters.values) + 1) + raters.code
    different = np.unique(pairs * (len(answers.values) + 1) + answers.code)
    if _ROWS_PER_PAIR * len(different) < (_ROWS_PER_PAIR + 1) * len(np.unique(pairs)):
        return mapping
    why = mapping.why | {"labels": "raters have one row for each class that they chose for a case"}
    return replace(mapping, label_sign=IN_ROWS, why=why)


def likely_sign(raw: RawTable, columns: Sequence[str]) -> str | None:
    """Return the sign in most annotations, if they are known to be sets; None if there is none.

    Parameters
    ----------
    raw : RawTable
    columns : sequence of str
        Columns with annotations.
    """
    if (found := sign_of_labels(raw, columns)) is not None:
        return found
    texts = [text for column in columns for text in encode(raw.table[column].slice(0, _LOOKED_AT)).values]
    count = {sign: sum(sign in text for text in texts) for sign in LABEL_SIGNS}
    best = max(count, key=lambda sign: count[sign])
    return best if count[best] else None


def labels_apart(rows: Rows, raw: RawTable, sign: str) -> None:
    """Split annotations such as "a; b" into one row per label, in place; ignore empty pieces.

    Parameters
    ----------
    rows : Rows
        Rows, changed in place.
    raw : RawTable
        Table of the rows, for the account of those that are left out.
    sign : str
        Sign between labels.
    """
    pieces = [_pieces(text, sign) for text in rows.answer.values]
    drop(rows, raw, np.array([not piece for piece in pieces], bool)[rows.answer_code], "the label is missing")
    names = [name for piece in pieces for name in piece]
    coded = encode(pa.chunked_array([pa.array(names, pa.string())]))
    size = np.array([len(piece) for piece in pieces], np.int64)
    start = np.cumsum(size) - size
    per_row = size[rows.answer_code]
    within = np.arange(int(per_row.sum())) - np.repeat(np.cumsum(per_row) - per_row, per_row)
    entry = np.repeat(start[rows.answer_code], per_row) + within
    annotation = np.repeat(np.arange(rows.row.size), per_row)
    missing = rows.answer.missing
    rows.keep(annotation)
    rows.answer, rows.answer_code, rows.annotation = (
        Coded(coded.code, coded.values, missing),
        coded.code[entry],
        annotation,
    )
    drop_whole(rows, raw, rows.answer_code < 0, "one of its labels is not text")


def drop_whole(rows: Rows, raw: RawTable, bad: np.ndarray, reason: str) -> None:
    """Remove annotations with a row marked in ``bad``: a set without one of its labels is another answer.

    Parameters
    ----------
    rows : Rows
        Rows, changed in place.
    raw : RawTable
    bad : ndarray of bool, shape (n_rows,)
    reason : str
    """
    if bad.any():
        whole = annotation_of(rows)
        drop(rows, raw, np.isin(whole, whole[bad]), reason)


def annotation_of(rows: Rows) -> np.ndarray:
    """Return the number of the annotation of each row: from the file, or by case, rater and time."""
    if rows.annotation is not None:
        return rows.annotation
    keys = [rows.case_code, rows.rater_code, *([] if rows.time is None else [rows.time])]
    return np.unique(np.stack(keys, 1), axis=0, return_inverse=True)[1].ravel()


def _pieces(text: str, sign: str) -> list[str]:
    if sign in (LISTS, OBJECTS):
        return [name for name in (_listed(text) if sign == LISTS else _names_of_object(text)) or () if name]
    return [name for piece in text.split(sign) if (name := piece.strip())]


def _names_of_object(text: str) -> list[str] | None:
    """Return the names in an object of marks or decimal numbers but those of false; None for other texts and counts."""
    if _OBJECT.fullmatch(text) is None:
        return None
    return [(one or other).strip() for one, other, no in _PAIR.findall(text) if not no]


def _listed(text: str) -> list[str] | None:
    """Return the names in a list in JSON or Python syntax; None if the text is not a list of names or numbers."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        inner = text[1:-1].strip()
        if not inner:
            return []
        quoted = _QUOTED.findall(inner) if _LIST_OF_QUOTED.fullmatch(inner) else None
        return None if quoted is None else [(one or other).strip() for one, other in quoted]
    if any(isinstance(value, list | dict) or value is None for value in values):
        return None
    return [str(value).strip() for value in values]
