"""Roles of columns by their values: cases, raters and annotations; several columns of annotations are questions."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, takewhile

import numpy as np

from .column_evidence import (
    MOST_CLASSES,
    NEARLY,
    ColumnEvidence,
    are_numbered_alike,
    is_fact_by_name,
    is_gold_by_name,
    is_machine_by_name,
    is_summary_by_name,
)
from .column_mapping import (
    SHOWN,
    Mapping,
    guess_mapping,
    is_only_answer,
    likeness,
    numbers_apart,
    words,
    words_of_name,
)
from .formats.headers import HEADERS_JOINED
from .label_columns import NO, OBJECTS, YES, sign_of_labels

ALL_COLUMNS, ALL_LABELS = "all columns", "all labels"
_NO_WRITING = 1e-6
_ROUNDED = 0.02  # tolerance per column for shares that add up to the same in every row
_ENOUGH_CASES, _OF_ITS_OWN = 10, 0.75
_MORE_CASES, _SAME_SPREAD = 3, 0.01
_NEARLY_EACH = 0.8  # share of the annotations with a rater of their own beyond which a column has no raters
_HALF = 0.5
_MOST_PAIRED = 40  # number of columns among which a case and a rater are searched
_GOLD = words("gold golden truth groundtruth reference consensus")
_TRUE = words("clean true correct gold gt")
_CLASSIFIERS = words("classifier model system predictor")
_QUESTION = re.compile(r"q\W*\d|question|frage|item|task", re.IGNORECASE)
_PIECE = re.compile(r"[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_TOKENS = re.compile(r"[\s_.:|\-]+")
_MTURK_WORKER = re.compile(r"A[A-Z0-9]{8,}")
_FILE = re.compile(r".+\.(?:png|jpe?g|tiff?|dcm|txt|wav|mp[34]|xml|svs)", re.IGNORECASE)
_BY = re.compile(r".+[\W_]by", re.IGNORECASE)  # "validated by": names of persons, not their annotations
_STEM = re.compile(r"([A-Za-z][A-Za-z ]*?)[\W_]*\d+")


def in_doubt(likeliest: Mapping, *others: Mapping, doubt: str) -> Mapping:
    """Return a reading with the others that the table may have as well.

    Parameters
    ----------
    likeliest, *others : Mapping
    doubt : str
        Reason for several readings.
    """
    return replace(likeliest, instead=tuple(other.clear() for other in others), doubt=doubt)


def with_gold(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the guess with a column of consensus as gold if it shares its values with at least two raters.

    Several such columns with different values, or in a grid of questions, are gold of one question each.
    """
    golds = sorted(filter(is_gold_by_name, seen.columns), key=lambda column: not words_of_name(column) & _TRUE)
    apart = any(not seen.share_values(*pair) for pair in combinations(golds, 2))
    if apart or (len(golds) > 1 and _grid(seen, guess.raters) is not None):
        return guess
    for column in golds:
        found = guess_mapping([one for one in seen.columns if one != column])
        others = [one for one in found.raters if not _is_set_apart(seen, one, found.raters)]
        if found.layout == "wide" and found.gold is None and sum(seen.share_values(column, one) for one in others) > 1:
            return replace(found, gold=column, why=found.why | {"gold": f"the column is called {column!r}"})
    return guess


