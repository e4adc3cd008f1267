"""Conversion of Parquet of any size to partitions of cases, each read as a file of that size is."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from ..annotations.counts import ClassCounts, class_counts
from ..annotations.dataset import Dataset, Kind
from ..annotations.validation import Names
from ..annotations.vocabulary import encode
from ..errors import InputError, NotApplicableError
from ..ingest.answer_rules import AS_POSITIONS
from ..ingest.build_dataset import ImportReport, build_dataset
from ..ingest.column_mapping import Mapping
from ..ingest.data_warnings import cautions_about, repeated, unsure
from ..ingest.formats.detect import open_frame
from ..ingest.formats.parquet import as_text
from ..ingest.formats.raw_table import Dropped
from ..ingest.long_rows import no_annotation
from ..ingest.read_files import choose_question, complete_mapping
from ..runtime.files import load_array
from ..text import number
from ._kernels import pattern_keys, same_pattern
from .dataset import Partition, PartitionedDataset
from .scatter import ROW, ParquetRows, gathered

ROWS_A_PARTITION = 2_000_000
# At least so many parts are made if rows are not too few, so that processes can share the work.
WORTH_A_PART, ROWS_WORTH_IT = 16, 10_000
MOST_DROPPED = 100_000
_BYTES_A_ROW = 40  # Bytes on disk: the scattered row and the arrays made from it.
_SCATTERED = 0.3  # Share of the time.


@dataclass(slots=True)
class _Built:
    """Counts and vocabularies that add up while partitions are made."""

    raters: dict[str, int] = field(default_factory=dict)
    of_raters: list[int] = field(default_factory=list)
    sizes: list[tuple[int, int, str]] = field(default_factory=list)
    patterns: list[ClassCounts] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)
    missing: dict[str, int] = field(default_factory=dict)
    n_dropped: int = 0
    n_repeats: int = 0
    n_same: int = 0
    notes: tuple[str, ...] = ()


def partitioned(
    rows: ParquetRows,
    folder: Path,
    *,
    n_partitions: int | None = None,
    columns: dict[str, str | None] | None = None,
    classes: Sequence[str] | None = None,
    kind: Kind | None = None,
    progress: Callable[[float], None] | None = None,
) -> PartitionedDataset:
    """Convert the annotations of a Parquet table to partitions of its cases.

    Parameters
    ----------
    rows : ParquetRows
        See `core.partitioned.scatter.rows_of`.
    folder : Path
        Folder for the partitions; it must exist as long as they are used.
    n_partitions : int, optional
        Number of partitions, rounded up to a power of two; if omitted, partitions have about 2,000,000 rows each, and
        there are at least 16 of 10,000 rows.
    columns : dict, optional
        Columns of "case", "rater" (or "none") and "answer"; guessed from the first rows if omitted.
    classes : sequence of str, optional
        Closed list of classes, see `core.ingest.build_dataset.build_dataset`.
    kind : {"class"}, optional
        Kind of annotations, if they look like another one.
    progress : callable, optional
        Called with the share done, 0 to 1.

    Raises
    ------
    NotApplicableError
        Rows do not have one class each.
    InputError
        The table cannot be understood, or the disk is full.
    """
    tell = progress or (lambda share: None)
    mapping = _mapping(rows, columns or {})
    names, as_positions = _class_list(rows, mapping, classes, kind)
    wanted = n_partitions or max(-(-rows.n_rows // ROWS_A_PARTITION), min(WORTH_A_PART, rows.n_rows // ROWS_WORTH_IT))
    n = 1 << max(0, wanted - 1).bit_length()
    _check_disk(rows.n_rows, folder)
    scattered = folder / "rows"
    scattered.mkdir()
    taken = [one for one in (mapping.case, mapping.rater, mapping.answer, mapping.time) if one is not None]
    rows.scatter(taken, str(mapping.case), n, scattered)
    tell(_SCATTERED)
    built, pending = _Built(), None
    listed = classes if as_positions and classes is not None else names
    for part in range(n):
        table = gathered(scattered, part)
        shutil.rmtree(scattered / f"__partition={part}", ignore_errors=True)
        if pending is not None:  # Rows of which none could be used are reported with those of the next partition.
            table = pending if table is None else pa.concat_tables([pending, table]).sort_by(ROW)
        pending = _add(built, table, mapping, listed, folder, part, part == n - 1)
        tell(_SCATTERED + (1 - _SCATTERED) * (part + 1) / n)
    return _finished(rows, mapping, built, names, classes is not None, as_positions, folder)


def _mapping(rows: ParquetRows, columns: dict[str, str | None]) -> Mapping:
    """Guess the columns from the first rows."""
    question = choose_question(open_frame(rows.name, rows.head()), None)
    mapping = question.mapping
    if any(columns.values()):
        case, rater, answer = (columns.get(role) for role in ("case", "rater", "answer"))
        mapping = complete_mapping(question.raw, guess=mapping, case=case, rater=rater, answer=answer)
    if mapping.layout != "long" or mapping.ranked or mapping.case is None or mapping.answer is None:
        raise NotApplicableError(
            f"Could not read {rows.name} in partitions: this needs one row per annotation, with a single class. Name "
            "the columns (--case, --rater, --class), or use a file that fits in memory."
        )
    return replace(mapping, group=None, gold=None)


def _class_list(
    rows: ParquetRows, mapping: Mapping, classes: Sequence[str] | None, kind: Kind | None
) -> tuple[tuple[str, ...], bool]:
    """Return the list of classes, and whether annotations are places in it, from all values that occur."""
    given = rows.distinct(str(mapping.answer))
    names = [str(column) for column in (mapping.case, mapping.answer)]
    case = pa.array(range(len(given)), pa.int64()).cast(pa.string())
    raw = as_text(pa.table([case, given], names=names))
    alone = replace(mapping, rater=None, time=None, why={"anonymous": "Partitions support only classes."})
    every, report = build_dataset(raw, alone, rows.name, classes=classes, kind=kind)
    every.check_kind("class", f"Could not read {rows.name} in partitions")
    return every.classes, AS_POSITIONS in report.warnings


def _check_disk(n_rows: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if n_rows * _BYTES_A_ROW > free:
        raise InputError(
            f"Could not write partitions: {n_rows:,} rows need about {number(n_rows * _BYTES_A_ROW / 2**30, 1)} GB "
            f"of disk space, but only {number(free / 2**30, 1)} GB is free in {folder.parent}.",
            "Free up disk space, or set TMPDIR to a larger disk.",
        )


def _add(
    built: _Built,
    table: pa.Table | None,
    mapping: Mapping,
    classes: Sequence[str],
    folder: Path,
    number: int,
    last: bool,
) -> pa.Table | None:
    """Make one partition of rows, and return rows for the next one if none of them can be used."""
    if table is None:
        _write(built, None, folder, number)
        return None
    raw = as_text(table.drop_columns([ROW]))
    raw = replace(raw, line=table[ROW].to_numpy().astype(np.int64) + 1)
    try:
        dataset, report = build_dataset(raw, mapping, "partition", kind="class", classes=classes)
    except InputError:
        if last and not any(n for n, _, _ in built.sizes):
            raise
        if last:
            _all_dropped(built, raw, mapping)
        _write(built, None, folder, number)
        return None if last else table
    _write(built, dataset, folder, number)
    built.dropped = sorted([*built.dropped, *report.dropped])[:MOST_DROPPED]
    built.n_dropped += len(report.dropped)
    built.n_repeats += report.n_repeats
    built.n_same += report.n_same
    for token, count in report.missing.items():
        built.missing[token] = built.missing.get(token, 0) + count
    built.notes = tuple(dict.fromkeys((*built.notes, *report.notes)))
    return None


def _all_dropped(built: _Built, raw, mapping: Mapping) -> None:
    """Report rows of which none can be used."""
    case, answer = encode(raw.table[mapping.case]), encode(raw.table[mapping.answer])
    of_rater = case.code if mapping.rater is None else encode(raw.table[mapping.rater]).code
    reasons = [
        "no case" if of_case < 0 else "no rater" if rater < 0 else no_annotation(token)
        for of_case, rater, token in zip(case.code, of_rater, raw.table[mapping.answer].to_pylist(), strict=True)
    ]
    found = [raw.drop(row, reason) for row, reason in enumerate(reasons)]
    built.dropped = sorted([*built.dropped, *found])[:MOST_DROPPED]
    built.n_dropped += len(found)
    for token, count in answer.missing.items():
        built.missing[token] = built.missing.get(token, 0) + count


def _write(built: _Built, dataset: Dataset | None, folder: Path, number: int) -> None:
    """Write a partition to disk, with raters in order of first occurrence."""
    if dataset is None:
        built.sizes.append((0, 0, ""))
        return
    code = np.array([built.raters.setdefault(name, len(built.raters)) for name in dataset.raters], np.int64)
    of_raters = np.bincount(dataset.rater, minlength=dataset.n_raters)
    built.of_raters += [0] * (len(built.raters) - len(built.of_raters))
    for place, count in zip(code.tolist(), of_raters.tolist(), strict=True):
        built.of_raters[place] += count
    part = Partition(folder, number, dataset.n_cases, dataset.n_annotations, dataset.digest)
    np.save(part.path("case_ptr.npy"), dataset.case_ptr)
    np.save(part.path("cell.npy"), code[dataset.rater] * dataset.n_classes + dataset.answer)
    parquet.write_table(pa.table({"case": pa.array(dataset.cases, pa.string())}), part.path("cases.parquet"))
    built.sizes.append((part.n_cases, part.n_annotations, part.digest))
    built.patterns = [joined([*built.patterns, patterns_of(class_counts(dataset))])]


def _finished(
    rows: ParquetRows,
    mapping: Mapping,
    built: _Built,
    classes: tuple[str, ...],
    declared: bool,
    as_positions: bool,
    folder: Path,
) -> PartitionedDataset:
    """Sort raters and classes in their natural order in all partitions, and leave out unused ones."""
    parts = tuple(Partition(folder, number, *size) for number, size in enumerate(built.sizes))
    patterns = built.patterns[0]
    used = np.ones(len(classes), bool) if declared else np.bincount(patterns.class_code, minlength=len(classes)) > 0
    names = Names(name for name, is_used in zip(classes, used, strict=True) if is_used)
    raters = encode(pa.chunked_array([pa.array(list(built.raters), pa.string())]))
    of_class = np.cumsum(used) - 1
    for part in parts:
        if part.n_cases:
            rater, answer = np.divmod(load_array(part.path("cell.npy")), len(classes))
            cell = raters.code[rater].astype(np.int64) * len(names) + of_class[answer]
            np.save(part.path("cell.npy"), cell.astype(np.int32))
    of_raters = np.zeros(len(raters.values), np.int64)
    of_raters[raters.code] = built.of_raters
    patterns = replace(patterns, class_code=of_class[patterns.class_code].astype(np.int32), n_classes=len(names))
    report = ImportReport(
        rows.n_rows,
        rows.n_rows - built.n_dropped,
        tuple(built.dropped),
        built.missing,
        built.n_repeats,
        built.notes,
        (),
        mapping,
        built.n_same,
    )
    found = PartitionedDataset(
        rows.name,
        Names(raters.values),
        names,
        parts,
        patterns,
        of_raters,
        mapping.rater is not None,
        report,
        built.n_dropped,
    )
    cautions = [AS_POSITIONS] if as_positions else []
    cautions += [
        *repeated(built.n_repeats, built.n_same, found.n_annotations),
        *unsure(names),
        *cautions_about(cast(Dataset, found), False),
    ]
    return replace(found, report=replace(report, warnings=tuple(cautions)))


def patterns_of(counts: ClassCounts) -> ClassCounts:
    """Reduce counts to one row per distinct pattern, and return how many cases have each.

    Sums over cases stay the same. Five annotations of ten classes make 2,002 patterns at most, however many
    cases there are. Rows are in the order of a hash of their pattern, whatever the order of the cases.
    """
    keys = pattern_keys(counts.ptr, counts.class_code, counts.count)
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    if not same_pattern(counts.ptr, counts.class_code, counts.count, first[of_row]):  # Two patterns have the same hash.
        return counts
    times = np.bincount(of_row, counts.times if counts.times.size else None).astype(np.int64)
    size = np.diff(counts.ptr)[first]
    ptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    entry = np.repeat(counts.ptr[first] - ptr[:-1], size) + np.arange(ptr[-1])
    return ClassCounts(ptr, counts.class_code[entry], counts.count[entry], counts.n_classes, times)


def joined(parts: Sequence[ClassCounts]) -> ClassCounts:
    """Stack the rows of several parts, and join those with the same pattern."""
    starts = np.cumsum([0, *(part.ptr[-1] for part in parts)])
    once = [part.times if part.times.size else np.ones(part.n_cases, np.int64) for part in parts]
    return patterns_of(
        ClassCounts(
            np.concatenate([[0], *(part.ptr[1:] + start for part, start in zip(parts, starts, strict=False))]),
            np.concatenate([part.class_code for part in parts]),
            np.concatenate([part.count for part in parts]),
            parts[0].n_classes,
            np.concatenate(once),
        )
    )
