"""Tables beside annotations that only their values tell apart, as of files without headers: gold, classes, costs."""

from collections.abc import Sequence

from ...text import plural, shorten
from ..column_evidence import ColumnEvidence
from ..companion_files import ClassTable, SideFiles
from ..guess_mapping import likeliest_mapping
from .raw_table import RawTable

Named = tuple[str, RawTable]
_NEARLY = 0.9  # of the values of a column that come again in the annotations


def set_apart(tables: Sequence[Named], side: SideFiles) -> tuple[list[Named], SideFiles, list[str]]:
    """The tables of annotations, what is beside them, and notes.

    Gold has no header and a case and a class that occur in the annotations, each case once: two columns with names may
    be annotations of a further rater. A list of classes has each class once, a table of costs each pair of classes with
    a number. Columns of the annotations are as `likeliest_mapping` has them.

    Parameters
    ----------
    tables : sequence of (name, RawTable)
    side : SideFiles
        What is known to be beside the annotations.
    """
    main = max(tables, key=lambda one: one[1].table.num_rows, default=None)
    if main is None or len(tables) < 2 or not main[1].table.num_rows:
        return list(tables), side, []
    mapping, seen = likeliest_mapping(main[1]), ColumnEvidence(main[1])
    if mapping.layout != "wide" and mapping.rater is None:  # tables of a rater each
        return list(tables), side, []
    columns = mapping.raters if mapping.layout == "wide" else (mapping.answer,)
    classes = {value for column in columns if column is not None for value in seen.coded(column).values}
    cases = set(seen.coded(mapping.case).values) if mapping.case is not None else set()
    if not classes or not cases or cases & classes:
        return list(tables), side, []
    kept, notes = [main], []
    for name, raw in tables:
        if raw is main[1]:
            continue
        cells = [[str(cell).strip() for cell in raw.table[column].cast("string").to_pylist()] for column in raw.columns]
        has_header = raw.has_header and not set(raw.columns) <= cases | classes
        if raw.has_header and not has_header:  # the first row was taken for names
            cells = [[name, *column] for name, column in zip(raw.columns, cells, strict=True)]
        shown = shorten(name, 60)
        if side.gold is None and not has_header and (gold := _gold(cells, cases, classes)):
            side = side.joined(SideFiles(gold=gold))
            notes.append(f"{shown}: gold of {plural(len(gold), 'case')}.")
        elif _are_classes(cells, classes):
            notes.append(f"{shown}: a list of classes; their prior probabilities are not used.")
            if side.classes is None:
                side = side.joined(SideFiles(classes=ClassTable(tuple(cells[0]))))
        elif len(cells) == 3 and {*cells[0], *cells[1]} <= classes and all(map(_is_number, cells[2])):
            notes.append(f"{shown}: costs of pairs of classes, not used.")
        else:
            kept.append((name, raw))
    return [one for one in tables if any(one[1] is raw for _, raw in kept)], side, notes


def _gold(cells: list[list[str]], cases: set[str], classes: set[str]) -> dict[str, str]:
    """The class of each case; empty if the table is none of gold."""
    if len(cells) != 2 or len(set(cells[0])) < len(cells[0]) or not set(cells[1]) <= classes:
        return {}
    known = sum(case in cases for case in cells[0])
    return dict(zip(*cells, strict=True)) if known and known >= _NEARLY * len(cells[0]) else {}


def _are_classes(cells: list[list[str]], classes: set[str]) -> bool:
    """Whether each class stands once, alone or with a number up to 1."""
    if len(cells) > 2 or len(set(cells[0])) < len(cells[0]) or not classes <= set(cells[0]):
        return False
    return len(cells) == 1 or all(_is_number(cell) and 0 <= float(cell) <= 1 for cell in cells[1])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
