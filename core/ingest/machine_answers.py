"""Answers of machines in a file of their own: a table, JSON by rater, or the log of an evaluation."""

from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import InputError
from .column_mapping import IDS, guess_mapping
from .formats.evaluation_records import ANSWER
from .formats.json_text import looks_like_json
from .formats.tables import open_table
from .read_files import Reading, read

MACHINES = frozenset({"classifier", "predictor", "model", "system", "algorithm", "machine", "llm"})  # names of columns

# With raters, of a log what was answered; of one machine without a name, or in the one column beside the cases.
_WAYS: tuple[dict[str, Any], ...] = ({}, {"question": ANSWER}, {"rater": "none"}, {"layout": "wide"})


def read_answers(source: Path | bytes, name: str | None = None, labels: Collection[str] = ()) -> Reading:
    """Annotations of one or several machines, which are its raters; anonymous where nothing names the one machine.

    Parameters
    ----------
    source : Path or bytes
    name : str, optional
        Of the machine whose cases and annotations stand in JSON without a name; that of the file where not given.
    labels : collection of str
        Those of the people's sets: columns that are called so hold 0 and 1.

    Raises
    ------
    InputError
        Nothing can be read; what is said is of the file as it stands.
    """
    for how in (*_by_columns(source, labels), *_WAYS):
        with suppress(InputError):
            return read(source, name=name, **how)
    return read(source, name=name)


def _by_columns(source: Path | bytes, labels: Collection[str]) -> list[dict[str, Any]]:
    """What the columns of a table are where they are called as the people's labels, or as a machine."""
    content = source if isinstance(source, bytes) else source.read_bytes()
    if looks_like_json(content):
        return []
    with suppress(InputError):
        columns = open_table(content).columns
        guess = guess_mapping(columns)
        machines = [c for c in columns if c.strip().casefold() in MACHINES] if guess.rater is None else []
        ids = [column for column in columns if column.strip().casefold() in IDS]
        how = {"case": guess.case or next(iter(ids), None)}
        if len(set(labels) & set(columns)) > 1:
            return [how | {"layout": "labels", "rater": next(iter(machines), "none")}]
        return [how | {"rater": column} for column in machines]
    return []
