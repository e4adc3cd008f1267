"""Plain tables with any names of columns, one or several, with the most probable roles for the user to correct."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ...annotations.columns import of_numpy
from ...annotations.dataset import LABEL_SIGNS
from ...annotations.none_of_these import NONE_APPLIES
from ...annotations.vocabulary import encode
from ..column_evidence import MOST_CLASSES, NEARLY, ColumnEvidence
from ..column_mapping import LAYOUTS, Mapping, Role, guess_mapping, likeness, numbers_apart, words, words_of_name
from ..companion_files import SideFiles
from ..guess_mapping import likeliest_mapping, likely_questions, mapping_before
from ..id_columns import with_joined_case
from ..label_columns import NO, YES
from .budget import plain_text
from .raw_table import Dropped, RawTable, RowLocations
from .records import RATER_OF_POSITION
from .reshaped import objects_as_columns, pairs_as_rows, without_totals
from .source import Question, Source

NAME, TITLE = "table", "Table"
_FIRST_BYTES = 1 << 16
_DELIMITER = re.compile(r"[,;\t|]")
_QUESTION_WORDS = words("question criterion criteria aspect dimension attribute measure variable metric property")
RATER_OF_FILE = "rater (the file's name)"
_ALL_FILES = "all files"
_ENDING = re.compile(r"\.(?:csv|tsv|tab|txt|dat|xlsx?|xlsm|parquet|pq|jsonl?|ndjson|feather|arrow)$", re.IGNORECASE)
_ROLES_OF_PARTS: tuple[Role, ...] = ("case", "rater", "answer", "time", "group", "gold")


def read_plain(tables: Sequence[tuple[str, RawTable]], side: SideFiles) -> Source:
    """Read the questions of tables; combine tables with the same columns, each a rater if no column has raters.

    Parts of one table may have other names for the same columns, and more columns. If they may also be different
    questions, the source offers both.
    """
    classes = named_classes(side)
    alike = len({tuple(raw.columns) for _, raw in tables}) == 1
    tables = tables if alike else _with_files_of_raters(tables)
    renamed, certain = ([raw for _, raw in tables], True) if alike else _as_parts(tables)
    parts: tuple[Question, ...] = ()
    if len(tables) > 1 and renamed:
        joined = _together([(name, raw) for (name, _), raw in zip(tables, renamed, strict=True)])
        if certain:
            tables = [(_ALL_FILES, joined)]
        else:
            parts = tuple(_questions(_ALL_FILES, joined, classes, several=False))
    questions = tuple(question for name, raw in tables for question in _questions(name, raw, classes, len(tables) > 1))
    before = None
    if len(questions) == 1 and questions[0].raw.table.num_rows != tables[0][1].table.num_rows:  # reshaped since
        before = Question("", tables[0][1], mapping_before(tables[0][1], classes))
    questions, side = _with_own_gold(questions, side)
    first = questions[0].mapping
    why = "; ".join(first.reasons()) or "no column was recognised"
    return Source(NAME, title_of(first), why, questions, side, before=before, parts=parts)


def _with_own_gold(questions: tuple[Question, ...], side: SideFiles) -> tuple[tuple[Question, ...], SideFiles]:
    """Return questions with gold of the column that is called like them, and side files without gold of all."""
    golds = side.golds or {}
    own: list[dict[str, str] | None] = []
    for one in questions:
        mapping = one.mapping
        if mapping.layout == "labels":
            known = [golds[label] for label in mapping.across if label in golds]
            own.append(_sets_of(mapping.across, golds) if len(known) == len(mapping.across) else None)
        else:
            own.append(golds.get(mapping.answer or "") or golds.get(one.name))
    if sum(gold is not None for gold in own) < min(2, len(questions)):
        return questions, side
    return tuple(replace(one, gold=gold) for one, gold in zip(questions, own, strict=True)), replace(side, gold=None)


def _sets_of(labels: Sequence[str], golds: dict[str, dict[str, str]]) -> dict[str, str]:
    """Return the gold set of each case whose labels are all known, as text."""
    cases = [case for case in golds[labels[0]] if all(case in golds[label] for label in labels)]
    named = {case: [label for label in labels if golds[label][case].casefold() in YES] for case in cases}
    return {case: LABEL_SIGNS[0].join(given) or NONE_APPLIES for case, given in named.items()}


def title_of(mapping: Mapping) -> str:
    """Return the name on screen of a plain table under a mapping."""
    return f"{TITLE}: {LAYOUTS[mapping.layout]}"


def named_classes(side: SideFiles) -> frozenset[str]:
    """Return the names that side files give to classes; for predictions all cells of their first lines."""
    names = {*(side.gold or {}).values(), *(side.classes.names if side.classes is not None else ())}
    for _, content in side.predictions:
        text = content[:_FIRST_BYTES].decode("utf-8", "ignore")
        names |= {cell.strip().strip("\"'") for line in text.splitlines() for cell in _DELIMITER.split(line)}
    return frozenset(names)


def _questions(name: str, raw: RawTable, classes: frozenset[str], several: bool) -> list[Question]:
    """Return the questions of a table, named like the table if there is one."""
    as_it_came = raw
    raw, counted = objects_as_columns(pairs_as_rows(raw))
    deeper, _ = (raw, ()) if counted or raw is as_it_came else objects_as_columns(raw)
    if deeper is not raw and _lacks_annotations(likeliest_mapping(raw)):
        raw = deeper
    if counted and not any(likeness(column, "rater") == 2 for column in raw.columns):
        guess = likeliest_mapping(replace(raw, table=raw.table.drop_columns(counted)))
        why = {"across": "one object per case with the number of annotations of each class"}
        case = guess.case or next(column for column in raw.columns if column not in counted)
        return [Question(name, raw, Mapping("counts", case=case, across=counted, why=why))]
    found = likely_questions(raw, classes)
    first = next(iter(found.values()))
    if len(found) == 1 and (parts := _by_question(raw, first, classes)):
        return [replace(one, name=f"{name}: {one.name}" if several else one.name) for one in parts]
    if first.layout in ("wide", "counts") and (rest := without_totals(raw, first.case)) is not raw:
        raw, found = rest, likely_questions(rest, classes)
    if raw is as_it_came and first != guess_mapping(raw.columns):
        before = mapping_before(raw, classes)
        known = before.instead or (len(found) == 1 and before == first)
        found = found if known else {asked: replace(mapping, before=before) for asked, mapping in found.items()}
    raw, found = with_joined_case(raw, found)
    names = {asked: f"{name}: {asked}" if several else asked for asked in found} if len(found) > 1 else {}
    return [
        Question(
            names.get(asked, name), raw, _with_rater(mapping, raw), raters_identified=mapping.rater != RATER_OF_POSITION
        )
        for asked, mapping in found.items()
    ]


def _lacks_annotations(mapping: Mapping) -> bool:
    return mapping.layout == "long" and mapping.answer is None


def _by_question(raw: RawTable, whole: Mapping, classes: frozenset[str]) -> list[Question]:
    """Return the questions of a table whose rows name them in a column; empty if no column does.

    Case and rater tell the rows of each question apart, but not those of the table.
    """
    if whole.layout != "long" or whole.instead or raw.table.num_rows == 0:
        return []
    seen = ColumnEvidence(raw)
    told = whole.case is not None and whole.rater is not None and seen.tells_rows(whole.case, whole.rater) >= NEARLY
    for column in raw.columns if not told else ():
        if not words_of_name(column) & _QUESTION_WORDS or not 1 < seen.n_values(column) <= MOST_CLASSES:
            continue
        named = encode(raw.table[column])
        found = []
        for code, value in enumerate(named.values):
            rows = np.flatnonzero(named.code == code)
            places = None if raw.places is None else raw.places.at(rows)
            table = raw.table.drop_columns([column]).take(of_numpy(rows))
            part = replace(raw, table=table, line=raw.line[rows], places=places)
            mappings = likely_questions(part, classes)
            mapping = next(iter(mappings.values()))
            complete = mapping.case is not None and mapping.rater is not None and mapping.answer is not None
            if len(mappings) > 1 or mapping.layout != "long" or not complete:
                return []
            found.append(Question(value, part, mapping))
        return found
    return []


def _with_rater(mapping: Mapping, raw: RawTable) -> Mapping:
    """Return the mapping with the names of the files as raters, if the table has them."""
    if RATER_OF_FILE not in raw.columns:
        return mapping
    if mapping.rater != RATER_OF_FILE:
        others = [column for column in raw.columns if column != RATER_OF_FILE]
        return Mapping(
            "long", case=others[0], rater=RATER_OF_FILE, answer=others[1], why={"rater": "one file per rater"}
        )
    return replace(mapping, why=mapping.why | {"rater": "one file per rater, without a rater column"})


def _as_parts(tables: Sequence[tuple[str, RawTable]]) -> tuple[list[RawTable], bool]:
    """Return tables with the first one's names of columns if they may be parts of one table, and whether they are.

    They are if no rater annotates a case in two of them, and annotations share a vocabulary and a name or synonyms.
    """
    found, certain = [tables[0][1]], True
    for _, raw in tables[1:]:
        one, columns = _same_columns(found[0], raw)
        if one is None:
            return [], False
        told = tuple(f"Column {old!r} was read as {new!r}." for old, new in columns.items() if old != new)
        table = raw.table.rename_columns([columns.get(column, column) for column in raw.columns])
        part = replace(raw, table=table, notes=(*raw.notes, *told))
        keys = [column for column in (one.case, one.rater) if column is not None]
        certain &= all(_rows_of(other, keys).isdisjoint(_rows_of(part, keys)) for other in found)
        pairs = [(old, new) for old, new in columns.items() if new in (one.answer, *one.raters)]
        certain &= all(old == new or likeness(old, "answer") == likeness(new, "answer") == 2 for old, new in pairs)
        certain &= all(_share_values(found[0], part, new) for _, new in pairs)
        found.append(part)
    return found, certain


def _same_columns(first: RawTable, raw: RawTable) -> tuple[Mapping | None, dict[str, str]]:
    """Return the first table's mapping and its column for those of another, by name or role; None if no parts."""
    one, found = next(iter(likely_questions(first).values())), [*likely_questions(raw).values()]
    two = next((two for two in found if two.answer == one.answer), found[0])
    columns = {column: column for column in raw.columns if column in first.columns}
    for role in _ROLES_OF_PARTS:
        here, there = getattr(one, role), getattr(two, role)
        if here and there and here not in raw.columns and there not in first.columns:
            columns[there] = here
    matched = {*columns.values()}
    if one.layout == two.layout == "wide":
        return (one if one.case in matched and len(matched & {*one.raters}) > 1 else None), columns
    needed = {one.case, one.rater, one.answer}
    return (one if one.layout == two.layout == "long" and needed <= matched else None), columns


