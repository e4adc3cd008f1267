"""Functions that commands share: reading FILE, writing tables, and the fields of every result."""

import re
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from .. import library
from ..annotations.dataset import Dataset, Kind
from ..annotations.named_selection import Selection
from ..annotations.ordering import order_by_name, order_in_words, with_class_order
from ..errors import InputError
from ..ingest.answer_rules import Treatment
from ..ingest.build_dataset import ImportReport
from ..ingest.column_mapping import Mapping as Columns
from ..ingest.formats.side_tables import read_class_list
from ..ingest.read_files import Reading, read
from ..ingest.samples import SAMPLES, read_sample
from ..read_anew import as_read_now, differences, found_before
from ..settings import current_settings
from ..text import percent, plural, shorten

if TYPE_CHECKING:
    import pandas as pd

    from ..runtime.executors import Executor

PIPE = "-"
_LISTED = 6
_DIGEST = re.compile(r"[0-9a-f]{32}")
_WORTH_A_WORD = 60.0


def read_file(options, kind: Kind | None = None, order: Sequence[str] | None = None) -> Reading:
    """Read the file, the pipe, or the sample or saved dataset with that name; keep only the selected annotations.

    A file with that name comes first. A saved dataset is named by its digest.

    The digest of the whole dataset is stored in ``options.whole``.

    Parameters
    ----------
    options
        Options of the command line.
    kind : Kind, optional
        Kind of annotation, if it is known.
    order : sequence of str, optional
        Classes from low to high, if their order has a meaning.
    """
    is_file = Path(options.file).is_file()
    if any(sample.name == options.file for sample in SAMPLES) and not is_file:
        reading = _listed(read_sample(options.file), options)
    elif _DIGEST.fullmatch(options.file) and not is_file:
        dataset = library.reopen(library.present_digest(options.file))
        n = dataset.n_annotations
        report = ImportReport(n, n, (), {}, 0, ("A kept dataset.",), (), Columns("long"))
        reading = _listed(Reading(dataset, report), options)
    else:
        reading = read(
            sys.stdin.buffer.read() if options.file == PIPE else options.file,
            name="standard input" if options.file == PIPE else None,
            format=options.format,
            question=options.question,
            case=options.case,
            rater=options.rater,
            answer=options.answer,
            rank=options.rank,
            group=options.group,
            first=options.first,
            kind=kind or options.kind,
            classes=class_list(options.classes) if order is None else order,
            ordinal=order is not None,
            empty="none" if options.empty_is_none else "unsaid",
            day_first=None if options.dates is None else options.dates == "day-first",
            treatment=_treatment(options),
            most_columns=options.most_columns,
        )
    check_readings(reading)
    chosen, options.whole = Selection.from_text(options.select or ""), reading.dataset.digest
    return replace(reading, dataset=chosen.apply(reading.dataset))


def _listed(reading: Reading, options) -> Reading:
    """Return a sample or saved dataset with its classes in the order of ``--classes``, if given."""
    if options.missing:
        raise InputError(
            "Could not use --missing: it applies only to files, and these data have already been read.",
            "Use the original file.",
        )
    given = class_list(options.classes)
    names = read_class_list(given.name, given.read_bytes()).names if isinstance(given, Path) else given
    if names is None or tuple(names) == reading.dataset.classes:
        return reading
    return replace(reading, dataset=replace(with_class_order(reading.dataset, names), ordinal=reading.dataset.ordinal))


def _treatment(options) -> Treatment | None:
    """Return the treatment of annotations that ``--missing`` and ``--not-missing`` request."""
    missing, kept = (
        frozenset(name.strip() for name in (given or "").split(",") if name.strip())
        for given in (options.missing, options.not_missing)
    )
    return Treatment(missing=missing, kept=kept) if missing or kept else None


def kept_before(reading: Reading) -> list[str]:
    """Return sentences on a saved dataset that is read differently now, and on earlier digests of a file."""
    dataset = reading.dataset
    if library.is_kept(dataset.digest) and (now := as_read_now(dataset)) is not None:
        if library.is_left_apart(dataset.digest, now.digest):
            return []
        return [
            f"Plurality now reads this saved dataset differently. {differences(dataset, now)} To update the saved "
            "dataset, use the bring-over command."
        ]
    return [
        f"This file has saved work under its earlier digest {found.digest}: {found.words}. To continue with it, use "
        "the bring-over command."
        for found in found_before(dataset, reading.earlier)
    ]


def check_readings(reading: Reading) -> None:
    """Raise `InputError` if the file has several readings and no option chooses one of them."""
    if reading.doubt:
        raise InputError(reading.doubt, "Choose one.")


def check_codes(codes: Mapping[str, int]) -> None:
    """Raise `InputError` if codes may mean missing annotations, and no option states whether they do."""
    if not codes:
        return
    listed = ", ".join(f"{shorten(name, 24)!r} ({plural(n, 'annotation')})" for name, n in codes.items())
    given = quote(",".join(codes))
    raise InputError(
        f"The data may contain codes for missing annotations: {listed}.",
        f"Use --missing={given} to leave them out, or --not-missing={given} to keep them as classes.",
    )


