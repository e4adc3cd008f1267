"""Read files in one call: from bytes to a dataset, with guesses for everything that is not given."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..annotations.dataset import Dataset, Kind
from ..annotations.vocabulary import Rule, reading_by
from ..checked import checked
from ..errors import InputError
from ..result_base import Columns, Result
from ..text import plural
from .answer_rules import AS_POSITIONS, Treatment, positions
from .build_dataset import ImportReport, build_dataset
from .case_content import case_facts, shown_beside
from .case_facts import CaseFacts
from .column_mapping import LAYOUTS, Empty, Layout, Mapping, Repeats, likeness
from .companion_files import SideFiles, with_side_files
from .earlier_reading import earlier_digests
from .formats.budget import MOST_COLUMNS, reading
from .formats.detect import open_frame, open_source
from .formats.frames import is_frame
from .formats.parquet import open_parquet_folder
from .formats.raw_table import RawTable
from .formats.side_tables import read_class_list
from .formats.source import Question, Source
from .formats.tables_beside import perhaps_gold
from .guess_mapping import likeliest_mapping, mapping_as
from .machine_columns import told_machines
from .row_in_words import readings_of
from .times import unclear_date

_OPENING = 0.6  # share of the time for opening; the rest is building


@dataclass(frozen=True, slots=True, repr=False)
class Reading(Result):
    """Dataset, the account of how it came from its file, and the facts on its cases.

    Attributes
    ----------
    dataset : Dataset
    report : ImportReport or None
        Report on the rows; None if the dataset was not read from a file just now.
    facts : CaseFacts or None
        Texts and pictures; they are not part of the digest.
    machines : tuple of (str, str, str)
        AI raters by a column of the file, each with family and version, empty if unknown.
    earlier : tuple of str
        Digests that the dataset had by the rules of earlier versions, see `core.ingest.earlier_reading`.
    doubt : str
        Possible readings of the file and the options that choose them; empty if there is only one.
    rater_names : tuple of (str, str)
        Columns of raters that have another name now, and the name of the rater, see
        `core.ingest.column_mapping.Mapping`.
    """

    dataset: Dataset
    report: ImportReport | None
    facts: CaseFacts | None = None
    machines: tuple[tuple[str, str, str], ...] = ()
    earlier: tuple[str, ...] = ()
    doubt: str = ""
    rater_names: tuple[tuple[str, str], ...] = ()

    TABLES = Dataset.TABLES

    def _columns(self, table: str, most: int | None) -> Columns:
        return self.dataset._columns(table, most)

    def _facts(self) -> Iterable[str]:
        yield from self.dataset._facts()
        if self.report is not None:
            yield f"{self.report.n_kept:,} of {plural(self.report.n_rows, 'row')} used"


@checked
def read(
    source: Any,
    *,
    name: str | None = None,
    case: str | None = None,
    rater: str | None = None,
    answer: str | None = None,
    rank: str | None = None,
    group: str | None = None,
    first: str | None = None,
    layout: str | None = None,
    format: str | None = None,
    question: str | None = None,
    separators: tuple[str, str] | None = None,
    kind: Kind | None = None,
    classes: Sequence[str] | Path | None = None,
    ordinal: bool = False,
    repeats: Repeats = "keep",
    treatment: Treatment | None = None,
    has_header: bool | None = None,
    empty: Empty = "unsaid",
    day_first: bool | None = None,
    most_columns: int = MOST_COLUMNS,
    progress: Callable[[float], None] | None = None,
) -> Reading:
    """Read annotations from a file of any known format, several that belong together, or a DataFrame.

    Parameters
    ----------
    source : path, several paths, bytes, or a frame
        Several files may be in one zip; a folder is one Parquet table. A frame is understood as the file it would be.
    name : str, optional
    case, rater, answer, rank, group, first : str, optional
        Names of columns; guessed if omitted. ``rater="none"``: no raters are named; ``first``: item that 1 prefers.
    layout, format : str, optional
        One of `core.ingest.column_mapping.LAYOUTS`, and of `core.ingest.formats.detect.formats`; detected if omitted.
    question : str, optional
        Name of the question or sheet, if the file has several.
    separators : (str, str), optional
        Signs of rankings in a cell: between positions, and between tied classes.
    kind, ordinal, repeats, treatment, has_header, empty, day_first, most_columns, progress
        See `core.ingest.build_dataset.build_dataset`, `formats.detect.open_source`, `column_mapping.Mapping`.
    classes : sequence of str or Path, optional
        Closed list, or a file: one name per line, or a class table. See `core.ingest.build_dataset.build_dataset`.

    Raises
    ------
    InputError
        The file cannot be read; states line or column, the cause and what to do.
    """
    found, title, layout = open_named(source, name, has_header, format, layout, most_columns, progress)
    if isinstance(classes, Path):
        found, classes = _with_class_list(found, classes)
    asked = _with_given(found, question, (case, rater, answer, rank), layout, separators)
    mapping = replace(_with_first(asked.mapping, first), empty=empty, day_first=day_first)
    asked = replace(asked, mapping=mapping if group is None else mapping.with_group(group))
    return build_question(
        found, asked, title, kind=kind, classes=classes, ordinal=ordinal, repeats=repeats, treatment=treatment,
        progress=(lambda share: progress(_OPENING + (1 - _OPENING) * share)) if progress else None,
    )  # fmt: skip


def _with_first(mapping: Mapping, first: str | None) -> Mapping:
    """Return the reading of a table of comparisons whose first item is in that column."""
    readings = {one.first: one for one in (mapping.clear(), *mapping.instead) if one.layout == "comparisons"}
    if first is not None and first not in readings:
        raise InputError(f"Could not use {first!r} as the column of the first item.",
                         "Choose one of the two item columns. The table must contain comparisons.")  # fmt: skip
    return mapping if first is None else readings[first]


def dataset_of_frame(frame: Any, **reading) -> Dataset:
    """Return a dataset from a DataFrame, see `Dataset.from_frame`; for ``reading`` see `read`."""
    if not is_frame(frame):
        raise InputError(
            f"Could not use an object of type {type(frame).__name__}: it is not a DataFrame.",
            "Use a DataFrame, or read a file with core.read.",
        )
    return read(frame, **reading).dataset


def choose_question(source: Source, name: str | None, *, columns_given: bool = False) -> Question:
    """Return the question with that name, or the only one. Given columns choose among the questions of one table.

    Parameters
    ----------
    source : Source
    name : str, optional
    columns_given : bool
        True if the columns of the annotations are given.

    Raises
    ------
    InputError
        No question has that name, or there are several and no name is given.
    """
    names = ", ".join(repr(question.name) for question in source.questions[:12])
    for question in source.questions:
        if question.name == name or (name is None and len(source.questions) == 1):
            return question
    if name is None and columns_given and len({id(question.raw.table) for question in source.questions}) == 1:
        return source.questions[0]
    if name is None:
        raise InputError(
            f"Could not choose between the file's {len(source.questions):,} questions: {names}.",
            "Choose a question (--question NAME).",
        )
    raise InputError(f"Unknown question {name!r}.", f"Questions: {names}.")


def build_question(
    source: Source,
    question: Question,
    name: str,
    *,
    kind: Kind | None = None,
    classes: Sequence[str] | None = None,
    ordinal: bool = False,
    repeats: Repeats = "keep",
    treatment: Treatment | None = None,
    progress: Callable[[float], None] | None = None,
) -> Reading:
    """Return the dataset of one question with its side files; omitted options are as the format defines them.

    Parameters
    ----------
    source : Source
    question : Question
        One of the source's questions.
    name : str
        Name of the dataset.
    kind, classes, ordinal, repeats, treatment
        See `core.ingest.build_dataset.build_dataset`.
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    InputError
        See `core.ingest.build_dataset.build_dataset` and `core.ingest.companion_files.with_side_files`.
    """
    how: dict[str, Any] = {"kind": kind, "ordinal": ordinal, "repeats": repeats}
    with reading_by(Rule()) as rule:
        dataset, report, side, remarks = _built(source, question, name, classes, treatment, how, progress)

    def build(treatment: Treatment | None, classes: Sequence[str] | None) -> Dataset:
        return _built(source, question, name, classes, treatment, how, None)[0]

    earlier = earlier_digests(build, rule, treatment, classes, dataset.digest)
    earlier = (*_digests_before(source, question, name, treatment, classes, how, dataset.digest), *earlier)
    pictured: list[str] = []
    beside, _ = shown_beside(question.raw, question.mapping)
    table = beside.joined(side.cases) if beside is not None and side.cases is not None else side.cases or beside
    facts = case_facts(dataset.cases, table, side.images, pictured)
    told = told_machines(question.raw, question.mapping)
    others = [note for note in question.notes if note not in report.notes]
    doubt = _in_doubt(question)
    report = replace(
        report,
        notes=(*source.notes, *report.notes, *others, *pictured, *told.notes),
        warnings=(*report.warnings, *([doubt] if doubt else ()), *remarks, *perhaps_gold(question, source.side)),
    )
    return Reading(dataset, report, facts, told.machines, earlier, doubt, question.mapping.rater_names)


def _digests_before(
    source: Source,
    question: Question,
    name: str,
    treatment: Treatment | None,
    classes: Sequence[str] | None,
    how: dict[str, Any],
    now: str,
) -> tuple[str, ...]:
    """Return digests of a plain table with the roles of columns, and names of raters, that earlier versions guessed."""
    mapping = question.mapping
    mappings = [replace(mapping, rater_names=())] if mapping.rater_names else []
    mappings += [mapping.before] if mapping.before is not None else []
    if mapping.time is not None and likeness(mapping.time, "time") < 2:  # which showed dates by names only
        mappings.append(replace(mapping, time=None))
    # Earlier versions read the month first.
    dates = question.raw.table[mapping.time] if mapping.time is not None and mapping.day_first is not False else None
    if dates is not None and unclear_date(dates) is not None:
        mappings.append(replace(mapping, day_first=False))
    questions = [replace(question, mapping=one) for one in mappings]
    found: list[str] = []
    for asked in (*questions, *([source.before] if source.before is not None else [])):

        def build(treatment: Treatment | None, classes: Sequence[str] | None, asked: Question = asked) -> Dataset:
            return _built(source, asked, name, classes, treatment, how, None)[0]

        found += earlier_digests(build, Rule(matters=True), treatment, classes, now, now_too=True)
    return tuple(found)


def _built(
    source: Source,
    question: Question,
    name: str,
    classes: Sequence[str] | None,
    treatment: Treatment | None,
    how: dict[str, Any],
    progress: Callable[[float], None] | None,
) -> tuple[Dataset, ImportReport, SideFiles, Sequence[str]]:
    """Return the dataset of a question with its side files, the account, the side files, and notes on these."""
    dataset, report = build_dataset(
        question.raw,
        question.mapping,
        name,
        kind=how["kind"] or question.kind,
        classes=classes if classes is not None else question.classes,
        ordinal=how["ordinal"] or question.ordinal,
        repeats=how["repeats"],
        treatment=treatment,
        raters_identified=question.raters_identified,
        progress=progress,
    )
    side = _gold_as_classes(source.side.joined(SideFiles(gold=question.gold)), dataset, report, treatment)
    dataset, remarks = with_side_files(dataset, side)
    return dataset, report, side, remarks


def _in_doubt(question: Question) -> str:
    """Return the readings of a table in words with their options, if there are several and the user chose none."""
    if not question.mapping.instead:
        return ""
    found = [f"{one.words} ({one.options})" for one in readings_of(question.raw, question.mapping)]
    return f"{question.mapping.doubt} {' Or: '.join(found)}"


def _gold_as_classes(side: SideFiles, dataset: Dataset, report: ImportReport, treatment: Treatment | None) -> SideFiles:
    """Return side files with gold renamed, or read as positions in the list of classes, like the annotations."""
    if side.gold and treatment is not None:
        gold = {case: treatment.renamed.get(known, known) for case, known in side.gold.items()}
        side = replace(side, gold=gold)
    if side.gold and AS_POSITIONS in report.warnings:
        named = positions(sorted(set(side.gold.values())), dataset.classes)
        side = replace(side, gold={case: named[place] for case, place in side.gold.items()}) if named else side
    return side


def complete_mapping(
    raw: RawTable,
    *,
    case: str | None = None,
    rater: str | None = None,
    answer: str | None = None,
    rank: str | None = None,
    layout: str | None = None,
    separators: tuple[str, str] | None = None,
    guess: Mapping | None = None,
) -> Mapping:
    """Return the guessed mapping with the user's choices in place of guesses.

    Parameters
    ----------
    raw : RawTable
    case, rater, answer, rank : str, optional
        Names of columns; ``rater="none"`` means that annotations are anonymous.
    layout : str, optional
        One of `core.ingest.column_mapping.LAYOUTS`.
    separators : (str, str), optional
        Signs between positions of a ranking and between tied classes.
    guess : Mapping, optional
        Guess; made if omitted.
    """
    guess = guess or likeliest_mapping(raw)
    asked: dict[str, str | None] = {"case": case, "answer": answer, "rank": rank}
    given: dict[str, str | None] = {role: column for role, column in asked.items() if column}
    if rater is not None:
        given["rater"] = None if rater == "none" else rater
    if layout is not None:
        wanted: Layout = _layout(layout)
    else:
        wanted = "long" if {"rater", "answer", "rank"} & given.keys() else guess.layout
    guess = guess if guess.layout == wanted != "wide" or layout is None else mapping_as(raw, wanted)
    guess = guess if guess.layout == wanted else mapping_as(raw, wanted)
    guess = guess if layout is None and not given else guess.clear()
    why = guess.why | ({"anonymous": "said so"} if rater == "none" else {})
    signs = separators or guess.separators
    if wanted != "long":
        taken = {column for column in given.values() if column}
        raters = tuple(column for column in guess.raters if column not in taken)
        across = tuple(column for column in guess.across if column not in taken)
        only: dict[str, Any] = {role: given[role] for role in ("case", "rater") if role in given}
        return replace(guess, raters=raters, across=across, separators=signs, why=why, **only)
    if separators is not None or "rank" in given:
        guess = replace(guess, confidence=None, rank=None)
    if "rank" in given:
        signs = separators
    free = {role: getattr(guess, role) for role in ("case", "rater", "answer", "rank", "time", "group", "confidence")}
    free = {role: None if column in given.values() else column for role, column in free.items()}
    gold = None if guess.gold in given.values() else guess.gold
    return replace(guess, raters=(), why=why, separators=signs, gold=gold, **(free | given))


def _layout(name: str) -> Layout:
    """Return the layout with that name."""
    for layout in LAYOUTS:
        if layout == name:
            return layout
    raise InputError(f"Unknown layout {name!r}.", f"Use one of {', '.join(LAYOUTS)}.")


def _with_class_list(source: Source, path: Path) -> tuple[Source, tuple[str, ...]]:
    """Return the source with the class table of a file, and the names of the classes."""
    table = read_class_list(*_named(path))
    return replace(source, side=source.side.joined(SideFiles(classes=table))), table.names


def _format_and_layout(format: str | None, layout: str | None) -> tuple[str | None, str | None]:
    """Return format and layout, either from the other if only one is given: a layout is that of a plain table."""
    if format is None and layout is not None:
        format = _layout(layout)
    elif format in LAYOUTS:
        layout = format
    return format, layout


def _with_given(
    source: Source,
    name: str | None,
    columns: tuple[str | None, ...],
    layout: str | None,
    separators: tuple[str, str] | None,
) -> Question:
    """Return the question with that name, with the columns of cases, raters, annotations and ranks that were given."""
    question = choose_question(source, name, columns_given=layout is not None or any(columns))
    if layout is None and separators is None and all(column is None for column in columns):
        return question
    given = dict(zip(("case", "rater", "answer", "rank"), columns, strict=True))
    mapping = complete_mapping(question.raw, **given, layout=layout, guess=question.mapping, separators=separators)
    return replace(question, mapping=mapping)


def open_named(
    source: str | Path | bytes | Sequence[str | Path],
    name: str | None = None,
    has_header: bool | None = None,
    format: str | None = None,
    layout: str | None = None,
    most_columns: int = MOST_COLUMNS,
    progress: Callable[[float], None] | None = None,
) -> tuple[Source, str, str | None]:
    """Return the content of files or a DataFrame, its name, and the layout of a plain table; keep no bytes.

    Parameters
    ----------
    source, name, has_header, format, layout, most_columns, progress
        See `read`.
    """
    format, layout = _format_and_layout(format, layout)
    opening = (lambda share: progress(_OPENING * share)) if progress else None
    if not isinstance(source, str | bytes | Path | list | tuple) and is_frame(source):
        found = open_frame("The frame", source, format=format, most_columns=most_columns, progress=opening)
        return found, name or "data", layout
    if isinstance(source, str | Path) and os.path.isdir(source):
        folder = Path(source).resolve()
        with reading(sum(path.stat().st_size for path in folder.rglob("*.parquet")), most_columns):
            table = open_parquet_folder(folder)
            found = open_frame(folder.name, table, format=format, most_columns=most_columns, progress=opening)
        return found, name or folder.name, layout
    files, title = _files_of(source, name)
    found = open_source(files, has_header=has_header, format=format, most_columns=most_columns, progress=opening)
    return found, title, layout


def _files_of(source: str | Path | bytes | Sequence[str | Path], name: str | None) -> tuple[list, str]:
    if isinstance(source, bytes):
        return [(name or "data", source)], name or "data"
    try:
        paths = [Path(path) for path in ([source] if isinstance(source, str | Path) else source)]
    except TypeError:
        raise InputError(
            f"Could not use an object of type {type(source).__name__}: it is not a file or a table.",
            "Use a path, several paths, bytes, or a DataFrame.",
        ) from None
    return [_named(path) for path in paths], name or (paths[0].stem if paths else "data")


def _named(path: Path) -> tuple[str, bytes]:
    try:
        return path.name, path.read_bytes()
    except OSError as error:
        raise InputError(f"Could not open {path}: {error.strerror}.", "Check the path.") from None