def _rows_of(raw: RawTable, keys: Sequence[str]) -> set[tuple[str, ...]]:
    seen = ColumnEvidence(raw)
    return set(zip(*(seen.texts(key) for key in keys), strict=True))


def _share_values(first: RawTable, part: RawTable, column: str) -> bool:
    """Return whether most annotations of a part occur in the first table, or both are measured numbers."""
    here, there = ColumnEvidence(first), ColumnEvidence(part)
    if here.is_measured(column) and there.is_measured(column):
        return True
    return bool(2 * np.isin(there.texts(column), here.texts(column)).mean() > 1)


def _are_labels_of_files(tables: Sequence[tuple[str, RawTable]], mapping: Mapping) -> bool:
    """Return whether tables have columns of 0 and 1 for labels and the same cases, each once: a rater each."""
    if mapping.layout != "wide" or mapping.case is None or len(mapping.raters) < 3:
        return False
    if any(likeness(column, "rater") or "#" in numbers_apart(column) for column in mapping.raters):
        return False
    seen = [ColumnEvidence(raw) for _, raw in tables]
    marked = (seen[0].coded(column).values for column in mapping.raters)
    if any(not values or not {value.casefold() for value in values} <= YES | NO for values in marked):
        return False
    cases = [set(one.coded(mapping.case).values) for one in seen]
    return all(
        len(own) == one.n_rows and 2 * len(own & cases[0]) >= len(own) for own, one in zip(cases, seen, strict=True)
    )


