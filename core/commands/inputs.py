"""What the commands share: reading FILE, writing tables, and what every result carries."""

import re
import sys
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .. import library
from ..annotations.dataset import Dataset, Kind
from ..annotations.named_selection import Selection
from ..annotations.ordering import with_class_order
from ..errors import InputError
from ..ingest.build_dataset import ImportReport
from ..ingest.column_mapping import Mapping
from ..ingest.read_files import Reading, read
from ..ingest.samples import SAMPLES, read_sample
from ..settings import current_settings
from ..text import percent, plural

if TYPE_CHECKING:
    import pandas as pd

    from ..runtime.executors import Executor

PIPE = "-"
_DIGEST = re.compile(r"[0-9a-f]{32}")
_WORTH_A_WORD = 60.0


def read_file(options, kind: Kind | None = None) -> Reading:
    """The file, what comes through a pipe, or the sample or kept dataset of that name; only the selected annotations.

    A file of that name comes first. A kept dataset is named by its digest.

    ``kind`` says what an annotation is where that is known. The digest of the whole goes into ``options.whole``.
    """
    is_file = Path(options.file).is_file()
    if any(sample.name == options.file for sample in SAMPLES) and not is_file:
        reading = read_sample(options.file)
    elif _DIGEST.fullmatch(options.file) and not is_file:
        dataset = library.reopen(options.file)
        n = dataset.n_annotations
        reading = Reading(dataset, ImportReport(n, n, (), {}, 0, ("A kept dataset.",), (), Mapping("long")))
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
            kind=kind or options.kind,
            classes=class_list(options.classes),
            empty="none" if options.empty_is_none else "unsaid",
        )
    chosen, options.whole = Selection.from_text(options.select or ""), reading.dataset.digest
    return replace(reading, dataset=chosen.apply(reading.dataset))


def class_list(given: str | None) -> list[str] | Path | None:
    """The list as it was given, or the path of the file that holds it."""
    if not given:
        return None
    return Path(given) if Path(given).is_file() else [name.strip() for name in given.split(",")]


def read_warned(
    options, kind: Kind | None = None, *, machines_apart: bool = False, keep: Container[str] = ()
) -> Reading:
    """The same without machines by a column of the file; its warnings are kept for standard error.

    As on pages, machines count for nothing unless ``--with-machines`` is given, or nobody else has annotated.

    Parameters
    ----------
    options
        Of the command line.
    kind : Kind, optional
    machines_apart : bool
        The command keeps machines apart: all are there.
    keep : container of str
        Machines that the command asks for by name.
    """
    reading = read_file(options, kind)
    if reading.report is not None:
        options.cautions.extend(reading.report.warnings)
    here = [name for name, *_ in reading.machines if name in reading.dataset.raters]
    if not here or machines_apart:
        return reading
    named = ", ".join(here[:5]) + (", …" if len(here) > 5 else "")
    out = {name for name in here if name not in keep}
    if options.with_machines or len(out) == reading.dataset.n_raters:
        options.cautions.append(f"Machines by a column of the file count like people: {named}.")
        return reading
    options.cautions.append(f"Machines by a column of the file are left out (--with-machines counts them): {named}.")
    people = tuple(name for name in reading.dataset.raters if name not in out)
    return replace(reading, dataset=Selection(raters=people).apply(reading.dataset))


def read_classes(options, keep: Container[str] = ()) -> tuple[Dataset, int]:
    """One class per annotation, and how many were left out; see `read_warned`."""
    return read_warned(options, keep=keep).dataset.as_classes(split(options))


def split(options) -> float | str | None:
    """What makes classes of what is none: the threshold of scores, or the label of sets."""
    return options.threshold if options.label is None else options.label


def with_declared_order(dataset: Dataset, options, *, asked: bool = False) -> Dataset:
    """The data with the order of ``--classes`` where that means something.

    Parameters
    ----------
    dataset : Dataset
        Of single classes.
    options
        Of the command; with ``ordinal``.
    asked : bool
        The command itself asks for an order: that of ``--classes`` will do, or of classes that are numbers.

    Raises
    ------
    InputError
        An order is asked for and there is none.
    """
    if dataset.ordinal:
        return dataset
    if options.ordinal or (asked and options.classes):
        return with_class_order(dataset, dataset.classes)
    if not asked:
        return dataset
    try:
        return with_class_order(dataset, sorted(dataset.classes, key=float))
    except ValueError:
        raise InputError(
            "The order of the classes is not declared.", "Give it, lowest first: --classes low,middle,high."
        ) from None


def stamp(options, dataset: Dataset) -> dict:
    """What every result carries: seed and digest."""
    return {"seed": options.seed, "digest": dataset.digest}


def write_table(path: str | None, table: "pd.DataFrame") -> None:
    """A table to a file, where one was asked for."""
    if path is None:
        return
    from ..tables import to_csv

    try:
        Path(path).write_bytes(to_csv(table))
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}).") from None


@contextmanager
def runner_of(options) -> Iterator["Executor"]:
    """Who does the work of a command: this process, or the cluster of ``--cluster`` or of PLURALITY_CLUSTER."""
    from ..runtime.cluster import opened_cluster
    from ..runtime.executors import LocalExecutor

    address = options.cluster or current_settings().cluster
    if not address:
        yield LocalExecutor()
        return
    with opened_cluster(address) as cluster:
        yield cluster


def say_duration(seconds: float) -> None:
    """Estimated duration on standard error, if it is worth a word."""
    if seconds >= _WORTH_A_WORD:
        print(f"Scoring rater models takes about {plural(round(seconds / 60), 'minute')}.", file=sys.stderr, flush=True)


def progress(share: float) -> None:
    """Share done, on a terminal's standard error."""
    if sys.stderr.isatty():
        print(f"\r{percent(share):>4}", end="" if share < 1 else "\n", file=sys.stderr, flush=True)
