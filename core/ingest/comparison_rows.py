"""Tables of paired comparisons: two columns of items, and one with the item that was preferred."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from ..annotations.paired_items import BETWEEN, COMPARED, FIRST, SECOND, TIE, PairedItems
from ..annotations.vocabulary import Coded, encode
from .column_evidence import ColumnEvidence
from .column_mapping import SHOWN, Mapping, likeness, words, words_of_name
from .formats.raw_table import RawTable
from .long_rows import Rows, drop, number_within, stacked

_SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("x", "y"), ("one", "two"))
_WON = (("winner", "loser"), ("winning", "losing"), ("won", "lost"), ("chosen", "rejected"), ("better", "worse"))
_TIES = words("tie ties tied draw equal same both neither bothbad bothgood none =") | {
    "no preference", "tie (bothbad)", "tie (both bad)", "both bad", "both good", "no difference", "undecided", TIE,
}  # fmt: skip
_PREFERRED = words(
    "winner preferred preference choice chosen better best vote label answer selected pick picked decision "
    "verdict judgment judgement response result outcome win"
)
_ONES = {"1": "1", "1.0": "1", "0": "0", "0.0": "0", "0.5": "0.5"}
_TOKENS = re.compile(r"[\s_.:|\-]+")
_GLUED = re.compile(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])")
_MOST_ODD = 0.05  # largest share of rows whose preferred item is not understood
_APART = 0.98  # share of the rows whose two items must differ
_TOGETHER = 0.75  # largest share of pairs of a question to annotations for which questions make cases of their own
_MOST_COLUMNS = 60


def comparison_mapping(raw: RawTable, *, asked: bool = False) -> Mapping | None:
    """Return the roles of the columns of a table of paired comparisons; None if it is not clearly one.

    Two columns have names that differ only in the side ("model_a" and "model_b", "left" and "right", "winner" and
    "loser") and contain items that differ in nearly each row. A third column names one of the two items or its side,
    or says that they tie, in nearly each row; of a winner and a loser no third column is needed.

    Parameters
    ----------
    raw : RawTable
    asked : bool
        True if the user chose this layout, so that some mapping is returned.
    """
    seen = ColumnEvidence(raw)
    if len(raw.columns) <= _MOST_COLUMNS:
        for one, other, decided in _pairs_of_columns(raw.columns):
            if (asked or _are_items(seen, one, other, decided)) and (
                found := _with_preferred(seen, one, other, decided=decided, asked=asked)
            ):
                return _with_others(seen, found)
    if not asked:
        return None
    columns = [column for column in raw.columns if likeness(column, "rater") < 2] or list(raw.columns)
    first, second, answer = (*columns, None, None, None)[:3]
    return _with_others(seen, Mapping("comparisons", first=first, second=second, answer=answer))


def with_comparisons(raw: RawTable, questions: dict[str, Mapping], doubt: Callable[..., Mapping]) -> dict[str, Mapping]:
    """Return the questions of a table, or its paired comparisons if it has some; both if it also has cases.

    Parameters
    ----------
    raw : RawTable
    questions : dict of str to Mapping
        Questions of the table if it has no comparisons.
    doubt : callable
        See `core.ingest.column_roles.in_doubt`.
    """
    found = comparison_mapping(raw)
    if found is None:
        return questions
    first, seen = next(iter(questions.values())), ColumnEvidence(raw)
    if found.answer is not None and _by_one(seen.coded(found.answer), *(seen.coded(c) for c in _items(found))):
        found = doubt(found, replace(found, first=found.second, second=found.first), doubt=_ZERO_OR_ONE)
    if found.instead or (found.case is not None and _writes_pairs(seen, found, found.case)):
        return {"": found}
    whole = first.layout == "long" and first.case is not None and first.rater is not None
    if not whole or first.case in (found.first, found.second) or (first.case and seen.is_id(first.case)):
        return {"": found}
    return {name: doubt(mapping, found, doubt=_TWO_READINGS) for name, mapping in questions.items()}


_ZERO_OR_ONE = "The preferred item is coded as 1 or 0, but it is unclear which of the two items is coded as 1."
_TWO_READINGS = "Each row compares two items and also names a case."


def _items(mapping: Mapping) -> tuple[str, str]:
    """Return the columns of both items."""
    assert mapping.first is not None and mapping.second is not None, "the mapping was checked"
    return mapping.first, mapping.second


def _by_one(answer: Coded, one: Coded, other: Coded) -> bool:
    """Return whether 1 and 0 say which item is preferred, and are not the names of items."""
    values = {value.strip() for value in answer.values}
    return (
        "0" in {_ONES.get(value) for value in values}
        and values <= {*_ONES}
        and not (values & ({*one.values} | {*other.values}))
    )


def _writes_pairs(seen: ColumnEvidence, found: Mapping, column: str) -> bool:
    """Return whether a column names the pair of each row, as Plurality writes it."""
    texts = [np.array([*seen.coded(one).values, ""], object)[seen.coded(one).code] for one in (*_items(found), column)]
    return all(
        case.rstrip("'").endswith((f"{one}{BETWEEN}{other}", f"{other}{BETWEEN}{one}"))
        for one, other, case in {*zip(*texts, strict=True)}
    )


def _side(name: str) -> list[tuple[str, str]]:
    """Return the words of a name without one of them, and that one: the stem and the mark of a side."""
    tokens = [token.casefold() for token in _TOKENS.split(_GLUED.sub(" ", name.strip())) if token]
    return [(" ".join(tokens[:place] + tokens[place + 1 :]), token) for place, token in enumerate(tokens)]


def _pairs_of_columns(columns: Sequence[str]) -> list[tuple[str, str, bool]]:
    """Return pairs of columns whose names differ in the side only, and whether the first is that of the winner.

    Columns of a longer series, such as r1, r2 and r3, are no pair.
    """
    found = []
    series = Counter(stem for column in columns for stem, mark in _side(column) if mark.isdigit())
    for one, other in combinations(columns, 2):
        for (stem, mark), (rest, sign) in ((a, b) for a in _side(one) for b in _side(other)):
            if stem != rest or (mark.isdigit() and series[stem] > 2):
                continue
            if (mark, sign) in _SIDES:
                found.append((one, other, False))
            elif (mark, sign) in _WON:
                found.append((one, other, True))
            elif (sign, mark) in _WON:
                found.append((other, one, True))
    return sorted(found, key=lambda pair: "text" in words_of_name(pair[0]))


def _are_items(seen: ColumnEvidence, one: str, other: str, decided: bool) -> bool:
    """Return whether two columns may hold items: names that differ in nearly each row, some of which they share."""
    if any(likeness(column, role) == 2 for column in (one, other) for role in ("rater", "answer", "time")):
        return False
    if any(seen.is_free_text(column) or seen.is_measured(column) for column in (one, other)):
        return False
    values = [np.array([*seen.coded(column).values, ""], object)[seen.coded(column).code] for column in (one, other)]
    given = (values[0] != "") & (values[1] != "")
    if not given.any() or (values[0] != values[1])[given].mean() < _APART:
        return False
    left, right = ({*part[given]} for part in values)
    return decided or len(left | right) == 2 or 4 * len(left & right) >= min(len(left), len(right))


def _with_preferred(seen: ColumnEvidence, one: str, other: str, *, decided: bool, asked: bool) -> Mapping | None:
    """Return the mapping with the column of the preferred item; None if no column has it."""
    why = {"first": f"{one!r} and {other!r} name the two items in each row"}
    bare = not any(stem for stem, _ in _side(one)) and len(one) == 1
    rest = [column for column in seen.columns if column not in (one, other)]
    best: tuple[int, str] | None = None
    for column in rest:
        cells = (seen.coded(each) for each in (column, one, other))
        code, by_name = understood(next(cells), next(cells), next(cells), (one, other))
        given = seen.coded(column).code >= 0
        if not given.any() or (code[given] < 0).mean() > _MOST_ODD or likeness(column, "rater") == 2:
            continue
        named = bool(words_of_name(column) & _PREFERRED)
        one_sided = len({*code[given]} - {-1}) < 2
        if (one_sided and not named) or (bare and by_name):
            continue
        if not named and _by_one(seen.coded(column), seen.coded(one), seen.coded(other)):
            continue
        if best is None or named > best[0]:
            best = (int(named), column)
    if best is not None:
        why["answer"] = "it contains the name or the side of one of the two items in the row"
        return Mapping("comparisons", first=one, second=other, answer=best[1], why=why)
    if decided:
        return Mapping("comparisons", first=one, second=other, why=why | {"answer": f"{one!r} names the better item"})
    return Mapping("comparisons", first=one, second=other, why=why) if asked else None


def _with_others(seen: ColumnEvidence, found: Mapping) -> Mapping:
    """Return the mapping with the columns of raters, dates, and questions if several raters answer each."""
    taken = (found.first, found.second, found.answer)
    rest = [column for column in seen.columns if column not in taken]
    rater = next((column for column in rest if likeness(column, "rater") == 2), None)
    time = next((column for column in rest if likeness(column, "time") == 2), None)
    why = found.why | ({"rater": f"the column is called {rater!r}"} if rater else {"anonymous": "no column has raters"})
    case = None
    if found.first is not None and found.second is not None:
        pair = np.stack([seen.coded(column).code for column in (found.first, found.second)], 1)
        for column in rest:
            if column in (rater, time) or likeness(column, "case") < 2 or column.strip().casefold() in SHOWN:
                continue
            code = np.column_stack([np.sort(pair, 1), seen.coded(column).code])
            several = seen.n_values(column) > 1 and len(np.unique(code, axis=0)) <= _TOGETHER * len(code)
            if several or _writes_pairs(seen, found, column):
                case, why = (
                    column,
                    why | {"case": f"the same pair is often compared more than once for the same {column!r}"},
                )
                break
    return replace(found, case=case, rater=rater, time=time, why=why)


def understood(answer: Coded, one: Coded, other: Coded, columns: tuple[str, str]) -> tuple[np.ndarray, bool]:
    """Return what each row prefers, and whether it is read by the names of items and not by words for sides.

    Names are preferred to words if they explain at least as many rows.

    Parameters
    ----------
    answer, one, other : Coded
        Columns of the preferred item and of both items.
    columns : tuple of str
        Names of the columns of both items.

    Returns
    -------
    ndarray of int8, shape (n_rows,)
        0 if the first item is preferred, 1 for a tie, 2 if the second item is, -1 if it is not understood.
    bool
    """
    plain = [value.strip().casefold() for value in answer.values]
    sides = [_side_of(value, columns) for value in plain]
    if _by_one(answer, one, other):
        sides = [{"1": 0, "0.5": 1, "0": 2}[_ONES[value]] for value in plain]
    by_word = np.array([*sides, -1], np.int8)[answer.code]
    place: dict[str, int] = {}
    codes = [
        np.array([*(place.setdefault(value.strip().casefold(), len(place)) for value in part), -1 - shift], np.int64)
        for shift, part in enumerate((plain, one.values, other.values))
    ]
    said, left, right = (code[part.code] for code, part in zip(codes, (answer, one, other), strict=True))
    ties = np.array([*(value in _TIES for value in plain), False])[answer.code]
    by_name = np.select([said == left, said == right, ties], [0, 2, 1], -1).astype(np.int8)
    named = int((by_name >= 0).sum()) >= int((by_word >= 0).sum()) and bool(((by_name == 0) | (by_name == 2)).any())
    return (by_name, True) if named else (by_word, False)


def _side_of(value: str, columns: tuple[str, str]) -> int:
    """Return what a word for a side or a tie means; -1 if it is neither."""
    if value in _TIES:
        return 1
    for side, (column, word) in enumerate(zip(columns, (FIRST, SECOND), strict=True)):
        if value in (column.strip().casefold(), word):
            return 2 * side
    tokens = _TOKENS.split(value)
    marks = [2 * side for pair in _SIDES for side, mark in enumerate(pair) if mark in (tokens[-1], tokens[0])]
    return marks[0] if marks and len(tokens) <= 2 and len({*marks}) == 1 else -1


def comparison_rows(raw: RawTable, mapping: Mapping, tell: Callable[[float], None]) -> tuple[Rows, dict[str, int]]:
    """Return the rows of a table of comparisons: a case is a pair of items, in the order of their names.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
        Mapping with ``first`` and ``second``; without ``answer``, the first item is the preferred one.
    tell : callable
        Called with the share done, 0 to 1.

    Returns
    -------
    tuple of (Rows, dict of str to int)
        Rows, and how many annotations are missing by token.
    """
    assert mapping.first is not None and mapping.second is not None, "the mapping was checked"
    n_rows = raw.table.num_rows
    items = encode(stacked(raw, (mapping.first, mapping.second)))
    left, right = items.code[:n_rows], items.code[n_rows:]
    tell(0.2)
    if mapping.answer is None:
        prefers, given, missing, by_one = np.zeros(n_rows, np.int8), np.ones(n_rows, bool), {}, False
    else:
        answer, one, other = (encode(raw.table[column]) for column in (mapping.answer, mapping.first, mapping.second))
        prefers, _ = understood(answer, one, other, (mapping.first, mapping.second))
        given, missing, by_one = answer.code >= 0, answer.missing, _by_one(answer, one, other)
    tell(0.4)
    pairs = np.stack([np.minimum(left, right), np.maximum(left, right)], 1)
    case, of_case = _cases(raw, mapping, items.values, pairs)
    swapped = left > right
    shown = swapped if raw.columns.index(mapping.first) < raw.columns.index(mapping.second) else ~swapped
    shown = shown if by_one else swapped
    code = np.where(swapped, 2 - prefers, prefers).astype(np.int32)
    rater = encode(raw.table[mapping.rater]) if mapping.rater is not None else _numbered(case.code)
    values = COMPARED if (prefers == 1).any() else (FIRST, SECOND)
    code = code if len(values) == len(COMPARED) else code // 2
    rows = Rows(case, rater, Coded(code, values, missing), np.arange(n_rows, dtype=np.int32), case.code, rater.code,
                code)  # fmt: skip
    rows.pairs = PairedItems(items.values, of_case) if len(of_case) else None
    rows.swapped = shown.astype(np.int8) if mapping.answer is not None else None
    rows.read_time(raw, mapping)
    unread = prefers < 0
    for bad, reason in (
        ((left < 0) | (right < 0), "an item is missing"),
        (left == right, "an item is compared with itself"),
        (case.code < 0, "no case"),
        (rater.code < 0, "no rater"),
        (~given, "no annotation"),
        (unread, "the preferred item is neither of the two items"),
    ):
        drop(rows, raw, bad[rows.row], reason)
    return rows, missing


def _numbered(case: np.ndarray) -> Coded:
    number = number_within(case)
    names = tuple(f"answer {place}" for place in range(1, int(number.max(initial=0)) + 2))
    return Coded(number.astype(np.int32), names, {})


def _cases(raw: RawTable, mapping: Mapping, items: tuple[str, ...], pairs: np.ndarray) -> tuple[Coded, np.ndarray]:
    """Return the case of each row, named by its items, and the items of each case, shape (n_cases, 2)."""
    asked = encode(raw.table[mapping.case]) if mapping.case is not None else None
    about = np.zeros(len(pairs), np.int64) if asked is None else asked.code.astype(np.int64)
    good = (pairs[:, 0] >= 0) & (pairs[:, 0] < pairs[:, 1]) & (about >= 0)
    n = len(items)
    key = np.where(good, (about * n + pairs[:, 0]) * n + pairs[:, 1], -1)
    kinds, code = np.unique(key[good], return_inverse=True)
    whole = np.full(len(pairs), -1, np.int32)
    whole[good] = code
    of_case = np.stack([kinds // n % n, kinds % n], 1).astype(np.int32)
    names: dict[str, None] = {}
    for kind, (one, other) in zip(kinds, of_case, strict=True):
        name = f"{items[one]}{BETWEEN}{items[other]}"
        if asked is not None and (question := asked.values[int(kind) // (n * n)]) != name:
            own = question.rstrip("'")  # a case that Plurality has written
            name = question if own == name or own.endswith(f": {name}") else f"{question}: {name}"
        while name in names:  # of items whose names contain the sign
            name += "'"
        names[name] = None
    return Coded(whole, tuple(names), {}), of_case