def _are_annotations_of_files(tables: Sequence[tuple[str, RawTable]], mapping: Mapping) -> bool:
    """Return whether tables have two columns, the first of which has the same cases, each once: a rater each."""
    if mapping.layout != "wide" or mapping.case is not None or len(tables[0][1].columns) != 2:
        return False
    case, answer = tables[0][1].columns
    seen = [ColumnEvidence(raw) for _, raw in tables]
    cases = [{*one.texts(case)} for one in seen]
    return all(
        len(own) == one.n_rows > one.n_values(answer) and 2 * len(own & cases[0]) >= len(own)
        for own, one in zip(cases, seen, strict=True)
    )


def _are_of_raters(tables: Sequence[tuple[str, RawTable]]) -> bool:
    """Return whether each of several tables with the same columns has the annotations of one rater."""
    mapping = likeliest_mapping(tables[0][1])
    if mapping.layout == "long":
        return mapping.rater is None
    return _are_labels_of_files(tables, mapping) or _are_annotations_of_files(tables, mapping)


def _with_files_of_raters(tables: Sequence[tuple[str, RawTable]]) -> list[tuple[str, RawTable]]:
    """Return the tables, those that have a rater each and the same columns as one."""
    alike: dict[tuple[str, ...], list[tuple[str, RawTable]]] = {}
    for name, raw in tables:
        alike.setdefault(tuple(raw.columns), []).append((name, raw))
    found: list[tuple[str, RawTable]] = []
    for group in alike.values():
        joined = len(group) > 1 and _are_of_raters(group)
        found += [(f"{group[0][0]} and {len(group) - 1:,} more", _together(group))] if joined else group
    return found