def with_grid(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Map one column per rater if the names of all columns are pairs of a rater and a question.

    Raters are numbered ("R1:ICH", "R2:ICH"), and no column names them.

    Parameters
    ----------
    seen : ColumnEvidence
    guess : Mapping
    """
    if guess.layout != "long" or guess.rater is not None or "anonymous" in guess.why:
        return guess
    named = [column for column in seen.columns if "#" in numbers_apart(_TOKENS.split(column)[0])]
    named = [column for column in named if not is_fact_by_name(column)]
    if len(named) < 4 or _grid(seen, named) is None:
        return guess
    why = {"raters": "one column per combination of rater and question"} | {
        r: guess.why[r] for r in ("case",) if r in guess.why
    }
    return Mapping("wide", case=guess.case, raters=tuple(named), group=guess.group, gold=guess.gold, why=why)


def with_raters_by_values(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the guess with one column per rater if each case has one row and columns share their annotations.

    Several columns are called like raters ("Expert.1", "Northern neurologist") and have the same values, or columns
    without a rater are numbered alike and called like annotations ("label1", "label2").

    Parameters
    ----------
    seen : ColumnEvidence
    guess : Mapping
    """
    case = guess.case
    if guess.layout != "long" or case is None or guess.rank is not None or "anonymous" in guess.why:
        return guess
    if seen.n_rows < _MORE_CASES or seen.n_values(case) < seen.n_rows:
        return guess
    taken = (case, guess.time, guess.group)
    if (rater := guess.rater) is not None:
        alike = [c for c in seen.columns if c not in taken and seen.share_values(rater, c) and not _BY.fullmatch(c)]
        alike = [c for c in alike if are_numbered_alike(rater, c) or is_gold_by_name(c)]
        golds = [column for column in alike if is_gold_by_name(column)]
    else:
        named = [c for c in seen.columns if c not in taken and likeness(c, "answer") and not _QUESTION.match(c)]
        alike = max((_numbered_like(seen, column, named) for column in named), key=len, default=[])
        golds = []
    raters = [column for column in alike if column not in golds]
    if len(raters) < 2:
        return guess
    why: dict[str, str] = {role: guess.why[role] for role in ("case", "group", "gold") if role in guess.why}
    why["raters"] = "these columns contain the same classes, and each case has one row"
    gold = guess.gold
    if gold is None and len(golds) == 1:
        gold, why["gold"] = golds[0], f"the column is called {golds[0]!r}"
    return Mapping("wide", case=case, raters=tuple(raters), group=guess.group, gold=gold, why=why)


def _numbered_like(seen: ColumnEvidence, column: str, columns: Sequence[str]) -> list[str]:
    """Return the columns whose names differ from one only in a number, if they share its values."""
    plain = numbers_apart(column)
    found = [one for one in columns if "#" in plain and numbers_apart(one) == plain]
    return found if all(seen.share_values(column, one) for one in found) else []


def wide_questions(seen: ColumnEvidence, guess: Mapping) -> dict[str, Mapping]:
    """Return the questions of a table with a column for each rater: columns of one vocabulary each.

    Columns that are ids, facts by their names, summaries or long texts are not raters, and neither are those that share
    no values with the others. If fewer than two are left, nothing is a rater until the user says so.
    """
    guess = _by_unique_id(seen, first_column_as_rater(seen, guess))
    candidates = [column for column in guess.raters if not _is_set_apart(seen, column, guess.raters)]
    if guess.gold is not None and is_gold_by_name(guess.gold):  # "adjudicated quality" next to "adjudicated grade"
        others = [column for column in candidates if not is_gold_by_name(column)]
        candidates = others if len(others) > 1 else candidates
    candidates = _without_derived(seen, _without_measures(seen, candidates))
    if len(candidates) < 2:
        return long_questions(seen, _by_rows(guess))
    if (grid := _grid(seen, candidates)) is not None:
        return _questions(guess, grid)
    groups = [group for group in seen.groups_of_one_vocabulary(candidates) if len(group) > 1]
    groups = [group for group in groups if not all(map(_is_gold_of_a_question, group))] or groups
    if not groups:
        return _without_shared_values(seen, guess, candidates)
    named = [group for group in groups if all(are_numbered_alike(group[0], one) for one in group[1:])]
    if len(groups) > 1 and len(named) == 1:
        groups = named
    if len(groups) > 1:
        return _questions(guess, {_name_of(group): group for group in groups})
    (group,) = groups
    group = _without_other_numbers(seen, group)
    if not seen.raw.has_header and 2 * len(group) < len(seen.columns) - 1 and _repeats_by_place(seen, guess):
        return long_questions(seen, _by_rows(replace(guess, case=None)))
    left = [column for column in candidates if column not in group and _may_be_a_rater(seen, column, group)]
    if left:
        several = sorted([*group, *left], key=seen.columns.index)
        return {_listed(group): _with_raters(guess, group), ALL_COLUMNS: _with_raters(guess, several)}
    found = _with_raters(guess, group)
    if _are_shares(seen, group):
        return {"": _shares(seen, found)}
    return {"": found}


def long_questions(seen: ColumnEvidence, guess: Mapping) -> dict[str, Mapping]:
    """Return the questions of a table with a row for each annotation: each column that may have annotations is one."""
    if guess.rank is not None or guess.layout != "long":
        return {"": guess}
    if guess.answer is not None and not is_only_answer(guess.answer) and seen.n_values(guess.answer) < 2:
        others = seen.may_be_answers([column for column in seen.columns if column != guess.rater], guess.case, None)
        guess = replace(guess, answer=None) if others else guess
    guess = _with_pair(seen, guess)
    if guess.case is None or (guess.rater is None and "anonymous" not in guess.why):
        return {"": guess}
    if (found := _with_one_row_each(seen, guess)) is not None:
        return {"": found}
    free = _free(seen, guess)
    named = guess.answer if guess.answer is not None and not _is_no_answer(seen, guess.answer) else None
    answers = seen.may_be_answers(free, guess.case, guess.rater)
    if named is not None and guess.case is not None:
        others = [column for column in answers if column != named]
        guess = _without_fact_as_answer(seen, guess, named, others)
        free = [column for column in free if column != guess.gold]
        named = guess.answer
    by_name = likeness(named, "answer") if named is not None else 0
    if named is not None and is_only_answer(named):
        alike = [one for one in answers if is_only_answer(one) and seen.are_numbers(one) == seen.are_numbers(named)]
        if named not in alike or len(alike) < 2:
            return {"": guess}
        answers = alike
    if named is not None and named not in answers:  # all values are the same, or it is a fact on each rater
        answers = [named] if by_name == 2 else [named, *answers]
    if not answers:
        answers = free if len(free) == 1 else [guess.answer] if guess.answer in free else []
    if len(answers) < 2:
        answer = answers[0] if answers else None
        why = guess.why | ({} if answer in (None, guess.answer) else {"answer": _LEFT})
        return {"": _with_answer(guess, answer, why)}
    questions = {name: _with_answer(guess, name, guess.why | {"answer": "one of several"}) for name in answers}
    marks = [column for column in free if _is_mark(seen, column)]
    if len(marks) > 2 and not guess.instead and set(answers) <= set(marks):
        why = {role: reason for role, reason in guess.why.items() if role != "answer"}
        labels = Mapping("labels", case=guess.case, rater=guess.rater, time=guess.time, group=guess.group,
                         across=tuple(marks), why=why | {"across": "these columns contain only 0 and 1"})  # fmt: skip
        questions = {ALL_LABELS: labels} | questions
    return questions


def _free(seen: ColumnEvidence, guess: Mapping) -> list[str]:
    """Return the columns that may have annotations: those without another role."""
    taken = {guess.case, guess.rater, guess.time, guess.group, guess.confidence, guess.gold}
    return [column for column in seen.columns if column not in taken]


def _with_one_row_each(seen: ColumnEvidence, guess: Mapping) -> Mapping | None:
    """Return the reading of a table with one row per case and a rater, whose columns are rather facts of the cases.

    Objects that name labels are annotations. Other columns are left to the user, unless one is called like annotations
    or all of them have one vocabulary: None for such tables.
    """
    case, answer = guess.case, guess.answer
    if case is None or guess.rater is None or guess.instead or not seen.has_one_row_each(case):
        return None
    if answer is not None and (likeness(answer, "answer") == 2 or not _is_mark(seen, answer)):
        return None
    why = {role: reason for role, reason in guess.why.items() if role != "answer"}
    guess, free = replace(guess, answer=None, why=why), _free(seen, guess)
    objects = [column for column in free if sign_of_labels(seen.raw, [column]) == OBJECTS]
    if len(objects) == 1:
        return _with_objects(seen, guess, objects[0], free)
    answers = seen.may_be_answers(free, case, guess.rater)
    return guess if len(seen.groups_of_one_vocabulary(answers)) > 1 else None


def _with_objects(seen: ColumnEvidence, guess: Mapping, answer: str, free: Sequence[str]) -> Mapping:
    """Return the reading of a table with one row per case whose annotations are objects.

    Ids that are different in every row name the cases. If several columns are called like raters, each may be meant.
    """
    why = guess.why | {"answer": "it contains objects with label names"}
    ids = [c for c in free if seen.is_id(c) and "id" in words_of_name(c) and not likeness(c, "answer")]
    found = replace(guess, answer=answer, why=why)
    if len(ids) == 1 and seen.n_values(ids[0]) > seen.n_values(guess.case or ids[0]):
        found = replace(found, case=ids[0], why=why | {"case": f"{ids[0]!r} is different in every row"})
    raters = [column for column in free if likeness(column, "rater") == 2 and seen.n_given(column)]
    if not raters:
        return found
    found = replace(found, why=found.why | {"rater": "more than one column has a name that suggests raters"})
    return in_doubt(found, *(replace(found, rater=column) for column in raters), doubt=_WHICH_RATER)


_WHICH_RATER = "More than one column may contain the rater."
_ZERO_TO_ONE = (
    "The columns contain numbers from 0 to 1. They may be raters' scores, shares of annotations per class, or "
    "classifier probabilities, which belong in a predictions file."
)
_LEFT = "no other column can contain annotations"


def _with_answer(guess: Mapping, answer: str | None, why: dict[str, str]) -> Mapping:
    others = tuple(replace(other, answer=answer, why=why) for other in guess.instead)
    return replace(guess, answer=answer, why=why, instead=others)


def _is_no_answer(seen: ColumnEvidence, column: str) -> bool:
    return not seen.n_given(column) or (seen.is_id(column) and "id" in _TOKENS.split(column.casefold()))


def _tells_case(seen: ColumnEvidence, column: str, case: str) -> bool:
    """Check that nearly each case has its own value in all its rows, such as a text or a score of the case."""
    n_cases = seen.n_values(case)
    return n_cases >= _ENOUGH_CASES and seen.n_values(column) > _OF_ITS_OWN * n_cases and seen.is_fact_of(column, case)


def _without_fact_as_answer(seen: ColumnEvidence, guess: Mapping, named: str, others: Sequence[str]) -> Mapping:
    """Return the guess without an annotation that is a fact of the case, if another column may hold them.

    A label that is the same for all raters of a case is gold if another column has its values and varies.
    """
    case = guess.case
    if case is None or not others:
        return guess
    without = replace(guess, answer=None, why={role: why for role, why in guess.why.items() if role != "answer"})
    if _tells_case(seen, named, case):
        return without
    if seen.n_rows < seen.n_values(case) + _ENOUGH_CASES or not seen.is_fact_of(named, case):
        return guess
    alike = [column for column in others if set(seen.coded(column).values) <= set(seen.coded(named).values)]
    if is_only_answer(named) and guess.gold is None and len(alike) == 1:
        return replace(without, gold=named, why=without.why | {"gold": f"{named!r} is the same in all rows of a case"})
    return without if not is_only_answer(named) and any(map(is_only_answer, others)) else guess


def _is_mark(seen: ColumnEvidence, column: str) -> bool:
    values = {value.casefold() for value in seen.coded(column).values}
    return bool(values) and values <= YES | NO


def _is_set_apart(seen: ColumnEvidence, column: str, beside: Sequence[str]) -> bool:
    """Return whether a column of a table with one column per rater is not a rater's, by its name or its values."""
    if is_summary_by_name(column) or is_fact_by_name(column):
        return True
    if any(one != column and are_numbered_alike(one, column) for one in beside):
        return False
    if seen.is_free_text(column):
        return True
    return seen.is_id(column) and seen.numbers(column) is None and seen.n_rows > 3


def _without_measures(seen: ColumnEvidence, candidates: list[str]) -> list[str]:
    """Return the candidates without numbers with decimals next to three numbered columns of whole numbers."""
    whole = [column for column in candidates if not seen.is_measured(column)]
    if len(whole) in (0, len(candidates)) or not all(map(seen.are_numbers, whole)):
        return candidates
    numbered = [c for c in candidates if sum(are_numbered_alike(c, one) for one in candidates if one != c) > 1]
    return [c for c in candidates if c in whole] if numbered and set(numbered) <= set(whole) else candidates


def _without_derived(seen: ColumnEvidence, candidates: list[str]) -> list[str]:
    """Return the candidates without columns that always repeat one of three numbered ones, such as a majority.

    Each of the numbered columns has a value of its own in several rows.
    """
    numbered = [c for c in candidates if sum(are_numbered_alike(c, one) for one in candidates if one != c) > 1]
    if len(numbered) < 3 or len(numbered) == len(candidates):
        return candidates
    values = {column: seen.texts(column) for column in candidates}

    def n_alone(column: str) -> int:
        others = [values[one] for one in numbered if one != column]
        return int((~np.any([values[column] == one for one in others], axis=0)).sum())

    if min(map(n_alone, numbered)) < _ENOUGH_CASES:
        return candidates
    return [column for column in candidates if column in numbered or n_alone(column)]


def _without_other_numbers(seen: ColumnEvidence, group: list[str]) -> list[str]:
    """Return the columns of raters without a column of numbers that is not numbered like three others.

    Most of its values are none of theirs: it rather counts parts of cases.
    """
    numbered = [c for c in group if sum(are_numbered_alike(c, one) for one in group if one != c) > 1]
    if len(numbered) < 3 or any(map(seen.is_measured, numbered)):
        return group
    return [c for c in group if c in numbered or not seen.are_numbers(c) or seen.share_in(c, numbered[0]) >= _HALF]


def _repeats_by_place(seen: ColumnEvidence, guess: Mapping) -> bool:
    """Return whether the first column, which is the case only by its place, has most of its values several times."""
    case = guess.case
    by_place = case is not None and guess.why.get("case") == "it is the first column"
    return by_place and case is not None and 2 * seen.n_values(case) <= seen.n_given(case)


def _by_rows(guess: Mapping) -> Mapping:
    """Return the guess as a table with a row for each annotation whose rater and annotation are unknown."""
    why = {role: reason for role, reason in guess.why.items() if role != "raters"}
    return Mapping("long", case=guess.case, group=guess.group, gold=guess.gold, why=why)


def _with_raters(guess: Mapping, raters: Sequence[str]) -> Mapping:
    if tuple(raters) == guess.raters:
        return guess
    left_out = [column for column in guess.raters if column not in raters]
    named = ", ".join(repr(column) for column in left_out[:6]) + (", …" if len(left_out) > 6 else "")
    reason = f"one column per rater, not counting {named}" if left_out else guess.why["raters"]
    return replace(guess, raters=tuple(raters), why=guess.why | {"raters": reason})


def _questions(guess: Mapping, columns: dict[str, list[str]]) -> dict[str, Mapping]:
    """Return the mapping of each question, with its own gold, and the same name of a rater in all."""
    found = {}
    for name, raters in columns.items():
        asked = words_of_name(name)
        golds = [c for c in raters if _is_gold_of_a_question(c) or (len(raters) > 2 and words_of_name(c) == asked)]
        others = [column for column in raters if column not in golds]
        if name == ALL_COLUMNS or len(others) < 2:
            golds, others = [], list(raters)
        one = _with_raters(guess, others)
        if len(golds) == 1:
            one = replace(one, gold=golds[0], why=one.why | {"gold": f"the column is called {golds[0]!r}"})
        found[name] = one
    return _with_rater_names(found)


def _is_gold_of_a_question(column: str) -> bool:
    return is_gold_by_name(column) or bool(words_of_name(column) & _GOLD)


def _with_rater_names(questions: dict[str, Mapping]) -> dict[str, Mapping]:
    """Return the questions with one name per rater: what their columns are called without the part for the question."""
    groups = {name: one.raters for name, one in questions.items() if name != ALL_COLUMNS}
    starts, ends = ([_shared_pieces(columns, step) for columns in groups.values()] for step in (1, -1))
    before, after = (len(_in_common([one[::-1] for one in pieces])) for pieces in (starts, ends))
    if any(len(end) > after and end[-after - 1].isdigit() for end in ends):  # a number goes with the word before it
        after = max(0, after - 1)
    parts = {
        name: [_parts(column, len(start) - before, len(end) - after) for column in groups[name]]
        for name, start, end in zip(groups, starts, ends, strict=True)
    }
    times = Counter(rater for found in parts.values() for rater in {rater for rater, _ in found})
    named: dict[str, Mapping] = {}
    for name, one in questions.items():
        raters, asked = zip(*parts[name], strict=True) if name in parts else ((), ("",))
        if len(set(raters)) < len(one.raters) or max(times[rater] for rater in raters) == 1:
            named[name] = one
            continue
        title = asked[0] if asked[0] and asked[0] not in questions and asked[0] not in named else name
        named[title] = replace(one, rater_names=tuple(zip(one.raters, raters, strict=True)))
    return named


def _shared_pieces(columns: Sequence[str], step: int) -> list[str]:
    """Return the first words and numbers (last if ``step`` is -1) that all names have in common, but never all."""
    pieces = [[hit[0].casefold() for hit in _PIECE.finditer(column)][::step] for column in columns]
    return _in_common([one[:-1] for one in pieces])


def _in_common(lists: Sequence[list[str]]) -> list[str]:
    """Return what lists have in common at their starts."""
    return [each[0] for each in takewhile(lambda each: len(set(each)) == 1, zip(*lists, strict=False))]


def _parts(column: str, n_first: int, n_last: int) -> tuple[str, str]:
    """Return a name without its first and last words and numbers, and these; the whole name if nothing is left."""
    pieces = list(_PIECE.finditer(column))
    left = pieces[n_first : len(pieces) - n_last]
    if not left:
        return column, ""
    start, end = left[0].start(), left[-1].end()
    around = (column[:start], column[end:])
    return column[start:end], " ".join(filter(None, (re.sub(r"^[\W_]+|[\W_]+$", "", one) for one in around)))


def first_column_as_rater(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the guess with the first column as a rater if it was the case column only because it is the first.

    It is one if its values come again or are missing, and most other raters give them, too.

    Parameters
    ----------
    seen : ColumnEvidence
    guess : Mapping
    """
    case = guess.case
    if case is None or guess.why.get("case") != "it is the first column" or likeness(case, "case"):
        return guess
    if seen.n_values(case) == seen.n_rows:
        return guess
    if 2 * sum(seen.share_values(case, rater) for rater in guess.raters) <= len(guess.raters):
        return guess
    why = {role: reason for role, reason in guess.why.items() if role != "case"}
    return replace(guess, case=None, raters=(case, *guess.raters), why=why)


def _by_unique_id(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the guess with cases by a column of ids, if the values of the chosen column are repeated."""
    if guess.case is None or seen.n_values(guess.case) == seen.n_given(guess.case):
        return guess
    others = [column for column in guess.raters if column.strip().casefold() not in SHOWN]
    ids = [column for column in others if seen.is_id(column) and seen.numbers(column) is None]
    if not ids:
        return guess
    why = guess.why | {"case": f"{ids[0]!r} is different in every row, but {guess.case!r} is not"}
    return replace(guess, case=ids[0], raters=tuple(one for one in guess.raters if one != ids[0]), why=why)


def _without_shared_values(seen: ColumnEvidence, guess: Mapping, candidates: list[str]) -> dict[str, Mapping]:
    """Return the reading of a table whose columns share nothing: by rows if two columns identify them, else by name."""
    found = _with_pair(seen, _by_rows(guess)) if guess.case is None or not likeness(guess.case, "case") else guess
    if found.layout == "long" and found.rater is not None:
        return long_questions(seen, found)
    one_nature = len({seen.are_numbers(column) for column in candidates}) == 1
    if (one_nature or seen.raw.has_header) and all(seen.n_values(column) <= MOST_CLASSES for column in candidates):
        return {"": guess}
    return {"": _by_rows(guess)}


def _may_be_a_rater(seen: ColumnEvidence, column: str, group: Sequence[str]) -> bool:
    """Return whether a column that shares no values with the raters may be a rater nevertheless."""
    if all(are_numbered_alike(group[0], one) for one in group[1:]) and not are_numbered_alike(group[0], column):
        return False
    if is_machine_by_name(column) or seen.n_values(column) > min(MOST_CLASSES, max(2, seen.n_given(column) // 2)):
        return False
    alike = [seen.numbers(one) is None for one in (column, *group)]
    return len(set(alike)) == 1 and alike[0]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(columns[:3]) + (", …" if len(columns) > 3 else "")


def _name_of(group: Sequence[str]) -> str:
    """Return what the names of columns have in common, such as "size" of "r1_size" and "r2_size"; else the names."""
    tokens = [_TOKENS.split(column) for column in group]
    shared = [token for token in tokens[0] if all(token in other for other in tokens[1:])]
    return " ".join(shared) or _listed(group)


def _grid(seen: ColumnEvidence, columns: Sequence[str]) -> dict[str, list[str]] | None:
    """Return columns by question if their names are every pair of a rater and a question; None if they are not.

    Columns of gold are those of the question that they name.
    """
    golds = [column for column in columns if _is_gold_of_a_question(column)]
    others = [column for column in columns if column not in golds]
    if (grid := _grid_of_raters(seen, others)) is None:
        part = _with_same_ends(others)
        grid = _grid_of_raters(seen, part) if len(part) > 3 else None
        golds += [column for column in others if column not in part and any(words_of_name(column) == words_of_name(one)
                                                                           for one in grid or ())]  # fmt: skip
    if grid is None:
        return None
    own = {name: [one for one in golds if words_of_name(name) <= words_of_name(one)] for name in grid}
    return {name: [*raters, *(own[name] if words_of_name(name) else [])] for name, raters in grid.items()}


def _with_same_ends(columns: Sequence[str]) -> list[str]:
    """Return the columns whose names end in the same numbers or letters for each of several starts."""
    ends: dict[str, list[str]] = {}
    for column in columns:
        start, _, end = column.rpartition("_")
        if start and numbers_apart(end) == "#":
            ends.setdefault(start, []).append(end)
    sets = Counter(tuple(sorted(each)) for each in ends.values() if len(each) > 1)
    if not sets or sets.most_common(1)[0][1] < 2:
        return []
    shared = sets.most_common(1)[0][0]
    starts = [start for start, each in ends.items() if tuple(sorted(each)) == shared]
    return [column for column in columns if column.rpartition("_")[0] in starts]


def _grid_of_raters(seen: ColumnEvidence, columns: Sequence[str]) -> dict[str, list[str]] | None:
    """Return columns by question as in `_grid`, which has the columns of gold as well.

    Columns of one question share their values, and raters are numbered; if both parts of the names may be the raters,
    or all columns may be, all readings are returned. So they are for header rows that were joined.
    """
    joined = [column.split(HEADERS_JOINED) for column in columns]
    if all(len(parts) > 1 for parts in joined):
        asked = [HEADERS_JOINED.join(parts[:-1]) for parts in joined]
        grid = _pairs(columns, [parts[-1] for parts in joined], asked)
        return None if grid is None else {ALL_COLUMNS: list(columns)} | grid
    tokens = [_TOKENS.split(column) for column in columns]
    firsts, lasts = ([(one[at], " ".join(one[1:] if at == 0 else one[:-1])) for one in tokens] for at in (0, -1))
    found: list[tuple[bool, dict[str, list[str]]]] = []
    for parts in (firsts, lasts):
        raters, asked = ([part[place] for part in parts] for place in (0, 1))
        grid = _pairs(columns, raters, asked)
        if grid is not None and all(seen.share_values(one[0], other) for one in grid.values() for other in one[1:]):
            found.append((_are_numbered(raters) and not _are_numbered(asked), grid))
    by_name = [grid for numbered, grid in found if numbered]
    if len(by_name) == 1 or len(found) == 1:
        return by_name[0] if by_name else found[0][1]
    return {ALL_COLUMNS: list(columns)} | found[0][1] | found[1][1] if found else None


def _pairs(columns: Sequence[str], raters: Sequence[str], asked: Sequence[str]) -> dict[str, list[str]] | None:
    """Return columns by question if they are all pairs of at least two raters and two questions; else None."""
    n_raters, questions = len(set(raters)), list(dict.fromkeys(asked))
    if min(n_raters, len(questions)) < 2 or "" in questions or len(set(zip(raters, asked, strict=True))) < len(columns):
        return None
    if n_raters * len(questions) != len(columns):
        return None
    return {name: [c for c, one in zip(columns, asked, strict=True) if one == name] for name in questions}


def _are_numbered(raters: Sequence[str]) -> bool:
    """Return whether names differ in a number and are not those of questions, such as "q1" and "q2"."""
    first, *others = dict.fromkeys(raters)
    return _QUESTION.match(first) is None and all(are_numbered_alike(first, one) for one in others)


def _are_shares(seen: ColumnEvidence, columns: Sequence[str]) -> bool:
    """Return whether columns without names of raters have shares or probabilities: 0 to 1, with decimals.

    Columns that are numbered alike are raters, unless they add up to the same in every row.
    """
    if any(likeness(column, "rater") == 2 for column in columns):
        return False
    numbers = [seen.numbers(column) for column in columns]
    if any(one is None or one.min() < 0 or one.max() > 1 for one in numbers):
        return False
    if are_numbered_alike(*columns[:2]):
        whole = [one for one in numbers if one is not None and len(one) == seen.n_rows]
        if len(whole) < len(columns) or np.ptp(sum(whole)) > _ROUNDED * len(columns):
            return False
    given = [np.unique(one) for one in numbers if one is not None]
    return any((len(one) > MOST_CLASSES // 3 and (one % 1).any()) or _are_computed(one) for one in given)


def _are_computed(numbers: np.ndarray) -> bool:
    """Return whether numbers have more decimals than a person writes, such as a mean of three."""
    return bool((np.abs(1e3 * numbers - np.round(1e3 * numbers)) > _NO_WRITING).any())


def _shares(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the scores of raters, or shares of annotations with a column of their total, if any."""
    counted = [column for column in seen.columns if column not in guess.raters and _counts_annotations(seen, column)]
    count, why = (counted[0] if counted else None), {"across": "they hold 0 to 1"}
    fractions = tuple(c for c in guess.raters if (numbers := seen.numbers(c)) is not None and (numbers % 1).any())
    across = fractions if len(fractions) > 1 else guess.raters
    shares = Mapping("counts", case=guess.case, across=across, count=count, group=guess.group, why=why)
    return in_doubt(guess, shares, doubt=_ZERO_TO_ONE)


def _counts_annotations(seen: ColumnEvidence, column: str) -> bool:
    if not re.fullmatch(r"n[\W_]*\w*|(?:num|number|no)?[\W_]*(?:of[\W_]*)?(?:votes?|total|count|annotat\w+|raters?)",
                        column.strip().casefold()):  # fmt: skip
        return False
    numbers = seen.numbers(column)
    return numbers is not None and bool((numbers == np.floor(numbers)).all() and (numbers > 0).all())


def _with_pair(seen: ColumnEvidence, guess: Mapping) -> Mapping:
    """Return the guess with the two columns that identify rows as case and rater, if their names show nothing else.

    The combination of both is nearly unique, and something is left that can be an annotation. Which of them is the
    case, names and shapes of ids say; if they do not, both readings remain.
    """
    if (guess.case is not None and guess.rater is not None) or "anonymous" in guess.why:
        return guess
    taken = {guess.time, guess.group, guess.gold, guess.confidence}
    free = [c for c in seen.columns if c not in taken and not is_fact_by_name(c) and not seen.is_free_text(c)]
    if any(words_of_name(column) & _CLASSIFIERS for column in free):  # predictions, which belong next to annotations
        return guess
    ends = [c for c in free if 1 < seen.n_values(c) < seen.n_given(c)][:_MOST_PAIRED]
    found = [
        pair
        for pair in combinations(ends, 2)
        if all(one is None or one in pair for one in (guess.case, guess.rater))
        and guess.answer not in pair
        and seen.tells_rows(*pair) >= NEARLY
        and (guess.answer is not None or seen.may_be_answers([c for c in free if c not in pair], *pair))
    ]
    if len(found) != 1:
        named = [
            pair for pair in found if any(likeness(c, "case") for c in pair) and any(likeness(c, "rater") for c in pair)
        ]
        ids = [pair for pair in found if any("id" in words_of_name(c) for c in pair if c != guess.rater)]
        found = named or (ids if guess.rater is not None else [])
    if len(found) != 1:
        return guess
    one, other = found[0]
    first = guess.case == one or guess.rater == other
    if not first and guess.case != other and guess.rater != one:
        leaning = leaning_of(seen, one, other)
        if leaning == 0:
            return _either(seen, guess, one, other)
        first = leaning > 0
    case, rater = (one, other) if first else (other, one)
    n_raters = seen.n_values(rater)
    many = n_raters > _MORE_CASES * seen.n_values(case) or n_raters > _NEARLY_EACH * seen.n_given(rater)
    if many and not likeness(rater, "rater"):
        return guess  # the column rather has ids of something else
    why = {"case": f"{case!r} and {rater!r} together identify each row"} | guess.why
    return replace(guess, case=case, rater=rater, why=why | {"rater": f"rows of a case differ in {rater!r}"})


def _either(seen: ColumnEvidence, guess: Mapping, one: str, other: str) -> Mapping:
    """Return both readings of two columns either of which may be the case; first that with more cases than raters."""
    case, rater = (one, other) if seen.n_values(one) >= seen.n_values(other) else (other, one)
    why = guess.why | {"case": f"{case!r} and {rater!r} together identify each row"}
    likeliest = replace(guess, case=case, rater=rater, why=why)
    return in_doubt(likeliest, replace(likeliest, case=rater, rater=case), doubt=SWAPPED)


SWAPPED = "The file does not show which names are cases and which are raters."


def leaning_of(seen: ColumnEvidence, one: str, other: str) -> int:
    """Return a number above 0 if the first of two columns is the case and the second the rater, below 0 if reversed.

    Names of columns count first, then shapes of ids, then counts; 0 if none of them decides.

    Parameters
    ----------
    seen : ColumnEvidence
    one, other : str
        Columns.
    """
    by_name = sum(sign * (likeness(c, "case") - likeness(c, "rater")) for sign, c in ((1, one), (-1, other)))
    first, second = seen.coded(one), seen.coded(other)
    by_shape = leaning_of_names(first.values) - leaning_of_names(second.values)
    return by_name or by_shape or leaning_of_counts(np.bincount(first.code + 1)[1:], np.bincount(second.code + 1)[1:])


def leaning_of_counts(one: np.ndarray, other: np.ndarray) -> int:
    """Return 1 if the first counts of rows look like cases and the second like raters, -1 if reversed.

    There are at least three times as many cases, and their numbers of annotations differ less than those of raters.
    """
    for sign, cases, raters in ((1, one, other), (-1, other, one)):
        if len(cases) >= _MORE_CASES * len(raters) and _spread(cases) <= _spread(raters) + _SAME_SPREAD:
            return sign
    return 0


def _spread(counts: np.ndarray) -> float:
    return float(counts.std() / counts.mean()) if counts.size else 0.0


def leaning_of_names(names: Sequence[str]) -> int:
    """Return 1 if names look like those of cases ("item12", "scan_3.png"), -1 like those of raters, 0 like neither."""
    few = list(names)[:200]
    if not few:
        return 0
    if all("@" in name or _MTURK_WORKER.fullmatch(name) for name in few):
        return -1
    if all(_FILE.fullmatch(name) for name in few):
        return 1
    stems = {hit[1].strip().casefold() if (hit := _STEM.fullmatch(name)) else "" for name in few}
    if len(stems) != 1 or "" in stems:
        return 0
    (stem,) = stems
    leaning = likeness(stem, "case") - likeness(stem, "rater")
    return (leaning > 0) - (leaning < 0)