def class_list(given: str | None) -> list[str] | Path | None:
    """Return the list as it was given, or the path of the file that contains it."""
    if not given:
        return None
    return Path(given) if Path(given).is_file() else [name.strip() for name in given.split(",")]


def read_warned(
    options, kind: Kind | None = None, *, machines_apart: bool = False, keep: Container[str] = ()
) -> Reading:
    """Read the file without AI raters by a column of it; keep its warnings for standard error.

    As on pages, AI raters are left out unless ``--with-machines`` is given, or nobody else has annotated.

    Parameters
    ----------
    options
        Options of the command line.
    kind : Kind, optional
    machines_apart : bool
        True if the command separates AI raters itself: all are kept.
    keep : container of str
        AI raters that the command requests by name.
    """
    reading = read_file(options, kind)
    if reading.report is not None:
        check_codes(reading.report.codes)
        options.cautions.extend(reading.report.warnings)
    options.cautions.extend(kept_before(reading))
    here = [name for name, *_ in reading.machines if name in reading.dataset.raters]
    if not here or machines_apart:
        return reading
    named = ", ".join(here[:5]) + (", …" if len(here) > 5 else "")
    out = {name for name in here if name not in keep}
    if options.with_machines or len(out) == reading.dataset.n_raters:
        options.cautions.append(f"AI raters marked in a column of the file were included: {named}.")
        return reading
    options.cautions.append(
        f"AI raters marked in a column of the file were left out: {named}. Use --with-machines to include them."
    )
    people = tuple(name for name in reading.dataset.raters if name not in out)
    return replace(reading, dataset=Selection(raters=people).apply(reading.dataset))


def read_classes(options, keep: Container[str] = ()) -> tuple[Dataset, int]:
    """Read one class per annotation; return how many were left out. See `read_warned`."""
    return read_warned(options, keep=keep).dataset.as_classes(split(options))


def split(options) -> float | str | None:
    """Return the threshold that makes classes of scores, or the label that makes classes of sets."""
    return options.threshold if options.label is None else options.label


def with_declared_order(dataset: Dataset, options, *, asked: bool = False) -> Dataset:
    """Return the data with the order of ``--classes``, or that of their names, if the order has a meaning.

    Parameters
    ----------
    dataset : Dataset
        Dataset of single classes.
    options
        Options of the command; with ``ordinal``.
    asked : bool
        True if the command itself needs an order.

    Raises
    ------
    InputError
        An order is needed and is unknown.
    """
    if dataset.ordinal or not (options.ordinal or asked):
        return dataset
    return with_class_order(dataset, declared_order(dataset.classes, options))


def declared_order(classes: Sequence[str], options) -> Sequence[str]:
    """Return the order of the classes from low to high: as in ``--classes``, or by their names.

    Raises
    ------
    InputError
        The order is unknown.
    """
    if options.classes:
        return classes
    order = order_by_name(classes)
    if order is None and len(classes) < 3:  # the same either way round
        order = tuple(classes)
    if order is None:
        listed = ", ".join(repr(shorten(name, 24)) for name in classes[:_LISTED]) + ", …" * (len(classes) > _LISTED)
        raise InputError(
            f"Cannot determine the order of the classes ({listed}): they are neither numbers nor a known scale.",
            "List them from low to high: --classes low,middle,high.",
        )
    options.cautions.append(f"Order of the classes, low to high: {order_in_words(order)}.")
    return order


def stamp(options, dataset: Dataset) -> dict:
    """Return the fields of every result: seed and digest, and the order of the classes if it counts."""
    order = {"order": list(dataset.classes)} if dataset.ordinal else {}
    return {**order, "seed": options.seed, "digest": dataset.digest}


def rows_of(table: "pd.DataFrame") -> list[dict]:
    """Return the rows of a table for JSON, with None for missing values."""
    return table.astype(object).where(table.notna(), None).to_dict("records")


def write_table(path: str | None, table: "pd.DataFrame") -> None:
    """Write a table to a file, if one is named."""
    if path is None:
        return
    from ..tables import to_csv

    write_bytes(path, to_csv(table))


def write_bytes(path: str, content: bytes) -> None:
    """Write a requested file.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise InputError(f"Could not write {path}: {error.strerror}. Check the path.") from None


@contextmanager
def runner_of(options) -> Iterator["Executor"]:
    """Yield the executor of a command: this process, or the cluster of ``--cluster`` or of PLURALITY_CLUSTER."""
    from ..runtime.cluster import opened_cluster
    from ..runtime.executors import LocalExecutor

    address = options.cluster or current_settings().cluster
    if not address:
        yield LocalExecutor()
        return
    with opened_cluster(address) as cluster:
        yield cluster


def say_duration(seconds: float) -> None:
    """Write the estimated duration to standard error, if it is long."""
    if seconds >= _WORTH_A_WORD:
        print(f"Scoring rater models takes about {plural(round(seconds / 60), 'minute')}.", file=sys.stderr, flush=True)


def progress(share: float) -> None:
    """Write the share done to a terminal's standard error."""
    if sys.stderr.isatty():
        print(f"\r{percent(share):>4}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)
