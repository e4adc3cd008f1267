"""Files of any known format, found by their content and not by their names."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

from ...errors import InputError, OneColumnError
from ...methods import methods
from ...settings import MEGABYTE
from ...text import plural, shorten, was_or_were
from ..column_mapping import LAYOUTS
from ..companion_files import SideFiles
from ..guess_mapping import mapping_before
from ..images import is_picture
from . import plain_table
from .archive import is_archive, is_workbook, unpack, unzipped
from .binary import what_document, what_is
from .budget import MOST_COLUMNS, check_looked_at, reading
from .crowd_tables import APPEN, TOLOKA
from .frames import read_frame
from .json_text import JsonFile, looks_like_json, oddities, open_json
from .matrix import is_matrix
from .parquet import MAGIC as PARQUET
from .raw_table import RawTable
from .reader import Reader
from .records import read_lists, read_records
from .regions import refuse_regions
from .side_tables import recognise_side
from .source import Question, Source
from .tables import check_file_size, open_tables
from .tables_beside import set_apart, values_of, with_order_checked

_IN_MEMORY = 1 << 40  # bytes that a frame is taken to have: what is in memory needs no bound of its size
_MOST_PICTURES = 512 * MEGABYTE  # they stay in memory as long as their dataset is open
_INSTEAD_OF_YAML = "Convert it to JSON, or to a CSV table with the columns case, rater and class."
_PLAIN_BEFORE = (TOLOKA, APPEN)  # formats that earlier versions read as plain tables, with the same annotations
Progress = Callable[[float], None]


def formats() -> dict[str, str]:
    """Return every format that can be chosen, with its title: layouts of plain tables, and those of the readers."""
    layouts = {name: f"Table: {what}" for name, what in LAYOUTS.items()}
    titles = {method.name: method.title for method in methods(Reader).values()}
    return layouts | titles | {plain_table.NAME: plain_table.TITLE}


def _readers(shape: Literal["json", "table"]) -> list[Reader]:
    return [reader for reader in methods(Reader).values() if reader.shape == shape]


def open_source(
    files: Sequence[tuple[str, bytes]],
    *,
    has_header: bool | None = None,
    format: str | None = None,
    most_columns: int = MOST_COLUMNS,
    progress: Progress | None = None,
) -> Source:
    """Open one or several files, or a zip archive of them, as the questions that they answer.

    Parameters
    ----------
    files : sequence of (name, bytes)
        Uploaded files. Names are used in messages, and as raters if each has a file of their own.
    has_header : bool, optional
        For tables, True if the first row names the columns; guessed if omitted.
    format : str, optional
        Key in `formats`; detected if omitted. The names of layouts read the files as a plain table.
    most_columns : int
        Largest number of columns of a table.
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        No file can be read; the message states the place and what to do.
    """
    if format is not None and format not in formats():
        raise InputError(f"Unknown format {format!r}.", f"Use one of {', '.join(formats())}.")
    if not files:
        raise InputError("No file was chosen.", "Choose at least one file.")
    with reading(sum(len(content) for _, content in files), most_columns):
        return with_order_checked(_opened(files, has_header, format, progress))


def _opened(
    files: Sequence[tuple[str, bytes]], has_header: bool | None, format: str | None, progress: Progress | None
) -> Source:
    if progress is not None:
        progress(0.0)
    flat = _unpacked(files)
    notes: list[str] = []
    flat, side = _without_pictures(_without_yaml(flat, notes), notes)
    several = len(flat) > 1
    flat, side = _without_matrices(flat, side) if several else (flat, side)
    flat = _without_others(flat, notes) if several else flat
    jsons, rest = _jsons_apart(flat, several)
    notes += [f"{shorten(file.name, 60)}: {note}" if several else note for file in jsons for note in oddities(file)]
    wanted = None if format in LAYOUTS or format == plain_table.NAME else format
    plainly = format is not None and wanted is None
    if jsons and not plainly:
        found = _from_json(jsons, rest, side, wanted, notes, progress)
        if found is not None:
            return found
    if not several and rest and not plainly:
        found = _from_parquet(*rest[0], wanted)
        if found is not None:
            return found
    tables, side, notes = _all_tables(jsons, rest, side, notes, several, has_header, progress)
    tables, side, told = set_apart(tables, side)
    notes += told
    if not tables:
        raise InputError(
            "Could not find annotations in these files." + (f" {notes[0]}" if notes else ""),
            "Add a table of cases, raters and annotations.",
        )
    source = _from_tables(tables, side, wanted, plainly)
    return _with_notes(source, notes)


def _is_review(file: JsonFile) -> bool:
    """Return whether it is the export of a review, whose parts would be annotations if it were read as a table."""
    whole = file.head[0] if file.shape == "object" and file.head else None
    return isinstance(whole, dict) and whole.keys() >= {"digest", "classes", "record", "assignments", "cases"}


def _jsons_apart(files: list[tuple[str, bytes]], several: bool) -> tuple[list[JsonFile], list[tuple[str, bytes]]]:
    """Return the files that are JSON, opened, and the rest, including tables whose text starts like JSON."""
    jsons, rest = [], []
    for name, content in files:
        if looks_like_json(content) and not content.startswith(PARQUET):
            try:
                jsons.append(open_json(name, content))
            except InputError as error:
                if not _is_table(content):
                    raise _one_of_several(error, name) if several else error from None
                rest.append((name, content))
        else:
            rest.append((name, content))
    for file in jsons:
        if _is_review(file):
            refused = InputError(
                f"Could not use {shorten(file.name, 60)}: it contains a review record (decisions and their history), "
                "not annotations.",
                "Open the original annotations, or export the decisions as annotations on the Review page.",
            )
            raise _one_of_several(refused, file.name) if several else refused
    return jsons, rest


def _all_tables(
    jsons: list[JsonFile],
    rest: list[tuple[str, bytes]],
    side: SideFiles,
    notes: list[str],
    several: bool,
    has_header: bool | None,
    progress: Progress | None,
) -> tuple[list[tuple[str, RawTable]], SideFiles, list[str]]:
    """Return tables of annotations in all files, the side files, and the notes."""
    of_json: list[tuple[str, RawTable]] = []
    if jsons:
        of_json.append((jsons[0].name, read_lists(jsons) or read_records(jsons, progress)))
        check_looked_at(of_json[0][1].table)

    def opened(cases: bool, notes: list[str]) -> tuple[list[tuple[str, RawTable]], SideFiles]:
        tables, beside = [*of_json], side
        for name, content in rest:
            found, beside = _tables_of(name, content, several, has_header, beside, notes, progress, cases=cases)
            tables += found
        return tables, beside

    tables, beside = opened(True, notes)
    if not tables and beside.cases is not None:  # texts and annotations in one table
        notes = []
        tables, beside = opened(False, notes)
    return tables, beside, notes


def open_frame(
    name: str,
    frame: Any,
    *,
    format: str | None = None,
    most_columns: int = MOST_COLUMNS,
    progress: Progress | None = None,
) -> Source:
    """Open a table in memory as its question, as `open_source` opens a file.

    Parameters
    ----------
    name : str
        Name of the table.
    frame : Any
        Table of any library that narwhals supports, such as pandas, Polars or PyArrow.
    format : str, optional
        Key in `formats`; found by the names of the columns if omitted.
    most_columns : int
        Largest number of columns of the table.
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        The table cannot be read, or not in that format.
    """
    if format is not None and format not in formats():
        raise InputError(f"Unknown format {format!r}.", f"Use one of {', '.join(formats())}.")
    wanted = None if format in LAYOUTS or format == plain_table.NAME else format
    with reading(_IN_MEMORY, most_columns):
        tables = [(name, read_frame(frame, progress))]
        return _from_tables(tables, SideFiles(), wanted, format is not None and not wanted)


def _unpacked(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    check_file_size("The file" if len(files) == 1 else "All files together", sum(len(content) for _, content in files))
    flat = []
    for name, content in files:
        name, content = unzipped(name, content)
        if is_archive(content) and not is_workbook(content):
            if (found := what_document(content)) is not None:
                raise InputError(f"{name} is {found[0]}.", found[1])
            flat += unpack(name, content)
        else:
            flat.append((name, content))
    return flat


def _without_yaml(files: list[tuple[str, bytes]], notes: list[str]) -> list[tuple[str, bytes]]:
    """Return the files that are not YAML, and add notes on the others.

    Raises
    ------
    InputError
        All files are YAML.
    """
    yaml = [file for file in files if _is_yaml(*file)]
    said = [f"Could not read {shorten(name, 60)}: Plurality does not support YAML." for name, _ in yaml]
    if len(yaml) == len(files):
        raise InputError(said[0], _INSTEAD_OF_YAML)
    notes += [f"{one} {_INSTEAD_OF_YAML}" for one in said]
    return [file for file in files if file not in yaml]


def _is_yaml(name: str, content: bytes) -> bool:
    """Return whether a file is YAML by its name; JSON is YAML, too, and can be read."""
    if not name.casefold().endswith((".yaml", ".yml")):
        return False
    try:
        return not looks_like_json(content) or not open_json(name, content)
    except InputError:
        return True


def _without_pictures(files: list[tuple[str, bytes]], notes: list[str]) -> tuple[list[tuple[str, bytes]], SideFiles]:
    """Return the files that may have annotations, and the pictures of cases."""
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
            f"{plural(n_left_out, 'image')} beyond the limit of {_MOST_PICTURES // MEGABYTE} MB "
            f"{was_or_were(n_left_out)} left out. Put the images in a folder, and set PLURALITY_IMAGES to that folder."
        )
    return rest, SideFiles(images=tuple(pictures))


def _without_matrices(files: list[tuple[str, bytes]], side: SideFiles) -> tuple[list[tuple[str, bytes]], SideFiles]:
    """Return the files that may have annotations, and the matrices of predictions."""
    matrices = tuple(file for file in files if is_matrix(file[1]))
    rest = [file for file in files if file not in matrices]
    return (rest, side.joined(SideFiles(predictions=matrices))) if rest else (files, side)


def _without_others(files: list[tuple[str, bytes]], notes: list[str]) -> list[tuple[str, bytes]]:
    """Return the files that may have text or tables; add one note for each kind of the others."""
    rest: list[tuple[str, bytes]] = []
    others: dict[str, list[str]] = {}
    for name, content in files:
        found = what_is(content) if not content.startswith(PARQUET) else None
        if found is None:
            rest.append((name, content))
        else:
            others.setdefault(found[0], []).append(shorten(name, 60))
    for what, names in others.items():
        n_more = len(names) - 1
        more = f" {plural(n_more, 'other file')} of this kind {was_or_were(n_more)} also left out." if n_more else ""
        notes.append(f"{names[0]} was left out: it is {what}.{more}")
    return rest


def _one_of_several(error: InputError, name: str) -> InputError:
    """Return the same error with the file's name, and the advice for one of several files."""
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
    for reader in _readers("json"):
        if wanted not in (None, reader.name):
            continue
        fitting = [file for file in jsons if reader.recognise([file]) is not None]
        if not fitting:
            continue
        if len(fitting) < len(jsons):
            other = next(file.name for file in jsons if file not in fitting)
            notes.append(f"{shorten(other, 60)} was left out: it is not in the format {reader.title}.")
        if reader.claims is not None:
            claimed = [file for file in rest if reader.claims(*file)]
            rest = [file for file in rest if file not in claimed]
            source = reader.read(fitting, progress, claimed)
        else:
            source = reader.read(fitting, progress)
        for name, content in rest:
            tables, side = _tables_of(name, content, True, None, side, notes, None)
            tables, side, told = set_apart(tables, side, with_annotations=False)
            notes += told
            notes += [
                f"{shorten(name, 60)} was left out: it is neither in the format {reader.title} nor a table of cases, "
                "classes, gold or predictions."
            ] * bool(tables)
        joined = replace(source, side=source.side.joined(side))
        return _with_notes(joined, notes)
    if wanted is not None and wanted in {reader.name for reader in _readers("json")}:
        raise InputError(
            f"Could not read {jsons[0].name}: it is not in the format {formats()[wanted]}.",
            "Choose a different format, or let Plurality detect the format.",
        )
    refuse_regions(jsons)
    return None


