"""Tables of gold, classes and costs that come with annotations, recognised by their values, also without headers."""

import io
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from pyarrow.csv import write_csv

from ...annotations.vocabulary import encode, to_numbers
from ...errors import InputError
from ...text import plural, shorten
from ..column_evidence import NEARLY, ColumnEvidence
from ..companion_files import ClassTable, SideFiles
from ..guess_mapping import likeliest_mapping
from ..long_rows import cases_or_numbers
from .budget import OBJECT, spend
from .encoding import to_utf8
from .raw_table import RawTable
from .side_tables import is_named_gold, side_of_table
from .source import Question, Source

Named = tuple[str, RawTable]


def set_apart(
    tables: Sequence[Named], side: SideFiles, *, with_annotations: bool = True
) -> tuple[list[Named], SideFiles, list[str]]:
    """Separate tables of annotations from tables of gold, classes and costs; return both, and notes.

    Gold has no header and a case and a class that occur in the annotations, each case once: two columns with names may
    be annotations of a further rater. A list of classes has each class once, a table of costs each pair of classes with
    a number. Columns of the annotations are as `likeliest_mapping` has them.

    Parameters
    ----------
    tables : sequence of (name, RawTable)
    side : SideFiles
        Known side files of the annotations.
    with_annotations : bool
        True if one of the tables has the annotations.
    """
    tables, side, notes = _without_probabilities(tables, side)
    able = [raw for name, raw in tables if with_annotations and not is_named_gold(name, raw)]
    main = max(able, key=lambda raw: raw.table.num_rows, default=None)
    if with_annotations and (main is None or len(tables) < 2):
        return list(tables), side, notes
    cases, classes = _names_in(main) if main is not None else (set(), set())
    kept = []
    for name, raw in tables:
        if raw is main:
            kept.append((name, raw))
            continue
        found, note = _beside(name, raw, cases, classes)
        if found is None and side.gold is None and is_named_gold(name, raw):
            found = side_of_table(raw, "gold")
        if found is None:
            kept.append((name, raw))
            continue
        side = side.joined(replace(found, gold=side.gold or found.gold, classes=side.classes or found.classes))
        notes += [f"{shorten(name, 60)} was read as {note}."] * bool(note)
    return kept, side, notes


def values_of(content: bytes) -> tuple[str, ...]:
    """Return the values of a file of one column: its lines that are not empty."""
    spend(cells=OBJECT * content.count(b"\n"), characters=len(content))
    lines = to_utf8(content)[0].decode().splitlines()
    return tuple(text for line in lines if (text := line.strip().strip("\"'")))


def gold_in_order(question: Question, values: Sequence[str]) -> dict[str, str] | None:
    """Return values as gold by case, in the order of the cases in the table; None if they cannot be that.

    There is one for each case, after a header if any, and most of them are annotations, or numbers as these are.

    Parameters
    ----------
    question : Question
    values : sequence of str
    """
    cases, known = _cases_in_order(question), _annotations_in(question)
    values = values[1:] if len(values) == len(cases) + 1 and values[0] not in known else values
    n_known = sum(value in known for value in values)
    if not cases or len(values) != len(cases):
        return None
    are_numbers = not np.isnan(to_numbers(tuple({*values, *known}))).any()
    return dict(zip(cases, values, strict=True)) if 2 * n_known > len(values) or are_numbers else None


def _cases_in_order(question: Question) -> list[str]:
    """Return the cases in the order in which the table has them; none if it is not one of cases."""
    raw, mapping = question.raw, question.mapping
    if mapping.layout == "transposed":
        return list(mapping.across)
    if mapping.layout not in ("wide", "counts", "labels", "long") or (mapping.layout == "long" and not mapping.case):
        return []
    coded = cases_or_numbers(raw, mapping.case)
    return list(dict.fromkeys(coded.values[code] for code in coded.code if code >= 0))


def _annotations_in(question: Question) -> set[str]:
    """Return the annotations in a table: classes, labels or numbers."""
    raw, mapping = question.raw, question.mapping
    if mapping.layout in ("counts", "labels"):
        return set(mapping.across)
    columns = {"wide": mapping.raters, "transposed": mapping.across}.get(mapping.layout, (mapping.answer,))
    return {value for column in columns if column is not None for value in encode(raw.table[column]).values}


def with_order_checked(source: Source) -> Source:
    """Return the source without files of one column that cannot be gold in the order of the cases, and notes on these.

    Parameters
    ----------
    source : Source
    """
    kept, notes = [], []
    for name, values in source.side.in_order:
        if any(gold_in_order(question, values) is not None for question in source.questions):
            kept.append((name, values))
            continue
        n_cases = len(_cases_in_order(source.questions[0]))
        why = f"it has no case ids, and the numbers of rows ({len(values):,}) and cases ({n_cases:,}) differ"
        if len(values) == n_cases:
            why = "it has no case ids, and most of its values do not occur as annotations"
        notes.append(f"{shorten(name, 60)} was left out: {why}.")
    return replace(source, side=replace(source.side, in_order=tuple(kept)), notes=(*source.notes, *notes))


