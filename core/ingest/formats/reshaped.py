"""Tables reshaped before they are interpreted: numbered pairs, objects in cells, rows of totals."""

import json
import re
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...annotations.columns import as_numpy, of_numpy
from ...annotations.vocabulary import one_dictionary
from ..column_evidence import ColumnEvidence, is_row_of_totals
from ..column_mapping import likeness
from .budget import check_columns, spend, spend_as_values
from .questionnaire import strings, text_of
from .raw_table import Dropped, RawTable

_INDEX = re.compile(r"(.*?)[\W_]*(\d+)|(.*?)[\W_]+([a-z])", re.IGNORECASE)
_INDEX_WITHIN = re.compile(r"([^\d]*?)[\W_]*(\d+)[\W_]+([^\d]+)")
_SHARE_OF_OBJECTS = 0.9  # share of the filled cells that must be objects
_HEAD = 200
_MOST_KEYS, _MOST_LAST_ROWS = 200, 6


def without_totals(raw: RawTable, case: str | None) -> RawTable:
    """Return the table without last rows named as sums or coefficients, which are left out."""
    column = case or raw.columns[0]
    n_rows = raw.table.num_rows
    names = raw.table[column].slice(max(0, n_rows - _MOST_LAST_ROWS)).cast(pa.string()).to_pylist()
    n_totals = next((place for place, name in enumerate(reversed(names)) if not is_row_of_totals(name)), len(names))
    if not n_totals or n_totals == n_rows:
        return raw
    lines, kept = raw.line[n_rows - n_totals :], n_rows - n_totals
    reason = "a row of totals or coefficients, not a case"
    dropped = (*raw.dropped, *(Dropped(int(line), reason) for line in lines))
    rows = (
        "row was left out, because it contains"
        if n_totals == 1
        else f"{n_totals:,} rows were left out, because they contain"
    )
    note = f"The last {rows} totals or coefficients."
    return replace(raw, table=raw.table.slice(0, kept), line=raw.line[:kept], dropped=dropped, notes=(*raw.notes, note))


def pairs_as_rows(raw: RawTable) -> RawTable:
    """Return one row per numbered pair of a rater and an annotation ("annotator_1", "label_1"); else the table itself.

    The names of raters are repeated from pair to pair, and are not annotations.
    """
    numbered: dict[str, dict[str, str]] = defaultdict(dict)
    for column in raw.columns:
        if (hit := _INDEX.fullmatch(column.strip())) is not None:
            numbered[(hit[1] or hit[3] or "").casefold()][(hit[2] or hit[4]).casefold()] = column
        elif (hit := _INDEX_WITHIN.fullmatch(column.strip())) is not None:
            numbered[f"{hit[1]} {hit[3]}".casefold()][hit[2]] = column
    who = next((stem for stem in numbered if likeness(stem, "rater") == 2), None)
    if who is None or len(numbered[who]) < 2:
        return raw
    places = list(numbered[who])
    said = [stem for stem in numbered if stem != who and set(numbered[stem]) == set(places)]
    if not said:
        return raw
    seen = ColumnEvidence(raw)
    names, answers = ([numbered[stem][place] for place in places] for stem in (who, said[0]))
    if seen.share_values(names[0], answers[0]) or seen.numbers(names[0]) is not None:
        return raw
    return _stacked(raw, {stem: [numbered[stem][place] for place in places] for stem in (who, *said)})


def _stacked(raw: RawTable, stems: dict[str, list[str]]) -> RawTable:
    """Return numbered columns one below the other, case by case, with the other columns; empty pairs are skipped."""
    n_rows, n_pairs = raw.table.num_rows, len(next(iter(stems.values())))
    spend(cells=n_rows * n_pairs * len(stems))
    taken = {column for columns in stems.values() for column in columns}
    order = np.arange(n_rows * n_pairs).reshape(n_pairs, n_rows).T.ravel()
    row = np.repeat(np.arange(n_rows), n_pairs)
    table = raw.table.select([column for column in raw.columns if column not in taken]).take(of_numpy(row))
    for stem, columns in stems.items():
        cells = pa.chunked_array([chunk for name in columns for chunk in raw.table[name].cast(pa.string()).chunks])
        table = table.append_column(stem, cells.take(of_numpy(order)))
    filled = np.zeros(table.num_rows, bool)
    for stem in stems:
        filled |= as_numpy(pc.not_equal(pc.utf8_trim_whitespace(table[stem]), ""))
    note = f"The numbered columns for {' and '.join(map(repr, stems))} ({n_pairs} each) were read as rows."
    return replace(raw, table=table.filter(pa.array(filled)), line=raw.line[row][filled], notes=(*raw.notes, note),
                   places=None if raw.places is None else raw.places.at(row[filled]))  # fmt: skip


def objects_as_columns(raw: RawTable) -> tuple[RawTable, tuple[str, ...]]:
    """Return one column for each name in JSON objects in cells; and those that count annotations, if any.

    Counts of classes keep the names of the classes; other columns are named "column.name".
    """
    counted: tuple[str, ...] = ()
    for column in raw.columns:
        found = _objects(raw, column)
        if found is None:
            continue
        cells, keys = found
        if not keys or len(keys) > _MOST_KEYS:
            continue
        values = [value for cell in cells for value in (cell or {}).values()]
        counts = not counted and len(keys) > 1 and all(type(value) is int and value >= 0 for value in values)
        plain = counts and not set(keys) & set(raw.columns)
        names = [key if plain else f"{column}.{key}" for key in keys]
        check_columns(len(raw.columns) + len(names))
        spend(cells=len(cells) * len(names))
        table, place = raw.table.drop_columns([column]), raw.columns.index(column)
        for offset, (name, key) in enumerate(zip(names, keys, strict=True)):
            texts = strings(text_of(cell.get(key)) if cell else "" for cell in cells)
            table = table.add_column(place + offset, name, pa.chunked_array([texts]))
        raw = replace(
            raw,
            table=table,
            notes=(*raw.notes, f"Column {column!r} contains objects, so each of their names was read as a column."),
        )
        if counts and sum(values) > len(cells):
            counted = tuple(names)
    return raw, counted


def _objects(raw: RawTable, column: str) -> tuple[list[dict | None], list[str]] | None:
    """Return the values of the cells of a column and all names in them; None unless nearly all are objects."""
    head = [text.lstrip()[:1] for text in raw.table[column].slice(0, _HEAD).cast(pa.string()).to_pylist()]
    if 2 * head.count("{") < sum(map(bool, head)) or "{" not in head:
        return None
    coded = one_dictionary(raw.table[column])
    texts = coded.dictionary.cast(pa.string()).to_pylist()
    filled = [text for text in texts if text.strip()]
    if not filled or sum(text.lstrip()[:1] == "{" for text in filled) < _SHARE_OF_OBJECTS * len(filled):
        return None
    spend_as_values(*(text.encode("utf-8", "replace") for text in filled))
    of_text = [_object(text) for text in texts]
    if sum(value is not None for value in of_text) < _SHARE_OF_OBJECTS * len(filled):
        return None
    keys = list(dict.fromkeys(key for value in of_text if value for key in value))
    return [of_text[code] for code in as_numpy(coded.indices)], keys


def _object(text: str) -> dict | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