def _from_parquet(name: str, content: bytes, wanted: str | None) -> Source | None:
    """Return records that a reader knows in a Parquet file; None if there are none."""
    for reader in _readers("json"):
        if wanted in (None, reader.name) and reader.of_parquet is not None:
            found = reader.of_parquet(name, content)
            if found is not None:
                return found
    return None


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
    """Return tables of annotations in a file; add a side file to ``side``, and anything else to ``notes``.

    Without ``cases``, no table counts as one of cases.
    """
    try:
        tables = open_tables(name, content, has_header=has_header, progress=progress)
    except InputError as error:
        if not several:
            raise
        if isinstance(error, OneColumnError):
            return [], side.joined(SideFiles(in_order=((name, values_of(content)),)))
        notes.append(f"{shorten(name, 60)} was left out. {error.message}")
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
    for reader in _readers("table"):
        raw = tables[0][1]
        if plainly or wanted not in (None, reader.name) or reader.recognise(raw.columns) is None:
            continue
        if reader.holds is not None and not reader.holds(raw):
            continue
        source, raw, others = _first_read(reader, tables)
        before = None
        if reader.name in _PLAIN_BEFORE:
            before = Question("", raw, mapping_before(raw))
        return replace(source, side=source.side.joined(side), notes=source.notes + others, before=before)
    if wanted is not None:
        raise InputError(
            f"Could not read {tables[0][0]}: it is not in the format {formats()[wanted]}.",
            "Choose a different format, or let Plurality detect the format.",
        )
    return plain_table.read_plain(tables, side)


