"""Files of any format that is known, found by their content and not by their names."""

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import InputError
from ...settings import MEGABYTE
from ...text import plural, shorten
from ..column_mapping import LAYOUTS
from ..companion_files import SideFiles
from ..images import is_picture
from . import (
    argilla,
    doccano,
    label_studio,
    label_studio_tables,
    labelbox,
    lewidi,
    mturk,
    nested_json,
    plain_table,
    prodigy,
)
from .archive import is_archive, is_workbook, unpack
from .binary import what_document, what_is
from .frames import read_frame
from .json_text import JsonFile, looks_like_json, open_json
from .parquet import MAGIC as PARQUET
from .parquet import open_parquet
from .raw_table import RawTable
from .records import read_lists, read_records
from .side_tables import recognise_side
from .source import Source
from .tables import check_size, open_tables

_JSON_READERS = (label_studio, labelbox, argilla, prodigy, lewidi, nested_json, doccano)
_TABLE_READERS = (mturk, label_studio_tables)
FORMATS = {
    **{name: f"Table: {what}" for name, what in LAYOUTS.items()},
    **{reader.NAME: reader.TITLE for reader in (*_JSON_READERS, *_TABLE_READERS, plain_table)},
}
_MOST_PICTURES = 512 * MEGABYTE  # they stay in memory as long as their dataset is open
Progress = Callable[[float], None]


def open_source(
    files: Sequence[tuple[str, bytes]],
    *,
    has_header: bool | None = None,
    format: str | None = None,
    progress: Progress | None = None,
) -> Source:
    """One or several files, or a zip archive of them, as the questions that they hold answers to.

    Parameters
    ----------
    files : sequence of (name, bytes)
        What the user dropped. Names serve messages, and raters where each has a file of their own.
    has_header : bool, optional
        Tables: whether the first row names the columns; guessed where not given.
    format : str, optional
        One of `FORMATS`; found out where not given. The names of layouts take the files for a plain table.
    progress : callable, optional
        Told the share done, 0 to 1.

    Raises
    ------
    InputError
        Nothing can be read; the message names the place and what to do.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"There is no format {format!r}.", f"Use one of {', '.join(FORMATS)}.")
    if not files:
        raise InputError("No file was given.", "Choose at least one.")
    if progress is not None:
        progress(0.0)
    flat = _unpacked(files)
    notes: list[str] = []
    flat, side = _without_pictures(flat, notes)
    several = len(flat) > 1
    flat = _without_others(flat, notes) if several else flat
    jsons, rest = [], []
    for name, content in flat:
        if looks_like_json(content) and not content.startswith(PARQUET):
            try:
                jsons.append(open_json(name, content))
            except InputError as error:
                if not _is_table(content):
                    raise _one_of_several(error, name) if several else error from None
                rest.append((name, content))
        else:
            rest.append((name, content))
    wanted = None if format in LAYOUTS or format == plain_table.NAME else format
    plainly = format is not None and wanted is None
    if jsons and not plainly:
        found = _from_json(jsons, rest, side, wanted, notes, progress)
        if found is not None:
            return found
    if not several and rest and (wanted in (None, argilla.NAME)) and not plainly:
        found = _from_parquet(*rest[0])
        if found is not None:
            return found
    tables: list[tuple[str, RawTable]] = []
    if jsons:
        tables.append((jsons[0].name, read_lists(jsons) or read_records(jsons, progress)))
    pictures = side
    for name, content in rest:
        tables_here, side = _tables_of(name, content, several, has_header, side, notes, progress)
        tables += tables_here
    if not tables and side.cases is not None:  # texts and answers in one table
        side, notes = pictures, []
        for name, content in rest:
            tables_here, side = _tables_of(name, content, several, has_header, side, notes, progress, cases=False)
            tables += tables_here
    if not tables:
        raise InputError(
            "No file holds annotations." + (f" {notes[0]}" if notes else ""),
            "Add the table of cases, raters and answers; side files alone are not enough.",
        )
    source = _from_tables(tables, side, wanted, plainly)
    return _with_notes(source, notes)


def open_frame(name: str, frame: Any, *, format: str | None = None, progress: Progress | None = None) -> Source:
    """A table in memory as the question that it holds answers to, as `open_source` a file of it.

    Raises
    ------
    InputError
        It cannot be read as a table, or not in that format.
    """
    if format is not None and format not in FORMATS:
        raise InputError(f"There is no format {format!r}.", f"Use one of {', '.join(FORMATS)}.")
    wanted = None if format in LAYOUTS or format == plain_table.NAME else format
    return _from_tables([(name, read_frame(frame, progress))], SideFiles(), wanted, format is not None and not wanted)


def _unpacked(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    check_size("The file" if len(files) == 1 else "All files together", sum(len(content) for _, content in files))
    flat = []
    for name, content in files:
        if is_archive(content) and not is_workbook(content):
            if (found := what_document(content)) is not None:
                raise InputError(f"{name} is {found[0]}.", found[1])
            flat += unpack(name, content)
        else:
            flat.append((name, content))
    return flat


def _without_pictures(files: list[tuple[str, bytes]], notes: list[str]) -> tuple[list[tuple[str, bytes]], SideFiles]:
    """The files that may hold annotations, and the pictures of cases beside them."""
    rest, pictures = [], []
    room, n_left_out = _MOST_PICTURES, 0
    for name, content in files:
        if len(files) == 1 or not is_picture(content):
            rest.append((name, content))
        elif len(content) <= room:
            room -= len(content)
            pictures.append((name, content))
        else:
            n_left_out += 1
    if n_left_out:
        notes.append(
            f"{plural(n_left_out, 'image')} beyond {_MOST_PICTURES // MEGABYTE} MB were passed over: put the images "
            "in a folder and name it in PLURALITY_IMAGES."
        )
    return rest, SideFiles(images=tuple(pictures))


def _without_others(files: list[tuple[str, bytes]], notes: list[str]) -> list[tuple[str, bytes]]:
    """The files that may hold text or tables; of the others one note for each kind."""
    rest: list[tuple[str, bytes]] = []
    others: dict[str, list[str]] = {}
    for name, content in files:
        found = what_is(content) if not content.startswith(PARQUET) else None
        if found is None:
            rest.append((name, content))
        else:
            others.setdefault(found[0], []).append(shorten(name, 60))
    for what, names in others.items():
        more = f" and {plural(len(names) - 1, 'other file')}" if len(names) > 1 else ""
        notes.append(f"{names[0]}{more}: {what}, passed over.")
    return rest


def _one_of_several(error: InputError, name: str) -> InputError:
    """The same error with the file's name, and the way out that there is among several files."""
    message = error.message if name in error.message else f"{shorten(name, 60)}: {error.message}"
    return InputError(message, f"{error.remedy} Or leave this file out.".strip(), line=error.line)


