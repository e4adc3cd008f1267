"""Plain records in JSON: an array or lines of objects as a table of text."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np
import pyarrow as pa

from ...errors import InputError
from ...text import first_twice
from ..column_mapping import likeness, words_of_name
from .budget import check_columns, spend
from .json_text import JsonFile, Progress, all_heads, all_records
from .parquet import as_text
from .questionnaire import TextCodes, strings, text_of
from .raw_table import Dropped, RawTable, RowLocations

RATER_OF_POSITION = "rater (position in the list)"
_CASE = "case"
_IDS = frozenset(("id", "uid", "key"))
_FEW_RECORDS = 10


def read_records(files: Sequence[JsonFile], progress: Progress | None = None) -> RawTable:
    """Read every key of the objects as a column, empty if an object lacks it; nested values stay JSON.

    Raises
    ------
    InputError
        The values are not objects, or have too many different keys.
    """
    columns: dict[str, TextCodes] = {}
    lines, numbers, of_file = array("q"), array("q"), array("i")
    dropped, ragged = [], False
    if not any(isinstance(record, dict) and record for record in all_heads(files)):
        raise InputError("Could not read this JSON as a table: it has no records.", _REMEDY)
    for file, number, line, record in _records(files, progress):
        if not isinstance(record, dict) or not record:
            dropped.append(Dropped(line, f"record {number:,}: not an object with names and values"))
            continue
        if record.keys() == columns.keys():
            if ragged:
                _fill_up(columns, len(lines))
                ragged = False
            for key, value in record.items():
                columns[key].add(value if type(value) is str else text_of(value))
        else:
            _add_odd(record, columns, len(lines))
            ragged = True
        lines.append(line)
        numbers.append(number)
        of_file.append(file)
    if len(columns) < 2:
        raise InputError(f"Could not read these records: they have only one field ({next(iter(columns))!r}).", _REMEDY)
    _fill_up(columns, len(lines))
    names = _distinct(columns)
    places = RowLocations(("record",), (np.array(numbers),), tuple(file.name for file in files), np.array(of_file))
    table = pa.table([column.taken() for column in columns.values()], names=names)
    return RawTable(table, np.array(lines, np.int64), tuple(dropped), (), places=places)


def _records(files: Sequence[JsonFile], progress: Progress | None) -> Iterator[tuple[int, int, int, object]]:
    """Yield the records of files, or the rows of the DataFrames that they are."""
    for file, number, line, record in all_records(files, progress):
        rows = rows_of_frame(record) if files[file].shape == "object" else None
        if rows is None:
            yield file, number, line, record
        else:
            yield from ((file, place, line, row) for place, row in enumerate(rows, 1))


def rows_of_frame(value: object) -> list[dict] | None:
    """Return the rows of a DataFrame as pandas writes it in any orientation; None if the value is not one.

    Objects of objects are DataFrames only if a column has a name of cases, and rows or columns are counted from 0.
    """
    if not isinstance(value, dict) or len(value) < 2:
        return None
    columns, data = value.get("columns"), value.get("data")
    if isinstance(columns, list) and isinstance(data, list):
        names = [text_of(name) for name in columns]
        index = value.get("index")
        if not all(isinstance(row, list) and len(row) == len(names) for row in data):
            return None
        rows = [dict(zip(names, row, strict=True)) for row in data]
        if not isinstance(index, list) or len(index) != len(data) or index == list(range(len(data))):
            return rows
        return [{"index": at, **row} for at, row in zip(index, rows, strict=True)]
    if isinstance(value.get("schema"), dict) and isinstance(data, list) and all(isinstance(row, dict) for row in data):
        fields = value["schema"].get("primaryKey")
        return [{name: cell for name, cell in row.items() if fields != ["index"] or name != "index"} for row in data]
    inner = list(value.values())
    if not all(isinstance(one, dict) and one.keys() == inner[0].keys() for one in inner):
        return None
    if _counted(inner[0]) and any(map(_names_cases, value)):
        return [{name: cells[at] for name, cells in value.items()} for at in inner[0]]
    return inner if _counted(value) and any(map(_names_cases, inner[0])) else None


def _counted(names: Iterable[str]) -> bool:
    return all(name == str(place) for place, name in enumerate(names))


def _names_cases(name: str) -> bool:
    return likeness(name, "case") == 2 and not any(map(str.isdigit, name))


def _add_odd(record: dict, columns: dict[str, TextCodes], n_rows: int) -> None:
    """Add a record with other names than earlier ones; `_fill_up` adds empty cells where either lacks a name."""
    for key, value in record.items():
        column = columns.get(key)
        if column is None:
            check_columns(len(columns) + 1)
            spend(cells=n_rows)
            column = columns[key] = TextCodes()
        column.fill(n_rows)
        column.add(text_of(value))
    spend(cells=len(columns))


def _fill_up(columns: dict[str, TextCodes], n_rows: int) -> None:
    """Add empty cells to columns with fewer rows than the table."""
    for column in columns.values():
        column.fill(n_rows)


_REMEDY = "Use an array of objects, or one object per line. Name the case, the rater and the annotation in each object."


def read_lists(files: Sequence[JsonFile], progress: Progress | None = None) -> RawTable | None:
    """Return records with raters or annotations in lists of equal length, one row per entry; None for others."""
    first = next((record for record in all_heads(files) if isinstance(record, dict)), {})
    first = next(iter(records_of_object(first)), first)
    if not any(isinstance(value, list) for value in first.values()):
        return None
    records = [record for *_, record in all_records(files, progress)]
    if len(records) == 1 and (inner := records_of_object(records[0]) or _only_list(records[0])):
        records = [*inner]
    objects = [record for record in records if isinstance(record, dict)]
    if len(objects) < len(records):
        return None
    if (raw := _entries_as_rows(objects, counted=True)) is not None:
        return raw
    try:
        raw = as_text(pa.Table.from_pylist(records))
    except (pa.ArrowException, OverflowError, UnicodeError, TypeError, AttributeError, InputError):
        raw = None
    return raw if raw is not None and raw.places is not None else _entries_as_rows(objects)


def _only_list(value: object) -> list[dict]:
    """Return the objects in the only list of an object whose other parts are facts on the file; else an empty list."""
    lists = [part for part in value.values() if isinstance(part, list)] if isinstance(value, dict) else []
    if len(lists) != 1 or len(lists[0]) < _FEW_RECORDS or not all(isinstance(one, dict) for one in lists[0]):
        return []
    return lists[0]


def _entries_as_rows(records: Sequence[dict], *, counted: bool = False) -> RawTable | None:
    """Return one row per object in the lists of records, with its position as the rater; None for other records.

    Each record has lists of objects with the same names, one object for each annotation, and is a case.

    Parameters
    ----------
    records : sequence of dict
    counted : bool
        True for lists in which a name counts the objects, and none has raters.
    """
    named = [name for name, value in records[0].items() if _annotations_in(value)] if len(records) > 1 else []
    keys = [*records[0][named[0]][0]] if named else []
    named = [name for name in named if records[0][name][0].keys() == set(keys)]
    if not keys or any(not _annotations_in(record.get(name), keys) for record in records for name in named):
        return None
    entries = [
        (number, place, f"{name} {place}" if len(named) > 1 else str(place), entry)
        for number, record in enumerate(records)
        for name in named
        for place, entry in enumerate(record[name], 1)
    ]
    places = [key for key in keys if all(entry[key] in (place, place - 1) for _, place, _, entry in entries)]
    if len(entries) == len(records) or any(likeness(key, "rater") == 2 for key in keys) or (counted and not places):
        return None
    facts = [name for name, value in records[0].items() if not isinstance(value, list | dict)]
    keys = [key for key in keys if key not in places]
    if not keys or set(keys) & set(facts) or any(likeness(name, "rater") == 2 for name in facts):
        return None
    spend(cells=len(entries) * (len(facts) + len(keys) + 2))
    of_case = {name: [text_of(record.get(name)) for record in records] for name in facts}
    columns = _with_case(of_case, len(records))
    columns = {name: [cells[number] for number, *_ in entries] for name, cells in columns.items()}
    columns[RATER_OF_POSITION] = [rater for _, _, rater, _ in entries]
    columns |= {key: [text_of(entry[key]) for *_, entry in entries] for key in keys}
    line = np.array([number for number, *_ in entries], np.int64) + 1
    located = RowLocations(("record", "entry"), (line, np.array([place for _, place, *_ in entries])))
    lists = " and ".join(map(repr, named))
    note = f"The objects in {lists} were read as one row each. Raters are numbered by their position in the list."
    table = pa.table({name: strings(cells) for name, cells in columns.items()})
    return RawTable(table, line, (), (note,), places=located)


def _with_case(facts: dict[str, list[str]], n_records: int) -> dict[str, list[str]]:
    """Return facts of records with a column that names each: two ids together, or a number, if none does alone."""
    ids = [name for name in facts if words_of_name(name) & _IDS]
    if any(len(set(facts[name])) == n_records for name in ids) or _CASE in facts:
        return facts
    for one, other in combinations(ids, 2):
        names = [f"{first} / {second}" for first, second in zip(facts[one], facts[other], strict=True)]
        if len(set(names)) == n_records:
            return {_CASE: names} | {name: cells for name, cells in facts.items() if name not in (one, other)}
    return {_CASE: [str(number) for number in range(1, n_records + 1)]} | facts


def _annotations_in(value: object, keys: Sequence[str] | None = None) -> bool:
    """Return whether a value is a list of objects with the same names, all for single values."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) and one for one in value):
        return False
    wanted = set(keys if keys is not None else value[0])
    plain = all(not isinstance(part, list | dict) for one in value for part in one.values())
    return plain and all(one.keys() == wanted for one in value)


def records_of_object(value: object) -> list[dict]:
    """Return the records of an object whose keys are their ids; empty for any other object.

    All records have the same names of parts, and some parts are lists.
    """
    if not isinstance(value, dict) or len(value) < 2:
        return []
    inner = list(value.values())
    if not all(isinstance(one, dict) and one.keys() == inner[0].keys() for one in inner):
        return []
    if not any(isinstance(part, list) for part in inner[0].values()):
        return []
    named = "id" in inner[0] or any(all(one[part] == key for key, one in value.items()) for part in inner[0])
    return inner if named else [{"id": key, **one} for key, one in value.items()]


def _distinct(columns: dict[str, TextCodes]) -> list[str]:
    """Return names of columns, trimmed; number empty ones, and refuse repeated ones."""
    names = [key.strip().encode("utf-8", "replace").decode() or f"column {n}" for n, key in enumerate(columns, 1)]
    twice = first_twice(names)
    if twice is not None:
        raise InputError(
            f"Could not read these records: the field {twice!r} occurs twice.", "Use a different name for each field."
        )
    return names
