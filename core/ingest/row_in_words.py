"""Meaning of one row of a plain table under a mapping, in a sentence, so that a wrong layout is noticed at once."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from shlex import quote

from ..annotations.vocabulary import BLANKS, is_missing
from ..errors import PluralityError
from ..text import listed, number, percent, plural, shorten
from .build_dataset import build_dataset
from .column_mapping import Mapping
from .formats.raw_table import RawTable
from .label_columns import YES

_NAMED = 3
_LOOKED_AT = 200
_BEYOND = 1e15


@dataclass(frozen=True, slots=True)
class TableReading:
    """One of the possible readings of a table.

    Attributes
    ----------
    mapping : Mapping
    words : str
        Counts and first row of the reading.
    options : str
        Options of the command line that choose it.
    """

    mapping: Mapping
    words: str
    options: str


def readings_of(raw: RawTable, mapping: Mapping) -> tuple[TableReading, ...]:
    """Return the possible readings of a table, the most probable first."""
    mappings = (mapping.clear(), *mapping.instead)
    same_layout = len({one.layout for one in mappings}) < len(mappings)
    return tuple(
        TableReading(one, f"{_size(raw, one)}{row_in_words(raw, one)}", _options(one, by_columns=same_layout))
        for one in mappings
    )


def _size(raw: RawTable, mapping: Mapping) -> str:
    """Return the counts of raters, cases and annotations under a mapping; empty if it cannot be read so."""
    try:
        found = build_dataset(raw, mapping, "")[0]
    except PluralityError:
        return ""
    raters = plural(found.n_raters, "rater") if found.raters_identified else "Raters without names"
    return f"{raters} × {plural(found.n_cases, 'case')}, {plural(found.n_annotations, 'annotation')}. "


def _options(mapping: Mapping, *, by_columns: bool) -> str:
    if not by_columns:
        return f"--format {mapping.layout}"
    given = {"case": mapping.case, "rater": mapping.rater or "none"}
    given = given if mapping.first is None else {"first": mapping.first}
    return " ".join(f"--{role} {quote(column)}" for role, column in given.items() if column is not None)


def row_in_words(raw: RawTable, mapping: Mapping, missing: Collection[str] = ()) -> str:
    """Return a sentence on the first informative row; empty if the mapping lacks a column or no row is informative.

    Parameters
    ----------
    raw : RawTable
    mapping : Mapping
    missing : collection of str
        Codes for missing annotations.
    """
    say = {
        "long": _annotation,
        "wide": _raters,
        "transposed": _cases,
        "counts": _counts,
        "contingency": _pairs,
        "patterns": _pattern,
        "labels": _labels,
        "comparisons": _comparison,
    }[mapping.layout]
    rows = [_Row(raw, row, missing) for row in range(min(raw.table.num_rows, _LOOKED_AT))]
    # For sets of labels, a row with an empty cell may be left out, so the first row without one is used, if any.
    whole = (row for row in rows if mapping.layout == "labels" and all(row[column] for column in mapping.across))
    return next((said for row in chain(whole, rows) if (said := say(row, mapping))), "")


class _Row:
    """Cells of a row, by column."""

    def __init__(self, raw: RawTable, row: int, missing: Collection[str]):
        self.raw, self.row, self.missing = raw, row, missing

    def __getitem__(self, column: str) -> str:
        cell = (self.raw.table[column][self.row].as_py() or "").strip(BLANKS)
        return "" if is_missing(cell) else cell

    def named(self, column: str | None, what: str) -> str:
        """Return ``case “c1”``, or its number if no column names it."""
        return f"{what} {_quoted(self[column])}" if column is not None else f"{what} {self.row + 1:,}"

    def filled(self, columns: tuple[str, ...]) -> list[tuple[str, str]]:
        """Return columns with content in this row, and the content."""
        return [(column, cell) for column in columns if (cell := self[column])]

    def annotated(self, columns: tuple[str, ...]) -> list[tuple[str, str]]:
        """Return columns with an annotation in this row, and the annotation."""
        return [(column, cell) for column, cell in self.filled(columns) if cell not in self.missing]


def _quoted(text: str) -> str:
    return f"“{shorten(text)}”"


def _listed(parts: list[str], n_more: int) -> str:
    return f"{', '.join(parts)}, and {n_more:,} more" if n_more else listed(parts)


def _annotation(row: _Row, mapping: Mapping) -> str:
    needed = (mapping.case, mapping.answer, *([mapping.rater] if mapping.rater is not None else []))
    if mapping.case is None or mapping.answer is None or not all(row[column] for column in needed if column):
        return ""
    if not row.annotated((mapping.answer,)):
        return ""
    who = row.named(mapping.rater, "rater") if mapping.rater is not None else "somebody"
    order = mapping.rank or mapping.confidence
    place = f" ({order} {shorten(row[order])})" if order is not None else ""
    return f"{_begin(who)} annotated {row.named(mapping.case, 'case')} as {_quoted(row[mapping.answer])}{place}."


def _raters(row: _Row, mapping: Mapping) -> str:
    filled = row.annotated(mapping.raters)
    said = [f"rater {_quoted(mapping.rater_of(c))} annotated it as {_quoted(cell)}" for c, cell in filled[:_NAMED]]
    return f"{_begin(row.named(mapping.case, 'case'))}: {_listed(said, len(filled) - len(said))}." if said else ""


def _cases(row: _Row, mapping: Mapping) -> str:
    filled = row.annotated(mapping.across)
    said = [f"case {_quoted(column)} as {_quoted(cell)}" for column, cell in filled[:_NAMED]]
    who = _begin(row.named(mapping.rater, "rater"))
    return f"{who} annotated {_listed(said, len(filled) - len(said))}." if said else ""


def _counts(row: _Row, mapping: Mapping) -> str:
    given = [(column, float(cell)) for column, cell in row.filled(mapping.across) if _is_number(cell) and float(cell)]
    given.sort(key=lambda one: -one[1])
    if any(0 < share < 1 for _, share in given):
        shares = [f"{percent(share)} for the class {_quoted(column)}" for column, share in given[:_NAMED]]
        return f"{_begin(row.named(mapping.case, 'case'))}: {_listed(shares, len(given) - len(shares))}."
    said = [f"{number(count, 0)} for the class {_quoted(column)}" for column, count in given[:_NAMED]]
    if not said:
        return ""
    total = plural(round(sum(count for _, count in given)), "annotation")
    return f"{_begin(row.named(mapping.case, 'case'))} has {total}: {_listed(said, len(given) - len(said))}."


def _pairs(row: _Row, mapping: Mapping) -> str:
    given = [(column, cell) for column, cell in row.filled(mapping.across) if _is_number(cell) and float(cell)]
    if mapping.case is None or not given:
        return ""
    column, cell = given[0]
    cases = plural(round(float(cell)), "case is", "cases are")
    return (
        f"{cases} {_quoted(row[mapping.case])} according to the rater in the rows and {_quoted(column)} according to "
        "the rater in the columns."
    )


def _pattern(row: _Row, mapping: Mapping) -> str:
    filled = row.annotated(mapping.raters)
    if mapping.count is None or not filled or not _is_number(row[mapping.count]):
        return ""
    said = [f"as {_quoted(cell)} by rater {_quoted(column)}" for column, cell in filled[:_NAMED]]
    cases = plural(round(float(row[mapping.count])), "case was", "cases were")
    return f"{cases} annotated {_listed(said, len(filled) - len(said))}."


def _comparison(row: _Row, mapping: Mapping) -> str:
    if mapping.first is None or mapping.second is None or not (row[mapping.first] and row[mapping.second]):
        return ""
    who = row.named(mapping.rater, "rater") if mapping.rater is not None else "somebody"
    pair = f"{_begin(who)} compared {_quoted(row[mapping.first])} with {_quoted(row[mapping.second])}"
    if mapping.answer is None:
        return f"{pair} and preferred the first."
    said = f" (1 means {mapping.first!r})" if row[mapping.answer] in ("0", "1") else ""
    return f"{pair} and answered {_quoted(row[mapping.answer])}{said}." if row[mapping.answer] else ""


def _labels(row: _Row, mapping: Mapping) -> str:
    given = [column for column in mapping.across if row[column].casefold() in YES]
    who = row.named(mapping.rater, "rater") if mapping.rater is not None else "somebody"
    said = [_quoted(column) for column in given[:_NAMED]]
    labels = _listed(said, len(given) - len(said)) or "no label"
    return f"{_begin(who)} gave {row.named(mapping.case, 'case')} {labels}."


def _begin(text: str) -> str:
    """Return text with a capital letter first."""
    return text[:1].upper() + text[1:]


def _is_number(cell: str) -> bool:
    try:
        return 0 <= float(cell) < _BEYOND
    except ValueError:
        return False
