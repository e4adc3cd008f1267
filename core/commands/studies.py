"""Reader studies on the command line: modalities compared, with the truth known or given by a panel."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import InputError, NotApplicableError
from ..ingest.read_files import read as read_annotations
from ..studies.files import StudyReading, read_study, truth_of
from .inputs import check_readings, progress, rows_of

if TYPE_CHECKING:
    import pandas as pd

    from ..annotations.dataset import Dataset


def study(options) -> tuple[dict, "pd.DataFrame"]:
    """Run one part of the analysis of a reader study, with a summary in one sentence."""
    from ..analyses.blocks import Words
    from ..analyses.study import STUDY, analyse, lead

    reading = read(options, options.files)
    part = STUDY.part(options.part).with_options(threshold=options.threshold, seed=options.seed)
    verdict = part.applicable(reading.study)
    if not verdict.possible:
        raise NotApplicableError(f"Cannot compare modalities: {verdict.reason}.")
    chosen = part.resolve(**part.given(options))
    analysed = analyse(reading.study, chosen, progress=progress)
    found = part.answer(reading.study, chosen, analysed)
    table = part.frame(found, reading.study, chosen)
    answer = {
        "part": part.name,
        "words": Words(lead(analysed)).plain,
        "rows": rows_of(table),
        "n_redrawn": analysed.analysis.n_redrawn,
        "read_as": list(reading.notes),
        "seed": options.seed,
        "digest": reading.study.digest,
    }
    return answer, table


def read(options, files: tuple[str, ...]) -> StudyReading:
    """Read the reader study in the files of a command.

    Parameters
    ----------
    options
        Options of the command line, with ``truth``, ``panel``, ``column`` and ``positive``.
    files : tuple of str

    Raises
    ------
    InputError
        A file cannot be read, or the class with the condition is not known.
    """
    columns = dict(_column(one) for one in options.column)
    truth = None if options.truth is None else truth_of(*_named(options.truth))
    panel = None if options.panel is None else _panel(options.panel)
    found = read_study(
        [_named(path) for path in files], columns=columns, truth=truth, panel=panel, positive=options.positive or ""
    )
    if found.choices:
        raise InputError(
            f"Could not determine which of these classes means “condition present”: {', '.join(found.choices)}.",
            "Use --positive CLASS.",
        )
    return found


def _panel(path: str) -> "Dataset":
    reading = read_annotations(path, kind="class")
    check_readings(reading)
    return reading.dataset


def _named(path: str) -> tuple[str, bytes]:
    from .plausibilities import read_bytes

    return Path(path).name, read_bytes(path)


def _column(given: str) -> tuple[str, str]:
    role, sign, column = given.partition("=")
    if not sign or not column:
        raise InputError(
            f"Could not use {given!r}: it is not of the form ROLE=COLUMN.", "Use for example score=rating."
        )
    return role, column