def perhaps_gold(question: Question, side: SideFiles) -> list[str]:
    """Return the sentences on files of one column that may be gold in the order of the cases.

    Parameters
    ----------
    question : Question
    side : SideFiles
    """
    return [
        f"{shorten(name, 60)} has one value for each of {plural(len(found), 'case')} but no case ids, so it was not "
        "used. To use it as gold, confirm on the Upload page that its rows are in the same order as the cases, or add "
        "the case ids."
        for name, values in side.in_order
        if (found := gold_in_order(question, values)) is not None
    ]


def _without_probabilities(tables: Sequence[Named], side: SideFiles) -> tuple[Sequence[Named], SideFiles, list[str]]:
    """Return tables without those of probabilities of labels, which are predictions, the side files, and notes.

    Other tables with the same columns, or gold, have 0 and 1 in their place.

    Raises
    ------
    InputError
        Only gold and predictions are left.
    """
    golds = side.golds or {}
    if len(tables) + bool(golds) < 2:
        return tables, side, []
    kept, notes = list(tables), []
    columns = [_shares_and_marks(raw) for _, raw in tables]  # an archive may contain thousands of tables
    for place, (name, raw) in enumerate(tables):
        shares = set(columns[place][0])
        if len(shares) < 2:
            continue
        beside = (marks for other, (_, marks) in enumerate(columns) if other != place)
        if not (shares <= golds.keys() or any(shares <= set(marks) for marks in beside)):
            continue
        kept.remove((name, raw))
        content = io.BytesIO()
        write_csv(raw.table.cast(pa.schema([(column, pa.string()) for column in raw.columns])), content)
        side = side.joined(SideFiles(predictions=((name, content.getvalue()),)))
        notes.append(f"{shorten(name, 60)} contains label probabilities, which are used as predictions.")
    if tables and not kept:
        raise InputError(
            f"Could not find annotations: {shorten(tables[0][0], 60)} contains predictions, and the other file "
            "contains gold.",
            "Add the files with each rater's annotations.",
        )
    return kept, side, notes


def _shares_and_marks(raw: RawTable) -> tuple[list[str], list[str]]:
    """Return the columns of numbers from 0 to 1 of which many have decimals, and those of 0 and 1."""
    seen = ColumnEvidence(raw)
    numbers = {column: seen.numbers(column) for column in raw.columns}
    within = {
        c: one for c, one in numbers.items() if one is not None and len(one) and one.min() >= 0 and one.max() <= 1
    }
    shares = [column for column, one in within.items() if 2 * (one % 1 > 0).sum() > len(one)]
    return shares, [column for column, one in within.items() if not (one % 1).any()]


def _names_in(raw: RawTable) -> tuple[set[str], set[str]]:
    """Return the names of cases and of classes in annotations; none without raters, or if a name is both."""
    if not raw.table.num_rows:
        return set(), set()
    mapping, seen = likeliest_mapping(raw), ColumnEvidence(raw)
    columns = mapping.raters if mapping.layout == "wide" else (mapping.answer,)
    classes = {value for column in columns if column is not None for value in seen.coded(column).values}
    cases = set(seen.coded(mapping.case).values) if mapping.case is not None else set()
    has_raters = mapping.layout == "wide" or mapping.rater is not None  # or tables are of a rater each
    return (cases, classes) if has_raters and not cases & classes else (set(), set())


def _beside(name: str, raw: RawTable, cases: set[str], classes: set[str]) -> tuple[SideFiles | None, str]:
    """Read a table of gold, classes or costs, with a note; None if it may contain annotations."""
    if not cases or not classes or len(raw.columns) > 3:
        return None, ""
    cells = [[str(cell).strip() for cell in raw.table[column].cast("string").to_pylist()] for column in raw.columns]
    has_header = raw.has_header and not set(raw.columns) <= cases | classes
    if raw.has_header and not has_header:  # the first row was taken for names
        cells = [[first, *column] for first, column in zip(raw.columns, cells, strict=True)]
    if (not has_header or is_named_gold(name, raw)) and (gold := _gold(cells, cases, classes)):
        return SideFiles(gold=gold), f"the gold of {plural(len(gold), 'case')}"
    if _are_classes(cells, classes):
        return SideFiles(classes=ClassTable(tuple(cells[0]))), "a list of classes, without the prior probabilities"
    if len(cells) == 3 and {*cells[0], *cells[1]} <= classes and all(map(_is_number, cells[2])):
        return SideFiles(), "costs for pairs of classes, which are not used"
    return None, ""


def _gold(cells: list[list[str]], cases: set[str], classes: set[str]) -> dict[str, str]:
    """Return the gold class of each case; empty if this is not a table of gold."""
    if len(cells) != 2 or len(set(cells[0])) < len(cells[0]) or not set(cells[1]) <= classes:
        return {}
    known = sum(case in cases for case in cells[0])
    return dict(zip(*cells, strict=True)) if known and known >= NEARLY * len(cells[0]) else {}


def _are_classes(cells: list[list[str]], classes: set[str]) -> bool:
    """Check that each class occurs once, without a number or with one up to 1."""
    if len(cells) > 2 or len(set(cells[0])) < len(cells[0]) or not classes <= set(cells[0]):
        return False
    return len(cells) == 1 or all(_is_number(cell) and 0 <= float(cell) <= 1 for cell in cells[1])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