def _from_json(
    jsons: list[JsonFile],
    rest: list[tuple[str, bytes]],
    side: SideFiles,
    wanted: str | None,
    notes: list[str],
    progress: Progress | None,
) -> Source | None:
    for reader in _JSON_READERS:
        if wanted not in (None, reader.NAME):
            continue
        fitting = [file for file in jsons if reader.recognise([file]) is not None]
        if not fitting:
            continue
        if len(fitting) < len(jsons):
            other = next(file.name for file in jsons if file not in fitting)
            notes.append(f"{shorten(other, 60)} is no {reader.TITLE} and was passed over.")
        if reader is nested_json:
            claimed = [file for file in rest if nested_json.claims(*file)]
            rest = [file for file in rest if file not in claimed]
            source = nested_json.read(fitting, progress, claimed)
        else:
            source = reader.read(fitting, progress)
        for name, content in rest:
            tables, side = _tables_of(name, content, True, None, side, notes, None)
            notes += [f"{shorten(name, 60)} is neither {reader.TITLE} nor a side file and was passed over."] * bool(
                tables
            )
        joined = Source(
            source.format, source.title, source.why, source.questions, source.side.joined(side), source.notes
        )
        return _with_notes(joined, notes)
    if wanted is not None and wanted in {reader.NAME for reader in _JSON_READERS}:
        raise InputError(f"{jsons[0].name} does not look like {FORMATS[wanted]}.", "Choose another format, or none.")
    return None


def _from_parquet(name: str, content: bytes) -> Source | None:
    """Records of Argilla as Hugging Face stores them: columns that end in .responses."""
    if not content.startswith(PARQUET):
        return None
    from pyarrow import ArrowException, BufferReader, parquet

    try:
        names = parquet.read_schema(BufferReader(content)).names
    except (ArrowException, OSError, ValueError):
        return None
    if not any(column.endswith(".responses") for column in names):
        return None
    rows = open_parquet(content).to_pylist()
    return argilla.read_records(
        ((0, number, number, row) for number, row in enumerate(rows, 1)),
        [name],
        "columns that end in .responses",
        "row",
    )


def _tables_of(
    name: str,
    content: bytes,
    several: bool,
    has_header: bool | None,
    side: SideFiles,
    notes: list[str],
    progress: Progress | None,
    *,
    cases: bool = True,
) -> tuple[list[tuple[str, RawTable]], SideFiles]:
    """Tables of answers in a file; what is a side file joins ``side``, what is neither is told in ``notes``.

    Without ``cases`` no table counts as one of cases.
    """
    try:
        tables = open_tables(name, content, has_header=has_header, progress=progress)
    except InputError as error:
        if not several:
            raise
        notes.append(f"{shorten(name, 60)} was passed over: {error.message}")
        return [], side
    kept = []
    for title, raw in tables:
        beside = (
            recognise_side(title if len(tables) > 1 else name, raw, content) if several or len(tables) > 1 else None
        )
        if beside is None or (beside.cases is not None and not cases):
            kept.append((title, raw))
        else:
            side = side.joined(beside)
    return kept, side


def _from_tables(tables: list[tuple[str, RawTable]], side: SideFiles, wanted: str | None, plainly: bool) -> Source:
    for reader in _TABLE_READERS:
        raw = tables[0][1]
        if plainly or wanted not in (None, reader.NAME) or reader.recognise(raw.columns) is None:
            continue
        source = reader.read(raw)
        others = tuple(f"{shorten(other, 60)} was passed over." for other, _ in tables[1:])
        return Source(
            source.format, source.title, source.why, source.questions, source.side.joined(side), source.notes + others
        )
    if wanted is not None:
        raise InputError(f"{tables[0][0]} does not look like {FORMATS[wanted]}.", "Choose another format, or none.")
    return plain_table.read_plain(tables, side)


def _is_table(content: bytes) -> bool:
    """Whether text that begins like JSON but is none can be a table: its first line holds a delimiter outside."""
    first = content.lstrip().split(b"\n", 1)[0]
    return (
        first.count(b'"') % 2 == 0 and b'":' not in first and any(sign in first for sign in (b"\t", b";", b"|", b","))
    )


def _with_notes(source: Source, notes: list[str]) -> Source:
    if not notes:
        return source
    return Source(source.format, source.title, source.why, source.questions, source.side, (*source.notes, *notes))