def _together(tables: Sequence[tuple[str, RawTable]]) -> RawTable:
    """Return tables one below the other; if no column has raters, the files are the raters."""
    per_file = len({tuple(raw.columns) for _, raw in tables}) == 1 and _are_of_raters(tables)
    parts, dropped, notes = [], [], []
    names = tuple(name for name, _ in tables)
    columns = dict.fromkeys(column for _, raw in tables for column in raw.columns)
    for name, raw in tables:
        own, empty = set(raw.columns), pa.chunked_array([pa.repeat("", raw.table.num_rows)])
        plain = pa.table({one: plain_text(raw.table[one]) if one in own else empty for one in columns})
        if per_file:
            stem = _ENDING.sub("", name.replace("\\", "/").rsplit("/", 1)[-1])
            plain = plain.append_column(RATER_OF_FILE, pa.array([stem] * plain.num_rows, pa.string()))
        parts.append(plain)
        dropped += [Dropped(line, f"{name}: {reason}") for line, reason in raw.dropped]
        notes += [f"{name}: {note}" for note in raw.notes]
    sizes = [raw.table.num_rows for _, raw in tables]
    line = np.concatenate([raw.line for _, raw in tables])
    places = RowLocations(("line",), (line,), names, np.repeat(np.arange(len(tables)), sizes))
    comma = all(raw.decimal_comma for _, raw in tables)
    return RawTable(pa.concat_tables(parts), line, tuple(dropped), tuple(notes), decimal_comma=comma, places=places)
