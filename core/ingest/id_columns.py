"""Cases and raters by columns of ids: tables of numbers without a header, and cases that two columns name together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..annotations.vocabulary import encode
from .column_evidence import MOST_CLASSES, NEARLY, ColumnEvidence, are_numbered_alike, is_fact_by_name
from .column_mapping import Mapping, likeness, words, words_of_name
from .column_roles import SWAPPED, in_doubt, leaning_of_counts
from .formats.raw_table import RawTable
from .label_columns import with_labels_in_rows

JOINED = " + "  # in the name of a column that joins two
_FEW_ROWS = 30
_WITH_GOLD = 2  # columns of one vocabulary: annotations and gold
_MOST_COLUMNS = 40  # of a table without a header in which two columns of ids are searched
_MANY_PARTS = 10  # more than sessions in which raters annotate the same case again
_MOST_SHARED = 0.5  # share of the rows of ids that may also be annotations
_CROSSED = 0.9  # share of all pairs that must have a row
_REPEATED = 0.9  # share of distinct pairs of case and rater below which the case may lack a column
_MORE = 1.5  # how many times more pairs another column of ids must distinguish
_OF_CASES = words("id system model method seg segment sentence word term aspect entity turn")
_JOINTLY = "Raters have more than one row for most cases, so two columns together may identify a case."


def questions_of_ids(seen: ColumnEvidence, guess: Mapping) -> dict[str, Mapping]:
    """Return the questions of a table without a header that has two columns of ids; empty for others.

    Most of the ids are no annotations, and together they identify the rows. A table of three columns has only numbers.

    Parameters
    ----------
    seen : ColumnEvidence
    guess : Mapping
    """
    columns = seen.columns
    if seen.raw.has_header or guess.layout != "wide" or seen.n_rows < _FEW_ROWS:
        return {}
    if not 3 <= len(columns) <= _MOST_COLUMNS:
        return {}
    if len(columns) == 3 and not all(map(seen.are_numbers, columns)):
        return {}
    whole = [column for column in columns if not seen.is_measured(column)]
    share_values = cache(seen.share_values)
    for one, other in combinations(whole, 2):
        rest = [column for column in whole if column not in (one, other)]
        answers = [column for column in rest if 1 < seen.n_values(column) <= MOST_CLASSES]
        if not rest:
            answers = [column for column in columns if column not in whole]
        if not answers or max(map(seen.n_values, (one, other))) == seen.n_rows:
            continue
        if any(sum(share_values(answer, also) for also in answers) > _WITH_GOLD for answer in answers):
            continue  # raters of one vocabulary
        if seen.tells_rows(one, other) >= NEARLY and _are_ids(seen, (one, other), rest):
            found = {answer: _by_counts(seen, (one, other), answer, answers) for answer in answers}
            found = {answer: one for answer, one in found.items() if not _is_gold_of(answer, found.values())}
            return found if len(found) > 1 else dict(zip([""], found.values(), strict=True))
    return {}


def _are_ids(seen: ColumnEvidence, ids: tuple[str, str], rest: Sequence[str]) -> bool:
    """Return whether two columns have nearly every pair of their values, or mostly values beyond the annotations."""
    one, other = ids
    if seen.n_rows >= _CROSSED * seen.n_values(one) * seen.n_values(other):
        return True
    return all(_share_among(seen, id_, answer) < _MOST_SHARED for id_ in ids for answer in rest)


def _share_among(seen: ColumnEvidence, id_: str, answer: str) -> float:
    """Return the share of the ids within the range of numbers of another column, or among its texts."""
    here, there = seen.numbers(id_), seen.numbers(answer)
    if here is None or there is None:
        return seen.share_in(id_, answer)
    return float(np.mean((here >= there.min()) & (here <= there.max())))


def _is_gold_of(answer: str, others: Iterable[Mapping]) -> bool:
    return any(one.gold == answer for one in others)


def _by_counts(seen: ColumnEvidence, ids: tuple[str, str], answer: str, answers: Sequence[str]) -> Mapping:
    """Return the reading with cases and raters as their counts show, or both readings.

    Numbers of rows show nothing if every case has every rater. Gold is the only further column of the same classes that
    has one of them for each case.
    """
    one, other = ids
    first, second = (np.bincount(encode(seen.raw.table[column]).code + 1)[1:] for column in ids)
    crossed = len(first) * len(second) <= seen.raw.table.num_rows
    leaning = 0 if crossed else leaning_of_counts(first, second) or _evenly(first, second)
    case, rater = (one, other) if (leaning or len(first) - len(second)) >= 0 else (other, one)
    why = {"case": f"{case!r} and {rater!r} together identify each row", "answer": "it has few distinct values"}
    found = Mapping("long", case=case, rater=rater, answer=answer, why=why)
    if not leaning:
        return in_doubt(found, replace(found, case=rater, rater=case), doubt=SWAPPED)
    facts = [c for c in answers if c != answer and seen.is_fact_of(c, case) and seen.share_values(c, answer)]
    if len(facts) == 1 and not seen.is_fact_of(answer, case):
        found = replace(found, gold=facts[0], why=why | {"gold": f"{facts[0]!r} is the same in all rows of a case"})
    return found


def _evenly(first: np.ndarray, second: np.ndarray) -> int:
    """Return 1 if only the first ids have the same number of rows each, as cases have, -1 if only the second have."""
    even = [np.ptp(counts) == 0 for counts in (first, second)]
    return int(even[0]) - int(even[1])


def with_joined_case(raw: RawTable, questions: dict[str, Mapping]) -> tuple[RawTable, dict[str, Mapping]]:
    """Return a table with a column that joins the two that name a case together, and its questions; else both as given.

    Two texts that are numbered alike ("word1", "word2") are joined if they identify the rows, and so are, with a column
    per rater, a case and the number of its part ("record", "epoch"). If raters have several
    rows for most cases and another column of ids distinguishes them, both readings are returned.

    Parameters
    ----------
    raw : RawTable
    questions : dict of str to Mapping
        Questions of the table by name, with the same cases.
    """
    first = next(iter(questions.values()))
    if first.case is None or first.instead or first.layout not in ("long", "wide") or raw.table.num_rows < _FEW_ROWS:
        return raw, questions
    if first.layout == "long" and (first.rater is None or first.answer is None):
        return raw, questions
    seen = ColumnEvidence(raw)
    if seen.n_values(first.case) == seen.n_given(first.case):
        return raw, questions
    taken = {column for one in questions.values() for column in _taken(one)}
    free = [c for c in seen.columns if c not in taken and not is_fact_by_name(c) and seen.n_values(c) > 1]
    for other in free:
        if _identify(seen, first, other):
            raw, name = _joined(raw, (first.case, other))
            why = {"case": f"{first.case!r} and {other!r} together identify a case"}
            return raw, {asked: _named(one, name, one.why | why) for asked, one in questions.items()}
    if first.layout == "long" and (columns := _more_ids(seen, first, free)) != (first.case,):
        name = columns[0]
        if len(columns) > 1:
            raw, name = _joined(raw, columns)
        return raw, {asked: _either(raw, one, name) for asked, one in questions.items()}
    return raw, questions


def _taken(mapping: Mapping) -> Iterator[str | None]:
    yield from (mapping.case, mapping.rater, mapping.answer, mapping.time, mapping.group, mapping.gold)
    yield from (mapping.confidence, mapping.rank)
    yield from mapping.raters


def _identify(seen: ColumnEvidence, mapping: Mapping, other: str) -> bool:
    """Return whether another column identifies, with the case and its rater, rows that the case alone does not.

    It is a text that is numbered like the case, or, with a column per rater, counts parts of most cases.
    """
    case = mapping.case
    if case is None or seen.is_measured(other):
        return False
    if mapping.layout == "wide" and seen.are_numbers(other) and seen.n_values(other) > _MANY_PARTS:
        return 2 * seen.n_values(case) <= seen.n_rows == seen.n_pairs(case, other)
    if seen.are_numbers(other) or seen.n_values(other) <= MOST_CLASSES or not are_numbered_alike(case, other):
        return False
    ends = [column for column in (case, mapping.rater) if column is not None]
    return seen.n_pairs(*ends) < _REPEATED * seen.n_rows and seen.n_pairs(*ends, other) >= NEARLY * seen.n_rows


def _more_ids(seen: ColumnEvidence, mapping: Mapping, free: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that name a case: a finer one than the guess, and one that distinguishes more rows."""
    case, rater = mapping.case, mapping.rater
    if case is None or rater is None or seen.n_pairs(case, rater) >= _REPEATED * seen.n_rows:
        return () if case is None else (case,)
    ids = [c for c in free if (likeness(c, "case") or words_of_name(c) & _OF_CASES) and not seen.is_free_text(c)]
    ids = [c for c in ids if not seen.is_id(c) and not seen.is_fact_of(c, rater)]
    finer = [c for c in ids if seen.is_fact_of(case, c) and seen.n_pairs(c, rater) >= _MORE * seen.n_pairs(case, rater)]
    case = max(finer, key=seen.n_values, default=case)
    others = [c for c in ids if c != case and seen.n_pairs(case, c, rater) >= _MORE * seen.n_pairs(case, rater)]
    return (case, min(others, key=seen.n_values)) if others else (case,)


def _named(mapping: Mapping, case: str, why: dict[str, str]) -> Mapping:
    return replace(mapping, case=case, why=why, before=mapping.before or mapping)


def _either(raw: RawTable, mapping: Mapping, case: str) -> Mapping:
    """Return the reading with the finer column of cases and, if the user rather means it, the guessed one."""
    why = mapping.why | {
        "case": f"raters have more than one row with the same {mapping.case!r}, and these rows differ in {case!r}"
    }
    finer = _named(mapping, case, why)
    return in_doubt(with_labels_in_rows(raw, finer), mapping, doubt=_JOINTLY)


def _joined(raw: RawTable, columns: Sequence[str]) -> tuple[RawTable, str]:
    """Return the table with the columns joined in a further one, and its name."""
    columns = sorted(columns, key=raw.columns.index)
    name = JOINED.join(columns)
    if name in raw.columns:
        return raw, name
    texts = [raw.table[column].cast(pa.string()) for column in columns]
    cells = pc.binary_join_element_wise(*texts, " / ").dictionary_encode()
    return replace(raw, table=raw.table.append_column(name, cells)), name