def _first_read(reader: Reader, tables: list[tuple[str, RawTable]]) -> tuple[Source, RawTable, tuple[str, ...]]:
    """Return the first table that a reader can read, and notes on the others.

    Raises
    ------
    InputError
        None can be read; that of the first table.
    """
    errors: dict[str, InputError] = {}
    for title, raw in tables:
        if reader.recognise(raw.columns) is None:
            continue
        try:
            source = reader.read(raw)
        except InputError as error:
            errors[title] = error
            continue
        reasons = {name: f". {error.message}" for name, error in errors.items()}
        apart = f": only {shorten(title, 60)} was read. Open each table as a separate dataset."
        names = [name for name, one in tables if one is not raw]
        return source, raw, tuple(f"{shorten(name, 60)} was left out{reasons.get(name, apart)}" for name in names)
    raise next(iter(errors.values()))


def _is_table(content: bytes) -> bool:
    """Return whether text that starts like JSON can be a table: its first line has a delimiter outside quotes."""
    first = content.lstrip().split(b"\n", 1)[0]
    return (
        first.count(b'"') % 2 == 0 and b'":' not in first and any(sign in first for sign in (b"\t", b";", b"|", b","))
    )


def _with_notes(source: Source, notes: list[str]) -> Source:
    if not notes:
        return source
    return replace(source, notes=(*source.notes, *notes))
